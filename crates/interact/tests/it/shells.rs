//! Python and Bash in the sandbox, on a page.

use std::time::{Duration, Instant};

use interact::Language::{Bash, Python};
use interact::Ran;

use crate::world::World;

/// Error messages for files that are missing or inaccessible.
const DENIED: &[&str] = &["No such file", "ermission denied"];

fn good(ran: Ran) -> String {
    assert_eq!((ran.exit_code, ran.error), (0, None), "{}\n{}", ran.stdout, ran.stderr);
    ran.stdout
}

#[tokio::test]
async fn the_shell_uses_the_page() {
    let world = World::start().await;
    let snapshot = good(world.run(Bash, "agent-browser snapshot -i").await);
    assert!(snapshot.starts_with("- link \"About us\" [ref=e"), "{snapshot}");
    assert!(snapshot.contains("- textbox \"Name\" [ref=e") && snapshot.contains("- combobox \"Colour\""), "{snapshot}");
    let code = r#"set -e
ref=$(agent-browser snapshot -i | sed -n 's/.*textbox "Name" \[ref=\(e[0-9]*\)\].*/\1/p')
agent-browser fill "@$ref" 'Ada "L" \ ö'
agent-browser select '#colour' Blue
agent-browser check '#terms'
agent-browser find role button click --name Send
agent-browser get text '#out'
agent-browser get value "@$ref"
agent-browser get attr '#other' href
agent-browser get count .i
agent-browser eval '1 + 1'
agent-browser get title; agent-browser get url
agent-browser click '#more'; agent-browser wait --text more
agent-browser scroll down 100; agent-browser is visible h1
agent-browser screenshot | head -c 8; echo
agent-browser screenshot page.png; head -c 4 page.png | tail -c 3; echo
agent-browser open /about; agent-browser back
printf '%s\n' '#out' | xargs -n1 agent-browser get text"#;
    let expected = format!(
        "sent Ada \"L\" \\ ö b true\nAda \"L\" \\ ö\n/other\n2\n2\nShop\n{url}\ntrue\niVBORw0K\npage.png\nPNG\nAbout\n{url}about\nShop\n{url}\nnothing yet\n",
        url = world.url("/")
    );
    assert_eq!(good(world.run(Bash, code).await), expected);
    let ran = world.run(Bash, "agent-browser click '#none' 2>&1; agent-browser dance").await;
    assert_eq!(ran.exit_code, 1);
    assert!(ran.stdout.is_empty() || ran.stdout.contains("nothing on the page matches"), "{}", ran.stdout);
    assert!(ran.stderr.contains("wrong number of arguments: `dance`"), "{}", ran.stderr);
    // An answer whose reader has gone away, or that is not read to its end, is not taken for the next one.
    let left = "timeout 1 agent-browser wait 1300; agent-browser get html | head -c 5 >/dev/null; sleep 0.5; agent-browser screenshot | head -c 3; agent-browser get title";
    assert_eq!(good(world.run(Bash, left).await), "iVBShop\n");
    let parallel = "for i in 1 2 3 4 5; do agent-browser get title & done; wait";
    assert_eq!(good(world.run(Bash, parallel).await), "Shop\n".repeat(5));
}

#[tokio::test]
async fn python_uses_the_page() {
    let world = World::start().await;
    let code = r##"import re
print(page.title(), page.url.endswith("/"))
page.fill("#user", "Ada")
page.get_by_label("Colour").select_option(label="Blue")
page.get_by_role("button", name=re.compile("^send", re.I)).click()
print(page.locator("#out").text_content())
print(page.locator(".i").all_text_contents(), page.locator(".i").nth(1).inner_text(), page.locator(".i").filter(has_text="two").count())
print(page.evaluate("document.title"), page.evaluate("(x) => x + 1", 2))
page.click("text=About us")
page.wait_for_url("**/about")
print(page.title(), page.go_back().status, page.screenshot()[:4])
{"a": [1, None]}"##;
    let ran = world.run(Python, code).await;
    assert_eq!(ran.result, r#"{"a": [1, null]}"#, "{}", ran.stderr);
    assert_eq!(good(ran), "Shop True\nsent Ada b false\n['one', 'two'] two 1\nShop 3\nAbout 200 b'\\x89PNG'\n");
    let ran = world.run(Python, "x = 1\npage.click('#none', timeout=300)").await;
    assert_eq!(ran.exit_code, 1);
    let error = ran.error.unwrap();
    assert!(
        error.contains("TimeoutError") && error.contains("nothing on the page matches") && error.contains("line 2"),
        "{error}"
    );
    assert!(ran.stderr.contains("page.click('#none', timeout=300)"), "{}", ran.stderr);
    let ran = world.run(Python, "page.goto('file:///etc/passwd')").await;
    assert!(ran.error.unwrap().contains("only http and https"));
    let ran = world.run(Python, "def f(:").await;
    assert!(ran.error.unwrap().contains("SyntaxError"));
    let code = "import asyncio\nasync def main():\n    await asyncio.sleep(0.01)\n    return await page.title()\nprint(await page.title(), asyncio.run(main()))\nawait main()";
    let ran = world.run(Python, code).await;
    assert_eq!(ran.result, "Shop", "{}", ran.stderr);
    assert_eq!(good(ran), "Shop Shop\n");
    let ran = world.run(Python, "import sys; sys.exit(3)").await;
    assert_eq!(ran.exit_code, 3);
}

#[tokio::test]
async fn what_is_fenced_in_stays_inside() {
    let world = World::start().await;
    let port = world.site.addr().port();
    for code in ["cat /etc/passwd", "ls /proc/1", "cat /proc/self/environ", "echo x > /var/tmp/interact-x"] {
        let ran = world.run(Bash, code).await;
        assert!(
            ran.exit_code != 0 && ran.stdout.is_empty() && DENIED.iter().any(|word| ran.stderr.contains(word)),
            "{code}: {} {}",
            ran.stdout,
            ran.stderr
        );
    }
    let ran = world.run(Bash, &format!("exec 9<>/dev/tcp/127.0.0.1/{port}")).await;
    assert!(ran.exit_code != 0 && ran.stderr.contains("not permitted"), "{}", ran.stderr);
    let ran = world.run(Bash, &format!("kill -9 {}; kill -9 -1; echo here", std::process::id())).await;
    // In a PID namespace other processes cannot be addressed.
    let refused = ran.stderr.contains("not permitted") || ran.stderr.matches("No such process").count() == 2;
    assert!(refused || ran.exit_code != 0, "{}", ran.stderr);
    let ran = world.run(Bash, "env | cut -d= -f1 | sort | tr '\\n' ' '").await;
    assert_eq!(
        good(ran),
        "BROWSER_FD HOME LANG OLDPWD PATH PWD PYTHONUNBUFFERED SHLVL TMPDIR _ ".replace("OLDPWD ", "")
    );
    let code = "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:1/')";
    assert!(world.run(Python, code).await.error.unwrap().contains("not permitted"));
    let ran = world.run(Python, "open('/etc/passwd').read()").await;
    assert!(ran.error.unwrap().contains("FileNotFoundError"));
}

#[tokio::test]
async fn time_and_output_are_bounded() {
    let world = World::start().await;
    for code in ["sleep 60", "while :; do :; done", "(sleep 60; echo late) & sleep 60", "b() { b | b & }; b; sleep 60"]
    {
        let began = Instant::now();
        let ran = world.try_run(Bash, code, Duration::from_millis(800)).await.unwrap();
        assert!(ran.killed && ran.exit_code == 124, "{code}: {} {}", ran.exit_code, ran.stderr);
        assert!(began.elapsed() < Duration::from_secs(4), "{code}: {:?}", began.elapsed());
    }
    let ran = world.try_run(Bash, "agent-browser wait 60000", Duration::from_millis(2500)).await.unwrap();
    assert!(!ran.killed && ran.exit_code == 1 && ran.stderr.contains("did not succeed in time"), "{}", ran.stderr);
    // Background processes end with the code.
    let began = Instant::now();
    assert_eq!(good(world.run(Bash, "sleep 60 & echo done").await), "done\n");
    assert!(began.elapsed() < Duration::from_secs(3));
    let ran = world.run(Bash, "head -c 3000000 /dev/zero | tr '\\0' x; echo problem >&2").await;
    assert!(ran.truncated && ran.stdout.len() <= 1 << 20, "{}", ran.stdout.len());
    let ran = world.run(Python, "x = 'a' * (1 << 30)").await;
    assert!(ran.error.unwrap().contains("MemoryError"));
    let ran = world.run(Bash, "printf 'nonsense\\n' >&\"$BROWSER_FD\"; sleep 1; agent-browser get title").await;
    assert_ne!(ran.exit_code, 0);
    assert_eq!(good(world.run(Bash, "agent-browser get title").await), "Shop\n");
}
