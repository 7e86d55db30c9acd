//! Tests of HTML to markdown, by subject.

use page::Page;
use url::Url;

use super::{LinkStyle, MarkdownOptions, markdown};
use crate::content::ContentOptions;
use crate::select::content;

pub(super) fn whole(html: &str, options: &MarkdownOptions) -> String {
    let page = Page::parse(html, &Url::parse("https://a.test/d/p").unwrap());
    let all = ContentOptions { only_main_content: false, ..ContentOptions::default() };
    markdown(&content(&page, &all), options)
}

pub(super) fn check(html: &str, expect: &str) {
    assert_eq!(whole(html, &MarkdownOptions::default()), expect, "{html}");
}

#[test]
fn paragraphs_and_headings() {
    check("<h1>a</h1><p>b</p>c<div>d<div>e</div>f</div>", "# a\n\nb\n\nc\n\nd\n\ne\n\nf");
    check("<h2> a <br> b <img src=i alt=j></h2><h6>#</h6>", "## a b ![j](https://a.test/d/i)\n\n###### \\#");
    check("<h1><div>a</div><div>b</div></h1><h3></h3>", "# a b");
    check("<h2>Use <a href='#use' class=anchor>¶</a><a href='#use'></a></h2>", "## Use");
    check("<h2><a href='#use'>Use</a></h2>", "## [Use](https://a.test/d/p#use)");
    check("a<br>b<br><br>c<hr>d", "a  \nb\n\nc\n\n* * *\n\nd");
    check("<p></p><p>&nbsp;</p><div> </div>", "");
}

#[test]
fn inline_marks() {
    check("<b>a</b> <i>b</i> <s>c</s> <code>d</code> <kbd>e</kbd>", "**a** _b_ ~~c~~ `d` `e`");
    check("H<sub>2</sub>O x<sup>2</sup> <u>u</u> <q>q</q>", "H<sub>2</sub>O x<sup>2</sup> u \"q\"");
    check("<b>a<p>b</p>c</b>", "**a**\n\n**b**\n\n**c**");
    check("<code>a `b` *c*</code>", "``a `b` *c*``");
    check("<code>a<a href=u>b</a></code>", "`a`[`b`](https://a.test/d/u)");
    check("<b></b><a href=x></a><i> </i>x", "x");
    check("<b><strong>a</strong></b> <b><b>a</b></b> <i>a <em>b</em> c</i>", "**a** **__a__** _a *b* c_");
    check("<b>a</b><strong>b</strong> <b>c</b> <b>d</b>", "**ab** **c** **d**");
    check("un<b>frigging</b>likely <i>un</i>do", "un**frigging**likely *un*do");
    check("<b>Note:</b>text <b>Note:</b> text", "<strong>Note:</strong>text **Note:** text");
    check("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rt>ji</rt></ruby>", "漢(kan)字(ji)");
    check("<code>a <b>b</b> <i>c</i></code><code>d</code> <code> e</code>", "`a b cd` ` e`");
    check("<code>\n  a\n  b\n</code>", "`a b`");
}

#[test]
fn formulas() {
    let math = "<math><annotation encoding='application/x-tex'>x^2</annotation></math>";
    check(&format!("<span class=katex>{math}<span class=katex-html>x2</span></span>"), "$x^2$");
    check(&format!("<p class=katex-display><span class=katex><span>{math}</span></span></p>"), "$$x^2$$");
    check(
        "<math alttext='{\\displaystyle a}'><mi>a</mi></math><img class=mwe-math-fallback-image-inline src=a>",
        "$a$",
    );
    check("<math display=block alttext='a  b'><mi>a</mi></math>", "$$a b$$");
    check("<math><mi>a</mi><mo>+</mo><mi>b</mi></math>", "$a+b$");
    check("a <math><msup><mn>10</mn><mn>6</mn></msup></math> b<math></math>", "a $10^{6}$ b");
    check("<h2><math><mfrac><mn>1</mn><mn>2</mn></mfrac></math></h2>", "## $\\frac{1}{2}$");
    check(
        "<table><tr><th>a<th>b<tr><td><math><mo>|</mo><mi>x</mi></math><td>c</table>",
        "| a | b |\n| --- | --- |\n| $\\|x$ | c |",
    );
    check("<img class=latex alt='x_1' src=l.png>", "$x_1$");
    check(
        "a <span class=MathJax_Preview>p</span><span class=MathJax>drawn</span><script type='math/tex'>y_2</script> b",
        "a $y_2$ b",
    );
    check("<div class=MathJax_Display>d</div><script type='math/tex; mode=display'>y</script>", "$$y$$");
    check("<span class=MathJax>kept</span>", "kept");
    check("<p>\\(x_1\\)", "\\\\(x_1\\\\)");
    // Formulas rendered by scripts, from the MathML or TeX that they keep.
    let fraction = "<math><mfrac><mi>s</mi><mi>t</mi></mfrac></math>";
    check(
        &format!(
            "a <mjx-container class=MathJax><mjx-math>st</mjx-math><mjx-assistive-mml>{fraction}</mjx-assistive-mml></mjx-container>."
        ),
        "a $\\frac{s}{t}$.",
    );
    check("<mjx-container display=true><mjx-math data-latex='a_1'>a1</mjx-math></mjx-container>", "$$a_1$$");
    check(
        &format!("a <span class=MathJax><nobr>st</nobr><span class=MJX_Assistive_MathML>{fraction}</span></span> b"),
        "a $\\frac{s}{t}$ b",
    );
    check("<span class=MathJax_SVG data-mathml='<math><mi>x</mi></math>'><svg></svg></span>", "$x$");
    check("<span class=MathJax>a</span><script>x()</script>", "a");
    // Unrendered TeX in an element that is marked as a formula.
    check("<span class='math inline'>\\(x_1\\)</span> <span class=math>none</span>", "$x_1$ none");
    check("<p>a</p><div class='math notranslate'>\\[ a_1 * b \\]</div>b", "a\n\n$$a_1 * b$$\n\nb");
    check("<span class=katex-html><span>10</span><span class=msupsub>6</span></span>", "10<sup>6</sup>");
}

#[test]
fn raised_and_lowered_text_joins_no_number() {
    check("10<sup>6</sup> <b>x<sub>1</sub></b>", "10<sup>6</sup> **x<sub>1</sub>**");
    check("<code>10<sup>6</sup> a<sub>i</sub> b<sup>*</sup></code>", "`10^6 a_i b*`");
    check("<pre>10<sup>6</sup>\n<sup>a</sup></pre>", "```\n10^6\na\n```");
    check("10<span style='font-size: 50%; vertical-align: super'>6</span>", "10<sup>6</sup>");
    check("10<span class=sup>6</span> H<span class=subscript>2</span>O", "10<sup>6</sup> H<sub>2</sub>O");
}

#[test]
fn callouts() {
    let tip = "> **Tip**\n>\n> Text.";
    check(
        "<div class='theme-admonition theme-admonition-tip alert alert--success'><div class=admonitionHeading_x><span><svg><title>t</title></svg></span>tip</div><div class=admonitionContent_y><p>Text.</div></div>",
        tip,
    );
    check("<div class='admonition tip'><p class=admonition-title>Tip</p><p>Text.</div>", tip);
    check(
        "<aside class='starlight-aside starlight-aside--tip'><p class=starlight-aside__title>Tip</p><div><p>Text.</div></aside>",
        tip,
    );
    check("<div class='alert alert-tip'>Text.</div>", tip);
    check(
        "<div class='admonitionblock tip'><table><tr><td class=icon><i class='fa icon-tip'></i></td><td class=content><ul><li>Text.</ul></table></div>",
        "> **Tip**\n>\n> - Text.",
    );
    check("<div class=note><h3 class=title>Note</h3><p>Text.</div>", "> **Note**\n>\n> Text.");
    check("<dl class='section note'><dt>Note</dt><dd>Text.</dl>", "> **Note**\n>\n> Text.");
    // The kind is not repeated; a title is written after it.
    check("<div class=note><strong>Note:</strong> Text.</div>", "> **Note:** Text.");
    check(
        "<div class='alert alert-warning'><h4 class=alert-heading>Mind the saw</h4>Text.</div>",
        "> **Warning: Mind the saw**\n>\n> Text.",
    );
    check("<div class='admonition note'><p class=admonition-title>Hinweis</p>Text.</div>", "> **Hinweis**\n>\n> Text.");
    check("<div class=warning><h3>Mind the saw</h3>Text.</div>", "> **Warning**\n>\n> ### Mind the saw\n>\n> Text.");
    check("<div role=note>Text.</div>", "> Text.");
    check(
        "<div class='admonition note'>a<div class='admonition tip'>b</div></div>",
        "> **Note**\n>\n> a\n>\n> > **Tip**\n> >\n> > b",
    );
    check("<div class='callout callout-tip'><div class='callout tip'>Text.</div></div>", tip);
    check("<ul><li>a<div class=note>b</div></ul><div class='admonition tip'> </div>", "- a\n  > **Note**\n  >\n  > b");
    check("<table><tr><th>a<th>b<tr><td><div class=note>c</div><td>d</table>", "| a | b |\n| --- | --- |\n| c | d |");
}

#[test]
fn signs_without_text_go() {
    for link in [
        "<a class=hash-link href='#a'>\u{200b}</a>",
        "<a class=headerlink href='#a' title='Link to this heading'>¶</a>",
        "<a href='#a'>#</a>",
        "<a href='/p#a'><svg><title>t</title></svg></a>",
        "<a href='#a'><img src=link.svg alt=link></a>",
        "<a href='#a'><i class=material-icons>link</i></a>",
        "<a class=sl-anchor-link href='#a'><span>Section titled “A”</span></a>",
        "<a href='#a' class=anchor>Permalink</a>",
    ] {
        check(&format!("<h2>A {link}</h2>"), "## A");
        check(&format!("<dl><dt>A {link}<dd>b</dl>"), "**A**\n\nb");
        check(&format!("<figure><figcaption>A {link}</figcaption></figure>"), "A");
    }
    check(
        "a <a href='#x'>#</a> <a href='#y'>\u{200b}</a><a href='/p#z'><img src=i></a>",
        "a [#](https://a.test/d/p#x) [![](https://a.test/d/i)](https://a.test/p#z)",
    );
    check(
        "<i class=material-icons>expand_more</i><span class='material-symbols-outlined'>home</span><mat-icon>menu</mat-icon> a",
        "a",
    );
    check("<i class=material-icons>A text</i>", "_A text_");
    for name in ["Anchor tags", "Direct links", "Copied files", "Anchor"] {
        check(&format!("<h2><a href='#x'>{name}</a></h2>"), &format!("## [{name}](https://a.test/d/p#x)"));
    }
    check("<h2>A <a href='#x'>Direct link to A</a></h2>", "## A");
    check(
        "<pre>a: <a title='struct arboard::Clipboard'>Clipboard</a> <b title='Copy constructor'>new</b></pre>",
        "```\na: Clipboard new\n```",
    );
    check("<pre>a<span role=button title='Copy to clipboard'>Copy</span></pre>", "```\na\n```");
    check("<div>a<button class=copy-btn>x</button><button>Copy</button><button>Buy</button></div>", "aBuy");
    check("<pre>a<span class=copybtn>Copy</span><select><option>x</select></pre>", "```\na\n```");
}

#[test]
fn parts_that_stand_apart() {
    check("<div style='display: grid'><span>Oak</span><span>90</span></div>", "Oak 90");
    check("<a class='flex x' href=u><span>a</span><b>b</b>c</a>", "[a **b** c](https://a.test/d/u)");
    check("<span class=cell>a</span><span class=cell>b</span>", "a b");
    check("<p><span class=x>a</span><span>b</span>", "ab");
    let row = |role: &str, a: &str, b: &str| {
        format!("<div role=row><span role={role}>{a}</span><span role={role}>{b}</span></div>")
    };
    let grid =
        format!("x<div role=grid>{}{}</div>y", row("columnheader", "Wood", "Price"), row("gridcell", "Oak", "9|0"));
    check(&grid, "x\n\n| Wood | Price |\n| --- | --- |\n| Oak | 9\\|0 |\n\ny");
    check("<div role=table><div role=row><div role=cell>a</div></div></div>", "a");
}

#[test]
fn footnotes() {
    check(
        "<p>a<sup class=footnote-ref><a href='#fn1' id=r1>[1]</a></sup> b<a href='#fn:x' data-footnote-ref>2</a>
         <section class=footnotes><ol><li id=fn1><p>one <a href='#r1' class=footnote-backref>↩</a></p><p>more</p>
         <li id='fn:x'>two</ol></section>",
        "a[^1] b[^2]\n\n[^1]: one\n\n    more\n\n[^2]: two",
    );
    check(
        "<p>a<a class=footnote-anchor href='#f1' id=b1>1</a></p>
         <div class=footnote><a id=f1 href='#b1'>1</a><div><p>note</p></div></div>",
        "a[^1]\n\n[^1]: note",
    );
    check("a<sup><a href='#n'>1</a></sup><p id=n>b", "a<sup>[1](https://a.test/d/p#n)</sup>\n\nb");
    check("a<sup><a href='#gone'>1</a></sup>", "a<sup>[1](https://a.test/d/p#gone)</sup>");
}

#[test]
fn links_as_written() {
    let as_written = MarkdownOptions { links: LinkStyle::AsWritten, ..MarkdownOptions::default() };
    let check = |html: &str, expect: &str| assert_eq!(whole(html, &as_written), expect, "{html}");
    check(
        "<a href=' ../x '>a</a> <a href='HTTP://B.test'>b</a> <a href='#c'>c</a>",
        "[a](../x) [b](HTTP://B.test) [c](#c)",
    );
    check("<a href=''>a</a> <a href='java\nscript:x'>b</a>", "[a]() b");
    check("<img src='a b.png' alt=a> <iframe src='/v' title=t></iframe>", "![a](a%20b.png)\n\n[t](/v)");
    check("<a href=/u title=foo>foo</a>", "[foo](/u \"foo\")");
}

#[test]
fn links() {
    check("<a href=x>a](http://evil.test) [b</a>", "[a\\](http://evil.test) \\[b](https://a.test/d/x)");
    check("<a href='/a (b)\n c'>x</a>", "[x](https://a.test/a%20(b)%20c)");
    check("<a href='/a)b(' title='t \"u\"'>x</a>", "[x](https://a.test/a\\)b\\( \"t \\\"u\\\"\")");
    check("<a href='javascript:x'>a</a> <a name=n>b</a> <a href=mailto:c@d.e>c</a>", "a b [c](mailto:c@d.e)");
    check(
        "<a href=u><h3>T</h3><p>text</p><img src=i></a>",
        "### [T](https://a.test/d/u)\n\n[text ![](https://a.test/d/i)](https://a.test/d/u)",
    );
    check("<a href=u><div>a</div><div>b</div></a>", "[a b](https://a.test/d/u)");
    check("<sup><a href='#n1'>[1]</a></sup>", "<sup>[[1]](https://a.test/d/p#n1)</sup>");
    check("Wow!<a href=u>x</a> [<a href=u>edit</a>]", "Wow\\![x](https://a.test/d/u) [[edit](https://a.test/d/u)]");
}

#[test]
fn images_and_players() {
    check("<img src=a.jpg srcset='b.jpg 2x' alt='x [y]' title=t>", "![x [y]](https://a.test/d/b.jpg \"t\")");
    check("<a href=u><img src=a.jpg alt=x></a>", "[![x](https://a.test/d/a.jpg)](https://a.test/d/u)");
    check("<img src='data:image/png;base64,AAAA' alt=chart>", "![chart](<Base64-Image-Removed>)");
    check("<img src=t.gif width=1 height=1><img alt=none>", "");
    check(
        "a<iframe src=//v.test/1 title='A film'></iframe><video><source src=m.mp4></video>",
        "a\n\n[A film](https://v.test/1)\n\n[video](https://a.test/d/m.mp4)",
    );
    let keep = MarkdownOptions { remove_base64_images: false, ..MarkdownOptions::default() };
    assert_eq!(whole("<img src='data:image/png;base64,AAAA'>", &keep), "![](data:image/png;base64,AAAA)");
}

#[test]
fn lists() {
    check("<ul><li>a<li>b<ul><li>c</ul><li><p>d</p><p>e</p></ul>", "- a\n- b\n  - c\n- d\n\n  e");
    check("<ol start=9><li>a<li>b<ol><li>c</ol></ol>", "9. a\n10. b\n    1. c");
    check("<ol><li>a<ol start=3><li>b</ol></ol>", "1. a\n\n   3. b");
    check("<ol><li value=5>a<li>b</ol><ol><li>c</ol>", "5. a\n6. b\n\n1) c");
    check("<ul><li>a</ul><ul><li>b</ul>x<ul><li>c</ul>", "- a\n\n* b\n\nx\n\n- c");
    check("<ul><li></li><li>a</li><li class=x></li><li><br></li></ul>", "-\n- a");
    check("<ul><li>a<ul><li></li></ul></li><li></li></ul>", "- a\n\n  -\n-");
    check("<ul><li>a</li><ul><li>b</li></ul></ul>", "- a\n  - b");
    check("<ul><li><ul><li>a</ul></ul>", "- - a");
    check("<ol><li>a</li><ol><li>b</li></ol><li>c</li></ol>", "1. a\n   1. b\n2. c");
    check("<ol start=9><li>a<li>b</li><ul><li>c</li></ul></ol>", "9. a\n10. b\n    - c");
    check("<ul><li>a</li><ol start=4><li>b</li></ol><li>c</li></ul>", "- a\n\n  4. b\n- c");
    check("<ul><ul><li>a</li></ul><li>b</li></ul>", "- - a\n- b");
    check("<ol><ol><li>a</li></ol><li>b</li></ol>", "- 1. a\n\n1. b");
    check("<ul><li>a</li><div><ul><li>b</li></ul></div></ul>", "- a\n  - b");
    check("<ol><li>a</li><p>b</p><li>c</ol>", "1. a\n\n   b\n\n2. c");
    check("<ul><li>a</li><ul><li>b</li><ul><li>c</li></ul></ul><li>d</li></ul>", "- a\n  - b\n    - c\n- d");
    check(
        "<ul><li><input type=checkbox checked> a<li><label><input type=checkbox> b</label><li>[ ] c</ul>",
        "- [x] a\n- [ ] b\n- \\[ ] c",
    );
    check("<ul><li>a<pre>x\n\ny</pre><blockquote>q</blockquote></ul>", "- a\n  ```\n  x\n\n  y\n  ```\n  > q");
    check("<ul><li><p>a</p><ul><li>b</ul><li><p>c</p><pre>x</pre></ul>", "- a\n\n  - b\n- c\n\n  ```\n  x\n  ```");
    check("<ul><li>a<blockquote>b</blockquote><blockquote>c</blockquote>d</ul>", "- a\n  > b\n\n  > c\n\n  d");
    check("<div class=hlist><ul><li><a href=u>a</a><li>b</ul></div>", "[a](https://a.test/d/u) · b");
    check("<ul><li>a</ul><p>b", "- a\n\nb");
    check("<li>a", "- a");
    check("<dl><dt>a<dd>b<dt><b>c</b><dd><p>d</dl>", "**a**\n\nb\n\n**c**\n\nd");
    check("<details><summary>a</summary>b<p>c</details>", "**a**\n\nb\n\nc");
}

#[test]
fn quotes() {
    check(
        "<blockquote>a<blockquote>b</blockquote><p>c</blockquote><blockquote>d</blockquote>",
        "> a\n>\n> > b\n>\n> c\n\n> d",
    );
    check("<blockquote><ul><li>a<li>b</ul></blockquote>", "> - a\n> - b");
    check("<blockquote></blockquote>", ">");
    check("<blockquote class=x></blockquote><blockquote><br></blockquote>", "");
}

#[test]
fn code_blocks() {
    check("<pre>a\n  b\n</pre>", "```\na\n  b\n```");
    check("<pre><code class='hljs language-Rust'>a</code></pre>", "```rust\na\n```");
    check("<div class='highlight highlight-source-js'><pre>a</pre></div>", "```js\na\n```");
    check("<pre class='brush: php;'>a</pre><pre data-lang='x y'>b</pre>", "```php\na\n```\n\n```\nb\n```");
    check("<pre>```\n# not a heading\n```</pre>", "````\n```\n# not a heading\n```\n````");
    check("<pre>a<br>b<span class=lineno>7</span><div>c</div>d</pre>", "```\na\nb\nc\nd\n```");
    check("<table><tr><td class=gutter><pre>1\n2</pre><td class=code><pre>a\nb</pre></table>", "```\na\nb\n```");
    check("<pre> \n </pre><pre></pre><pre class=x><code></code></pre>", "");
    check("<pre><code></code></pre>", "```\n```");
    check("<pre><code>\na\n\n</code></pre>", "```\n\na\n```");
    check(
        "<pre><span class=line>a</span>\n<span class=line></span>\n<span class=line>b</span></pre>",
        "```\na\n\nb\n```",
    );
    check("<pre><span class=line>a</span><span class=line></span><span class=line>b</span></pre>", "```\na\n\nb\n```");
    check("<pre><span class=token-line>a<br></span><span class=token-line><br></span>b</pre>", "```\na\n\nb\n```");
    check(
        "<table class=highlighttable><tr><td class=linenos><pre>1\n2</pre><td class=code><div class=highlight-c><pre>a\nb",
        "```c\na\nb\n```",
    );
    check(
        "<div class='syntaxhighlighter js'><table><tr><td class=gutter><div>1</div><td><div class=line>a</div><div class=line>b",
        "```js\na\nb\n```",
    );
    check(
        "<table class=js-file-line-container><tr><td class=blob-num data-line-number=1><td>a<tr><td class=blob-num><td>b",
        "```\na\nb\n```",
    );
    check("<div class=CodeMirror-code><div><pre>a</pre></div><div><pre>b</pre></div></div>", "```\na\nb\n```");
    check("<pre><span style='user-select:none'>1</span>a <span aria-hidden=true>2</span>\n</pre>", "```\na\n```");
    check("<xmp><b></xmp>", "```\n<b>\n```");
}

#[test]
fn tables() {
    check("<table><tr><th>a|b<tr><td>c<br>d|e</table>", "| a\\|b |\n| --- |\n| c<br>d\\|e |");
    check(
        "<table><tr><th scope=row>a<td>b<tr><th scope=row>c<td>d</table>",
        "| | |\n| --- | --- |\n| **a** | b |\n| **c** | d |",
    );
    check("<table><thead><tr><th>a<td>b</thead><tr><td>c<td>d</table>", "| a | b |\n| --- | --- |\n| c | d |");
    check("<table><tr><td><b>Note</b><td>one row</table>", "**Note**\n\none row");
    check("<table><tr><td><ul><li>a<li>b</ul><td><ul><li>c</ul></table>", "| - a<br>- b | - c |\n| --- | --- |");
    check("<table><tr><th>a<tr><td><p>b</p><p>c</p></table>", "**a**\n\nb\n\nc");
    check("<table class=infobox><tr><th>a<td><ul><li>b</ul><tr><th>c<td>d</table>", "**a**\n\n- b\n\n**c**\n\nd");
    check(
        "<table><caption>t</caption><tr><th align=right>a<th>b<tr><td>c<td></table>",
        "t\n\n| a | b |\n| ---: | --- |\n| c | |",
    );
    check("<table><tr><td colspan=1000000000 rowspan=1000000000>x</td></tr></table>", "x");
    check(
        "<table><tr><th colspan=2>a<tr><td>b<td>c<tr><td rowspan=2>d<td>e<tr><td>f</table>",
        "| a | |\n| --- | --- |\n| b | c |\n| d | e |\n| | f |",
    );
    check(
        "<table><tr><td>a<td><p>b</p><p>c</p><tr><td><ul><li>d<li>e</ul><td><code>f|g</code></table>",
        "| a | b<br>c |\n| --- | --- |\n| - d<br>- e | `f\\|g` |",
    );
    check("<table><tr><td><h2>a</h2><td>b</table>", "## a\n\nb");
    let headed = |cell: &str| format!("<table><tr><th>a<th>b<tr><td>{cell}<td>z</table>");
    let expect = |cell: &str| format!("| a | b |\n| --- | --- |\n| {cell} | z |");
    check(&headed("<pre>  c|d\n\ne</pre>"), &expect("`  c\\|d`<br>`e`"));
    check(&headed("<h4>c</h4>d"), &expect("**c**<br>d"));
    check(&headed("<ol start=3><li>c<li>d<ul><li>e</ul></ol>"), &expect("3. c<br>4. d<br>- e"));
    check(&headed("<blockquote>c</blockquote>d"), &expect("c<br>d"));
    check(
        &headed("c<table><tr><th>k<th>v<tr><td><p>1|<p>2<td>3</table>d"),
        &expect("c<table><tr><th>k</th><th>v</th></tr><tr><td>1\\|<br>2</td><td>3</td></tr></table>d"),
    );
    check("<table><tr><td>a<td><pre>b\nc</pre><tr><td>d<td>e</table>", "| a | `b`<br>`c` |\n| --- | --- |\n| d | e |");
    check("<table><tr><td>x<table><tr><th>a<tr><td>b</table></table>", "x\n\n| a |\n| --- |\n| b |");
    check("<table role=presentation><tr><th>a<tr><td>b</table>", "**a**\n\nb");
    check(
        "<table><tr><th>a<th>b<tr><td><a href='/x|y' title='p|q'>c</a><td><img alt='d|e' src=f></table>",
        "| a | b |\n| --- | --- |\n| [c](https://a.test/x%7Cy \"p\\|q\") | ![d\\|e](https://a.test/d/f) |",
    );
}

#[test]
fn text_stays_text() {
    check(
        "<p># not heading</p><p>* not list</p><p>1. no</p><p>&lt;script&gt;x&lt;/script&gt;</p>",
        "\\# not heading\n\n\\* not list\n\n1\\. no\n\n&lt;script>x&lt;/script>",
    );
    check(
        "<script>a</script><style>b</style><template>c</template><!-- d --><p>&amp;lt; &copy;\u{0}\u{1b}",
        "&amp;lt; ©",
    );
    check("<p>a<br>---</p><p>a<br>=</p>", "a  \n\\---\n\na  \n\\=");
    check("snake_case 2*3 *x*", "snake_case 2\\*3 \\*x\\*");
}

#[test]
fn noscript_counts_when_it_is_richer() {
    check("<div id=app></div><noscript><p>text</p></noscript>", "text");
    check("<p>a longer text</p><noscript>turn on</noscript>", "a longer text");
}

#[test]
fn a_flood_of_links_loses_none() {
    let flood = |end: &str| (0..30_000).map(|n| format!("<a href=/{n}>w{n}</a>{end}")).collect::<String>();
    let paragraphs = |html: &str| whole(html, &MarkdownOptions::default()).split("\n\n").count();
    assert_eq!(paragraphs(&format!("<p>{}", flood("\n"))), 6, "120 000 pieces");
    assert_eq!(paragraphs(&format!("<p><b>{}</b>", flood("\n"))), 1, "not inside a mark");
    let found = whole(&format!("<p>{}", flood(" ")), &MarkdownOptions::default());
    assert!(found.matches("](").count() == 30_000 && found.contains("[w29999]("));
}

#[test]
fn bombs_end() {
    let bombs = [
        "<b>x<i>y".repeat(400) + &"</i></b>".repeat(400),
        "<p><b><i><u>".repeat(3_000),
        "<code>`</code>".repeat(5_000),
        "[".repeat(20_000) + &"](".repeat(20_000),
        "<a href='#f' class=footnote>1</a>".repeat(3_000) + "<div class=footnotes><p id=f>x",
        "<sup><a href='#f'>1".repeat(300),
        format!("<pre>{}", "<span class=line>x".repeat(400)),
        "<table><tr><td>x<td><ul><li>".repeat(100),
        "<dl><dt>x<dd>".repeat(400),
        format!("<table>{}</table>", "<tr><th>a<td>b".repeat(5_000)),
        "<div class=hlist><ul><li>x".repeat(200),
        "<span class=MathJax>x</span>".repeat(5_000),
        "*_".repeat(20_000),
        "<div role=tablist><b role=tab>x</b></div>".repeat(400) + &"<p role=tabpanel>x".repeat(5_000),
        format!(
            "<p role=tablist><b role=tab id=t>{}</b>{}",
            "x".repeat(90),
            "<p role=tabpanel aria-labelledby=t>y".repeat(5_000)
        ),
        "<div role=tabpanel><div role=tablist><b role=tab>x</b></div>".repeat(400),
        format!("<script src=mathjax.js></script>{}", "\\(x".repeat(20_000)),
    ];
    for bomb in bombs {
        let found = whole(&bomb, &MarkdownOptions::default());
        assert!(found.len() < 40 * bomb.len(), "{}", &bomb[..40]);
    }
}

#[test]
fn what_a_browser_has_not_shown_is_left_out() {
    check("<p>a<p hidden=unseen>b</p><div>c<span hidden=unseen>d</span></div><p hidden>e", "a\n\nc\n\ne");
}
