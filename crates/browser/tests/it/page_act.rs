//! Tests of actions.

use browser::{ActionFailure, BrowserError, Visit};
use serde_json::{Value, json};

use crate::page_world::{act, actions, answer_questions, text};
use crate::world::{World, dom, plain};

async fn refused(world: &World, html: &str, list: Value) -> (usize, &'static str, Option<String>, String) {
    match act(world, html, &actions(list)).await.err() {
        Some(BrowserError::Action(failure)) => (failure.index, failure.kind, failure.selector, failure.reason),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_form_is_filled_as_by_hand() {
    let world = World::start().await;
    answer_questions(&world);
    let html = "<!doctype html><title>t</title><dialog id=wall>Welcome back <button id=close onclick='wall.close()'>OK</button></dialog>
        <input id=field><p id=out></p><p id=keys></p><script>setTimeout(() => wall.showModal(), 300);
        field.onkeydown = (e) => { keys.append(e.key + ','); if (!e.isTrusted) out.textContent = 'forged';
            if (e.key === 'Enter') fetch('/api/x?d=300&t=Saved').then((a) => a.text()).then((t) => out.textContent = t + ': ' + field.value) }</script>";
    let list = json!([
        {"type": "wait", "selector": "#close"}, {"type": "click", "selector": "#close"}, {"type": "click", "selector": "#field"},
        {"type": "write", "text": "nine hërrings 鯡"}, {"type": "press", "key": "Enter"}, {"type": "scrape"},
        {"type": "press", "key": "Control+A"}, {"type": "press", "key": "Backspace"}, {"type": "write", "text": "ten"},
    ]);
    let visited = act(&world, html, &actions(list)).await.unwrap();
    assert_eq!(visited.rendered.acted.scrapes.len(), 1);
    let scraped = &visited.rendered.acted.scrapes[0];
    assert_eq!(scraped.url, world.url("/page"));
    let seen = text(&scraped.html);
    assert!(
        seen.contains("Saved: nine hërrings 鯡") && seen.contains("n,i,n,e, ,h,") && !seen.contains("Welcome"),
        "{seen}"
    );
    assert!(dom(&visited).contains("value=\"ten\""), "{}", dom(&visited));
    assert_eq!(visited.warnings, Vec::<String>::new());
}

#[tokio::test]
async fn clicks_reach_shadow_trees_frames_and_what_is_far_down() {
    let world = World::start().await;
    let html = "<!doctype html><title>t</title><x-host></x-host><p id=out></p><div style='height: 4000px'></div>
        <button class=pick>a</button><button class=pick style='display: none'>b</button><button class=pick>c</button><button class=pick>d</button>
        <iframe srcdoc='<div style=height:900px></div><button id=inner onclick=\"parent.say(event.isTrusted)\">in</button>'></iframe><script>
        window.say = (what) => out.append(what + ';');
        customElements.define('x-host', class extends HTMLElement { connectedCallback() { const root = this.attachShadow({mode: 'open'});
            root.innerHTML = '<div><button id=deep>x</button></div>'; root.querySelector('button').onclick = () => say('deep') } });
        for (const one of document.querySelectorAll('.pick')) one.onclick = () => say(one.textContent)</script>";
    let list = json!([
        {"type": "click", "selector": "x-host #deep"}, {"type": "click", "selector": "#inner"}, {"type": "click", "selector": ".pick", "all": true},
        {"type": "click", "selector": ".none", "all": true}, {"type": "scroll", "direction": "down"},
        {"type": "executeJavascript", "script": "scrollY"}, {"type": "scroll", "direction": "up", "selector": "#out"},
    ]);
    let visited = act(&world, html, &actions(list)).await.unwrap();
    assert!(text(dom(&visited)).contains("deep;true;a;c;d;"), "{}", text(dom(&visited)));
    assert!(visited.rendered.acted.returns[0].value.as_f64().unwrap() > 1000.0);
}

#[tokio::test]
async fn fingers_tap_on_phones() {
    let world = World::start().await;
    world.site.html("/page", "<!doctype html><title>t</title><meta name=viewport content='width=device-width'><button id=b>x</button><p id=out></p><script>
        for (const kind of ['touchstart', 'touchend', 'click']) b.addEventListener(kind, (e) => out.append(kind + e.isTrusted + ';'))</script>");
    let (url, list) = (world.url("/page"), actions(json!([{"type": "click", "selector": "#b"}])));
    let visited = world.visit(&Visit { mobile: true, actions: &list, ..plain(&url) }).await.unwrap();
    assert!(text(dom(&visited)).contains("touchstarttrue;touchendtrue;clicktrue;"), "{}", text(dom(&visited)));
}

#[tokio::test]
async fn what_cannot_be_done_is_named() {
    let world = World::start().await;
    let html = "<!doctype html><title>t</title><p>Text</p><button id=b onclick='document.title = 1'>b</button><button id=gone hidden>g</button>
        <div class=veil style='position: fixed; inset: 0; background: #fff8'></div>";
    let wait = json!({"type": "wait", "milliseconds": 10});
    let (index, kind, selector, reason) =
        refused(&world, html, json!([wait, {"type": "click", "selector": "#b"}])).await;
    assert_eq!((index, kind, selector.as_deref()), (1, "click", Some("#b")));
    assert!(reason.contains("covered by <div.veil>"), "{reason}");
    let (.., reason) = refused(&world, html, json!([{"type": "click", "selector": "#gone"}])).await;
    assert!(reason.contains("cannot be seen"), "{reason}");
    let (.., reason) = refused(&world, html, json!([{"type": "click", "selector": ".none"}])).await;
    assert!(reason.contains("no element matches"), "{reason}");
    let (index, kind, _, reason) =
        refused(&world, html, json!([wait, wait, {"type": "click", "selector": "p[", "all": true}])).await;
    assert_eq!((index, kind), (2, "click"));
    assert!(reason.contains("invalid selector"), "{reason}");
    let (_, kind, selector, reason) = refused(&world, html, json!([{"type": "press", "key": "Entr"}])).await;
    assert_eq!((kind, selector), ("press", None));
    assert!(reason.contains("unknown key `Entr`"), "{reason}");
    let (.., reason) = refused(&world, html, json!([{"type": "scroll", "selector": ".none"}])).await;
    assert!(reason.contains("no element matches"), "{reason}");
    let visited = act(&world, html, &actions(json!([{"type": "write", "text": "nowhere"}]))).await.unwrap();
    assert!(visited.warnings[0].contains("focus"), "{:?}", visited.warnings);
}

#[tokio::test]
async fn what_appears_is_waited_for() {
    let world = World::start().await;
    let html = "<!doctype html><title>t</title><p>Text</p><script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<i id=late hidden>x</i>'), 100);
        setTimeout(() => late.hidden = false, 2500)</script>";
    let script = json!({"type": "executeJavascript", "script": "late.hidden"});
    let visited = act(&world, html, &actions(json!([{"type": "wait", "selector": "#late"}, script]))).await.unwrap();
    assert_eq!(visited.rendered.acted.returns[0].value, json!(false));
    world.site.html("/page", html);
    let (url, list) = (world.url("/page"), actions(json!([{"type": "wait", "selector": ".never"}])));
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(5);
    let error = world.visit(&Visit { actions: &list, deadline, ..plain(&url) }).await.err().unwrap();
    assert!(matches!(&error, BrowserError::Action(ActionFailure { index: 0, kind: "wait", .. })), "{error}");
}

#[tokio::test]
async fn scripts_return_values_with_their_types() {
    let world = World::start().await;
    let check = async |script: &str, kind: &str, value: Value| {
        let list = actions(json!([{"type": "executeJavascript", "script": script}]));
        let visited = act(&world, "<title>T</title><p>x", &list).await.unwrap();
        let returned = &visited.rendered.acted.returns[0];
        assert_eq!((returned.kind.as_str(), &returned.value), (kind, &value), "{script}");
    };
    check("document.querySelectorAll('p').length", "number", json!(1)).await;
    check("Promise.resolve({a: [1, null]})", "object", json!({"a": [1, null]})).await;
    check("[1, 'a']", "array", json!([1, "a"])).await;
    check("null", "null", Value::Null).await;
    check("undefined", "undefined", Value::Null).await;
    check("12n ** 20n", "bigint", json!("3833759992447475122176")).await;
    check("NaN", "number", json!("NaN")).await;
    check("const t = document.title; return t", "string", json!("T")).await;
    check("await new Promise((done) => setTimeout(done, 100)); 7", "number", json!(7)).await;
    let fails =
        async |script: &str| refused(&world, "<p>x", json!([{"type": "executeJavascript", "script": script}])).await.3;
    assert!(fails("missing.thing").await.starts_with("ReferenceError: missing"));
    assert!(fails("Promise.reject(new TypeError('no'))").await.starts_with("TypeError: no"));
    assert!(fails("let = 3 +").await.starts_with("SyntaxError"));
    assert!(fails("throw 'bare'").await.contains("bare"));
    let list = actions(json!([{"type": "executeJavascript", "script": "location = '/next'; 1"}, {"type": "scrape"}]));
    world.site.html("/next", "<p>Next page");
    let visited = act(&world, "<p>x", &list).await.unwrap();
    assert_eq!(visited.rendered.acted.scrapes[0].url, world.url("/next"));
}
