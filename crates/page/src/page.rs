//! A page: its nodes in document order, the walk over them, and the URL that relative links refer to.

use std::cell::OnceCell;
use std::ops::Range;

use base::Stop;
use dom_query::{Document, Element};
use html5ever::interface::{ElementFlags, NodeOrText, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{LocalName, local_name};
use url::Url;

use crate::parse::parse;
use crate::steps::Steps;
use crate::tree::{Data, Node};

/// A parsed page: made once, read by every format.
///
/// The size of the tree is bounded: nesting past 512 elements is flattened, attributes past 256 of one tag are left
/// out, and parsing stops after 600 000 nodes or 64 MiB. [`Page::truncated`] says whether that happened.
pub struct Page {
    nodes: Vec<Node>,
    document: OnceCell<Document>,
    steps: Steps,
    stop: Stop,
    url: Url,
    base: Url,
    truncated: bool,
}

/// The position of a node in document order; 0 is the document itself.
pub type Index = usize;

impl Page {
    /// Parses `html`, which was read from `url`. Never fails: HTML has no syntax errors.
    pub fn parse(html: &str, url: &Url) -> Page {
        Page::parse_until(html, url, &Stop::new())
    }

    /// Parses `html` like [`Page::parse`], for work that can be cancelled. Once `stop` is set, parsing and everything
    /// that reads the page end early; their results are incomplete and must be discarded.
    pub fn parse_until(html: &str, url: &Url, stop: &Stop) -> Page {
        let (nodes, truncated) = parse(html, stop);
        let (document, steps) = (OnceCell::new(), Steps::default());
        let (stop, url) = (stop.clone(), url.clone());
        let mut page = Page { nodes, document, steps, stop, base: url.clone(), url, truncated };
        if let Some(base) = page.declared_base() {
            page.base = base;
        }
        page
    }

    /// Whether parts of the page were left out because of the limits on size and nesting.
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    /// Base URL of relative links: `<base href>` where it is present and usable, else the page's URL.
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// URL that the page was read from.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The page as a dom_query tree without comments, built on first use. Meant for tests: the nodes of the page itself
    /// are many times faster to walk.
    pub fn document(&self) -> &Document {
        self.document.get_or_init(|| document(&self.nodes))
    }

    /// Whether the budget for selectors allows a value of `length` bytes in a result. The value is charged to that
    /// budget because many selectors could ask for the same value.
    pub fn may_return(&self, length: usize) -> bool {
        self.steps.may_return(length, &self.stop)
    }

    /// Whether the selectors used on this page exceeded their common budget (about half a second of work). If so, the
    /// results of [`Page::select`] are wrong and must be discarded.
    pub fn is_out_of_steps(&self) -> bool {
        self.steps.is_spent()
    }

    fn declared_base(&self) -> Option<Url> {
        let index =
            (0..self.node_count()).find(|&i| self.is(i, &local_name!("base")) && self.attr(i, "href").is_some())?;
        let base = self.url.join(self.attr(index, "href")?.trim()).ok()?;
        matches!(base.scheme(), "http" | "https").then_some(base)
    }
}

/// Access to the nodes.
impl Page {
    /// Number of nodes, including the document itself.
    #[inline]
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// All nodes in document order; ends early once the stop signal is set.
    #[inline]
    pub fn positions(&self) -> impl Iterator<Item = Index> + '_ {
        (0..self.node_count()).take_while(|_| !self.stop.is_set())
    }

    /// The position after the last descendant of `index`.
    #[inline]
    pub fn end(&self, index: Index) -> Index {
        self.nodes[index].end as Index
    }

    /// The positions of the node and its descendants.
    #[inline]
    pub fn subtree(&self, index: Index) -> Range<Index> {
        index..self.end(index)
    }

    /// The parent of a node; `None` for the document.
    #[inline]
    pub fn parent(&self, index: Index) -> Option<Index> {
        (index > 0).then(|| self.nodes[index].parent as Index)
    }

    /// The children of a node.
    #[inline]
    pub fn children(&self, index: Index) -> impl Iterator<Item = Index> + '_ {
        let end = self.end(index);
        let first = (index + 1 < end).then_some(index + 1);
        std::iter::successors(first, move |&child| Some(self.end(child)).filter(|&next| next < end))
    }

    /// Ancestors, nearest first.
    #[inline]
    pub fn ancestors(&self, index: Index) -> impl Iterator<Item = Index> + '_ {
        std::iter::successors(self.parent(index), |&i| self.parent(i))
    }

    /// The tag name of an element, in lower case for HTML; `None` for text.
    #[inline]
    pub fn name(&self, index: Index) -> Option<&LocalName> {
        self.element(index).map(|element| &element.name.local)
    }

    /// Whether a node is an element called `name`.
    #[inline]
    pub fn is(&self, index: Index, name: &LocalName) -> bool {
        self.name(index) == Some(name)
    }

    /// The first element called `name`.
    pub fn first(&self, name: &LocalName) -> Option<Index> {
        (0..self.node_count()).find(|&i| self.is(i, name))
    }

    /// The element at `index` with its attributes; `None` for text.
    #[inline]
    pub fn element(&self, index: Index) -> Option<&Element> {
        match &self.nodes[index].data {
            Data::Element(element) => Some(element),
            Data::Text(_) | Data::Other => None,
        }
    }

    /// The value of an attribute; shared, not copied.
    #[inline]
    pub fn attr(&self, index: Index, name: &str) -> Option<StrTendril> {
        self.element(index)?.attr(name)
    }

    /// The text of a text node.
    #[inline]
    pub fn text(&self, index: Index) -> Option<&str> {
        match &self.nodes[index].data {
            Data::Text(text) => Some(text),
            Data::Element(_) | Data::Other => None,
        }
    }

    /// The text of a node and its descendants, as written.
    pub fn text_of(&self, index: Index) -> String {
        self.subtree(index).filter_map(|i| self.text(i)).collect()
    }

    /// Stop signal, set when the caller disconnects.
    #[inline]
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// The remaining budget for selectors.
    pub(crate) fn steps(&self) -> &Steps {
        &self.steps
    }
}

fn document(nodes: &[Node]) -> Document {
    let document = Document::default();
    let mut ids = vec![document.tree.root_id()];
    for node in nodes.iter().skip(1) {
        let id = match &node.data {
            Data::Element(element) => {
                document.create_element(element.name.clone(), element.attrs.clone(), ElementFlags::default())
            }
            Data::Text(text) => document.tree.new_text(text.clone()).id,
            Data::Other => document.tree.new_text("").id,
        };
        document.append(&ids[node.parent as usize], NodeOrText::AppendNode(id));
        ids.push(id);
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(html: &str) -> Page {
        Page::parse(html, &Url::parse("https://a.test/dir/page").unwrap())
    }

    fn outline(page: &Page, index: Index) -> String {
        let children: Vec<_> = page.children(index).map(|child| outline(page, child)).collect();
        let name = page.name(index).map(ToString::to_string).or(page.text(index).map(|t| format!("'{t}'")));
        format!("{}({})", name.unwrap_or_default(), children.join(" ")).replace("()", "")
    }

    #[test]
    fn nodes_are_in_document_order() {
        let page = page("<div><p>a<b>c</b></p>d</div><i>e</i><table>x<td>y");
        assert_eq!(outline(&page, 0), "(html(head body(div(p('a' b('c')) 'd') i('e') 'x' table(tbody(tr(td('y')))))))");
        let y = (0..page.node_count()).find(|&i| page.text(i) == Some("y")).unwrap();
        let names: Vec<_> = page.ancestors(y).filter_map(|i| page.name(i)).map(ToString::to_string).collect();
        assert_eq!(names, ["td", "tr", "tbody", "table", "body", "html"]);
    }

    #[test]
    fn base_is_honoured_when_usable() {
        let check = |html: &str, base: &str| assert_eq!(page(html).base().as_str(), base, "{html}");
        check("<p>x", "https://a.test/dir/page");
        check("<base href='/b/'>", "https://a.test/b/");
        check("<base target=x><base href='//c.test/'><base href='/later'>", "https://c.test/");
        check("<base href='javascript:x'>", "https://a.test/dir/page");
    }

    fn body(html: &str) -> String {
        let page = page(html);
        outline(&page, page.first(&local_name!("body")).unwrap())
    }

    #[test]
    fn declared_shadow_roots_are_shown_with_their_slots() {
        let root = "<template shadowrootmode=open><style>p{}</style><h2><slot name=t>Untitled</slot></h2><slot></slot>!</template>";
        let check = |html: &str, expect: &str| assert_eq!(body(html), expect, "{html}");
        check(
            &format!("<x-y>{root}<b slot=t>A</b><b slot=no>gone</b>B</x-y>C"),
            "body(x-y(style('p{}') h2(slot(b('A'))) slot('B') '!') 'C')",
        );
        check(&format!("<div>{root}</div>"), "body(div(style('p{}') h2(slot('Untitled')) slot '!'))");
        check("<ul><template shadowrootmode=open><b>x</b></template><li>y</ul>", "body(ul(template li('y')))");
        check("<x-y><template><b>x</b></template>y</x-y>", "body(x-y(template 'y'))");
        // A slot may be assigned to a slot of an inner root.
        check(
            "<x-o><template shadowrootmode=open><x-i><template shadowrootmode=closed>[<slot></slot>]</template><slot></slot></x-i></template>z</x-o>",
            "body(x-o(x-i('[' slot(slot('z')) ']')))",
        );
        // Each root moves the next one deeper.
        let deep = "<x-o><template shadowrootmode=open><i><slot></slot></i></template>".repeat(500) + "end";
        let page = page(&deep);
        assert!(page.text_of(0).ends_with("end") && (0..page.node_count()).all(|i| page.ancestors(i).count() < 4200));
    }

    #[test]
    fn pages_in_attributes_are_a_part_of_the_page() {
        let check = |html: &str, expect: &str| assert_eq!(body(html), expect, "{html}");
        check(
            "a<iframe class=k srcdoc='<base href=/x><title>t</title><p>b'>old</iframe>c",
            "body('a' div(p('b')) 'c')",
        );
        check("<iframe srcdoc='<script>x</script>' src=/f></iframe>", "body(iframe)");
        check(
            "<iframe srcdoc='<p>x' width=1></iframe><iframe style='display: none' srcdoc=y></iframe>",
            "body(iframe iframe)",
        );
        check("<iframe srcdoc='<iframe srcdoc=\"<i>x\"></iframe>'></iframe>", "body(div(div(i('x'))))");
        assert_eq!(page("<iframe srcdoc='<base href=/x><p>b'></iframe>").base().as_str(), "https://a.test/dir/page");
        assert!(body(&"<iframe srcdoc=x></iframe>".repeat(500)).contains("iframe"));
    }

    #[test]
    fn hidden_mail_addresses_are_shown() {
        let check = |html: &str, expect: &str, href: Option<&str>| {
            let page = page(html);
            let link = page.first(&local_name!("a")).and_then(|a| page.attr(a, "href"));
            assert_eq!((page.text_of(0).as_str(), link.as_deref()), (expect, href), "{html}");
        };
        // The key is 0x20: letters change their case.
        let code = "20416042";
        check(&format!("<span data-cfemail={code}>[email&#160;protected]</span>"), "a@b", None);
        check(
            &format!(
                "<a href='/cdn-cgi/l/email-protection#{code}'><b data-cfemail={code}>[email&#160;protected]</b></a>"
            ),
            "a@b",
            Some("mailto:a@b"),
        );
        check(
            "<a href='https://a.test/cdn-cgi/l/email-protection#20416042'>[email&#160;protected]</a>",
            "a@b",
            Some("mailto:a@b"),
        );
        check("<a href='/cdn-cgi/l/email-protection#20416042'>Write to us</a>", "Write to us", Some("mailto:a@b"));
        check(
            "<a href=/cdn-cgi/l/email-protection class=__cf_email__ data-cfemail=20416042>[email&#160;protected]</a>",
            "a@b",
            Some("mailto:a@b"),
        );
        for broken in ["", "2", "20", "2041zz", "é1", "2021e9ff"] {
            check(&format!("<i data-cfemail='{broken}'>kept</i>"), "kept", None);
        }
    }
}
