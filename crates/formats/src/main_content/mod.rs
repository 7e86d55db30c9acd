//! Main content: a small trained model scores every block of text, and blocks above a threshold are kept.
//!
//! [`outline`] reads the page as blocks and groups; [`features`] describes each block (with [`hints`] from the markup,
//! [`lexicon`] from the words, [`facts`] from the page, [`kin`] from similar siblings, [`passed`] from the blocks
//! before); [`model`] turns the features into log-odds; [`cut`] chooses the threshold; [`keep`] applies the choice to
//! the tree. Small pages are left to [`declared`], and documentation to [`manual`]: there the markup is better evidence
//! than the model.

mod callouts;
mod cut;
mod declared;
mod facts;
mod features;
mod hints;
mod keep;
mod kin;
mod lexicon;
mod manual;
mod measure;
mod model;
#[cfg(feature = "other-main-content")]
pub mod other;
mod outline;
mod passed;
mod sums;
#[cfg(feature = "training")]
pub mod training;

use std::collections::HashMap;

use page::{Page, local_name};

use self::cut::ContentOdds;
use self::facts::Facts;
use self::features::Features;
use self::hints::Hint;
use self::outline::{Block, BlockKind, Outline};
use crate::content::Content;

/// Letters of prose below which a page is too small for the model.
const SPARSE: u32 = 140;
/// Letters of prose below which a page with fewer blocks than [`FEW`] is too small: its navigation is easy to
/// recognise.
const SHORT: u32 = 1500;
/// Number of blocks below which [`SHORT`] applies.
const FEW: usize = 40;
/// Added to the log-odds before the threshold is chosen: menus in the result hurt more than a missing aside. The value
/// is measured (docs/QUALITY.md).
const CAUTION: f32 = -0.6;
/// Log-odds below which a block is removed even from a part that the caller selected.
const CERTAIN_NOISE: f32 = -2.9;
/// Number of blocks that are scored together. Features of neighbours are similar, so the model is reduced once for all.
const TOGETHER: usize = 128;
/// Share by which the log-odds of a block move towards the mean of the blocks with its path; measured
/// (docs/QUALITY.md).
const TOGETHERNESS: f32 = 0.25;
/// Subtracted from the log-odds of sentences that repeat an earlier block; measured (docs/QUALITY.md).
const SAID_BEFORE: f32 = 2.5;
/// Share of the page's words above which a table is for layout and is not judged as a whole.
const LAYOUT: f32 = 0.6;

/// Reduces `content` to its main part. If `free` is false, the caller selected the part, and only certain noise is
/// removed from it.
pub(crate) fn keep_main(content: &mut Content, free: bool) {
    let page = content.page();
    if is_fragment(page) {
        return;
    }
    let outline = Outline::of(content);
    if outline.blocks.is_empty() {
        return;
    }
    let chosen = match manual::choice(content, &outline).filter(|_| free) {
        Some(choice) => {
            choice.removed.iter().for_each(|&index| content.set_removed(index, true));
            choice.chosen
        }
        None => {
            let mut chosen =
                if is_small(&outline) { declared::chosen(&outline) } else { measured(page, &outline, free) };
            callouts::keep_callouts(page, &outline, &mut chosen);
            chosen
        }
    };
    #[cfg(feature = "other-main-content")]
    let chosen = other::choice(chosen);
    keep::keep(content, &outline, &chosen);
    if free {
        content.set_roots(vec![keep::root(page, &outline, &chosen)]);
    }
}

/// Whether the document is a fragment, without a head and without navigation: all of it is content.
fn is_fragment(page: &Page) -> bool {
    page.first(&local_name!("head")).is_none_or(|head| page.children(head).all(|child| page.name(child).is_none()))
        && page.first(&local_name!("nav")).or_else(|| page.first(&local_name!("footer"))).is_none()
}

/// Whether the page has too little prose for the model, which was trained on larger pages.
fn is_small(outline: &Outline) -> bool {
    let prose: u32 = outline.blocks.iter().filter(|block| block.text.is_prose()).map(|block| block.text.letters).sum();
    prose < SPARSE || prose < SHORT && outline.blocks.len() < FEW
}

fn measured(page: &Page, outline: &Outline, free: bool) -> Vec<bool> {
    let facts = Facts::of(page);
    let wordings = lexicon::wordings(page, outline, &facts);
    let features = Features::of(outline, &facts, &wordings);
    let mut scores = Vec::with_capacity(outline.blocks.len());
    let mut rows = Vec::new();
    for (at, blocks) in outline.blocks.chunks(TOGETHER).enumerate() {
        if page.stop().is_set() {
            // The caller has disconnected: the result is discarded.
            return vec![true; outline.blocks.len()];
        }
        rows.clear();
        for block in 0..blocks.len() {
            features.write(at * TOGETHER + block, |_, value| rows.push(value));
            // All rows have the width of the first, which is known only after writing it.
            rows.reserve(rows.len() / (block + 1) * (blocks.len() - block - 1));
        }
        scores.extend(model::scores(&rows, rows.len() / blocks.len()));
    }
    choose(outline, &features, &scores, CAUTION, free)
}

/// Returns which blocks are kept, by the log-odds of the model plus `caution`.
fn choose(outline: &Outline, features: &Features, scores: &[f32], caution: f32, free: bool) -> Vec<bool> {
    let of = |(block, score): (&Block, &f32)| ContentOdds { odds: score + caution, words: block.text.words };
    let mut odds: Vec<ContentOdds> = outline.blocks.iter().zip(scores).map(of).collect();
    draw_together(outline, &mut odds);
    if free {
        doubt_copies(outline, features, &mut odds);
    }
    judge_tables_whole(outline, &mut odds);
    let cut = if free { cut::cut(&odds) } else { CERTAIN_NOISE };
    let mut chosen: Vec<bool> = odds.iter().map(|block| block.odds >= cut).collect();
    if free {
        add_titles(outline, own_title(outline, features.title()), &mut chosen);
    }
    chosen
}

/// Moves the log-odds of each block towards the mean of all blocks with its path: mostly all of them are content or
/// none.
fn draw_together(outline: &Outline, odds: &mut [ContentOdds]) {
    let weight = |block: &ContentOdds| block.words as f32 + 0.5;
    let mut sums: HashMap<u64, (f32, f32)> = HashMap::new();
    for (block, own) in outline.blocks.iter().zip(odds.iter()) {
        let sum = sums.entry(block.path).or_default();
        sum.0 += own.odds * weight(own);
        sum.1 += weight(own);
    }
    for (block, own) in outline.blocks.iter().zip(odds) {
        let (sum, all) = sums.get(&block.path).copied().unwrap_or((own.odds, 1.0));
        own.odds += TOGETHERNESS * (sum / all - own.odds);
    }
}

/// Lowers the log-odds of repeated sentences: mostly help texts, terms, or the same card for other screen sizes. Table
/// cells and code may repeat.
fn doubt_copies(outline: &Outline, features: &Features, odds: &mut [ContentOdds]) {
    for (at, (block, own)) in outline.blocks.iter().zip(odds).enumerate() {
        if features.is_copy(at) && !matches!(block.kind, BlockKind::Cell | BlockKind::Code) {
            own.odds -= SAID_BEFORE;
        }
    }
}

/// Gives all blocks of a table their mean log-odds: half a table is useless.
fn judge_tables_whole(outline: &Outline, odds: &mut [ContentOdds]) {
    let words = |odds: &[ContentOdds]| odds.iter().map(|block| block.words as f32 + 0.5).sum::<f32>();
    let all = words(odds);
    let mut behind = 0;
    for group in outline.groups.iter().filter(|group| group.hints.has(Hint::Table)) {
        let part = group.first..group.end;
        let here = words(&odds[part.clone()]);
        // Tables inside a table that was judged are part of it.
        if group.first < behind || here > LAYOUT * all {
            continue;
        }
        behind = group.end;
        let mean = odds[part.clone()].iter().map(|block| block.odds * (block.words as f32 + 0.5)).sum::<f32>() / here;
        odds[part].iter_mut().for_each(|block| block.odds = mean);
    }
}

/// Returns the title of the page. If `title` is before the main part, and that has a single `<h1>` of its own before
/// its text, that one is the title.
fn own_title(outline: &Outline, title: Option<usize>) -> Option<usize> {
    let main = outline.groups.iter().find(|group| group.hints.has(Hint::Main));
    let outside = main.filter(|main| title.is_none_or(|title| title < main.first));
    let Some(main) = outside else { return title };
    let is_title = |at: &usize| outline.blocks[*at].heading == 1;
    let mut over_text = (main.first..main.end).take_while(|&at| !outline.blocks[at].is_prose());
    let own = over_text.find(is_title).filter(|own| !(own + 1..main.end).any(|at| is_title(&at)));
    own.or(title)
}

/// Keeps the title of the page, and every heading directly above kept blocks.
fn add_titles(outline: &Outline, title: Option<usize>, chosen: &mut [bool]) {
    let last = chosen.iter().rposition(|&chosen| chosen).unwrap_or(0);
    if let Some(title) = title.filter(|&title| title <= last) {
        chosen[title] = true;
    }
    let is_heading = |block: &Block| block.heading > 1;
    // Backwards, so that headings above a kept heading are kept as well.
    for at in (1..chosen.len()).rev() {
        let group = &outline.groups[outline.groups[outline.blocks[at - 1].group].parent];
        chosen[at - 1] |= chosen[at] && is_heading(&outline.blocks[at - 1]) && group.holds(at);
    }
}

/// Returns the names of the features, in the order of [`Features::write`](features::Features::write). Names may repeat.
#[cfg(any(test, feature = "training"))]
fn names() -> Vec<&'static str> {
    let Ok(url) = url::Url::parse("http://localhost/") else { return Vec::new() };
    let page = Page::parse("<p>text", &url);
    let content = crate::content::selected(
        &page,
        &crate::content::ContentOptions { only_main_content: false, ..Default::default() },
    );
    let outline = Outline::of(&content);
    let facts = Facts::of(&page);
    let wordings = lexicon::wordings(&page, &outline, &facts);
    let mut names = Vec::new();
    Features::of(&outline, &facts, &wordings).write(0, |name, _| names.push(name));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_in_the_same_kind_of_place_are_drawn_together() {
        let block = |path| Block { path, ..Block::default() };
        let outline = Outline { blocks: vec![block(1), block(2), block(1)], ..Outline::default() };
        let of = |odds, words| ContentOdds { odds, words };
        let mut odds = vec![of(4.0, 2), of(-1.0, 9), of(0.0, 7)];
        draw_together(&outline, &mut odds);
        assert_eq!(odds.iter().map(|own| own.odds).collect::<Vec<_>>(), [3.25, -1.0, 0.25]);
    }

    #[test]
    fn the_title_is_the_one_of_the_main_part() {
        let prose = "It cuts along the line that was drawn before, and not beside it. ".repeat(4);
        let check = |main: &str, expect: usize| {
            let html = format!("<h1>Workshop</h1><main>{main}</main>");
            let page = Page::parse(&html, &url::Url::parse("https://a.test/").unwrap());
            let options = crate::content::ContentOptions { only_main_content: false, ..Default::default() };
            let outline = Outline::of(&crate::content::selected(&page, &options));
            assert_eq!(own_title(&outline, Some(0)), Some(expect), "{main}");
            assert_eq!(own_title(&outline, None), Some(expect).filter(|&own| own > 0), "{main}");
        };
        check(&format!("<h1>Saw</h1><p>{prose}"), 1);
        check(&format!("<p>Tools</p><div><h1>Saw</h1><p>{prose}</div><h2>Blade</h2>"), 2);
        // Several chapters on one page, a quoted title, and a main part without a title.
        check(&format!("<h1>Saw</h1><p>{prose}<h1>Plane</h1><p>{prose}"), 0);
        check(&format!("<p>{prose}<blockquote><h1>Saw</h1></blockquote>"), 0);
        check(&format!("<h2>Saw</h2><p>{prose}"), 0);
    }

    #[test]
    fn a_sentence_that_was_said_before_is_doubted() {
        let said = "<p>We use many factors to find it.";
        let html = format!("{said}<p>Nothing like this was said before today.{said}<p>Buy it now<p>Buy it now");
        let page = Page::parse(&html, &url::Url::parse("https://a.test/").unwrap());
        let options = crate::content::ContentOptions { only_main_content: false, ..Default::default() };
        let outline = Outline::of(&crate::content::selected(&page, &options));
        let facts = Facts::of(&page);
        let wordings = lexicon::wordings(&page, &outline, &facts);
        let mut odds = vec![ContentOdds { odds: 1.0, words: 7 }; 5];
        doubt_copies(&outline, &Features::of(&outline, &facts, &wordings), &mut odds);
        assert_eq!(odds.iter().map(|own| own.odds).collect::<Vec<_>>(), [1.0, 1.0, -1.5, 1.0, 1.0]);
    }
}
