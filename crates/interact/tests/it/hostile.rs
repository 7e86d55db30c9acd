//! Malicious code: it loops, exhausts resources, and tries to escape.

use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use interact::Language::{self, Bash, Node, Python};
use interact::{Interact, Settings, Work};

use crate::world::{NOBODY, World};

/// Runs code, and checks that it ends before or soon after its timeout and leaves page and runner intact.
async fn ends(world: &World, language: Language, code: &str) -> interact::Ran {
    let began = Instant::now();
    let ran = world.try_run(language, code, Duration::from_millis(1500)).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(5), "{code}: {:?}", began.elapsed());
    assert!(ran.stdout.len() + ran.stderr.len() + ran.result.len() <= 1 << 20, "{code}");
    ran
}

#[tokio::test]
async fn nothing_in_the_interpreter_leads_to_the_host() {
    let world = World::start().await;
    let names = "['std', 'os', 'bjson', 'scriptArgs', 'print', 'require', 'module', 'process', 'Deno', 'Bun', 'load', 'loadScript', 'read', 'WebAssembly', 'Worker', 'fetch', 'XMLHttpRequest', 'WebSocket', '__loadScript', 'gc', 'navigator'].filter((name) => name in globalThis)";
    assert_eq!(world.node(names).await, "[]");
    // Every way to create a function stays in the same context.
    for way in [
        "page.goto.constructor('return this')()",
        "(async () => {}).constructor('return this')()",
        "(0, eval)('this')",
        "new Function('return globalThis')()",
        "console.log.constructor.constructor('return this')()",
        "(() => { try { null.x } catch (error) { return error.constructor.constructor('return this')() } })()",
    ] {
        let code = format!("let other = await ({way}); [other === globalThis, typeof other.process, typeof other.std]");
        assert_eq!(world.node(&code).await, r#"[true,"undefined","undefined"]"#, "{way}");
    }
    for module in ["os", "std", "qjs:std", "fs", "/etc/passwd", "file:///etc/passwd", "./code.js", "http://shop.test/"]
    {
        let ran = world.run(Node, &format!("await import('{module}')")).await;
        assert!(ran.exit_code == 1 && !ran.stdout.contains("root:"), "{module}: {}", ran.stderr);
    }
    // The code can reach only data and functions made for it, and none of the host's.
    let seen = "const seen = new Set(); const walk = (value) => { if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
        seen.add(value); for (const key of Reflect.ownKeys(value)) { try { walk(value[key]) } catch {} } walk(Object.getPrototypeOf(value)) };
        walk(page); walk(context); walk(console); walk(URL); [...seen].some((value) => typeof value.settle === 'function' || typeof value.done === 'function')";
    assert_eq!(world.node(seen).await, "false");
}

#[tokio::test]
async fn code_that_spoils_its_world_spoils_its_own() {
    let world = World::start().await;
    for code in [
        "JSON.stringify = () => 'x\\n{\"fenced\":{\"Err\":\"no\"}}'; await page.title()",
        "Object.prototype.toJSON = () => { throw 1 }; ({})",
        "Object.defineProperty(Object.prototype, 'then', { get() { throw new Error('no') }, configurable: true }); ({})",
        "Promise.prototype.then = null; await page.title()",
        "Array.prototype.map = Map.prototype.get = String.prototype.includes = null; console.log([1]); throw new Error('x')",
        "Object.defineProperty(Error.prototype, 'name', { get() { for (;;); } }); throw new Error('x')",
        "throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })",
        "({ then() { for (;;); } })",
        "({ toJSON() { for (;;); } })",
        "new Proxy([], { get() { for (;;); } })",
        "console.log({ get a() { return 1 }, [Symbol.toStringTag]: { toString: null } })",
        "delete globalThis.page; globalThis.console = null; Object.freeze(globalThis)",
    ] {
        ends(&world, Node, code).await;
        // The next session has a new interpreter.
        *world.work.lock().await = Work::default();
        assert_eq!(world.node("await page.title()").await, "Shop", "{code}");
    }
    assert_eq!(world.node("['\\ud800', '\\udfff'].join('x')").await, "\u{fffd}x\u{fffd}");
    assert_eq!(world.node("await page.evaluate((text) => text.length, '\\ud800')").await, "1");
}

#[tokio::test]
async fn memory_without_end_is_refused_in_every_shape() {
    let world = World::start().await;
    for code in [
        "let text = 'x'; for (;;) text += text",
        "const all = new Map(); for (let i = 0; ; i += 1) all.set(i, {})",
        "new ArrayBuffer(1e12)",
        "const all = []; for (;;) all.push(new Uint8Array(1 << 20))",
        "const all = []; for (;;) { try { all.push('y'.repeat(1 << 20) + all.length) } catch {} }",
        "const grow = () => Promise.all([grow(), grow()]); grow()",
        "for (;;) setTimeout(() => {}, 1e6)",
        "new Array(2 ** 31).fill(0)",
        "'x'.repeat(2 ** 28).split('')",
        "for (;;) page.title()",
        "console.log('z'.repeat(6e7))",
        "new URL('http://a/' + 'b'.repeat(9e7))",
        "await page.evaluate(() => 'x'.repeat(4e7))",
        "await page.evaluate((text) => text.length, 'x'.repeat(5e6))",
        "await Promise.all(Array.from({ length: 6 }, () => page.evaluate(() => 'x'.repeat(1e7))))",
    ] {
        let ran = ends(&world, Node, code).await;
        assert!(ran.exit_code != 0 || ran.truncated, "{code}: {}", ran.result.len());
        assert_eq!(world.node("await page.title()").await, "Shop", "{code}");
    }
    // Calls are cancelled when the code ends, and so are their promises.
    ends(&world, Node, "(async () => { for (;;) await page.title() })(); 1").await;
    // Any number of concurrent calls is queued.
    let many = "(await Promise.all(Array.from({ length: 100 }, (_, at) => page.evaluate((x) => x * 2, at)))).at(-1)";
    assert_eq!(world.node(many).await, "198");
}

#[tokio::test]
async fn promises_without_end_are_given_up() {
    let world = World::start().await;
    for code in [
        "(function again() { Promise.resolve().then(again) })(); 1",
        "const again = () => queueMicrotask(again); again(); 1",
        "(async () => { for (;;) await null })(); 1",
        "setInterval(() => { for (;;); }, 1); await new Promise(() => {})",
        "async function* all() { for (;;) yield 1 } for await (const one of all());",
    ] {
        let ran = ends(&world, Node, code).await;
        assert!(ran.killed && ran.exit_code == 124, "{code}: {:?} {}", ran.error, ran.result);
        assert_eq!(world.node("await page.title()").await, "Shop", "{code}");
    }
}

#[tokio::test]
async fn no_verb_in_no_language_opens_a_file() {
    let world = World::start().await;
    let file = "file:///etc/passwd";
    let is_refused = |ran: &interact::Ran, code: &str| {
        let said = format!("{}{}{:?}", ran.stdout, ran.stderr, ran.error);
        assert!(ran.exit_code != 0 && said.contains("only http and https"), "{code}: {said}");
    };
    for code in [
        format!("await page.goto('{file}')"),
        format!("const other = await context.newPage(); await other.goto('{file}')"),
        "await page.goto('FILE:/etc/passwd')".to_owned(),
        "await page.goto(' file:///etc/passwd')".to_owned(),
    ] {
        is_refused(&world.run(Node, &code).await, &code);
    }
    for verb in ["open", "goto", "navigate"] {
        let code = format!("agent-browser {verb} {file}");
        is_refused(&world.run(Bash, &code).await, &code);
    }
    is_refused(&world.run(Python, &format!("page.goto('{file}')")).await, "python");
    // Scripts of the page are confined by the browser, which has no access to files either.
    let tries = format!(
        "await page.goto('{home}');
        const shown = [];
        for (const act of [
            () => page.evaluate((url) => {{ location.href = url }}, '{file}'),
            () => page.evaluate((url) => {{ location.replace(url) }}, '{file}'),
            () => page.evaluate((url) => {{ open(url) }}, '{file}'),
            () => page.evaluate((url) => {{ history.pushState(null, '', url) }}, '{file}'),
            () => page.setContent('<iframe src=\"{file}\"></iframe><object data=\"{file}\"></object><meta http-equiv=refresh content=\"0;url={file}\"><a href=\"{file}\">go</a>'),
            () => page.click('text=go', {{ timeout: 1000 }}),
            () => page.evaluate((url) => fetch(url).then((answer) => answer.text()), '{file}'),
            () => page.evaluate((url) => {{ const x = new XMLHttpRequest(); x.open('GET', url, false); x.send(); return x.responseText }}, '{file}'),
            () => page.evaluate((url) => import(url), '{file}'),
            () => context.addCookies([{{ name: 'a', value: 'b', url: '{file}' }}]),
        ]) {{
            shown.push(await act().catch((error) => error.message));
            await page.waitForTimeout(100);
            shown.push(page.url(), await page.content(), await page.screenshot().then((picture) => picture.length));
        }}
        shown.join('\\n')",
        home = world.url("/"),
    );
    let shown = world.node(&tries).await;
    assert!(!shown.contains("root:") && shown.lines().all(|line| !line.starts_with("file:")), "{shown}");
    let bash = format!(
        "agent-browser open {}; agent-browser eval 'location.href=\"{file}\"'; sleep 0.3; agent-browser get url; agent-browser get html",
        world.url("/")
    );
    let ran = world.run(Bash, &bash).await;
    assert!(!ran.stdout.contains("root:") && ran.stdout.contains("shop.test"), "{}", ran.stdout);
}

#[tokio::test]
async fn programs_find_no_way_out() {
    let world = World::start().await;
    let shadow = world.run(Bash, "cat /etc/shadow /proc/1/environ /proc/$PPID/maps; ls /var /home /root").await;
    assert!(shadow.exit_code != 0 && shadow.stdout.is_empty(), "{}", shadow.stdout);
    // Only the given file descriptors are open.
    let code = "import os\nopen = []\nfor fd in range(64):\n    try: os.fstat(fd); open.append(fd)\n    except OSError: pass\n(open[:3], len(open))";
    let open = world.run(Python, code).await;
    assert_eq!(open.result, "[[0, 1, 2], 4]", "{}", open.stderr);
    let python = r#"import ctypes, os, socket, subprocess
libc = ctypes.CDLL(None, use_errno=True)
def tried(work):
    try: return work()
    except OSError as error: return type(error).__name__
print(libc.ptrace(16, os.getppid(), 0, 0), libc.ptrace(0, 0, 0, 0))
print(tried(lambda: os.kill(1, 0)), tried(lambda: os.kill(os.getppid(), 9)))
print(tried(lambda: open('/etc/shadow')), tried(lambda: open('/var/tmp/x', 'w')), tried(lambda: os.listdir('/')))
print(tried(lambda: socket.socket()), tried(lambda: socket.socket(socket.AF_UNIX)))
print(tried(lambda: socket.socket(fileno=int(os.environ.get('BROWSER_FD', 3))).sendmsg([b'x'])))
print(tried(os.setsid), tried(lambda: os.chroot('/tmp')), tried(lambda: os.setuid(0)))
print(subprocess.run(['id', '-u'], capture_output=True, text=True).stdout.strip() != '0')"#;
    let ran = world.run(Python, python).await;
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 7, "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(lines[0], "-1 -1");
    assert!(!lines[1..6].join(" ").contains("None"), "{}", ran.stdout);
    assert_eq!(lines[6], "True");
    let bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass";
    assert!(ends(&world, Python, bomb).await.killed);
    assert!(ends(&world, Python, "while True: pass").await.killed);
    assert_eq!(world.run(Python, "page.title()").await.result, "Shop");
}

#[tokio::test]
async fn programs_that_talk_nonsense_are_not_listened_to() {
    let world = World::start().await;
    for code in [
        "yes '{\"print\":{\"error\":false,\"text\":\"x\"}}' >&$BROWSER_FD",
        "head -c 20000000 /dev/zero >&$BROWSER_FD",
        "yes '{\"command\":{\"id\":1,\"words\":[\"get\",\"html\"]}}' >&$BROWSER_FD",
        "yes '{\"done\":{}}' >&$BROWSER_FD",
        "printf '{\"call\":{\"id\":18446744073709551615,\"verb\":\"goto\",\"args\":[]}}\\n' >&$BROWSER_FD; sleep 0.2; printf '[[[[' >&$BROWSER_FD",
        "exec 3<&-; exec 3>&-; sleep 0.3",
        "agent-browser fill '#user' $'\\xff\\xfe'; agent-browser get text $'\\x00'",
        "agent-browser eval \"'x'.repeat(4e7)\"",
        "python3 -c 'import json; print(json.dumps({\"call\": \"[\" * 100000}))' >&$BROWSER_FD",
    ] {
        ends(&world, Bash, code).await;
        assert_eq!(world.run(Bash, "agent-browser get title").await.stdout, "Shop\n", "{code}");
    }
}

#[tokio::test]
async fn processes_together_are_bounded_in_memory() {
    let world = World::start().await;
    // Each holds its memory until it is killed, so that the sum is the same however they take turns.
    let code = "for i in 1 2 3 4 5; do python3 -c 'held = b\"x\" * 300000000; import time; time.sleep(9)' & done; wait";
    let ran = world.try_run(Bash, code, Duration::from_secs(15)).await.unwrap();
    assert_eq!((ran.exit_code, ran.killed), (137, false), "{:?} {}", ran.error, ran.stderr);
    assert!(ran.error.unwrap().contains("memory limit of 1 GiB"));
}

/// Returns the bytes of shared memory of the machine.
fn shared_memory() -> u64 {
    let told = std::fs::read_to_string("/proc/meminfo").unwrap();
    let line = told.lines().find_map(|line| line.strip_prefix("Shmem:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
}

#[tokio::test]
async fn memory_that_no_process_is_counted_for_is_bounded() {
    let world = World::start().await;
    let before = shared_memory();
    let code = r#"import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
STEP, WANTED = 64 << 20, 1 << 30
def anonymous():
    # Its pages stay for as long as one of them is mapped.
    at = libc.mmap(None, STEP, 3, 0x21, -1, 0)
    if at in (None, ctypes.c_void_p(-1).value): raise OSError()
    ctypes.memset(at, 1, STEP)
    libc.munmap(at + 4096, STEP - 4096)
def of_python(): mmap.mmap(-1, STEP).write(b'x' * STEP)
def nameless():
    fd = os.memfd_create('x')
    os.write(fd, b'x' * STEP)
def named(): open('/dev/shm/x', 'ab').write(b'x' * STEP)
def system_v():
    if libc.shmget(0, STEP, 0o1600) == -1: raise OSError()
def of_a_device(): mmap.mmap(os.open('/dev/zero', os.O_RDWR), STEP).write(b'x' * STEP)
def file():
    with open('file', 'ab') as out: out.write(b'x' * (8 << 20))
    return 8 << 20
for way in (anonymous, of_python, nameless, named, system_v, of_a_device, file):
    had = 0
    try:
        while had < WANTED: had += way() or STEP
    except OSError: pass
    print(way.__name__, had >> 20)
import time; time.sleep(1)"#;
    let highest = async {
        let mut highest = 0;
        loop {
            tokio::time::sleep(Duration::from_millis(50)).await;
            highest = highest.max(shared_memory().saturating_sub(before));
            if highest > 700 << 20 {
                return highest;
            }
        }
    };
    let ran = tokio::select! {
        ran = world.run(Python, code) => ran,
        highest = highest => panic!("{} MiB were had", highest >> 20),
    };
    let mut lines: Vec<_> = ran.stdout.lines().collect();
    let file = lines.pop().unwrap();
    assert!(["file 48", "file 56", "file 64"].contains(&file), "{}\n{}", ran.stdout, ran.stderr);
    let none = ["anonymous 0", "of_python 0", "nameless 0", "named 0", "system_v 0", "of_a_device 0"];
    assert_eq!(lines, none, "{}", ran.stderr);
    for way in
        ["head -c 1G /dev/zero > /dev/shm/x", "head -c 1G /dev/zero > file", "x=$(head -c 1G /dev/zero | tr '\\0' x)"]
    {
        let ran = world.run(Bash, way).await;
        assert!(ran.exit_code != 0 || !ran.stderr.is_empty(), "{way}");
    }
    assert_eq!(world.run(Bash, "head -c 20M /dev/zero > file; wc -c < file").await.stdout, "20971520\n");
}

/// Whether an ordinary user may mount a `/proc` for a PID namespace; in containers this is often denied.
fn own_proc_can_be_had() -> bool {
    let mut tried = Command::new("unshare");
    tried.args(["--user", "--map-root-user", "--pid", "--fork", "--mount", "--mount-proc", "true"]);
    if rustix::process::geteuid().is_root() {
        tried.uid(65534).gid(65534);
    }
    tried.current_dir("/").status().is_ok_and(|status| status.success())
}

#[tokio::test]
async fn processes_of_the_machine_have_no_numbers() {
    if !own_proc_can_be_had() {
        println!("left out: the kernel gives no /proc of its own here");
        return;
    }
    let world = World::start().await;
    let us = std::process::id();
    let code = format!(
        "for n in {us} $(seq 1 40000); do [ -e /proc/$n ] && echo $n; done > seen; wc -l < seen; grep -cx {us} seen
        ls /proc; cat /proc/1/cmdline /proc/1/environ /proc/1/status; ls /proc/1/fd; readlink /proc/1/exe /proc/1/root
        cat /proc/meminfo /proc/cpuinfo /proc/mounts; exit 0"
    );
    let ran = world.run(Bash, &code).await;
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert_eq!((lines.len(), lines[1]), (2, "0"), "{}\n{}", ran.stdout, ran.stderr);
    let seen: usize = lines[0].trim().parse().unwrap();
    assert!((1..20).contains(&seen), "{seen}");
    // Its own pipes are accessible through `/proc`.
    let own = "[ -e /proc/self/fd/1 ] && [ -e /proc/$$ ] && cat <(echo own)";
    assert_eq!(world.run(Bash, own).await.stdout, "own\n");
    let python = "import os, subprocess\nprint(os.getpid() < 100, subprocess.run(['echo', 'child'], capture_output=True).stdout)\nfor way in (lambda: os.listdir('/proc'), lambda: open('/proc/1/cmdline')):\n    try: way()\n    except PermissionError: print('refused')";
    assert_eq!(world.run(Python, python).await.stdout, "True b'child\\n'\nrefused\nrefused\n");
}

#[tokio::test]
async fn where_no_fence_can_be_put_up_programs_are_refused() {
    let world = World::start().await;
    let run = async |interact: &Interact, language| {
        let code = interact::Code { language, text: "1 + 1", timeout: Duration::from_secs(20) };
        interact.run(world.held.hands(), &code, &mut Work::default()).await
    };
    if rustix::process::geteuid().is_root() {
        let as_root = Interact::new(Settings { program: Some(World::program()), user: None, places: 1 });
        for language in [Bash, Python] {
            let refused = run(&as_root, language).await.err().unwrap().to_string();
            let expected = format!(
                "{} cannot be run here: root cannot be sandboxed; run it as another user (`browser.user`); `node` always can",
                language.name()
            );
            assert_eq!(refused, expected);
        }
        assert_eq!(run(&as_root, Node).await.unwrap().result, "2");
    }
    // A program that ignores its arguments.
    let deaf = Interact::new(Settings { program: Some("/bin/true".into()), user: Some(NOBODY), places: 1 });
    for language in [Bash, Node] {
        match run(&deaf, language).await {
            Ok(ran) => assert_ne!((ran.exit_code, ran.result.as_str()), (0, "2")),
            Err(error) => assert!(matches!(error, interact::InteractError::Start(_)), "{error}"),
        }
    }
}

/// Both the address of the page and the caller's expression are untrusted; together they must not keep a core busy.
#[tokio::test]
async fn expressions_over_addresses_are_bounded() {
    let world = World::start().await;
    // Irregular text, as repeated text is easily matched. A page with an address of more than 256 KiB would be closed.
    let go = |length: u32| {
        format!(
            "await page.evaluate(() => {{ let state = 1, text = '/?'; for (let i = 0; i < {length}; i++) {{
            state = (state * 16807) % 2147483647; text += state < 1073741824 ? 'x' : 'y'; }}
            history.pushState(null, '', text); }})"
        )
    };
    for (length, expect) in [(200_000, "the address of the page has 2000"), (7800, "matching it takes too much work")] {
        world.node(&go(length)).await;
        let ran = world.run(Python, "import re\npage.wait_for_url(re.compile('(x|y)*x(x|y){900}[0-9]'))").await;
        let error = ran.error.unwrap();
        assert!(error.contains(expect), "{error}");
    }
    let stars = format!("await page.waitForURL('**{}z')", "x*y**".repeat(1600));
    let error = world.run(Node, &stars).await.error.unwrap();
    assert!(error.contains("too much work") || error.contains("too large"), "{error}");
    // Ordinary patterns work, on long addresses too.
    for wanted in [r"/[xy]{2}$/", r"/\/\?[xy]+$/", "'**/?*'", "/SHOP.TEST/i"] {
        assert_eq!(world.node(&format!("await page.waitForURL({wanted}); 1")).await, "1", "{wanted}");
    }
    let code = "await page.goto('/about'); await Promise.all([page.waitForURL(/other$/), page.evaluate(() => { setTimeout(() => { location = '/other' }, 200) })]); await page.title()";
    assert_eq!(world.node(code).await, "Other");
    // The text of a page is searched by the browser, in the process of that page.
    let content = "await page.setContent('<p>' + 'x'.repeat(200) + '</p>'); await page.getByText(/(x+x+)+y/).click()";
    assert!(ends(&world, Node, content).await.error.is_some());
}
