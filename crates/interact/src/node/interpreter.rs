//! The interpreter itself: one runtime of QuickJS, and the loop that feeds it with answers and the time.

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

/// Most memory of all variables together, in bytes.
const MAX_MEMORY: usize = 128 << 20;
/// Beyond this, what earlier calls have left there is thrown away.
const FULL: i64 = 96 << 20;
/// How long promises may take that are left after a call.
const LEFT_OVER: Duration = Duration::from_millis(50);
/// Depth of calls, as bytes of the stack.
const MAX_STACK: usize = 1 << 20;
/// Longest text that is taken for a URL, in bytes.
const MAX_URL: usize = 64 << 10;
/// Name of the caller's code in stacks.
const CODE: &str = "code.js";

/// What the machine of the scripts is made of, in order.
const SCRIPTS: [&str; 6] = [
    include_str!("../../js/runtime.js"),
    include_str!("../../js/text.js"),
    include_str!("../../js/url.js"),
    include_str!("../../js/inspect.js"),
    include_str!("../../js/locator.js"),
    include_str!("../../js/page.js"),
];

/// Runs code that comes over the socket until the socket is closed.
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

/// Functions of the scripts, and what they live in. The order is that in which they are given up.
struct Machine {
    begin: Persistent<Function<'static>>,
    watch: Persistent<Function<'static>>,
    settle: Persistent<Function<'static>>,
    tick: Persistent<Function<'static>>,
    context: Context,
    runtime: Runtime,
    outside: Rc<Outside>,
}

/// What the scripts share with the loop.
struct Outside {
    host: File,
    deadline: Cell<Instant>,
    /// Calls whose answers are still to come.
    open: Cell<u32>,
    /// How the code ended, once it has.
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

    /// Runs code until it is through or its time is over. Whether the machine is of no more use.
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

    /// Why the machine is of no more use after a call.
    fn lost(&self) -> Option<String> {
        // What an end by force has left is done quickly, or never ends.
        let soon = Instant::now() + LEFT_OVER;
        self.outside.deadline.set(soon);
        self.work_off(soon);
        if self.runtime.is_job_pending() {
            return Some(
                "promises without end were left: the variables of this call and earlier ones are gone".to_owned(),
            );
        }
        self.runtime.run_gc();
        let is_full = self.runtime.memory_usage().malloc_size > FULL;
        is_full.then(|| "memory was full: the variables of this call and earlier ones are gone".to_owned())
    }

    /// Lets things happen until the code is through, and until what it has begun and not waited for has ended as well.
    fn until_done(&self, lines: &mut Lines, deadline: Instant) -> io::Result<Done> {
        loop {
            self.work_off(deadline);
            // Milliseconds until a timer is due; 0 when one has just rung, and less when there is none.
            let next = self.enter(|ctx| self.tick.clone().restore(&ctx)?.call::<_, f64>(())).unwrap_or(-1.0);
            let left = deadline.saturating_duration_since(Instant::now());
            let is_idle = next < 0.0 && self.outside.open.get() == 0;
            let has_failed = self.outside.done.borrow().as_ref().is_some_and(|done| done.error.is_some());
            if left.is_zero() {
                // An error at this moment is the end by force. A value stands, but something goes on after it.
                let done = self.outside.done.take().unwrap_or_default();
                return Ok(Done { killed: true, error: None, stack: None, ..done });
            }
            if next == 0.0 || self.runtime.is_job_pending() {
                continue;
            }
            if has_failed || is_idle {
                let error = Some("Error: the code waits for something that never comes".to_owned());
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
        // An answer to a call of earlier code, which came too late for it, is nobody's.
        if settled == Some(false) {
            return;
        }
        self.outside.open.set(self.outside.open.get().saturating_sub(1));
        if settled.is_none() {
            let error = Some("RangeError: there is not enough memory for an answer of the page".to_owned());
            self.outside.done.borrow_mut().get_or_insert_with(|| Done { error, ..Done::default() });
        }
    }

    /// Carries out what promises have left to do.
    fn work_off(&self, deadline: Instant) {
        while Instant::now() < deadline && self.runtime.is_job_pending() {
            // What a job throws belongs to its promise.
            let _ = self.runtime.execute_pending_job();
        }
    }

    /// Calls into the scripts. What they throw there is the end of memory, or of time: both show themselves afterwards.
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

/// Runs the scripts of the machine, which are functions of what they need, and returns what the last one makes.
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

/// The promise of the code's last value, or what was thrown before there was one.
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
        // Some write the body of a function.
        Err(thrown) if is_return(&thrown) => run(format!("(async () => {{{code}\n}})()")),
        result => result,
    }
}

/// What `URL` needs to know; `undefined` for what is none.
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
        // A host that is gone is noticed by who reads.
        let _ = (&self.host).write_all(line).and_then(|()| (&self.host).write_all(b"\n"));
    }

    /// Beyond what the host keeps, only the fact counts.
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
            // The host cuts it; here it only must not become too long a line.
            done.result.truncate(done.result.floor_char_boundary(MAX_OUTPUT + 1));
            self.done.replace(Some(done));
        }
    }
}

/// Lines of the socket.
struct Lines {
    host: File,
    read: Vec<u8>,
}

impl Lines {
    /// The next line; none when none came in time.
    ///
    /// # Errors
    /// `UnexpectedEof` when there never will be one again.
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

    /// Waits until there is something to read, or the time is over.
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
