//! Metadata of a page: title, language, icon, Open Graph, Dublin Core, article dates, and every raw `<meta>` key.
//!
//! The keys are defined in docs/CONTRACT.md. The service adds the members that only it knows, such as `url`,
//! `sourceURL` and `statusCode`.

use std::collections::{BTreeSet, HashMap};

use page::{Element, Page, absolute, local_name};
use serde_json::{Map, Value};

/// Limit on distinct keys.
const MAX_KEYS: usize = 500;
/// Limit on the values of one key.
const MAX_VALUES: usize = 50;
/// Limit on one value, in characters; the rest is cut off.
const MAX_CHARS: usize = 10_000;

/// Pairs of a `<meta>` key in lower case and the name of its value on the wire. Earlier lines win. In keys of `dc` and
/// `dcterms`, `:` is read as `.`.
const WIRE_NAMES: [(&str, &str); 30] = [
    ("description", "description"),
    ("og:description", "description"),
    ("twitter:description", "description"),
    ("keywords", "keywords"),
    ("robots", "robots"),
    ("og:title", "ogTitle"),
    ("og:description", "ogDescription"),
    ("og:url", "ogUrl"),
    ("og:image", "ogImage"),
    ("og:audio", "ogAudio"),
    ("og:determiner", "ogDeterminer"),
    ("og:locale", "ogLocale"),
    ("og:locale:alternate", "ogLocaleAlternate"),
    ("og:site_name", "ogSiteName"),
    ("og:video", "ogVideo"),
    ("article:section", "articleSection"),
    ("article:tag", "articleTag"),
    ("article:published_time", "publishedTime"),
    ("article:modified_time", "modifiedTime"),
    ("dcterms.created", "dcTermsCreated"),
    ("dcterms.type", "dcTermsType"),
    ("dcterms.audience", "dcTermsAudience"),
    ("dcterms.subject", "dcTermsSubject"),
    ("dcterms.keywords", "dcTermsKeywords"),
    ("dc.date.created", "dcDateCreated"),
    ("dc.date", "dcDate"),
    ("dc.type", "dcType"),
    ("dc.subject", "dcSubject"),
    ("dc.description", "dcDescription"),
    ("content-language", "language"),
];

/// Names with a single value on the wire, even if the page has several: clients join arrays with commas, which would
/// break a URL or a date.
const SINGLE: [&str; 12] = [
    "ogTitle",
    "ogDescription",
    "ogUrl",
    "ogImage",
    "ogAudio",
    "ogDeterminer",
    "ogLocale",
    "ogSiteName",
    "ogVideo",
    "publishedTime",
    "modifiedTime",
    "language",
];

/// Returns the metadata of a page, with keys as they appear on the wire.
///
/// A raw key that occurs several times has an array of its values; descriptions are joined instead; `ogLocaleAlternate`
/// is always an array. `canonical` and `charset` are not in the contract; they are present if the page has them.
/// Control characters and bidirectional controls are removed from every value; line breaks become spaces.
pub fn metadata(page: &Page) -> Map<String, Value> {
    let head = Head::read(page);
    let mut found = Map::new();
    let title = head.title.clone().or_else(|| head.first("og:title")).or_else(|| head.first("twitter:title"));
    let icon = head.icon.clone().or_else(|| head.other_icon.clone());
    let canonical = head.canonical.clone();
    for (name, value) in
        [("title", title), ("language", head.language.clone()), ("favicon", icon), ("canonical", canonical)]
    {
        if let Some(value) = value {
            found.insert(name.into(), value.into());
        }
    }
    for (key, name) in WIRE_NAMES {
        if let Some(values) = head.values(key) {
            found.entry(name).or_insert_with(|| wire_value(name, values));
        }
    }
    for (key, values) in &head.keys {
        found.entry(key.as_str()).or_insert_with(|| one_or_many(values));
    }
    if let Some(charset) = &head.charset {
        found.entry("charset").or_insert_with(|| charset.as_str().into());
    }
    found
}

/// Metadata collected in one pass over the page.
#[derive(Default)]
struct Head {
    title: Option<String>,
    language: Option<String>,
    charset: Option<String>,
    canonical: Option<String>,
    /// URL of `rel=icon`.
    icon: Option<String>,
    /// URL of another kind of icon, such as one for home screens.
    other_icon: Option<String>,
    /// Every `name`, `property`, `itemprop` and `http-equiv` language key with its values, in document order.
    keys: Vec<(String, Vec<String>)>,
    /// Positions in `keys` by key.
    places: HashMap<String, usize>,
    /// Positions in `keys` by key in lower case.
    lower: HashMap<String, usize>,
}

impl Head {
    fn read(page: &Page) -> Head {
        let mut head = Head::default();
        let mut drawing_end = 0;
        for index in page.positions() {
            match page.name(index) {
                Some(&local_name!("svg")) => drawing_end = drawing_end.max(page.end(index)),
                Some(&local_name!("meta")) => page.element(index).iter().for_each(|meta| head.meta(meta)),
                Some(&local_name!("link")) => page.element(index).iter().for_each(|link| head.link(page, link)),
                // An SVG has a title of its own.
                Some(&local_name!("title")) if head.title.is_none() && index >= drawing_end => {
                    head.title = value(&page.text_of(index));
                }
                Some(&local_name!("html")) if head.language.is_none() => {
                    let language = page.attr(index, "lang").or_else(|| page.attr(index, "xml:lang"));
                    head.language = language.and_then(|language| value(&language));
                }
                _ => {}
            }
        }
        head
    }

    fn meta(&mut self, element: &Element) {
        if self.charset.is_none() {
            self.charset = element.attr("charset").and_then(|charset| value(&charset));
        }
        let Some(content) = element.attr("content").and_then(|content| value(&content)) else {
            return;
        };
        for key in meta_keys(element) {
            if let Some(&place) = self.places.get(&key) {
                let values = &mut self.keys[place].1;
                // Untrusted input: a page may repeat a key a million times.
                if values.len() < MAX_VALUES {
                    values.push(content.clone());
                }
            } else if self.keys.len() < MAX_KEYS {
                self.places.insert(key.clone(), self.keys.len());
                self.lower.entry(lookup_key(&key)).or_insert(self.keys.len());
                self.keys.push((key, vec![content.clone()]));
            }
        }
    }

    fn link(&mut self, page: &Page, element: &Element) {
        let Some(rel) = element.attr("rel").map(|rel| rel.to_ascii_lowercase()) else {
            return;
        };
        let place = if rel.split_ascii_whitespace().any(|token| token == "icon") {
            &mut self.icon
        } else if rel.contains("icon") {
            &mut self.other_icon
        } else if rel.split_ascii_whitespace().any(|token| token == "canonical") {
            &mut self.canonical
        } else {
            return;
        };
        if place.is_none() {
            let url = element.attr("href").and_then(|href| absolute(page.base(), &href));
            *place = url.filter(|url| matches!(url.scheme(), "http" | "https")).map(String::from);
        }
    }

    fn values(&self, key: &str) -> Option<&[String]> {
        self.lower.get(key).map(|&place| &*self.keys[place].1)
    }

    fn first(&self, key: &str) -> Option<String> {
        self.values(key)?.first().cloned()
    }
}

fn meta_keys(element: &Element) -> BTreeSet<String> {
    let language = element.attr("http-equiv").filter(|key| key.eq_ignore_ascii_case("content-language"));
    let attributes = ["name", "property", "itemprop"].iter().filter_map(|name| element.attr(name));
    attributes.chain(language).filter_map(|key| value(&key)).collect()
}

fn lookup_key(key: &str) -> String {
    let key = key.to_ascii_lowercase();
    if key.starts_with("dc:") || key.starts_with("dcterms:") { key.replace(':', ".") } else { key }
}

fn wire_value(name: &str, values: &[String]) -> Value {
    match name {
        "ogLocaleAlternate" => values.to_vec().into(),
        "description" => values.join(", ").into(),
        _ if SINGLE.contains(&name) => values.first().cloned().into(),
        _ => one_or_many(values),
    }
}

fn one_or_many(values: &[String]) -> Value {
    match values {
        [only] => only.as_str().into(),
        many => many.to_vec().into(),
    }
}

/// Cleans a text so that it is safe in a header, a log line or a terminal; `None` if nothing is left.
fn value(text: &str) -> Option<String> {
    let mut clean = String::new();
    for c in text.chars().take(MAX_CHARS) {
        if c.is_whitespace() {
            if !clean.is_empty() && !clean.ends_with(' ') {
                clean.push(' ');
            }
        } else if !c.is_control() && !turns_direction(c) {
            clean.push(c);
        }
    }
    clean.truncate(clean.trim_end().len());
    (!clean.is_empty()).then_some(clean)
}

/// Whether a character is a bidirectional override, embedding or isolate, which can disguise a text.
fn turns_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(html: &str, expect: &Value) {
        let url = url::Url::parse("https://a.test/d/p").unwrap();
        assert_eq!(&Value::Object(metadata(&Page::parse(html, &url))), expect, "{html}");
    }

    #[test]
    fn titles() {
        check("<title> a\n b </title><title>c</title>", &json!({"title": "a b"}));
        check("<svg><title>no</title></svg>", &json!({}));
        check("<meta property=og:title content=o>", &json!({"title": "o", "ogTitle": "o", "og:title": "o"}));
        check("<title></title><meta name=twitter:title content=t>", &json!({"title": "t", "twitter:title": "t"}));
    }

    #[test]
    fn values_carry_no_control_characters() {
        check(
            "<title>a\u{0}b\u{202e}c\u{1b}[31md\r\nSet-Cookie: x</title>",
            &json!({"title": "a\u{fffd}bc[31md Set-Cookie: x"}),
        );
        check("<meta name='k\u{1b}' content='\u{7f}v\u{85}w'>", &json!({"k": "v w"}));
    }

    #[test]
    fn links_and_charset() {
        check(
            "<html xml:lang=fr><meta charset=koi8-r><link rel=mask-icon href=m.svg><link rel=icon href='data:,'>
             <link rel=canonical href='javascript:x'><link rel='next canonical' href=/c>",
            &json!({
                "language": "fr", "charset": "koi8-r", "favicon": "https://a.test/d/m.svg", "canonical": "https://a.test/c"
            }),
        );
    }

    #[test]
    fn spellings_of_dublin_core() {
        check("<meta name=dcterms:created content=1>", &json!({"dcTermsCreated": "1", "dcterms:created": "1"}));
        check("<meta name=DCTERMS.Keywords content=k>", &json!({"dcTermsKeywords": "k", "DCTERMS.Keywords": "k"}));
        check("<meta name=DC:Date.created content=2>", &json!({"dcDateCreated": "2", "DC:Date.created": "2"}));
    }

    #[test]
    fn keys_of_the_contract() {
        check(
            "<html lang=de><link rel='shortcut icon' href='f.ico'><link rel=apple-touch-icon href=a.png>
             <meta name=Description content=d><meta name=keywords content='a, b'><meta name=robots content=noindex>
             <meta property=og:locale:alternate content=fr><meta property=article:published_time content=2020>
             <meta name=DC.date content=2019><meta itemprop=price content=3>",
            &json!({
                "language": "de", "favicon": "https://a.test/d/f.ico", "description": "d", "Description": "d",
                "keywords": "a, b", "robots": "noindex", "ogLocaleAlternate": ["fr"], "og:locale:alternate": "fr",
                "publishedTime": "2020", "article:published_time": "2020", "dcDate": "2019", "DC.date": "2019", "price": "3",
            }),
        );
    }

    #[test]
    fn repeats_become_arrays() {
        check(
            "<meta property=article:tag content=a><meta property=article:tag content=b><meta property=article:tag content=a>",
            &json!({"articleTag": ["a", "b", "a"], "article:tag": ["a", "b", "a"]}),
        );
        check(
            "<meta property=og:image content=/1><meta property=og:image content=/2>",
            &json!({"ogImage": "/1", "og:image": ["/1", "/2"]}),
        );
        check(
            "<meta name=description content=a><meta name=description content=b><meta property=og:description content=c>",
            &json!({"description": "a, b", "ogDescription": "c", "og:description": "c"}),
        );
        check("<title>t</title><meta name=title content=u>", &json!({"title": "t"}));
        check("<meta name=k><meta name=k content=' '><meta content=x>", &json!({}));
    }
}
