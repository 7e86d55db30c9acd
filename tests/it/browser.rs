//! Pages in a real browser: from the request to the document and its files.

use std::fs;
use std::io::Read as _;
use std::process::Command;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use e2e::{Answer, Client, TestApp};
use serde_json::{Value, json};
use testkit::Reply;

use crate::ARTICLE;
use crate::privacy::files_with;

/// A page that is empty until its script has fetched its data.
const SHELL: &str = r#"<!doctype html><html><head><title>Orchard</title></head><body><div id="root"></div><script src="/app.js"></script></body></html>"#;
const SCRIPT: &str = r#"fetch('/api').then(answer => answer.json()).then(rows => {
    root.innerHTML = '<h1>Orchard inventory</h1>' + rows.map(row => `<p>${row}</p>`).join('') + '<a href="/next">Next</a>';
    document.body.style.background = '#cde';
});"#;

pub(crate) fn reply(content_type: &str, body: &str) -> Reply {
    Reply { body: body.to_owned().into(), ..Reply::default() }.header("content-type", content_type)
}

/// Serves the shell at `/`, with its script and its data.
pub(crate) fn orchard(app: &TestApp) {
    app.site.html("/", SHELL);
    app.site.respond("/app.js", reply("text/javascript", SCRIPT));
    app.site.respond("/api", reply("application/json", r#"["Bramley 412 crates", "Quince 37 crates"]"#));
}

/// Returns the number of requests of a path.
pub(crate) fn asked(app: &TestApp, path: &str) -> usize {
    app.site.requests().iter().filter(|seen| seen.path == path).count()
}

/// Returns the process ids of the browsers that this process has started.
pub(crate) fn browsers() -> Vec<u32> {
    let own = std::process::id().to_string();
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_ours = |id: &u32| {
        let read = |name: &str| fs::read_to_string(format!("/proc/{id}/{name}")).unwrap_or_default();
        let stat = read("stat");
        // The name may contain anything; state and parent follow its last bracket.
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)).map(str::to_owned);
        let line = read("cmdline");
        // A process that only prints its version is not a browser.
        parent.as_deref() == Some(&own) && line.contains("chrom") && !line.contains("--version")
    };
    ids.filter(is_ours).collect()
}

fn good(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body["data"].clone()
}

async fn scrape(app: &TestApp, options: Value) -> Value {
    let mut body = json!({ "url": app.page("/") });
    body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    good(&app.anonymous().scrape(&body).await)
}

/// Returns width and height of a PNG, and the number of bytes of its decompressed image data.
fn picture(png: &[u8]) -> (u32, u32, usize) {
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "no PNG");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    let (mut at, mut packed) = (8, Vec::new());
    while at + 8 <= png.len() {
        let length = number(at) as usize;
        if &png[at + 4..at + 8] == b"IDAT" {
            packed.extend_from_slice(&png[at + 8..at + 8 + length]);
        }
        at += length + 12;
    }
    let mut bytes = Vec::new();
    flate2::read::ZlibDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    bytes.sort_unstable();
    bytes.dedup();
    (number(16), number(20), bytes.len())
}

#[tokio::test]
async fn a_page_of_scripts_comes_as_a_visitor_sees_it() {
    let app = TestApp::with_browser().await;
    orchard(&app);
    let formats = json!(["markdown", "html", "rawHtml", "links", { "type": "screenshot", "fullPage": true }]);
    let data = scrape(&app, json!({ "formats": formats })).await;
    for format in ["markdown", "html", "rawHtml"] {
        let text = data[format].as_str().unwrap();
        assert!(text.contains("Orchard inventory") && text.contains("Quince 37 crates"), "{format}: {text}");
    }
    assert_eq!(data["links"], json!([app.page("/next")]));
    let metadata = &data["metadata"];
    assert_eq!((&metadata["statusCode"], &metadata["title"]), (&json!(200), &json!("Orchard")));
    assert_eq!((&metadata["proxyUsed"], &metadata["creditsUsed"]), (&json!("basic"), &json!(1)));
    assert_eq!(metadata["concurrencyLimited"], false);
    let (kind, png) = app.anonymous().download(data["screenshot"].as_str().unwrap()).await;
    let (width, height, values) = picture(&png);
    assert!(kind == "image/png" && width >= 600 && height >= 600 && values > 1, "{kind} {width} x {height}, {values}");
}

#[tokio::test]
async fn the_plain_engine_comes_first_and_scripts_are_run_where_a_page_needs_them() {
    let app = TestApp::with_browser().await;
    app.site.html("/", ARTICLE);
    assert!(scrape(&app, json!({})).await["markdown"].as_str().unwrap().contains("Granite"));
    app.site.html("/note", "<p>A short note.");
    app.site.respond("/data", reply("application/json", "{}"));
    for path in ["/note", "/data"] {
        good(&app.anonymous().scrape(&json!({ "url": app.page(path) })).await);
    }
    assert_eq!(browsers(), Vec::<u32>::new(), "nothing here needs one");
    orchard(&app);
    let data = scrape(&app, json!({ "maxAge": 0 })).await;
    assert!(data["markdown"].as_str().unwrap().contains("Bramley"), "{data}");
    assert_eq!((browsers().len(), asked(&app, "/")), (1, 3));
    let metrics = app.operator().get("/metrics").await.body;
    let metrics = metrics.as_str().unwrap();
    for line in [r#"quarry_fetch_steps_total{engine="http",reason="first"} 4"#, r#"{engine="browser",reason="root"} 1"#]
    {
        assert!(metrics.contains(line), "{metrics}");
    }
}

/// Branding is what a browser shows, and without a browser what the style sheets declare.
#[tokio::test]
async fn branding_is_what_is_seen_and_else_what_is_declared() {
    let css = ":root { --accent: #0f766e } body { background: #fffbeb; color: #1c1917; font-family: Georgia, serif }
        a { color: var(--accent) } .btn { background: var(--accent); color: #fff; padding: 8px 16px; border-radius: 6px }";
    let page = "<!doctype html><title>Guide - Acme</title><meta property=og:site_name content='Acme Tools'>
        <link rel=icon href=/icon.png><link rel=stylesheet href=/site.css><main><h1>Guide</h1><p>Read <a href=/more>more</a> of it, and
        then <a class=btn href=/start>Get started</a> with rollers of every size that there is.</main>";
    for (app, declares) in [(TestApp::start().await, true), (TestApp::with_browser().await, false)] {
        app.site.html("/", page);
        app.site.respond("/site.css", reply("text/css", css));
        let data = scrape(&app, json!({ "formats": ["branding"] })).await;
        let branding = &data["branding"];
        let colors = &branding["colors"];
        let found = ["background", "textPrimary", "link"].map(|name| colors[name].as_str().unwrap_or_default());
        assert_eq!(found, ["#FFFBEB", "#1C1917", "#0F766E"], "{data}");
        assert_eq!(
            (&branding["brandName"], &branding["colorScheme"]),
            (&json!("Acme Tools"), &json!("light")),
            "{data}"
        );
        assert_eq!(branding["fonts"][0]["family"], "Georgia", "{data}");
        assert_eq!(branding["images"]["favicon"], app.page("/icon.png"), "{data}");
        let warning = data["warning"].as_str().unwrap_or_default();
        assert_eq!(warning.contains("no browser has computed"), declares, "{data}");
        assert_eq!(data["metadata"]["creditsUsed"], 1);
        assert_eq!((asked(&app, "/site.css"), browsers().len()), (1, usize::from(!declares)));
    }
}

#[tokio::test]
async fn a_server_without_a_browser_says_what_it_lacks() {
    let app = TestApp::start().await;
    orchard(&app);
    let health = app.anonymous().get("/health").await;
    assert_eq!(health.body["capabilities"], json!(["answers"]));
    for (options, code) in [
        (json!({ "formats": ["screenshot"] }), "SCRAPE_SCREENSHOT_NOT_SUPPORTED"),
        (json!({ "actions": [{ "type": "scrape" }] }), "SCRAPE_ACTIONS_NOT_SUPPORTED"),
        (json!({ "profile": { "name": "me" } }), "SCRAPE_PROFILE_NOT_SUPPORTED"),
    ] {
        let mut body = options;
        body["url"] = app.page("/").into();
        let answer = app.anonymous().scrape(&body).await;
        assert_eq!((answer.status, answer.code()), (400, code));
    }
    let data = scrape(&app, json!({})).await;
    assert!(data["markdown"] == "# Orchard" && data["warning"].as_str().unwrap().contains("until its scripts run"));
    assert!(data["metadata"].get("timezone").is_none(), "{data}");
    let with = TestApp::with_browser().await;
    assert_eq!(with.anonymous().get("/health").await.body["capabilities"], json!(["browser", "answers", "profiles"]));
    assert_eq!(browsers(), Vec::<u32>::new(), "it is not started before it is needed");
}

const FORM: &str = r#"<!doctype html><title>Form</title><body><input id="name"><button id="go">Go</button><p id="said"></p>
    <script>go.onclick = () => { said.textContent = 'You wrote: ' + document.querySelector('#name').value }</script></body>"#;

async fn keyed(app: &TestApp, flags: Value) -> (Client, impl AsyncFn() -> i64) {
    let team = app.team(Some(10), flags).await;
    let left = team.clone();
    let credits = async move || {
        let usage = left.get("/v2/team/credit-usage").await.body;
        usage["data"]["remainingCredits"].as_i64().unwrap()
    };
    (team, credits)
}

#[tokio::test]
async fn actions_are_done_in_order_and_bring_results() {
    let app = TestApp::with_browser().await;
    app.site.html("/", FORM);
    let actions = json!([
        { "type": "wait", "selector": "#go" },
        { "type": "click", "selector": "#name" },
        { "type": "write", "text": "nine herrings" },
        { "type": "click", "selector": "#go" },
        { "type": "executeJavascript", "script": "1 + 1" },
        { "type": "screenshot" },
        { "type": "scrape" },
        { "type": "executeJavascript", "script": "Promise.resolve({a: [1, null]})" },
        { "type": "pdf", "format": "A4" },
    ]);
    let data = scrape(&app, json!({ "actions": actions })).await;
    assert!(data["markdown"].as_str().unwrap().contains("You wrote: nine herrings"), "{data}");
    let results = &data["actions"];
    let returns = json!([{ "type": "number", "value": 2 }, { "type": "object", "value": { "a": [1, null] } }]);
    assert_eq!(results["javascriptReturns"], returns);
    let then = &results["scrapes"][0];
    assert_eq!(then["url"], app.page("/"));
    assert!(then["html"].as_str().unwrap().contains("nine herrings"), "{then}");
    let caller = app.anonymous();
    let (kind, png) = caller.download(results["screenshots"][0].as_str().unwrap()).await;
    assert!(kind == "image/png" && picture(&png).2 > 1);
    let (kind, pdf) = caller.download(results["pdfs"][0].as_str().unwrap()).await;
    assert!(kind == "application/pdf" && pdf.starts_with(b"%PDF-"));
    // Nothing of it is cached, so it is not returned again.
    let again = scrape(&app, json!({})).await;
    assert_eq!(again["metadata"]["cacheState"], "miss");
    assert!(again.get("actions").is_none() && !again["markdown"].as_str().unwrap().contains("herrings"));
}

#[tokio::test]
async fn an_action_that_fails_is_named_and_costs_nothing() {
    let app = TestApp::with(|config| {
        config.auth.mode = boot::config::AuthMode::Keys;
        config.browser.enabled = true;
    })
    .await;
    app.site.html("/", FORM);
    let (team, credits) = keyed(&app, json!({})).await;
    let actions = json!([{ "type": "wait", "milliseconds": 10 }, { "type": "click", "selector": ".pick" }]);
    let answer = team.scrape(&json!({ "url": app.page("/"), "actions": actions, "timeout": 20_000 })).await;
    assert_eq!((answer.status, answer.code()), (422, "SCRAPE_ACTION_ERROR"), "{}", answer.body);
    let details = &answer.body["details"];
    assert_eq!(
        (&details["index"], &details["type"], &details["selector"]),
        (&json!(1), &json!("click"), &json!(".pick"))
    );
    assert!(!details["reason"].as_str().unwrap().is_empty(), "{details}");
    assert_eq!(credits().await, 10);
    good(&team.scrape(&json!({ "url": app.page("/"), "actions": [{ "type": "click", "selector": "#go" }] })).await);
    assert_eq!(credits().await, 9);
}

#[tokio::test]
async fn a_rendered_copy_answers_without_a_browser() {
    let mut app = TestApp::with_browser().await;
    orchard(&app);
    let first = scrape(&app, json!({})).await;
    assert_eq!(first["metadata"]["cacheState"], "miss");
    let second = scrape(&app, json!({ "formats": ["markdown", "rawHtml", "links"] })).await;
    assert_eq!((&second["metadata"]["cacheState"], &second["markdown"]), (&json!("hit"), &first["markdown"]));
    assert!(second["rawHtml"].as_str().unwrap().contains("Quince"), "{second}");
    let id = first["metadata"]["scrapeId"].as_str().unwrap();
    assert_eq!(good(&app.anonymous().get(&format!("/v2/scrape/{id}")).await)["markdown"], first["markdown"]);
    assert_eq!((asked(&app, "/"), asked(&app, "/api")), (2, 1));
    // `rawBase64` is the body that the server sent, not the page after its scripts.
    let raw = scrape(&app, json!({ "formats": ["rawBase64"] })).await;
    assert_eq!(STANDARD.decode(raw["rawBase64"].as_str().unwrap()).unwrap(), SHELL.as_bytes());
    assert_eq!(asked(&app, "/"), 3);
    // A screenshot is never taken from a cached copy, but can be read again with its scrape.
    let shown = scrape(&app, json!({ "formats": ["screenshot"] })).await;
    let id = shown["metadata"]["scrapeId"].as_str().unwrap();
    assert_eq!(good(&app.anonymous().get(&format!("/v2/scrape/{id}")).await)["screenshot"], shown["screenshot"]);
    assert_eq!(asked(&app, "/"), 4);
    app.stop().await;
    assert_eq!(browsers(), Vec::<u32>::new(), "the browser ends with the service");
}

#[tokio::test]
async fn a_copy_from_before_its_scripts_serves_no_one_who_can_run_them() {
    let plain = TestApp::start().await;
    orchard(&plain);
    assert_eq!(scrape(&plain, json!({})).await["markdown"], "# Orchard");
    let (folder, site) = (plain.data().to_owned(), plain.site.addr());
    let able = TestApp::with(|config| {
        config.data.dir = folder;
        config.egress.allow = vec![site.to_string().parse().unwrap()];
        config.browser.enabled = true;
    })
    .await;
    able.dns.set("site.test", site.ip().into());
    let data = good(&able.anonymous().scrape(&json!({ "url": plain.page("/") })).await);
    assert!(data["markdown"].as_str().unwrap().contains("Bramley"), "{data}");
    assert_eq!(data["metadata"]["cacheState"], "miss");
    // The static page was not fetched again: only the browser requested it.
    assert_eq!(asked(&plain, "/"), 2);
    let data = scrape(&plain, json!({})).await;
    assert!(
        data["markdown"].as_str().unwrap().contains("Bramley") && data["metadata"]["cacheState"] == "hit",
        "{data}"
    );
}

#[tokio::test]
async fn without_data_retention_a_picture_stands_in_the_document() {
    let mut app = TestApp::with(|config| {
        config.auth.mode = boot::config::AuthMode::Keys;
        config.browser.enabled = true;
    })
    .await;
    app.site.html("/", "<title>T</title><div id=root></div><script>root.textContent = 'HUSH' + 4711 + 'MARK'</script>");
    let (team, _) = keyed(&app, json!({ "zeroDataRetention": true })).await;
    let body = json!({
        "url": app.page("/"), "zeroDataRetention": true, "formats": ["markdown", "screenshot"],
        "actions": [{ "type": "screenshot" }, { "type": "pdf" }],
    });
    let data = good(&team.scrape(&body).await);
    assert!(data["markdown"].as_str().unwrap().contains("HUSH4711MARK"), "{data}");
    for shown in [&data["screenshot"], &data["actions"]["screenshots"][0]] {
        let png = shown.as_str().unwrap().strip_prefix("data:image/png;base64,").unwrap();
        assert!(picture(&STANDARD.decode(png).unwrap()).0 > 0);
    }
    assert!(data["actions"]["pdfs"][0].as_str().unwrap().starts_with("data:application/pdf;base64,"));
    app.stop().await;
    assert_eq!(files_with(app.data(), "HUSH4711MARK"), Vec::<String>::new());
    assert!(!app.data().join("blobs/files").exists());
}

#[tokio::test]
async fn device_and_place_are_those_that_were_asked_for() {
    let app = TestApp::with_browser().await;
    app.site.html(
        "/",
        "<meta name=viewport content='width=device-width'><div id=root></div><script>root.textContent = [\
         Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.languages.join('+'), \
         innerWidth < 600 ? 'narrow' : 'wide', 'ontouchstart' in window ? 'touch' : 'mouse'].join(' ')</script>",
    );
    let data = scrape(&app, json!({ "mobile": true, "location": { "country": "DE" } })).await;
    let text = data["markdown"].as_str().unwrap();
    assert!(text.starts_with("Europe/Berlin de") && text.ends_with("narrow touch"), "{text}");
    assert_eq!(data["metadata"]["timezone"], "Europe/Berlin");
    let desk = scrape(&app, json!({})).await;
    let text = desk["markdown"].as_str().unwrap().replace('\\', "");
    assert!(text.starts_with("America/New_York en-US") && text.ends_with("wide mouse"), "{desk}");
    assert_eq!(desk["metadata"]["timezone"], "America/New_York", "the country is the US when none is named");
    assert!(app.site.requests().iter().any(|seen| seen.header("user-agent").contains("Mobile")));
    assert!(!app.site.requests().iter().any(|seen| seen.header("user-agent").contains("Headless")));
}

#[tokio::test]
async fn headers_go_to_the_pages_own_origin() {
    let app = TestApp::with_browser().await;
    app.dns.set("other.test", app.site.addr().ip().into());
    let other = app.page("/away.js").replace("site.test", "other.test");
    app.site.html("/", format!("<div id=root></div><script src=/own.js></script><script src={other}></script>"));
    app.site.respond("/own.js", reply("text/javascript", "root.append('own ')"));
    app.site.respond("/away.js", reply("text/javascript", "root.append('away')"));
    let headers = json!({ "X-Token": "t-99", "Cookie": "login=1" });
    let data = scrape(&app, json!({ "headers": headers, "waitFor": 10 })).await;
    assert_eq!(data["markdown"], "own away");
    let seen = app.site.requests();
    let of = |path: &str| seen.iter().find(|seen| seen.path == path).unwrap_or_else(|| panic!("{path} not asked"));
    for (path, token, cookie) in [("/", "t-99", "login=1"), ("/own.js", "t-99", "login=1"), ("/away.js", "", "")] {
        let request = of(path);
        assert_eq!((request.header("x-token"), request.header("cookie")), (token, cookie), "{path}");
    }
}

#[tokio::test]
async fn a_browser_that_is_killed_costs_one_try() {
    let app = TestApp::with_browser().await;
    app.site.html("/", SHELL);
    app.site.respond("/app.js", Reply { delay: Duration::from_millis(1500), ..reply("text/javascript", SCRIPT) });
    app.site.respond("/api", reply("application/json", "[\"Bramley\"]"));
    let kill = async {
        let begun = Instant::now();
        while asked(&app, "/app.js") == 0 && begun.elapsed() < Duration::from_secs(20) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let before = browsers();
        for id in &before {
            assert!(Command::new("kill").args(["-9", &id.to_string()]).status().unwrap().success());
        }
        before
    };
    let started = Instant::now();
    let (data, before) = tokio::join!(scrape(&app, json!({ "waitFor": 10, "timeout": 30_000 })), kill);
    assert!(data["markdown"].as_str().unwrap().contains("Bramley"), "{data}");
    assert!(started.elapsed() < Duration::from_secs(30));
    let after = browsers();
    assert!(before.len() == 1 && after.len() == 1 && before != after, "{before:?} {after:?}");
    assert_eq!(scrape(&app, json!({ "maxAge": 0 })).await["markdown"], data["markdown"]);
}

/// Screenshots need a browser, whose errors have the same codes as those of the plain engine.
#[tokio::test]
async fn why_a_browser_gets_no_page_has_a_code_of_its_own() {
    let app = TestApp::with_browser().await;
    app.site.html("/", ARTICLE);
    app.site.respond("/circle", Reply { status: 302, ..Reply::default() }.header("location", "/circle"));
    let (tls, circle) = (app.page("/").replace("http://", "https://"), app.page("/circle"));
    for (url, status, code) in [
        ("http://nowhere.test/", 400, "SCRAPE_DNS_RESOLUTION_ERROR"),
        ("https://nowhere.test/", 400, "SCRAPE_DNS_RESOLUTION_ERROR"),
        (tls.as_str(), 422, "SCRAPE_SSL_ERROR"),
        (circle.as_str(), 422, "SCRAPE_TOO_MANY_REDIRECTS"),
    ] {
        let body = json!({ "url": url, "formats": ["screenshot"], "skipTlsVerification": false });
        let answer = app.anonymous().scrape(&body).await;
        assert_eq!((answer.status, answer.code()), (status, code), "{url}: {}", answer.body);
    }
    // The plain engine fails first, and the browser ends with the same error.
    let answer = app.anonymous().scrape(&json!({ "url": tls, "skipTlsVerification": false })).await;
    assert_eq!((answer.status, answer.code()), (422, "SCRAPE_SSL_ERROR"), "{}", answer.body);
}

#[tokio::test]
async fn a_browser_that_does_not_start_is_said() {
    let app = TestApp::with(|config| {
        config.browser.enabled = true;
        config.browser.path = Some("/bin/false".into());
    })
    .await;
    orchard(&app);
    let answer = app.anonymous().scrape(&json!({ "url": app.page("/"), "formats": ["screenshot"] })).await;
    assert_eq!((answer.status, answer.code()), (503, "BROWSER_UNAVAILABLE"), "{}", answer.body);
    assert!(answer.header("retry-after").parse::<u64>().unwrap() > 0);
    // Options that work without a browser are honoured, with a warning.
    let data = scrape(&app, json!({ "waitFor": 100 })).await;
    assert!(data["warning"].as_str().unwrap().contains("waitFor had no effect"), "{data}");
    let data = scrape(&app, json!({})).await;
    let warning = data["warning"].as_str().unwrap();
    assert!(data["markdown"] == "# Orchard" && warning.contains("scripts of the page could not be run"), "{data}");
    app.site.html("/", ARTICLE);
    assert!(scrape(&app, json!({ "maxAge": 0 })).await.get("warning").is_none());
    app.logs_errors();
}
