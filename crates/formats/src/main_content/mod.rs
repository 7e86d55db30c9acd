//! Main content: every block of text is scored by a small trained model, and the best cut is kept.
//!
//! [`outline`] reads the page as blocks and groups, [`features`] says what is known of each block (with [`hints`] from
//! the markup, [`lexicon`] from the words, [`facts`] from what the page declares, [`kin`] from what looks alike, [`passed`]
//! from what stands before), [`model`] turns that into odds, twice: the second time it sees its own [`verdicts`] on all other
//! blocks. [`cut`] decides how sure is sure enough, [`keep`] applies it to the tree. Small pages are left to [`declared`].

mod cut;
mod declared;
mod facts;
mod features;
mod hints;
mod keep;
mod kin;
mod lexicon;
mod measure;
mod model;
mod outline;
mod passed;
#[cfg(feature = "training")]
pub mod training;
mod verdicts;

use page::{Page, local_name};

use self::cut::Odds;
use self::facts::Facts;
use self::features::Features;
use self::hints::Hint;
use self::model::Model;
use self::outline::{Block, Outline};
use self::verdicts::Verdicts;
use crate::content::Content;

/// Letters of prose below which a page is too poor to be measured …
const SPARSE: u32 = 140;
/// … and those of a page with fewer blocks than [`FEW`], on which navigation cannot hide.
const SHORT: u32 = 1500;
const FEW: usize = 40;
/// Added to the odds before the cut: a reader is hurt more by a page of menus than by a missing aside.
const CAUTION: f32 = -0.2;
/// Odds below which a block is noise even in a part that the caller chose.
const CERTAIN_NOISE: f32 = -2.5;
/// Blocks that are scored together. Neighbours have much in common, which is looked at once.
const TOGETHER: usize = 128;
/// A table is judged as one, unless it holds more than this part of the page, as tables for layout do.
const LAYOUT: f32 = 0.6;

/// Reduces `content` to its main part. `free` says that the part may be chosen; otherwise the caller chose it, and only
/// certain noise is removed from it.
pub(crate) fn keep_main(content: &mut Content, free: bool) {
    let page = content.page();
    if is_fragment(page) {
        return;
    }
    let outline = Outline::of(content);
    if outline.blocks.is_empty() {
        return;
    }
    let chosen = if is_small(&outline) { declared::chosen(&outline) } else { measured(page, &outline, free) };
    keep::keep(content, &outline, &chosen);
    if free {
        content.set_roots(vec![keep::root(page, &outline, &chosen)]);
    }
}

/// A document without a head and without navigation is a part of a page that somebody cut out: nothing to choose from.
fn is_fragment(page: &Page) -> bool {
    page.first(&local_name!("head")).is_none_or(|head| page.children(head).all(|child| page.name(child).is_none()))
        && page.first(&local_name!("nav")).or_else(|| page.first(&local_name!("footer"))).is_none()
}

/// Too little to measure: the model has learnt from pages that are worth reading.
fn is_small(outline: &Outline) -> bool {
    let prose: u32 = outline.blocks.iter().filter(|block| block.text.is_prose()).map(|block| block.text.letters).sum();
    prose < SPARSE || prose < SHORT && outline.blocks.len() < FEW
}

fn measured(page: &Page, outline: &Outline, free: bool) -> Vec<bool> {
    let facts = Facts::of(page);
    let wordings = lexicon::wordings(page, outline, &facts);
    let features = Features::of(outline, &facts, &wordings);
    match scores(page, outline, &features) {
        Some(scores) => choose(outline, features.title(), &scores, CAUTION, free),
        None => vec![true; outline.blocks.len()],
    }
}

/// The log-odds of every block: judged by itself, then again by what was thought of those around it. None when told to
/// stop.
fn scores(page: &Page, outline: &Outline, features: &Features) -> Option<Vec<f32>> {
    let first = judged(page, outline, &model::FIRST, &|at, row| features.write(at, |_, value| row.push(value)))?;
    let verdicts = Verdicts::of(outline, &first, features.start());
    judged(page, outline, &model::SECOND, &|at, row| write_again(features, &verdicts, at, |_, value| row.push(value)))
}

/// The answers of `model` for all blocks; `write` adds the features of a block to a row.
fn judged(page: &Page, outline: &Outline, model: &Model, write: &dyn Fn(usize, &mut Vec<f32>)) -> Option<Vec<f32>> {
    let mut scores = Vec::with_capacity(outline.blocks.len());
    let mut rows = Vec::new();
    for (at, blocks) in outline.blocks.chunks(TOGETHER).enumerate() {
        if page.stop().is_set() {
            return None;
        }
        rows.clear();
        (0..blocks.len()).for_each(|block| write(at * TOGETHER + block, &mut rows));
        scores.extend(model.scores(&rows, rows.len() / blocks.len()));
    }
    Some(scores)
}

/// Hands `out` the features that the second model asks for.
fn write_again(features: &Features, verdicts: &Verdicts, at: usize, mut out: impl FnMut(&'static str, f32)) {
    verdicts.write(at, &mut out);
    features.write_again(at, &mut out);
}

/// The blocks that are kept, from the log-odds that the model gives each, plus `caution`.
fn choose(outline: &Outline, title: Option<usize>, scores: &[f32], caution: f32, free: bool) -> Vec<bool> {
    let of = |(block, score): (&Block, &f32)| Odds { odds: score + caution, words: block.text.words };
    let mut odds: Vec<Odds> = outline.blocks.iter().zip(scores).map(of).collect();
    judge_tables_whole(outline, &mut odds);
    let cut = if free { cut::cut(&odds) } else { CERTAIN_NOISE };
    let mut chosen: Vec<bool> = odds.iter().map(|block| block.odds >= cut).collect();
    if free {
        add_titles(outline, title, &mut chosen);
    }
    chosen
}

/// Half a table is no table: its blocks are all given their mean odds.
fn judge_tables_whole(outline: &Outline, odds: &mut [Odds]) {
    let words = |odds: &[Odds]| odds.iter().map(|block| block.words as f32 + 0.5).sum::<f32>();
    let all = words(odds);
    let mut behind = 0;
    for group in outline.groups.iter().filter(|group| group.hints.has(Hint::Table)) {
        let part = group.first..group.end;
        let here = words(&odds[part.clone()]);
        if group.first < behind || here > LAYOUT * all {
            continue;
        }
        behind = group.end;
        let mean = odds[part.clone()].iter().map(|block| block.odds * (block.words as f32 + 0.5)).sum::<f32>() / here;
        odds[part].iter_mut().for_each(|block| block.odds = mean);
    }
}

/// A reader expects the title of the page, and a heading over what stands below it.
fn add_titles(outline: &Outline, title: Option<usize>, chosen: &mut [bool]) {
    let last = chosen.iter().rposition(|&chosen| chosen).unwrap_or(0);
    if let Some(title) = title.filter(|&title| title <= last) {
        chosen[title] = true;
    }
    let is_heading = |block: &Block| block.heading > 1;
    for at in (1..chosen.len()).rev() {
        let group = &outline.groups[outline.groups[outline.blocks[at - 1].group].parent];
        chosen[at - 1] |= chosen[at] && is_heading(&outline.blocks[at - 1]) && group.holds(at);
    }
}

/// The names of the features of the first model, in their order. Names may repeat.
#[cfg(any(test, feature = "training"))]
fn names() -> Vec<&'static str> {
    named(|features, _, names| features.write(0, |name, _| names.push(name)))
}

/// Those of the second.
#[cfg(any(test, feature = "training"))]
fn names_again() -> Vec<&'static str> {
    named(|features, outline, names| {
        let scores = vec![0.0; outline.blocks.len()];
        write_again(features, &Verdicts::of(outline, &scores, 0), 0, |name, _| names.push(name));
    })
}

#[cfg(any(test, feature = "training"))]
fn named(write: impl Fn(&Features, &Outline, &mut Vec<&'static str>)) -> Vec<&'static str> {
    let Ok(url) = url::Url::parse("http://localhost/") else { return Vec::new() };
    let page = Page::parse("<p>text", &url);
    let options = crate::ContentOptions { only_main_content: false, ..Default::default() };
    let outline = Outline::of(&crate::content(&page, &options));
    let facts = Facts::of(&page);
    let wordings = lexicon::wordings(&page, &outline, &facts);
    let mut names = Vec::new();
    write(&Features::of(&outline, &facts, &wordings), &outline, &mut names);
    names
}
