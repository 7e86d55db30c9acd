//! Code blocks: the text of `<pre>` as written, in a fence that its content cannot close.

use page::{Index, LocalName, Page, local_name};

use super::Writer;
use super::escape::longest_run;
use super::language::language;
use crate::content::Content;
use crate::marks::is_copy_control_in_code;

/// Classes of line numbers in syntax highlighters.
const GUTTERS: [&str; 38] = [
    "ace_gutter",
    "blob-num",
    "code-line-number",
    "code-linenumber",
    "codemirror-gutter-wrapper",
    "codemirror-gutters",
    "codemirror-linenumber",
    "cm-gutters",
    "crayon-nums",
    "gl",
    "gutter",
    "hljs-line-number",
    "hljs-ln-n",
    "hljs-ln-numbers",
    "line-num",
    "line-number",
    "line-numbers-rows",
    "line-numbers-wrapper",
    "line_number",
    "line_numbers",
    "linenodiv",
    "lineno",
    "linenos",
    "linenr",
    "linenumber",
    "linenumbers",
    "ln",
    "ln-num",
    "lno",
    "lnt",
    "lnum",
    "react-code-line-number",
    "react-line-number",
    "react-syntax-highlighter-line-number",
    "rouge-gutter",
    "rouge-line-number",
    "special-line-number",
    "token-line-number",
];
/// Classes of elements other than `<pre>` that contain code, with one element per line.
const VIEWS: [&str; 9] = [
    "ace_text-layer",
    "CodeMirror-code",
    "blob-wrapper",
    "cm-content",
    "crayon-pre",
    "dp-highlighter",
    "js-file-line-container",
    "syntaxhighlighter",
    "view-lines",
];
/// Classes of inline elements that contain one line each.
const LINES: [&str; 7] = ["line", "token-line", "code-line", "ec-line", "rouge-line", "view-line", "cm-line"];

impl Writer<'_> {
    pub(super) fn code_block(&mut self, index: Index) {
        if self.is_flat() {
            self.boundary();
            let code = code_text(self.content, index);
            self.inline.open_code();
            for line in code.lines().filter(|line| !line.trim().is_empty()) {
                self.inline.text(line.trim_end());
                self.inline.line_break();
            }
            self.inline.close_code();
            return self.boundary();
        }
        self.flush();
        if let Some(block) = block(self.content, index) {
            self.blocks.tighten();
            self.blocks.write(&block);
        }
    }
}

/// Whether a class attribute names an element other than `<pre>` that contains only code.
pub(super) fn is_view(class: &str) -> bool {
    names_any(class, &VIEWS)
}

/// Returns the fenced block for the element at `index`, or `None` if it has no code.
fn block(content: &Content, index: Index) -> Option<String> {
    let code = code_text(content, index);
    let page = content.page();
    let mut code = code.strip_suffix('\n').unwrap_or(&code);
    if code.trim().is_empty() {
        if !is_bare_code(page, index) {
            return None;
        }
    } else {
        code = code.trim_end();
    }
    // Longer than every fence inside, and at least three.
    let fence = "`".repeat(longest_fence(code).max(2) + 1);
    let language = language(page, index).unwrap_or_default();
    let end = if code.is_empty() { "" } else { "\n" };
    Some(format!("{fence}{language}\n{code}{end}{fence}"))
}

/// Whether an empty `<pre><code>` was written that way, rather than for a script to fill: it has no attribute except
/// its language.
fn is_bare_code(page: &Page, index: Index) -> bool {
    let code = page.children(index).find(|&child| page.name(child).is_some());
    let plain = |i: Index| {
        page.element(i).is_some_and(|element| {
            element
                .attrs
                .iter()
                .all(|attr| attr.name.local == local_name!("class") && attr.value.starts_with("language-"))
        })
    };
    plain(index) && code.is_some_and(|code| page.is(code, &local_name!("code")) && plain(code))
}

/// Returns the length of the longest run of backticks in a line that starts with a fence.
fn longest_fence(code: &str) -> usize {
    let runs = code.lines().map(str::trim_start).filter(|line| line.starts_with("```"));
    runs.map(|line| longest_run(line, '`')).max().unwrap_or(0)
}

/// Code, assembled line by line.
#[derive(Default)]
struct Lines {
    out: String,
    /// Whether the last line element ended without a line break: the next text starts a new line.
    ended: bool,
}

impl Lines {
    fn push(&mut self, text: &str) {
        let text = if self.ended { text.strip_prefix('\n').unwrap_or(text) } else { text };
        self.end_line();
        let mut plain = 0;
        for (i, byte) in text.bytes().enumerate() {
            if byte >= b' ' && byte != 0x7f || matches!(byte, b'\n' | b'\t') {
                continue;
            }
            self.out.push_str(&text[plain..i]);
            plain = i + 1;
        }
        self.out.push_str(&text[plain..]);
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.ended) {
            self.out.push('\n');
        }
    }

    fn start_line(&mut self) -> usize {
        self.end_line();
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out.len()
    }

    fn finish_line(&mut self, began: usize) {
        self.end_line();
        self.ended = self.out.len() == began || !self.out.ends_with('\n');
    }
}

/// An open line element.
struct OpenLine {
    end: Index,
    /// Position where its text began.
    began: usize,
    /// Whether buttons were left out of it.
    controls: bool,
}

/// Ends the innermost open line.
fn finish(lines: &mut Lines, line: &OpenLine, open: &mut [OpenLine]) {
    // A bar of buttons above the code is not a line.
    if !line.controls || !lines.out.is_empty() {
        return lines.finish_line(line.began);
    }
    if let Some(outer) = open.last_mut() {
        outer.controls = true;
    }
}

/// Returns the text below `index` with its line breaks, without line numbers and buttons.
fn code_text(content: &Content, index: Index) -> String {
    let page = content.page();
    let mut lines = Lines::default();
    let mut open: Vec<OpenLine> = Vec::new();
    let mut at = index + 1;
    while at < page.end(index) {
        while let Some(line) = open.pop_if(|line| line.end <= at) {
            finish(&mut lines, &line, &mut open);
        }
        let Some(name) = page.name(at) else {
            if let Some(text) = page.text(at).filter(|_| !content.is_removed(at)) {
                lines.push(text);
            }
            at += 1;
            continue;
        };
        if content.is_removed(at) || is_decoration(page, at, name) {
            if let Some(line) = open.last_mut() {
                line.controls |= is_control(page, at);
            }
            at = page.end(at);
            continue;
        }
        if let Some(sign) = sign_of_shift(page, at, name).filter(|_| lines.out.ends_with(char::is_alphanumeric)) {
            lines.push(sign);
        }
        if *name == local_name!("br") {
            lines.push("\n");
        } else if is_line(page, at, name) {
            open.push(OpenLine { end: page.end(at), began: lines.start_line(), controls: false });
        }
        at += 1;
    }
    while let Some(line) = open.pop() {
        finish(&mut lines, &line, &mut open);
    }
    lines.out
}

/// Returns the sign that keeps a superscript or subscript from joining the word before it.
pub(super) fn sign_of_shift(page: &Page, index: Index, name: &LocalName) -> Option<&'static str> {
    let sign = match *name {
        local_name!("sup") => "^",
        local_name!("sub") => "_",
        _ => return None,
    };
    let text = page.text_of(index);
    let text = text.trim();
    (!text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "+-−".contains(c))).then_some(sign)
}

fn is_line(page: &Page, index: Index, name: &LocalName) -> bool {
    match *name {
        local_name!("div") | local_name!("p") | local_name!("li") | local_name!("tr") | local_name!("pre") => {
            page.end(index) > index + 1 || page.parent(index).is_some_and(|above| !page.is(above, &local_name!("tr")))
        }
        local_name!("span") | local_name!("code") => {
            page.attr(index, "class").is_some_and(|class| names_any(&class, &LINES))
        }
        _ => false,
    }
}

fn is_decoration(page: &Page, index: Index, name: &LocalName) -> bool {
    if matches!(
        *name,
        local_name!("button")
            | local_name!("svg")
            | local_name!("script")
            | local_name!("style")
            | local_name!("select")
            | local_name!("table")
    ) {
        return *name != local_name!("table");
    }
    let Some(element) = page.element(index).filter(|element| !element.attrs.is_empty()) else {
        return false;
    };
    if element.attr("class").is_some_and(|class| is_gutter(&class)) {
        return true;
    }
    if is_copy_control_in_code(element) {
        return true;
    }
    let unselectable = || element.attr("style").is_some_and(|style| style.contains("user-select"));
    let hidden = || element.attr("aria-hidden").is_some() || element.attr("data-line-number").is_some();
    (unselectable() || hidden()) && page.end(index) - index < 4 && is_number(&page.text_of(index))
}

fn is_control(page: &Page, index: Index) -> bool {
    page.element(index).is_some_and(|element| {
        matches!(element.name.local, local_name!("button") | local_name!("select") | local_name!("svg"))
            || is_copy_control_in_code(element)
    })
}

fn is_number(text: &str) -> bool {
    text.trim().bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a class attribute names line numbers.
pub(super) fn is_gutter(class: &str) -> bool {
    names_any(class, &GUTTERS)
}

fn names_any(class: &str, names: &[&str]) -> bool {
    class.split_ascii_whitespace().any(|name| names.iter().any(|known| name.eq_ignore_ascii_case(known)))
}
