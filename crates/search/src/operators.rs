//! Operators in the text of a query: `site:`, `-site:`, `filetype:`, `intitle:`, `inurl:`, `before:` and `after:`.

use chrono::NaiveDate;

/// Maximum number of operators of one kind; the others of the query are ignored.
const MAX_OPERATORS: usize = 20;

/// Operators of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Operators {
    /// Host names of `site:`, in lower case. Results belong to one of them.
    pub sites: Vec<String>,
    /// Host names of `-site:`, in lower case.
    pub not_sites: Vec<String>,
    /// File types of `filetype:`, in lower case without a dot, such as `pdf`. Results have one of them.
    pub file_types: Vec<String>,
    /// Words of `intitle:`.
    pub in_title: Vec<String>,
    /// Words of `inurl:`.
    pub in_url: Vec<String>,
    /// Date of `before:`; its day is left out.
    pub before: Option<NaiveDate>,
    /// Date of `after:`; its day counts.
    pub after: Option<NaiveDate>,
}

/// A query, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// Words, `"exact words"` and `-word`, as written.
    pub text: String,
    /// Operators.
    pub operators: Operators,
}

impl Words {
    /// Takes a query apart. What looks like an operator but is none, such as `std::fmt` or `site:`, stays text.
    ///
    /// ```
    /// let words = search::Words::parse("granite \"hard rock\" site:example.com -site:old.example.com filetype:pdf");
    /// assert_eq!(words.text, "granite \"hard rock\"");
    /// assert_eq!(words.operators.sites, ["example.com"]);
    /// assert_eq!((words.operators.not_sites[0].as_str(), words.operators.file_types[0].as_str()), ("old.example.com", "pdf"));
    /// ```
    #[must_use]
    pub fn parse(query: &str) -> Self {
        let mut found = Self::default();
        for token in tokens(query) {
            if !found.operators.take(token) {
                if !found.text.is_empty() {
                    found.text.push(' ');
                }
                found.text.push_str(token);
            }
        }
        found
    }
}

impl Operators {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes a token; returns false if it is no operator.
    fn take(&mut self, token: &str) -> bool {
        let Some((name, value)) = token.split_once(':') else { return false };
        let value = value.trim_matches('"').trim();
        if value.is_empty() {
            return false;
        }
        let date = || NaiveDate::parse_from_str(value, "%Y-%m-%d").ok();
        let (list, entry) = match name.to_ascii_lowercase().as_str() {
            "site" => (&mut self.sites, host(value)),
            "-site" => (&mut self.not_sites, host(value)),
            "filetype" | "ext" => (&mut self.file_types, file_type(value)),
            "intitle" => (&mut self.in_title, Some(value.to_owned())),
            "inurl" => (&mut self.in_url, Some(value.to_owned())),
            "before" => return date().map(|date| self.before = Some(date)).is_some(),
            "after" => return date().map(|date| self.after = Some(date)).is_some(),
            _ => return false,
        };
        let Some(entry) = entry else { return false };
        if list.len() < MAX_OPERATORS && !list.contains(&entry) {
            list.push(entry);
        }
        true
    }
}

/// Reads the host of `site:`; a scheme, a path and a wildcard label, which people write, are cut.
fn host(value: &str) -> Option<String> {
    let bare = value.split_once("://").map_or(value, |(_, rest)| rest);
    let bare = bare.split(['/', '?', '#']).next()?;
    let bare = bare.strip_prefix("*.").unwrap_or(bare).trim_matches('.');
    let host = url::Host::parse(bare).ok()?.to_string();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'[' | b']');
    (!host.is_empty() && host.bytes().all(is_name)).then_some(host)
}

fn file_type(value: &str) -> Option<String> {
    let bare = value.trim_start_matches('.').to_ascii_lowercase();
    let is_type = (1..=5).contains(&bare.len()) && bare.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_type.then_some(bare)
}

/// Splits a query at white space outside quotes.
fn tokens(query: &str) -> impl Iterator<Item = &str> {
    let mut in_quotes = false;
    let split = move |c: char| {
        in_quotes ^= c == '"';
        c.is_whitespace() && !in_quotes
    };
    query.split(split).filter(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_taken_out_of_the_text() {
        let words = Words::parse(
            "  Vec::push  SITE:https://*.Docs.rs/std intitle:\"two words\" inurl:api before:2026-01-31 after:2025-12-01 -slow ext:.PDF",
        );
        assert_eq!(words.text, "Vec::push -slow");
        let date = |year, month, day| NaiveDate::from_ymd_opt(year, month, day);
        let want = Operators {
            sites: vec!["docs.rs".to_owned()],
            file_types: vec!["pdf".to_owned()],
            in_title: vec!["two words".to_owned()],
            in_url: vec!["api".to_owned()],
            before: date(2026, 1, 31),
            after: date(2025, 12, 1),
            ..Operators::default()
        };
        assert_eq!(words.operators, want);
    }

    #[test]
    fn what_is_no_operator_stays_text() {
        for text in
            ["site: x", "site:", "before:soon", "std::fmt", "http://a.test/", "filetype:tarball", "\"site:a.test\" b"]
        {
            let words = Words::parse(text);
            assert_eq!((words.text.as_str(), words.operators.is_empty()), (text, true));
        }
        let many: String = (0..100).map(|number| format!("site:a{number}.test ")).collect();
        assert_eq!(Words::parse(&many).operators.sites.len(), MAX_OPERATORS);
        assert_eq!(Words::parse("\"open quote site:a.test").text, "\"open quote site:a.test");
    }
}
