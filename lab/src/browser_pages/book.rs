//! Types of `lab/browser-pages/pages.json` and of the `server.json` of each page.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;
use xtask::sh;

/// Returns the folder with the sources of all pages.
pub(crate) fn home() -> PathBuf {
    sh::root().join("lab/browser-pages")
}

/// The table of all pages.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Book {
    #[serde(rename = "about")]
    _about: String,
    /// Pages that need a browser.
    pub(crate) pages: Vec<Page>,
    /// Pages that must not use one.
    #[serde(rename = "static")]
    pub(crate) plain: Vec<Plain>,
}

/// A page that needs a browser.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    pub(crate) number: usize,
    pub(crate) id: String,
    #[serde(rename = "made_of")]
    _made_of: String,
    /// Texts that its markdown must contain.
    pub(crate) seen: Vec<String>,
    /// Texts that it must not contain.
    #[serde(default)]
    pub(crate) not_seen: Vec<String>,
    /// Texts that it may contain once.
    #[serde(default)]
    pub(crate) at_most_once: Vec<String>,
    /// Expected end of `metadata.url`.
    pub(crate) url_ends: Option<String>,
    /// Whether the page has endless activity.
    #[serde(default)]
    pub(crate) endless: bool,
    /// Time in milliseconds that the page itself takes after the last response that it needs.
    #[serde(default)]
    pub(crate) own_ms: u64,
    /// Maximum number of words in its HTML.
    #[serde(default = "shell_words")]
    pub(crate) shell_words: usize,
    /// Script of its own server, run by Node.
    pub(crate) child: Option<String>,
}

/// A page with its whole text in the HTML.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plain {
    pub(crate) id: String,
    #[serde(rename = "misleads_by")]
    _misleads_by: String,
    pub(crate) seen: Vec<String>,
    /// Status of its answer.
    #[serde(default = "ok")]
    pub(crate) status: u16,
    /// Files instead of one page, each with its texts.
    #[serde(default)]
    pub(crate) files: Vec<(String, Vec<String>)>,
}

/// Response of the site for a path.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Route {
    #[serde(default = "delay_ms")]
    pub(super) delay_ms: u64,
    #[serde(default = "ok")]
    pub(super) status: u16,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    pub(super) json: Option<Value>,
    pub(super) html: Option<String>,
    pub(super) text: Option<String>,
    /// `true` for the built file of the path, or the name of another file of the page.
    pub(super) file: Option<Value>,
    /// Pieces of the body, each with the milliseconds since the previous one.
    #[serde(default)]
    pub(super) steps: Vec<(u64, String)>,
    /// Built file with `steps`.
    pub(super) steps_file: Option<String>,
    /// Piece that is repeated after the steps, with its pause in milliseconds.
    pub(super) then: Option<(u64, String)>,
    /// Responses of successive requests of a visit; the last one is repeated.
    #[serde(default)]
    pub(super) turns: Vec<Route>,
}

fn ok() -> u16 {
    200
}

fn delay_ms() -> u64 {
    250
}

fn shell_words() -> usize {
    15
}

/// Reads the table of all pages.
pub(crate) fn read_book() -> Result<Book> {
    let path = home().join("pages.json");
    let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{} is no table of pages", path.display()))
}

/// Reads the routes of all pages by path; a path that ends with `*` is a prefix.
pub(super) fn routes(folder: &Path) -> Result<HashMap<String, Route>> {
    let mut all = HashMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path().join("server.json");
        if path.is_file() {
            let own: HashMap<String, Route> =
                serde_json::from_slice(&fs::read(&path)?).with_context(|| format!("in {}", path.display()))?;
            all.extend(own);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_pages_can_be_read() {
        let book = read_book().unwrap();
        assert_eq!((book.pages.len(), book.plain.len()), (46, 20));
        for (index, page) in book.pages.iter().enumerate() {
            assert_eq!(page.number, index + 1, "{}", page.id);
            assert!(home().join("pages").join(&page.id).is_dir() && !page.seen.is_empty(), "{}", page.id);
        }
        let routes = routes(&home().join("pages")).unwrap();
        let strays: Vec<_> =
            routes.keys().filter(|path| !book.pages.iter().any(|page| path.contains(&page.id))).collect();
        assert_eq!(strays, Vec::<&String>::new());
    }
}
