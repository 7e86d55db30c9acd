//! Conversion of a case's `setup` into scripts of the hostile origin and answers of the test resolver.

use std::net::IpAddr;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use serde_json::Value;
use testkit::{Answer, Body, Encoding, H2Attack, Pdf, Reply, Script};

use super::case::Object;
use crate::random::Random;

/// Known members of a page of the origin.
const PAGE: &[&str] = &[
    "body",
    "body_gen",
    "echo",
    "encode_body",
    "hang_s",
    "header_count",
    "header_drip_bytes_per_s",
    "headers",
    "h2",
    "interim_1xx",
    "path",
    "path_prefix",
    "raw",
    "read",
    "set_cookie_count",
    "status",
];

/// Connection time of an origin that does not read.
const NO_READER: Duration = Duration::from_secs(600);

/// Maximum size of a chunk of a body, in bytes.
const MAX_CHUNK: usize = 1 << 20;

/// Paths of a page of the origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OriginPaths {
    /// Exactly this path.
    Path(String),
    /// All paths with this prefix.
    Below(String),
}

/// Parses one page of the origin: its paths and its script.
pub(crate) fn page(page: &Object, canary_port: u16) -> Result<(OriginPaths, Script)> {
    if let Some(key) = page.keys().find(|key| !PAGE.contains(&key.as_str())) {
        bail!("setup.origin.{key} is not known");
    }
    let place = match (text(page, "path"), text(page, "path_prefix")) {
        (Some(path), None) => OriginPaths::Path(path.to_owned()),
        (None, Some(prefix)) => OriginPaths::Below(prefix.to_owned()),
        _ => bail!("a page needs either path or path_prefix"),
    };
    Ok((place, script(page, canary_port)?))
}

fn script(page: &Object, canary_port: u16) -> Result<Script> {
    let seconds = |key: &str| page.get(key).and_then(Value::as_f64);
    let reads = page.get("read").is_none_or(|read| read == &Value::Bool(true));
    let script = if !reads {
        Script::Hang(NO_READER)
    } else if let Some(raw) = text(page, "raw") {
        Script::Raw(raw.to_owned().into())
    } else if let Some(time) = seconds("hang_s") {
        Script::Hang(Duration::from_secs_f64(time))
    } else if let Some(rate) = seconds("header_drip_bytes_per_s") {
        Script::DripHead(Duration::from_secs_f64(1.0 / rate))
    } else if page.get("echo") == Some(&Value::Bool(true)) {
        Script::Echo
    } else if let Some(attack) = text(page, "h2") {
        Script::H2(h2(attack)?)
    } else if let Some(interim) = text(page, "interim_1xx") {
        ensure!(interim == "endless", "interim_1xx {interim:?} is not known");
        Script::EndlessInterim
    } else {
        Script::Reply(reply(page, canary_port)?)
    };
    Ok(script)
}

/// Returns the attack with this name.
pub(crate) fn h2(name: &str) -> Result<H2Attack> {
    match name {
        "continuation_flood" => Ok(H2Attack::ContinuationFlood),
        "zero_window" => Ok(H2Attack::ZeroWindow),
        other => bail!("the h2 attack {other:?} is not known"),
    }
}

/// Parses the DNS answer of a name.
pub(crate) fn dns(answer: &Value) -> Result<Answer> {
    match answer {
        Value::Object(object) => {
            let mut out = Answer::default();
            for (key, value) in object {
                match key.as_str() {
                    "A" | "AAAA" => {
                        let more = addresses(value)?.into_iter().collect::<Answer>();
                        out.a.extend(more.a);
                        out.aaaa.extend(more.aaaa);
                    }
                    "A_count" => out.count = number(value)?,
                    "cname_chain" => {
                        out.cname_chain = number(value)?;
                        out.a = vec![[127, 0, 0, 1].into()];
                    }
                    "cname" => out.cname = Some(value.as_str().context("cname is no text")?.to_owned()),
                    "hang" => out.hang = value == &Value::Bool(true),
                    "ttl" => out.ttl = number(value)?,
                    "sequence" => {
                        let steps = value.as_array().context("sequence is no array")?;
                        out.sequence = steps.iter().map(addresses).collect::<Result<_>>()?;
                    }
                    other => bail!("setup.dns.{other} is not known"),
                }
            }
            Ok(out)
        }
        other => Ok(addresses(other)?.into_iter().collect()),
    }
}

fn addresses(value: &Value) -> Result<Vec<IpAddr>> {
    let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    items.iter().map(|item| item.as_str().context("an address is no text")?.parse().context("no address")).collect()
}

fn number<T: TryFrom<u64>>(value: &Value) -> Result<T> {
    value.as_u64().and_then(|number| T::try_from(number).ok()).with_context(|| format!("{value} is no small number"))
}

fn text<'a>(object: &'a Object, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str)
}

fn reply(page: &Object, canary_port: u16) -> Result<Reply> {
    let mut headers = Vec::new();
    for (name, value) in page.get("headers").and_then(Value::as_object).into_iter().flatten() {
        headers.push((name.clone(), value.as_str().context("a header of the origin is no text")?.to_owned()));
    }
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        headers.push(("Content-Type".to_owned(), "text/html".to_owned()));
    }
    for index in 0..page.get("header_count").and_then(Value::as_u64).unwrap_or(0) {
        headers.push((format!("X-{index}"), "v".to_owned()));
    }
    for index in 0..page.get("set_cookie_count").and_then(Value::as_u64).unwrap_or(0) {
        headers.push(("Set-Cookie".to_owned(), format!("c{index}={}", "v".repeat(4096))));
    }
    let encode = text(page, "encode_body");
    let body = match page.get("body_gen").and_then(Value::as_object) {
        Some(generator) => generated(generator, encode, canary_port)?,
        None if encode.is_some() => bail!("encode_body needs body_gen"),
        None => text(page, "body").unwrap_or_default().to_owned().into(),
    };
    let status = page.get("status").map_or(Ok(200), number)?;
    Ok(Reply { status, headers, body, delay: Duration::ZERO })
}

fn generated(generator: &Object, encode_body: Option<&str>, canary_port: u16) -> Result<Body> {
    let number = |key: &str| generator.get(key).and_then(Value::as_u64);
    let words = |key: &str| text(generator, key).unwrap_or_default();
    let keys: Vec<&str> = generator.keys().map(String::as_str).collect();
    Ok(match keys.as_slice() {
        ["zeros_bytes"] | ["encode", "zeros_bytes"] => {
            let codings = text(generator, "encode").or(encode_body).unwrap_or_default();
            Body::Zeros { bytes: number("zeros_bytes").context("zeros_bytes")?, encodings: encodings(codings)? }
        }
        ["drip_bytes_per_s"] => {
            let rate = generator["drip_bytes_per_s"].as_f64().context("drip_bytes_per_s")?;
            Body::Drip { every: Duration::from_secs_f64(1.0 / rate) }
        }
        ["count", "each"] => each(words("each"), number("count").context("count")?).into(),
        ["bytes_of"] => words("bytes_of").to_owned().into(),
        ["bytes"] => Body::Zeros { bytes: number("bytes").context("bytes")?, encodings: Vec::new() },
        ["endless"] => endless(),
        ["chunked", "endless"] => endless_chunks(generator)?,
        ["pdf", ..] | ["bytes" | "count", "pdf"] => pdf(generator, canary_port)?.bytes().into(),
        _ if generator.contains_key("repeat") => repeated(generator)?,
        _ => bail!("body_gen with {keys:?} is not known"),
    })
}

/// Repeats the text; `{i}` is replaced by the number of the repetition, `{ab*n}` by n letters a and b that are
/// pseudo-random and the same in every run.
fn each(text: &str, count: u64) -> String {
    let letters = text.split_once("{ab*").and_then(|(before, rest)| {
        let (length, after) = rest.split_once('}')?;
        Some((before, length.parse::<usize>().ok()?, after))
    });
    let one = |number: u64| match letters {
        Some((before, length, after)) => [before, &chance(number, length), after].concat(),
        None => text.to_owned(),
    };
    (0..count).map(|number| one(number).replace("{i}", &number.to_string())).collect()
}

fn chance(seed: u64, length: usize) -> String {
    let mut random = Random::new(seed);
    (0..length).map(|_| if random.next() >> 63 == 0 { 'a' } else { 'b' }).collect()
}

fn endless() -> Body {
    let [prefix, unit, suffix] = ["<urlset>", "<url><loc>http://origin.test/x</loc></url>", ""].map(Into::into);
    Body::Repeat { prefix, unit, bytes: None, suffix }
}

/// Parses `{"chunked": n, "endless": text}`, an endless body in chunks: as many repetitions per chunk as fit into n
/// bytes, and one at least. `true` is 16 KiB, and a paragraph of a page.
fn endless_chunks(generator: &Object) -> Result<Body> {
    let unit = match &generator["endless"] {
        Value::Bool(true) => "<p>Words of a page that never ends.</p>\n",
        Value::String(unit) if !unit.is_empty() => unit,
        other => bail!("body_gen.endless {other} is not known"),
    };
    let size: usize = match &generator["chunked"] {
        Value::Bool(true) => 16 << 10,
        value => number(value).context("chunked")?,
    };
    ensure!((1..=MAX_CHUNK).contains(&size), "body_gen.chunked is no number of 1 to {MAX_CHUNK}");
    let chunk = Bytes::from(unit.repeat((size / unit.len()).max(1)));
    Ok(Body::Steps { steps: Vec::new(), then: Some((Duration::ZERO, chunk)) })
}

fn repeated(generator: &Object) -> Result<Body> {
    if let Some(key) =
        generator.keys().find(|key| !["prefix", "repeat", "suffix", "bytes", "count"].contains(&key.as_str()))
    {
        bail!("body_gen.{key} is not known");
    }
    let number = |key: &str| generator.get(key).and_then(Value::as_u64);
    let words = |key: &str| text(generator, key).unwrap_or_default();
    let unit = words("repeat");
    let body = Body::repeat(words("prefix"), unit, number("count").unwrap_or(0), words("suffix"));
    match (body, number("bytes")) {
        (Body::Repeat { prefix, unit, suffix, .. }, Some(bytes)) => {
            Ok(Body::Repeat { prefix, unit, bytes: Some(bytes), suffix })
        }
        (body, _) if generator.contains_key("count") => Ok(body),
        _ => bail!("body_gen.repeat needs bytes or count"),
    }
}

fn encodings(names: &str) -> Result<Vec<Encoding>> {
    let (name, times) = names.split_once('*').unwrap_or((names, "1"));
    let encoding = match name {
        "" => return Ok(Vec::new()),
        "br" => Encoding::Br,
        "deflate" => Encoding::Deflate,
        "gzip" => Encoding::Gzip,
        "zstd" => Encoding::Zstd,
        other => bail!("the coding {other:?} is not known"),
    };
    Ok(vec![encoding; times.parse().context("how often is it coded")?])
}

fn pdf(generator: &Object, canary_port: u16) -> Result<Pdf> {
    let number = |key: &str| generator.get(key).and_then(Value::as_u64).with_context(|| format!("pdf needs {key}"));
    let count = || Ok::<_, anyhow::Error>(u32::try_from(number("count")?)?);
    Ok(match text(generator, "pdf").unwrap_or_default() {
        "flate_bomb" => Pdf::FlateBomb(number("bytes")?),
        "page_tree_cycle" => Pdf::PageTreeCycle,
        "xref_loop" => Pdf::XrefLoop,
        "ref_cycle" => Pdf::RefCycle,
        "pages" => Pdf::Pages(count()?),
        "encrypted" => Pdf::Encrypted,
        "truncated" => Pdf::Truncated,
        "filter_chain" => Pdf::FilterChain(count()?),
        "image_bomb" => Pdf::ImageBomb,
        "form_xobject_laughs" => Pdf::FormLaughs,
        "late_header" => Pdf::LateHeader,
        "huge_mediabox" => Pdf::HugeMediabox,
        "bad_length" => Pdf::BadLength,
        "launch_action" => Pdf::LaunchAction(canary_port),
        other => bail!("the pdf {other:?} is not known"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn length(body_gen: &Value) -> Option<u64> {
        match page(json!({"path": "/", "body_gen": body_gen}).as_object().unwrap(), 1).unwrap().1 {
            Script::Reply(reply) => reply.body.length(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn bodies_have_the_length_of_the_case() {
        assert_eq!(length(&json!({"repeat": "<p>word</p>", "bytes": 100})), Some(100));
        assert_eq!(length(&json!({"prefix": "<p ", "repeat": "a=1 ", "count": 2})), Some(11));
        assert_eq!(length(&json!({"bytes_of": "<h1>x"})), Some(5));
        assert_eq!(length(&json!({"bytes": 0})), Some(0));
        assert_eq!(length(&json!({"zeros_bytes": 9, "encode": "gzip*10"})), None);
        assert_eq!(length(&json!({"endless": true})), None);
        assert_eq!(length(&json!({"chunked": true, "endless": true})), None);
        assert_eq!(length(&json!({"each": "<p>{i}", "count": 11})), Some(45));
        assert_eq!(length(&json!({"each": "<p>{i}{ab*7}.", "count": 2})), Some(24));
        assert!(chance(1, 100).contains("ab") && chance(1, 9) != chance(2, 9));
        for pdf in ["huge_mediabox", "bad_length"] {
            assert!(length(&json!({"pdf": pdf})).is_some_and(|length| length > 400), "{pdf}");
        }
    }

    #[test]
    fn a_body_without_end_comes_in_chunks() {
        let chunk = |body_gen: Value| match generated(body_gen.as_object().unwrap(), None, 1) {
            Ok(Body::Steps { steps, then: Some((_, chunk)) }) if steps.is_empty() => chunk,
            other => panic!("{other:?}"),
        };
        assert_eq!(chunk(json!({"chunked": 7, "endless": "abc"})), "abcabc");
        assert_eq!(chunk(json!({"chunked": 1, "endless": "abc"})), "abc");
        assert!(chunk(json!({"chunked": true, "endless": true})).starts_with(b"<p>"));
        for odd in [json!({"chunked": 0, "endless": true}), json!({"chunked": 1, "endless": ""})] {
            assert!(generated(odd.as_object().unwrap(), None, 1).is_err(), "{odd}");
        }
    }

    #[test]
    fn a_page_may_stand_for_all_paths_below_one() {
        let place = |json: Value| page(json.as_object().unwrap(), 1).map(|(place, _)| place);
        assert_eq!(place(json!({"path_prefix": "/a/"})).unwrap(), OriginPaths::Below("/a/".to_owned()));
        assert_eq!(place(json!({"path": "/a/"})).unwrap(), OriginPaths::Path("/a/".to_owned()));
        assert!(place(json!({"path": "/", "path_prefix": "/"})).is_err());
    }

    #[test]
    fn what_is_not_known_is_an_error() {
        for odd in
            [json!({"path": "/", "moon": 1}), json!({"path": "/", "body_gen": {"moon": 1}}), json!({"status": 200})]
        {
            assert!(page(odd.as_object().unwrap(), 1).is_err(), "{odd}");
        }
        assert!(dns(&json!({"MX": 1})).is_err());
    }

    #[test]
    fn names_answer_what_the_case_says() {
        let mixed = dns(&json!(["10.0.0.1", "::1"])).unwrap();
        assert_eq!((mixed.a.len(), mixed.aaaa.len()), (1, 1));
        assert_eq!(dns(&json!({"sequence": [["10.0.0.1"], ["127.0.0.1"]], "ttl": 0})).unwrap().sequence.len(), 2);
        assert_eq!(dns(&json!("127.0.0.1")).unwrap().a.len(), 1);
        assert_eq!(dns(&json!({"cname": "a.test"})).unwrap().cname.as_deref(), Some("a.test"));
    }
}
