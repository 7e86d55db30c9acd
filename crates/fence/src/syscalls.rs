//! Seccomp: allow-list of system calls. Calls that are not listed fail with `ENOSYS`.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

use crate::FenceError;

/// Refused flags of `clone`: those that create namespaces, and `CLONE_PARENT`, which would make the child one of our
/// own parent, who would never reap it.
const REFUSED_FLAGS: u64 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_PARENT) as u64;

/// Address family of local sockets.
const UNIX: u64 = libc::AF_UNIX as u64;

/// Refused requests of `ioctl`: `TIOCSTI` and `TIOCLINUX`, which inject input into the terminal, and `FIOSETOWN` and
/// `SIOCSPGRP`, which choose the process that is signalled when a file becomes readable.
const CONTROLS: [u64; 4] = [0x5412, 0x541C, 0x8901, 0x8902];

/// Refused commands of `fcntl`: those that choose which process the kernel signals about a file, and with which signal.
/// The kernel checks no permission for them unless Landlock confines signals. 10 and 15 are `F_SETSIG` and
/// `F_SETOWN_EX`.
const SIGNALLING: [u64; 4] = [libc::F_SETOWN as u64, 10, 15, libc::F_NOTIFY as u64];

/// Refused flags of `mmap`: shared anonymous memory. It lives as long as one page of it is mapped and is charged to no
/// process, so no limit would apply.
const SHARED_MEMORY: u64 = (libc::MAP_SHARED | libc::MAP_ANONYMOUS) as u64;

/// File access: open files, and opening where Landlock allows it.
const FILES: &[c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_lseek,
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_pipe2,
    libc::SYS_flock,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_readlinkat,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_getdents64,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_fadvise64,
    libc::SYS_copy_file_range,
    libc::SYS_sendfile,
    libc::SYS_getcwd,
    libc::SYS_chdir,
    libc::SYS_fchdir,
    libc::SYS_umask,
];

/// Memory, threads, child processes, and waiting.
const PROCESS: &[c_long] = &[
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_msync,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_membarrier,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_getcpu,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_sigpending,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_execve,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_eventfd2,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_setitimer,
    libc::SYS_getitimer,
    // A program can only restrict itself further with this.
    libc::SYS_seccomp,
];

/// Queries about the process itself and the time.
const QUESTIONS: &[c_long] = &[
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_getgroups,
    libc::SYS_getpgid,
    libc::SYS_getsid,
    libc::SYS_getpriority,
    libc::SYS_getrusage,
    libc::SYS_getrandom,
    libc::SYS_times,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
];

/// Older variants of the calls above, which exist on x86-64 only.
#[cfg(target_arch = "x86_64")]
const OLDER: &[c_long] = &[
    libc::SYS_open,
    libc::SYS_creat,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_getdents,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_pipe,
    libc::SYS_dup2,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_getpgrp,
    libc::SYS_getrlimit,
    libc::SYS_setrlimit,
    libc::SYS_arch_prctl,
    libc::SYS_alarm,
    libc::SYS_pause,
    libc::SYS_time,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[c_long] = &[];

/// Signals. Allowed only if Landlock confines them to the sandbox.
const SIGNALS: &[c_long] = &[libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill];

/// Calls that real programs try, refused with `EPERM` instead of `ENOSYS`. A session or process group of its own would
/// keep a process from the signal that ends the whole group.
const FORBIDDEN: &[c_long] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_sendmsg,
    libc::SYS_bind,
    libc::SYS_ptrace,
    libc::SYS_mount,
    libc::SYS_unshare,
    libc::SYS_setsid,
    libc::SYS_setpgid,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
];

/// Calls that execute other programs or fork.
#[cfg(target_arch = "x86_64")]
const PROGRAMS: &[c_long] = &[libc::SYS_execve, libc::SYS_execveat, libc::SYS_fork, libc::SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
const PROGRAMS: &[c_long] = &[libc::SYS_execve, libc::SYS_execveat];

/// Filters the system calls of this process and its descendants.
pub(crate) fn wall(signals_stay_inside: bool) -> Result<(), FenceError> {
    let failed = |error: &dyn std::fmt::Display| FenceError::Calls(error.to_string());
    let allowed = allowed(signals_stay_inside).map_err(|error| failed(&error))?;
    let missing = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let allowed = filter(allowed, missing, SeccompAction::Allow).map_err(|error| failed(&error))?;
    let mut named: BTreeMap<c_long, Vec<SeccompRule>> = FORBIDDEN.iter().map(|call| (*call, Vec::new())).collect();
    if !signals_stay_inside {
        named.extend(SIGNALS.iter().map(|call| (*call, Vec::new())));
    }
    named.insert(libc::SYS_mmap, vec![shares_memory().map_err(|error| failed(&error))?]);
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let forbidden = filter(named, SeccompAction::Allow, refused).map_err(|error| failed(&error))?;
    // If both filters refuse a call, the error of the one that was applied last is returned: `EPERM` here.
    apply_filter(&allowed).map_err(|error| failed(&error))?;
    apply_filter(&forbidden).map_err(|error| failed(&error))
}

/// Lets this process start threads, but no other processes.
pub(crate) fn no_programs() -> Result<(), FenceError> {
    let failed = |error: &dyn std::fmt::Display| FenceError::Calls(error.to_string());
    let thread = libc::CLONE_THREAD as u64;
    let no_thread = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(thread), 0);
    let no_thread =
        no_thread.and_then(|condition| SeccompRule::new(vec![condition])).map_err(|error| failed(&error))?;
    let mut calls: BTreeMap<c_long, Vec<SeccompRule>> = PROGRAMS.iter().map(|call| (*call, Vec::new())).collect();
    calls.insert(libc::SYS_clone, vec![no_thread]);
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    apply_filter(&filter(calls, SeccompAction::Allow, refused).map_err(|error| failed(&error))?)
        .map_err(|error| failed(&error))
}

fn filter(
    calls: BTreeMap<c_long, Vec<SeccompRule>>,
    others: SeccompAction,
    these: SeccompAction,
) -> Result<BpfProgram, BackendError> {
    SeccompFilter::new(calls, others, these, std::env::consts::ARCH.try_into()?)?.try_into()
}

fn allowed(signals_stay_inside: bool) -> Result<BTreeMap<c_long, Vec<SeccompRule>>, BackendError> {
    let always = [FILES, PROCESS, QUESTIONS, OLDER];
    let mut calls: BTreeMap<_, _> = always.into_iter().flatten().map(|call| (*call, Vec::new())).collect();
    if signals_stay_inside {
        calls.extend(SIGNALS.iter().map(|call| (*call, Vec::new())));
    }
    // A filter cannot read the flags of `clone3`, so that call is left out; libc then falls back to `clone`.
    let none_refused = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(REFUSED_FLAGS), 0)?;
    calls.insert(libc::SYS_clone, vec![SeccompRule::new(vec![none_refused])?]);
    // Socket pairs, which event loops need. Sending to an address is refused: a pair can only reach itself.
    let unix = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, UNIX)?;
    calls.insert(libc::SYS_socketpair, vec![SeccompRule::new(vec![unix])?]);
    let nowhere = SeccompCondition::new(4, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)?;
    calls.insert(libc::SYS_sendto, vec![SeccompRule::new(vec![nowhere])?]);
    calls.insert(libc::SYS_recvfrom, Vec::new());
    // Only for the calling process (pid 0), not for another one.
    let itself = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, 0)?;
    calls.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![itself])?]);
    // Only for open files (no path): Landlock does not check this call, so a path could name any file of the user.
    let open_file = SeccompCondition::new(1, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)?;
    calls.insert(libc::SYS_utimensat, vec![SeccompRule::new(vec![open_file])?]);
    calls.insert(libc::SYS_ioctl, vec![none_of(1, &CONTROLS)?]);
    calls.insert(libc::SYS_fcntl, vec![none_of(1, &SIGNALLING)?]);
    // The parent-death signal stays as the parent has set it.
    calls.insert(libc::SYS_prctl, vec![none_of(0, &[libc::PR_SET_PDEATHSIG as u64])?]);
    Ok(calls)
}

/// Matches a call of `mmap` for shared anonymous memory.
fn shares_memory() -> Result<SeccompRule, BackendError> {
    let flags = SeccompCmpOp::MaskedEq(SHARED_MEMORY);
    SeccompRule::new(vec![SeccompCondition::new(3, SeccompCmpArgLen::Dword, flags, SHARED_MEMORY)?])
}

/// Matches if a 32-bit argument is none of the values.
fn none_of(argument: u8, values: &[u64]) -> Result<SeccompRule, BackendError> {
    let differs = |value: &u64| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, *value);
    SeccompRule::new(values.iter().map(differs).collect::<Result<_, _>>()?)
}
