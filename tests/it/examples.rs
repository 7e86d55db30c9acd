//! The examples in `docs/EXAMPLES.md`: every call has one, and they work.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use e2e::{ADMIN_TOKEN, TestApp};
use serde_json::Value;

const SAMPLE: &str = include_str!("../../xtask/src/up/sample.html");

/// Shell functions that fail when a call is refused or an answer lacks the value that is read from it.
const SHELL: &str = r#"
set -euo pipefail
curl() { command curl --fail-with-body --silent --show-error "$@"; }
jq() { command jq --exit-status "$@"; }
"#;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

fn document() -> String {
    fs::read_to_string(root().join("docs/EXAMPLES.md")).unwrap()
}

/// Returns all code blocks of one language, in order.
fn blocks(document: &str, language: &str) -> String {
    let start = format!("```{language}\n");
    document.split(&start).skip(1).map(|rest| rest.split("\n```").next().unwrap().to_owned() + "\n").collect()
}

/// Returns the section below each heading that names a call: `### `GET /v2/…``.
fn sections(document: &str) -> Vec<(&str, &str)> {
    let parts = document.split("\n### `").skip(1);
    parts.map(|part| part.split_once('`').unwrap()).collect()
}

#[test]
fn every_call_has_an_example() {
    let document = document();
    let sections = sections(&document);
    let shown: BTreeSet<String> = sections.iter().map(|(call, _)| (*call).to_owned()).collect();
    let routed: BTreeSet<String> = e2e::openapi::operations().into_iter().collect();
    assert_eq!(shown, routed);
    for (call, text) in sections {
        assert!(text.contains("```sh\n") || text.contains("```console\n"), "{call}: nothing for curl");
        let of_a_team = call.contains(" /v2/") || call.contains(" /files/") || call.contains(" /sessions/");
        if of_a_team && !text.contains("```console\n") {
            assert!(text.contains("```python\n") && text.contains("```js\n"), "{call}: nothing for a client");
        }
    }
}

/// The examples in `/openapi.json` are the bodies of the first examples.
#[test]
fn the_interface_shows_the_same_bodies() {
    let interface: Value =
        serde_json::from_str(&fs::read_to_string(root().join("docs/openapi.json")).unwrap()).unwrap();
    let document = document();
    let mut compared = 0;
    for (call, text) in sections(&document) {
        let (method, path) = call.split_once(' ').unwrap();
        let operation = &interface["paths"][path][method.to_lowercase()];
        let content = &operation["requestBody"]["content"]["application/json"];
        if content.is_null() {
            continue;
        }
        let body = text.split("-d '").nth(1).and_then(|rest| rest.split('\'').next());
        if let Some(body) = body {
            let body: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{call}: {error}: {body}"));
            assert_eq!(content["example"], body, "{call}");
            compared += 1;
        }
    }
    assert!(compared > 5, "only {compared} bodies were compared");
}

/// A service as in the examples, and a folder with the file that they read.
struct Stage {
    app: TestApp,
    folder: tempfile::TempDir,
}

impl Stage {
    async fn set() -> Self {
        let app = TestApp::with(|config| {
            config.browser.enabled = true;
            config.documents.enabled = true;
        })
        .await;
        app.site.html("/", SAMPLE);
        for page in ["/?page=2", "/?slow=1", "/?slow=2", "/?slow=3", "/?slow=4", "/?slow=5", "/?slow=6"] {
            app.site.html(page, SAMPLE);
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("report.pdf"), testkit::Pdf::Report(1).bytes()).unwrap();
        Self { app, folder }
    }

    /// Runs the examples of one language with a program.
    fn run(&self, language: &str, before: &str, mut program: Command) {
        let examples = blocks(&document(), language)
            .replace("http://127.0.0.1:3002", &format!("http://{}", self.app.address()))
            .replace("http://127.0.0.1:3003", self.app.page("").as_str());
        assert!(examples.len() > 1000, "there are no examples in {language}");
        let file = self.folder.path().join(format!("examples.{}", if language == "js" { "mjs" } else { language }));
        fs::write(&file, format!("{before}{examples}")).unwrap();
        let program = program.arg(&file).current_dir(self.folder.path()).env("ADMIN_TOKEN", ADMIN_TOKEN);
        let output = program.output().unwrap();
        let (said, failed) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{language}: {}\n{said}\n{failed}", output.status);
    }
}

/// Returns the folder in which `cargo xtask setup` installs the official clients.
fn clients() -> PathBuf {
    root().join("target/clients")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn they_work_in_a_shell() {
    Stage::set().await.run("sh", SHELL, Command::new("bash"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn they_work_in_python() {
    let python = clients().join("python/bin/python");
    if !clients().join("python/complete").is_file() {
        println!("left out: the Python client is not in {}", clients().display());
        return;
    }
    Stage::set().await.run("python", "", Command::new(python));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn they_work_in_node() {
    let packages = clients().join("node/node_modules");
    if !clients().join("node/complete").is_file() {
        println!("left out: the Node client is not in {}", clients().display());
        return;
    }
    let stage = Stage::set().await;
    std::os::unix::fs::symlink(&packages, stage.folder.path().join("node_modules")).unwrap();
    stage.run("js", "", Command::new("node"));
}
