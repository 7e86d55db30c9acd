//! Tests of captured pages.

use crate::page_world::{answer_questions, check, expect, text};
use crate::world::{World, dom};

#[tokio::test]
async fn shadow_trees_stand_in_their_places() {
    let world = World::start().await;
    let html = "<!doctype html><title>t</title><x-host><b slot=s>Slot text</b><i>Nowhere</i></x-host><y-host></y-host>
        <div><template shadowrootmode=closed><p>Sealed letter</p></template></div><template>Spare part</template><script>
        customElements.define('x-host', class extends HTMLElement { connectedCallback() {
            const root = this.attachShadow({mode: 'open'}); root.innerHTML = '<style>:host { color: red }</style>Ferry <slot name=s></slot> end<slot>x</slot>';
            const sheet = new CSSStyleSheet(); sheet.replaceSync('p { color: blue }'); root.adoptedStyleSheets = [sheet];
            root.append(document.createElement('z-host')) } });
        customElements.define('z-host', class extends HTMLElement { connectedCallback() { this.attachShadow({mode: 'closed'}).innerHTML = 'Inmost' } });
        customElements.define('y-host', class extends HTMLElement { connectedCallback() {
            const root = this.attachShadow({mode: 'closed'}); setTimeout(() => root.innerHTML = 'Closed text', 400) } })</script>";
    let visited = check(
        &world,
        html,
        expect(
            &["Ferry Slot text end", "Closed text", "Sealed letter", "Inmost"],
            &[":host", "Spare part", "color"],
            9000,
        ),
    )
    .await;
    let (page, script) = dom(&visited).split_once("<script").unwrap();
    assert!(page.contains("<x-host>") && script.contains("customElements.define") && !page.contains("<slot"), "{page}");
}

#[tokio::test]
async fn frames_stand_where_they_are() {
    let world = World::start().await;
    answer_questions(&world);
    let other = world.other_url("/two");
    world.site.html("/f/one", format!("<p>Frame one: ledger</p><a href=next>n</a><iframe src='{other}'></iframe>"));
    let late = "<p id=root></p><img src=pic.png srcset='a.png 1x, b.png 2x'><script>setTimeout(() => root.textContent = 'Frame two: casks', 500)</script>
        <iframe srcdoc='<p>Third <iframe srcdoc=Fourth></iframe>'></iframe>";
    world.other.html("/two", late);
    let html = "<!doctype html><title>t</title><iframe src=/f/one title=ledger></iframe><iframe srcdoc='<p>From srcdoc</p>'></iframe>
        <iframe srcdoc='<p>Never shown</p>' style='display: none'></iframe><iframe srcdoc='<p>Too small</p>' width=1 height=1></iframe>";
    let visited = check(
        &world,
        html,
        expect(
            &["Frame one: ledger", "Frame two: casks", "From srcdoc", "Third"],
            &["Never shown", "Too small", "Fourth"],
            9000,
        ),
    )
    .await;
    let html = dom(&visited);
    let base = |path: &str| world.url(path).to_string();
    assert!(html.contains(&format!("<div data-frame-url=\"{}\">", base("/f/one"))), "{html}");
    assert!(html.contains(&format!("href=\"{}\"", base("/f/next"))), "{html}");
    let (one, two) = (world.other_url("/a.png"), world.other_url("/b.png"));
    assert!(html.contains(&format!("srcset=\"{one} 1x, {two} 2x\"")), "{html}");
    assert!(!html.contains("srcdoc=") && html.contains("data-frame-url=\"about:srcdoc\""));
}

#[tokio::test]
async fn what_css_hides_is_marked_and_kept() {
    let world = World::start().await;
    let html = "<!doctype html><title>t</title><p>Panel one<div style='display: none'>Panel two</div><div hidden>By attribute</div>
        <div hidden style='display: block'>Shown anyway</div><p style='visibility: hidden'>Unseen words <b style='visibility: visible'>seen words</b></p>
        <div style='content-visibility: hidden'>Locked</div><div style='height: 5000px'></div><div style='content-visibility: auto'>Far <p>away</div>
        <details><summary>Folded</summary>Inside</details><details open><summary>Open</summary>Outside</details>
        <p style='position: absolute; width: 1px; height: 1px; overflow: hidden; clip: rect(0 0 0 0)'>For readers</p>
        <main aria-hidden=true>Under the wall</main><noscript>Switch it on</noscript><p style='opacity: 0'>Fades in</p>
        <a style='display: none' href=/menu>Menu</a>";
    let visited = check(
        &world,
        html,
        expect(
            &[
                "Panel one",
                "Shown anyway",
                "seen words",
                "Far away",
                "Folded",
                "Inside",
                "Outside",
                "For readers",
                "Under the wall",
                "Fades in",
            ],
            &["Panel two", "By attribute", "Unseen words", "Locked", "Switch it on", "Menu"],
            9000,
        ),
    )
    .await;
    for kept in [
        "<div style=\"display: none\" hidden=\"unseen\">Panel two",
        "By attribute",
        "Locked",
        "Inside",
        "href=\"/menu\"",
    ] {
        assert!(dom(&visited).contains(kept), "{kept} is not in {}", dom(&visited));
    }
    assert!(!dom(&visited).contains("noscript"));
    // A page that hides itself completely is captured unmarked.
    check(&world, "<body style='visibility: hidden'><p>All of it", expect(&["All of it"], &[], 9000)).await;
}

/// Content that a control opens is marked as collapsed; menus, dialogs and parts without a control are hidden.
#[tokio::test]
async fn what_a_control_opens_is_content() {
    let world = World::start().await;
    let html = "<!doctype html><title>t</title><style>.shut, .panel, .tab-pane:not(.active), input:not(:checked) + .block { display: none }</style>
        <header><button aria-controls=menu aria-expanded=false>Menu</button><nav id=menu hidden><a href=/a>First of the menu</a></nav>
        <button aria-controls=list aria-expanded=false>Products</button><ul id=list class=shut><li><a href=/b>Second of the menu</a></ul>
        <button aria-haspopup=true aria-controls=user>You</button><div id=user hidden>Signed in as nobody at all</div></header>
        <main><h2><button aria-expanded=false aria-controls=one>How long?</button></h2><div id=one hidden>Two hours at twenty degrees.</div>
        <h2><button aria-expanded=false>How warm?</button></h2><div class=shut>Twenty degrees of Celsius.</div>
        <div role=tablist><button role=tab aria-selected=true>npm</button><button role=tab>yarn</button></div>
        <div role=tabpanel>npm install saw</div><div role=tabpanel hidden>yarn add saw</div>
        <ul><li><a data-toggle=tab href='#linux'>Linux</a></ul><div class='tab-pane active'>On a Mac</div><div class=tab-pane id=linux>On a penguin</div>
        <div class=item><button>Is it safe?</button><div class=panel>Wear gloves at all times.</div></div>
        <div class=item><button>Is it cheap?</button><div class=panel>Twelve guilders a board.</div></div>
        <div><input type=radio name=x id=x1 checked><div class=block>First block</div><input type=radio name=x id=x2><div class=block>Second block of text</div><label for=x2>Second</label></div>
        <p>The first lines.</p><div class=shut>The long rest of the description.</div><button>Read more</button>
        <x-panel role=tabpanel aria-hidden=true hidden>Shut by its component</x-panel>
        <div hidden=until-found>Found by a search</div>
        <details><summary>Open me</summary>Bare text <p>and a paragraph</p><div hidden>but not this line of it</div></details>
        <details><summary>Open me too</summary><div style='display: none'><p>Opened by a script</p><details><summary>And me</summary><div style='display: none'>Within it</div></details></div></details>
        <div id=waste class=shut>Left over by the template of the page.</div><button aria-controls=box>Buy</button><div id=box role=dialog hidden>Put into your basket for now</div>
        <dialog><p>Never opened dialog of the page</dialog><div hidden>By attribute alone and by nothing else</div></main>";
    let visited = check(
        &world,
        html,
        expect(
            &[
                "Two hours at twenty",
                "Twenty degrees of Celsius",
                "npm install",
                "yarn add saw",
                "On a penguin",
                "Wear gloves",
                "Twelve guilders",
                "Second block",
                "long rest of the description",
                "Found by a search",
                "Bare text and a paragraph",
                "Opened by a script",
                "Within it",
            ],
            &[
                "of the menu",
                "Signed in",
                "not this line",
                "Left over",
                "your basket",
                "Never opened",
                "By attribute alone",
                "Shut by its component",
            ],
            9000,
        ),
    )
    .await;
    assert!(dom(&visited).contains("<div role=\"tabpanel\" data-collapsed>yarn"), "{}", dom(&visited));
}

/// Sites that are rendered by scripts often keep their text in `noscript`.
#[tokio::test]
async fn what_is_kept_for_readers_without_scripts_stands_for_a_page_that_failed() {
    let world = World::start().await;
    let posts = "<noscript><main><h1>Which oil?</h1><p>I have always used linseed oil for my bench and wonder about others.</main></noscript>";
    let html = format!("<!doctype html><title>t</title><div id=app></div>{posts}<script src=/none.js></script>");
    check(&world, &html, expect(&["Which oil?", "always used linseed"], &[], 9000)).await;
    let drawn = "<script>app.textContent = 'The whole thread was drawn by its scripts, with all the posts about linseed oil in it, and more of them than without'</script>";
    check(&world, &format!("{html}{drawn}"), expect(&["The whole thread"], &["I have always"], 9000)).await;
    let asks = "<!doctype html><title>t</title><div id=app></div><noscript>You need to enable JavaScript to run this app, and you need it badly.</noscript><script>1</script>";
    check(&world, asks, expect(&[], &["enable JavaScript"], 9000)).await;
}

#[tokio::test]
async fn forms_are_as_they_are() {
    let world = World::start().await;
    let html = "<!doctype html><title>t</title><input id=a value=old><input id=b type=password><textarea id=c>old</textarea><select><option>one<option id=d>two</select>
        <input type=checkbox checked id=e><input type=checkbox id=f><canvas><table><tr><td>Catch by month</table></canvas><button aria-label=Close></button>
        <script>a.value = 'typed \"text\"'; b.value = 'secret'; c.value = 'typed <area>'; d.selected = true; e.checked = false; f.checked = true</script>";
    let visited = check(&world, html, expect(&["typed &lt;area&gt;", "two", "Catch by month"], &["old"], 9000)).await;
    let html = dom(&visited);
    let form = html.split("<script").next().unwrap();
    assert!(form.contains("value=\"typed &quot;text&quot;\"") && !form.contains("secret"), "{form}");
    assert!(form.contains("<option id=\"d\" selected=\"\">") && form.contains("aria-label=\"Close\""), "{form}");
    assert!(form.contains("id=\"f\" checked=\"\"") && !form.contains("id=\"e\" checked"), "{form}");
}

/// Text that scripts can create and a parser would read as markup.
#[tokio::test]
async fn text_stays_text() {
    let world = World::start().await;
    let html = "<!doctype html><title>t</title><div id=a></div><pre id=b></pre><script>
        a.append('<script>alert(1)<\\/script>', document.createElement('img')); b.textContent = '\\nfirst';
        const made = document.createElement('script'); made.type = 'text/x'; made.textContent = '\"</scr' + 'ipt><p>Escaped'; a.append(made);
        const odd = document.createElement('p'); odd.setAttribute('title', '\"><b>Broken'); odd.textContent = 'Odd & end'; a.append(odd)</script>";
    let visited = check(
        &world,
        html,
        expect(&["&lt;script&gt;alert(1)", "Odd &amp; end", "first"], &["Escaped", "Broken<"], 9000),
    )
    .await;
    assert!(dom(&visited).contains("<pre id=\"b\">\n\nfirst</pre>"), "{}", dom(&visited));
    assert!(dom(&visited).contains("title=\"&quot;&gt;&lt;b&gt;Broken\""));
}

#[tokio::test]
async fn a_deep_tree_and_a_large_one_come_whole_or_cut() {
    let world = World::start().await;
    let deep = "<p>Bottom<script>let at = document.body; for (let i = 0; i != 300; i++) at = at.appendChild(document.createElement('b')); at.textContent = 'Deep down'</script>";
    check(&world, deep, expect(&["Deep down"], &[], 15_000)).await;
    let large = "<p>Start<script>const text = 'abcdefghij'.repeat(1 << 20); for (let i = 0; i != 4; i++) { const p = document.createElement('p'); p.hidden = true; p.textContent = text; document.body.append(p) }</script>";
    let visited = world.page(large).await.unwrap();
    assert!(dom(&visited).len() < 50 << 20 && text(&dom(&visited)[..1000]).contains("Start"));
    assert!(visited.warnings.iter().any(|warning| warning.contains("too large")), "{:?}", visited.warnings);
}
