//! The real program: its start, its command line, its end.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use lab::{Installation, Node};

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
fn networks_of_a_team_are_set_on_the_command_line() {
    let data = tempfile::tempdir().unwrap();
    let set = |addresses: &str| run(data.path(), &["teams", "set", app::DEFAULT_TEAM, "--addresses", addresses], &[]);
    let limited = set("10.0.0.0/8,192.0.2.7,2001:db8::/32");
    let shown = String::from_utf8_lossy(&limited.stdout).into_owned();
    assert!(shown.ends_with("  addresses 10.0.0.0/8,192.0.2.7/32,2001:db8::/32\n"), "{shown}");
    let refused = set("10.1.2.3/8");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("10.1.2.3 lies inside 10.0.0.0/8"), "{said}");
    assert!(!String::from_utf8_lossy(&set("all").stdout).contains("addresses"));
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
