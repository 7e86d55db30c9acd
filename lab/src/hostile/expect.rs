//! Checks of the expectations, one per key of the case file.

use serde_json::Value;

use super::evidence::Evidence;
use super::verdict::{Verdict, at_most, exactly, items, lacks, matches_value, named, said, traceless, words};
use super::{looks, markdown};

/// Keys with waiting times before the check; the runner handles them.
pub(crate) const WAITS: &[&str] = &["after_s", "wait_s"];

/// Checks one expectation; `None` for an unknown key.
pub(crate) fn check(key: &str, want: &Value, seen: &Evidence) -> Option<Verdict> {
    if WAITS.contains(&key) {
        return Some(Ok(()));
    }
    if let Some(value) = seen.observed.as_ref().and_then(|observed| observed.get(key)) {
        return Some(compare(key, value, want));
    }
    let groups = [check_answer, check_job, check_log, check_page, looks::check];
    groups.iter().find_map(|group| group(key, want, seen))
}

/// Checks expectations about the answer, its transfer, and the reached listeners.
fn check_answer(key: &str, want: &Value, seen: &Evidence) -> Option<Verdict> {
    Some(match key {
        "http" => status(seen, std::slice::from_ref(want)),
        "http_any_of" => status(seen, items(want)),
        "success" => seen.answer().and_then(|answer| matches_value(&answer.json()["success"], want)),
        "code" => seen.answer().and_then(|answer| matches_value(&answer.json()["code"], want)),
        "canary_connects" => exactly(seen.counted.canary, want),
        "canary_udp_packets" => exactly(seen.counted.packets, want),
        "dns_queries" => exactly(seen.counted.dns, want),
        "outbound_connects" => exactly(seen.counted.outbound, want),
        "max_seconds" => {
            let elapsed = seen.elapsed.ok_or_else(|| "nothing was timed".to_owned());
            elapsed.and_then(|elapsed| at_most(elapsed.as_secs_f64(), want, "s"))
        }
        "max_rss_delta_mib" => at_most(seen.memory_mib, want, "MiB"),
        "max_response_bytes" => seen.answer().and_then(|answer| at_most(answer.body.len(), want, "bytes")),
        "response_must_not_contain" => seen.told().and_then(|text| lacks(&text, want, "the answer")),
        "error_must_not_contain" => seen.answer().and_then(|answer| lacks(&answer.text(), want, "the answer")),
        "body_equals_unknown_id_body" => like_unknown(seen),
        "body_is_valid_utf8_json" => valid_json(seen),
        "json_error_body" => json_error(seen),
        "connection_closed" => matches_value(&Value::Bool(seen.closed), want),
        "health_p99_ms_max" => at_most(seen.health_p99(), want, "ms"),
        "slow_connections_closed_within_s" => at_most(seen.slow_closed_s.unwrap_or(f64::INFINITY), want, "s"),
        "inflight_after_s" => inflight(seen, want),
        "charges" => matches_value(&seen.charges.into(), want),
        "origin_request_must_be_well_formed" => well_formed(seen),
        "origin_host_header" => host_header(seen, want),
        "other_origin_must_not_receive" => other_origin(seen, want),
        _ => return None,
    })
}

/// Checks expectations about the process, its logs and its stored data.
fn check_log(key: &str, want: &Value, seen: &Evidence) -> Option<Verdict> {
    Some(match key {
        "server_alive" => said(seen.alive, "GET /health does not answer 200 within 1 s"),
        "no_panic_in_log" => {
            said(seen.panic_planned || seen.find("panicked", &["log"]).is_none(), "the log holds a panic")
        }
        "key_not_in_log" => traceless(seen, seen.secrets.iter().map(String::as_str), &["log"]),
        "logs_must_not_contain" => traceless(seen, words(want), &["log"]),
        "logs_metrics_traces_must_not_contain" => traceless(seen, words(want), &["log", "metrics"]),
        "logs_db_files_must_not_contain" | "logs_db_traces_must_not_contain" => {
            traceless(seen, words(want), &["log", "metrics", "files"])
        }
        _ => return None,
    })
}

/// Checks expectations about the job that the case has started.
fn check_job(key: &str, want: &Value, seen: &Evidence) -> Option<Verdict> {
    Some(match key {
        "final_status" => seen.job().and_then(|job| matches_value(&job.status.as_str().into(), want)),
        "completed_max" => seen.job().and_then(|job| at_most(job.completed, want, "pages")),
        "good_pages_found_min" => seen.job().and_then(|job| {
            let least = want.as_u64().unwrap_or(u64::MAX);
            said(job.good_pages >= least, &format!("it is {}, expected at least {least}", job.good_pages))
        }),
        "origin_requests_max" => at_most(seen.origin.len(), want, "requests"),
        "own_api_calls_from_webhook" => exactly(seen.foreign_crawls(), want),
        "receiver_signature_valid" => seen.delivered().and_then(|hooks| {
            let valid = hooks.iter().all(|request| is_signed(request, &seen.hook_secret));
            matches_value(&Value::Bool(valid), want)
        }),
        "webhook_headers_must_not_contain" => seen.delivered().and_then(|hooks| {
            let mut heads = hooks.iter().map(|request| String::from_utf8_lossy(&request.head).into_owned());
            heads.try_for_each(|head| lacks(&head, want, "a webhook's head"))
        }),
        _ => return None,
    })
}

/// Whether a delivery has exactly one signature, and that is valid.
fn is_signed(request: &testkit::Seen, secret: &str) -> bool {
    let mut values = request.headers.get_all("x-service-signature").iter().filter_map(|value| value.to_str().ok());
    let first = values.next();
    values.next().is_none() && first.is_some_and(|header| webhooks::verify(secret, &request.body, header))
}

/// Compares the body with that for an unknown id. Headers are not compared, because each request has its own id.
fn like_unknown(seen: &Evidence) -> Verdict {
    let (own, unknown) = (&seen.answer()?.body, seen.unknown_id.as_ref().ok_or("no unknown id was requested")?);
    said(own == unknown, &format!("it differs from {:?}", String::from_utf8_lossy(unknown)))
}

/// Checks expectations about the document in the answer.
fn check_page(key: &str, want: &Value, seen: &Evidence) -> Option<Verdict> {
    let read = || seen.format("markdown").map(|text| (markdown::parse_markdown(&text), text));
    Some(match key {
        "markdown_must_not_contain" => seen.format("markdown").and_then(|text| lacks(&text, want, "the markdown")),
        "html_must_not_contain" => seen.format("html").and_then(|text| lacks(&text, want, "the html")),
        "metadata_title_must_not_contain" => {
            seen.document("metadata/title").and_then(|text| lacks(&text, want, "the title"))
        }
        "metadata_sourceURL_must_not_contain" => {
            seen.document("metadata/sourceURL").and_then(|text| lacks(&text, want, "sourceURL"))
        }
        "markdown_links_to" => read().and_then(|(page, text)| named(matches_value(&page.links.into(), want), &text)),
        "markdown_links_to_count" => read().and_then(|(page, text)| named(exactly(page.links.len(), want), &text)),
        "markdown_headings" => read().and_then(|(page, text)| named(exactly(page.headings, want), &text)),
        "markdown_table_columns" => {
            let columns = |page: markdown::MarkdownParts| page.columns.first().copied().unwrap_or(0);
            read().and_then(|(page, text)| named(exactly(columns(page), want), &text))
        }
        _ => return None,
    })
}

/// Compares an observation of a scenario: `…_max` is a limit, everything else must be equal.
fn compare(key: &str, have: &Value, want: &Value) -> Verdict {
    if key.ends_with("_max") {
        return at_most(have.as_f64().unwrap_or(f64::INFINITY), want, "");
    }
    matches_value(have, want)
}

fn status(seen: &Evidence, accepted: &[Value]) -> Verdict {
    let answer = seen.answer()?;
    let fine = accepted.iter().any(|status| status.as_u64() == Some(answer.status.into()));
    let body: String = answer.text().chars().take(160).collect();
    let accepted = Value::from(accepted);
    said(fine, &format!("status {}, expected one of {accepted}: {body}", answer.status))
}

fn valid_json(seen: &Evidence) -> Verdict {
    let answer = seen.answer()?;
    let text = std::str::from_utf8(&answer.body).map_err(|error| format!("the answer is not UTF-8: {error}"))?;
    serde_json::from_str::<Value>(text).map(|_| ()).map_err(|error| format!("the answer is not JSON: {error}"))
}

/// Checks that an answer other than 200 is JSON with `error`. Raw bytes that are not a valid request may be refused by
/// the HTTP library, with an empty body, before any code of the service runs.
fn json_error(seen: &Evidence) -> Verdict {
    // An attack may have no answer; for a request that is a failure.
    let answer = match &seen.answer {
        None => return Ok(()),
        Some(Ok(answer)) => answer,
        Some(Err(error)) => return Err(format!("no answer: {error}")),
    };
    if answer.status == 200 || (seen.raw && answer.body.is_empty() && (400..500).contains(&answer.status)) {
        return Ok(());
    }
    let body: String = answer.text().chars().take(160).collect();
    said(answer.json()["error"].is_string(), &format!("status {} without JSON `error`: {body:?}", answer.status))
}

fn inflight(seen: &Evidence, want: &Value) -> Verdict {
    matches_value(&seen.inflight.into(), want.get(1).unwrap_or(&Value::Null))
}

fn well_formed(seen: &Evidence) -> Verdict {
    let flaw = seen.asked()?.iter().find_map(|request| request.flaw.as_deref());
    flaw.map_or(Ok(()), |flaw| Err(format!("the origin got a request where {flaw}")))
}

fn host_header(seen: &Evidence, want: &Value) -> Verdict {
    let want = want.as_str().unwrap_or_default();
    let odd = seen.asked()?.iter().map(|request| request.header("host")).find(|host| *host != want);
    odd.map_or(Ok(()), |host| Err(format!("the origin got Host {host:?}, expected {want:?}")))
}

fn other_origin(seen: &Evidence, want: &Value) -> Verdict {
    if seen.origin2.is_empty() {
        return Err("the other origin got no request".to_owned());
    }
    let mut whole = seen.origin2.iter().map(|request| [&request.head[..], &request.body[..]].concat());
    whole.try_for_each(|bytes| lacks(&String::from_utf8_lossy(&bytes), want, "a request to the other origin"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::hostile::follow::Job;
    use crate::hostile::raw::Response;

    fn answered(status: u16, body: &str) -> Evidence {
        Evidence { answer: Some(Ok(Response { status, body: body.into() })), ..Evidence::default() }
    }

    fn met(key: &str, want: &Value, seen: &Evidence) -> bool {
        check(key, want, seen).unwrap().is_ok()
    }

    #[test]
    fn looks_at_the_answer() {
        let seen = answered(403, r#"{"success":false,"code":"X","error":"no"}"#);
        assert!(met("http_any_of", &json!([400, 403]), &seen) && !met("http", &json!(200), &seen));
        assert!(met("success", &json!(false), &seen) && !met("success", &json!(true), &seen));
        assert!(met("code", &json!("X"), &seen) && !met("code", &json!("Y"), &seen));
        assert!(met("json_error_body", &json!(true), &seen));
        assert!(!met("json_error_body", &json!(true), &answered(500, "oops")));
        assert!(!met("error_must_not_contain", &json!(["no"]), &seen));
        assert!(!met("success", &json!(false), &Evidence::default()));
    }

    #[test]
    fn looks_at_the_page() {
        let seen =
            answered(200, r##"{"success":true,"data":{"markdown":"# a\n[x](http://o/x)","metadata":{"title":"t"}}}"##);
        assert!(met("markdown_links_to", &json!(["http://o/x"]), &seen));
        assert!(met("markdown_headings", &json!(1), &seen) && !met("markdown_headings", &json!(0), &seen));
        assert!(!met("metadata_title_must_not_contain", &json!(["t"]), &seen));
    }

    #[test]
    fn looks_at_the_job() {
        let job = Job { status: "completed".into(), completed: 12, good_pages: 10, text: "root:x:".into() };
        let mut seen = Evidence { job: Some(job), ..answered(200, "{}") };
        assert!(met("final_status", &json!("completed"), &seen) && !met("final_status", &json!("failed"), &seen));
        assert!(met("completed_max", &json!(12), &seen) && !met("completed_max", &json!(11), &seen));
        assert!(met("good_pages_found_min", &json!(10), &seen) && !met("good_pages_found_min", &json!(11), &seen));
        assert!(!met("response_must_not_contain", &json!(["root:x:"]), &seen));
        seen.job = None;
        assert!(!met("final_status", &json!("completed"), &seen));
        seen.log =
            b"{\"method\":\"POST\",\"route\":\"/v2/crawl\"}\n{\"method\":\"POST\",\"route\":\"/v2/crawl\"}\n".to_vec();
        assert!(met("own_api_calls_from_webhook", &json!(1), &seen));
        seen.unknown_id = Some(b"{}".to_vec());
        assert!(met("body_equals_unknown_id_body", &json!(true), &seen));
        let forged: testkit::Seen = testkit::Seen {
            headers: [("x-service-signature".parse().unwrap(), "sha256=00".parse().unwrap())].into_iter().collect(),
            ..Default::default()
        };
        seen.receiver = vec![forged];
        assert!(!met("receiver_signature_valid", &json!(true), &seen));
    }

    #[test]
    fn looks_at_limits() {
        let seen = Evidence { elapsed: Some(Duration::from_secs(3)), memory_mib: 300, ..Evidence::default() };
        assert!(met("max_seconds", &json!(3), &seen) && !met("max_seconds", &json!(2), &seen));
        assert!(met("max_rss_delta_mib", &json!(300), &seen) && !met("max_rss_delta_mib", &json!(256), &seen));
        assert!(!met("slow_connections_closed_within_s", &json!(35), &seen));
    }

    #[test]
    fn looks_for_traces() {
        let seen = Evidence {
            log: b"url http://h/?TOP panicked".to_vec(),
            secrets: vec!["TOP".into()],
            ..Evidence::default()
        };
        assert!(
            !met("logs_must_not_contain", &json!(["TOP"]), &seen)
                && met("logs_must_not_contain", &json!(["x9"]), &seen)
        );
        assert!(!met("key_not_in_log", &json!(true), &seen) && !met("no_panic_in_log", &json!(true), &seen));
    }

    #[test]
    fn an_unknown_key_is_not_ignored() {
        assert!(check("moon_is_full", &json!(true), &Evidence::default()).is_none());
    }
}
