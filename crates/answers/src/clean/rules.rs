//! Rules that recognise leftovers of a page's frame. Each of them leaves a block that may be content.

use std::collections::HashSet;

use super::blocks::{Block, Kind, each_link, plain_text};
use super::words::{CALLS, CONSENT, LINES, RELATED, SHARE, SHARE_LINKS, SHARE_TITLES, SUBSCRIPTION};

/// Maximum length of a call to subscribe, in bytes.
const MAX_CALL: usize = 300;
/// Maximum length of a consent notice, in bytes.
const MAX_CONSENT: usize = 900;
/// Maximum length of a title of a box, in bytes.
const MAX_TITLE: usize = 80;
/// Links that a list has at least for being a list of links.
const MIN_LINKS: usize = 3;

/// Returns which blocks are leftovers.
pub(super) fn leftovers(markdown: &str, blocks: &[Block]) -> Vec<bool> {
    let texts: Vec<String> = blocks.iter().map(|block| text_of(markdown, block)).collect();
    let is_about_consent = texts.iter().zip(blocks).any(|(text, block)| {
        matches!(block.kind, Kind::Heading(1 | 2)) && (text.contains("cookie") || text.contains("privacy"))
    });
    let mut is_left = vec![false; blocks.len()];
    for (index, block) in blocks.iter().enumerate() {
        if !may_go(block.kind) {
            continue;
        }
        let text = texts[index].as_str();
        let source = &markdown[block.place.clone()];
        is_left[index] = LINES.contains(&text)
            || is_share_row(block, text, source)
            || is_call(block, text)
            || is_teaser(block, text)
            || (!is_about_consent && is_consent(block, text));
    }
    // On a page of links, a box of links is content.
    if blocks.iter().map(|block| block.plain).sum::<usize>() > blocks.iter().map(|block| block.linked).sum::<usize>() {
        boxes(blocks, &texts, &mut is_left);
    }
    repeated(markdown, blocks, &mut is_left);
    headings(blocks, &texts, &mut is_left);
    is_left
}

/// Whether blocks of this kind can be leftovers. Headings follow what is below them.
pub(super) fn may_go(kind: Kind) -> bool {
    matches!(kind, Kind::Paragraph | Kind::List)
}

/// Returns the visible text of a block in lower case, without marks of lists and emphasis; only its beginning if it is long.
fn text_of(markdown: &str, block: &Block) -> String {
    let source = &markdown[block.place.clone()];
    let source = &source[..source.floor_char_boundary(2 * MAX_CONSENT)];
    let plain = plain_text(source).to_lowercase().replace('’', "'");
    let words = plain.split_whitespace().map(|word| word.trim_matches(['*', '_', '#', '-', '•', '|', '·', '\\']));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Whether all of a block is a row of buttons by which the page is shared.
fn is_share_row(block: &Block, text: &str, source: &str) -> bool {
    if block.plain + block.linked > 300 {
        return false;
    }
    let (mut links, mut shares) = (0, 0);
    each_link(source, |link| {
        links += 1;
        let target = link.target.to_lowercase();
        shares += usize::from(SHARE_LINKS.iter().any(|part| target.contains(part)));
    });
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty()).collect();
    let networks = words.iter().filter(|word| SHARE[1..12].contains(word)).count();
    let is_of_share_words = words.iter().all(|word| SHARE.contains(word));
    let is_title = SHARE_TITLES.contains(&text.trim_end_matches(':'));
    is_title || (links > 0 && shares == links && block.plain < 40) || (is_of_share_words && networks >= 2)
}

/// Whether a block calls to subscribe.
fn is_call(block: &Block, text: &str) -> bool {
    let is_short = text.len() <= MAX_CALL && block.kind == Kind::Paragraph;
    is_short
        && CALLS.iter().any(|call| text.starts_with(call))
        && SUBSCRIPTION.iter().any(|word| text.contains(word))
        && text.matches(". ").count() <= 2
}

fn is_consent(block: &Block, text: &str) -> bool {
    let length = block.plain + block.linked;
    length <= MAX_CONSENT && CONSENT.iter().any(|sentence| text.contains(sentence)) && {
        // A sentence about cookies in other text is content.
        let about = ["cookie", "consent", "privacy", "accept", "datenschutz", "partner"];
        let words = text.split(' ').count();
        let hits = about.iter().map(|word| text.matches(word).count()).sum::<usize>();
        hits * 25 >= words
    }
}

/// Marks boxes of links to other pages: a title, and lists of links below it.
fn boxes(blocks: &[Block], texts: &[String], is_left: &mut [bool]) {
    let mut index = 0;
    while index < blocks.len() {
        let title = index;
        index += 1;
        if !is_box_title(&blocks[title], &texts[title]) {
            continue;
        }
        index += blocks[index..].iter().take_while(|block| is_links(block)).count();
        is_left[title + 1..index].fill(true);
        if index > title + 1 && may_go(blocks[title].kind) {
            is_left[title] = true;
        }
    }
}

fn is_box_title(block: &Block, text: &str) -> bool {
    let text = text.trim_end_matches([':', '.', '…', '>', '»', ' ']);
    match block.kind {
        Kind::Heading(level) => level > 1 && text.len() <= MAX_TITLE && names_related(text),
        // Other paragraphs that begin with these words are sentences of the text.
        Kind::Paragraph => block.links == 0 && RELATED.contains(&text),
        _ => false,
    }
}

/// Whether a text is or begins with the title of a box of links.
fn names_related(text: &str) -> bool {
    let begins = |title: &str| {
        text.strip_prefix(title).is_some_and(|rest| rest.is_empty() || (title.contains(' ') && rest.starts_with(' ')))
    };
    RELATED.iter().any(|title| begins(title))
}

/// Whether a block is a link to another page with a title before it, such as `Read also: …`.
fn is_teaser(block: &Block, text: &str) -> bool {
    let is_short = block.kind == Kind::Paragraph && block.links > 0 && block.plain <= 40;
    is_short && text.split_once(':').is_some_and(|(title, _)| RELATED.contains(&title.trim()))
}

/// Whether a block consists of links, with at most dates or names beside them.
fn is_links(block: &Block) -> bool {
    may_go(block.kind) && block.links > 0 && block.linked >= 2 * block.plain
}

/// Marks lists of links that are there twice.
fn repeated(markdown: &str, blocks: &[Block], is_left: &mut [bool]) {
    let mut seen = HashSet::new();
    for (block, is_left) in blocks.iter().zip(is_left) {
        if !may_go(block.kind) || block.links < MIN_LINKS || block.plain > block.linked / 4 {
            continue;
        }
        let (mut targets, mut is_contents) = (String::new(), true);
        each_link(&markdown[block.place.clone()], |link| {
            is_contents &= link.target.is_empty() || link.target.starts_with('#');
            targets.push_str(link.target);
            targets.push('\n');
        });
        *is_left |= !is_contents && !seen.insert(targets);
    }
}

/// Marks headings of boxes, shares and calls below which nothing is left.
fn headings(blocks: &[Block], texts: &[String], is_left: &mut [bool]) {
    for index in (0..blocks.len()).rev() {
        let Kind::Heading(level) = blocks[index].kind else { continue };
        let text = texts[index].as_str();
        let names_leftovers = is_box_title(&blocks[index], text)
            || SHARE_TITLES.contains(&text)
            || (CALLS.iter().any(|call| text.starts_with(call)) && SUBSCRIPTION.iter().any(|word| text.contains(word)));
        is_left[index] = names_leftovers && level > 1 && is_empty_below(blocks, is_left, index);
    }
}

/// Whether all blocks below a heading are leftovers, and there is at least one.
pub(super) fn is_empty_below(blocks: &[Block], is_left: &[bool], heading: usize) -> bool {
    let Kind::Heading(level) = blocks[heading].kind else { return false };
    let rest = blocks[heading + 1..].iter().zip(&is_left[heading + 1..]);
    let mut below =
        rest.take_while(|(block, _)| !matches!(block.kind, Kind::Heading(other) if other <= level)).peekable();
    below.peek().is_some() && below.all(|(block, is_left)| *is_left || block.kind == Kind::Rule)
}
