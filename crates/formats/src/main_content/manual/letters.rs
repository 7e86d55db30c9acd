//! Counts of text, linked text and headings below any element.

use page::{Index, local_name};

use crate::content::Content;
use crate::elements::is_heading;

/// Prefix sums over the nodes, so that the counts of any element cost two look-ups.
#[derive(Debug)]
pub(super) struct Letters {
    all: Vec<u32>,
    linked: Vec<u32>,
    headings: Vec<u32>,
    titles: Vec<u32>,
}

impl Letters {
    /// Counts the nodes of `content`; text removed from it does not count.
    pub(super) fn of(content: &Content) -> Letters {
        let page = content.page();
        let count = page.node_count();
        let sums = || vec![0; count + 1];
        let mut letters = Letters { all: sums(), linked: sums(), headings: sums(), titles: sums() };
        let (mut all, mut linked, mut headings, mut titles) = (0, 0, 0, 0);
        let (mut removed_until, mut link_until) = (0, 0);
        for index in 0..count {
            if content.is_removed(index) {
                removed_until = removed_until.max(page.end(index));
            }
            if page.is(index, &local_name!("a")) && page.attr(index, "href").is_some() {
                link_until = link_until.max(page.end(index));
            }
            if let Some(text) = page.text(index).filter(|_| index >= removed_until) {
                // Counts characters by their first byte: continuation bytes of UTF-8 are 10xxxxxx.
                let own =
                    text.bytes().filter(|byte| !byte.is_ascii_whitespace() && (byte & 0xc0) != 0x80).count() as u32;
                all += own;
                linked += if index < link_until { own } else { 0 };
            }
            headings += u32::from(page.name(index).is_some_and(is_heading));
            titles += u32::from(page.is(index, &local_name!("h1")));
            letters.headings[index + 1] = headings;
            letters.titles[index + 1] = titles;
            letters.all[index + 1] = all;
            letters.linked[index + 1] = linked;
        }
        letters
    }

    /// Returns the number of letters in the nodes from `first` up to `end`.
    pub(super) fn all(&self, first: Index, end: Index) -> u32 {
        self.all[end] - self.all[first]
    }

    /// Returns the number of letters in links.
    pub(super) fn linked(&self, first: Index, end: Index) -> u32 {
        self.linked[end] - self.linked[first]
    }

    /// Returns the number of letters outside links.
    pub(super) fn plain(&self, first: Index, end: Index) -> u32 {
        self.all(first, end) - self.linked(first, end)
    }

    /// Returns the number of headings among the nodes from `first` up to `end`.
    pub(super) fn headings(&self, first: Index, end: Index) -> u32 {
        self.headings[end] - self.headings[first]
    }

    /// Returns the number of `<h1>` among the nodes.
    pub(super) fn titles(&self, first: Index, end: Index) -> u32 {
        self.titles[end] - self.titles[first]
    }
}
