//! Snapshot tests: `cases-page/<name>/page.html` with `expected.html` (the `html` format) or `expected.json` (links,
//! images, metadata). The name of a case begins with its format. `UPDATE=1 cargo test` rewrites the snapshots.

use std::fs;
use std::path::Path;

use formats::{ContentOptions, Page, content, html, images, links, metadata};
use serde_json::{Value, json};
use url::Url;

#[test]
#[expect(clippy::disallowed_methods, reason = "UPDATE=1 is how a person accepts new output")]
fn page_cases() {
    let update = std::env::var_os("UPDATE").is_some();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases-page");
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let mut failed = Vec::new();
    for case in &names {
        let (file, found) = convert(case);
        if update {
            fs::write(&file, &found).unwrap();
        } else if fs::read_to_string(&file).unwrap_or_default() != found {
            failed.push(format!("{}\n{found}", file.display()));
        }
    }
    assert!(names.len() >= 10, "cases are missing");
    assert!(failed.is_empty(), "{} of {} differ:\n{}", failed.len(), names.len(), failed.join("\n"));
}

/// Returns the file of the snapshot, and the actual output.
fn convert(case: &Path) -> (std::path::PathBuf, String) {
    let source = fs::read_to_string(case.join("page.html")).unwrap();
    let page = Page::parse(&source, &Url::parse("https://example.com/section/page.html").unwrap());
    let name = case.file_name().unwrap().to_str().unwrap();
    let found = match name.split('-').next().unwrap() {
        "html" => return (case.join("expected.html"), html(&content(&page, &options(case))) + "\n"),
        "links" => json!(links(&page)),
        "images" => json!(images(&page)),
        "meta" => json!(metadata(&page)),
        _ => panic!("the name of the case {name} does not begin with a format"),
    };
    (case.join("expected.json"), serde_json::to_string_pretty(&found).unwrap() + "\n")
}

/// Reads the options of a case, as in `cases/`; without `options.json`, the whole page is converted.
fn options(case: &Path) -> ContentOptions {
    let written = fs::read_to_string(case.join("options.json")).unwrap_or("{}".to_owned());
    let options: Value = serde_json::from_str(&written).unwrap();
    let tags = |key: &str| -> Vec<String> {
        options[key].as_array().into_iter().flatten().map(|tag| tag.as_str().unwrap().to_owned()).collect()
    };
    ContentOptions {
        only_main_content: options["onlyMainContent"].as_bool().unwrap_or(false),
        include_tags: tags("includeTags"),
        exclude_tags: tags("excludeTags"),
    }
}
