//! Documents in `docs/` that are generated from the code, so that they stay in step with it.

use std::fmt::Write as _;

use boot::config;
use boot::metrics::{Metric, MetricType, TABLE};
use wire::Code;

use crate::access::Access;
use crate::{openapi, routes};

/// Returns the name in `docs/` and the text of every generated file.
///
/// # Errors
/// When a migration fails.
pub fn files() -> store::Result<Vec<(&'static str, String)>> {
    Ok(vec![
        ("openapi.json", openapi()),
        ("ERRORS.md", errors()),
        ("CONFIGURATION.md", configuration()),
        ("ROUTES.md", routes()),
        ("METRICS.md", metrics()),
        ("sqlite.sql", store::sqlite_schema()?),
    ])
}

/// Returns the whole API as an OpenAPI 3.1 document.
#[must_use]
pub fn openapi() -> String {
    let mut text = openapi::document(routes::table()).to_pretty_json().unwrap_or_default();
    text.push('\n');
    text
}

/// Returns the table of error codes with status and meaning.
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

/// Returns the table of settings with default and meaning.
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
            let variable = variable(section, key);
            let _ = writeln!(text, "| `{key}` | {variable} | `{default}` | {meaning} |");
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

/// Returns the environment variable of a setting. Subsections are set in the settings file alone.
fn variable(section: &str, key: &str) -> String {
    if section.contains('.') {
        return "–".to_owned();
    }
    format!("`QUARRY__{}__{}`", section.to_uppercase(), key.to_uppercase())
}

/// Returns the table of metrics with kind, unit, labels and meaning.
#[must_use]
pub fn metrics() -> String {
    let mut text = heading("Metrics", "crates/boot/src/metrics/table.rs");
    text += "Metrics of `GET /metrics`, in the Prometheus text format. Each server and worker reports its own values; the \
             metrics of the queues are the same on all of them. Histograms have `_bucket`, `_sum` and `_count`.\n\n";
    text += "| Name | Type | Unit | Labels | Meaning |\n|---|---|---|---|---|\n";
    for Metric { name, kind, unit, labels, help } in TABLE {
        let kind = match kind {
            MetricType::Counter => "counter",
            MetricType::Gauge => "gauge",
            MetricType::Histogram => "histogram",
        };
        let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
        let _ = writeln!(text, "| `{name}` | {kind} | {unit} | {} | {} |", labels.join(", "), cell(help));
    }
    text
}

/// Returns the table of routes with method, path, access, endpoint group and summary.
#[must_use]
pub fn routes() -> String {
    let mut text = heading("Routes", "bins/server/src/routes.rs");
    text += "A key can be restricted to groups of endpoints.\n\n";
    text += "| Method | Path | Access | Group | Summary |\n|---|---|---|---|---|\n";
    for route in routes::table() {
        let who = match route.access {
            Access::Health | Access::Open => "public",
            Access::Signed => "holders of the signed URL",
            Access::Metrics => "public; with `auth.mode = \"keys\"` the operator",
            Access::Team(_) => "a team",
            Access::TeamOrKeyless(_) => "a team; public if `auth.keyless` lists the group",
            Access::Operator => "the operator",
        };
        let group = route.access.group().map(|group| format!("`{}`", group.as_str())).unwrap_or_default();
        let _ = writeln!(text, "| {} | `{}` | {who} | {group} | {} |", route.method, route.path, cell(&route.summary));
    }
    text
}

fn heading(title: &str, source: &str) -> String {
    format!("# {title}\n\n<!-- Written by `cargo xtask codegen` from {source}. -->\n\n")
}

/// Escapes bars, which would end the cell of a table.
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
        let rows = text.lines().filter(|line| line.starts_with("| `"));
        assert_eq!(rows.clone().count(), keys);
        for row in rows {
            assert!(!row.ends_with("|  |"), "no comment: {row}");
        }
    }

    #[test]
    fn the_list_of_metrics_is_current() {
        assert_eq!(metrics(), include_str!("../../../docs/METRICS.md"), "run cargo xtask codegen");
    }

    /// Changes of access rules show in the diff of `docs/ROUTES.md`.
    #[test]
    fn the_list_of_routes_is_current() {
        assert_eq!(routes(), include_str!("../../../docs/ROUTES.md"), "run cargo xtask codegen");
    }

    #[test]
    fn every_code_has_a_row() {
        let text = errors();
        for code in Code::ALL {
            assert!(text.contains(&format!("| `{code}` | {} | ", code.status())), "{code}");
        }
    }
}
