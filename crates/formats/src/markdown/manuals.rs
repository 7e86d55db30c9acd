//! What the generators of manuals write: Sphinx, mdBook, Docusaurus and their kin.

use super::tests::check;

#[test]
fn headings_that_lead_to_themselves_are_no_links() {
    check("<h2 id=a><a class=header href='#a'>Head</a></h2>", "## Head");
    check("<h2>1 <a class=toc-backref href='#id1' role=doc-backlink><code>Head</code></a></h2>", "## 1 `Head`");
    check("<section id='a é'><h2><a href='/d/p#a%20%C3%A9'>Head</a></h2></section>", "## Head");
    check("<a href='#a' id=a><h2>Head</h2></a><a href='#b'><h3 id=b>Next</h3></a>", "## Head\n\n### Next");
    check("<dl><dt id=a><a href='#a'>Term</a><dd>b</dl>", "**Term**\n\nb");
    check("<h2 id=a>Head <a href='#a'>#a</a></h2>", "## Head");
    // Links to another place, or to the same one of another page.
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
    // Panels that are fetched later.
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
    // An accordion is one list of tabs with everything in it.
    check(
        "<div role=tablist><h4 role=tab id=t>Oak</h4><div role=tabpanel aria-labelledby=t>a</div></div>",
        "#### Oak\n\na",
    );
}
