//! Tests with markup of documentation generators: Sphinx, mdBook, Docusaurus and others.

use page::Page;

use super::tests::{check, whole};
use super::{MarkdownOptions, markdown};
use crate::content::ContentOptions;
use crate::select::content;

#[test]
fn headings_that_lead_to_themselves_are_no_links() {
    check("<h2 id=a><a class=header href='#a'>Head</a></h2>", "## Head");
    check("<h2>1 <a class=toc-backref href='#id1' role=doc-backlink><code>Head</code></a></h2>", "## 1 `Head`");
    check("<section id='a é'><h2><a href='/d/p#a%20%C3%A9'>Head</a></h2></section>", "## Head");
    check("<a href='#a' id=a><h2>Head</h2></a><a href='#b'><h3 id=b>Next</h3></a>", "## Head\n\n### Next");
    check("<dl><dt id=a><a href='#a'>Term</a><dd>b</dl>", "**Term**\n\nb");
    check("<h2 id=a>Head <a href='#a'>#a</a></h2>", "## Head");
    // Links to other elements, or to the same id of another page.
    check("<h2 id=a><a href='/e#a'>Head</a></h2>", "## [Head](https://a.test/e#a)");
    check("<h2 id=a><a href='#b'>Head</a></h2>", "## [Head](https://a.test/d/p#b)");
    check("<p id=a><a href='#a'>a</a>", "[a](https://a.test/d/p#a)");
}

#[test]
fn panels_stand_below_the_labels_of_their_tabs() {
    let expect = "**Oak**\n\na\n\n**Elm tree**\n\nb\n\nc";
    let page = |tabs: &str, panels: &str| check(&format!("<div><div>{tabs}</div>{panels}</div>c"), expect);
    // sphinx-tabs, by names.
    page(
        "<div role=tablist><button role=tab id=t1 aria-controls=p1>Oak</button><button role=tab id=t2>Elm <b>tree</b></button></div>",
        "<div id=p1 role=tabpanel><p>a</div><div aria-labelledby=t2 role=tabpanel><p>b</div>",
    );
    // Docusaurus, by their order.
    page(
        "<ul role=tablist><li role=tab>Oak<li role=tab>Elm tree</ul>",
        "<div><div role=tabpanel>a</div><div role=tabpanel hidden>b</div></div>",
    );
    // Starlight.
    page(
        "<ul role=tablist><li><a role=tab href='#p1'>Oak</a><li><a role=tab href='#p2'>Elm tree</a></ul>",
        "<section id=p1 role=tabpanel>a</section><section id=p2 role=tabpanel><p>b</section>",
    );
    // MkDocs Material.
    page(
        "<div class=tabbed-labels><label for=i1>Oak</label><label for=i2>Elm tree</label></div>",
        "<div class=tabbed-content><div class=tabbed-block>a</div><div class=tabbed-block>b</div></div>",
    );
    // sphinx-design.
    check(
        "<div class=sd-tab-set><input type=radio><label class=sd-tab-label>Oak</label><div class=sd-tab-content>a</div></div>",
        "**Oak**\n\na",
    );
    let row = "<div role=tablist><a role=tab aria-selected=true>Oak</a><a role=tab>Elm</a></div>";
    // Panels that are loaded later.
    check(&format!("<div>{row}<div role=tabpanel>a</div></div>"), "**Oak**\n\na");
    check(&format!("<div>{row}<div role=tabpanel><h2>Oak</h2>a</div></div>"), "## Oak\n\na");
    check(&format!("{row}<p>a"), "Oak Elm\n\na");
    check(
        "<div class=tabs><input type=radio><label>npm</label><input type=radio><label>yarn</label></div>",
        "npm yarn",
    );
    check("<div role=tablist><b role=tab>1</b></div><div role=tabpanel>a</div>", "a");
    let inner = format!("<div>{row}<div role=tabpanel>x</div><div role=tabpanel>y</div></div>").replace("Oak", "Ash");
    check(
        &format!("<div>{row}<div role=tabpanel>{inner}</div><div role=tabpanel>z</div></div>"),
        "**Oak**\n\n**Ash**\n\nx\n\n**Elm**\n\ny\n\n**Elm**\n\nz",
    );
    check(
        "<div><p role=tablist><b role=tab>Oak</b><b role=tab>Item 2</b></p><ul><li role=tabpanel>a<li role=tabpanel>b</ul></div>",
        "- **Oak**\n\n  a\n- b",
    );
    let long = "word ".repeat(60);
    check(
        &format!("<div><div role=tablist><p role=tab>{long}</p></div><p role=tabpanel>a</div>"),
        &format!("{}\n\na", long.trim()),
    );
    let two = |oak: &str, elm: &str| {
        format!(
            "<div><div role=tablist><b role=tab>{oak}</b><b role=tab>{elm}</b></div><p role=tabpanel>a</p><p role=tabpanel>b</p></div>"
        )
    };
    check(&two("2023", "2024"), "**2023**\n\na\n\n**2024**\n\nb");
    check(&two("1.0", "2.0"), "**1.0**\n\na\n\n**2.0**\n\nb");
    check(&two("1", "•"), "a\n\nb");
    // Labels that are images stay in place.
    check(&two("<img src=p alt=Linux>", "Oak"), "**![Linux](https://a.test/d/p)** **Oak**\n\na\n\nb");
    check(&two("<svg></svg>", "Oak"), "a\n\n**Oak**\n\nb");
    let shared = "<b role=tab aria-controls=p>Oak</b><b role=tab aria-controls=p aria-selected=true>Elm</b>";
    check(&format!("<div role=tablist>{shared}</div><div id=p role=tabpanel>a</div>"), "**Elm**\n\na");
    // An accordion has labels and panels in one list of tabs.
    check(
        "<div role=tablist><h4 role=tab id=t>Oak</h4><div role=tabpanel aria-labelledby=t>a</div></div>",
        "#### Oak\n\na",
    );
}

#[test]
fn labels_that_the_caller_leaves_out_do_not_stand_above_panels() {
    let html = "<nav><div role=tablist><b role=tab>Oak</b></div><div role=tabpanel>a</div></nav>";
    let page = Page::parse(html, &url::Url::parse("https://a.test/").unwrap());
    for (selector, expect) in [("[role=tablist]", "a"), ("[role=tab]", "a"), ("nav", ""), ("p", "**Oak**\n\na")] {
        let options =
            ContentOptions { only_main_content: false, exclude_tags: vec![selector.into()], ..Default::default() };
        assert_eq!(markdown(&content(&page, &options), &MarkdownOptions::default()), expect, "{selector}");
    }
}

#[test]
fn footnotes_of_sphinx() {
    let reference = |n: u8| {
        format!(
            "<a class='footnote-reference brackets' href='#f{n}' id=id{n} role=doc-noteref><span class=fn-bracket>[</span>{n}<span class=fn-bracket>]</span></a>"
        )
    };
    let open = "<aside class='footnote-list brackets'><aside class='footnote brackets'";
    let expect = "x[^1] y[^2]\n\n[^1]: One.\n\n[^2]: Two.";
    check(
        &format!(
            "<p>x{} y{}</p>{open} id=f1 role=doc-footnote><span class=label>[<a role=doc-backlink href='#id1'>1</a>]</span><p>One.</p></aside>
             <aside class='footnote brackets' id=f2 role=doc-footnote><span class=label>[2]</span><span class=backrefs>(<a role=doc-backlink href='#id2'>1</a>,<a role=doc-backlink href='#id3'>2</a>)</span><p>Two.</p></aside></aside>",
            reference(1),
            reference(2),
        ),
        expect,
    );
    // Before docutils 0.18.
    check(
        &format!(
            "<p>x{} y{}</p><dl class='footnote brackets'><dt class=label id=f1><span class=brackets><a class=fn-backref href='#id1'>1</a></span></dt><dd><p>One.</p></dd>
             <dt class=label id=f2><span class=brackets>2</span><span class=fn-backref>(<a href='#id2'>1</a>,<a href='#id3'>2</a>)</span></dt><dd><p>Two.</p></dd></dl>",
            reference(1),
            reference(2),
        ),
        expect,
    );
    check("<dl><dt id=f1>One<dd>Two</dl>", "**One**\n\nTwo");
    // A term that is a name.
    check(
        "<p>x<sup><a href='#s'>1</a></sup><dl class=footnotes><dt id=s>Smith 2020<dd>On wood</dl>",
        "x[^1]\n\n**Smith 2020**\n\n[^1]: On wood",
    );
    check(
        "<p>x<sup><a href='#s'>1</a></sup><dl class=footnotes><dt id=s><a href='/s'>Smith 2020</a><dd>On wood</dl>",
        "x[^1]\n\n**[Smith 2020](https://a.test/s)**\n\n[^1]: On wood",
    );
    check("<p><span class=label>New</span> x</p>", "New x");
}

#[test]
fn ways_back_from_footnotes_go() {
    for back in ["↩2", "↩<sup>2</sup>", "↩\u{fe0e} 3", "^"] {
        check(
            &format!(
                "<p>a<sup><a href='#f1'>1</a></sup><div class=footnotes><ol><li id=f1>b <a href='#r1'>↩</a> <a href='#r2'>{back}</a></ol></div>"
            ),
            "a[^1]\n\n[^1]: b",
        );
    }
    check(
        "<p>a<sup><a href='#f1'>1</a></sup><div class=footnotes><ol><li id=f1>b <a href='#c'>table 2</a></ol></div>",
        "a[^1]\n\n[^1]: b [table 2](https://a.test/d/p#c)",
    );
}

#[test]
fn bars_of_buttons_are_no_lines_of_code() {
    for bar in [
        "<div class=buttons><button title=Copy></button></div>",
        "<div><button><svg></svg></button><button>Run</button></div>",
        "<div><i class='fa fa-copy clip-button'></i></div>",
    ] {
        check(&format!("<pre>{bar}<code class='language-toml'>[package]</code></pre>"), "```toml\n[package]\n```");
    }
    check(
        "<pre><div class=toolbar><div class=buttons><button>Copy</button></div></div><code>x</code></pre>",
        "```\nx\n```",
    );
    // Blank lines with buttons.
    let line = |code: &str| format!("<div class=line><button>+</button>{code}</div>");
    check(&format!("<pre>{}{}{}</pre>", line("a"), line(""), line("b")), "```\na\n\nb\n```");
    check("<pre><div></div><div><span class=lineno>2</span></div><div>a</div></pre>", "```\n\n\na\n```");
}

#[test]
fn items_in_cells_stand_behind_their_mark() {
    let cell = |list: &str, expect: &str| {
        check(
            &format!("<table><tr><th>a<th>b<tr><td>{list}<td>z</table>"),
            &format!("| a | b |\n| --- | --- |\n| {expect} | z |"),
        );
    };
    cell("<ul><li><p>x</p></li><li><p>y</p><p>w</p></li></ul>v", "- x<br>- y<br>w<br>v");
    cell("<ol><li><div><b>x</b></div></li><li>\n<pre>y</pre></li></ol>", "1. **x**<br>2. `y`");
    cell("<ul><li><p>x</p><ul><li><p>y</p></li></ul></li></ul>", "- x<br>- y");
    cell("u<ul><li>x</li><li></li><li><i class=icon></i></li></ul>v", "u<br>- x<br>-<br>v");
}

#[test]
fn formulas_that_no_script_has_read() {
    let numbered = |number: &str| format!("<div class=math id=e>{number}\\[e^{{i\\pi}}\\]</div>");
    check(&numbered("\n<span class=eqno>(1)<a class=headerlink href='#e'>#</a></span>"), "$$e^{i\\pi}$$ (1)");
    check(&numbered(""), "$$e^{i\\pi}$$");
    check("<div class=math>", "");
    let read = |html: &str, expect: &str| {
        for source in ["https://x.test/mathjax/2.7.1/MathJax.js?config=a", "/katex/contrib/auto-render.min.js"] {
            check(&format!("{html}<script src='{source}'></script>"), expect);
        }
        assert_ne!(whole(html, &MarkdownOptions::default()), expect);
    };
    read("<p>\\[ \\sum_{i=0} x_i \\]</p>", "$$\\sum_{i=0} x_i$$");
    read("<p>a \\(x_1\\), \\(x_2\\) <code>\\(y\\)</code>", "a $x_1$, $x_2$ `\\(y\\)`");
    read("<h2>a \\(x_1\\) \\(y</h2>", "## a $x_1$ \\\\(y");
}

#[test]
fn classifiers_of_terms_are_parted() {
    check("<dl><dt>term<span class=classifier>int</span><dd>a</dl>", "**term : int**\n\na");
    check(
        "<dl><dt>t<span class=classifier>one</span><span class=classifier>two</span><dd>a</dl>",
        "**t : one : two**\n\na",
    );
    check(
        "<dl><dt>t <span class=classifier-delimiter>:</span> <span class=classifier>int</span><dd>a</dl>",
        "**t : int**\n\na",
    );
    check("<p>t<span class=classifier>s</span>", "ts");
}

#[test]
fn tables_of_sphinx() {
    let columns = "<tr><td><ul><li><p>a<li><p>b</ul><td><ul><li><p>c</ul></table>";
    check(&format!("<table class=hlist>{columns}"), "- a\n- b\n- c");
    check(&format!("<table class='hlist docutils'>{columns}"), "- a\n- b\n- c");
    check(&format!("<ul><li>x</ul><table class=hlist>{columns}<ul><li>y</ul>"), "- x\n\n* a\n* b\n* c\n\n- y");
    check(&format!("<table class=other>{columns}"), "| - a<br>- b | - c |\n| --- | --- |");
    // A header row alone is a table if it has several columns.
    check("<table><thead><tr><td>a<td>b</thead></table>", "| a | b |\n| --- | --- |");
    check("<table><tr><td>a<td>b</table>", "a\n\nb");
    check("<table><thead><tr><th>a</thead></table>", "**a**");
    let head = "<table><tr><th>h<th>i<th>j";
    let expect = "| h | i | j |\n| --- | --- | --- |\n";
    check(
        &format!("{head}<tr><td>a<td rowspan=2>b<td rowspan=2>c<tr><td>d</table>"),
        &format!("{expect}| a | b | c |\n| d | | |"),
    );
    check(
        &format!("{head}<tr><td rowspan=2>a<td>b<td rowspan=2>c<tr><td>d</table>"),
        &format!("{expect}| a | b | c |\n| | d | |"),
    );
    check(
        &format!("{head}<tr><td>a<td>b<td rowspan=9>c<tr><td>d<td>e</table>"),
        &format!("{expect}| a | b | c |\n| d | e | |"),
    );
    check(&format!("{head}<tr><td>a<tr><td>d<td>e</table>"), &format!("{expect}| a |\n| d | e |"));
}

#[test]
fn pictures_that_a_click_shows_larger_stand_once() {
    check(
        "<label><input type=checkbox><img src=p><span class=img-wrapper><img src=p></span></label>",
        "![](https://a.test/d/p)",
    );
    check("<label><div><img src=p alt=a></div><div><img src=p alt=a></div></label>", "![a](https://a.test/d/p)");
    check("<label><a href=p><img src=p></a><img src='p'></label>", "[![](https://a.test/d/p)](https://a.test/d/p)");
    check("<p><img src=p><img src=p>", "![](https://a.test/d/p)![](https://a.test/d/p)");
    check("<label><img src=p><img src=p> 2</label>", "![](https://a.test/d/p)![](https://a.test/d/p) 2");
    check("<label><img src=p><img src=q></label>", "![](https://a.test/d/p)![](https://a.test/d/q)");
}
