//! Queries: words and operators.

use crate::address::plain_host;

/// Most bytes of a query that are read.
const LONGEST: usize = 2_000;
/// Most words, phrases and values of operators of a query. Those beyond are left out.
const MOST_TERMS: usize = 32;

/// Query: words, phrases and operators.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Words and phrases (in quotes) without the operators, for an engine that has operators of its own.
    pub text: String,
    /// Words, as they were written. A page need not have all of them.
    pub words: Vec<String>,
    /// Phrases, without quotes, that a page must have.
    pub phrases: Vec<String>,
    /// Words and phrases, without quotes, that a page must not have.
    pub excluded: Vec<String>,
    /// Hosts, of which a page must come from one (`site:`), in lower case, with a path if one was given (`docs.rs/url`).
    pub sites: Vec<String>,
    /// Hosts that a page must not come from (`-site:`), likewise.
    pub excluded_sites: Vec<String>,
    /// Words or phrases that the title must have (`intitle:`).
    pub in_title: Vec<String>,
    /// Words that the address must have (`inurl:`).
    pub in_url: Vec<String>,
    /// Endings of file names, in lower case, of which the address must have one (`filetype:`).
    pub file_types: Vec<String>,
    /// Moment that the publication must be before (`before:`), Unix time in ms.
    pub before: Option<i64>,
    /// Moment that the publication must be at or after (`after:`), Unix time in ms.
    pub after: Option<i64>,
}

/// Part of a query between blanks.
struct Part<'a> {
    is_excluded: bool,
    /// Text before the first colon, if there is one.
    name: Option<&'a str>,
    value: &'a str,
    is_quoted: bool,
    /// All of it, without the minus.
    body: &'a str,
}

impl Query {
    /// Reads a query. Never fails: everything but operators is read as words. Days are UTC, as in `after:2026-03-01`; a
    /// year or a month is its first day.
    #[must_use]
    pub fn parse(text: &str) -> Query {
        let text = plain_quotes(text);
        let mut query = Query::default();
        let mut rest = text.as_str();
        for _ in 0..MOST_TERMS {
            rest = rest.trim_start();
            if rest.is_empty() {
                break;
            }
            let (part, after) = next_part(rest);
            if !query.apply(&part) {
                query.add_words(&rest[..rest.len() - after.len()]);
            }
            rest = after;
        }
        query
    }

    /// Returns whether nothing is asked for that a page could match: there is nothing, or only what it must not have.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let lists = [&self.words, &self.phrases, &self.sites, &self.in_title, &self.in_url, &self.file_types];
        lists.iter().all(|list| list.is_empty()) && self.before.is_none() && self.after.is_none()
    }

    /// Applies an operator or phrase. Returns false if the part is none.
    fn apply(&mut self, part: &Part<'_>) -> bool {
        let value = part.value.trim();
        let Some(name) = part.name else { return self.apply_plain(part, value) };
        match (name.to_ascii_lowercase().as_str(), part.is_excluded) {
            ("site", excluded) => {
                let Some(site) = site(value) else { return false };
                if excluded { self.excluded_sites.push(site) } else { self.sites.push(site) }
            }
            ("intitle", false) => self.in_title.push(value.to_owned()),
            ("inurl", false) => self.in_url.push(value.to_owned()),
            ("filetype" | "ext", false) => {
                self.file_types.push(value.trim_start_matches('.').to_ascii_lowercase());
            }
            ("before", false) if day(value).is_some() => self.before = day(value),
            ("after", false) if day(value).is_some() => self.after = day(value),
            (_, true) => self.excluded.push(part.body.replace('"', " ").trim().to_owned()),
            _ => return false,
        }
        true
    }

    fn apply_plain(&mut self, part: &Part<'_>, value: &str) -> bool {
        if !value.contains(char::is_alphanumeric) {
            return part.is_quoted;
        }
        match (part.is_excluded, part.is_quoted) {
            (true, _) => self.excluded.push(value.trim_matches('"').to_owned()),
            (false, true) => {
                self.add_text(&format!("\"{value}\""));
                self.phrases.push(value.to_owned());
            }
            (false, false) => return false,
        }
        true
    }

    fn add_words(&mut self, part: &str) {
        for word in part.split(|c: char| c.is_whitespace() || c == '"').filter(|word| !word.is_empty()) {
            // Words are joined by "or" as they are.
            if !matches!(word, "OR" | "AND" | "|") && self.words.len() < MOST_TERMS {
                self.add_text(word);
                self.words.push(word.to_owned());
            }
        }
    }

    fn add_text(&mut self, part: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(part);
    }
}

/// Returns the start of a query with plain quotes.
fn plain_quotes(text: &str) -> String {
    let plain = |c| match c {
        '“' | '”' | '„' | '«' | '»' => '"',
        c if c.is_control() => ' ',
        c => c,
    };
    let mut out = String::new();
    for c in text.chars().map(plain) {
        if out.len() + c.len_utf8() > LONGEST {
            break;
        }
        out.push(c);
    }
    out
}

/// Cuts the first part off a text without leading blanks.
fn next_part(text: &str) -> (Part<'_>, &str) {
    let (is_excluded, body) = match text.strip_prefix('-') {
        Some(body) if !body.is_empty() && !body.starts_with(char::is_whitespace) => (true, body),
        _ => (false, text),
    };
    let word_end = body.find(char::is_whitespace).unwrap_or(body.len());
    let named = body[..word_end].split_once(':').filter(|(name, value)| {
        !value.is_empty() && !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic())
    });
    let (name, value_at) = named.map_or((None, 0), |(name, _)| (Some(name), name.len() + 1));
    let value = &body[value_at..];
    if let Some((quoted, after)) = value.strip_prefix('"').and_then(|open| open.split_once('"')) {
        let body = &body[..body.len() - after.len()];
        return (Part { is_excluded, name, value: quoted, is_quoted: true, body }, after);
    }
    let (body, after) = body.split_at(word_end);
    (Part { is_excluded, name, value: &body[value_at..], is_quoted: false, body }, after)
}

/// Returns a site as addresses have it, with its path.
fn site(value: &str) -> Option<String> {
    let value = value.split_once("://").map_or(value, |(_, rest)| rest);
    let (host, path) = value.split_once('/').unwrap_or((value, ""));
    let host = plain_host(host)?;
    let path = path.trim_end_matches('/');
    Some(if path.is_empty() { host } else { format!("{host}/{path}") })
}

/// Returns the start of a day, Unix time in ms.
fn day(value: &str) -> Option<i64> {
    let mut parts = value.split(['-', '/']);
    let year: i32 = parts.next().filter(|year| year.len() == 4)?.parse().ok()?;
    let mut next = || parts.next().map_or(Some(1), |part| part.parse::<u32>().ok());
    let (month, day) = (next()?, next()?);
    let date = chrono::NaiveDate::from_ymd_opt(year, month, day)?;
    parts.next().is_none().then(|| date.and_time(chrono::NaiveTime::MIN).and_utc().timestamp_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_read() {
        let query = Query::parse(
            "rust  \"borrow checker\" -unsafe -\"raw pointer\" site:https://Doc.rust-lang.org/book/ -site:w3schools.com \
             intitle:guide intitle:\"the book\" inurl:ch04 filetype:.PDF before:2026 after:2025-03-02 OR tokio",
        );
        let expected = Query {
            text: "rust \"borrow checker\" tokio".into(),
            words: vec!["rust".into(), "tokio".into()],
            phrases: vec!["borrow checker".into()],
            excluded: vec!["unsafe".into(), "raw pointer".into()],
            sites: vec!["doc.rust-lang.org/book".into()],
            excluded_sites: vec!["w3schools.com".into()],
            in_title: vec!["guide".into(), "the book".into()],
            in_url: vec!["ch04".into()],
            file_types: vec!["pdf".into()],
            before: Some(1_767_225_600_000),
            after: Some(1_740_873_600_000),
        };
        assert_eq!(query, expected);
    }

    #[test]
    fn what_is_no_operator_is_words() {
        for (text, words) in [
            ("tokio::task::spawn_blocking", vec!["tokio::task::spawn_blocking"]),
            ("error: cannot find", vec!["error:", "cannot", "find"]),
            ("before:noon note:this", vec!["before:noon", "note:this"]),
            ("site: a - b", vec!["site:", "a", "-", "b"]),
            ("an \"open quote", vec!["an", "open", "quote"]),
            ("“", vec![]),
        ] {
            let query = Query::parse(text);
            assert_eq!(query.words, words, "{text}");
            assert_eq!(query, Query { text: query.text.clone(), words: query.words.clone(), ..Query::default() });
        }
        assert!(Query::parse("-only -site:a.org \"\" ").is_empty());
        assert_eq!(Query::parse("“typographic quotes”").phrases, ["typographic quotes"]);
        assert_eq!(Query::parse(&"word ".repeat(900)).words.len(), MOST_TERMS);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_query(text in "\\PC{0,80}|([-\" :a-z/.é東]|site:|intitle:|before:|2026-0|\"){0,30}") {
            let query = Query::parse(&text);
            assert!(query.words.len() <= MOST_TERMS && query.phrases.len() + query.excluded.len() <= MOST_TERMS);
            assert!(query.words.iter().chain(&query.phrases).all(|word| query.text.contains(word.as_str())));
            assert!(query.words.iter().all(|word| !word.contains(['"', ' '])));
        }
    }
}
