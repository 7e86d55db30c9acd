//! The JavaScript interpreter: a QuickJS runtime, and the event loop that passes answers and timers to it.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rquickjs::context::EvalOptions;
use rquickjs::{CatchResultExt as _, CaughtError, Context, Ctx, Function, Object, Persistent, Runtime, Value};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde_json::json;
use url::Url;

use super::hoist::hoist;
use crate::bounded::MAX_OUTPUT;
use crate::talk::{self, Done, MAX_ANSWER, Said, Told};

/// Memory limit of the interpreter, in bytes.
const MAX_MEMORY: usize = 128 << 20;
/// Memory in use after a call, in bytes, above which the interpreter is discarded with its variables.
const FULL: i64 = 96 << 20;
/// Time limit for promise jobs that are left after a call.
const LEFT_OVER: Duration = Duration::from_millis(50);
/// Stack limit in bytes.
const MAX_STACK: usize = 1 << 20;
/// Maximum length of a URL, in bytes.
const MAX_URL: usize = 64 << 10;
/// Name of the caller's code in stack traces.
const CODE: &str = "code.js";

/// Scripts of the runtime, in the order in which they are run.
const SCRIPTS: [&str; 6] = [
    include_str!("../../js/runtime.js"),
    include_str!("../../js/text.js"),
    include_str!("../../js/url.js"),
    include_str!("../../js/inspect.js"),
    include_str!("../../js/locator.js"),
    include_str!("../../js/page.js"),
];

/// Runs code from the socket until the socket is closed.
pub(crate) fn serve(host: &File) -> io::Result<()> {
    match run_all(host) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
        result => result,
    }
}

fn run_all(host: &File) -> io::Result<()> {
    let mut lines = Lines { host: host.try_clone()?, read: Vec::new() };
    let mut machine = None;
    loop {
        let Some(line) = lines.next(None)? else { continue };
        let Ok(Told::Run { code, ms, url }) = serde_json::from_slice(&line) else { continue };
        let deadline = Instant::now() + Duration::from_millis(ms);
        if machine.is_none() {
            machine = Some(Machine::new(host.try_clone()?).map_err(io::Error::other)?);
        }
        let Some(running) = &mut machine else { continue };
        if running.run(&mut lines, &code, &url, deadline)? {
            machine = None;
        }
    }
}

/// Interpreter with the entry points of its scripts. Fields are dropped in this order: functions before their context.
struct Machine {
    begin: Persistent<Function<'static>>,
    watch: Persistent<Function<'static>>,
    settle: Persistent<Function<'static>>,
    tick: Persistent<Function<'static>>,
    context: Context,
    runtime: Runtime,
    outside: Rc<Outside>,
}

/// State shared between the scripts and the event loop.
struct Outside {
    host: File,
    deadline: Cell<Instant>,
    /// Number of calls without an answer.
    open: Cell<u32>,
    /// Result of the code, once it has finished.
    done: RefCell<Option<Done>>,
    printed: Cell<usize>,
}

impl Machine {
    fn new(host: File) -> rquickjs::Result<Self> {
        let outside = Rc::new(Outside {
            host,
            deadline: Cell::new(Instant::now() + Duration::from_secs(5)),
            open: Cell::new(0),
            done: RefCell::new(None),
            printed: Cell::new(0),
        });
        let runtime = Runtime::new()?;
        runtime.set_memory_limit(MAX_MEMORY);
        runtime.set_max_stack_size(MAX_STACK);
        let clock = Rc::clone(&outside);
        runtime.set_interrupt_handler(Some(Box::new(move || Instant::now() > clock.deadline.get())));
        let context = Context::full(&runtime)?;
        let (begin, watch, settle, tick) = context.with(|ctx| {
            let parts = prepare(&ctx, &outside)?;
            let part = |name: &str| Ok::<_, rquickjs::Error>(Persistent::save(&ctx, parts.get::<_, Function>(name)?));
            Ok::<_, rquickjs::Error>((part("begin")?, part("watch")?, part("settle")?, part("tick")?))
        })?;
        Ok(Self { begin, watch, settle, tick, context, runtime, outside })
    }

    /// Runs code until it has finished or its time is over. Returns whether the interpreter must be discarded.
    fn run(&mut self, lines: &mut Lines, code: &str, url: &str, deadline: Instant) -> io::Result<bool> {
        self.outside.deadline.set(deadline);
        self.outside.printed.set(0);
        self.outside.open.set(0);
        let _ = self.outside.done.take();
        self.enter(|ctx| {
            self.begin.clone().restore(&ctx)?.call::<_, ()>((url, code))?;
            let promise = evaluate(&ctx, code);
            self.watch.clone().restore(&ctx)?.call::<_, ()>((promise.is_ok(), promise.unwrap_or_else(|thrown| thrown)))
        });
        let mut done = self.until_done(lines, deadline)?;
        done.lost = self.lost();
        let is_lost = done.lost.is_some();
        (&self.outside.host).write_all(&talk::line(&Said::Done(done)))?;
        Ok(is_lost)
    }

    /// Returns the reason why the interpreter must be discarded after a call, if any.
    fn lost(&self) -> Option<String> {
        // Jobs left by an interrupted call either finish quickly, or never.
        let soon = Instant::now() + LEFT_OVER;
        self.outside.deadline.set(soon);
        self.work_off(soon);
        if self.runtime.is_job_pending() {
            return Some("promise jobs did not end; the variables of this call and earlier ones are lost".to_owned());
        }
        self.runtime.run_gc();
        let is_full = self.runtime.memory_usage().malloc_size > FULL;
        is_full.then(|| "memory was full; the variables of this call and earlier ones are lost".to_owned())
    }

    /// Runs the event loop until the code and everything that it has started without awaiting have finished.
    fn until_done(&self, lines: &mut Lines, deadline: Instant) -> io::Result<Done> {
        loop {
            self.work_off(deadline);
            // Milliseconds until the next timer; 0 if one has just fired, negative if there is none.
            let next = self.enter(|ctx| self.tick.clone().restore(&ctx)?.call::<_, f64>(())).unwrap_or(-1.0);
            let left = deadline.saturating_duration_since(Instant::now());
            let is_idle = next < 0.0 && self.outside.open.get() == 0;
            let has_failed = self.outside.done.borrow().as_ref().is_some_and(|done| done.error.is_some());
            if left.is_zero() {
                // At the deadline an error comes from the interrupt. A value is kept, but something still runs after
                // it.
                let done = self.outside.done.take().unwrap_or_default();
                return Ok(Done { killed: true, error: None, stack: None, ..done });
            }
            if next == 0.0 || self.runtime.is_job_pending() {
                continue;
            }
            if has_failed || is_idle {
                let error = Some("Error: the code awaits a promise that can never settle".to_owned());
                return Ok(self.outside.done.take().unwrap_or(Done { error, ..Done::default() }));
            }
            let timer = if next > 0.0 { Duration::from_micros((next * 1000.0) as u64 + 1) } else { Duration::MAX };
            if let Some(line) = lines.next(Some(left.min(timer)))? {
                self.take(&line);
            }
        }
    }

    fn take(&self, line: &[u8]) {
        let Ok(text) = std::str::from_utf8(line) else { return };
        let settled = self.enter(|ctx| self.settle.clone().restore(&ctx)?.call::<_, bool>((text,)));
        // A late answer to a call of earlier code is ignored.
        if settled == Some(false) {
            return;
        }
        self.outside.open.set(self.outside.open.get().saturating_sub(1));
        if settled.is_none() {
            let error = Some("RangeError: out of memory for an answer of the page".to_owned());
            self.outside.done.borrow_mut().get_or_insert_with(|| Done { error, ..Done::default() });
        }
    }

    /// Runs pending promise jobs.
    fn work_off(&self, deadline: Instant) {
        while Instant::now() < deadline && self.runtime.is_job_pending() {
            // An exception in a job rejects its promise.
            let _ = self.runtime.execute_pending_job();
        }
    }

    /// Calls into the scripts. Exceptions there mean out of memory or out of time; both are noticed by the event loop.
    fn enter<T>(&self, work: impl FnOnce(Ctx<'_>) -> rquickjs::Result<T>) -> Option<T> {
        self.context.with(|ctx| {
            let result = work(ctx.clone());
            if result.is_err() {
                let _ = ctx.catch();
            }
            result.ok()
        })
    }
}

/// Runs the scripts of the runtime. Each is a function of `host`, on which it defines its entry points.
fn prepare<'js>(ctx: &Ctx<'js>, outside: &Rc<Outside>) -> rquickjs::Result<Object<'js>> {
    let host = Object::new(ctx.clone())?;
    let out = Rc::clone(outside);
    host.set("call", Function::new(ctx.clone(), move |line: String| out.call(&line))?)?;
    let out = Rc::clone(outside);
    host.set("print", Function::new(ctx.clone(), move |error: bool, text: String| out.print(error, text))?)?;
    let out = Rc::clone(outside);
    host.set("done", Function::new(ctx.clone(), move |line: String| out.end(&line))?)?;
    host.set(
        "url",
        Function::new(ctx.clone(), |text: String, base: Option<String>| parts_of_url(&text, base.as_deref()))?,
    )?;
    let begun = Instant::now();
    host.set("now", Function::new(ctx.clone(), move || begun.elapsed().as_secs_f64() * 1000.0)?)?;
    for script in SCRIPTS {
        let mut options = EvalOptions::default();
        options.filename = Some("machine".to_owned());
        let function: Function = ctx.eval_with_options(script, options)?;
        function.call::<_, Value>((host.clone(),))?;
    }
    Ok(host)
}

/// Returns the promise of the code's last value, or the exception thrown before there was one.
fn evaluate<'js>(ctx: &Ctx<'js>, code: &str) -> Result<Value<'js>, Value<'js>> {
    let run = |code: String| {
        let mut options = EvalOptions::default();
        (options.strict, options.promise) = (false, true);
        options.filename = Some(CODE.to_owned());
        ctx.eval_with_options::<Value, _>(code, options).catch(ctx).map_err(|error| match error {
            CaughtError::Exception(exception) => exception.into_object().into_value(),
            CaughtError::Value(value) => value,
            CaughtError::Error(_) => Value::new_undefined(ctx.clone()),
        })
    };
    let result = run(hoist(code));
    let is_return = |value: &Value| {
        let message = value.as_object().and_then(|error| error.get::<_, String>("message").ok());
        message.is_some_and(|message| message.contains("return not in a function"))
    };
    match result {
        // Top-level `return`: the code is run as a function body.
        Err(thrown) if is_return(&thrown) => run(format!("(async () => {{{code}\n}})()")),
        result => result,
    }
}

/// Returns the parts of a URL as JSON; `None` if it is invalid.
fn parts_of_url(text: &str, base: Option<&str>) -> Option<String> {
    if text.len() > MAX_URL || base.is_some_and(|base| base.len() > MAX_URL) {
        return None;
    }
    let url = match base {
        Some(base) => Url::parse(base).ok()?.join(text).ok()?,
        None => Url::parse(text).ok()?,
    };
    let port = url.port().map(|port| port.to_string()).unwrap_or_default();
    let hostname = url.host_str().unwrap_or_default();
    let host = if port.is_empty() { hostname.to_owned() } else { format!("{hostname}:{port}") };
    let with = |mark: &str, part: Option<&str>| {
        part.filter(|part| !part.is_empty()).map(|part| format!("{mark}{part}")).unwrap_or_default()
    };
    let parts = json!({
        "href": url.as_str(), "protocol": format!("{}:", url.scheme()), "username": url.username(),
        "password": url.password().unwrap_or_default(), "host": host, "hostname": hostname, "port": port,
        "pathname": url.path(), "search": with("?", url.query()), "hash": with("#", url.fragment()),
        "origin": url.origin().ascii_serialization(),
    });
    Some(parts.to_string())
}

impl Outside {
    fn call(&self, line: &str) {
        self.open.set(self.open.get() + 1);
        self.say(line.as_bytes());
    }

    fn say(&self, line: &[u8]) {
        // A closed socket is noticed by the reader.
        let _ = (&self.host).write_all(line).and_then(|()| (&self.host).write_all(b"\n"));
    }

    /// Sends printed text, up to one byte more than the host keeps, so that the host knows of the truncation.
    fn print(&self, error: bool, mut text: String) {
        let room = (MAX_OUTPUT + 1).saturating_sub(self.printed.get());
        if text.len() > room {
            text.truncate(text.floor_char_boundary(room));
        }
        self.printed.set(self.printed.get() + text.len());
        if !text.is_empty() {
            self.say(talk::line(&Said::Print { error, text }).trim_ascii_end());
        }
    }

    fn end(&self, line: &str) {
        if let Ok(mut done) = serde_json::from_str::<Done>(line) {
            // The host truncates the result; here only the length of the line is limited.
            done.result.truncate(done.result.floor_char_boundary(MAX_OUTPUT + 1));
            self.done.replace(Some(done));
        }
    }
}

/// Line reader for the socket.
struct Lines {
    host: File,
    read: Vec<u8>,
}

impl Lines {
    /// Returns the next line; `None` if none arrived in time.
    ///
    /// # Errors
    /// `UnexpectedEof` when the socket is closed.
    fn next(&mut self, within: Option<Duration>) -> io::Result<Option<Vec<u8>>> {
        let until = within.and_then(|within| Instant::now().checked_add(within));
        let mut searched = 0;
        loop {
            if let Some(end) = self.read[searched..].iter().position(|byte| *byte == b'\n') {
                let rest = self.read.split_off(searched + end + 1);
                let mut line = std::mem::replace(&mut self.read, rest);
                line.pop();
                return Ok(Some(line));
            }
            searched = self.read.len();
            if searched > MAX_ANSWER {
                return Err(io::ErrorKind::InvalidData.into());
            }
            if !self.is_ready(until)? {
                return Ok(None);
            }
            let mut part = [0; 16 << 10];
            match self.host.read(&mut part) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.read.extend_from_slice(&part[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits until the socket is readable or the time is over.
    fn is_ready(&self, until: Option<Instant>) -> io::Result<bool> {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left =
            left.map(|left| Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() });
        match poll(&mut [PollFd::new(&self.host, PollFlags::IN)], left.as_ref()) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
