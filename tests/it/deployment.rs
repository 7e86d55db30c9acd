//! Protection of the deployment: addresses that are never fetched from, private files, and invalid database URLs.

use std::fs::{self, Permissions};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use boot::config::Config;
use e2e::TestApp;
use serde_json::json;
use testkit::{Reply, Site};

fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn admit_loopback(config: &mut Config) {
    config.egress.allow = vec!["127.0.0.0/8".parse().unwrap()];
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_the_deployment_is_fetched_whatever_is_admitted() {
    let (worker, storage, proxy, denied) =
        (Site::start().await, Site::start().await, Site::start().await, Site::start().await);
    let app = TestApp::with(|config| {
        admit_loopback(config);
        config.worker.listen = worker.addr();
        config.blobs.endpoint = format!("http://localhost:{}", storage.addr().port());
        config.fetch.enhanced_proxies = serde_json::from_value(json!([format!("http://{}", proxy.addr())])).unwrap();
        config.egress.deny = vec![denied.addr().to_string().parse().unwrap()];
    })
    .await;
    let caller = app.anonymous();
    app.site.html("/", "<p>x</p>");
    assert_eq!(caller.scrape(&json!({"url": app.page("/")})).await.status, 200, "others are admitted");
    let mut ports = vec![app.address().port()];
    for site in [&worker, &storage, &proxy, &denied] {
        site.html("/", "<p>secret</p>");
        ports.push(site.addr().port());
    }
    for port in ports {
        let url = format!("http://127.0.0.1:{port}/");
        for way in [url.clone(), format!("http://2130706433:{port}/"), app.page(&format!("/to/{port}"))] {
            let location = Reply { status: 302, ..Reply::default() }.header("location", &url);
            app.site.respond(&format!("/to/{port}"), location);
            let answer = caller.scrape(&json!({"url": way, "maxAge": 0})).await;
            assert_eq!((answer.status, answer.code()), (403, "SCRAPE_TARGET_BLOCKED"), "{way}: {}", answer.body);
        }
    }
    for site in [&worker, &storage, &proxy, &denied] {
        assert_eq!(site.connections(), 0, "{}", site.addr());
    }
}

/// A worker refuses the server's address too, although it does not listen there itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_fetches_nothing_from_its_server() {
    let address = free();
    let app = TestApp::with(|config| {
        admit_loopback(config);
        config.server.listen = address;
        config.worker.embedded = false;
    })
    .await;
    let mut config = Config::default();
    admit_loopback(&mut config);
    config.server.listen = address;
    config.worker.listen = free();
    config.data.dir = app.data().to_owned();
    let worker = boot::worker::start(config).await.unwrap();
    let caller = app.anonymous();
    let url = format!("http://{address}/health");
    let job = caller.start("/v2/batch/scrape", &json!({"urls": [url]})).await;
    let ended = caller.ended(&job).await.body;
    assert_eq!(ended["completed"], 0, "{ended}");
    let errors = caller.get(&format!("{job}/errors")).await.body;
    assert_eq!(errors["errors"][0]["code"], "SCRAPE_TARGET_BLOCKED", "{errors}");
    assert!(worker.stop().await);
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_was_there_before_is_not_open_to_others() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir_all(data.join("blobs")).unwrap();
    fs::write(data.join("quarry.db"), "").unwrap();
    for path in [data.clone(), data.join("blobs")] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(data.join("quarry.db"), Permissions::from_mode(0o644)).unwrap();
    let app = TestApp::with(|config| config.data.dir = data.clone()).await;
    app.site.html("/", "<p>x</p>");
    assert_eq!(app.anonymous().scrape(&json!({"url": app.page("/")})).await.status, 200);
    for file in ["quarry.db", "quarry.db-wal", "quarry.db-shm"] {
        assert_eq!(mode(&data.join(file)), 0o600, "{file}");
    }
    assert_eq!(mode(&data.join("blobs")), 0o700);
    assert_eq!(mode(&data), 0o755, "it may hold what is not ours");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_told_before_work_is_lost() {
    let app = TestApp::with(|config| config.data.min_free = u64::MAX).await;
    app.site.html("/", "<p>x</p>");
    let caller = app.anonymous();
    assert_eq!(caller.scrape(&json!({"url": app.page("/")})).await.status, 200);
    for (path, body) in
        [("/v2/crawl", json!({"url": app.page("/")})), ("/v2/batch/scrape", json!({"urls": [app.page("/")]}))]
    {
        let answer = caller.post(path, &body).await;
        assert_eq!((answer.status, answer.code()), (503, "STORAGE_FULL"), "{path}: {}", answer.body);
        assert_eq!(answer.header("retry-after"), "60");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn addresses_of_databases_that_cannot_be_meant_stop_the_start() {
    for (query, part) in [
        ("sslmode=full", "sslmode `full` is unknown"),
        ("sslmode=verify-full", "needs sslrootcert"),
        ("sslmode=verify-full&sslrootcert=/none.pem", "sslrootcert: cannot use /none.pem"),
        ("sslcert=/a.pem", "sslcert and sslkey"),
        ("sslcrl=/a.pem", "sslcrl"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.server.listen = "127.0.0.1:0".parse().unwrap();
        config.data.dir = folder.path().to_owned();
        config.store.url = base::Secret::new(format!("postgres://u:hush@127.0.0.1:1/d?{query}"));
        let error = quarry_server::start(config).await.err().unwrap().to_string();
        assert!(error.starts_with("QUARRY__STORE__URL: ") && error.contains(part), "{query}: {error}");
        assert!(!error.contains("hush"), "{error}");
    }
}
