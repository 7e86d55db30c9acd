//! The command `quarry-server index`, and a server that follows what it stores.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use testkit::Site;

use crate::process::{installation, run, terminate};

const PAGES: &str = r##"{"url": "https://a.test/flint", "title": "On flint", "text": "Flint makes sparks."}

{"url": "https://a.test/chert", "markdown": "# Chert\n\nChert is a rock.", "published": "2024-05-06", "other": 1}
"##;

/// Runs the command; returns its output, and fails unless it succeeds as expected.
fn index(data: &Path, arguments: &[&str], allow: &str, is_fine: bool) -> String {
    let ended = run(data, &[&["index"], arguments].concat(), &[("QUARRY__EGRESS__ALLOW", allow)]);
    let said = String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned();
    assert_eq!(ended.status.success(), is_fine, "{arguments:?}: {said}");
    said
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_are_imported_and_the_index_is_built_again() {
    let data = tempfile::tempdir().unwrap();
    let (file, bad) = (data.path().join("pages.jsonl"), data.path().join("bad.jsonl"));
    assert!(index(data.path(), &["stats"], "", false).contains("there is no data in"));
    fs::write(&file, PAGES).unwrap();
    fs::write(&bad, "\n{\"url\": \"https://a.test/\"}\n").unwrap();
    let said = index(data.path(), &["import", &file.display().to_string()], "", true);
    assert!(said.contains("2 documents stored\n2 pages, ") && said.contains(" 0 cached pages to look at"), "{said}");
    let said = index(data.path(), &["import", &bad.display().to_string()], "", false);
    assert!(said.contains("line 2: a document needs exactly one of"), "{said}");
    assert!(index(data.path(), &["rebuild"], "", true).contains("2 pages\n"));
    assert!(index(data.path(), &["stats"], "", true).starts_with("2 pages, "));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_web_archive_is_imported() {
    let data = tempfile::tempdir().unwrap();
    let page = |name: &str| {
        let body =
            format!("<title>{name}</title><main><p>All about {name}, a stone that is found in many places.</main>");
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}");
        format!(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.test/{name}\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    // Each record is packed on its own, as crawlers do.
    let packed: Vec<u8> = ["gneiss", "schist"].iter().flat_map(|name| gzip(page(name).as_bytes())).collect();
    let (file, bad) = (data.path().join("pages.warc.gz"), data.path().join("bad.warc"));
    fs::write(&file, packed).unwrap();
    fs::write(&bad, PAGES).unwrap();
    let said = index(data.path(), &["import", &file.display().to_string()], "", true);
    assert!(said.contains("2 documents stored\n2 pages, "), "{said}");
    let said = index(data.path(), &["import", &bad.display().to_string()], "", false);
    assert!(said.contains("record 1 is no record of a web archive"), "{said}");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_is_crawled_into_the_index_with_a_server_and_without() {
    let site = Site::start().await;
    let (allow, installation) = (site.addr().to_string(), installation().set("egress.allow", site.addr().to_string()));
    site.html("/", r#"<title>Home</title><main><p>Granite, by the way. <a href="/granite">more</a></main>"#);
    site.html("/granite", "<title>Granite</title><main><p>Granite is a hard stone of many places.</main>");
    let data = installation.data();
    fs::create_dir_all(&data).unwrap();
    let start = site.url("/").to_string();
    let said = index(&data, &["seed", &start, "--limit", "5"], &allow, true);
    assert!(said.contains(": 2 pages\n2 pages, "), "{said}");
    let server = installation.server().unwrap();
    site.html("/basalt", "<title>Basalt</title><main><p>Basalt is dark, and <a href=/gabbro>gabbro</a> too.</main>");
    site.html("/gabbro", "<title>Gabbro</title><main><p>Gabbro is coarse.</main>");
    let said = index(&data, &["seed", site.url("/basalt").as_str(), "--limit", "1"], &allow, true);
    assert!(said.contains("the server that runs indexes them"), "{said}");
    assert!(index(&data, &["rebuild"], "", false).contains("the server must be stopped"));
    let until = Instant::now() + Duration::from_secs(60);
    while !index(&data, &["stats"], "", true).starts_with("3 pages, ") {
        assert!(Instant::now() < until, "the server does not follow");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    terminate(server).await;
}
