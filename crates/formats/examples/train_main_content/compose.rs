//! Pages composed from known parts: an article in the frame of its own page, followed by typical parts after an
//! article. Only the first article is content, so the labels are known.
//!
//! All parts of a page come from sites of one fold, so that no test data is in the training data.

use std::collections::HashMap;

use crate::data::{Case, Page, Set, Truth};
use crate::labels;
use crate::random::Random;
use crate::splice::{Changes, MARK, escaped, html};
use crate::threads::Style;

/// The kinds of parts after an article.
const KINDS: [CompositeKind; 6] = [
    CompositeKind::Comments,
    CompositeKind::MadeComments,
    CompositeKind::Thread,
    CompositeKind::Alike,
    CompositeKind::Foreign,
    CompositeKind::Teasers,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CompositeKind {
    /// Comments of another page, with their original markup.
    Comments,
    /// Comments in synthetic markup.
    MadeComments,
    /// Posts of a forum.
    Thread,
    /// More articles in the markup of the first, as on pages with infinite scrolling.
    Alike,
    /// More articles in the markup of their own pages.
    Foreign,
    /// Teasers: titles and beginnings of more articles.
    Teasers,
}

impl CompositeKind {
    fn name(self) -> &'static str {
        match self {
            CompositeKind::Comments => "comments",
            CompositeKind::MadeComments => "made comments",
            CompositeKind::Thread => "thread",
            CompositeKind::Alike => "next alike",
            CompositeKind::Foreign => "next foreign",
            CompositeKind::Teasers => "teasers",
        }
    }
}

/// Least letters of a part, or of an article that is used as a frame.
const MIN_LETTERS: usize = 500;
/// Limit on a part, in bytes, so that composed pages are not larger than real ones.
const MAX_PART: usize = 150_000;

/// Reusable parts of a page.
struct Parts<'p> {
    page: &'p Page,
    parsed: formats::Page,
    fold: usize,
    labels: Vec<f32>,
    /// The smallest element that contains nearly all content.
    container: usize,
    is_frame: bool,
    title: String,
    paragraphs: Vec<String>,
    comments: Vec<String>,
}

/// Composes pages from `pages`: `per_frame` for every article that can be a frame. Returns them with the folds of their
/// frames.
pub(crate) fn compose(pages: &[Page], fold_of: &[usize], per_frame: usize, seed: u64) -> (Vec<Page>, Vec<usize>) {
    let folds = fold_of.iter().max().map_or(1, |last| last + 1);
    let parts: Vec<Parts> = pages.iter().zip(fold_of).map(|(page, &fold)| Parts::of(page, fold)).collect();
    let mut random = Random::new(seed);
    let (mut made, mut made_folds) = (Vec::new(), Vec::new());
    for frame in parts.iter().filter(|parts| parts.is_frame) {
        let others: Vec<&Parts> =
            parts.iter().filter(|other| other.fold == frame.fold && other.page.host != frame.page.host).collect();
        let mut kinds = KINDS;
        random.shuffle(&mut kinds);
        let mut left = per_frame;
        for kind in kinds {
            if left == 0 {
                break;
            }
            let Some(piece) = piece(kind, frame, &others, folds, &mut random) else { continue };
            let html = put_in(frame, piece, &mut random);
            let id = format!("{}+{}", frame.page.id, kind.name());
            let case = Case {
                set: Set::Made,
                id,
                kind: kind.name().to_owned(),
                truth: frame.page.truth.clone(),
                url: frame.page.url.clone(),
            };
            if let Some(page) = Page::of(case, html) {
                made.push(page);
                made_folds.push(frame.fold);
                left -= 1;
            }
        }
    }
    (made, made_folds)
}

impl<'p> Parts<'p> {
    fn of(page: &'p Page, fold: usize) -> Parts<'p> {
        let parsed = formats::Page::parse(&page.html, &page.url);
        let labels = labels::labels(page);
        let of_truth = matches!(page.truth, Truth::Text(_));
        let is_content = |at: &usize| of_truth && labels[*at] > 0.5;
        let content: Vec<usize> = (0..labels.len()).filter(is_content).collect();
        let container = container(&parsed, page, &content);
        let prose = |at: &&usize| labels[**at] > 0.9 && page.texts[**at].split_whitespace().count() >= 20;
        let paragraphs: Vec<String> =
            content.iter().filter(prose).map(|&at| page.texts[at].trim().to_owned()).collect();
        let title = (0..labels.len()).find(|&at| page.samples[at].heading && labels[at] > 0.5);
        let title = title.map_or_else(|| "More".to_owned(), |at| page.texts[at].trim().to_owned());
        let letters: usize = paragraphs.iter().map(String::len).sum();
        let wanted = if let Truth::Text(text) = &page.truth { text.len() } else { 0 };
        let found: usize = content.iter().map(|&at| page.texts[at].len()).sum();
        let is_box = matches!(name(&parsed, container).as_str(), "div" | "section" | "article" | "main");
        let is_frame = page.kind == "article" && is_box && letters >= MIN_LETTERS && found * 10 >= wanted * 7;
        let comments = comments(&parsed, page, &labels);
        Parts { page, parsed, fold, labels, container, is_frame, title, paragraphs, comments }
    }

    fn is_thread(&self) -> bool {
        self.page.kind == "forum"
            && self.container > 0
            && !matches!(name(&self.parsed, self.container).as_str(), "body" | "html")
    }

    /// Returns the HTML of the content.
    fn whole(&self, nameless: bool) -> String {
        html(&self.parsed, self.container, &Changes { nameless, put_in: true, ..Changes::default() })
    }
}

fn name(page: &formats::Page, at: usize) -> String {
    page.name(at).map(ToString::to_string).unwrap_or_default()
}

fn container(parsed: &formats::Page, page: &Page, content: &[usize]) -> usize {
    let mut letters: HashMap<usize, usize> = HashMap::new();
    for &at in content {
        letters.insert(page.samples[at].nodes[0], page.texts[at].len());
    }
    let held = |at: usize| -> usize {
        let range = parsed.subtree(at);
        letters.iter().filter(|(node, _)| range.contains(node)).map(|(_, letters)| letters).sum()
    };
    let all = held(0);
    let mut at = 0;
    let below = |at: usize| parsed.children(at).find(|&child| all > 0 && held(child) * 100 >= all * 88);
    while let Some(child) = below(at).filter(|&child| parsed.name(child).is_some()) {
        at = child;
    }
    // An article cannot follow inside a paragraph or a table.
    while at > 0 && !matches!(name(parsed, at).as_str(), "div" | "section" | "article" | "main" | "body") {
        at = parsed.parent(at).unwrap_or(0);
    }
    at
}

/// Returns the HTML of runs of blocks that the markup calls comments and that are not annotated as content.
fn comments(parsed: &formats::Page, page: &Page, labels: &[f32]) -> Vec<String> {
    let mut found = Vec::new();
    let is_comment = |at: usize| page.samples[at].comment && labels[at] < 0.3;
    let mut at = 0;
    while at < labels.len() {
        let end = (at..labels.len()).find(|&other| !is_comment(other)).unwrap_or(labels.len());
        let letters: usize = page.texts[at..end].iter().filter(|text| text.len() > 60).map(String::len).sum();
        if letters >= MIN_LETTERS {
            let (first, last) = (page.samples[at].nodes[0], page.samples[end - 1].nodes[0]);
            let above = parsed.ancestors(first).find(|&above| parsed.subtree(above).contains(&last));
            let foreign = |above: usize| {
                let range = parsed.subtree(above);
                (0..labels.len())
                    .any(|other| !(at..end).contains(&other) && range.contains(&page.samples[other].nodes[0]))
            };
            if let Some(above) = above.filter(|&above| !foreign(above)) {
                for nameless in [false, true] {
                    found.push(html(parsed, above, &Changes { put_in: true, nameless, ..Changes::default() }));
                }
            }
        }
        at = end.max(at + 1);
    }
    found.retain(|html| html.len() < MAX_PART);
    found
}

/// Returns HTML of the given kind from other pages.
fn piece(kind: CompositeKind, frame: &Parts, others: &[&Parts], folds: usize, random: &mut Random) -> Option<String> {
    let articles: Vec<&&Parts> = others.iter().filter(|other| other.paragraphs.len() >= 3).collect();
    if articles.is_empty() {
        return None;
    }
    let half = random.below(2) == 0;
    let piece = match kind {
        CompositeKind::Comments => {
            let all: Vec<&String> = others.iter().flat_map(|other| &other.comments).collect();
            all.get(random.below(all.len().max(1)))?.to_string()
        }
        CompositeKind::Thread => {
            let threads: Vec<&&Parts> = others.iter().filter(|other| other.is_thread()).collect();
            threads.get(random.below(threads.len().max(1)))?.whole(half)
        }
        CompositeKind::MadeComments => {
            let mut sentences: Vec<String> = Vec::new();
            for _ in 0..4 {
                let paragraphs = &articles[random.below(articles.len())].paragraphs;
                sentences.extend(paragraphs.iter().flat_map(|text| text.split_inclusive(". ")).map(str::to_owned));
            }
            Style::new(random, frame.fold, folds).comments(&sentences)
        }
        CompositeKind::Teasers => {
            let of = |parts: &&&Parts| (parts.title.clone(), parts.paragraphs[0].clone());
            let list: Vec<(String, String)> = articles.iter().map(of).collect();
            Style::new(random, frame.fold, folds).teasers(&list)
        }
        CompositeKind::Alike => {
            let count = 1 + random.below(4);
            (0..count).map(|_| alike(frame, articles[random.below(articles.len())], random)).collect()
        }
        CompositeKind::Foreign => foreign(&articles, half, random)?,
    };
    (piece.len() < MAX_PART).then_some(piece)
}

/// Returns articles in the markup of their own pages, each below a linked heading.
fn foreign(articles: &[&&Parts], nameless: bool, random: &mut Random) -> Option<String> {
    let full: Vec<&&&Parts> = articles.iter().filter(|parts| parts.is_frame).collect();
    let mut piece = String::new();
    for _ in 0..=random.below(3) {
        let other = full.get(random.below(full.len().max(1)))?;
        let heading = ["h1", "h2", "h3"][random.below(3)];
        let title = escaped(&other.title);
        piece += &format!("<{heading} {MARK}=\"\"><a href=\"/next\">{title}</a></{heading}>");
        piece += &other.whole(nameless);
    }
    Some(piece)
}

/// Returns the article of `frame` with the words of another one.
fn alike(frame: &Parts, other: &Parts, random: &mut Random) -> String {
    let mut changes = Changes { put_in: true, ..Changes::default() };
    let range = frame.parsed.subtree(frame.container);
    let mut paragraphs = other.paragraphs.iter();
    let mut titled = false;
    let blocks = frame.page.samples.iter().zip(&frame.page.texts).zip(&frame.labels);
    for ((sample, text), &label) in blocks.filter(|((sample, _), _)| range.contains(&sample.nodes[0])) {
        let new = if sample.heading && !titled {
            titled = true;
            other.title.clone()
        } else if label > 0.5 || text.split_whitespace().count() > 12 {
            paragraphs.next().cloned().unwrap_or_default()
        } else {
            text.chars()
                .map(|c| if c.is_ascii_digit() { char::from(b'0' + random.below(10) as u8) } else { c })
                .collect()
        };
        sample.nodes.iter().for_each(|&node| {
            changes.texts.insert(node, String::new());
        });
        changes.texts.insert(sample.nodes[0], new);
    }
    let rest: String = paragraphs.map(|text| format!("<p>{}</p>", escaped(text))).collect();
    if let Some(last) = last_child(&frame.parsed, frame.container, None) {
        changes.behind.insert(last, rest);
    }
    html(&frame.parsed, frame.container, &changes)
}

/// Returns the last child element, or the one that contains `node`.
fn last_child(parsed: &formats::Page, above: usize, node: Option<usize>) -> Option<usize> {
    let elements = parsed.children(above).filter(|&child| parsed.name(child).is_some());
    elements.filter(|&child| node.is_none_or(|node| parsed.subtree(child).contains(&node))).last()
}

/// Returns the page with the piece after its article.
fn put_in(frame: &Parts, piece: String, random: &mut Random) -> String {
    let parsed = &frame.parsed;
    let of_container = |at: &usize| frame.labels[*at] > 0.5;
    let last = (0..frame.labels.len()).rev().find(of_container).map(|at| frame.page.samples[at].nodes[0]);
    let inside = last.and_then(|last| last_child(parsed, frame.container, Some(last)));
    let outside = parsed.parent(frame.container).filter(|&above| name(parsed, above) != "body" && above > 0);
    let outside = outside.filter(|&above| parsed.parent(above).is_some_and(|above| name(parsed, above) == "div"));
    let place = match random.below(4) {
        0 => inside,
        1 => outside,
        _ => None,
    };
    let mut changes = Changes::default();
    changes.behind.insert(place.unwrap_or(frame.container), piece);
    html(parsed, 0, &changes)
}
