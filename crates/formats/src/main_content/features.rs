//! The features of a block: its text, position, neighbours, surrounding groups, hints, and the page as a whole.

use std::collections::HashMap;

use super::facts::Facts;
use super::hints::{HINTS, Hints};
use super::kin::{KinFeatures, kin};
use super::lexicon::Wording;
use super::outline::{Block, Group, Outline};
use super::passed::{PassedCounts, border, passed};
use super::sums::{Path, Repeated, Sum, mass, paths, repeated, sums};

// The model was trained with the constants and limits of this file, so none of them can change alone: after a change
// the model must be trained again (`cargo xtask train`). Features are named for the trainer; the model itself knows
// only their order.

/// Distance to a hint that no surrounding group has; also the largest distance.
const NOWHERE: u8 = 20;
/// Levels of groups above a block whose sums are features: dense near the block, where they differ most, sparse further
/// up.
const LEVELS: [usize; 5] = [0, 1, 2, 4, 7];
/// Number of blocks before, and after, whose sums are features.
const WINDOW: usize = 5;

/// Precomputed sums from which all features are read.
pub(crate) struct Features<'o> {
    outline: &'o Outline,
    facts: &'o Facts,
    /// Prefix sums: over the blocks before each block, and last over all.
    sums: Vec<Sum>,
    /// For each group, the number of levels up to the nearest group with each hint.
    distances: Vec<[u8; HINTS]>,
    repeated: Vec<Repeated>,
    /// Letters of prose in each group; [`mass()`] explains the weights.
    mass: Vec<f32>,
    /// The group with the most mass.
    best: usize,
    wordings: &'o [Wording],
    /// The last heading before each block.
    headings: Vec<Option<usize>>,
    /// The first `<h1>`; the number of blocks if there is none.
    first_title: usize,
    /// The heading most similar to the page's title; the number of blocks if there is none.
    named_title: usize,
    paths: HashMap<u64, Path>,
    /// The first prose from the title on: the probable start of the content.
    start: usize,
    passed: Vec<PassedCounts>,
    kin: Vec<KinFeatures>,
}

impl<'o> Features<'o> {
    pub(crate) fn of(outline: &'o Outline, facts: &'o Facts, wordings: &'o [Wording]) -> Features<'o> {
        let blocks = &outline.blocks;
        let sums = sums(blocks);
        let mass = mass(outline);
        let best = (0..mass.len()).max_by(|&a, &b| mass[a].total_cmp(&mass[b])).unwrap_or(0);
        // The last three fields depend on the features before them, so they are filled in below.
        let mut features = Features {
            outline,
            facts,
            distances: distances(&outline.groups),
            repeated: repeated(&outline.groups, &sums),
            headings: headings(blocks),
            first_title: blocks.iter().position(|block| block.heading == 1).unwrap_or(blocks.len()),
            named_title: named_title(blocks, wordings),
            paths: paths(blocks),
            sums,
            mass,
            best,
            wordings,
            start: 0,
            passed: Vec::new(),
            kin: Vec::new(),
        };
        // Without a title the search for prose begins at the top of the page; without prose the start is the title.
        let title = features.title();
        let from = title.unwrap_or(0);
        let start = blocks[from.min(blocks.len())..].iter().position(Block::is_prose).map_or(from, |at| from + at);
        features.start = start;
        features.passed = passed(outline, wordings, title, start);
        features.kin = kin(outline, start, |first, end| features.between(first, end).prose);
        features
    }

    /// Returns the heading that is the title of the page: the one similar to its `<title>`, else the only `<h1>`.
    pub(crate) fn title(&self) -> Option<usize> {
        let blocks = &self.outline.blocks;
        // Without any <h1> this yields the number of blocks, which the filter at the end removes.
        let only =
            || blocks.iter().skip(self.first_title + 1).all(|block| block.heading != 1).then_some(self.first_title);
        (self.named_title < blocks.len())
            .then_some(self.named_title)
            .or_else(only)
            .filter(|&title| title < blocks.len())
    }

    /// Whether an earlier block has the same sentences.
    pub(crate) fn is_copy(&self, at: usize) -> bool {
        self.wordings[at].is_copy
    }

    /// Passes the name and value of every feature of a block to `out`, always in the same order: the model knows
    /// features by their position, so any change here requires training it again.
    pub(crate) fn write(&self, at: usize, mut out: impl FnMut(&'static str, f32)) {
        self.own(at, &mut out);
        self.place(at, &mut out);
        self.neighbours(at, &mut out);
        self.around(at, &mut out);
        self.marks(at, &mut out);
        self.behind_start(at, &mut out);
        self.page(&mut out);
    }

    fn own(&self, at: usize, out: &mut impl FnMut(&'static str, f32)) {
        let block = &self.outline.blocks[at];
        let text = &block.text;
        let letters = text.letters as f32;
        // Divisors are at least 1, here and below: a share of nothing is 0.
        let words = text.words.max(1) as f32;
        // Length of the text, in letters and words.
        out("letters", letters);
        out("words", text.words as f32);
        out("word_length", letters / words);
        // Share of the letters that are links, and their number: high in menus and teasers.
        out("linked", block.linked as f32 / letters.max(1.0));
        out("links", f32::from(block.links));
        // Marks that end a sentence, which prose has and labels do not.
        out("stops", text.stops as f32);
        out("stops_per_word", text.stops as f32 / words);
        // Capitals and digits: names, dates and prices.
        out("upper", text.upper as f32 / letters.max(1.0));
        out("digits", text.digits as f32 / letters.max(1.0));
        out("ends_sentence", f32::from(u8::from(matches!(text.last, '.' | '!' | '?' | '。' | '"' | '”' | '…' | '»'))));
        out("heading", f32::from(block.heading));
        out("kind", block.kind as u8 as f32);
        // What the words say: stock words of the web such as "share" and "subscribe", and likeness to the title and
        // description of the page.
        let wording = self.wordings[at];
        out("stock", wording.stock);
        out("like_title", wording.like_title);
        out("like_description", wording.like_description);
        out("repeats", f32::from(wording.repeats));
        out("images", f32::from(block.images));
    }

    fn place(&self, at: usize, out: &mut impl FnMut(&'static str, f32)) {
        let blocks = &self.outline.blocks;
        let block = &blocks[at];
        let total = self.sums[blocks.len()];
        // Position on the page: by blocks, from both ends, and by the text before and behind.
        out("index", at as f32);
        out("index_from_end", (blocks.len() - at) as f32);
        out("position", at as f32 / blocks.len() as f32);
        out("letters_before", self.sums[at].letters / total.letters.max(1.0));
        out("prose_before", self.sums[at].prose / total.prose.max(1.0));
        out("prose_behind", 1.0 - self.sums[at + 1].prose / total.prose.max(1.0));
        out("prose_before_abs", self.sums[at].prose);
        out("prose_behind_abs", total.prose - self.sums[at + 1].prose);
        // Depth in the tree of elements, and among the groups.
        out("depth", f32::from(block.depth));
        out("level", f32::from(self.outline.groups[block.group].level));
        out("from_title", (at as f32 - self.first_title as f32).clamp(-200.0, 200.0));
        // The heading above. -1 means that there is none.
        let heading = self.headings[at];
        out("from_heading", heading.map_or(-1.0, |heading| (at - heading) as f32));
        out("heading_level", heading.map_or(0.0, |heading| f32::from(blocks[heading].heading)));
        let wording = heading.map(|heading| self.wordings[heading]).unwrap_or_default();
        out("heading_stock", wording.stock);
        out("heading_like_title", wording.like_title);
        out("heading_linked", heading.map_or(-1.0, |heading| linked(&blocks[heading])));
        out("heading_near", heading.map_or(-1.0, |heading| f32::from(u8::from(self.same_part(at, heading)))));
        out("from_named_title", (at as f32 - self.named_title as f32).clamp(-200.0, 200.0));
        // Blocks with the same path of elements: paragraphs of an article share one, and so do the items of a list.
        let path = self.paths.get(&block.path).copied().unwrap_or_default();
        out("path_count", path.count);
        out("path_part", path.letters / total.letters.max(1.0));
        out("path_prose", path.prose / total.prose.max(1.0));
        out("path_words", path.words / path.count.max(1.0));
        out("path_linked", path.linked / path.letters.max(1.0));
        let same =
            |other: Option<usize>| other.and_then(|other| blocks.get(other)).is_some_and(|o| o.path == block.path);
        out("path_before", f32::from(u8::from(same(at.checked_sub(1)))));
        out("path_behind", f32::from(u8::from(same(Some(at + 1)))));
        // Position relative to the group with the most prose, which is most often the article.
        let best = &self.outline.groups[self.best];
        out("in_best", f32::from(u8::from(best.holds(at))));
        let distance = if best.holds(at) {
            0
        } else if at < best.first {
            best.first - at
        } else {
            at + 1 - best.end
        };
        out("from_best", distance as f32);
        out("behind_best", f32::from(u8::from(at >= best.end)));
        out("steps_to_best", self.steps_to_best(at));
    }

    /// Number of levels from the group with the most mass up to one that contains the block.
    fn steps_to_best(&self, at: usize) -> f32 {
        let groups = &self.outline.groups;
        let (mut group, mut steps) = (self.best, 0.0);
        while !groups[group].holds(at) && group != 0 {
            group = groups[group].parent;
            steps += 1.0;
        }
        steps
    }

    /// Whether a heading is in the group of the block or in the one above.
    fn same_part(&self, at: usize, heading: usize) -> bool {
        let groups = &self.outline.groups;
        let own = self.outline.blocks[at].group;
        groups[own].holds(heading) || groups[groups[own].parent].holds(heading)
    }

    fn neighbours(&self, at: usize, out: &mut impl FnMut(&'static str, f32)) {
        let blocks = &self.outline.blocks;
        // Two blocks on each side, one by one; -1 beyond the ends of the page.
        for step in [-2_isize, -1, 1, 2] {
            let other = at.checked_add_signed(step).and_then(|other| blocks.get(other));
            out("near_words", other.map_or(-1.0, |block| block.text.words as f32));
            out("near_linked", other.map_or(-1.0, |block| block.linked as f32 / block.text.letters.max(1) as f32));
            out("near_prose", other.map_or(-1.0, |block| f32::from(u8::from(block.text.is_prose()))));
        }
        // Further ones only as sums.
        for range in [at.saturating_sub(WINDOW)..at, at + 1..(at + 1 + WINDOW).min(blocks.len())] {
            let sum = self.between(range.start, range.end.max(range.start));
            out("window_prose", sum.prose);
            out("window_linked", sum.linked / sum.letters.max(1.0));
            out("window_letters", sum.letters);
        }
    }

    fn around(&self, at: usize, out: &mut impl FnMut(&'static str, f32)) {
        let groups = &self.outline.groups;
        let total = self.sums[self.outline.blocks.len()];
        let mut group = self.outline.blocks[at].group;
        // The root is its own parent: levels past it repeat its values, so that every block has all features.
        let mut most = Repeated::default();
        let mut most_at = 0.0;
        for level in 0..=LEVELS[LEVELS.len() - 1] {
            let here = &groups[group];
            let sum = self.between(here.first, here.end);
            if LEVELS.contains(&level) {
                out("around_letters", sum.letters);
                out("around_linked", sum.linked / sum.letters.max(1.0));
                out("around_part", sum.letters / total.letters.max(1.0));
                out("around_prose", sum.prose / sum.letters.max(1.0));
                out("around_prose_part", sum.prose / total.prose.max(1.0));
                out("around_blocks", (here.end - here.first) as f32);
                out("around_words", sum.words / (here.end - here.first).max(1) as f32);
                out("around_mass", self.mass[group] / self.mass[self.best].max(1.0));
                out("around_headings", sum.headings);
            }
            // Comments and teasers repeat at some level above the block, which differs from site to site: take the
            // level with the most repetitions.
            if self.repeated[group].count > most.count && self.repeated[group].count >= 3.0 {
                most = self.repeated[group];
                most_at = level as f32;
            }
            group = here.parent;
        }
        // That level, and the shape of what repeats there.
        out("repeated", most.count);
        out("repeated_letters", most.letters);
        out("repeated_linked", most.linked);
        out("repeated_part", most.part);
        out("repeated_at", most_at);
        let own = self.outline.blocks[at].group;
        out("first_in_group", f32::from(u8::from(groups[own].first == at)));
        out("last_in_group", f32::from(u8::from(groups[own].end == at + 1)));
    }

    /// The distance to every hint.
    fn marks(&self, at: usize, out: &mut impl FnMut(&'static str, f32)) {
        let block = &self.outline.blocks[at];
        let distances = &self.distances[block.group];
        for (hint, distance) in distances.iter().enumerate() {
            let distance = if block.hints.bit(hint) { 0 } else { *distance };
            out(Hints::NAMES[hint], f32::from(distance));
        }
    }

    /// Features relative to the probable start of the content.
    fn behind_start(&self, at: usize, out: &mut impl FnMut(&'static str, f32)) {
        out("topic", f32::from(self.wordings[at].topic as u8));
        out("from_start", (at as f32 - self.start as f32).clamp(-200.0, 200.0));
        self.passed[at].write(out);
        self.kin[self.outline.blocks[at].group].write(out);
        // The two groups below the smallest one that holds both: `inner` has the start, `outer` has this block.
        let border = border(self.outline, self.start, at);
        out("start_steps", border.steps);
        out("start_below", border.below);
        let inner = self.between(border.inner.0, border.inner.1);
        let outer = self.between(border.outer.0, border.outer.1);
        out("inner_letters", inner.letters);
        out("inner_prose", inner.prose);
        out("inner_part", inner.prose / self.sums[self.outline.blocks.len()].prose.max(1.0));
        out("outer_letters", outer.letters);
        out("outer_prose", outer.prose);
        out("outer_linked", outer.linked / outer.letters.max(1.0));
        out("outer_blocks", (border.outer.1 - border.outer.0) as f32);
        out("outer_ratio", outer.prose / inner.prose.max(1.0));
    }

    fn page(&self, out: &mut impl FnMut(&'static str, f32)) {
        let blocks = self.outline.blocks.len();
        let total = self.sums[blocks];
        // The same for all blocks of a page: the trees judge a block differently on a short page than on a long one.
        out("page_letters", total.letters);
        out("page_linked", total.linked / total.letters.max(1.0));
        out("page_prose", total.prose / total.letters.max(1.0));
        out("page_prose_letters", total.prose);
        out("page_blocks", blocks as f32);
        out("page_words", total.words / blocks.max(1) as f32);
        out("page_headings", total.headings);
        out("page_best", self.mass[self.best] / total.prose.max(1.0));
        self.facts.write(out);
    }

    /// Returns the sums over a range of blocks.
    fn between(&self, first: usize, end: usize) -> Sum {
        // Prefix sums: any range costs two reads.
        let (a, b) = (self.sums[first], self.sums[end]);
        Sum {
            letters: b.letters - a.letters,
            linked: b.linked - a.linked,
            prose: b.prose - a.prose,
            words: b.words - a.words,
            links: b.links - a.links,
            headings: b.headings - a.headings,
        }
    }
}

fn linked(block: &Block) -> f32 {
    block.linked as f32 / block.text.letters.max(1) as f32
}

fn named_title(blocks: &[Block], wordings: &[Wording]) -> usize {
    // A long heading that resembles the title is better evidence than a single word of it, hence the weight by words.
    // max_by returns the last maximum; in reverse order that is the first heading.
    let likeness = |at: usize| wordings[at].like_title * (blocks[at].text.words.min(12) as f32).sqrt();
    let headings = (0..blocks.len()).filter(|&at| blocks[at].heading > 0 && wordings[at].like_title > 0.3);
    headings.rev().max_by(|&a, &b| likeness(a).total_cmp(&likeness(b))).unwrap_or(blocks.len())
}

fn distances(groups: &[Group]) -> Vec<[u8; HINTS]> {
    let mut found: Vec<[u8; HINTS]> = Vec::with_capacity(groups.len());
    for (at, group) in groups.iter().enumerate() {
        // Parents come before their children, so the parent's distances are known.
        let mut own = if at == 0 { [NOWHERE; HINTS] } else { found[group.parent] };
        for (hint, distance) in own.iter_mut().enumerate() {
            *distance = if group.hints.bit(hint) { 0 } else { (*distance + 1).min(NOWHERE) };
        }
        found.push(own);
    }
    found
}

fn headings(blocks: &[Block]) -> Vec<Option<usize>> {
    let mut last = None;
    let mut found = Vec::with_capacity(blocks.len());
    for (at, block) in blocks.iter().enumerate() {
        found.push(last);
        if block.heading > 0 {
            last = Some(at);
        }
    }
    found
}
