//! Python and a shell: programs of the machine, behind the fence.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;

use browser::Hands;
use fence::{Fence, HOME, Limits, StartFile};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::{Duration, Instant, sleep_until, timeout};

use crate::bounded::{End, Output};
use crate::code::{Code, InteractError, Language, Ran};
use crate::host::{Ended, Talk};
use crate::memory;
use crate::start::{Interact, Process};
use crate::talk::{Done, Order, Program};

/// The folders that interpreters and the tools of a shell need. Settings of the machine are in none of them.
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
/// Status of what was ended at the end of its time, as `timeout(1)` has it.
const TIME_OVER: i32 = 124;
/// Status of what was ended before, as a shell tells it.
const KILLED: i32 = 137;
const TOO_MUCH: &str = "its processes took more than 1 GiB of memory together";
/// How long the last of what was printed may take to arrive once everything has ended.
const LAST: Duration = Duration::from_secs(1);

/// Runs code in a process of its own.
pub(crate) async fn run(
    interact: &Interact,
    hands: &Hands,
    code: &Code<'_>,
    deadline: Instant,
) -> Result<Ran, InteractError> {
    let language = code.language.name();
    let refused = |reason: String| InteractError::Refused { language, reason };
    let Some(program) = program(code.language) else {
        return Err(refused("the machine does not have it".to_owned()));
    };
    if interact.settings.program.is_none() {
        return Err(refused("this program cannot start itself again".to_owned()));
    }
    let order = Order { fence: fence(code), program: Some(program), parent: std::process::id() };
    let (mut process, socket) = Process::start(interact, &order, true).await?;
    let output = Arc::new(Mutex::new(Output::default()));
    let (stdout, stderr) = (process.child.stdout.take(), process.child.stderr.take());
    let printing = tokio::spawn(print(stdout, false, Arc::clone(&output)));
    let complaining = tokio::spawn(print(stderr, true, Arc::clone(&output)));
    let lived = live(&mut process, Talk::over(socket)?, hands, (&*output, deadline)).await;
    // Whatever it has left behind goes with it, and so the texts have an end.
    process.end();
    let both = async { (printing.await, complaining.await) };
    let _ = timeout(LAST, both).await;
    let lived = lived?;
    if let Some(Stop::Unfenced(reason)) = lived.stop {
        return Err(refused(reason));
    }
    Ok(lived.told(&mut output.lock()))
}

/// How a program lived.
#[derive(Default)]
struct Lived {
    done: Option<Done>,
    /// None when it was stopped.
    status: Option<i32>,
    stop: Option<Stop>,
}

/// Why a program was stopped before its time was over.
enum Stop {
    Unfenced(String),
    Memory,
}

async fn live(
    process: &mut Process,
    talk: Talk,
    hands: &Hands,
    (output, deadline): (&Mutex<Output>, Instant),
) -> Result<Lived, InteractError> {
    let mut lived = Lived::default();
    let mut talk = Some(talk);
    let mut too_much = pin!(memory::too_much(process.group()));
    loop {
        let serving = async {
            match &mut talk {
                Some(talk) => talk.serve(hands, output, deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // What it has said counts before its end.
            biased;
            ended = serving => match ended {
                Ended::Done(done) => lived.done = Some(done),
                Ended::Unfenced(reason) => return Ok(Lived { stop: Some(Stop::Unfenced(reason)), ..lived }),
                Ended::TimeOver => return Ok(lived),
                Ended::Gone => return Err(InteractError::Gone),
                // Closed here too, so that it need not wait for answers.
                Ended::Closed => talk = None,
            },
            status = process.child.wait() => return Ok(Lived { status: Some(code_of(status?)), ..lived }),
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
                (status, false, Some(done.error.unwrap_or_else(|| format!("it ended with status {status}"))))
            }
            (None, Some(_)) => (KILLED, false, Some(TOO_MUCH.to_owned())),
            (None, None) => (TIME_OVER, true, Some("the time for the call is over".to_owned())),
        };
        output.told(End { result: done.result, error, exit_code, killed })
    }
}

/// As a shell counts: a signal is 128 and its number.
fn code_of(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

/// Reads all that is printed, and keeps what there is room for.
async fn print(from: Option<impl AsyncRead + Unpin>, is_error: bool, output: Arc<Mutex<Output>>) {
    let Some(mut from) = from else { return };
    let mut part = vec![0; 16 << 10];
    while let Ok(length @ 1..) = from.read(&mut part).await {
        output.lock().print(is_error, &part[..length]);
    }
}

/// The interpreter of a language on this machine, where it has one; JavaScript needs none.
#[must_use]
pub fn interpreter(language: Language) -> Option<PathBuf> {
    program(language).map(|program| program.path)
}

/// The program of a language; none where the machine does not have it.
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
    Some(Program { path, args: args.iter().map(|arg| owned(arg)).collect(), env })
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
