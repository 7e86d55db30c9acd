//! Parts of pages that are left out before comparing: the key `ignore` of a target.

use serde_json::{Map, Value};
use wire::{Invalid, ScrapeOptions};

/// Maximum number of selectors of a target.
const MAX_SELECTORS: usize = 50;
/// Maximum length of a selector, in characters.
const MAX_CHARS: usize = 1000;

/// Reads the selectors of the elements that a target leaves out.
///
/// # Errors
/// [`Invalid`] with the path of the fault below the target.
pub(crate) fn selectors(given: &Map<String, Value>) -> Result<Vec<String>, Invalid> {
    let Some(ignore) = given.get("ignore").filter(|ignore| !ignore.is_null()) else { return Ok(Vec::new()) };
    let Value::Object(ignore) = ignore else { return Err(Invalid::at("ignore", "must be an object")) };
    if let Some(key) = ignore.keys().find(|key| *key != "selectors") {
        return Err(Invalid::at(format!("ignore.{key}"), "is not known; `selectors` is"));
    }
    let Some(selectors) = ignore.get("selectors") else { return Ok(Vec::new()) };
    let refused = |path: &str, why: String| Err(Invalid::at(path, why));
    let Value::Array(selectors) = selectors else {
        return refused("ignore.selectors", "must be a list of CSS selectors".to_owned());
    };
    if selectors.len() > MAX_SELECTORS {
        return refused("ignore.selectors", format!("must not have more than {MAX_SELECTORS} entries"));
    }
    let selector = |(index, selector): (usize, &Value)| match selector.as_str() {
        Some(text) if !text.trim().is_empty() && text.chars().count() <= MAX_CHARS => Ok(text.to_owned()),
        _ => {
            let why = format!("must be a CSS selector of at most {MAX_CHARS} characters");
            Err(Invalid::at(format!("ignore.selectors[{index}]"), why))
        }
    };
    selectors.iter().enumerate().map(selector).collect()
}

/// Leaves the elements out of the pages, of their versions before too: these are made into markdown again with the options
/// of today.
pub(crate) fn leave_out(options: &mut ScrapeOptions, selectors: Vec<String>) {
    options.exclude_tags.extend(selectors);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(ignore: Value) -> Result<Vec<String>, String> {
        let given = [("ignore".to_owned(), ignore)].into_iter().collect();
        selectors(&given).map_err(|invalid| invalid.fields[0].path.clone())
    }

    #[test]
    fn selectors_only() {
        assert_eq!(selectors(&Map::new()).unwrap(), Vec::<String>::new());
        assert_eq!(read(json!({ "selectors": [".ad", "#clock"] })), Ok(vec![".ad".to_owned(), "#clock".to_owned()]));
        for (ignore, path) in [
            (json!("ads"), "ignore"),
            (json!({ "words": [] }), "ignore.words"),
            (json!({ "selectors": ".ad" }), "ignore.selectors"),
            (json!({ "selectors": vec![".a"; 51] }), "ignore.selectors"),
            (json!({ "selectors": [".a", 5] }), "ignore.selectors[1]"),
        ] {
            assert_eq!(read(ignore.clone()), Err(path.to_owned()), "{ignore}");
        }
    }
}
