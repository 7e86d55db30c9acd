//! JavaScript in an embedded interpreter.

mod hoist;
mod interpreter;

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::thread;

use browser::Hands;
use children::{Child, Launcher, Order};
use fence::{Fence, Limits};
use parking_lot::Mutex;
use tokio::time::{Duration, Instant};

use crate::bounded::{End, Output};
use crate::code::{InteractError, ROLE, Ran};
use crate::host::{Ended, Talk};
use crate::talk::{self, Done, Told};

pub(crate) use interpreter::serve;

/// Time that the interpreter has to report a timeout, before it is killed.
const GRACE: Duration = Duration::from_millis(500);
/// Stack size of the interpreter's thread, where it has no process; its own stack limit is far below.
const STACK: usize = 4 << 20;

/// Running interpreter of a session.
pub(crate) struct Interpreter {
    talk: Talk,
    /// Child process; `None` if it is a thread, which ends when its socket is closed.
    _child: Option<Child>,
}

impl Interpreter {
    async fn start(launcher: Option<&Launcher>) -> io::Result<Self> {
        if let Some(launcher) = launcher {
            let order = Order { fence: fence(), program: None, parent: std::process::id() };
            let (child, socket) = launcher.start(ROLE, &order, false).await?;
            return Ok(Self { talk: Talk::over(socket)?, _child: Some(child) });
        }
        let (ours, theirs) = UnixStream::pair()?;
        let work = move || {
            // The thread ends when the socket is closed.
            let _ = serve(&File::from(OwnedFd::from(theirs)));
        };
        thread::Builder::new().name("interpreter".to_owned()).stack_size(STACK).spawn(work)?;
        Ok(Self { talk: Talk::over(ours)?, _child: None })
    }
}

/// Returns the sandbox of the interpreter, which needs no access to the system.
fn fence() -> Fence {
    let limits = Limits { memory: 1 << 30, cpu_s: 3600, processes: 4, open_files: 32, room: 0 };
    Fence { reads: Vec::new(), files: None, limits }
}

/// Runs code in the interpreter of the session, which is `kept` with its variables for the next call.
pub(crate) async fn run(
    launcher: Option<&Launcher>,
    hands: &Hands,
    code: &str,
    deadline: Instant,
    kept: &mut Option<Interpreter>,
) -> Result<Ran, InteractError> {
    // Taken out first, so that it is dropped if this future is; put back only if it can be used again.
    let mut interpreter = match kept.take() {
        Some(interpreter) => interpreter,
        None => Interpreter::start(launcher).await?,
    };
    let ms = deadline.saturating_duration_since(Instant::now()).as_millis().try_into().unwrap_or(u64::MAX);
    interpreter.talk.listen_anew();
    let order = Told::Run { code: code.to_owned(), ms, url: hands.url() };
    let output = Mutex::new(Output::default());
    let ended = match interpreter.talk.send(talk::line(&order)) {
        true => interpreter.talk.serve(hands, &output, deadline + GRACE).await,
        false => Ended::Closed,
    };
    let mut output = output.into_inner();
    let lost = "the interpreter was restarted; the variables of earlier calls are lost";
    let done = match ended {
        Ended::Done(done) => {
            *kept = Some(interpreter);
            done
        }
        Ended::TimeOver => Done { killed: true, lost: Some(lost.to_owned()), ..Done::default() },
        Ended::Gone => return Err(InteractError::Gone),
        Ended::Closed | Ended::Unfenced(_) => {
            let error = Some("Error: the interpreter ended unexpectedly".to_owned());
            Done { error, lost: Some(lost.to_owned()), ..Done::default() }
        }
    };
    Ok(finish(done, &mut output))
}

fn finish(done: Done, output: &mut Output) -> Ran {
    let error = if done.killed { Some("the call timed out".to_owned()) } else { done.error };
    let said = [done.stack.as_ref().or(error.as_ref()), done.lost.as_ref()];
    for line in said.into_iter().flatten() {
        output.print(true, line.as_bytes());
        output.print(true, b"\n");
    }
    let exit_code = match (done.killed, &error) {
        (true, _) => 124,
        (false, Some(_)) => 1,
        (false, None) => 0,
    };
    output.told(End { result: done.result, error, exit_code, killed: done.killed })
}
