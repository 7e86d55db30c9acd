//! Commands in the documents do what the documents say.

use std::fs;
use std::path::{Path, PathBuf};

use e2e::TestApp;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// Path and JSON body of every `curl … -d '{…}'` in the document.
fn curl_calls(document: &str) -> Vec<(String, Value)> {
    let text = fs::read_to_string(root().join(document)).unwrap().replace("\\\n", " ");
    let calls = text.lines().filter(|line| line.trim_start().starts_with("curl ") && line.contains("-d '"));
    let parse = |line: &str| {
        let path = line.split("127.0.0.1:3002").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
        let body = line.split("-d '").nth(1).unwrap().split('\'').next().unwrap();
        (path, serde_json::from_str(body).unwrap())
    };
    calls.map(parse).collect()
}

#[tokio::test]
async fn the_curl_lines_work() {
    let app = TestApp::start().await;
    app.site.html("/", include_str!("../../xtask/src/up/sample.html"));
    let mut calls = 0;
    for document in ["README.md", "docs/API.md", "docs/SELF-HOSTING.md"] {
        for (path, body) in curl_calls(document) {
            let body = body.to_string().replace("http://127.0.0.1:3003/", &app.page("/"));
            let client = if path.starts_with("/admin") { app.operator() } else { app.anonymous() };
            let answer = client.post_raw(&path, body.clone()).await;
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
