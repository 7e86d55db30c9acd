//! The text that is sent to an engine: words, operators and domains in its own notation.

use crate::query::{Domains, EngineQuery};

/// Notation of an engine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Notation {
    /// Maximum length of a text, in characters.
    pub(crate) chars: usize,
    /// Maximum number of words.
    pub(crate) words: usize,
    /// Whether domains are part of the text; otherwise the engine has parameters for them.
    pub(crate) has_sites: bool,
}

/// Text for an engine, and what was left out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) text: String,
    pub(crate) warning: Option<String>,
}

/// Returns the text for an engine. Domains that do not fit are left out; the sieve still applies them.
pub(crate) fn sent(query: &EngineQuery<'_>, notation: Notation) -> Sent {
    let mut text = Text { text: cut(query.text, notation), notation };
    let operators = query.operators;
    // One `filetype:` is common notation, several are not.
    let file_type = operators.file_types.first().filter(|_| operators.file_types.len() == 1);
    text.add(file_type.map(|kind| format!("filetype:{kind}")));
    text.add(operators.in_title.iter().map(|word| format!("intitle:{}", quoted(word))));
    text.add(operators.in_url.iter().map(|word| format!("inurl:{}", quoted(word))));
    let mut left_out = 0;
    if notation.has_sites {
        let include = sites(query);
        left_out += text.add_any(&include);
        let exclude = query.operators.not_sites.iter().chain(excluded(query));
        left_out += text.add(exclude.map(|name| format!("-site:{name}")));
    }
    let warning = (left_out > 0).then(|| {
        format!("{left_out} domains did not fit into the query; results of them may be missing or fewer than asked for")
    });
    Sent { text: text.text, warning }
}

/// Returns the domains that results must belong to: those of the operators, which are narrower, else of the request.
pub(crate) fn sites<'a>(query: &EngineQuery<'a>) -> Vec<&'a str> {
    let asked = match query.domains {
        Some(Domains::Include(names)) if query.operators.sites.is_empty() => names.as_slice(),
        _ => query.operators.sites.as_slice(),
    };
    asked.iter().map(String::as_str).collect()
}

/// Returns the domains that the request leaves out.
pub(crate) fn excluded<'a>(query: &EngineQuery<'a>) -> &'a [String] {
    match query.domains {
        Some(Domains::Exclude(names)) => names,
        _ => &[],
    }
}

fn quoted(word: &str) -> String {
    if word.contains(char::is_whitespace) { format!("\"{word}\"") } else { word.to_owned() }
}

/// Cuts a text at the last word that fits.
fn cut(text: &str, notation: Notation) -> String {
    let mut kept = String::new();
    let mut chars = 0;
    for word in text.split_whitespace().take(notation.words) {
        chars += word.chars().count() + usize::from(!kept.is_empty());
        if chars > notation.chars {
            break;
        }
        if !kept.is_empty() {
            kept.push(' ');
        }
        kept.push_str(word);
    }
    // A single word that is too long.
    if kept.is_empty() { text.trim().chars().take(notation.chars).collect() } else { kept }
}

struct Text {
    text: String,
    notation: Notation,
}

impl Text {
    /// Appends parts as long as they fit. Returns the number of the others.
    fn add(&mut self, parts: impl IntoIterator<Item = String>) -> usize {
        parts.into_iter().filter(|part| !self.push(part)).count()
    }

    fn push(&mut self, part: &str) -> bool {
        if !self.has_room_for(part) {
            return false;
        }
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(part);
        true
    }

    /// Appends `site:` of one domain, or of any of several that fit. Returns the number of the others.
    fn add_any(&mut self, names: &[&str]) -> usize {
        if let [only] = names {
            return self.add(Some(format!("site:{only}")));
        }
        let mut any = String::new();
        let mut count = 0;
        for name in names {
            let longer = if any.is_empty() { format!("site:{name}") } else { format!("{any} OR site:{name}") };
            if !self.has_room_for(&format!("({longer})")) {
                break;
            }
            any = longer;
            count += 1;
        }
        if count > 0 {
            self.push(&format!("({any})"));
        }
        names.len() - count
    }

    fn has_room_for(&self, part: &str) -> bool {
        let chars = self.text.chars().count() + 1 + part.chars().count();
        let words = self.text.split_whitespace().count() + part.split_whitespace().count();
        chars <= self.notation.chars && words <= self.notation.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::Words;
    use crate::tests::query;

    const NOTATION: Notation = Notation { chars: 400, words: 50, has_sites: true };

    #[test]
    fn operators_follow_the_words() {
        let check = |asked: &str, domains: Option<Domains>, expect: &str| {
            let words = Words::parse(asked);
            let mut query = query(&words);
            query.domains = domains.as_ref();
            assert_eq!(sent(&query, NOTATION), Sent { text: expect.to_owned(), warning: None }, "{asked}");
        };
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
        check("hard \"granite rock\" -soft", None, "hard \"granite rock\" -soft");
        check("a site:x.test filetype:pdf", None, "a filetype:pdf site:x.test");
        check("a", Some(Domains::Include(names(&["x.test", "y.test"]))), "a (site:x.test OR site:y.test)");
        check("a -site:x.test", Some(Domains::Exclude(names(&["y.test"]))), "a -site:x.test -site:y.test");
        check("a site:s.x.test", Some(Domains::Include(names(&["x.test"]))), "a site:s.x.test");
        check("intitle:\"two words\" inurl:api a", None, "a intitle:\"two words\" inurl:api");
        check("filetype:pdf filetype:doc a before:2026-01-01", None, "a");
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        let words = Words::parse("granite");
        let mut query = query(&words);
        let domains = Domains::Include((0..50).map(|number| format!("domain-{number}.example.com")).collect());
        query.domains = Some(&domains);
        let sent_text = sent(&query, NOTATION);
        assert!(sent_text.text.chars().count() <= 400 && sent_text.text.ends_with(')'), "{}", sent_text.text);
        assert!(sent_text.warning.is_some_and(|warning| warning.contains("domains did not fit")));
        let long = Words::parse(&"word ".repeat(200));
        assert_eq!(sent(&self::query(&long), NOTATION).text.split(' ').count(), 50);
        let one = Words::parse(&"x".repeat(500));
        assert_eq!(sent(&self::query(&one), NOTATION).text.len(), 400);
    }
}
