//! Prints the menus of pages.
//!
//! `menu_cases --batch` reads lines `{"id", "url", "html"}` and writes lines `{"id", "menu"}`, with a `warning` where the
//! page has no menu.

use std::io::{BufRead, Error, Write, stdin, stdout};

use page::Page;
use serde_json::{Value, json};
use url::Url;

fn main() -> Result<(), Error> {
    if std::env::args().nth(1).as_deref() != Some("--batch") {
        return Err(Error::other("usage: menu_cases --batch"));
    }
    for line in stdin().lock().lines() {
        let line: Value = serde_json::from_str(&line?)?;
        let field = |name: &str| line[name].as_str().unwrap_or_default();
        let url = Url::parse(field("url")).map_err(Error::other)?;
        let found = extract_product::menu(&Page::parse(field("html"), &url));
        let mut answer = json!({ "id": line["id"], "menu": found.as_ref().ok() });
        if let Err(missing) = found {
            answer["warning"] = missing.to_string().into();
        }
        writeln!(stdout().lock(), "{answer}")?;
    }
    Ok(())
}
