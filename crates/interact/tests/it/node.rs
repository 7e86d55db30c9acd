//! JavaScript in the interpreter.

use std::time::{Duration, Instant};

use interact::Language::Node;

use crate::world::World;

#[tokio::test]
async fn a_page_is_read_and_used() {
    let world = World::start().await;
    assert_eq!(world.node("await page.title()").await, "Shop");
    assert_eq!(world.node("page.url()").await, world.url("/"));
    assert_eq!(world.node("1+1").await, "2");
    let filled =
        "await page.fill('#user', 'Ada'); await page.selectOption('#colour', 'Blue'); await page.check('#terms');
        await page.getByRole('button', { name: 'Send' }).click(); await page.textContent('#out')";
    assert_eq!(world.node(filled).await, "sent Ada b true");
    assert_eq!(world.node("await page.locator('.i').allTextContents()").await, r#"["one","two"]"#);
    assert_eq!(
        world.node("await page.$$eval('.i', (all, mark) => all.map((one) => one.textContent + mark), '!')").await,
        r#"["one!","two!"]"#
    );
    assert_eq!(world.node("await page.evaluate(({ a }) => a * innerWidth / innerWidth, { a: 3 })").await, "3");
    assert_eq!(world.node("await page.evaluate('document.title')").await, "Shop");
    assert_eq!(world.node("await page.getByLabel('Name').inputValue()").await, "Ada");
    assert_eq!(world.node("await page.locator('#user').press('End'); await page.keyboard.type(' L'); await page.inputValue('#user')").await, "Ada L");
    assert_eq!(
        world
            .node("await page.click('#more'); await page.waitForFunction(() => out.textContent === 'more'); 'ok'")
            .await,
        "ok"
    );
    assert_eq!(world.node("await page.isVisible('#nothing')").await, "false");
    assert_eq!(world.node("(await page.screenshot()).slice(0, 8)").await, "iVBORw0K");
    assert_eq!(world.node("await context.addCookies([{ name: 'a', value: 'b', url: page.url() }]); (await context.cookies()).map((c) => c.name + c.value)").await, r#"["ab"]"#);
}

#[tokio::test]
async fn a_click_leads_to_another_page_and_back() {
    let world = World::start().await;
    assert_eq!(world.node("await page.click('text=About us'); await page.title()").await, "About");
    assert_eq!(world.node("page.url()").await, world.url("/about"));
    assert_eq!(world.node("await page.goBack(); await page.title()").await, "Shop");
    assert_eq!(
        world.node("const r = await page.goto('/other'); [r.status(), await page.title()]").await,
        r#"[200,"Other"]"#
    );
    assert_eq!(world.node("await page.goto('/', { waitUntil: 'networkidle' }); await page.waitForURL('**/'); (await page.content()).includes('Welcome')").await, "true");
    assert_eq!(world.node("await Promise.all([page.waitForURL(/about/), page.getByText('About us').click()]); await page.reload(); await page.title()").await, "About");
}

#[tokio::test]
async fn variables_stay_and_values_are_told() {
    let world = World::start().await;
    assert_eq!(
        world.node("const a = { b: [1, 'x'] }; let c = 2; function d() { return c }; a").await,
        r#"{"b":[1,"x"]}"#
    );
    assert_eq!(world.node("const a2 = a.b.length; c += 1; const a = 7; [a, a2, d()]").await, "[7,2,3]");
    let ran =
        world.run(Node, "console.log('%s has %d', 'it', 2, { a: 1 }, [1, 'b']); console.error('no'); undefined").await;
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str(), ran.result.as_str()),
        ("it has 2 { a: 1 } [ 1, 'b' ]\n", "no\n", "")
    );
    assert_eq!(world.node("new URL('/a?b=c#d', page.url()).searchParams.get('b')").await, "c");
    assert_eq!(world.node("return await page.title()").await, "Shop");
    assert_eq!(world.node("setTimeout(() => console.log('late'), 50); atob(btoa('ok'))").await, "ok");
    assert_eq!(
        world.node("(async () => { await new Promise((done) => setTimeout(done, 20)); return 'waited' })()").await,
        "waited"
    );
}

#[tokio::test]
async fn errors_say_what_and_where() {
    let world = World::start().await;
    let fails = async |code: &str, expected: &[&str]| {
        let ran = world.run(Node, code).await;
        let error = ran.error.unwrap_or_default();
        assert!(ran.exit_code == 1 && !ran.killed, "{code}");
        for part in expected {
            assert!(error.contains(part), "{code}: {error}\n{}", ran.stderr);
        }
    };
    fails("1;\nnull.x", &["TypeError", "line 2"]).await;
    fails("let x = ;", &["SyntaxError"]).await;
    fails("\n\nthrow new RangeError('out')", &["RangeError: out", "line 3"]).await;
    fails("throw 'text'", &["Uncaught 'text'"]).await;
    fails("await page.click('#none', { timeout: 300 })", &["TimeoutError", "nothing on the page matches", "line 1"])
        .await;
    fails("\nawait page.evaluate(() => { throw new TypeError('inside') })", &["TypeError: inside", "line 2"]).await;
    fails("require('fs')", &["require", "there are no modules"]).await;
    fails("await fetch('http://a.b')", &["fetch", "page.evaluate"]).await;
    fails("process.env", &["process", "there is no host"]).await;
    fails("import fs from 'fs'", &["SyntaxError", "there are no modules"]).await;
    fails("await import('fs')", &["there are no modules"]).await;
    fails("await new Promise(() => {})", &["can never settle"]).await;
    fails("(function f() { f() })()", &["RangeError"]).await;
}

#[tokio::test]
async fn only_the_web_can_be_gone_to() {
    let world = World::start().await;
    for url in
        ["file:///etc/passwd", "chrome://version", "view-source:http://shop.test", "data:text/html,x", "javascript:1"]
    {
        let ran = world.run(Node, &format!("await page.goto('{url}')")).await;
        assert!(ran.error.unwrap().contains("only http and https"), "{url}");
    }
    let tries = "await page.evaluate(() => { location.href = 'file:///etc/passwd' }).catch(() => {}); await page.waitForTimeout(300);
        await page.evaluate(() => { open('file:///etc/passwd') }).catch(() => {});
        await page.evaluate(() => fetch('file:///etc/passwd').then((a) => a.text())).catch((e) => e.message) + await page.content()";
    let result = world.node(tries).await;
    assert!(!result.contains("root:") && result.contains("Welcome"), "{result}");
    let ran = world.run(Node, "await page.goto('http://127.0.0.1:1/'); await page.content()").await;
    assert!(ran.exit_code == 1 || !ran.result.contains("Welcome"));
}

#[tokio::test]
async fn nothing_holds_it_beyond_its_time() {
    let world = World::start().await;
    // Some are loops in the interpreter's own code, which it does not interrupt, so its process is killed.
    for code in [
        "while (1);",
        "for (;;) await 0",
        "await page.waitForTimeout(60000)",
        "setInterval(() => {}, 1); await new Promise(() => {})",
        "/(x+x+)+y/.test('x'.repeat(60))",
        "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
        "new Array(2 ** 32 - 1).join('').length",
        "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
    ] {
        let began = Instant::now();
        let ran = world.try_run(Node, code, Duration::from_millis(700)).await.unwrap();
        assert!(began.elapsed() < Duration::from_millis(2500), "{code}: {:?}", began.elapsed());
        assert!(ran.killed && ran.exit_code == 124 || ran.error.is_some(), "{code}: {}", ran.result);
    }
    assert_eq!(world.node("await page.title()").await, "Shop");
}

#[tokio::test]
async fn memory_and_output_are_bounded() {
    let world = World::start().await;
    let ran = world.run(Node, "const all = []; for (;;) all.push('x'.repeat(1e6) + all.length)").await;
    assert!(ran.exit_code != 0 && !ran.killed, "{:?}", ran.error);
    assert_eq!(world.node("1 + 1").await, "2");
    let ran = world.run(Node, "for (let i = 0; i < 3000; i += 1) console.log('y'.repeat(1000)); 'z'.repeat(3e6)").await;
    assert!(ran.truncated && ran.exit_code == 0, "{:?}", ran.error);
    assert_eq!(ran.stdout.len() + ran.stderr.len() + ran.result.len(), 1 << 20);
}

#[tokio::test]
async fn it_runs_in_a_thread_where_there_is_no_process() {
    let world = World::with(None).await;
    assert_eq!(world.node("let a = 1; await page.title()").await, "Shop");
    assert_eq!(world.node("a").await, "1");
    let ran = world.try_run(Node, "while (1);", Duration::from_millis(300)).await.unwrap();
    assert!(ran.killed);
    assert_eq!(world.node("a").await, "1");
    let refused = world.try_run(interact::Language::Bash, "true", Duration::from_secs(5)).await.err().unwrap();
    assert!(refused.to_string().contains("bash cannot be run here"), "{refused}");
}
