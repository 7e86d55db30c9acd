//! Further expectations: cost of an attack, leaks of secrets, requests to proxies, answers to other teams.

use std::collections::BTreeSet;
use std::time::Duration;

use regex::{Regex, RegexSet};
use serde_json::Value;

use super::evidence::Evidence;
use super::innocent::{Waits, p99};
use super::verdict::{Verdict, at_most, items, lacks, matches_value, said, traceless, words};

/// Checks one expectation; `None` for an unknown key.
pub(crate) fn check(key: &str, want: &Value, seen: &Evidence) -> Option<Verdict> {
    Some(match key {
        "cpu_seconds_max" => at_most(seen.cpu_seconds, want, "s of processor time"),
        "health_ms_max" => {
            let slowest = seen.health_ms.iter().copied().reduce(f64::max);
            at_most(slowest.unwrap_or(f64::INFINITY), want, "ms")
        }
        "innocent_p99_ms_max" => waits(seen).and_then(|waits| at_most(p99(&waits.work), want, "ms")),
        "innocent_p99_ratio_max" => {
            waits(seen).and_then(|waits| at_most(p99(&waits.work) / p99(&waits.alone), want, "times"))
        }
        "origin_bytes_max" => seen.asked().and_then(|_| {
            let sent = u32::try_from(seen.origin_sent).map_or(f64::INFINITY, f64::from);
            at_most(sent, want, "bytes")
        }),
        "no_file_outside_data_dir" => {
            let stray = seen.strays.first().map(String::as_str).unwrap_or_default();
            said(seen.strays.is_empty(), &format!("there is {stray}"))
        }
        "dump_must_not_contain" if seen.files.is_empty() => Err("there are no files to look at".to_owned()),
        "dump_must_not_contain" => traceless(seen, words(want), &["files"]),
        "logs_must_be_one_json_object_per_line" => json_lines(&seen.log),
        "error_must_contain" => seen.answer().and_then(|answer| {
            let text = answer.text();
            let missing = words(want).find(|word| answer.status < 400 || !text.contains(word));
            missing.map_or(Ok(()), |word| Err(format!("the error does not name {word:?}: {text}")))
        }),
        "origin_headers_must_not_contain" => seen.asked().and_then(|requests| {
            let mut heads = requests.iter().map(|request| String::from_utf8_lossy(&request.head).into_owned());
            heads.try_for_each(|head| lacks(&head, want, "a request to the origin"))
        }),
        "secrets_only_to" => secrets_only_to(want, seen),
        "proxy_asked_for_addresses_only" => addresses_only(seen),
        "no_replay_across_teams" => no_replay(seen),
        "other_origin_requests" => matches_value(&seen.origin2.len().into(), want),
        "own_job_status" => matches_value(&seen.own_job_now["status"], want),
        "own_job_total" => matches_value(&seen.own_job_now["total"], want),
        "browser_alive_after" => next(seen).map(drop),
        "next_scrape_ok_seconds" => next(seen).and_then(|time| at_most(time.as_secs_f64(), want, "s")),
        "dns_queries_outside_proxy" => outside(seen, want),
        "links_must_not_match" => links(seen).and_then(|links| none_matches(&links, want)),
        "markdown_must_not_match" => seen.format("markdown").and_then(|text| matches_none(&text, want, "the markdown")),
        "sql_equals" => sql(seen).and_then(|value| matches_value(value, want)),
        "sql_max" => sql(seen).and_then(|value| at_most(value.as_f64().unwrap_or(f64::INFINITY), want, "")),
        "change_status" => seen
            .answer()
            .and_then(|answer| matches_value(&answer.json()["data"]["changeTracking"]["changeStatus"], want)),
        "warning_must_contain" => seen.document("warning").and_then(|text| {
            let missing = words(want).find(|word| !text.contains(word));
            missing.map_or(Ok(()), |word| Err(format!("the warning does not name {word:?}: {text}")))
        }),
        "links_equal" => links(seen).and_then(|links| equal(&links, want)),
        _ => return None,
    })
}

fn waits(seen: &Evidence) -> Result<&Waits, String> {
    seen.innocent.as_ref().ok_or_else(|| "no bystander worked during the case".to_owned())
}

fn next(seen: &Evidence) -> Result<Duration, String> {
    seen.next.clone().unwrap_or_else(|| Err("no further page was requested".to_owned()))
}

/// Checks packets outside the stage. The name is that of the case file; where no name lookups are allowed, no other
/// packets are either.
fn outside(seen: &Evidence, want: &Value) -> Verdict {
    let outside = seen.outside.as_ref().ok_or("packets were not counted")?;
    if outside.seen == 0 {
        return Err("no packet was seen, not even those of the case".to_owned());
    }
    let most = [outside.tcp, outside.udp, outside.dns].into_iter().max().unwrap_or(0);
    said(want.as_u64() == u64::try_from(most).ok(), &outside.to_string())
}

/// Checks that the log is not empty and has one JSON object per line.
fn json_lines(log: &[u8]) -> Verdict {
    let text = String::from_utf8_lossy(log);
    let mut lines = text.lines().peekable();
    if lines.peek().is_none() {
        return Err("the log has no line to look at".to_owned());
    }
    let is_object = |line: &&str| serde_json::from_str::<Value>(line).is_ok_and(|value| value.is_object());
    let odd = lines.find(|line| !is_object(line));
    odd.map_or(Ok(()), |line| Err(format!("a line of the log is {:?}", line.chars().take(160).collect::<String>())))
}

/// Checks `{"host": "name:port", "secrets": […]}`: a request to the host contains all secrets, and no request to
/// another host contains any.
fn secrets_only_to(want: &Value, seen: &Evidence) -> Verdict {
    let (mut elsewhere, mut home) = (false, false);
    for request in seen.origin.iter().chain(&seen.origin2).chain(&seen.receiver) {
        let host = request.header("host");
        let whole = [&request.head[..], &request.body[..]].concat();
        let text = String::from_utf8_lossy(&whole);
        if want["host"].as_str() == Some(host) {
            home |= words(&want["secrets"]).all(|secret| text.contains(secret));
        } else {
            elsewhere = true;
            lacks(&text, &want["secrets"], &format!("a request to {host}"))?;
        }
    }
    said(home, "no request to their own host held them all")?;
    said(elsewhere, "no other host got a request to look at")
}

fn addresses_only(seen: &Evidence) -> Verdict {
    said(!seen.proxied.is_empty(), "the proxy was asked for nothing")?;
    let is_address = |target: &&String| target.parse::<std::net::SocketAddr>().is_ok();
    let named = seen.proxied.iter().find(|target| !is_address(target));
    named.map_or(Ok(()), |target| Err(format!("the proxy was asked for {target}")))
}

/// Checks that the answer to one team contains nothing that identifies the answer to the other.
fn no_replay(seen: &Evidence) -> Verdict {
    let own = seen.answer()?;
    let other = seen.of_other_team.as_ref().ok_or("no request of another team was sent")?;
    said(own.status == 200, &format!("the first answer is {}, so there is nothing to replay", own.status))?;
    let mut ids = BTreeSet::new();
    uuids(&own.json(), &mut ids);
    if ids.is_empty() {
        return said(own.body != other.body, "both teams got the same answer");
    }
    let text = other.text();
    let replayed = ids.iter().find(|id| text.contains(id.as_str()));
    replayed.map_or(Ok(()), |id| Err(format!("the other team's answer holds {id}")))
}

fn uuids(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            let words = text.split(|c: char| c != '-' && !c.is_ascii_hexdigit());
            into.extend(words.filter(|word| word.len() == 36 && word.matches('-').count() == 4).map(str::to_owned));
        }
        Value::Array(items) => items.iter().for_each(|item| uuids(item, into)),
        Value::Object(object) => object.values().for_each(|item| uuids(item, into)),
        _ => {}
    }
}

fn sql(seen: &Evidence) -> Result<&Value, String> {
    seen.sql.as_ref().ok_or_else(|| "the database was not asked".to_owned())
}

fn matches_none(text: &str, patterns: &Value, place: &str) -> Verdict {
    let patterns = regexes(patterns)?;
    let odd = patterns.iter().find_map(|pattern| pattern.find(text));
    odd.map_or(Ok(()), |odd| Err(format!("{place} holds {:?}", odd.as_str().chars().take(160).collect::<String>())))
}

/// Compiles the patterns, of which there must be at least one.
fn regexes(patterns: &Value) -> Result<Vec<Regex>, String> {
    let compiled: Result<Vec<_>, _> = words(patterns).map(Regex::new).collect();
    let compiled = compiled.map_err(|error| format!("no pattern: {error}"))?;
    if compiled.is_empty() { Err("there is no pattern to look for".to_owned()) } else { Ok(compiled) }
}

/// Returns the links of the document or of the map.
fn links(seen: &Evidence) -> Result<Vec<String>, String> {
    let json = seen.answer()?.json();
    let list = json.pointer("/data/links").or_else(|| json.get("links")).and_then(Value::as_array);
    let list = list.ok_or("the answer has no links to look at")?;
    let text = |link: &Value| link.as_str().or_else(|| link["url"].as_str()).unwrap_or_default().to_owned();
    Ok(list.iter().map(text).collect())
}

fn none_matches(links: &[String], patterns: &Value) -> Verdict {
    let patterns = RegexSet::new(words(patterns)).map_err(|error| format!("no pattern: {error}"))?;
    let odd = links.iter().find(|link| patterns.is_match(link));
    odd.map_or(Ok(()), |link| Err(format!("there is a link to {link}")))
}

/// Compares links regardless of their order.
fn equal(links: &[String], want: &Value) -> Verdict {
    let (mut have, mut wanted): (Vec<&str>, Vec<&str>) =
        (links.iter().map(String::as_str).collect(), words(want).collect());
    have.sort_unstable();
    wanted.sort_unstable();
    said(wanted.len() == items(want).len(), "links_equal is no list of texts")?;
    said(have == wanted, &format!("they are {have:?}, expected {wanted:?}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use testkit::Seen;

    use super::*;
    use crate::hostile::raw::Response;

    fn answered(status: u16, body: &Value) -> Evidence {
        let answer = Response { status, body: body.to_string().into_bytes() };
        Evidence { answer: Some(Ok(answer)), ..Evidence::default() }
    }

    fn met(key: &str, want: &Value, seen: &Evidence) -> bool {
        check(key, want, seen).unwrap().is_ok()
    }

    fn request(host: &str, head: &str) -> Seen {
        let headers = [("host".parse().unwrap(), host.parse().unwrap())].into_iter().collect();
        Seen { headers, head: head.to_owned().into(), ..Seen::default() }
    }

    #[test]
    fn nothing_to_look_at_is_a_failure() {
        let (fine, nothing) = (answered(200, &json!({})), Evidence::default());
        for (key, want) in [
            ("health_ms_max", json!(1e9)),
            ("innocent_p99_ms_max", json!(1e9)),
            ("innocent_p99_ratio_max", json!(1e9)),
            ("origin_bytes_max", json!(1e9)),
            ("dump_must_not_contain", json!(["x"])),
            ("logs_must_be_one_json_object_per_line", json!(true)),
            ("origin_headers_must_not_contain", json!(["x"])),
            ("secrets_only_to", json!({"host": "a", "secrets": ["x"]})),
            ("proxy_asked_for_addresses_only", json!(true)),
            ("no_replay_across_teams", json!(true)),
            ("links_must_not_match", json!("x")),
            ("links_equal", json!([])),
            ("markdown_must_not_match", json!("x")),
            ("sql_equals", json!(null)),
            ("sql_max", json!(1e9)),
            ("own_job_total", json!(1)),
        ] {
            assert!(!met(key, &want, &fine) && !met(key, &want, &nothing), "{key}");
        }
    }

    #[test]
    fn looks_at_links() {
        let page = answered(200, &json!({"data": {"links": ["http://o/b", "http://o/a"]}}));
        let map = answered(200, &json!({"links": [{"url": "http://o/a"}, {"url": "http://o/b"}]}));
        for seen in [page, map] {
            assert!(met("links_equal", &json!(["http://o/a", "http://o/b"]), &seen));
            assert!(!met("links_equal", &json!(["http://o/a"]), &seen));
            assert!(met("links_must_not_match", &json!("^javascript:"), &seen));
            assert!(!met("links_must_not_match", &json!(["^ftp:", "/b$"]), &seen));
        }
    }

    #[test]
    fn looks_at_markdown_and_the_database() {
        let page = answered(200, &json!({"data": {"markdown": "# A page\n\nof words"}}));
        assert!(met("markdown_must_not_match", &json!("^words"), &page));
        assert!(!met("markdown_must_not_match", &json!(["moon", "(?m)^of w"]), &page));
        assert!(
            !met("markdown_must_not_match", &json!([]), &page) && !met("markdown_must_not_match", &json!("("), &page)
        );
        let asked = Evidence { sql: Some(json!(3)), ..Evidence::default() };
        assert!(met("sql_equals", &json!(3), &asked) && !met("sql_equals", &json!("3"), &asked));
        assert!(met("sql_max", &json!(3), &asked) && !met("sql_max", &json!(2), &asked));
        let rows = Evidence { sql: Some(json!([{"a": 1}, {"a": 2}])), ..Evidence::default() };
        assert!(met("sql_equals", &json!([{"a": 1}, {"a": 2}]), &rows) && !met("sql_max", &json!(9), &rows));
    }

    #[test]
    fn looks_at_where_secrets_go() {
        let home = request("o:1", "GET / HTTP/1.1\r\nCookie: s=1\r\n");
        let mut seen = Evidence { origin: vec![home, request("p:1", "GET / HTTP/1.1\r\n")], ..Evidence::default() };
        let want = json!({"host": "o:1", "secrets": ["s=1"]});
        assert!(met("secrets_only_to", &want, &seen));
        assert!(!met("origin_headers_must_not_contain", &json!(["s=1"]), &seen));
        seen.origin2 = vec![request("q:1", "GET / HTTP/1.1\r\nCookie: s=1\r\n")];
        assert!(!met("secrets_only_to", &want, &seen));
        seen.proxied = vec!["127.0.0.1:80".to_owned()];
        assert!(met("proxy_asked_for_addresses_only", &json!(true), &seen));
        seen.proxied.push("o.test:80".to_owned());
        assert!(!met("proxy_asked_for_addresses_only", &json!(true), &seen));
    }

    #[test]
    fn looks_at_logs_files_and_other_teams() {
        let mut seen = answered(200, &json!({"id": "01890000-0000-7000-8000-00000000beef"}));
        seen.of_other_team = Some(Response { status: 200, body: b"{}".to_vec() });
        assert!(met("no_replay_across_teams", &json!(true), &seen));
        seen.of_other_team =
            answered(409, &json!("of 01890000-0000-7000-8000-00000000beef")).answer.and_then(Result::ok);
        assert!(!met("no_replay_across_teams", &json!(true), &seen));
        seen.log = b"{\"a\":1}\n{}\n".to_vec();
        assert!(met("logs_must_be_one_json_object_per_line", &json!(true), &seen));
        seen.log.extend(b"oops\n");
        assert!(!met("logs_must_be_one_json_object_per_line", &json!(true), &seen));
        assert!(met("no_file_outside_data_dir", &json!(true), &seen));
        seen.strays = vec!["/x".to_owned()];
        assert!(!met("no_file_outside_data_dir", &json!(true), &seen));
        seen.files = vec![("db".to_owned(), b"KEY".to_vec())];
        assert!(met("dump_must_not_contain", &json!(["key"]), &seen));
        assert!(!met("dump_must_not_contain", &json!(["KEY"]), &seen));
    }

    #[test]
    fn looks_at_what_it_cost() {
        let waits = Waits { work: vec![10.0, 30.0], alone: vec![10.0], health: Vec::new() };
        let seen =
            Evidence { cpu_seconds: 2.0, health_ms: vec![1.0, 9.0], innocent: Some(waits), ..Evidence::default() };
        for (key, fine, odd) in [
            ("cpu_seconds_max", 2.0, 1.9),
            ("health_ms_max", 9.0, 8.0),
            ("innocent_p99_ms_max", 30.0, 29.0),
            ("innocent_p99_ratio_max", 3.0, 2.9),
        ] {
            assert!(met(key, &json!(fine), &seen) && !met(key, &json!(odd), &seen), "{key}");
        }
        let refused = answered(400, &json!({"error": "includePaths[3] is too large"}));
        assert!(met("error_must_contain", &json!(["includePaths[3]"]), &refused));
        assert!(!met("error_must_contain", &json!(["excludePaths"]), &refused));
    }
}
