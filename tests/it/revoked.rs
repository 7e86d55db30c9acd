//! Revocation of a key ends its running work.

use std::time::{Duration, Instant};

use e2e::TestApp;
use futures_util::StreamExt;
use serde_json::{Value, json};
use testkit::Reply;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use crate::crawl::page;
use crate::rules::Team;
use crate::sessions::{Cdp, connect, session, with_keys};
use crate::watch::{Socket, bearer, open};

/// Far longer than revocation takes, and far shorter than the timeouts of sessions and jobs.
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns the last text before a socket was closed, and the close code.
async fn end(mut socket: Socket) -> (Value, u16) {
    let (mut last, mut code) = (Value::Null, 0);
    let reading = async {
        while let Some(Ok(message)) = socket.next().await {
            match message {
                Message::Text(text) => last = serde_json::from_str(&text).unwrap(),
                Message::Close(frame) => code = frame.map_or(0, |frame| frame.code.into()),
                _ => {}
            }
        }
    };
    timeout(PATIENCE, reading).await.unwrap_or_else(|_| panic!("the socket stays open"));
    (last, code)
}

/// Starts a crawl of a page that never answers during the test, and a watcher of it.
async fn watched(app: &TestApp, team: &Team) -> (String, Socket) {
    app.site.respond("/", Reply { delay: Duration::from_secs(600), ..page("<p>slow") });
    let options = json!({"timeout": 300_000, "maxAge": 0});
    let body = json!({"url": app.page("/"), "limit": 5, "scrapeOptions": options});
    let job = team.client.start("/v2/crawl", &body).await;
    let (mut socket, _) = open(app, &job, &bearer(&team.client)).await.unwrap();
    let first = socket.next().await.unwrap().unwrap().into_text().unwrap();
    assert!(first.contains("catchup"), "{first}");
    (job, socket)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_key_ends_its_sessions_and_sockets_at_once() {
    let app = with_keys().await;
    let team = Team::new(&app).await;
    let other = app.operator().post(&format!("/admin/teams/{}/keys", team.id), &json!({"name": "other"})).await.body;
    let other = app.bearer(other["apiKey"].as_str().unwrap());
    let (job, socket) = watched(&app, &team).await;
    let (others_socket, _) = open(&app, &job, &bearer(&other)).await.unwrap();
    let (ours, theirs) = (session(&team.client, json!({"ttl": 60})).await, session(&other, json!({"ttl": 60})).await);
    let mut cdp = Cdp::connect(ours["cdpUrl"].as_str().unwrap()).await;
    cdp.result(None, "Browser.getVersion", json!({})).await;
    let mut others_cdp = Cdp::connect(theirs["cdpUrl"].as_str().unwrap()).await;
    let view = connect(&ours["liveViewUrl"].as_str().unwrap().replacen("http", "ws", 1)).await.unwrap();

    assert_eq!(app.operator().delete(&format!("/admin/keys/{}", team.key)).await.status, 200);
    let (last, code) = end(socket).await;
    assert_eq!((&last["type"], &last["error"]), (&json!("error"), &json!("this API key was revoked")));
    assert_eq!(code, 1008);
    timeout(PATIENCE, cdp.next()).await.map(|message| assert!(message.is_none())).unwrap();
    end(view).await;
    let started = Instant::now();
    let path = format!("/v2/browser/{}", ours["id"].as_str().unwrap());
    // The session is recorded as ended once its browser is closed.
    while other.delete(&path).await.code() != "SESSION_ENDED" {
        assert!(started.elapsed() < PATIENCE, "it is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // Sessions of other keys of the team continue, and so does the crawl.
    others_cdp.result(None, "Browser.getVersion", json!({})).await;
    assert_eq!(other.delete(&format!("/v2/browser/{}", theirs["id"].as_str().unwrap())).await.status, 200);
    assert_eq!(other.get(&job).await.body["status"], "scraping");
    assert_eq!(other.delete(&job).await.status, 200);
    let (last, _) = end(others_socket).await;
    assert_eq!(last["status"], "cancelled");
    assert_eq!(team.client.get(&job).await.status, 401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_another_process_revokes_ends_them_within_a_moment() {
    let app = with_keys().await;
    let team = Team::new(&app).await;
    let (job, socket) = watched(&app, &team).await;
    let started = session(&team.client, json!({"ttl": 60})).await;
    let mut cdp = Cdp::connect(started["cdpUrl"].as_str().unwrap()).await;
    cdp.result(None, "Browser.getVersion", json!({})).await;
    // Revokes the key like the command line does.
    let url = format!("sqlite://{}/quarry.db", app.data().display());
    let store = store::Store::open(&url, store::Options::default()).await.unwrap();
    assert!(
        store::keys::revoke(&mut store.conn().await.unwrap(), &team.key, app.operations().app.now()).await.unwrap()
    );
    assert_eq!(end(socket).await.1, 1008);
    timeout(PATIENCE, cdp.next()).await.map(|message| assert!(message.is_none())).unwrap();
    // The crawl continues; the operator can cancel it.
    let id = job.rsplit('/').next().unwrap().parse().unwrap();
    app::jobs::cancel(&app.operations().runs, id).await.unwrap();
}
