//! Metadata of a page: title, language, icon, Open Graph, Dublin Core, article dates, and every raw `<meta>` key.
//!
//! Source of the keys: client contract, section 4. `url`, `sourceURL`, `statusCode` and the rest of what only the
//! service knows is added by it.

use std::collections::{BTreeSet, HashMap};

use dom_query::{Element, local_name};
use serde_json::{Map, Value};

use crate::page::{Index, Page};
use crate::urls::absolute;

/// Different keys that are kept.
const MAX_KEYS: usize = 500;
/// Values of one key that are kept.
const MAX_VALUES: usize = 50;
/// Characters of one value that are kept.
const MAX_CHARS: usize = 10_000;

/// `<meta>` key in lower case, and the name its value has on the wire. Earlier lines win.
const WIRE_NAMES: [(&str, &str); 33] = [
    ("description", "description"),
    ("og:description", "description"),
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
    ("dc:date", "dcDate"),
    ("dc:type", "dcType"),
    ("dc:subject", "dcSubject"),
    ("dc:description", "dcDescription"),
    ("content-language", "language"),
];

/// Metadata keys as they appear on the wire.
///
/// A raw key that occurs with several values has an array of them; `ogLocaleAlternate` always has one. Control
/// characters and marks that turn the reading direction are removed from every value, line ends become blanks.
pub fn metadata(page: &Page) -> Map<String, Value> {
    let raw = raw_keys(page);
    let mut found = Map::new();
    if let Some(title) = title(page).or_else(|| first_of(&raw, &["og:title", "twitter:title"])) {
        found.insert("title".into(), title.into());
    }
    if let Some(language) = page.first(&local_name!("html")).and_then(|html| value(&page.attr(html, "lang")?)) {
        found.insert("language".into(), language.into());
    }
    if let Some(icon) = favicon(page) {
        found.insert("favicon".into(), icon.into());
    }
    for (key, name) in WIRE_NAMES {
        if let Some((_, values)) = raw.iter().find(|(raw_key, _)| raw_key.eq_ignore_ascii_case(key)) {
            found.entry(name).or_insert_with(|| {
                if name == "ogLocaleAlternate" { values.clone().into() } else { one_or_many(values) }
            });
        }
    }
    for (key, values) in &raw {
        found.entry(key.as_str()).or_insert_with(|| one_or_many(values));
    }
    found
}

/// Every `name`, `property`, `itemprop` and `http-equiv` language key with its values, in document order.
fn raw_keys(page: &Page) -> Vec<(String, Vec<String>)> {
    let mut keys: Vec<(String, Vec<String>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for index in 0..page.len() {
        if !page.is(index, &local_name!("meta")) {
            continue;
        }
        let Some(element) = page.element(index) else { continue };
        let Some(content) = element.attr("content").and_then(|content| value(&content)) else {
            continue;
        };
        for key in meta_keys(&element) {
            if let Some(&place) = places.get(&key) {
                let values = &mut keys[place].1;
                if values.len() < MAX_VALUES && !values.contains(&content) {
                    values.push(content.clone());
                }
            } else if keys.len() < MAX_KEYS {
                places.insert(key.clone(), keys.len());
                keys.push((key, vec![content.clone()]));
            }
        }
    }
    keys
}

fn meta_keys(element: &Element) -> BTreeSet<String> {
    let language = element.attr("http-equiv").filter(|key| key.eq_ignore_ascii_case("content-language"));
    let attributes = ["name", "property", "itemprop"].iter().filter_map(|name| element.attr(name));
    attributes.chain(language).filter_map(|key| value(&key)).collect()
}

fn one_or_many(values: &[String]) -> Value {
    match values {
        [only] => only.as_str().into(),
        many => many.to_vec().into(),
    }
}

fn first_of(raw: &[(String, Vec<String>)], keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| raw.iter().find(|(raw_key, _)| raw_key.eq_ignore_ascii_case(key))?.1.first().cloned())
}

/// The first `<title>` that is not a part of a drawing.
fn title(page: &Page) -> Option<String> {
    let in_drawing = |index: Index| page.ancestors(index).any(|above| page.is(above, &local_name!("svg")));
    (0..page.len())
        .filter(|&index| page.is(index, &local_name!("title")) && !in_drawing(index))
        .find_map(|index| value(&page.text_of(index)))
}

/// The page's icon; one made for browsers before one made for home screens.
fn favicon(page: &Page) -> Option<String> {
    let icon = |wanted: &str| {
        (0..page.len()).filter(|&index| page.is(index, &local_name!("link"))).find_map(|index| {
            let rel = page.attr(index, "rel")?;
            rel.split_ascii_whitespace().find(|token| token.eq_ignore_ascii_case(wanted))?;
            absolute(page.base(), &page.attr(index, "href")?)
        })
    };
    icon("icon").or_else(|| icon("apple-touch-icon")).map(String::from)
}

/// Text fit for a header, a log line or a terminal; None when nothing is left.
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

/// Bidirectional overrides, embeddings and isolates: they can make a text read as another one.
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
            &json!({"articleTag": ["a", "b"], "article:tag": ["a", "b"]}),
        );
        check("<meta name=k><meta name=k content=' '><meta content=x>", &json!({}));
    }
}
