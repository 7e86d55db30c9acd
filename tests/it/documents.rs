//! PDF, office files and images at scraped URLs.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use e2e::{Client, TestApp};
use serde_json::{Value, json};
use testkit::{Pdf, Reply};

/// Returns a reply with this content type.
pub(crate) fn file(content_type: &str, body: impl Into<bytes::Bytes>) -> Reply {
    Reply { body: testkit::Body::Bytes(body.into()), ..Reply::default() }.header("content-type", content_type)
}

fn pdf(kind: Pdf) -> Reply {
    file("application/pdf", kind.bytes())
}

async fn remaining(team: &Client) -> i64 {
    team.get("/v2/team/credit-usage").await.body["data"]["remainingCredits"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pdf_becomes_every_format_of_a_page() {
    let app = TestApp::with_documents().await;
    app.site.respond("/report.pdf", pdf(Pdf::Report(2)));
    let team = app.team(Some(100), json!({})).await;
    let formats = json!(["markdown", "html", "rawHtml", "links", "images",
        {"type": "attributes", "selectors": [{"selector": "a", "attribute": "href"}]}]);
    let body = json!({"url": app.page("/report.pdf"), "formats": formats, "includeTags": ["nothing"], "onlyMainContent": true});
    let answer = team.scrape(&body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.markdown().trim(), "Page 1 of the report.\n\nPage 2 of the report.", "no selector applies to it");
    let data = &answer.body["data"];
    for html in [&data["html"], &data["rawHtml"]] {
        assert!(html.as_str().unwrap().contains("<p>Page 2 of the report.</p>"), "{html}");
    }
    assert_eq!((&data["links"], &data["images"]), (&json!([]), &json!([])));
    assert_eq!(data["attributes"][0]["values"], json!([]));
    assert!(data.get("pages").is_none() && data.get("blocks").is_none());
    let metadata = &data["metadata"];
    for (key, value) in [
        ("title", json!("Report")),
        ("author", json!("A. Quarrier")),
        ("dcDateCreated", json!("2024-01-31T09:30:05Z")),
        ("contentType", json!("application/pdf")),
        ("statusCode", json!(200)),
        ("numPages", json!(2)),
        ("totalPages", json!(2)),
        ("creditsUsed", json!(2)),
        ("url", json!(app.page("/report.pdf"))),
    ] {
        assert_eq!(metadata[key], value, "{key} in {metadata}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_tell_what_a_file_is() {
    let app = TestApp::with_documents().await;
    let hello = Pdf::Plain.bytes();
    app.site.respond("/a.html", file("text/html", hello.clone()));
    app.site.respond("/b", file("application/octet-stream", hello.clone()));
    app.site.respond("/c", file("application/octet-stream", [b"junk before it\n".to_vec(), hello].concat()));
    app.site.respond("/d.csv", file("text/plain", "stone,tons\ngranite,12\nslate,7\n"));
    app.site.respond("/e", file("text/plain", r"{\rtf1\ansi A {\b hard} stone.}"));
    let team = app.team(Some(100), json!({})).await;
    for (path, expect) in
        [("/a.html", "hello"), ("/b", "hello"), ("/c", "hello"), ("/d.csv", "granite"), ("/e", "hard")]
    {
        let answer = team.scrape(&json!({"url": app.page(path)})).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(answer.markdown().contains(expect), "{path}: {}", answer.markdown());
        assert_eq!(answer.body["data"]["metadata"]["creditsUsed"], 1, "{path}");
    }
    let table = team.scrape(&json!({"url": app.page("/d.csv")})).await;
    assert!(table.markdown().contains("| granite | 12 |"), "{}", table.markdown());
    assert_eq!(table.body["data"]["metadata"]["cacheState"], "hit");
    app.site.respond("/f.pdf", file("application/pdf", "<h1>Not found</h1>"));
    assert_eq!(team.scrape(&json!({"url": app.page("/f.pdf")})).await.markdown().trim(), "# Not found");
    assert_eq!(remaining(&team).await, 93);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_and_blocks_where_they_are_asked_for() {
    let app = TestApp::with_documents().await;
    app.site.respond("/r.pdf", pdf(Pdf::Report(3)));
    let team = app.team(Some(100), json!({})).await;
    let parser =
        json!({"type": "pdf", "mode": "fast", "maxPages": 2, "pages": true, "blocks": true, "pageMarkers": true});
    let answer = team.scrape(&json!({"url": app.page("/r.pdf"), "parsers": [parser]})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let data = &answer.body["data"];
    let markers = "Page 1 of the report.\n\n---\n\n<!-- page 2 -->\n\nPage 2 of the report.";
    assert_eq!(answer.markdown().trim(), markers);
    let page = |number: i32| json!({"pageNumber": number, "markdown": format!("Page {number} of the report.")});
    assert_eq!(data["pages"], json!([page(1), page(2)]));
    let metadata = &data["metadata"];
    assert_eq!((&metadata["numPages"], &metadata["totalPages"]), (&json!(2), &json!(3)));
    assert_eq!(metadata["creditsUsed"], 2, "only pages that were read");
    let blocks = data["blocks"].as_array().unwrap();
    assert_eq!(blocks.len(), 2);
    let characters: Vec<char> = answer.markdown().chars().collect();
    for (page, number) in blocks.iter().zip(1..) {
        assert_eq!((&page["pageNumber"], &page["status"]), (&json!(number), &json!("ok")));
        let block = &page["items"][0];
        assert_eq!((&block["id"], &block["type"]), (&json!(format!("p{number}.b0")), &json!("text")));
        assert!(block["confidence"].is_object() && block["source"] == "native_text", "{block}");
        let at = |place: usize| usize::try_from(block["markdownSpan"][place].as_u64().unwrap()).unwrap();
        let text: String = characters[at(0)..at(1)].iter().collect();
        assert_eq!(text, block["content"].as_str().unwrap());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_page_that_is_read_is_paid() {
    let app = TestApp::with_documents().await;
    app.site.respond("/r.pdf", pdf(Pdf::Report(5)));
    app.site.respond("/long.pdf", pdf(Pdf::Report(12)));
    let team = app.team(Some(20), json!({})).await;
    let scrape = |path: &str, more: Value| {
        let mut body = json!({"url": app.page(path)});
        more.as_object().unwrap().iter().for_each(|(key, value)| body[key] = value.clone());
        let team = team.clone();
        async move { team.scrape(&body).await }
    };
    let fresh = scrape("/r.pdf", json!({})).await;
    assert_eq!(fresh.body["data"]["metadata"]["creditsUsed"], 5);
    assert_eq!(remaining(&team).await, 15);
    let cached = scrape("/r.pdf", json!({})).await;
    assert_eq!(cached.body["data"]["metadata"]["cacheState"], "hit");
    assert_eq!((cached.body["data"]["metadata"]["creditsUsed"].as_i64(), remaining(&team).await), (Some(5), 10));
    // The unparsed file costs one page, whatever its size.
    let unread = scrape("/r.pdf", json!({"parsers": [], "formats": ["markdown", "html"]})).await;
    assert_eq!(BASE64_STANDARD.decode(unread.markdown()).unwrap(), Pdf::Report(5).bytes());
    assert_eq!(unread.body["data"]["html"], unread.body["data"]["markdown"]);
    assert_eq!((unread.body["data"]["metadata"]["creditsUsed"].as_i64(), remaining(&team).await), (Some(1), 9));
    // Not enough credits for all twelve pages: nothing is read or charged.
    let refused = scrape("/long.pdf", json!({})).await;
    assert_eq!((refused.status, refused.code()), (402, "insufficient_credits"), "{}", refused.body);
    assert!(refused.body["error"].as_str().unwrap().contains("needs 12 and the team has 9"), "{}", refused.body);
    assert_eq!(remaining(&team).await, 9);
    // Enough credits for the requested pages.
    let some = scrape("/long.pdf", json!({"parsers": [{"type": "pdf", "maxPages": 4}]})).await;
    assert_eq!((some.status, some.body["data"]["metadata"]["creditsUsed"].as_i64()), (200, Some(4)), "{}", some.body);
    // Under lockdown the first page has the lockdown price.
    let locked = scrape("/r.pdf", json!({"lockdown": true, "parsers": [{"type": "pdf", "maxPages": 1}]})).await;
    assert_eq!(
        (locked.status, locked.body["data"]["metadata"]["creditsUsed"].as_i64()),
        (200, Some(5)),
        "{}",
        locked.body
    );
    assert_eq!(remaining(&team).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_read_is_named_and_free() {
    let app = TestApp::with_documents().await;
    app.site.respond("/locked.pdf", pdf(Pdf::Encrypted));
    app.site.respond("/broken.pdf", file("application/pdf", b"%PDF-1.7\n\x80\x81 nothing".to_vec()));
    app.site.respond("/scan.pdf", pdf(Pdf::Scan));
    app.site.respond("/a.zip", file("application/zip", b"PK\x05\x06rest".to_vec()));
    app.site.respond("/gone.pdf", Reply { status: 404, ..pdf(Pdf::Plain) });
    app.site.respond("/a.png", file("image/png", b"\x89PNG\r\n\x1a\n".to_vec()));
    let team = app.team(Some(10), json!({})).await;
    let fast = json!([{"type": "pdf", "mode": "fast"}]);
    for (path, parsers, status, code) in [
        ("/locked.pdf", json!(null), 422, "SCRAPE_DOCUMENT_ENCRYPTED"),
        ("/broken.pdf", json!(null), 422, "SCRAPE_DOCUMENT_BROKEN"),
        ("/scan.pdf", fast, 422, "SCRAPE_PDF_OCR_REQUIRED"),
        ("/a.zip", json!(null), 422, "SCRAPE_UNSUPPORTED_FILE_ERROR"),
        ("/a.png", json!(null), 422, "SCRAPE_UNSUPPORTED_FILE_ERROR"),
    ] {
        let answer = team.scrape(&json!({"url": app.page(path), "parsers": parsers})).await;
        assert_eq!((answer.status, answer.code()), (status, code), "{path}: {}", answer.body);
    }
    assert_eq!(remaining(&team).await, 10);
    let gone = team.scrape(&json!({"url": app.page("/gone.pdf")})).await;
    assert_eq!((gone.status, gone.body["data"]["metadata"]["statusCode"].as_i64()), (200, Some(404)));
    assert_eq!(remaining(&team).await, 9, "an error page is a page");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_readers_documents_are_refused() {
    let app = TestApp::start().await;
    app.site.respond("/r.pdf", pdf(Pdf::Report(1)));
    app.site.respond("/a.csv", file("text/csv", "a,b"));
    let refused = app.anonymous().scrape(&json!({"url": app.page("/r.pdf")})).await;
    assert_eq!((refused.status, refused.code()), (422, "SCRAPE_UNSUPPORTED_FILE_ERROR"), "{}", refused.body);
    assert_eq!(app.anonymous().scrape(&json!({"url": app.page("/a.csv")})).await.markdown(), "a,b", "text is text");
    let ocr = json!({"url": app.page("/r.pdf"), "parsers": [{"type": "pdf", "mode": "ocr"}]});
    let refused = app.anonymous().scrape(&ocr).await;
    assert_eq!((refused.status, refused.code()), (400, "SCRAPE_OCR_NOT_SUPPORTED"));
    assert!(refused.body["error"].as_str().unwrap().contains("quarry-reader"), "{}", refused.body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_a_frame_around_a_pdf_gives_the_pdf() {
    let app = TestApp::with_documents().await;
    app.site.respond("/files/r.pdf", pdf(Pdf::Report(2)));
    app.site.html("/view", "<title>Viewer</title><h1>Report</h1><iframe src=/files/r.pdf width=100%></iframe>");
    app.site.html("/lost", "<h1>Report</h1><embed src=/files/none.pdf>");
    let team = app.team(Some(100), json!({})).await;
    let body = json!({"url": app.page("/view")});
    let answer = team.scrape(&body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.markdown().contains("Page 2 of the report."), "{}", answer.markdown());
    let metadata = &answer.body["data"]["metadata"];
    assert_eq!((&metadata["url"], &metadata["sourceURL"]), (&json!(app.page("/files/r.pdf")), &body["url"]));
    assert_eq!((&metadata["creditsUsed"], &metadata["numPages"]), (&json!(2), &json!(2)));
    assert!(answer.body["warning"].as_str().unwrap().contains("nothing but one PDF"), "{}", answer.body);
    // The cached copy is the PDF.
    let again = team.scrape(&json!({"url": body["url"], "lockdown": true})).await;
    assert!(again.markdown().contains("Page 1 of the report."), "{}", again.body);
    assert_eq!(again.body["data"]["metadata"]["url"], json!(app.page("/files/r.pdf")));
    let lost = team.scrape(&json!({"url": app.page("/lost")})).await;
    assert_eq!(lost.status, 200, "{}", lost.body);
    assert!(lost.markdown().starts_with("# Report"), "{}", lost.body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crawls_read_documents_and_pay_by_the_page() {
    let app = TestApp::with_documents().await;
    app.site.html("/", "<h1>Start</h1><p>Two files <a href=/r.pdf>one</a> <a href=/b.html>two</a></p>");
    app.site.html("/b.html", "<h1>Two</h1><p>Words of it.</p>");
    app.site.respond("/r.pdf", pdf(Pdf::Report(4)));
    let team = app.team(Some(50), json!({})).await;
    let job = team.start("/v2/crawl", &json!({"url": app.page("/"), "limit": 10})).await;
    let ended = team.ended(&job).await.body;
    assert_eq!(
        (&ended["status"], &ended["completed"], &ended["creditsUsed"]),
        (&json!("completed"), &json!(3), &json!(6))
    );
    let documents = team.documents(&job).await;
    let report = documents.iter().find(|page| page["metadata"]["numPages"] == 4).unwrap();
    assert!(report["markdown"].as_str().unwrap().contains("Page 4 of the report."));
    assert_eq!(report["metadata"]["creditsUsed"], 4);
    assert_eq!(remaining(&team).await, 44);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_a_team_cannot_pay_fails_alone() {
    let app = TestApp::with_documents().await;
    app.site.html("/a", "<h1>One</h1>");
    app.site.html("/b", "<h1>Two</h1>");
    app.site.respond("/r.pdf", pdf(Pdf::Report(6)));
    let team = app.team(Some(7), json!({})).await;
    let urls = json!([app.page("/a"), app.page("/r.pdf"), app.page("/b")]);
    // Three credits are reserved, so four are left for the five pages beyond the first.
    let job = team.start("/v2/batch/scrape", &json!({"urls": urls, "maxConcurrency": 1})).await;
    let ended = team.ended(&job).await.body;
    assert_eq!((&ended["completed"], &ended["creditsUsed"]), (&json!(2), &json!(2)), "{ended}");
    let errors = team.get(&format!("{job}/errors")).await.body;
    assert_eq!(errors["errors"][0]["code"], "insufficient_credits", "{errors}");
    assert_eq!(errors["errors"][0]["url"], json!(app.page("/r.pdf")));
    assert_eq!(remaining(&team).await, 5);
    // One more credit is enough.
    let rich = app.team(Some(8), json!({})).await;
    let job = rich.start("/v2/batch/scrape", &json!({"urls": urls, "maxConcurrency": 1})).await;
    let ended = rich.ended(&job).await.body;
    assert_eq!((&ended["completed"], &ended["creditsUsed"]), (&json!(3), &json!(8)), "{ended}");
    assert_eq!(remaining(&rich).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_is_led_to_a_document_gives_it() {
    let app = TestApp::with(|config| {
        (config.browser.enabled, config.documents.enabled) = (true, true);
    })
    .await;
    app.site.respond("/r.pdf", pdf(Pdf::Report(2)));
    let answer = app.anonymous().scrape(&json!({"url": app.page("/r.pdf"), "waitFor": 100, "maxAge": 0})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.markdown().contains("Page 2 of the report."), "{}", answer.body);
}
