//! Reasons for a page without a product or a menu.

use std::fmt;

/// Reason for an absent product or menu. Its text completes "no product found: …" in a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// The page describes no product or menu.
    Nothing,
    /// The page describes several, none of which is its subject.
    Ambiguous,
    /// The page describes something else, such as an article or a list.
    Other,
    /// The page names one, without the price or the items that would confirm it.
    Weak,
    /// The request was cancelled, or its deadline passed.
    Stopped,
}

impl fmt::Display for Missing {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Missing::Nothing => "the page describes none",
            Missing::Ambiguous => "the page describes several, and none of them is its subject",
            Missing::Other => "the page is an article, a list or another kind of page",
            Missing::Weak => "the page does not confirm it with a price or items",
            Missing::Stopped => "the request ended before the page was read",
        })
    }
}

impl std::error::Error for Missing {}
