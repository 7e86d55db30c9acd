//! No child outlives its parent, nor what a child has started.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use children::{Child, Launcher, Order, Program, User, command, frame};
use fence::{Fence, Limits};

use crate::until;

const NOBODY: User = User { uid: 65534, gid: 65534 };

/// A script that starts three processes, and sleeps for a minute as they do.
const SLEEP: &str = "for i in 1 2 3; do sleep 60 & done; sleep 60; true";

#[tokio::test]
async fn a_dropped_child_ends_with_all_that_it_started() {
    let child = Child::start(command(Path::new("/bin/bash"), None).args(["-c", SLEEP])).unwrap();
    let group = child.group().id();
    until(group, 5..);
    drop(child);
    until(group, ..1);
}

#[tokio::test]
async fn a_dropped_fenced_child_ends_with_all_that_it_started() {
    let launcher = Launcher::new(program(), Some(NOBODY));
    let (child, socket) = launcher.start("be-fenced", &order(std::process::id()), false).await.unwrap();
    let group = child.group().id();
    assert_eq!(line(&socket), "{\"fenced\":{\"Ok\":null}}\n");
    until(group, 5..);
    drop(child);
    until(group, ..1);
}

#[test]
fn a_fenced_program_ends_with_its_parent_and_so_does_all_that_it_started() {
    let (mut shell, socket) = shell("be-fenced outside");
    let group = shell.id();
    send(&socket, group);
    assert_eq!(line(&socket), "{\"fenced\":{\"Ok\":null}}\n");
    until(group, 6..);
    shell.kill().unwrap();
    shell.wait().unwrap();
    // They held the last copies of the other end.
    assert_eq!(line(&socket), "");
    until(group, ..1);
}

#[test]
fn a_fenced_program_does_not_begin_after_the_end_of_its_parent() {
    let (mut shell, socket) = shell("be-fenced");
    send(&socket, std::process::id());
    assert_eq!(line(&socket), "");
    shell.wait().unwrap();
}

/// Returns the path of our example program.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().parent().unwrap().join("examples/fenced_child")
}

/// Starts a shell that runs our example program; returns it with our end of the socket.
fn shell(args: &str) -> (std::process::Child, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut shell = Command::new("/bin/bash");
    shell.args(["--norc", "-c", &format!("\"$0\" {args}; true")]).arg(program()).current_dir("/").process_group(0);
    shell.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null());
    if rustix::process::geteuid().is_root() {
        shell.uid(NOBODY.uid).gid(NOBODY.gid);
    }
    ours.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
    (shell.spawn().unwrap(), ours)
}

fn order(parent: u32) -> Order {
    let reads = ["/bin", "/lib", "/lib64", "/usr/bin", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"];
    let limits = Limits { memory: 256 << 20, cpu_s: 5, processes: 16, open_files: 64, room: 1 << 20 };
    let fence = Fence { reads: reads.map(PathBuf::from).into(), files: Some(Vec::new()), limits };
    let args = vec!["-c".to_owned(), SLEEP.to_owned()];
    let program = Program { path: "/bin/bash".into(), args, env: Vec::new(), socket: "SOCKET".to_owned() };
    Order { fence, program: Some(program), parent }
}

fn send(mut socket: &UnixStream, parent: u32) {
    socket.write_all(&frame::head(&order(parent), 0).unwrap()).unwrap();
}

/// Returns the next line that a child sends; an empty one at its end.
fn line(socket: &UnixStream) -> String {
    let mut line = String::new();
    BufReader::new(socket).read_line(&mut line).unwrap();
    line
}
