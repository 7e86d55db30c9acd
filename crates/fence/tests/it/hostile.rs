//! Malicious programs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use fence::{Fence, Limits};

use crate::{bash, command, fence, fenced, refused, text};

/// World-writable folder that the sandbox does not hide. Removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(format!("/var/tmp/fence-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        Self(path)
    }

    /// Creates a file in it that everybody may read and write.
    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn python(fence: &Fence, code: &str) -> Output {
    command(fence, &["/usr/bin/python3", "-I", "-c", code]).output().unwrap()
}

#[test]
fn what_it_need_not_read_has_no_name() {
    let folder = Folder::new("data");
    let data = folder.file("quarry.db", b"rows of others");
    let data = data.to_str().unwrap();
    for path in [data, "/etc/shadow", "/etc/passwd", "/root", "/home", "/var", "/sys", "/run", "/boot"] {
        let output = bash(&format!("stat {path}; [ -e {path} ] && echo there"));
        assert!(
            text(&output).contains("No such file") && !text(&output).contains("there"),
            "{path}: {}",
            text(&output)
        );
    }
    for way in ["/proc/self/root", "/proc/1/root", "/proc/self/cwd/..", "/tmp/../../..", "//"] {
        refused(&format!("cat {way}{data}"));
        refused(&format!("ln {way}{data} near && cat near"));
        refused(&format!("ln -s {way}{data} far && cat far"));
    }
    refused("cd /; ls");
    let out = "import os; os.chroot('/tmp')";
    assert!(!python(&fence(), out).status.success());
}

#[test]
fn what_it_may_read_stays_as_it_is() {
    let folder = Folder::new("mine");
    let file = folder.file("mine", b"mine");
    let mut fence = fence();
    fence.reads.push(folder.0.clone());
    let run = |code: &str| command(&fence, &["/bin/bash", "--norc", "-c", code]).output().unwrap();
    let path = file.to_str().unwrap();
    assert_eq!(text(&run(&format!("cat {path}"))), "mine");
    for change in ["echo x >", "rm", "chmod 0", "touch", "truncate -s 0", "ln -s /tmp/a"] {
        assert!(!run(&format!("{change} {path}")).status.success(), "{change}");
    }
    assert!(!run(&format!("mv {path} {path}2; ls {path}2")).status.success());
    assert!(!run(&format!("echo x > {}/new", folder.0.display())).status.success());
    let of_file = fs::metadata(&file).unwrap();
    assert_eq!((fs::read(&file).unwrap(), of_file.permissions().mode() & 0o777), (b"mine".to_vec(), 0o777));
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
}

#[test]
fn its_own_files_are_worked_with_as_usual() {
    let code = "touch a && echo one > a && cp a b && sed s/one/two/ b > c && mkdir -p d/e && mv c d/e/ && rm b
        mapfile -t lines < <(cat a d/e/c); echo \"${lines[@]}\"; sort <<< $'z\\ny' | tail -1; ls | wc -l; echo lost > /dev/null";
    let output = bash(code);
    assert_eq!(text(&output), "one two\nz\n4\n");
}

#[test]
fn calls_that_lead_out_do_not_exist() {
    let calls = [
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_getfd,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_open_tree,
        libc::SYS_fsopen,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_clone3,
        libc::SYS_socket,
        libc::SYS_sendmsg,
        libc::SYS_io_uring_setup,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_memfd_create,
        libc::SYS_execveat,
        libc::SYS_name_to_handle_at,
        libc::SYS_open_by_handle_at,
        libc::SYS_fanotify_init,
        libc::SYS_shmget,
        libc::SYS_msgget,
        libc::SYS_mq_open,
        libc::SYS_setuid,
        libc::SYS_setresuid,
        libc::SYS_setgroups,
        libc::SYS_capset,
        libc::SYS_setsid,
        libc::SYS_setpgid,
        libc::SYS_kexec_load,
        libc::SYS_init_module,
        libc::SYS_reboot,
        libc::SYS_personality,
        libc::SYS_fchmod,
        libc::SYS_fchownat,
        libc::SYS_setxattr,
        libc::SYS_sched_setaffinity,
        libc::SYS_setpriority,
    ];
    let code = format!(
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nfor call in {calls:?}:\n    answer = libc.syscall(call, 0, 0, 0, 0, 0, 0)\n    print(call, answer, ctypes.get_errno())"
    );
    let output = python(&fence(), &code);
    let answers = text(&output);
    assert_eq!(answers.lines().count(), calls.len(), "{answers}");
    for line in answers.lines() {
        assert!(line.ends_with(" -1 38") || line.ends_with(" -1 1"), "{line}");
    }
}

#[test]
fn a_terminal_is_not_typed_into() {
    let code = "import fcntl\nfor call in (0x5412, 0x541c, 0x5413):\n    try: fcntl.ioctl(0, call, b'x' * 8)\n    except OSError as error: print(error.errno)";
    // The third request, for the window size, is allowed but finds no terminal.
    assert_eq!(text(&python(&fence(), code)), "38\n38\n25\n");
}

#[test]
fn no_child_is_left_to_whoever_started_it() {
    let (clone, clone3) = (libc::SYS_clone, libc::SYS_clone3);
    let (parent, dies) = (libc::CLONE_PARENT, libc::SIGCHLD);
    let code = format!(
        "import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
def tried(*args):
    answer = libc.syscall(*args)
    if answer == 0: os._exit(0)
    if answer > 0: return 'made'
    return ctypes.get_errno()
args = struct.pack('8Q', {parent}, 0, 0, 0, {dies}, 0, 0, 0)
print(tried({clone}, {parent} | {dies}, 0, 0, 0, 0), tried({clone3}, args, len(args)), tried({clone}, {dies}, 0, 0, 0, 0))"
    );
    assert_eq!(text(&python(&fence(), &code)), "38 38 made\n");
}

#[test]
fn it_does_not_choose_to_outlive_its_parent() {
    let code = format!(
        "import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.prctl(1, 0, 0, 0, 0), ctypes.get_errno(), libc.syscall({}, ctypes.c_ulong(1 << 32 | 1), 0), libc.prctl(15, b'name', 0, 0, 0))",
        libc::SYS_prctl
    );
    assert_eq!(text(&python(&fence(), &code)), "-1 38 -1 0\n");
}

#[test]
fn nobody_is_signalled_in_its_name() {
    // The kernel signals the owner of a file: a process or a process group.
    let code = "import fcntl, os, struct, socket
a, b = socket.socketpair()
ends = os.pipe()
tried = [lambda fd: fcntl.fcntl(fd, 8, 1), lambda fd: fcntl.fcntl(fd, 10, 9), lambda fd: fcntl.fcntl(fd, 15, struct.pack('ii', 1, 1)),
    lambda fd: fcntl.fcntl(fd, 1026, 1), lambda fd: fcntl.ioctl(fd, 0x8901, struct.pack('i', 1)), lambda fd: fcntl.ioctl(fd, 0x8902, struct.pack('i', 1))]
for fd in (a.fileno(), ends[0], os.open('/tmp', os.O_RDONLY)):
    said = []
    for call in tried:
        try: said.append(call(fd))
        except OSError as error: said.append(error.errno)
    print(said)
fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | os.O_NONBLOCK | os.O_ASYNC)
fcntl.fcntl(a, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
print(fcntl.fcntl(a, fcntl.F_DUPFD, 20) >= 20)";
    let expected = format!("{}True\n", "[38, 38, 38, 38, 38, 38]\n".repeat(3));
    assert_eq!(text(&python(&fence(), code)), expected);
}

#[test]
fn programs_of_its_own_making_are_fenced_in_too() {
    let code = "printf '#!/bin/bash\\ncat /etc/shadow; kill -9 1; exec 9<>/dev/tcp/127.0.0.1/1' > bin/own2
        cat bin/tool > bin/own; ls -l bin | wc -l; bash bin/own2";
    let output = bash(code);
    assert!(!output.status.success() && !text(&output).contains("root:"), "{}", text(&output));
    let set_user = bash("cp /bin/bash bin/b; chmod u+s bin/b");
    assert!(text(&set_user).contains("not permitted"), "{}", text(&set_user));
    // Set-user-id programs of the machine give no rights.
    let su = bash("su root -c id; sudo -n id; mount -t tmpfs none /tmp");
    assert!(!su.status.success() && !text(&su).contains("uid=0"), "{}", text(&su));
}

#[test]
fn a_bomb_in_python_is_bounded() {
    let forks = "import os\nmade = 0\ntry:\n    while True:\n        if os.fork() == 0:\n            import time; time.sleep(3); os._exit(0)\n        made += 1\nexcept BlockingIOError: print(made)";
    let made: u64 = text(&python(&fence(), forks)).trim().parse().unwrap();
    assert!((1..=16).contains(&made), "{made}");
    let threads = "import threading, time\nmade = 0\ntry:\n    while True:\n        threading.Thread(target=time.sleep, args=(1,), daemon=True).start()\n        made += 1\nexcept (RuntimeError, MemoryError): print(made)";
    let made: u64 = text(&python(&fence(), threads)).trim().parse().unwrap();
    assert!((1..=16).contains(&made), "{made}");
    let memory =
        "all = []\ntry:\n    while True: all.append(bytearray(1 << 20))\nexcept MemoryError: print(len(all) < 256)";
    assert_eq!(text(&python(&fence(), memory)), "True\n");
    let open = "all = []\ntry:\n    while True: all.append(open('/dev/null'))\nexcept OSError as error: print(error.errno, len(all) < 64)";
    assert_eq!(text(&python(&fence(), open)), "24 True\n");
    let files = "n = 0\ntry:\n    while n < 10000:\n        open(str(n), 'w').close(); n += 1\nexcept OSError as error: print(error.errno, n < 4200)";
    assert_eq!(text(&python(&fence(), files)), "28 True\n");
}

#[test]
fn memory_that_is_shared_is_not_to_be_had() {
    let code = r#"import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
def tried(what):
    try:
        what()
        return 'had'
    except OSError as error: return error.errno
print(tried(lambda: mmap.mmap(-1, 1 << 20)), tried(lambda: os.memfd_create('x')), tried(lambda: open('/dev/shm/x', 'w')))
print(libc.shmget(0, 1 << 20, 0o1600), ctypes.get_errno(), tried(lambda: os.open('/dev/zero', os.O_RDWR)))
# With the flags and the types that mean the same.
for flags in (0x21, 0x23, 0x40021, 0x8021): print(libc.syscall(MMAP, 0, 4096, 3, flags, -1, 0), end=' ')
print()"#;
    let expected = "1 38 2\n-1 38 13\n-1 -1 -1 -1 \n";
    assert_eq!(text(&python(&fence(), &code.replace("MMAP", &libc::SYS_mmap.to_string()))), expected);
}

#[test]
fn memory_of_its_own_and_of_its_files_is_mapped_as_usual() {
    let code = r#"import mmap, os
own = mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
own[:3] = b'own'
file = open('file', 'w+b')
file.truncate(1 << 20)
shared = mmap.mmap(file.fileno(), 0)
shared[:4] = b'file'
shared.flush()
# What is only read of it is memory of its own, which is counted.
zero = mmap.mmap(os.open('/dev/zero', os.O_RDONLY), 1 << 20, mmap.MAP_SHARED, mmap.PROT_READ)
print(own[:3], open('file', 'rb').read(4), zero[:2])"#;
    assert_eq!(text(&python(&fence(), code)), "b'own' b'file' b'\\x00\\x00'\n");
    let output = bash("head -c 5 /dev/zero | wc -c; echo lost > /dev/null; echo x > /dev/zero || echo no");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "5\nno\n");
}

#[test]
fn where_a_wall_is_missing_it_is_refused_with_the_reason() {
    let folder = Folder::new("nested");
    let inner = folder.file("fenced", &fs::read(fenced()).unwrap());
    let mut outer = fence();
    outer.reads.push(folder.0.clone());
    let order = serde_json::to_string(&fence()).unwrap();
    // There are no namespaces inside a sandbox.
    let output = command(&outer, &[inner.to_str().unwrap(), &order, "/bin/echo", "ran"]).output().unwrap();
    let said = text(&output);
    assert!(!output.status.success() && !said.contains("ran"), "{said}");
    assert!(said.contains("cannot set up namespaces") || said.contains("the resource limit for memory"), "{said}");
}

/// Runs our other example, which sandboxes itself as far as possible and tries what must be refused.
fn partly(command: &mut Command) -> String {
    let fence = Fence { reads: Vec::new(), files: None, limits: Limits { memory: 1 << 30, ..fence().limits } };
    text(&command.arg(serde_json::to_string(&fence).unwrap()).output().unwrap())
}

#[test]
fn what_has_no_right_to_a_fence_gets_the_walls_that_there_are() {
    let program = fenced().with_file_name("partly");
    let expected = "missing: []\nreading: refused\nwriting: refused\nconnecting: refused\nstarting: refused\n";
    assert_eq!(partly(&mut Command::new(&program)), expected);
    // Inside another sandbox, without namespaces.
    let folder = Folder::new("partly");
    let inner = folder.file("partly", &fs::read(&program).unwrap());
    let mut outer = fence();
    outer.reads.push(folder.0.clone());
    let said = partly(&mut command(&outer, &[inner.to_str().unwrap()]));
    let (missing, tried) = said.split_once('\n').unwrap();
    assert!(missing.contains("Spaces") && missing.contains("Files"), "{said}");
    // The outer sandbox allows programs in `/bin`.
    assert_eq!(tried, "reading: refused\nwriting: refused\nconnecting: refused\nstarting: done\n");
}
