//! TLS connections to a real server: which are accepted, which are refused, and that every connection uses it.

use std::time::Duration;

use diesel::QueryableByName;
use diesel::sql_types::BigInt;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use store::listen::{self, Listener};
use store::teams::{self, Team};
use store::{Options, Store};

use crate::at;
use crate::cluster::{Authority, Cluster};

/// Rules: `postgres` may connect in any way, the others only as stated.
const RULES: &str = "
    host      all postgres 127.0.0.1/32 trust
    hostssl   all hidden   127.0.0.1/32 trust
    hostnossl all open     127.0.0.1/32 trust
    hostssl   all bound    127.0.0.1/32 scram-sha-256
    hostssl   all card     127.0.0.1/32 cert
";

async fn opened(url: &str) -> Result<Store, String> {
    Store::open(url, Options::default()).await.map_err(|error| error.to_string())
}

async fn taken(url: &str) {
    let store = opened(url).await.unwrap_or_else(|error| panic!("{url}: {error}"));
    store.conn().await.unwrap_or_else(|error| panic!("{url}: {error}"));
}

/// Checks that the connection is refused with a message that holds each part and no password.
async fn refused(url: &str, parts: &[&str]) {
    let error = opened(url).await.err().unwrap_or_else(|| panic!("{url} was taken"));
    assert!(parts.iter().all(|part| error.contains(part)) && !error.contains("hush"), "{url}: {error}");
}

async fn as_admin(cluster: &Cluster, sql: &str) {
    let url = cluster.url("postgres", "127.0.0.1", "sslmode=disable");
    AsyncPgConnection::establish(&url).await.unwrap().batch_execute(sql).await.unwrap();
}

/// Waits until the server has applied its settings.
async fn until_tls(cluster: &Cluster, is_on: bool) {
    let mode = if is_on { "require" } else { "disable" };
    let probe = cluster.url("postgres", "localhost", "sslmode=require");
    for _ in 0..200 {
        if opened(&probe).await.is_ok() == is_on {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the server does not come to sslmode={mode}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_are_checked_as_sslmode_says() {
    let Some(cluster) = Cluster::start(RULES) else { return };
    let (ours, theirs) = (Authority::new(&cluster, "ours"), Authority::new(&cluster, "theirs"));
    let root = |mode: &str, authority: &Authority| format!("sslmode={mode}&sslrootcert={}", authority.file.display());
    let url = |host: &str, query: &str| cluster.url("postgres:hush", host, query);

    cluster.show(&ours.sign(&cluster, "localhost", 2100), &ours);
    until_tls(&cluster, true).await;
    for query in ["", "sslmode=disable", "sslmode=allow", "sslmode=prefer", "sslmode=require"] {
        taken(&url("localhost", query)).await;
        taken(&url("127.0.0.1", query)).await;
    }
    for mode in ["require", "verify-ca", "verify-full"] {
        taken(&url("localhost", &root(mode, &ours))).await;
        refused(&url("localhost", &root(mode, &theirs)), &["UnknownIssuer", "sslrootcert must hold"]).await;
    }
    taken(&url("127.0.0.1", &root("verify-ca", &ours))).await;
    refused(&url("127.0.0.1", &root("verify-full", &ours)), &["127.0.0.1", "subjectAltName"]).await;
    refused(&url("localhost", "sslrootcert=system"), &["UnknownIssuer"]).await;
    refused(&url("localhost", "sslmode=verify-full&sslrootcert=/none.pem"), &["sslrootcert", "/none.pem"]).await;
    refused(&url("localhost", "sslmode=strict"), &["sslmode `strict`", "verify-full"]).await;

    cluster.show(&ours.sign(&cluster, "localhost", 2020), &ours);
    until_expired(&url("localhost", &root("verify-ca", &ours))).await;
    refused(&url("localhost", &root("verify-full", &ours)), &["expired", "renew"]).await;
    taken(&url("localhost", "sslmode=require")).await;

    cluster.show_nothing();
    until_tls(&cluster, false).await;
    for query in ["sslmode=require".to_owned(), root("verify-ca", &ours), root("verify-full", &ours)] {
        refused(&url("localhost", &query), &["server does not support TLS", "ssl = on"]).await;
    }
    for query in ["", "sslmode=prefer", "sslmode=allow", "sslmode=disable"] {
        taken(&url("localhost", query)).await;
    }
}

async fn until_expired(url: &str) {
    for _ in 0..200 {
        if opened(url).await.is_err_and(|error| error.contains("expired")) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("an expired certificate was taken");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_login_may_need_tls_or_its_absence() {
    let Some(cluster) = Cluster::start(RULES) else { return };
    let ours = Authority::new(&cluster, "ours");
    cluster.show(&ours.sign(&cluster, "localhost", 2100), &ours);
    until_tls(&cluster, true).await;
    as_admin(&cluster, "CREATE ROLE hidden LOGIN; CREATE ROLE open LOGIN; CREATE ROLE card LOGIN").await;
    as_admin(&cluster, "CREATE ROLE bound LOGIN PASSWORD 'hush'").await;

    // `allow` and `prefer` retry the other way when the first attempt is refused.
    for mode in ["allow", "prefer", "require"] {
        taken(&cluster.url("hidden", "localhost", &format!("sslmode={mode}"))).await;
    }
    for mode in ["disable", "allow", "prefer"] {
        taken(&cluster.url("open", "localhost", &format!("sslmode={mode}"))).await;
    }
    refused(&cluster.url("hidden", "localhost", "sslmode=disable"), &["pg_hba.conf"]).await;
    refused(&cluster.url("open", "localhost", "sslmode=require"), &["pg_hba.conf"]).await;

    // Login with channel binding.
    taken(&cluster.url("bound:hush", "localhost", "sslmode=require&channel_binding=require")).await;
    refused(&cluster.url("bound:hush2", "localhost", "sslmode=require"), &["password authentication failed"]).await;

    // Login with a client certificate.
    let files = |identity: &crate::cluster::Identity| {
        format!("sslmode=require&sslcert={}&sslkey={}", identity.cert.display(), identity.key.display())
    };
    let (card, other) =
        (ours.sign(&cluster, "card", 2100), Authority::new(&cluster, "other").sign(&cluster, "card", 2100));
    taken(&cluster.url("card", "localhost", &files(&card))).await;
    refused(&cluster.url("card", "localhost", "sslmode=require"), &["certificate"]).await;
    assert!(opened(&cluster.url("card", "localhost", &files(&other))).await.is_err());
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

/// The pool, the migrations and LISTEN, as a user who must use TLS.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_connection_is_encrypted() {
    let Some(cluster) = Cluster::start(RULES) else { return };
    let ours = Authority::new(&cluster, "ours");
    cluster.show(&ours.sign(&cluster, "localhost", 2100), &ours);
    until_tls(&cluster, true).await;
    as_admin(&cluster, "CREATE ROLE hidden LOGIN; GRANT ALL ON SCHEMA public TO hidden").await;
    let query = format!("sslmode=verify-full&sslrootcert={}", ours.file.display());
    let store = opened(&cluster.url("hidden", "localhost", &query)).await.unwrap();
    assert!(!store.migrate().await.unwrap().is_empty());
    let mut listener = Listener::open(&store, &["news"]).await.unwrap().unwrap();
    let mut conn = store.conn().await.unwrap();
    teams::create(&mut conn, &Team::new("team", "team", at(0))).await.unwrap();
    listen::notify(&mut conn, "news", "hello").await.unwrap();
    assert_eq!(listener.next().await.unwrap().payload, "hello");
    let url = cluster.url("postgres", "127.0.0.1", "sslmode=disable");
    let mut admin = AsyncPgConnection::establish(&url).await.unwrap();
    let plain = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'hidden' AND ";
    let count = async |admin: &mut AsyncPgConnection, is: &str| {
        let counts: Vec<Count> = diesel::sql_query(format!("{plain}{is}")).load(admin).await.unwrap();
        counts[0].count
    };
    assert_eq!(count(&mut admin, "NOT ssl").await, 0);
    assert!(count(&mut admin, "ssl").await >= 2);
}
