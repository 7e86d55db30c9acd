//! Files by their signed URLs.

use std::time::{Duration, Instant};

use app::Refusal as _;
use app::files::{self, NewFile};
use base::{Clock as _, Secret, SystemClock};
use boot::config::Config;
use bytes::Bytes;
use e2e::{Answer, Client, TestApp};
use http::Method;
use testkit::Bucket;
use wire::Code;

const HOUR: Duration = Duration::from_secs(3600);
const TEXT: &str = "0123456789";

fn new_file(name: &str, content_type: &str) -> NewFile {
    NewFile {
        team: app::DEFAULT_TEAM.to_owned(),
        owner: "a run".to_owned(),
        kind: "export",
        name: name.to_owned(),
        content_type: content_type.to_owned(),
        expires_at: SystemClock.now() + HOUR,
    }
}

/// Stores a file, and returns its path and query.
async fn keep(app: &TestApp, new: NewFile, body: impl Into<Bytes>) -> String {
    let address = format!("http://{}", app.address());
    let url = files::keep(&app.operations().app, new, body.into(), &address).await.unwrap().url;
    url.strip_prefix(&address).unwrap_or_else(|| panic!("{url} is elsewhere")).to_owned()
}

async fn get_with(caller: &Client, path: &str, headers: &[(&str, &str)]) -> Answer {
    let request =
        headers.iter().fold(caller.request(Method::GET, path), |all, (name, value)| all.header(*name, *value));
    caller.send(request, Bytes::new()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_comes_whole_or_by_range_without_a_key() {
    let app = TestApp::with_keys().await;
    let caller = app.anonymous();
    let path = keep(&app, new_file("übersicht.csv", "text/csv"), TEXT).await;
    let whole = caller.get(&path).await;
    assert_eq!((whole.status, whole.body.as_str()), (200, Some(TEXT)));
    let disposition = "attachment; filename=\"_bersicht.csv\"; filename*=UTF-8''%C3%BCbersicht.csv";
    for (name, value) in [
        ("content-type", "text/csv"),
        ("content-length", "10"),
        ("content-disposition", disposition),
        ("accept-ranges", "bytes"),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "default-src 'none'; sandbox"),
    ] {
        assert_eq!(whole.header(name), value, "{name}");
    }
    assert!(whole.header("cache-control").starts_with("private, max-age=35"), "{}", whole.header("cache-control"));

    for (range, expect, part) in
        [("bytes=3-5", "345", "bytes 3-5/10"), ("bytes=8-", "89", "bytes 8-9/10"), ("bytes=-4", "6789", "bytes 6-9/10")]
    {
        let answer = get_with(&caller, &path, &[("range", range)]).await;
        assert_eq!((answer.status, answer.body.to_string()), (206, expect.to_owned()), "{range}");
        assert_eq!((answer.header("content-range"), answer.header("content-type")), (part, "text/csv"));
    }
    let behind = get_with(&caller, &path, &[("range", "bytes=10-")]).await;
    assert_eq!((behind.status, behind.code()), (416, "RANGE_NOT_SATISFIABLE"));
    assert_eq!((behind.header("content-range"), behind.header("content-disposition")), ("bytes */10", ""));
    for headers in [[("range", "bytes=0-1,3-4")].as_slice(), &[("range", "bytes=0-1"), ("if-range", "\"1\"")]] {
        assert_eq!(get_with(&caller, &path, headers).await.status, 200, "{headers:?}");
    }
    let head = caller.send(caller.request(Method::HEAD, &path).header("range", "bytes=3-5"), Bytes::new()).await;
    assert_eq!((head.status, head.header("content-length"), head.body.as_str()), (200, "10", Some("")));
    assert_eq!(caller.delete(&path).await.status, 405);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_files_keep_their_size() {
    let app = TestApp::start().await;
    let text = "line\n".repeat(1_000_000);
    let path = keep(&app, new_file("a.txt", "text/plain"), text.clone()).await;
    let answer = get_with(&app.anonymous(), &path, &[("accept-encoding", "gzip")]).await;
    assert_eq!((answer.header("content-encoding"), answer.header("content-length")), ("", "5000000"));
    assert!(answer.body.as_str() == Some(text.as_str()));
    let end = get_with(&app.anonymous(), &path, &[("range", "bytes=4999990-")]).await;
    assert_eq!((end.status, end.body.as_str()), (206, Some("line\nline\n")));
    let empty = keep(&app, new_file("b.txt", "text/plain"), "").await;
    assert_eq!(app.anonymous().get(&empty).await.header("content-length"), "0");
    assert_eq!(get_with(&app.anonymous(), &empty, &[("range", "bytes=0-")]).await.status, 416);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_was_signed_opens_a_file() {
    let app = TestApp::start().await;
    let caller = app.anonymous();
    let path = keep(&app, new_file("a b.png", "image/png"), "mine").await;
    let other = keep(&app, new_file("a b.png", "image/png"), "other").await;
    let (place, query) = path.split_once('?').unwrap();
    let (until, signature) = query.split_once('&').unwrap();
    let (other_place, other_query) = other.split_once('?').unwrap();
    assert_eq!(caller.get(&path).await.body, "mine");
    for wrong in [
        place.to_owned(),
        format!("{place}?{until}"),
        format!("{place}?{signature}"),
        format!("{place}?until=9999999999&{signature}"),
        format!("{place}?until=x&{signature}"),
        format!("{place}?{until}&signature="),
        format!("{place}?{until}&{}", signature.replace(char::is_numeric, "z")),
        format!("{place}?{other_query}"),
        format!("{other_place}?{query}"),
        path.replace("a%20b.png", "a%20b.html"),
        path.replace("a%20b.png", "a%2Fb.png"),
        path.replace("a%20b.png", "..%2Fa%20b.png"),
        path.replace("a%20b.png", "x/a%20b.png"),
        path.replace("a%20b.png", "%FF"),
        path.replace("a%20b.png", "a%20b.png%0D%0Ax-evil:1"),
        path.replace("/a%20b.png", ""),
        path.replace("/files/", "/files/../files/"),
        format!("/files/not-an-id/a%20b.png?{query}"),
    ] {
        let answer = caller.get(&wrong).await;
        assert_eq!((answer.status, answer.code()), (404, "NOT_FOUND"), "{wrong}: {}", answer.body);
        assert_eq!(answer.header("x-evil"), "");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_ends() {
    let app = TestApp::start().await;
    let caller = app.anonymous();
    let gone = |answer: Answer| assert_eq!((answer.status, answer.code()), (410, "FILE_GONE"), "{}", answer.body);
    let over = NewFile { expires_at: SystemClock.now() - HOUR, ..new_file("a.png", "image/png") };
    gone(caller.get(&keep(&app, over, TEXT).await).await);
    let path = keep(&app, new_file("a.png", "image/png"), TEXT).await;
    let another = NewFile { owner: "another run".to_owned(), ..new_file("a.png", "image/png") };
    let stays = keep(&app, another, TEXT).await;
    assert_eq!(files::erase(&app.operations().app, app::DEFAULT_TEAM, "a run").await.unwrap(), 1);
    gone(caller.get(&path).await);
    assert_eq!(caller.get(&stays).await.status, 200);
    // Only the bytes are lost.
    std::fs::remove_dir_all(app.data().join("blobs/files")).unwrap();
    gone(caller.get(&stays).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_shows_pictures_and_runs_nothing() {
    let app = TestApp::start().await;
    let caller = app.anonymous();
    for (name, content_type, shown, sent) in [
        ("a.png", "image/png", "inline; filename=\"a.png\"", "image/png"),
        ("a.svg", "image/svg+xml", "attachment; filename=\"a.svg\"", "image/svg+xml"),
        ("../x/a.html", "text/html; charset=utf-8", "attachment; filename=\"a.html\"", "text/html; charset=utf-8"),
        (
            "a\r\nSet-Cookie: b=\"c",
            "a/b\r\nSet-Cookie: d",
            "attachment; filename=\"a__Set-Cookie_ b__c\"",
            "application/octet-stream",
        ),
    ] {
        let answer = caller.get(&keep(&app, new_file(name, content_type), "x").await).await;
        assert_eq!((answer.header("content-disposition"), answer.header("content-type")), (shown, sent), "{name:?}");
        assert_eq!((answer.header("x-content-type-options"), answer.header("set-cookie")), ("nosniff", ""));
        assert!(answer.header("content-security-policy").ends_with("sandbox"));
    }
    // A page of another site may show an image whose URL it knows, under any host name of the service.
    let path = keep(&app, new_file("a.png", "image/png"), "x").await;
    let foreign = [("host", "evil.example"), ("sec-fetch-site", "cross-site")];
    assert_eq!(get_with(&caller, &path, &foreign).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_server_of_the_database_hands_it_out() {
    let one = TestApp::start().await;
    let folder = one.data().to_owned();
    let two = TestApp::with(|config| {
        config.data.dir = folder;
        config.server.public_url = Some("https://files.example/q/".parse().unwrap());
    })
    .await;
    let path = keep(&one, new_file("a.png", "image/png"), TEXT).await;
    let answer = get_with(&two.anonymous(), &path, &[("range", "bytes=-1")]).await;
    assert_eq!((answer.status, answer.body.as_i64()), (206, Some(9)));
    let kept =
        files::keep(&two.operations().app, new_file("a.png", "image/png"), "x".into(), "http://two").await.unwrap();
    let path = kept.url.strip_prefix("https://files.example/q").unwrap();
    assert_eq!(one.anonymous().get(path).await.body, "x");
}

fn on(bucket: &Bucket, config: &mut Config) {
    let (id, secret) = Bucket::KEY;
    config.blobs.url = "s3://pages/kept".to_owned();
    config.blobs.endpoint = bucket.endpoint();
    config.blobs.access_key_id = id.to_owned();
    config.blobs.secret_access_key = Secret::new(secret);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bucket_gets_its_own_clients() {
    let bucket = Bucket::start().await;
    let app = TestApp::with(|config| on(&bucket, config)).await;
    let caller = app.anonymous();
    let path = keep(&app, new_file("a.html", "text/html"), "<p>x</p>").await;
    let answer = caller.get(&path).await;
    assert_eq!((answer.status, answer.header("cache-control")), (302, "no-store"));
    let location = answer.header("location").strip_prefix(&bucket.endpoint()).unwrap().to_owned();
    let store = Client::new(bucket.endpoint().trim_start_matches("http://").parse().unwrap(), None);
    let answer = get_with(&store, &location, &[("range", "bytes=3-3")]).await;
    assert_eq!((answer.status, answer.body.as_str()), (206, Some("x")));
    assert_eq!(answer.header("content-disposition"), "attachment; filename=\"a.html\"");
    let unsigned = location.split('?').next().unwrap();
    assert_eq!(store.get(unsigned).await.status, 403);
    let head = caller.send(caller.request(Method::HEAD, &path), Bytes::new()).await;
    assert_eq!((head.status, head.header("content-length")), (200, "8"), "an address for GET is none for HEAD");
    assert_eq!(caller.get(&path.replace("a.html", "b.html")).await.status, 404);
    assert_eq!(files::erase(&app.operations().app, app::DEFAULT_TEAM, "a run").await.unwrap(), 1);
    assert_eq!(bucket.keys(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bucket_that_clients_do_not_reach_is_read_for_them() {
    let bucket = Bucket::start().await;
    let app = TestApp::with(|config| {
        on(&bucket, config);
        config.files.redirect = false;
    })
    .await;
    let path = keep(&app, new_file("a.txt", "text/plain"), TEXT).await;
    let answer = get_with(&app.anonymous(), &path, &[("range", "bytes=4-5")]).await;
    assert_eq!((answer.status, answer.body.as_i64(), answer.header("content-range")), (206, Some(45), "bytes 4-5/10"));
    assert_eq!(app.anonymous().get(&path).await.header("content-length"), "10");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upkeep_removes_files_whose_time_is_over() {
    // Without a worker, the service has no upkeep of its own that could be first.
    let app = TestApp::with(|config| config.worker.embedded = false).await;
    let soon = SystemClock.now() + Duration::from_millis(300);
    let path = keep(&app, NewFile { expires_at: soon, ..new_file("a.png", "image/png") }, TEXT).await;
    let stays = keep(&app, new_file("a.png", "image/png"), TEXT).await;
    let (mut removed, until) = (0, Instant::now() + Duration::from_secs(30));
    while removed == 0 {
        assert!(Instant::now() < until, "the file is still there");
        removed = app::maintain_once(app.operations()).await.unwrap()["files"];
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!((removed, app.anonymous().get(&path).await.status), (1, 410));
    assert_eq!(app.anonymous().get(&stays).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_no_room_is_not_kept() {
    let code = async |change: fn(&mut Config)| {
        let app = TestApp::with(change).await;
        files::keep(&app.operations().app, new_file("a.txt", "text/plain"), TEXT.into(), "http://h")
            .await
            .unwrap_err()
            .code()
    };
    assert_eq!(code(|config| config.files.max_bytes = 9).await, Code::ScrapeTooLarge);
    assert_eq!(code(|config| config.data.min_free = u64::MAX).await, Code::StorageFull);
}
