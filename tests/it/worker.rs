//! The worker as a program of its own.

use std::net::TcpListener;
use std::process::{Command, Stdio};

use crate::process::{program, status, terminate, wait_ready};

#[test]
fn it_answers_for_its_health_and_ends_on_sigterm() {
    let data = tempfile::tempdir().unwrap();
    let address = format!("127.0.0.1:{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port());
    let mut command = Command::new(program("quarry-worker"));
    command.current_dir(data.path()).env("QUARRY__DATA__DIR", data.path()).env("QUARRY__WORKER__LISTEN", &address);
    let child = command.stderr(Stdio::null()).spawn().unwrap();
    wait_ready(&address);
    assert_eq!(status(&address, "/metrics").as_deref(), Some("200"));
    assert_eq!(status(&address, "/v2/team/credit-usage").as_deref(), Some("404"), "it has no interface");
    terminate(child);
}
