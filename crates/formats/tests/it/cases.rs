//! Snapshot tests: `cases/<name>/{page.html,options.json,expected.md}`. `UPDATE=1 cargo test` rewrites the snapshots.

use std::fs;
use std::path::Path;

use formats::{ContentOptions, LinkStyle, MarkdownOptions, Page, content, markdown};
use serde_json::Value;
use url::Url;

#[test]
#[expect(clippy::disallowed_methods, reason = "UPDATE=1 is how a person accepts new output")]
fn cases() {
    let update = std::env::var_os("UPDATE").is_some();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let mut failed = Vec::new();
    for case in &names {
        let found = convert(case);
        let file = case.join("expected.md");
        if update {
            fs::write(&file, &found).unwrap();
        } else if fs::read_to_string(&file).unwrap_or_default() != found {
            failed.push(format!("{}\n{found}", case.display()));
        }
    }
    assert!(names.len() >= 8, "cases are missing");
    assert!(failed.is_empty(), "{} of {} differ:\n{}", failed.len(), names.len(), failed.join("\n"));
}

fn convert(case: &Path) -> String {
    let html = fs::read_to_string(case.join("page.html")).unwrap();
    let options: Value = serde_json::from_str(&fs::read_to_string(case.join("options.json")).unwrap()).unwrap();
    let tags = |key: &str| -> Vec<String> {
        options[key].as_array().into_iter().flatten().map(|tag| tag.as_str().unwrap().to_owned()).collect()
    };
    let wanted = ContentOptions {
        only_main_content: options["onlyMainContent"].as_bool().unwrap_or(true),
        include_tags: tags("includeTags"),
        exclude_tags: tags("excludeTags"),
    };
    let url = options["url"].as_str().unwrap_or("https://example.com/section/page.html");
    let page = Page::parse(&html, &Url::parse(url).unwrap());
    let written = MarkdownOptions {
        remove_base64_images: options["removeBase64Images"].as_bool().unwrap_or(true),
        links: if options["links"] == "as written" { LinkStyle::AsWritten } else { LinkStyle::Absolute },
        ..MarkdownOptions::default()
    };
    markdown(&content(&page, &wanted), &written) + "\n"
}
