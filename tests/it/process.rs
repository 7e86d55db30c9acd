//! The real program: start, command line, shutdown.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use http::Method;
use lab::{Installation, Node};
use serde_json::Value;

/// Returns the path of a binary next to the test's: `cargo xtask test` builds the workspace first.
pub(crate) fn program(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.ancestors().nth(2).unwrap().join(name);
    assert!(path.is_file(), "{} is not built; run cargo build --workspace first", path.display());
    path
}

pub(crate) fn run(data: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(program("quarry-server"));
    command.current_dir(data).args(arguments).env("QUARRY__DATA__DIR", data).envs(environment.iter().copied());
    command.output().unwrap()
}

/// Returns the programs with a data folder of their own.
pub(crate) fn installation() -> Installation {
    Installation::new(program("quarry-server")).unwrap()
}

/// Sends SIGTERM and waits for an orderly end.
pub(crate) async fn terminate(mut node: Node) {
    node.terminate().unwrap();
    let status = node.ended(Duration::from_secs(35)).await.unwrap();
    assert!(status.success(), "{status}");
}

#[tokio::test]
async fn it_starts_with_nothing_set_and_ends_on_sigterm() {
    terminate(installation().server().unwrap()).await;
}

#[test]
fn what_was_made_survives_kill_9() {
    let installation = installation();
    let server = installation.server().unwrap();
    let made = run(&installation.data(), &["teams", "create", "research", "--credits", "7"], &[]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    server.kill().unwrap();
    let listed = run(&installation.data(), &["teams", "list"], &[]);
    assert!(
        String::from_utf8_lossy(&listed.stdout).contains("research"),
        "{}",
        String::from_utf8_lossy(&listed.stdout)
    );
}

#[test]
fn bad_settings_stop_the_start_and_name_the_key() {
    let data = tempfile::tempdir().unwrap();
    for (name, value) in [
        ("QUARRY__SERVER__LISTEN", "nowhere"),
        ("QUARRY__AUTH__MODE", "maybe"),
        ("QUARRY__SERVER__LISTN", "x"),
        ("QUARRY__STORE__URL", "mysql://x"),
    ] {
        let ended = run(data.path(), &[], &[("QUARRY__SERVER__LISTEN", "127.0.0.1:0"), (name, value)]);
        assert!(!ended.status.success(), "{name}={value} was accepted");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(said.contains(name) || said.to_lowercase().contains("store.url"), "{name}: {said}");
    }
}

#[test]
fn networks_of_a_team_are_set_on_the_command_line() {
    let data = tempfile::tempdir().unwrap();
    assert!(run(data.path(), &["keys", "create"], &[]).status.success());
    let set = |addresses: &str| run(data.path(), &["teams", "set", app::DEFAULT_TEAM, "--addresses", addresses], &[]);
    let limited = set("10.0.0.0/8,192.0.2.7,2001:db8::/32");
    let shown = String::from_utf8_lossy(&limited.stdout).into_owned();
    assert!(shown.ends_with("  addresses 10.0.0.0/8,192.0.2.7/32,2001:db8::/32\n"), "{shown}");
    let refused = set("10.1.2.3/8");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("10.1.2.3 is a host in 10.0.0.0/8"), "{said}");
    assert!(!String::from_utf8_lossy(&set("all").stdout).contains("addresses"));
}

#[test]
fn bad_settings_say_where_they_stand_and_what_is_expected() {
    let data = tempfile::tempdir().unwrap();
    let check = |text: &str, expect: &str| {
        std::fs::write(data.path().join("my.toml"), text).unwrap();
        let ended = run(data.path(), &["--config", "my.toml"], &[]);
        assert!(!ended.status.success(), "{text}");
        assert_eq!(String::from_utf8_lossy(&ended.stderr).trim_end(), format!("quarry-server: {expect}"));
    };
    check(
        "[server]\nlisten = \"127.0.0.1:0\"\n\n[store]\nmax_conections = 3\n",
        "store.max_conections in my.toml, line 5: no such setting, did you mean store.max_connections?",
    );
    check(
        "[server]\nlisten = \"3002\"\n",
        "server.listen in my.toml, line 2: expected an address and port such as 127.0.0.1:3002 or localhost:3002, or \
         0.0.0.0:3002 for every address of this machine",
    );
    check(
        "[server]\nlisten = \"127.0.0.1:0\"\n[store]\nurl = \"mysql://u:hush@h/d\"\n",
        "store.url in my.toml, line 4: database address: mysql is not supported: the database is SQLite or PostgreSQL; write \
         sqlite:///path/to/quarry.db, or postgres://user:password@host:5432/database",
    );
    check(
        "[server]\nlisten = \"127.0.0.1:0\"\n[store]\nurl = \"localhost:5432\"\n",
        "store.url in my.toml, line 4: database address: must begin with sqlite:// or postgres://; write \
         sqlite:///path/to/quarry.db, or postgres://user:password@host:5432/database",
    );
}

#[tokio::test]
async fn the_log_line_of_a_refused_request_has_its_code() {
    let installation = installation();
    let server = installation.server().unwrap();
    let client = server.client(None).unwrap();
    for path in ["/v2/agent", "/v2/team/credit-usage"] {
        client.send(Method::GET, path, "").await.unwrap();
    }
    let line = |route: &str| {
        let log = String::from_utf8_lossy(&installation.log()).into_owned();
        let mut lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.find(|line| line["route"] == route)
    };
    assert_eq!(line("unmatched").unwrap()["code"], "ENDPOINT_NOT_AVAILABLE");
    assert!(line("/v2/team/credit-usage").unwrap().get("code").is_none());
    terminate(server).await;
}

#[test]
fn keys_are_made_listed_and_revoked_on_the_command_line() {
    let data = tempfile::tempdir().unwrap();
    let out = |arguments: &[&str]| {
        let ended = run(data.path(), arguments, &[]);
        assert!(ended.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8_lossy(&ended.stdout).into_owned()
    };
    let made = out(&["keys", "create"]);
    let key = made.split_whitespace().find(|word| word.starts_with("fc-")).unwrap().to_owned();
    let listed = out(&["keys", "list"]);
    assert!(listed.contains(&key[key.len() - 4..]) && !listed.contains(&key), "{listed}");
    let id =
        listed.split_whitespace().find(|word| word.len() == 36 && word.matches('-').count() == 4).unwrap().to_owned();
    let limited = out(&["keys", "set", &id, "--endpoints", "scrape,map", "--formats", "rawHtml"]);
    assert!(limited.ends_with("works  endpoints scrape,map  formats rawHtml\n"), "{limited}");
    assert!(out(&["keys", "set", &id, "--endpoints", "all"]).ends_with("works  formats rawHtml\n"));
    let refused = run(data.path(), &["keys", "set", &id, "--formats", "pdf"], &[]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("`formats[0]` must be `markdown`, `html`"), "{said}");
    out(&["keys", "revoke", &id]);
    assert!(out(&["keys", "list"]).contains("revoked"));
}

#[test]
fn commands_that_read_say_where_there_is_no_data_and_make_none() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let id = "0197f9b0-0000-7000-8000-000000000001";
    let backup = folder.path().join("backup").display().to_string();
    for arguments in [
        &["teams", "list"][..],
        &["teams", "set", id, "--name", "x"],
        &["keys", "list"],
        &["keys", "revoke", id],
        &["jobs", "list"],
        &["jobs", "list", "--dead"],
        &["jobs", "cancel", id],
        &["jobs", "redrive"],
        &["migrate", "--check"],
        &["backup", &backup],
    ] {
        let data = data.display().to_string();
        let ended = run(folder.path(), arguments, &[("QUARRY__DATA__DIR", &data)]);
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(!ended.status.success(), "{arguments:?}");
        assert_eq!(said.lines().count(), 1, "{arguments:?}: {said}");
        assert!(said.contains("there is no data in") && said.contains(&data) && said.contains("--config"), "{said}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{arguments:?} made something");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_server_on_a_sqlite_folder_ends_and_names_the_first() {
    let installation = installation();
    let first = tokio::task::block_in_place(|| installation.server()).unwrap();
    let error = tokio::task::block_in_place(|| installation.server()).unwrap_err();
    let error = format!("{error:#}");
    let holder = format!("process {}, which listens on {}", first.id(), first.addr());
    assert!(error.contains(&holder) && error.contains("one server at a time"), "{error}");
    assert!(lab::service::is_healthy(first.addr()).await, "the first goes on");
    // Programs that may run next to it.
    let worker = tokio::task::block_in_place(|| installation.worker()).unwrap();
    let made = run(&installation.data(), &["teams", "create", "beside"], &[]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    terminate(worker).await;
    first.kill().unwrap();
    terminate(tokio::task::block_in_place(|| installation.server()).unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_start_says_once_what_it_can_do_and_what_is_missing() {
    let started = |format: &str| {
        let installation = installation().set("log.format", format).set("browser.enabled", "false");
        let server = tokio::task::block_in_place(|| installation.server()).unwrap();
        (installation, server)
    };
    let (json, server) = started("json");
    let find = || {
        let log = String::from_utf8(json.log()).unwrap();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        lines.filter(|line| line["message"] == "capabilities of this process").collect::<Vec<_>>()
    };
    let began = std::time::Instant::now();
    while find().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(30), "{}", String::from_utf8_lossy(&json.log()));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    terminate(server).await;
    let found = find();
    assert_eq!(found.len(), 1);
    for field in
        ["database", "files", "disk", "callers", "operator", "work", "egress", "chromium", "documents", "ocr", "code"]
    {
        assert!(found[0][field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {}", found[0]);
    }
    assert!(found[0]["chromium"].as_str().unwrap().contains("browser.enabled"), "{}", found[0]);

    let (text, server) = started("text");
    let began = std::time::Instant::now();
    while !String::from_utf8(text.log()).unwrap().contains("callers' code: ") {
        assert!(began.elapsed() < Duration::from_secs(30), "{}", String::from_utf8_lossy(&text.log()));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    terminate(server).await;
}
