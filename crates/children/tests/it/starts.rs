//! How a child starts, and what is heard of it.

use std::path::Path;
use std::process::Stdio;

use children::{Child, User, command, last_line};
use tokio::io::AsyncReadExt as _;

const NOBODY: User = User { uid: 65534, gid: 65534 };

#[tokio::test]
async fn a_child_inherits_nothing() {
    let mut shell = command(Path::new("/bin/bash"), Some(NOBODY));
    let script = r#"read -r line; pwd; id -u; id -g; echo "[$line]"; /usr/bin/env | grep -v '^\(PWD\|SHLVL\|_\)='"#;
    shell.args(["--norc", "-c", script]).stdout(Stdio::piped());
    let mut child = Child::start(&mut shell).unwrap();
    let mut said = String::new();
    child.process.stdout.take().unwrap().read_to_string(&mut said).await.unwrap();
    let user = match rustix::process::geteuid() {
        user if user.is_root() => NOBODY,
        user => User { uid: user.as_raw(), gid: rustix::process::getegid().as_raw() },
    };
    assert_eq!(said, format!("/\n{}\n{}\n[]\n", user.uid, user.gid));
    assert_ne!(child.group().id(), rustix::process::getpgrp().as_raw_nonzero().get().unsigned_abs());
}

#[tokio::test]
async fn last_words_are_heard_after_the_end() {
    let mut shell = command(Path::new("/bin/bash"), None);
    shell.args(["-c", "printf 'first\nlast' >&2; exit 3"]).stderr(Stdio::piped());
    let mut child = Child::start(&mut shell).unwrap();
    let words = child.words().unwrap();
    assert_eq!(child.process.wait().await.unwrap().code(), Some(3));
    assert_eq!(last_line(&words.finish().await), Some("last"));
}
