//! Code blocks: the text of `<pre>` as written, its language, and a fence that nothing inside can close.

use dom_query::{Element, LocalName, local_name};

use super::Writer;
use super::escape::longest_run;
use super::inline::Mark;
use crate::content::Content;
use crate::page::{Index, Page};

/// Classes of line numbers beside the code.
const GUTTERS: [&str; 8] =
    ["gutter", "lineno", "linenos", "line-number", "line-numbers", "linenumber", "linenodiv", "line-numbers-rows"];

impl Writer<'_> {
    pub(super) fn code_block(&mut self, index: Index) {
        if self.is_flat() {
            self.boundary();
            let code = text(self.content, index);
            let opened = self.inline.open(Mark::Code);
            for line in code.lines().filter(|line| !line.trim().is_empty()) {
                self.inline.text(line);
                self.inline.line_break();
            }
            if opened {
                self.inline.close();
            }
            return self.boundary();
        }
        self.flush();
        if let Some(block) = block(self.content, index) {
            self.blocks.write(&block);
        }
    }
}

/// The fenced block for the element at `index`, or None when it holds no text.
fn block(content: &Content, index: Index) -> Option<String> {
    let code = text(content, index);
    let code = code.trim_matches('\n').trim_end();
    if code.trim().is_empty() {
        return None;
    }
    let fence = "`".repeat((longest_run(code, '`') + 1).max(3));
    let language = language(content.page(), index).unwrap_or_default();
    Some(format!("{fence}{language}\n{code}\n{fence}"))
}

/// The text below `index` with its line breaks, without line numbers and buttons.
fn text(content: &Content, index: Index) -> String {
    let page = content.page();
    let mut out = String::new();
    let mut open_blocks: Vec<Index> = Vec::new();
    let mut at = index + 1;
    while at < page.end(index) {
        while open_blocks.last().is_some_and(|end| *end <= at) {
            open_blocks.pop();
            end_line(&mut out);
        }
        if content.is_removed(at) || page.name(at).is_some_and(|name| is_decoration(page, at, name)) {
            at = page.end(at);
            continue;
        }
        match page.name(at) {
            Some(&local_name!("br")) => out.push('\n'),
            Some(name) if is_line(name) => {
                end_line(&mut out);
                open_blocks.push(page.end(at));
            }
            Some(_) => {}
            None => {
                if let Some(text) = page.text(at) {
                    out.extend(text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')));
                }
            }
        }
        at += 1;
    }
    out
}

fn end_line(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

fn is_line(name: &LocalName) -> bool {
    matches!(*name, local_name!("div") | local_name!("p") | local_name!("li") | local_name!("tr"))
}

fn is_decoration(page: &Page, index: Index, name: &LocalName) -> bool {
    if matches!(*name, local_name!("button") | local_name!("svg") | local_name!("script") | local_name!("style")) {
        return true;
    }
    page.attr(index, "class").is_some_and(|class| is_gutter(&class))
}

/// Whether a class attribute names the column of line numbers.
pub(super) fn is_gutter(class: &str) -> bool {
    class.split_ascii_whitespace().any(|name| GUTTERS.contains(&name))
}

/// The language named on the element, the `<code>` inside it, or one of the two elements around it.
fn language(page: &Page, index: Index) -> Option<String> {
    let inner = page.children(index).find(|&child| page.is(child, &local_name!("code")));
    [Some(index), inner]
        .into_iter()
        .flatten()
        .chain(page.ancestors(index).take(2))
        .find_map(|at| declared(&*page.element(at)?))
}

fn declared(element: &Element) -> Option<String> {
    let class = element.attr("class").unwrap_or_default();
    let mut names = class.split_ascii_whitespace();
    let prefixed = names.clone().find_map(|name| {
        ["language-", "lang-", "highlight-source-", "brush:"]
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix).filter(|rest| !rest.is_empty()))
    });
    let brush = || names.find(|name| *name == "brush:").and(names.next());
    let attribute = || element.attr("data-lang").or_else(|| element.attr("data-language"));
    prefixed
        .or_else(brush)
        .map(str::to_owned)
        .or_else(|| attribute().map(String::from))
        .map(|name| name.trim_end_matches(';').to_ascii_lowercase())
        .filter(|name| (1..=20).contains(&name.len()) && name != "none")
        .filter(|name| name.bytes().all(|b| b.is_ascii_alphanumeric() || b"+#.-_".contains(&b)))
}
