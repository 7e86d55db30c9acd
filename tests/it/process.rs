//! The real program: its start, its command line, its end.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use http::Method;
use lab::{Installation, Node};
use serde_json::Value;

/// The binary beside the test's own: `cargo xtask test` builds the workspace first.
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

/// The programs with a data folder of their own.
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
    for path in ["/v2/search", "/v2/team/credit-usage"] {
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
    out(&["keys", "revoke", &id]);
    assert!(out(&["keys", "list"]).contains("revoked"));
}
