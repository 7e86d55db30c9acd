//! The parts of `docs/` that are written from the code, so that they cannot disagree with it.

use std::fmt::Write as _;

use boot::config;
use boot::metrics::{Kind, Metric, TABLE};
use wire::Code;

use crate::auth::Access;
use crate::{openapi, routes};

/// Every generated file: its name in `docs/` and its text.
///
/// # Errors
/// When the migrations do not run.
pub fn files() -> store::Result<Vec<(&'static str, String)>> {
    Ok(vec![
        ("openapi.json", openapi::json()),
        ("ERRORS.md", errors()),
        ("CONFIGURATION.md", configuration()),
        ("ROUTES.md", routes()),
        ("METRICS.md", metrics()),
        ("sqlite.sql", store::sqlite_schema()?),
    ])
}

/// Every error code with its status and what to do.
#[must_use]
pub fn errors() -> String {
    let mut text = heading("Error codes", "crates/wire/src/code.rs");
    text += "Every refusal has the body `{success: false, code, error, details?}`.\n\n";
    text += "| Code | Status | Meaning |\n|---|---|---|\n";
    for code in Code::ALL {
        let _ = writeln!(text, "| `{code}` | {} | {} |", code.status(), cell(code.meaning()));
    }
    text
}

/// Every setting with its default and what it does.
#[must_use]
pub fn configuration() -> String {
    let mut text = heading("Settings", "crates/boot/config.default.toml");
    let mut comment: Vec<&str> = Vec::new();
    let mut section = "";
    for line in config::DEFAULTS.lines() {
        if let Some(words) = line.strip_prefix('#') {
            comment.push(words.strip_prefix(' ').unwrap_or(words));
        } else if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name;
            let _ = writeln!(text, "\n## {section}\n\n| Key | Variable | Default | Meaning |\n|---|---|---|---|");
        } else if let Some((key, default)) = line.split_once(" = ") {
            let meaning = cell(&comment.join(" "));
            let variable = format!("QUARRY__{}__{}", section.to_uppercase(), key.to_uppercase());
            let _ = writeln!(text, "| `{key}` | `{variable}` | `{default}` | {meaning} |");
            comment.clear();
        } else {
            if section.is_empty() && !comment.is_empty() {
                let _ = writeln!(text, "{}", comment.join("\n"));
            }
            comment.clear();
        }
    }
    text
}

/// Every metric with its kind, unit and labels.
#[must_use]
pub fn metrics() -> String {
    let mut text = heading("Metrics", "crates/boot/src/metrics/table.rs");
    text += "What `GET /metrics` shows, in the text format of Prometheus. Servers and workers show their own; what is said of \
             queues is the same on all of them. Histograms have `_bucket`, `_sum` and `_count`.\n\n";
    text += "| Name | Kind | Unit | Labels | Meaning |\n|---|---|---|---|---|\n";
    for Metric { name, kind, unit, labels, help } in TABLE {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
        let _ = writeln!(text, "| `{name}` | {kind} | {unit} | {} | {} |", labels.join(", "), cell(help));
    }
    text
}

/// Every path with its method, who may call it and what it does.
#[must_use]
pub fn routes() -> String {
    let mut text = heading("Routes", "bins/server/src/routes.rs");
    text += "| Method | Path | Who | What |\n|---|---|---|---|\n";
    for route in routes::table() {
        let who = match Access::of(&route.path) {
            Access::Health | Access::Open => "anybody",
            Access::Signed => "whoever has its signed URL",
            Access::Metrics => "anybody; where calls need a key, the operator",
            Access::Team => "a team",
            Access::Operator => "the operator",
        };
        let _ = writeln!(text, "| {} | `{}` | {who} | {} |", route.method, route.path, cell(&route.summary));
    }
    text
}

fn heading(title: &str, source: &str) -> String {
    format!("# {title}\n\n<!-- Written by `cargo xtask codegen` from {source}. -->\n\n")
}

/// A bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_described() {
        let text = configuration();
        assert!(
            text.contains("| `listen` | `QUARRY__SERVER__LISTEN` | `\"127.0.0.1:3002\"` | Address and port"),
            "{text}"
        );
        let keys = config::DEFAULTS.lines().filter(|line| line.contains(" = ") && !line.starts_with('#')).count();
        let rows = text.lines().filter(|line| line.contains("`QUARRY__") && line.starts_with("| `"));
        assert_eq!(rows.clone().count(), keys);
        for row in rows {
            assert!(!row.ends_with("|  |"), "no comment: {row}");
        }
    }

    #[test]
    fn the_list_of_metrics_is_current() {
        assert_eq!(metrics(), include_str!("../../../docs/METRICS.md"), "run cargo xtask codegen");
    }

    #[test]
    fn every_code_and_route_has_a_row() {
        let text = errors();
        for code in Code::ALL {
            assert!(text.contains(&format!("| `{code}` | {} | ", code.status())), "{code}");
        }
        assert!(routes().contains("| POST | `/v2/scrape` | a team | "));
        assert!(routes().contains("| GET | `/health` | anybody | "));
        assert!(routes().contains("| POST | `/admin/teams` | the operator | "));
        assert!(routes().contains("| GET | `/files/{id}/{name}` | whoever has its signed URL | "));
    }
}
