//! `SearXNG`, and the older searx, by their JSON API.
//!
//! An instance answers 20 or so results a page, as its engines give them, and cannot be asked for a number. Engines that
//! did not answer are listed beside the results.

use async_trait::async_trait;
use chrono::TimeDelta;
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use crate::adapter::{Access, Adapter, AskedPage, Page};
use crate::endpoint::{list, pixels, some_text, text};
use crate::error::EngineError;
use crate::language::for_searxng;
use crate::query::Source;
use crate::sieve::{Raw, RawImage};
use crate::text::Notation;

/// Maximum number of pages of one query.
const MOST_PAGES: usize = 10;
/// Maximum number of silent engines that are named.
const MOST_NAMES: usize = 5;
/// Maximum length of the name of an engine, or of its reason, in characters.
const MOST_CHARS: usize = 60;

/// `SearXNG`.
pub(crate) struct Searxng(pub(crate) Access);

#[async_trait]
impl Adapter for Searxng {
    fn name(&self) -> &'static str {
        "searxng"
    }

    fn offers(&self, _: Source) -> bool {
        true
    }

    fn notation(&self) -> Notation {
        Notation { chars: 1000, words: 100, has_sites: true }
    }

    fn most_pages(&self, _: Source) -> usize {
        MOST_PAGES
    }

    async fn page(&self, asked: &AskedPage<'_>) -> Result<Page, EngineError> {
        let mut url = self.0.url("search");
        url.query_pairs_mut()
            .append_pair("q", &without_commands(asked.text))
            .append_pair("format", "json")
            .append_pair("categories", category(asked.query.source))
            .append_pair("pageno", &(asked.number + 1).to_string())
            .append_pair("safesearch", if asked.query.safe { "1" } else { "0" });
        if let Some(language) = for_searxng(asked.query) {
            url.query_pairs_mut().append_pair("language", &language);
        }
        if let Some(range) = asked.query.window().and_then(|window| range(window.age(asked.now)?)) {
            url.query_pairs_mut().append_pair("time_range", range);
        }
        let answered = self.0.endpoint.get(url, HeaderMap::new(), asked.query.deadline).await?;
        if answered.status == StatusCode::FORBIDDEN {
            return Err(EngineError::JsonOff);
        }
        read(&answered.json("search.searxng_url", asked.now)?, asked)
    }
}

fn category(source: Source) -> &'static str {
    match source {
        Source::Web => "general",
        Source::News => "news",
        Source::Images => "images",
    }
}

/// Returns the text without the signs that are commands here at the beginning of a word: `!` chooses engines, `!!` leaves
/// the server, `:` chooses a language, `<` a timeout, `?` another category.
fn without_commands(text: &str) -> String {
    let words = text.split(' ').map(|word| word.trim_start_matches(['!', ':', '<', '?']));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns the shortest range that covers an age; the sieve checks the dates. `None` if all are shorter.
fn range(age: TimeDelta) -> Option<&'static str> {
    let ranges = [(1, "day"), (7, "week"), (31, "month"), (366, "year")];
    ranges.iter().find(|(days, _)| age <= TimeDelta::days(*days)).map(|(_, word)| *word)
}

fn read(body: &Value, asked: &AskedPage<'_>) -> Result<Page, EngineError> {
    if !body.is_object() {
        return Err(EngineError::Invalid("it is no object".to_owned()));
    }
    let found = list(body, "/results")?;
    let silent = silent(&body["unresponsive_engines"]);
    if found.is_empty() && asked.number == 0 && !silent.is_empty() {
        return Err(EngineError::Unresponsive(silent));
    }
    let source = asked.query.source;
    let results = found.iter().map(|item| result(item, source)).collect();
    let warning = (!silent.is_empty()).then(|| format!("without its engines {}", silent.join(", ")));
    Ok(Page { results, has_more: !found.is_empty(), warnings: warning.into_iter().collect() })
}

fn result(item: &Value, source: Source) -> Raw {
    let image = match source {
        Source::Web => None,
        // Articles often have a small picture only.
        Source::News => ["img_src", "thumbnail", "thumbnail_src"].iter().find_map(|key| some_text(item, key)),
        Source::Images => some_text(item, "img_src"),
    };
    let [width, height] = resolution(item["resolution"].as_str().unwrap_or_default());
    Raw {
        url: text(item, "url"),
        title: text(item, "title"),
        text: text(item, "content"),
        // The older searx writes `publishedDate` for readers, in their language, and the time itself beside it.
        published: some_text(item, "pubdate").or_else(|| some_text(item, "publishedDate")),
        image: image.map(|url| RawImage { url: absolute(url), width, height }),
    }
}

/// Returns an image URL with its scheme, which some engines leave out.
fn absolute(url: String) -> String {
    if url.starts_with("//") { format!("https:{url}") } else { url }
}

/// Reads a resolution: `640 x 480`, `640x480`, `640 × 480 px`.
fn resolution(text: &str) -> [Option<u32>; 2] {
    let mut sides = text.split(['x', 'X', '×']).map(|side| {
        let digits: String = side.chars().filter(char::is_ascii_digit).take(7).collect();
        pixels(&Value::String(digits))
    });
    match [sides.next().flatten(), sides.next().flatten()] {
        [Some(width), Some(height)] => [Some(width), Some(height)],
        _ => [None, None],
    }
}

/// Returns the engines that did not answer, with their reasons. An entry is a list of name and reason; older servers give
/// names alone.
fn silent(engines: &Value) -> Vec<String> {
    let short = |value: &Value| {
        let text = value.as_str().unwrap_or_default();
        crate::plain::plain(text, MOST_CHARS)
    };
    let all = engines.as_array().map(Vec::as_slice).unwrap_or_default();
    let named = |entry: &Value| match entry.as_array().map(Vec::as_slice) {
        Some([name, reason, ..]) => format!("{} ({})", short(name), short(reason)),
        Some([name]) => short(name),
        _ => short(entry),
    };
    let mut names: Vec<String> = all.iter().take(MOST_NAMES).map(named).filter(|name| !name.is_empty()).collect();
    if all.len() > MOST_NAMES {
        names.push(format!("{} more", all.len() - MOST_NAMES));
    }
    names
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ranges_cover_the_age() {
        let hours = |hours| range(TimeDelta::hours(hours));
        assert_eq!(
            [hours(1), hours(24), hours(25), hours(24 * 8)],
            [Some("day"), Some("day"), Some("week"), Some("month")]
        );
        assert_eq!([hours(24 * 366), hours(24 * 367)], [Some("year"), None]);
    }

    #[test]
    fn commands_are_words() {
        for (text, expect) in [
            ("!!g granite", "g granite"),
            ("granite !important :de <300 ?", "granite important de 300"),
            ("a:b c! site:a.test -x (site:b.test)", "a:b c! site:a.test -x (site:b.test)"),
        ] {
            assert_eq!(without_commands(text), expect);
        }
    }

    #[test]
    fn resolutions() {
        for (text, expect) in [
            ("640 x 480", [Some(640), Some(480)]),
            ("640x480", [Some(640), Some(480)]),
            ("1,024 × 768 px", [Some(1024), Some(768)]),
            ("640", [None, None]),
            ("x", [None, None]),
            ("0x0", [None, None]),
            ("", [None, None]),
        ] {
            assert_eq!(resolution(text), expect, "{text}");
        }
    }

    #[test]
    fn silent_engines() {
        assert_eq!(silent(&json!([["a", "timeout"], ["b"], "c"])), ["a (timeout)", "b", "c"]);
        assert_eq!(silent(&json!(null)), Vec::<String>::new());
        assert_eq!(silent(&json!(vec![["x", "y"]; 7])).last().map(String::as_str), Some("2 more"));
    }
}
