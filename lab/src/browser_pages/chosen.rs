//! The engine that answered and the reason, from the metrics of the server.

use std::collections::HashMap;
use std::net::SocketAddr;

use anyhow::{Result, ensure};
use http::Method;
use lab::service;

use crate::team::OPERATOR;

/// A choice of an engine, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EngineChoice {
    pub(super) engine: String,
    pub(super) reason: String,
}

impl EngineChoice {
    /// Whether the chosen engine is the browser.
    pub(super) fn is_browser(&self) -> bool {
        self.engine == "browser"
    }
}

/// Counts of each choice so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Choices(HashMap<(String, String), f64>);

impl Choices {
    /// Reads the counts from the server's metrics.
    pub(super) async fn now(addr: SocketAddr) -> Result<Self> {
        let answer = service::client(addr, Some(OPERATOR))?.send(Method::GET, "/metrics", "").await?;
        ensure!(answer.status == 200, "GET /metrics answers {}", answer.status);
        Ok(Self::read(&answer.text()))
    }

    /// Parses every counter with the label `engine` from the text format of Prometheus.
    fn read(text: &str) -> Self {
        let mut all = HashMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (Some(engine), Some((_, count))) = (label(line, "engine"), line.rsplit_once(' ')) else { continue };
            if line.split('{').next().is_some_and(|name| name.ends_with("_total")) {
                let reason = label(line, "reason").unwrap_or_default();
                *all.entry((engine, reason)).or_insert(0.0) += count.parse().unwrap_or(0.0);
            }
        }
        Self(all)
    }

    /// Returns the choices made since `before`.
    pub(super) fn since(&self, before: &Self) -> Vec<EngineChoice> {
        let grown = self.0.iter().filter(|(choice, count)| **count > before.0.get(*choice).copied().unwrap_or(0.0));
        let mut chosen: Vec<EngineChoice> = grown
            .map(|((engine, reason), _)| EngineChoice { engine: engine.clone(), reason: reason.clone() })
            .collect();
        chosen.sort_by(|a, b| (&b.engine, &a.reason).cmp(&(&a.engine, &b.reason)));
        chosen
    }
}

/// Formats choices on one line.
pub(super) fn shown(chosen: &[EngineChoice]) -> String {
    let one = |chosen: &EngineChoice| match chosen.reason.as_str() {
        "" => chosen.engine.clone(),
        reason => format!("{} ({reason})", chosen.engine),
    };
    chosen.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn label(line: &str, name: &str) -> Option<String> {
    let (_, rest) = line.split_once(&format!("{name}=\""))?;
    Some(rest.split('"').next()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_from_metrics() {
        let text = |count: u32| {
            format!(
                "# HELP x\nquarry_fetches_total{{engine=\"http\",reason=\"first\"}} 7\n\
                 quarry_fetches_total{{engine=\"browser\",reason=\"empty root\"}} {count}\n\
                 quarry_fetch_seconds_count{{engine=\"http\"}} {count}\nother_total 3\n"
            )
        };
        let (before, after) = (Choices::read(&text(1)), Choices::read(&text(2)));
        let chosen = after.since(&before);
        assert_eq!(shown(&chosen), "browser (empty root)");
        assert!(chosen[0].is_browser() && before.since(&before).is_empty());
    }
}
