//! Table of implemented features, and of the cases that wait for others. Change it when a feature is added.

use serde_json::Value;

use super::case::{Case, Object};
use super::{browser, database, namespace, scenario};

/// Supported paths. A case on another path waits.
const PATHS: &[&str] = &[
    "/v2/scrape",
    "/v2/crawl",
    "/v2/batch/scrape",
    "/v2/map",
    "/v2/monitor",
    "/v2/search",
    "/v2/feedback",
    "/v2/parse",
    "/v2/team/",
    "/v2/concurrency-check",
    "/health",
    "/metrics",
    "/openapi.json",
    "/admin",
];

/// Supported formats. A case that requests another one waits, unless it expects a refusal.
const FORMATS: &[&str] = &[
    "markdown",
    "html",
    "rawHtml",
    "rawBase64",
    "links",
    "images",
    "attributes",
    "screenshot",
    "branding",
    "product",
    "menu",
    "changeTracking",
];

/// Unsupported scrape options. A case that uses one waits, unless it expects a refusal.
const OPTIONS_TO_COME: &[&str] = &["redactPII", "onlyCleanContent"];

/// Expectations that need a missing feature.
const EXPECTATIONS_TO_COME: &[(&str, &str)] = &[("dashboard_html_must_not_contain", "the dashboard")];

/// Returns the missing feature that a case waits for; `None` if it can run.
pub(crate) fn reason(case: &Case) -> Option<String> {
    if case.input.contains_key("scenario") {
        let known = scenario::exists(case.input_text("scenario"));
        return (!known).then(|| "a scenario of its own".to_owned());
    }
    if let Some(need) = need(case) {
        return Some(need);
    }
    let path = path(case);
    // Authentication comes before routing, so cases about keys can run on any path.
    let only_the_key_counts = !case.statuses().is_empty()
        && case.statuses().contains(&401)
        && case.statuses().iter().all(|status| matches!(status, 400 | 401));
    if !only_the_key_counts && !path.is_empty() && !PATHS.iter().any(|known| path.starts_with(known)) {
        let resource = path.split(['/', '?']).take(3).collect::<Vec<_>>().join("/");
        return Some(format!("{resource}, which does not exist yet"));
    }
    let to_come = EXPECTATIONS_TO_COME.iter().find(|(key, _)| case.expected.contains_key(*key));
    if let Some((key, what)) = to_come {
        return Some(format!("{what} (expects {key})"));
    }
    option_to_come(case)
}

/// Whether the table contains an expectation that no running case has.
pub(crate) fn knows_expectation(key: &str) -> bool {
    EXPECTATIONS_TO_COME.iter().any(|(known, _)| *known == key)
}

/// Returns the missing program or permission of the machine for the case.
fn need(case: &Case) -> Option<String> {
    if case.input.contains_key("sql") && !database::is_possible() {
        return Some("the sqlite3 shell, which is not installed".to_owned());
    }
    let need = case.setup.get("needs")?;
    if need.as_str() != Some("browser") {
        return Some(format!("the {need}"));
    }
    if !browser::is_installed() {
        return Some("Chromium, which is not installed".to_owned());
    }
    let counts = case.expected.contains_key("dns_queries_outside_proxy");
    (counts && !namespace::is_inside()).then(|| "a network namespace, which this machine does not allow".to_owned())
}

/// Returns the path of the case's request; for a tool that of its URL.
fn path(case: &Case) -> &str {
    match case.input_text("tool").split_once("{BASE_URL}") {
        Some((_, rest)) => rest.split(' ').next().unwrap_or_default(),
        None => case.input_text("path"),
    }
}

fn option_to_come(case: &Case) -> Option<String> {
    let statuses = case.statuses();
    let only_refusals = !statuses.is_empty() && statuses.iter().all(|status| (400..500).contains(status));
    if only_refusals {
        return None;
    }
    let json = case.input.get("json").and_then(Value::as_object)?;
    let option = OPTIONS_TO_COME.iter().find(|option| json.contains_key(**option)).map(|option| (*option).to_owned());
    option.map(|option| format!("the option {option}")).or_else(|| format_to_come(json))
}

fn format_to_come(json: &Object) -> Option<String> {
    let formats = json.get("formats").and_then(Value::as_array)?;
    let names = formats.iter().filter_map(|format| format.as_str().or_else(|| format.get("type")?.as_str()));
    let missing = names.into_iter().find(|name| !FORMATS.contains(name))?;
    Some(format!("the format {missing}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(case: &Value, expect: Option<&str>) {
        let mut whole =
            json!({"id": "x-001", "kind": "x", "setup": {}, "input": {}, "expected": {}, "note": "", "source": ""});
        for (key, value) in case.as_object().unwrap() {
            whole[key] = value.clone();
        }
        let case: Case = serde_json::from_value(whole).unwrap();
        assert_eq!(reason(&case).as_deref(), expect, "{case:?}");
    }

    #[test]
    fn decides_from_the_case() {
        let scrape = |json: Value| json!({"method": "POST", "path": "/v2/scrape", "json": json});
        check(&json!({"input": scrape(json!({"url": "x"}))}), None);
        check(&json!({"input": {"path": "/v2/crawl/x"}}), None);
        check(&json!({"input": {"path": "/v2/moon/x"}}), Some("/v2/moon, which does not exist yet"));
        check(&json!({"input": scrape(json!({})), "setup": {"needs": "a moon"}}), Some("the \"a moon\""));
        check(&json!({"input": scrape(json!({"formats": ["markdown", {"type": "json"}]}))}), Some("the format json"));
        let refusal = json!({"http_any_of": [400]});
        check(&json!({"input": scrape(json!({"redactPII": true})), "expected": refusal}), None);
        check(&json!({"input": scrape(json!({"redactPII": true}))}), Some("the option redactPII"));
        check(&json!({"input": {"tool": "slow -u {BASE_URL}/v2/scrape -l 60"}}), None);
        check(
            &json!({"input": {"tool": "slow -u {BASE_URL}/v2/moon/1 -l 60"}}),
            Some("/v2/moon, which does not exist yet"),
        );
        check(&json!({"input": {"scenario": "the moon falls"}}), Some("a scenario of its own"));
    }
}
