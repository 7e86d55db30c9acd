//! Features of the way from the title to a block: evidence that the article has ended before it.

use super::hints::Hint;
use super::lexicon::{Topic, Wording};
use super::outline::{Block, Outline};

/// Counts from the start of the content to a block. All are 0 up to the start.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PassedCounts {
    /// Headings with the same path as the title.
    alike: f32,
    /// Headings of the title's level or higher.
    titles: f32,
    /// Headings that are links.
    linked: f32,
    /// Lines with authors, and lines with dates.
    bylines: f32,
    dates: f32,
    /// Lines that announce comments, and the blocks since the first.
    comments: f32,
    since_comments: f32,
    /// Lines that announce related pages, and the blocks since the last.
    related: f32,
    since_related: f32,
    /// Reply buttons of comments.
    replies: f32,
    /// Text fields.
    fields: f32,
    /// Letters of prose, and of prose since the last heading that could be a title.
    prose: f32,
    since_title: f32,
}

impl PassedCounts {
    /// Passes the features to `out`.
    pub(crate) fn write(&self, out: &mut impl FnMut(&'static str, f32)) {
        out("passed_alike", self.alike);
        out("passed_titles", self.titles);
        out("passed_linked", self.linked);
        out("passed_bylines", self.bylines);
        out("passed_dates", self.dates);
        out("passed_comments", self.comments);
        out("since_comments", self.since_comments);
        out("passed_related", self.related);
        out("since_related", self.since_related);
        out("passed_replies", self.replies);
        out("passed_fields", self.fields);
        out("passed_prose", self.prose);
        out("since_title", self.since_title);
    }
}

/// Returns the counts of every block. `title` is the heading with the page's title, `start` the first block of the
/// content.
pub(crate) fn passed(outline: &Outline, wordings: &[Wording], title: Option<usize>, start: usize) -> Vec<PassedCounts> {
    let mut all = Vec::with_capacity(outline.blocks.len());
    let mut now = PassedCounts::default();
    let mut fields = outline.fields.iter().filter(|&&field| field > start).peekable();
    let title = title.map(|title| &outline.blocks[title]);
    for (at, (block, wording)) in outline.blocks.iter().zip(wordings).enumerate() {
        if at <= start {
            all.push(PassedCounts::default());
            continue;
        }
        while fields.next_if(|&&field| field <= at).is_some() {
            now.fields += 1.0;
        }
        now.since_comments += f32::from(u8::from(now.comments > 0.0));
        now.since_related += f32::from(u8::from(now.related > 0.0));
        if block.heading > 0 {
            now.heading(block, title);
        }
        // Headings count for themselves, everything else only for the blocks after it.
        all.push(now);
        now.pass(block, *wording);
    }
    all
}

impl PassedCounts {
    /// Counts a heading.
    fn heading(&mut self, block: &Block, title: Option<&Block>) {
        let level = title.map_or(1, |title| title.heading.max(1));
        let alike = title.is_some_and(|title| title.path == block.path);
        let linked = block.linked * 2 > block.text.letters;
        self.alike += f32::from(u8::from(alike));
        self.titles += f32::from(u8::from(block.heading <= level));
        self.linked += f32::from(u8::from(linked));
        if alike || linked || block.heading <= level {
            self.since_title = 0.0;
        }
    }

    fn pass(&mut self, block: &Block, wording: Wording) {
        let short = block.text.words <= SHORT;
        self.bylines += f32::from(u8::from(short && block.hints.has(Hint::Byline)));
        let dated = block.hints.has(Hint::Time) || (3..15).contains(&block.text.digits);
        self.dates += f32::from(u8::from(short && dated));
        match wording.topic {
            Topic::Comments => self.comments += 1.0,
            Topic::Related => {
                self.related += 1.0;
                self.since_related = 0.0;
            }
            Topic::Reply => self.replies += 1.0,
            Topic::Other => {}
        }
        if block.is_prose() {
            let letters = block.text.letters as f32;
            self.prose += letters;
            self.since_title += letters;
        }
    }
}

/// Limit on the words of a block that can be a date or an author.
const SHORT: u32 = 9;

/// Position of a block relative to the start of the content, in the tree of groups.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Border {
    /// Number of groups from the start up to the one that contains both.
    pub(crate) steps: f32,
    /// Number of groups from the block up to the one that contains both.
    pub(crate) below: f32,
    /// Range of blocks of the largest group around the start that does not contain the block.
    pub(crate) inner: (usize, usize),
    /// Range of blocks of the largest group around the block that does not contain the start.
    pub(crate) outer: (usize, usize),
}

/// Returns the position of the block `at` relative to `start`.
pub(crate) fn border(outline: &Outline, start: usize, at: usize) -> Border {
    let groups = &outline.groups;
    let of = |from: usize, other: usize| {
        let (mut group, mut below, mut steps) = (outline.blocks[from].group, (from, from + 1), 0.0);
        while !groups[group].holds(other) && group != 0 {
            below = (groups[group].first, groups[group].end);
            group = groups[group].parent;
            steps += 1.0;
        }
        (below, steps)
    };
    let ((inner, steps), (outer, below)) = (of(start, at), of(at, start));
    Border { steps, below, inner, outer }
}
