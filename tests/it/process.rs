//! The real program: its start, its command line, its end.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

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

pub(crate) fn start(data: &Path) -> (Child, String) {
    let address = format!("127.0.0.1:{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port());
    let mut command = Command::new(program("quarry-server"));
    command
        .current_dir(data)
        .env("QUARRY__DATA__DIR", data)
        .env("QUARRY__SERVER__LISTEN", &address)
        .stderr(Stdio::null())
        .stdout(Stdio::null());
    (command.spawn().unwrap(), address)
}

pub(crate) fn status(address: &str, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer.split(' ').nth(1)?.to_owned())
}

pub(crate) fn wait_ready(address: &str) {
    let started = Instant::now();
    while status(address, "/health/ready").as_deref() != Some("200") {
        assert!(started.elapsed() < Duration::from_secs(30), "not ready");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Sends SIGTERM and waits for an orderly end.
pub(crate) fn terminate(mut child: Child) {
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let started = Instant::now();
    let ended = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(started.elapsed() < Duration::from_secs(35), "still running");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(ended.success(), "{ended}");
}

#[test]
fn it_starts_with_nothing_set_and_ends_on_sigterm() {
    let data = tempfile::tempdir().unwrap();
    let (child, address) = start(data.path());
    wait_ready(&address);
    terminate(child);
}

#[test]
fn what_was_made_survives_kill_9() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, address) = start(data.path());
    wait_ready(&address);
    let made = run(data.path(), &["teams", "create", "research", "--credits", "7"], &[]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = run(data.path(), &["teams", "list"], &[]);
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
