//! When a page was published, and whether it is an article.

use chrono::{DateTime, NaiveDate, NaiveDateTime};
use page::{Page, local_name};
use serde_json::{Map, Value};

use super::word;

/// Keys of the metadata that hold the date, the most reliable first.
const KEYS: [&str; 10] = [
    "publishedTime",
    "datePublished",
    "article:published",
    "dcDateCreated",
    "dcTermsCreated",
    "dcDate",
    "pubdate",
    "publishdate",
    "parsely-pub-date",
    "date",
];
/// Earliest year that counts: what is before is a mistake, or the default of a program.
const FIRST_YEAR: i64 = 1990;
/// Milliseconds of a year.
const YEAR: i64 = 31_556_952_000;
/// Values of structured data that are looked through.
const MAX_VALUES: usize = 2000;

/// Publication of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Published {
    /// Time, Unix time in ms.
    pub(super) at: Option<i64>,
    /// Whether the page says that it is an article.
    pub(super) is_article: bool,
}

/// Finds the publication in the metadata, in JSON-LD, and in a `<time>` that is marked as such.
pub(super) fn published(page: &Page, metadata: &Map<String, Value>) -> Published {
    let mut found = Published {
        at: KEYS.iter().find_map(|key| parse(&word(metadata, key))),
        is_article: word(metadata, "og:type").eq_ignore_ascii_case("article"),
    };
    if found.at.is_none() || !found.is_article {
        for block in formats::structured(page).lines() {
            let Ok(value) = serde_json::from_str::<Value>(block) else { continue };
            search(&value, &mut found);
        }
    }
    if found.at.is_none() {
        found.at = marked(page);
    }
    found
}

/// Looks for articles in structured data, outer values first.
fn search(value: &Value, found: &mut Published) {
    let mut open = std::collections::VecDeque::from([value]);
    for _ in 0..MAX_VALUES {
        let Some(value) = open.pop_front() else { return };
        match value {
            Value::Array(values) => open.extend(values),
            Value::Object(members) => {
                if is_article(members.get("@type")) {
                    found.is_article = true;
                    let date = members.get("datePublished").and_then(Value::as_str);
                    found.at = found.at.or_else(|| date.and_then(parse));
                }
                open.extend(members.values().filter(|value| value.is_array() || value.is_object()));
            }
            _ => {}
        }
    }
}

fn is_article(kind: Option<&Value>) -> bool {
    let is_one = |kind: &Value| kind.as_str().is_some_and(|kind| kind.ends_with("Article") || kind == "BlogPosting");
    match kind {
        Some(Value::Array(kinds)) => kinds.iter().any(is_one),
        Some(kind) => is_one(kind),
        None => false,
    }
}

/// Returns the time of the first `<time>` that is marked as the publication.
fn marked(page: &Page) -> Option<i64> {
    let is_marked = |&index: &usize| {
        page.is(index, &local_name!("time"))
            && (page.attr(index, "pubdate").is_some()
                || page.attr(index, "itemprop").is_some_and(|names| names.contains("datePublished"))
                || page.attr(index, "class").is_some_and(|class| class.contains("published")))
    };
    page.positions().filter(is_marked).find_map(|index| page.attr(index, "datetime").and_then(|date| parse(&date)))
}

/// Reads a date in one of the forms that pages use; without a zone it is UTC.
pub(super) fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    let of_day = |text: &str, form| NaiveDate::parse_from_str(text, form).ok()?.and_hms_opt(0, 0, 0);
    let in_form = |form| NaiveDateTime::parse_from_str(text, form).ok();
    let found = DateTime::parse_from_rfc3339(text)
        .or_else(|_| DateTime::parse_from_rfc2822(text))
        .or_else(|_| DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f%z"))
        .or_else(|_| DateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S %z"))
        .map(|date| date.timestamp_millis())
        .ok();
    let plain = || {
        let date = in_form("%Y-%m-%dT%H:%M:%S%.f")
            .or_else(|| in_form("%Y-%m-%dT%H:%M"))
            .or_else(|| in_form("%Y-%m-%d %H:%M:%S"))
            .or_else(|| of_day(text, "%Y-%m-%d"))
            .or_else(|| of_day(text, "%Y/%m/%d"))
            .or_else(|| of_day(text, "%B %d, %Y"))
            .or_else(|| of_day(text, "%d %B %Y"));
        date.map(|date| date.and_utc().timestamp_millis())
    };
    found.or_else(plain).filter(|at| *at >= (FIRST_YEAR - 1970) * YEAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(html: &str, expect: (Option<&str>, bool)) {
        let page = Page::parse(html, &url::Url::parse("https://a.test/").unwrap());
        let found = published(&page, &formats::metadata(&page));
        let at = found.at.and_then(DateTime::from_timestamp_millis).map(|at| at.format("%Y-%m-%d %H:%M").to_string());
        assert_eq!((at.as_deref(), found.is_article), expect, "{html}");
    }

    #[test]
    fn dates_of_pages() {
        check("<p>2024-05-06", (None, false));
        check("<meta property=article:published_time content='2024-05-06T09:08+02:00'>", (None, false));
        check(
            "<meta property=article:published_time content='2024-05-06T09:08:00+02:00'><meta property=og:type content=article>",
            (Some("2024-05-06 07:08"), true),
        );
        check("<meta itemprop=datePublished content='May 6, 2024'>", (Some("2024-05-06 00:00"), false));
        check("<time datetime=2024-05-06 itemprop=datePublished>", (Some("2024-05-06 00:00"), false));
        check("<time datetime=2024-05-06>", (None, false));
        check("<meta name=date content=1970-01-01>", (None, false));
        let linked =
            "<script type=application/ld+json>{\"@graph\":[{\"@type\":\"WebSite\",\"datePublished\":\"2001-01-01\"},
            {\"@type\":[\"NewsArticle\"],\"datePublished\":\"2024-05-06T07:08:09.5Z\"}]}</script>";
        check(linked, (Some("2024-05-06 07:08"), true));
    }

    #[test]
    fn forms_of_dates() {
        for text in [
            "2024-05-06T07:08:09Z",
            "2024-05-06T07:08:09.123+0000",
            "Mon, 06 May 2024 07:08:09 GMT",
            "2024-05-06 07:08:09 +0000",
            "2024-05-06T07:08:09",
            "2024-05-06T07:08",
            " 2024/05/06",
            "6 May 2024",
        ] {
            assert_eq!(parse(text).map(|at| at / 86_400_000), Some(19_849), "{text}");
        }
        for text in ["", "yesterday", "2024", "0001-01-01", "2024-13-01"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
