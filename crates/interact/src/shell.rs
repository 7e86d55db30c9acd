//! Python and Bash in a sandbox.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;

use browser::Hands;
use children::{Child, Launcher, Order, Program};
use fence::{Fence, HOME, Limits, StartFile};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::{Duration, Instant, sleep_until, timeout};

use crate::bounded::{End, Output};
use crate::code::{Code, InteractError, Language, ROLE, Ran};
use crate::host::{Ended, Talk};
use crate::memory;
use crate::talk::Done;

/// Folders that interpreters and shell tools need. None contains system settings or secrets.
const READS: &[&str] = &[
    "/bin",
    "/lib",
    "/lib64",
    "/usr/bin",
    "/usr/lib",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/share/zoneinfo",
    "/usr/share/locale",
    "/usr/share/awk",
    "/usr/share/perl",
    "/usr/share/perl5",
    "/usr/local/bin",
    "/usr/local/lib",
    "/etc/ld.so.cache",
    "/etc/alternatives",
];
/// Exit code after a timeout, as in `timeout(1)`.
const TIME_OVER: i32 = 124;
/// Exit code after a kill for another reason, as in a shell.
const KILLED: i32 = 137;
const TOO_MUCH: &str = "its processes together exceeded the memory limit of 1 GiB";
/// Time limit for the rest of the output to arrive after all processes have ended.
const LAST: Duration = Duration::from_secs(1);

/// Runs code in a child process.
pub(crate) async fn run(
    launcher: Option<&Launcher>,
    hands: &Hands,
    code: &Code<'_>,
    deadline: Instant,
) -> Result<Ran, InteractError> {
    let language = code.language.name();
    let refused = |reason: String| InteractError::Refused { language, reason };
    let Some(program) = program(code.language) else {
        return Err(refused("it is not installed on this machine".to_owned()));
    };
    let Some(launcher) = launcher else {
        return Err(refused("this program cannot start itself as a child process".to_owned()));
    };
    let order = Order { fence: fence(code), program: Some(program), parent: std::process::id() };
    let (mut child, socket) = launcher.start(ROLE, &order, true).await?;
    let output = Arc::new(Mutex::new(Output::default()));
    let (stdout, stderr) = (child.process.stdout.take(), child.process.stderr.take());
    let printing = tokio::spawn(print(stdout, false, Arc::clone(&output)));
    let complaining = tokio::spawn(print(stderr, true, Arc::clone(&output)));
    let lived = live(&mut child, Talk::over(socket)?, hands, &output, deadline).await;
    // Kills leftover background processes too, which closes the pipes, so that the readers end.
    child.group().kill();
    let both = async { (printing.await, complaining.await) };
    let _ = timeout(LAST, both).await;
    let lived = lived?;
    if let Some(Stop::Unfenced(reason)) = lived.stop {
        return Err(refused(reason));
    }
    Ok(lived.told(&mut output.lock()))
}

/// End of a program.
#[derive(Default)]
struct Lived {
    done: Option<Done>,
    /// Exit code; `None` if it was stopped.
    status: Option<i32>,
    stop: Option<Stop>,
}

/// Reason why a program was stopped before its timeout.
enum Stop {
    Unfenced(String),
    Memory,
}

async fn live(
    child: &mut Child,
    talk: Talk,
    hands: &Hands,
    output: &Mutex<Output>,
    deadline: Instant,
) -> Result<Lived, InteractError> {
    let mut lived = Lived::default();
    let mut talk = Some(talk);
    let mut too_much = pin!(memory::too_much(child.group()));
    loop {
        let serving = async {
            match &mut talk {
                Some(talk) => talk.serve(hands, output, deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // `biased`: messages that the program has sent are read before its exit is noticed.
            biased;
            ended = serving => match ended {
                Ended::Done(done) => lived.done = Some(done),
                Ended::Unfenced(reason) => return Ok(Lived { stop: Some(Stop::Unfenced(reason)), ..lived }),
                Ended::TimeOver => return Ok(lived),
                Ended::Gone => return Err(InteractError::Gone),
                // Closed on this side too, so that the program does not wait for answers.
                Ended::Closed => talk = None,
            },
            status = child.process.wait() => return Ok(Lived { status: Some(code_of(status?)), ..lived }),
            () = &mut too_much => return Ok(Lived { stop: Some(Stop::Memory), ..lived }),
            () = sleep_until(deadline) => return Ok(lived),
        }
    }
}

impl Lived {
    fn told(self, output: &mut Output) -> Ran {
        let done = self.done.unwrap_or_default();
        let (exit_code, killed, error) = match (self.status, self.stop) {
            (Some(0), _) => (0, false, done.error),
            (Some(status), _) => {
                (status, false, Some(done.error.unwrap_or_else(|| format!("it exited with status {status}"))))
            }
            (None, Some(_)) => (KILLED, false, Some(TOO_MUCH.to_owned())),
            (None, None) => (TIME_OVER, true, Some("the call timed out".to_owned())),
        };
        output.told(End { result: done.result, error, exit_code, killed })
    }
}

/// Converts a status like a shell: 128 plus the signal number.
fn code_of(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

/// Reads all output, and keeps what fits in the limit.
async fn print(from: Option<impl AsyncRead + Unpin>, is_error: bool, output: Arc<Mutex<Output>>) {
    let Some(mut from) = from else { return };
    let mut part = vec![0; 16 << 10];
    while let Ok(length @ 1..) = from.read(&mut part).await {
        output.lock().print(is_error, &part[..length]);
    }
}

/// Returns the interpreter of a language on this machine, if it is installed; JavaScript needs none.
#[must_use]
pub fn interpreter(language: Language) -> Option<PathBuf> {
    program(language).map(|program| program.path)
}

/// Returns the program of a language, if it is installed.
fn program(language: Language) -> Option<Program> {
    let first = |paths: &[&str]| paths.iter().map(PathBuf::from).find(|path| path.exists());
    let (path, args): (PathBuf, &[&str]) = match language {
        Language::Bash => {
            (first(&["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"])?, &["--noprofile", "--norc", "code"])
        }
        Language::Python => {
            let start = "import sys; sys.path.insert(0, 'lib'); import browser; browser._run('code.py')";
            (first(&["/usr/bin/python3", "/usr/local/bin/python3"])?, &["-I", "-B", "-c", start])
        }
        Language::Node => return None,
    };
    let path_list = format!("{HOME}/bin:/usr/local/bin:/usr/bin:/bin");
    let env = [
        ("PATH", path_list.as_str()),
        ("HOME", HOME),
        ("TMPDIR", HOME),
        ("LANG", "C.UTF-8"),
        ("PYTHONUNBUFFERED", "1"),
    ];
    let owned = |text: &str| text.to_owned();
    let env = env.into_iter().map(|(name, value)| (owned(name), owned(value))).collect();
    Some(Program { path, args: args.iter().map(|arg| owned(arg)).collect(), env, socket: "BROWSER_FD".to_owned() })
}

fn fence(code: &Code<'_>) -> Fence {
    let file = |path: &str, text: &str| StartFile { path: Path::new(path).to_owned(), text: text.to_owned() };
    let files = match code.language {
        Language::Python => vec![file("code.py", code.text), file("lib/browser.py", include_str!("../py/browser.py"))],
        _ => vec![
            file("code", code.text),
            file("bin/agent-browser", include_str!("../sh/agent-browser")),
            file("bin/timeout", include_str!("../sh/timeout")),
        ],
    };
    let limits =
        Limits { memory: 512 << 20, cpu_s: code.timeout.as_secs() + 1, processes: 32, open_files: 64, room: 64 << 20 };
    Fence { reads: READS.iter().map(PathBuf::from).collect(), files: Some(files), limits }
}
