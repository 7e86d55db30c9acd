//! Commands in the documents work as documented.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bytes::Bytes;
use e2e::TestApp;
use http::Method;
use serde_json::{Value, json};

use crate::rules::Team;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// A `curl … -d '{…}'` command of a document.
struct Call {
    method: Method,
    path: String,
    body: Value,
}

/// Returns all such commands of a document.
fn curl_calls(document: &str) -> Vec<Call> {
    let text = fs::read_to_string(root().join(document)).unwrap().replace("\\\n", " ");
    let calls = text.lines().filter(|line| line.trim_start().starts_with("curl ") && line.contains("-d '"));
    let parse = |line: &str| {
        let path = line.split("127.0.0.1:3002").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
        let body = line.split("-d '").nth(1).unwrap().split('\'').next().unwrap();
        let method = line.split("-X ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap_or("POST");
        Call { method: method.parse().unwrap(), path, body: serde_json::from_str(body).unwrap() }
    };
    calls.map(parse).collect()
}

#[tokio::test]
async fn the_curl_lines_work() {
    let app = TestApp::with_browser().await;
    app.site.html("/", include_str!("../../xtask/src/up/sample.html"));
    let team = Team::new(&app).await;
    let mut calls = 0;
    for document in ["README.md", "docs/API.md", "docs/SELF-HOSTING.md"] {
        for Call { method, path, body } in curl_calls(document) {
            let path = path.replace("$TEAM_ID", &team.id).replace("$KEY_ID", &team.key);
            let body = body.to_string().replace("http://127.0.0.1:3003/", &app.page("/"));
            let client = if path.starts_with("/admin") { app.operator() } else { app.anonymous() };
            let request = client.request(method, &path).header("content-type", "application/json");
            let answer = client.send(request, Bytes::from(body.clone())).await;
            assert_eq!(answer.status, 200, "{document}: {path} {body}: {}", answer.body);
            if document == "README.md" {
                assert!(
                    answer.markdown().starts_with(
                        "# How stone was split before steel\n\nA quarryman reads the _grain_ of a block first."
                    ),
                    "{}",
                    answer.markdown()
                );
            }
            calls += 1;
        }
    }
    assert!(calls >= 3, "only {calls} curl lines were found");
}

/// The first monitor of docs/MONITORS.md works as documented, from a shell.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_monitor_takes_three_commands() {
    let app = TestApp::start().await;
    app.site.html("/", include_str!("../../xtask/src/up/sample.html"));
    let document = fs::read_to_string(root().join("docs/MONITORS.md")).unwrap();
    let commands: Vec<&str> = document.split("```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next()).collect();
    assert_eq!(commands.len(), 3);
    let script = commands.join("\n");
    let script = script.replace("127.0.0.1:3002", &app.address().to_string());
    let script = script.replace("http://127.0.0.1:3003/", &app.page("/"));
    let shown = Command::new("bash").args(["-euo", "pipefail", "-c", &script]).output().unwrap();
    let (said, failed) = (String::from_utf8_lossy(&shown.stdout), String::from_utf8_lossy(&shown.stderr));
    assert!(shown.status.success(), "{said}\n{failed}");
    let check: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&check["status"], &check["summary"]["new"]), (&json!("completed"), &json!(1)), "{check}");
    assert_eq!(check["actualCredits"], 1);
}

/// Returns the Rust code blocks of a document, each with the file in the comment above it: `<!-- from PATH -->`.
fn quotations(document: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (before, rest) in
        document.match_indices("```rust\n").map(|(at, fence)| (&document[..at], &document[at + fence.len()..]))
    {
        let named =
            before.trim_end().lines().last().and_then(|line| line.strip_prefix("<!-- from ")?.strip_suffix(" -->"));
        let named = named.unwrap_or_else(|| panic!("{} names no file", rest.lines().next().unwrap_or_default()));
        let end = rest.find("\n```").unwrap();
        found.push((named.to_owned(), rest[..end].to_owned()));
    }
    found
}

/// Whether the lines are in the source in this order, regardless of indentation. A line `// …` matches any lines.
fn quotes(source: &str, quotation: &str) -> bool {
    let lines = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    let (source, quotation) = (lines(source), lines(quotation));
    let mut from = 0;
    quotation.split(|line| line == "// …").filter(|part| !part.is_empty()).all(|part| {
        let at = source[from..].windows(part.len()).position(|window| window == part);
        from += at.unwrap_or_default() + part.len();
        at.is_some()
    })
}

/// Rust code in the documents is quoted from files that are compiled.
#[test]
fn code_in_the_documents_stands_in_the_repository() {
    let mut count = 0;
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        for (file, quotation) in quotations(&fs::read_to_string(&path).unwrap()) {
            let source = fs::read_to_string(root().join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert!(quotes(&source, &quotation), "{}: this is not in {file}:\n{quotation}", path.display());
            count += 1;
        }
    }
    assert!(count > 0, "no document shows code");
}

#[test]
fn what_is_quoted_must_be_there_in_this_order() {
    let source = "fn a() {\n    b();\n    c();\n    d();\n}\n";
    for (quotation, expect) in [
        ("b();\nc();", true),
        ("fn a() {\n    b();\n    // …\n    d();", true),
        ("b();\nd();", false),
        ("d();\n// …\nb();", false),
        ("c()", false),
    ] {
        assert_eq!(quotes(source, quotation), expect, "{quotation}");
    }
    let document = "Text.\n\n<!-- from a/b.rs -->\n```rust\nc();\nd();\n```\nMore.\n";
    assert_eq!(quotations(document), [("a/b.rs".to_owned(), "c();\nd();".to_owned())]);
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut documents = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    documents.extend(
        fs::read_dir(root().join("docs"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "md")),
    );
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = target.split('#').next().unwrap();
            if !target.is_empty() && !target.contains("://") {
                assert!(
                    document.parent().unwrap().join(target).exists(),
                    "{}: {target} is not there",
                    document.display()
                );
            }
        }
    }
}
