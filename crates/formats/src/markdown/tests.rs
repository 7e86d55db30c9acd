//! What HTML becomes, by subject.

use url::Url;

use super::{MarkdownOptions, markdown};
use crate::content::{ContentOptions, content};
use crate::page::Page;

fn whole(html: &str, options: &MarkdownOptions) -> String {
    let page = Page::parse(html, &Url::parse("https://a.test/d/p").unwrap());
    let all = ContentOptions { only_main_content: false, ..ContentOptions::default() };
    markdown(&content(&page, &all), options)
}

fn check(html: &str, expect: &str) {
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
    check(
        "<span class=katex><math><annotation encoding='application/x-tex'>x^2</annotation></math><span class=katex-html>x2</span></span>",
        "$x^2$",
    );
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
    let keep = MarkdownOptions { remove_base64_images: false };
    assert_eq!(whole("<img src='data:image/png;base64,AAAA'>", &keep), "![](data:image/png;base64,AAAA)");
}

#[test]
fn lists() {
    check("<ul><li>a<li>b<ul><li>c</ul><li><p>d</p><p>e</p></ul>", "- a\n- b\n  - c\n- d\n\n  e");
    check("<ol start=9><li>a<li>b<ol><li>c</ol></ol>", "9. a\n10. b\n    1. c");
    check("<ol><li>a<ol start=3><li>b</ol></ol>", "1. a\n\n   3. b");
    check("<ol><li value=5>a<li>b</ol><ol><li>c</ol>", "5. a\n6. b\n\n1) c");
    check("<ul><li>a</ul><ul><li>b</ul>x<ul><li>c</ul>", "- a\n\n* b\n\nx\n\n- c");
    check("<ul><li></li><li>a</li></ul>", "- a");
    check("<ul><li>a</li><ul><li>b</li></ul></ul>", "- a\n  - b");
    check("<ul><li><ul><li>a</ul></ul>", "- - a");
    check(
        "<ul><li><input type=checkbox checked> a<li><label><input type=checkbox> b</label><li>[ ] c</ul>",
        "- [x] a\n- [ ] b\n- \\[ ] c",
    );
    check("<ul><li>a<pre>x\n\ny</pre><blockquote>q</blockquote></ul>", "- a\n\n  ```\n  x\n\n  y\n  ```\n\n  > q");
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
    check("<blockquote></blockquote>", "");
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
    check("<pre> \n </pre>", "");
    check("<xmp><b></xmp>", "```\n<b>\n```");
}

#[test]
fn tables() {
    check("<table><tr><th>a|b<tr><td>c<br>d|e</table>", "| a\\|b |\n| --- |\n| c<br>d\\|e |");
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
    check("<table><tr><td>x<table><tr><th>a<tr><td>b</table></table>", "x\n\n| a |\n| --- |\n| b |");
    check("<table role=presentation><tr><th>a<tr><td>b</table>", "a\n\nb");
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
