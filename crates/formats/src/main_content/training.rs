//! What the trainer of the main-content model sees of a page: examples/train_main_content.

use super::facts::Facts;
use super::features::{self, Features};
use super::outline::Outline;
use super::{lexicon, model};
use crate::content::Content;

/// A block of text as the model sees it.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Its text, as written in the page.
    pub text: String,
    /// Its features, in the order of [`feature_names`].
    pub features: Vec<f32>,
}

/// All blocks of text in `content`, in reading order.
pub fn blocks(content: &Content) -> Vec<Sample> {
    let page = content.page();
    let outline = Outline::of(content);
    let facts = Facts::of(page);
    let wordings = lexicon::wordings(page, &outline, &facts);
    let features = Features::of(&outline, &facts, wordings);
    let sample = |at: usize| {
        let mut row = Vec::new();
        features.write(at, |_, value| row.push(value));
        let nodes = outline.texts[outline.blocks[at].texts.clone()].iter();
        let text = nodes.filter_map(|&node| page.text(node)).fold(String::new(), |all, text| all + text);
        Sample { text, features: row }
    };
    (0..outline.blocks.len()).map(sample).collect()
}

/// The names of the features, in the order of [`Sample::features`]. Names may repeat.
pub fn feature_names() -> Vec<&'static str> {
    features::names()
}

/// Whether the model in use asks for each feature, in the order of the file that it was read from.
pub fn used_features() -> Vec<bool> {
    model::used()
}

/// The model's log-odds for features in the order of [`feature_names`].
pub fn score(features: &[f32]) -> f32 {
    model::score(features)
}
