//! Items of a page by their place: rows, cards, entries of lists, and lines that follow each other.

use std::ops::Range;

use page::{Index, Page};

use super::shown::PageText;
use super::split::{is_note, split};

/// Limit on the elements that are climbed from a price.
const MAX_CLIMB: usize = 24;
/// Limit on the siblings that are compared.
const MAX_SIBLINGS: usize = 60;

/// Limit on the bytes of an item without a price.
const MAX_PRICELESS: usize = 200;

/// A part of the page, in order.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Item(Record),
    /// A line outside of all items.
    Line(usize),
}

/// The lines of one item.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) lines: Range<usize>,
    /// The element that holds them and nothing else.
    pub(super) element: Option<Index>,
}

/// Splits the lines of the page into items and what is between them.
pub(super) fn pieces(shown: &PageText<'_>) -> Vec<Piece> {
    let mut records: Vec<Record> = Vec::new();
    let mut at = 0;
    while at < shown.all.lines.len() && !shown.page.stop().is_set() {
        if shown.prices[at].is_none() {
            at += 1;
            continue;
        }
        let done = records.last().map_or(0, |last| last.lines.end);
        at = add(shown, at, done, &mut records);
    }
    let mut pieces = Vec::new();
    let mut from = 0;
    for record in with_priceless(shown, records) {
        pieces.extend((from..record.lines.start.max(from)).map(Piece::Line));
        from = record.lines.end.max(from);
        pieces.push(Piece::Item(record));
    }
    pieces.extend((from..shown.all.lines.len()).map(Piece::Line));
    pieces
}

/// Adds the entries of the same lists that have no price, such as `Lobster: market price`.
fn with_priceless(shown: &PageText<'_>, records: Vec<Record>) -> Vec<Record> {
    let mut all: Vec<Record> = Vec::with_capacity(records.len());
    for record in records {
        if let (Some(last), Some(element)) = (all.last().cloned(), record.element) {
            let is_same_list = last.element.is_some_and(|last| shown.page.parent(last) == shown.page.parent(element));
            if is_same_list && last.lines.end < record.lines.start {
                all.extend(priceless(shown, last.lines.end..record.lines.start, element));
            }
        }
        all.push(record);
    }
    all
}

/// The siblings of `element` in these lines that look like it: entries of a list, or elements of the same class.
fn priceless(shown: &PageText<'_>, lines: Range<usize>, element: Index) -> Vec<Record> {
    let page = shown.page;
    let has_class = page.attr(element, "class").is_some_and(|class| !class.trim().is_empty());
    if !has_class && page.name(element).is_none_or(|name| &**name != "li") {
        return Vec::new();
    }
    let mut found: Vec<Record> = Vec::new();
    for at in lines.clone() {
        let block = shown.line(at).block;
        let mut around = std::iter::once(block).chain(page.ancestors(block).take(MAX_CLIMB));
        let entry = around.find(|&up| page.parent(up) == page.parent(element));
        let Some(entry) = entry.filter(|&entry| is_alike(page, entry, element)) else { continue };
        let own = shown.lines_of(entry);
        let is_short = own.clone().map(|at| shown.line(at).text.len()).sum::<usize>() <= MAX_PRICELESS;
        let is_new = found.last().is_none_or(|last| last.lines.end <= own.start);
        let is_item = is_short && is_new && own.start >= lines.start && own.end <= lines.end && shown.named_in(&own);
        if is_item && shown.line(own.start).text.split_whitespace().count() <= 12 && !is_note(&shown.line(at).text) {
            found.push(Record { lines: own, element: Some(entry) });
        }
    }
    found
}

/// Adds the item of the price in line `at`, or all items of the list around it. Returns the line after them.
fn add(shown: &PageText<'_>, at: usize, done: usize, records: &mut Vec<Record>) -> usize {
    let block = shown.line(at).block;
    let whole = shown.lines_of(block);
    if shown.priced_in(&whole) > 1 || whole.start < done {
        if shown.names(at) {
            records.push(Record { lines: at..at + 1, element: None });
            return at + 1;
        }
        return add_flat(shown, block, at, records, done);
    }
    let element = climb(shown, block);
    let lines = shown.lines_of(element);
    if shown.named_in(&lines) && lines.start >= done {
        let end = lines.end.max(at + 1);
        records.push(Record { lines, element: Some(element) });
        return end;
    }
    let around = shown.page.parent(element).unwrap_or(element);
    add_flat(shown, around, at, records, done)
}

/// Adds the items of an element whose lines follow each other without elements of their own.
fn add_flat(shown: &PageText<'_>, around: Index, at: usize, records: &mut Vec<Record>, done: usize) -> usize {
    let lines = shown.lines_of(around);
    let lines = lines.start.max(done)..lines.end.max(at + 1);
    if lines.start < lines.end && !shown.named_in(&lines) {
        return add_nameless(shown, around, lines, records, done);
    }
    let end = flat_end(shown, around, &lines, at);
    let found = split(shown, lines.start..end);
    if found.is_empty() {
        records.push(Record { lines: at..at + 1, element: None });
        return at + 1;
    }
    records.extend(found.into_iter().map(|lines| Record { lines, element: None }));
    end
}

/// Adds a list of sizes: the name is somewhere around it.
fn add_nameless(
    shown: &PageText<'_>,
    around: Index,
    own: Range<usize>,
    records: &mut Vec<Record>,
    done: usize,
) -> usize {
    let element = climb(shown, around);
    let lines = shown.lines_of(element);
    let record = if shown.named_in(&lines) && lines.start >= done {
        Record { lines, element: Some(element) }
    } else {
        Record { lines: own, element: None }
    };
    let end = record.lines.end;
    records.push(record);
    end
}

/// Returns the end of a run of plain lines: the first line whose block is an item of its own.
fn flat_end(shown: &PageText<'_>, around: Index, lines: &Range<usize>, at: usize) -> usize {
    let later = (at + 1..lines.end).filter(|&line| shown.prices[line].is_some());
    for line in later {
        let block = shown.line(line).block;
        if block == around || shown.priced_in(&shown.lines_of(block)) != 1 {
            continue;
        }
        let own = shown.lines_of(climb_inside(shown, block, around));
        if shown.named_in(&own) && own.len() > 1 && own.start > at {
            return own.start;
        }
    }
    lines.end
}

fn climb_inside(shown: &PageText<'_>, from: Index, around: Index) -> Index {
    let up = shown.page.ancestors(from).take_while(|&up| up != around);
    up.take(MAX_CLIMB).take_while(|&up| shown.priced_in(&shown.lines_of(up)) == 1).last().unwrap_or(from)
}

/// Climbs to the largest element around `from` without another item's price.
fn climb(shown: &PageText<'_>, from: Index) -> Index {
    let page = shown.page;
    let count = shown.priced_in(&shown.lines_of(from)).max(1);
    let mut at = from;
    for _ in 0..MAX_CLIMB {
        let Some(parent) = page.parent(at).filter(|&parent| !is_top(page, parent)) else { break };
        let (own, outer) = (shown.lines_of(at), shown.lines_of(parent));
        if shown.priced_in(&outer) > count || page.name(parent).is_some_and(|name| &**name == "dl") {
            break;
        }
        if shown.named_in(&own) && ends_before(shown, at, parent) {
            break;
        }
        at = parent;
    }
    at
}

/// Whether a named item must not grow to its parent.
fn ends_before(shown: &PageText<'_>, at: Index, parent: Index) -> bool {
    let (own, outer) = (shown.lines_of(at), shown.lines_of(parent));
    if is_list(shown.page, parent) {
        return true;
    }
    let added = shown.headings_in(&outer) - shown.headings_in(&own);
    added > 1 || (added == 1 && (shown.headings_in(&own) > 0 || shown.is_titled(&own) || !is_card(shown, parent)))
}

/// Whether an element is one of several alike with about as many prices.
fn is_card(shown: &PageText<'_>, element: Index) -> bool {
    let page = shown.page;
    if page.name(element).is_some_and(|name| &**name == "section") {
        return false;
    }
    let Some(parent) = page.parent(element) else { return false };
    let alike =
        page.children(parent).take(MAX_SIBLINGS).filter(|&other| other != element && is_alike(page, element, other));
    let counts: Vec<u32> =
        alike.map(|other| shown.priced_in(&shown.lines_of(other))).filter(|&count| count > 0).collect();
    !counts.is_empty()
        && counts.iter().all(|&count| count <= 4)
        && counts.iter().filter(|&&count| count == 1).count() * 2 >= counts.len()
}

/// Whether two elements have the same name and the same first class.
pub(super) fn is_alike(page: &Page, left: Index, right: Index) -> bool {
    let class = |at| page.attr(at, "class").and_then(|class| class.split_ascii_whitespace().next().map(str::to_owned));
    page.name(left) == page.name(right) && page.name(left).is_some() && class(left) == class(right)
}

fn is_top(page: &Page, at: Index) -> bool {
    page.name(at).is_none_or(|name| matches!(&**name, "html" | "body" | "main"))
}

fn is_list(page: &Page, at: Index) -> bool {
    page.name(at)
        .is_some_and(|name| matches!(&**name, "ul" | "ol" | "table" | "tbody" | "section" | "details" | "form"))
}
