//! What does not count when pages are compared: the keys `ignore` and `ignoreVolatile` of a target.

mod memory;
mod patterns;
mod watch;

use scraping::check::check_selector;
use serde_json::{Map, Value};
use wire::{Invalid, ScrapeOptions};

pub(crate) use self::memory::Memory;
use self::patterns::Patterns;
pub(crate) use self::watch::{Noticed, Watch};

/// Maximum number of selectors of a target, and of patterns.
const MAX_ENTRIES: usize = 50;
/// Maximum length of a selector, in characters.
const MAX_SELECTOR_CHARS: usize = 1000;

/// Parts of pages that do not count.
#[derive(Debug, Clone, Default)]
pub(crate) struct Quiet {
    /// Selectors of elements that are left out.
    selectors: Vec<String>,
    /// Patterns of texts that are left out.
    patterns: Patterns,
    /// Whether blocks are left out that change again and again.
    ignores_volatile: bool,
}

impl Quiet {
    /// Reads what a target leaves out.
    ///
    /// # Errors
    /// [`Invalid`] with the path of the fault below the target.
    pub(crate) fn read(given: &Map<String, Value>) -> Result<Self, Invalid> {
        let ignores_volatile = match given.get("ignoreVolatile") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(flag)) => *flag,
            Some(_) => return Err(Invalid::at("ignoreVolatile", "must be true or false")),
        };
        let none = Map::new();
        let ignore = match given.get("ignore") {
            None | Some(Value::Null) => &none,
            Some(Value::Object(ignore)) => ignore,
            Some(_) => return Err(Invalid::at("ignore", "must be an object")),
        };
        if let Some(key) = ignore.keys().find(|key| !["selectors", "patterns"].contains(&key.as_str())) {
            return Err(Invalid::at(format!("ignore.{key}"), "is not known; `selectors` and `patterns` are"));
        }
        let patterns = Patterns::read(&entries(ignore, "patterns", "regular expressions")?)?;
        let selectors = entries(ignore, "selectors", "CSS selectors")?;
        for (index, selector) in selectors.iter().enumerate() {
            if selector.trim().is_empty() || selector.chars().count() > MAX_SELECTOR_CHARS {
                let why = format!("must be a CSS selector of at most {MAX_SELECTOR_CHARS} characters");
                return Err(Invalid::at(format!("ignore.selectors[{index}]"), why));
            }
            check_selector(selector, &|| format!("ignore.selectors[{index}]"))?;
        }
        let selectors = selectors.into_iter().map(str::to_owned).collect();
        Ok(Self { selectors, patterns, ignores_volatile })
    }

    /// Whether something is left out besides elements.
    pub(crate) fn leaves_out(&self) -> bool {
        self.ignores_volatile || !self.patterns.is_empty()
    }

    /// Leaves the elements out of the pages, of their versions before too: these are made into markdown again with the
    /// options of today.
    pub(crate) fn leave_out(&self, options: &mut ScrapeOptions) {
        options.exclude_tags.extend(self.selectors.iter().cloned());
    }
}

/// Returns the texts of a list; a list that is absent is empty.
fn entries<'v>(ignore: &'v Map<String, Value>, key: &str, noun: &str) -> Result<Vec<&'v str>, Invalid> {
    let refused = |why: String| Err(Invalid::at(format!("ignore.{key}"), why));
    let list = match ignore.get(key) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return refused(format!("must be a list of {noun}")),
    };
    if list.len() > MAX_ENTRIES {
        return refused(format!("must not have more than {MAX_ENTRIES} entries"));
    }
    let text = |(index, entry): (usize, &'v Value)| {
        entry.as_str().ok_or_else(|| Invalid::at(format!("ignore.{key}[{index}]"), "must be a string"))
    };
    list.iter().enumerate().map(text).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(given: Value) -> Result<Quiet, String> {
        let Value::Object(given) = given else { panic!("no object") };
        Quiet::read(&given).map_err(|invalid| invalid.fields[0].path.clone())
    }

    #[test]
    fn what_a_target_leaves_out() {
        let nothing = read(json!({ "ignore": { "selectors": null }, "ignoreVolatile": null })).unwrap();
        assert!(nothing.selectors.is_empty() && nothing.patterns.is_empty() && !nothing.ignores_volatile);
        let all = json!({ "ignore": { "selectors": [".ad", "#clock"], "patterns": ["\\d+ visitors"] }, "ignoreVolatile": true });
        let all = read(all).unwrap();
        assert!(!all.patterns.is_empty() && all.ignores_volatile);
        let mut options = ScrapeOptions::default();
        all.leave_out(&mut options);
        assert_eq!(options.exclude_tags, [".ad", "#clock"]);
    }

    #[test]
    fn faults_have_their_paths() {
        for (given, path) in [
            (json!({ "ignore": "ads" }), "ignore"),
            (json!({ "ignore": { "words": [] } }), "ignore.words"),
            (json!({ "ignore": { "selectors": ".ad" } }), "ignore.selectors"),
            (json!({ "ignore": { "selectors": vec![".a"; 51] } }), "ignore.selectors"),
            (json!({ "ignore": { "selectors": [".a", 5] } }), "ignore.selectors[1]"),
            (json!({ "ignore": { "selectors": [" "] } }), "ignore.selectors[0]"),
            (json!({ "ignore": { "selectors": [".a", "p:has(a:has(b))"] } }), "ignore.selectors[1]"),
            (json!({ "ignore": { "patterns": vec!["a"; 51] } }), "ignore.patterns"),
            (json!({ "ignore": { "patterns": ["a", "(b"] } }), "ignore.patterns[1]"),
            (json!({ "ignore": { "patterns": [""] } }), "ignore.patterns[0]"),
            (json!({ "ignore": { "patterns": ["x".repeat(501)] } }), "ignore.patterns[0]"),
            (json!({ "ignore": { "patterns": ["(\\w{99}){99}{99}"] } }), "ignore.patterns[0]"),
            (json!({ "ignoreVolatile": "yes" }), "ignoreVolatile"),
        ] {
            assert_eq!(read(given.clone()).map(|_| ()), Err(path.to_owned()), "{given}");
        }
    }
}
