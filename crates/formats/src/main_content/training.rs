//! Interface for the trainer of the main-content model, `examples/train_main_content`.

use page::Index;

use super::facts::Facts;
use super::features::Features;
use super::hints::Hint;
use super::lexicon::{self, Wording};
use super::outline::Outline;
use super::{declared, is_small, manual};
use crate::content::Content;

/// A block of text as the model sees it.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Text, as written in the page.
    pub text: String,
    /// Text nodes of the block.
    pub nodes: Vec<Index>,
    /// Whether the block is a heading.
    pub heading: bool,
    /// Whether the markup calls the block, or an element around it, a comment.
    pub comment: bool,
    /// Features, in the order of [`feature_names`].
    pub features: Vec<f32>,
}

/// A page whose blocks can be chosen by log-odds from the caller.
#[derive(Debug)]
pub struct Blocks {
    outline: Outline,
    facts: Facts,
    wordings: Vec<Wording>,
    /// Kept blocks of a documentation page, for which the model is not used.
    manual: Option<Vec<bool>>,
}

/// Returns all blocks of text in `content`, in reading order.
pub fn blocks(content: &Content) -> (Blocks, Vec<Sample>) {
    let page = content.page();
    let outline = Outline::of(content);
    let facts = Facts::of(page);
    let wordings = lexicon::wordings(page, &outline, &facts);
    let manual = manual::choice(content, &outline).map(|choice| choice.chosen);
    let blocks = Blocks { outline, facts, wordings, manual };
    let (outline, features) = (&blocks.outline, blocks.features());
    let sample = |at: usize| {
        let mut row = Vec::new();
        features.write(at, |_, value| row.push(value));
        let block = &outline.blocks[at];
        let nodes = outline.texts[block.texts.clone()].to_vec();
        let text = nodes.iter().filter_map(|&node| page.text(node)).fold(String::new(), |all, text| all + text);
        let above = std::iter::successors(Some(block.group), |&at| (at > 0).then(|| outline.groups[at].parent));
        let comment = above.take(12).any(|at| outline.groups[at].hints.has(Hint::Comment));
        Sample { text, nodes, heading: block.heading > 0, comment, features: row }
    };
    let samples = (0..outline.blocks.len()).map(sample).collect();
    drop(features);
    (blocks, samples)
}

impl Blocks {
    /// Returns which blocks are kept if the model gives each the log-odds in `scores`, plus `caution`.
    pub fn chosen(&self, scores: &[f32], caution: f32) -> Vec<bool> {
        if let Some(chosen) = &self.manual {
            return chosen.clone();
        }
        if is_small(&self.outline) {
            return declared::chosen(&self.outline);
        }
        super::choose(&self.outline, &self.features(), scores, caution, true)
    }

    fn features(&self) -> Features<'_> {
        Features::of(&self.outline, &self.facts, &self.wordings)
    }
}

/// Returns the names of the features, in the order of [`Sample::features`]. Names may repeat.
pub fn feature_names() -> Vec<&'static str> {
    super::names()
}
