//! Tests of /v2/parse: uploaded files.

use std::fs;
use std::path::Path;
use std::time::Duration;

use boot::config::AuthMode;
use bytes::Bytes;
use e2e::{Answer, Client, TestApp};
use http::Method;
use serde_json::{Value, json};
use testkit::Pdf;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::ARTICLE;

/// A part of a form: its name, file name, content type and bytes.
type Part<'a> = (&'a str, Option<&'a str>, Option<&'a str>, &'a [u8]);

fn form(parts: &[Part<'_>]) -> Bytes {
    let mut body = Vec::new();
    for (name, file, content_type, bytes) in parts {
        let file = file.map(|file| format!("; filename=\"{file}\"")).unwrap_or_default();
        let kind = content_type.map(|kind| format!("\r\nContent-Type: {kind}")).unwrap_or_default();
        let head = format!("--cut\r\nContent-Disposition: form-data; name=\"{name}\"{file}{kind}\r\n\r\n");
        body.extend([head.as_bytes(), bytes, b"\r\n"].concat());
    }
    body.extend(b"--cut--\r\n");
    body.into()
}

async fn send(caller: &Client, body: Bytes) -> Answer {
    let request = caller.request(Method::POST, "/v2/parse");
    caller.send(request.header("content-type", "multipart/form-data; boundary=cut"), body).await
}

pub(crate) async fn parse(caller: &Client, name: &str, bytes: &[u8], options: Value) -> Answer {
    let options = options.to_string();
    send(caller, form(&[("options", None, None, options.as_bytes()), ("file", Some(name), None, bytes)])).await
}

async fn remaining(team: &Client) -> i64 {
    team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_sent_is_read_like_one_that_is_fetched() {
    let app = TestApp::start().await;
    let caller = app.anonymous();
    let options =
        json!({"formats": ["markdown", "html", "links", "rawHtml"], "origin": "js-sdk@4", "integration": "cli"});
    let answer = parse(&caller, "stone.html", ARTICLE.as_bytes(), options).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.markdown().starts_with("# Granite\n\nGranite is a **hard** stone"), "{}", answer.markdown());
    let data = &answer.body["data"];
    assert_eq!(
        (&data["rawHtml"], &data["links"]),
        (&json!(ARTICLE), &json!([])),
        "there is nothing to resolve links against"
    );
    let metadata = &data["metadata"];
    for (key, value) in [
        ("title", json!("Granite")),
        ("sourceFile", json!("stone.html")),
        ("sourceURL", json!("stone.html")),
        ("statusCode", json!(200)),
        ("creditsUsed", json!(1)),
        ("contentType", json!("text/html")),
    ] {
        assert_eq!(metadata[key], value, "{key}: {metadata}");
    }
    assert_eq!(metadata["scrapeId"].as_str().map(str::len), Some(36));
    for absent in ["url", "proxyUsed", "cacheState"] {
        assert!(metadata.get(absent).is_none(), "{absent}: {metadata}");
    }
    let scrape = format!("/v2/scrape/{}", metadata["scrapeId"].as_str().unwrap());
    assert_eq!(caller.get(&scrape).await.status, 404, "nothing of it is kept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_come_in_any_order_and_options_are_not_needed() {
    let app = TestApp::start().await;
    let caller = app.anonymous();
    let text: Part<'_> = ("file", Some("a.md"), Some("application/octet-stream"), b"# Hi");
    for (parts, expect) in [
        (vec![text], "# Hi"),
        (vec![text, ("options", None, None, b"")], "# Hi"),
        (vec![text, ("options", None, Some("application/json"), b"{}")], "# Hi"),
        (vec![("options", None, None, b"{\"formats\":[\"html\"]}"), text], ""),
    ] {
        let answer = send(&caller, form(&parts)).await;
        assert_eq!((answer.status, answer.markdown()), (200, expect), "{}", answer.body);
    }
    for (name, bytes, expect) in [
        ("a.json", &b"{}"[..], "```json\n{}\n```"),
        ("a.txt", b"a < b", "a < b"),
        ("a", b"a < b", "a < b"),
        ("page.pdf", b"<h1>x</h1>", "# x"),
        ("a.xml", b"<?xml version='1.0'?><a>b</a>", "b"),
    ] {
        assert_eq!(parse(&caller, name, bytes, json!({})).await.markdown().trim(), expect, "{name}");
    }
    let named = send(&caller, form(&[("file", Some("C:\\stones\\g\u{e4}\u{df}.html"), None, b"<p>x")])).await;
    assert_eq!(named.body["data"]["metadata"]["sourceFile"], "g\u{e4}\u{df}.html");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_that_are_sent() {
    let app = TestApp::with_documents().await;
    let team = app.team(Some(10), json!({})).await;
    let report = Pdf::Report(3).bytes();
    let answer = parse(&team, "r.pdf", &report, json!({"parsers": [{"type": "pdf", "pages": true}]})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.markdown().contains("Page 3 of the report."), "{}", answer.markdown());
    let data = &answer.body["data"];
    assert_eq!(data["pages"].as_array().map(Vec::len), Some(3));
    assert_eq!((&data["metadata"]["numPages"], &data["metadata"]["creditsUsed"]), (&json!(3), &json!(3)));
    assert_eq!(remaining(&team).await, 7);
    let csv = parse(&team, "a.csv", b"stone,tons\ngranite,12\n", json!({})).await;
    assert!(csv.markdown().contains("| granite | 12 |"), "{}", csv.body);
    assert_eq!(remaining(&team).await, 6);
    let refused = parse(&team, "r.pdf", &Pdf::Report(7).bytes(), json!({})).await;
    assert_eq!((refused.status, refused.code()), (402, "insufficient_credits"), "{}", refused.body);
    let locked = parse(&team, "r.pdf", &Pdf::Encrypted.bytes(), json!({})).await;
    assert_eq!((locked.status, locked.code()), (422, "SCRAPE_DOCUMENT_ENCRYPTED"));
    let broken = parse(&team, "a.png", b"\x89PNG\r\n\x1a\n", json!({})).await;
    assert!(["SCRAPE_DOCUMENT_BROKEN", "SCRAPE_OCR_NOT_SUPPORTED"].contains(&broken.code()), "{}", broken.body);
    assert_eq!(remaining(&team).await, 6);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_refused_says_why() {
    let app = TestApp::start().await;
    let caller = app.anonymous();
    let text: Part<'_> = ("file", Some("a.md"), None, b"# Hi");
    for (parts, words) in [
        (vec![], "`file` is required"),
        (vec![("options", None, None, &b"{}"[..])], "`file` is required"),
        (vec![("file", Some("a.md"), None, b"")], "`file` must not be empty"),
        (vec![("file", None, None, b"# Hi")], "`file` must have a file name"),
        (vec![text, text], "`file` must appear only once"),
        (vec![text, ("options", None, None, b"{}"), ("options", None, None, b"{}")], "`options` must appear only once"),
        (vec![text, ("more", None, None, b"x")], "`options` only"),
        (vec![text, ("options", None, None, b"{")], "malformed JSON"),
        (vec![text, ("options", None, None, b"[]")], "must be an object"),
        (vec![text, ("options", None, None, b"{\"timeout\": 1}")], "`timeout`"),
    ] {
        let answer = send(&caller, form(&parts)).await;
        assert_eq!(answer.status, 400, "{words}: {}", answer.body);
        assert!(answer.body["error"].as_str().unwrap().contains(words), "{words}: {}", answer.body);
    }
    let cut = form(&[text]).slice(..40);
    assert_eq!(send(&caller, cut).await.status, 400);
    let none = caller.send(caller.request(Method::POST, "/v2/parse"), Bytes::from_static(b"# Hi")).await;
    assert_eq!((none.status, none.code()), (415, "UNSUPPORTED_MEDIA_TYPE"));
    let options = json!({"actions": [{"type": "scrape"}], "waitFor": 5, "formats": ["html", "screenshot"], "url": "x", "timeout": 1});
    let answer = parse(&caller, "a.md", b"# Hi", options).await;
    assert_eq!((answer.status, answer.code()), (400, "PARSE_UNSUPPORTED_OPTIONS"), "{}", answer.body);
    let paths: Vec<_> = answer.body["details"].as_array().unwrap().iter().map(|fault| fault["path"].clone()).collect();
    assert_eq!(paths, ["actions", "waitFor", "url", "formats[1]", "timeout"]);
    for (name, bytes, looks) in [
        ("x.bin", &b"\0\x01\x02"[..], "data of an unknown kind"),
        ("a.docx", b"PK\x05\x06", "a docx file"),
        ("a.mp4", b"\0\0\0 ftypisom", "sound or video"),
        ("a.pdf", b"%PDF-1.4", "a pdf file"),
    ] {
        let answer = parse(&caller, name, bytes, json!({})).await;
        assert_eq!((answer.status, answer.code()), (400, "UNSUPPORTED_FILE_TYPE"), "{name}: {}", answer.body);
        assert!(answer.body.to_string().contains(looks), "{name}: {}", answer.body);
    }
    let model = parse(&caller, "a.md", b"# Hi", json!({"formats": ["json"]})).await;
    assert_eq!((model.status, model.code()), (400, "SCRAPE_JSON_NOT_SUPPORTED"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_is_read_as_people_see_it() {
    let app = TestApp::start().await;
    let message = b"From: =?iso-8859-1?Q?Ren=E9?= <a@example.org>\nSubject: =?utf-8?B?R3LDvMOfZQ==?=\nMIME-Version: 1.0\n\
        Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\nPHA+bTxzdXA+Mjwvc3VwPiBvZiBvYWs8L3A+\n";
    let answer = parse(&app.anonymous(), "m.eml", message, json!({})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    for part in ["# Gr\u{fc}\u{df}e", "**From:** Ren\u{e9}", "m<sup>2</sup> of oak"] {
        assert!(answer.markdown().contains(part), "{part}: {}", answer.markdown());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_have_a_size() {
    let app = TestApp::start().await;
    let caller = app.anonymous();
    let mut most = vec![b'a'; 50 << 20];
    let fits = send(&caller, form(&[("file", Some("a.bin"), None, &[&b"\0"[..], &most[1..]].concat())])).await;
    assert_eq!((fits.status, fits.code()), (400, "UNSUPPORTED_FILE_TYPE"), "it came through");
    most.push(b'a');
    let large = send(&caller, form(&[("file", Some("a.txt"), None, &most)])).await;
    assert_eq!((large.status, large.code()), (413, "PAYLOAD_TOO_LARGE"), "{}", large.body);
    let options = vec![b' '; (1 << 20) + 1];
    let large = send(&caller, form(&[("options", None, None, &options), ("file", Some("a.txt"), None, b"x")])).await;
    assert_eq!((large.status, large.code()), (413, "PAYLOAD_TOO_LARGE"), "{}", large.body);
    assert_eq!(parse(&caller, "a.txt", b"still here", json!({})).await.markdown(), "still here");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_needed_where_scrapes_need_one() {
    let app = TestApp::with_keys().await;
    let refused = parse(&app.anonymous(), "a.md", b"# Hi", json!({})).await;
    assert_eq!((refused.status, refused.code()), (401, "UNAUTHORIZED"));
    let team = app.team(Some(1), json!({})).await;
    assert_eq!(parse(&team, "a.md", b"# Hi", json!({})).await.status, 200);
    assert_eq!(parse(&team, "a.md", b"# Hi", json!({})).await.code(), "insufficient_credits");
    let private = parse(&team, "a.md", b"# Hi", json!({"zeroDataRetention": true})).await;
    assert_eq!((private.status, private.code()), (403, "FORBIDDEN"), "the operator has not enabled it");
}

/// Whether a file below the folder contains a word.
fn is_below(folder: &Path, word: &[u8]) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => is_below(&path, word),
            false => fs::read(path).is_ok_and(|bytes| bytes.windows(word.len()).any(|part| part == word)),
        }
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_kept_of_what_is_private() {
    let app = TestApp::with_documents().await;
    let team = app.team(Some(100), json!({"zeroDataRetention": true})).await;
    let body = format!("<h1>SECRETMARK</h1>{ARTICLE}");
    for (name, bytes) in [("SECRETNAME.html", body.into_bytes()), ("SECRETNAME.pdf", Pdf::Report(2).bytes())] {
        let answer = parse(&team, name, &bytes, json!({"zeroDataRetention": true})).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.body["data"]["metadata"]["sourceFile"], name);
    }
    for word in [&b"SECRETMARK"[..], b"SECRETNAME", b"of the report"] {
        assert!(!is_below(app.data(), word), "{}", String::from_utf8_lossy(word));
    }
    let place = team.post("/v2/parse/upload-url", &json!({"filename": "a.html"})).await;
    let by_place = json!({"uploadRef": place.body["data"]["uploadRef"], "zeroDataRetention": true});
    let refused = team.post("/v2/parse", &by_place).await;
    assert_eq!((refused.status, &refused.body["details"][0]["path"]), (400, &json!("zeroDataRetention")));
}

async fn put(caller: &Client, url: &str, body: impl Into<Bytes>) -> Answer {
    let path = url.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..])).unwrap();
    caller.send(caller.request(Method::PUT, path), body.into()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_can_be_sent_before_it_is_read() {
    let app = TestApp::with_keys().await;
    let (team, other) = (app.team(Some(10), json!({})).await, app.team(Some(10), json!({})).await);
    let ask = json!({"filename": "a b.html", "contentType": "text/html", "declaredSizeBytes": 2000});
    let place = team.post("/v2/parse/upload-url", &ask).await;
    assert_eq!(place.status, 200, "{}", place.body);
    let data = &place.body["data"];
    assert_eq!((&data["method"], &data["maxSizeBytes"], &data["fields"]), (&json!("PUT"), &json!(2000), &json!({})));
    let (url, by_ref) =
        (data["uploadUrl"].as_str().unwrap(), json!({"uploadRef": data["uploadRef"], "formats": ["markdown"]}));
    assert!(url.starts_with(&format!("http://{}/files/", app.address())), "{url}");

    // No file is uploaded yet; an invalid URL accepts no upload, and nothing can be parsed.
    assert_eq!(team.post("/v2/parse", &by_ref).await.status, 404);
    let path = url.split_once("/files/").unwrap().1;
    assert_eq!(app.anonymous().get(&format!("/files/{path}")).await.status, 404, "it is for sending alone");
    for wrong in
        [url.replace("size=2000", "size=2001"), url.replace("a%20b", "a"), url.replace("signature=", "signature=0")]
    {
        assert_eq!(put(&app.anonymous(), &wrong, ARTICLE).await.status, 404, "{wrong}");
    }
    assert_eq!(put(&app.anonymous(), url, vec![b'a'; 2001]).await.code(), "PAYLOAD_TOO_LARGE");
    assert_eq!(put(&app.anonymous(), url, "").await.status, 400);
    let sent = put(&app.anonymous(), url, ARTICLE).await;
    assert_eq!((sent.status, &sent.body["success"]), (200, &json!(true)), "{}", sent.body);
    assert_eq!(put(&app.anonymous(), url, "another").await.code(), "FILE_GONE");

    // The file belongs to the team, and is parsed once.
    assert_eq!(other.post("/v2/parse", &by_ref).await.status, 404);
    let answer = team.post("/v2/parse", &by_ref).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.markdown().starts_with("# Granite"), "{}", answer.markdown());
    assert_eq!(answer.body["data"]["metadata"]["sourceFile"], "a b.html");
    assert_eq!(team.post("/v2/parse", &by_ref).await.status, 404);
    assert_eq!(put(&app.anonymous(), url, ARTICLE).await.code(), "FILE_GONE");
    assert!(!is_below(&app.data().join("blobs"), b"Granite"), "the file is gone");
    assert_eq!((remaining(&team).await, remaining(&other).await), (9, 10));
    for (body, status) in
        [(json!({"uploadRef": "x"}), 404), (json!({}), 400), (json!({"uploadRef": "x", "mobile": true}), 400)]
    {
        assert_eq!(team.post("/v2/parse", &body).await.status, status, "{body}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_was_sent_waits_for_room_and_is_not_lost() {
    let app = TestApp::with_keys().await;
    let team = app.team(Some(10), json!({})).await;
    let place = team.post("/v2/parse/upload-url", &json!({"filename": "a.html"})).await.body["data"].take();
    let file = format!("{ARTICLE}<!-- {} -->", "x".repeat(2 << 20));
    assert_eq!(put(&app.anonymous(), place["uploadUrl"].as_str().unwrap(), file).await.status, 200);
    // Other bodies hold the whole memory budget.
    let mut held = Vec::new();
    loop {
        let room = app.operations().app.room_for_body(&base::Owner::default());
        if timeout(Duration::from_millis(50), room.grow(2 << 20)).await.is_err() {
            break;
        }
        held.push(room);
    }
    let by_ref = json!({"uploadRef": place["uploadRef"], "formats": ["markdown"], "timeout": 1500});
    let late = team.post("/v2/parse", &by_ref).await;
    assert_eq!(late.code(), "SCRAPE_TIMEOUT", "{}", late.body);
    drop(held);
    let answer = team.post("/v2/parse", &by_ref).await;
    assert_eq!((answer.status, remaining(&team).await), (200, 9), "{}", answer.body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_list_says_what_this_server_reads() {
    let app = TestApp::start().await;
    let without = app.anonymous().get("/v2/parse/formats").await.body;
    let find = |body: &Value, name: &str| {
        let all = body["data"]["formats"].as_array().unwrap().clone();
        all.into_iter().find(|format| format["format"] == name).unwrap_or_else(|| panic!("{name} in {body}"))
    };
    let html = find(&without, "html");
    assert_eq!(
        (&html["kind"], &html["available"], &html["extensions"][0]),
        (&json!("page"), &json!(true), &json!("html"))
    );
    assert_eq!(find(&without, "pdf")["available"], false);
    let with = TestApp::with_documents().await;
    let team = with.team(Some(1), json!({})).await;
    let with = team.get("/v2/parse/formats").await.body;
    for (name, kind) in [("pdf", "document"), ("docx", "document"), ("pptx", "presentation"), ("xlsx", "spreadsheet")] {
        let format = find(&with, name);
        assert_eq!((&format["kind"], &format["available"]), (&json!(kind), &json!(true)), "{format}");
        assert!(format["mimeTypes"].as_array().is_some_and(|types| !types.is_empty()));
    }
    assert_eq!(find(&with, "png")["kind"], "image");
}

/// Sends a part of a request body on a connection of its own.
async fn half_sent(app: &TestApp, url: &str, announced: usize, sent: usize) -> TcpStream {
    let path = url.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..])).unwrap();
    let head = format!("PUT {path} HTTP/1.1\r\nhost: {}\r\ncontent-length: {announced}\r\n\r\n", app.address());
    let mut stream = TcpStream::connect(app.address()).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    // The server reads only a limited amount from an upload without a slot.
    let _ = timeout(Duration::from_millis(300), stream.write_all(&vec![b'a'; sent])).await;
    stream
}

async fn upload_url(team: &Client) -> String {
    let place = team.post("/v2/parse/upload-url", &json!({"filename": "a.html"})).await;
    assert_eq!(place.status, 200, "{}", place.body);
    place.body["data"]["uploadUrl"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_do_not_come_keep_no_other_team_from_sending() {
    let app = TestApp::with(|config| {
        config.auth.mode = AuthMode::Keys;
        config.server.upload_grace = Duration::from_secs(600);
    })
    .await;
    let (slow, other) = (app.team(Some(10), json!({})).await, app.team(Some(10), json!({})).await);
    let mut held = Vec::new();
    for _ in 0..8 {
        held.push(half_sent(&app, &upload_url(&slow).await, 2 << 20, 200 << 10).await);
    }
    // Another team from the same address.
    let file = format!("{ARTICLE}<!-- {} -->", "x".repeat(1 << 20));
    for _ in 0..3 {
        let sent =
            timeout(Duration::from_secs(20), put(&app.anonymous(), &upload_url(&other).await, file.clone())).await;
        assert_eq!(sent.unwrap().status, 200);
    }
    let form = parse(&other, "a.html", file.as_bytes(), json!({})).await;
    assert_eq!(form.status, 200, "{}", form.body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_comes_too_slowly_is_refused() {
    let app = TestApp::with(|config| {
        config.auth.mode = AuthMode::Keys;
        config.server.upload_grace = Duration::from_secs(1);
    })
    .await;
    let team = app.team(Some(10), json!({})).await;
    let url = upload_url(&team).await;
    let mut stream = half_sent(&app, &url, 1 << 20, 8 << 10).await;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(
        answer.contains("UPLOAD_TOO_SLOW") && answer.contains("server.upload_min_kib_per_s requires 16 KiB"),
        "{answer}"
    );
    // The URL still accepts the file.
    assert_eq!(put(&app.anonymous(), &url, ARTICLE).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_team_reads_what_it_has_sent_before_it_sends_more() {
    let app = TestApp::with(|config| {
        config.auth.mode = AuthMode::Keys;
        config.files.max_unread_uploads = 2;
    })
    .await;
    let (team, other) = (app.team(Some(10), json!({})).await, app.team(Some(10), json!({})).await);
    let ask = json!({"filename": "a.html"});
    let first = team.post("/v2/parse/upload-url", &ask).await.body["data"].take();
    assert_eq!(put(&app.anonymous(), first["uploadUrl"].as_str().unwrap(), ARTICLE).await.status, 200);
    upload_url(&team).await;
    let refused = team.post("/v2/parse/upload-url", &ask).await;
    assert_eq!((refused.status, refused.code()), (429, "UPLOAD_LIMIT"), "{}", refused.body);
    let why = refused.body["error"].as_str().unwrap();
    assert!(why.contains("files.max_unread_uploads") && why.contains("POST /v2/parse"), "{why}");
    assert!(refused.header("retry-after").parse::<u64>().is_ok_and(|wait| (850..=901).contains(&wait)));
    upload_url(&other).await;
    let read = team.post("/v2/parse", &json!({"uploadRef": first["uploadRef"]})).await;
    assert_eq!(read.status, 200, "{}", read.body);
    upload_url(&team).await;
}
