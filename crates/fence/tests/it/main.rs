//! Tests of what a sandboxed program cannot do. Where it does no harm, each case is tried without the sandbox too, to
//! prove that the refusal has no other cause.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod hostile;

use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use fence::{Fence, Limits, StartFile};

fn fence() -> Fence {
    let reads = ["/bin", "/lib", "/lib64", "/usr/bin", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"];
    let files = vec![
        StartFile { path: "code".into(), text: "greeting".to_owned() },
        StartFile { path: "bin/tool".into(), text: "#!/bin/bash\necho from the tool".to_owned() },
    ];
    let limits = Limits { memory: 256 << 20, cpu_s: 5, processes: 16, open_files: 64, room: 8 << 20 };
    Fence { reads: reads.map(PathBuf::from).into(), files: Some(files), limits }
}

/// Path of our example program, next to the tests.
fn fenced() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().parent().unwrap().join("examples/fenced")
}

fn command(fence: &Fence, program: &[&str]) -> Command {
    let mut command = Command::new(fenced());
    command.arg(serde_json::to_string(fence).unwrap()).args(program).current_dir("/").process_group(0);
    if rustix::process::geteuid().is_root() {
        command.uid(65534).gid(65534);
    }
    command
}

fn bash(code: &str) -> Output {
    command(&fence(), &["/bin/bash", "--norc", "-c", code]).output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Checks that the code fails in the sandbox with a permission error.
fn refused(code: &str) {
    let output = bash(code);
    let text = text(&output);
    assert!(!output.status.success(), "{code} succeeded: {text}");
    let words = ["denied", "not permitted", "not implemented", "No such", "Read-only", "unavailable", "OSError"];
    assert!(words.iter().any(|word| text.contains(word)), "{code}: {text}");
}

#[test]
fn a_program_runs_and_has_its_own_folder() {
    let output = bash("cat code && echo && bin/tool && echo x > y && mkdir z && mv y z/ && ls -a z && wc -c < z/y");
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(
        text(&output).split_whitespace().collect::<Vec<_>>(),
        ["greeting", "from", "the", "tool", ".", "..", "y", "2"]
    );
    assert!(!std::path::Path::new("/tmp/z").exists());
}

#[test]
fn files_of_the_machine_cannot_be_read() {
    let secret = std::env::temp_dir().join(format!("fence-secret-{}", std::process::id()));
    std::fs::write(&secret, "secret").unwrap();
    for path in [
        "/etc/passwd",
        "/etc/hostname",
        "/proc/1/environ",
        "/proc/self/environ",
        "/proc/cpuinfo",
        "/root",
        "/var/log",
        secret.to_str().unwrap(),
    ] {
        refused(&format!("cat {path} || ls {path}/"));
    }
    refused("ls /");
    std::fs::remove_file(secret).unwrap();
}

#[test]
fn nothing_outside_of_its_folder_can_be_written() {
    for code in [
        "echo x > /var/tmp/fence-x",
        "echo x > /usr/bin/fence-x",
        "touch /dev/shm/fence-x",
        "ln -s /etc /var/tmp/fence-y",
        "mkdir /fence",
        "mkdir b && cp /bin/true b/true && b/true",
        "chmod 777 code",
    ] {
        refused(code);
    }
    // Programs that it writes into its own `bin` run in the same sandbox.
    assert!(!std::path::Path::new("/var/tmp/fence-x").exists() && !std::path::Path::new("/dev/shm/fence-x").exists());
}

#[test]
fn there_is_no_network() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("exec 9<>/dev/tcp/127.0.0.1/{port}");
    assert!(Command::new("/bin/bash").args(["-c", &connect]).status().unwrap().success());
    refused(&connect);
    listener.set_nonblocking(true).unwrap();
    listener.accept().unwrap();
    assert!(listener.accept().is_err());
    if std::path::Path::new("/usr/bin/python3").exists() {
        let pair =
            "import socket; a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1)); a.sendto(b'x', '/tmp/none')";
        let output = command(&fence(), &["/usr/bin/python3", "-I", "-c", pair]).output().unwrap();
        assert!(text(&output).starts_with("b'x'\n") && text(&output).contains("not implemented"), "{}", text(&output));
        for family in ["AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK", "AF_PACKET"] {
            let code = format!("import socket; socket.socket(socket.{family}, socket.SOCK_DGRAM)");
            let output = command(&fence(), &["/usr/bin/python3", "-I", "-c", &code]).output().unwrap();
            assert!(!output.status.success() && text(&output).contains("not permitted"), "{family}: {}", text(&output));
        }
    }
}

#[test]
fn other_processes_are_out_of_reach() {
    let mut other = Command::new("/bin/sleep");
    other.arg("30");
    if rustix::process::geteuid().is_root() {
        other.uid(65534).gid(65534);
    }
    let mut other = other.spawn().unwrap();
    let pid = other.id();
    refused(&format!("kill -9 {pid}"));
    refused(&format!("kill -0 {}", std::process::id()));
    refused(&format!("cat /proc/{pid}/cmdline"));
    refused("unshare -Ur true");
    refused("setsid --wait true");
    let limits = format!("import resource; resource.prlimit({pid}, resource.RLIMIT_NOFILE, (1, 1))");
    let output = command(&fence(), &["/usr/bin/python3", "-I", "-c", &limits]).output().unwrap();
    assert!(!output.status.success(), "{}", text(&output));
    assert!(other.try_wait().unwrap().is_none());
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn our_environment_is_not_passed_on() {
    let output = command(&fence(), &["/usr/bin/env"]).env("SECRET", "1").output().unwrap();
    assert!(!text(&output).contains("SECRET"), "{}", text(&output));
}

#[test]
fn processes_memory_and_room_are_bounded() {
    let many = bash("for i in {1..64}; do sleep 3 & done; jobs -p | wc -l");
    assert!(text(&many).contains("Resource temporarily unavailable"), "{}", text(&many));
    let memory = bash("x=$(printf 'a%.0s' {1..100}); while :; do x=$x$x; done");
    assert!(!memory.status.success(), "{}", text(&memory));
    let room = bash("head -c 20000000 /dev/zero > big");
    assert!(!room.status.success(), "{}", text(&room));
    let room = bash("for i in {1..9}; do head -c 2000000 /dev/zero > big$i || exit 1; done");
    assert!(text(&room).contains("No space left"), "{}", text(&room));
}

#[test]
fn a_fork_bomb_ends_with_its_group() {
    let mut bomb = command(&fence(), &["/bin/bash", "-c", "b() { b | b & }; b; while :; do :; done"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let group = rustix::process::Pid::from_child(&bomb);
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
    bomb.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(5);
    while rustix::process::test_kill_process_group(group).is_ok() {
        assert!(Instant::now() < until, "some are left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn time_of_the_processor_is_bounded() {
    let fence = Fence { limits: Limits { cpu_s: 1, ..fence().limits }, ..fence() };
    let began = Instant::now();
    let output = command(&fence, &["/bin/bash", "-c", "while :; do :; done"]).output().unwrap();
    assert!(!output.status.success() && began.elapsed() < Duration::from_secs(8));
}

#[test]
fn root_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let output =
        Command::new(fenced()).arg(serde_json::to_string(&fence()).unwrap()).arg("/bin/true").output().unwrap();
    assert!(!output.status.success() && text(&output).contains("root cannot be sandboxed"), "{}", text(&output));
}
