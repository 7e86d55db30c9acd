//! Callouts, written as quotes whose first line names their kind in bold (docs/CONTRACT.md, "Formats").

use page::{Index, local_name};

use super::event::Mark;
use super::{Open, Writer};
use crate::callout::{callout, is_title, kind};
use crate::marks::shown_text;

/// Number of children of a callout that are checked.
const BESIDE: usize = 8;

/// An open callout.
#[derive(Debug)]
pub(super) struct Callout {
    index: Index,
    kind: Option<&'static str>,
    /// Length of the document at its start; while that is unchanged, the callout is empty.
    began: usize,
}

impl Writer<'_> {
    /// Starts a quote if the element at `index` is a callout.
    pub(super) fn start_callout(&mut self, index: Index) -> Option<Open> {
        if self.is_body_of_callout(index) {
            return Some(Open::Block);
        }
        let found =
            callout(self.page, index).filter(|_| !self.is_flat() && !self.inline.in_link() && !self.is_note(index))?;
        let lead = self.lead(index)?;
        // Nested boxes with nothing between them are one callout.
        let is_same = |open: &Callout| {
            let is_empty = open.began == self.blocks.len() && self.inline.is_empty();
            is_empty && (found.kind.is_none() || found.kind == open.kind)
        };
        if self.callouts.last().is_some_and(is_same) {
            return None;
        }
        if self.start_quote() == Open::Flat {
            return Some(Open::Flat);
        }
        self.callouts.push(Callout { index, kind: found.kind, began: self.blocks.len() });
        if let Some(kind) = found.kind.filter(|_| !self.names_itself(index, lead)) {
            self.blocks.write(&format!("**{kind}**"));
            let began = self.blocks.len();
            if let Some(open) = self.callouts.last_mut() {
                open.began = began;
            }
        }
        Some(Open::Callout)
    }

    /// Whether the element at `index` is a `<blockquote>` that is the whole content of an open callout, which is
    /// written as a quote already.
    fn is_body_of_callout(&self, index: Index) -> bool {
        let page = self.page;
        self.callouts.last().is_some_and(|open| {
            page.is(index, &local_name!("blockquote"))
                && page.parent(index) == Some(open.index)
                && open.began == self.blocks.len()
                && self.inline.is_empty()
                && page
                    .children(open.index)
                    .take(BESIDE)
                    .all(|beside| beside == index || page.text(beside).is_some_and(|text| text.trim().is_empty()))
        })
    }

    pub(super) fn end_callout(&mut self, index: Index) {
        self.end_quote(index);
        self.callouts.pop();
    }

    /// Returns the first visible text or image below an element.
    fn lead(&self, index: Index) -> Option<Index> {
        let page = self.page;
        let mut at = index + 1;
        while at < page.end(index) {
            let is_skipped = page.name(at).is_some_and(|name| {
                matches!(
                    *name,
                    local_name!("svg") | local_name!("script") | local_name!("style") | local_name!("button")
                )
            });
            if is_skipped || self.content.is_removed(at) {
                at = page.end(at);
                continue;
            }
            let is_image = page.is(at, &local_name!("img"));
            if is_image || page.text(at).is_some_and(|text| text.chars().any(char::is_alphanumeric)) {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    /// Whether a callout begins with a title or a word for its kind.
    fn names_itself(&self, index: Index, lead: Index) -> bool {
        let page = self.page;
        let text = page.text(lead).unwrap_or_default().trim();
        let word = text.split(|c: char| !c.is_alphanumeric() && c != ' ' && c != '-').next().unwrap_or_default();
        let first = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        // A regular heading in the callout is not its title, unless it names the kind.
        let names = |above: Index| {
            self.names_callout(above) && (!self.is_own_heading(above) || names_kind(&page.text_of(above)))
        };
        kind(word).is_some()
            || first.eq_ignore_ascii_case("note")
            || page.ancestors(lead).take_while(|&above| above > index).any(names)
    }

    /// Whether an element is a regular heading inside a callout, not marked as its title.
    fn is_own_heading(&self, index: Index) -> bool {
        let is_heading = matches!(
            self.page.name(index),
            Some(&(local_name!("h2") | local_name!("h3") | local_name!("h4") | local_name!("h5") | local_name!("h6")))
        );
        is_heading && !self.page.element(index).is_some_and(is_title)
    }

    fn names_callout(&self, index: Index) -> bool {
        let is_name = matches!(
            self.page.name(index),
            Some(
                &(local_name!("h2")
                    | local_name!("h3")
                    | local_name!("h4")
                    | local_name!("h5")
                    | local_name!("h6")
                    | local_name!("summary")
                    | local_name!("dt")
                    | local_name!("th"))
            )
        );
        is_name || self.page.element(index).is_some_and(is_title)
    }

    /// Starts the title line of a callout, if nothing was written into it before. Returns `Some(None)` if the whole
    /// title was written.
    pub(super) fn start_callout_title(&mut self, index: Index) -> Option<Option<Open>> {
        let open = self.callouts.last()?;
        let of = open.kind;
        let is_first = open.began == self.blocks.len() && self.inline.is_empty() && !self.is_flat();
        if !is_first || open.index >= index || !self.names_callout(index) {
            return None;
        }
        self.lead(index)?;
        // An element of this size contains the text as well as the title.
        if self.page.end(index) - index > 40 && self.page.element(index).is_some_and(is_title) {
            return None;
        }
        let title = shown_text(self.page, index);
        if self.is_own_heading(index) && kind(&title).is_none() {
            return None;
        }
        self.flush();
        if let Some(kind) = kind(&title) {
            self.blocks.write(&format!("**{kind}**"));
            return Some(None);
        }
        if !self.inline.open(Mark::Strong, false) {
            return Some(Some(Open::Block));
        }
        self.bold_blocks += 1;
        // A single word is the name of the kind in some language, so the kind is not added to it.
        if let Some(kind) = of.filter(|_| title.split_whitespace().count() > 1 && !names_kind(&title)) {
            self.inline.text(&format!("{kind}: "));
        }
        Some(Some(Open::BoldBlock))
    }

    /// Whether a table only lays out the icon of a callout beside its text.
    pub(super) fn frames_callout(&self, index: Index) -> bool {
        let page = self.page;
        if self.callouts.last().is_none_or(|open| page.parent(index) != Some(open.index)) {
            return false;
        }
        let is_cell = |at: &Index| page.is(*at, &local_name!("td")) || page.is(*at, &local_name!("th"));
        let first = page.subtree(index).find(is_cell);
        first.is_some_and(|cell| {
            let class = page.attr(cell, "class").unwrap_or_default();
            class.split_ascii_whitespace().any(|name| name == "icon") || page.text_of(cell).trim().is_empty()
        })
    }
}

/// Whether one of the words of a title names a kind.
fn names_kind(title: &str) -> bool {
    title.split(|c: char| !c.is_alphanumeric()).any(|word| word.len() > 2 && kind(word).is_some())
}

#[cfg(test)]
mod tests {
    use url::Url;

    use crate::{ContentOptions, MarkdownOptions, Page, content, markdown};

    fn check(html: &str, expect: &str) {
        let page = Page::parse(html, &Url::parse("https://a.test/").unwrap());
        let found = markdown(&content(&page, &ContentOptions::default()), &MarkdownOptions::default());
        assert_eq!(found, expect, "{html}");
    }

    #[test]
    fn a_quote_that_is_all_of_a_callout_is_no_further_level() {
        let note = "> **Note**\n>\n> Text.";
        check("<div class='alert alert-note'><blockquote><p class=alert-title>Note<p>Text.</blockquote></div>", note);
        check("<div class=note>\n<blockquote>\n<p>Text.</blockquote>\n</div>", note);
        check("<blockquote class=blockquote-tag><p class=blockquote-tag-title>Note<p>Text.</blockquote>", note);
        check(
            "<blockquote class='blockquote-tag blockquote-tag-note'><p class=blockquote-tag-title><svg></svg>Note<p>Text.",
            note,
        );
        check(
            "<div class=warning><blockquote><p>Mind it.</blockquote></div><blockquote>Said.</blockquote>",
            "> **Warning**\n>\n> Mind it.\n\n> Said.",
        );
        // A quote among other text in the callout remains a quote.
        check(
            "<div class=note><p>He said:<blockquote>Mind it.</blockquote></div>",
            "> **Note**\n>\n> He said:\n>\n> > Mind it.",
        );
        check("<div class=note><blockquote>Mind it.</blockquote><p>He.</div>", "> **Note**\n>\n> > Mind it.\n>\n> He.");
    }

    #[test]
    fn what_unfolds_is_a_callout_only_where_its_page_calls_it_one() {
        check(
            "<details class='alert alert--info'><summary>Toggle me!</summary><div>Text.</div></details>",
            "**Toggle me!**\n\nText.",
        );
        check("<details class=tip><summary>Saw</summary>Text.</details>", "> **Saw**\n>\n> Text.");
    }
}
