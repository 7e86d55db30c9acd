//! Prints the branding of a saved page. `page_to_branding URL PAGE.html SAMPLE.json` computes it from a sample of
//! computed styles; `page_to_branding URL PAGE.html SHEET.css…` reads it from the page and these style sheets.

use std::io::{Error, Write, stdout};

use branding::{Sample, Sheet, computed, declared};
use page::Page;
use url::Url;

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, page, others @ ..] = arguments.as_slice() else {
        return Err(Error::other("usage: page_to_branding URL PAGE.html [SAMPLE.json | SHEET.css…]"));
    };
    let url = Url::parse(url).map_err(Error::other)?;
    let page = Page::parse(&std::fs::read_to_string(page)?, &url);
    let found = match others {
        [sample] if sample.ends_with(".json") => {
            computed(&serde_json::from_slice::<Sample>(&std::fs::read(sample)?)?, &page)
        }
        sheets => {
            let read = |file: &String| Ok(Sheet { text: std::fs::read_to_string(file)? });
            declared(&page, &sheets.iter().map(read).collect::<Result<Vec<_>, Error>>()?)
        }
    };
    writeln!(stdout().lock(), "{}", serde_json::to_string_pretty(&found)?)
}
