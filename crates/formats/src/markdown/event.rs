//! Events of a paragraph: text, code, and the start and end of marks.

/// Inline formatting of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Link, by its position in the list of the paragraph.
    Link(usize),
    Strong,
    Emphasis,
    Strike,
    Subscript,
    Superscript,
}

/// Event of a paragraph. Its pieces of text follow each other in one buffer, so an event has only the end of its piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// Text, unescaped, with white space folded.
    Text(usize),
    /// Text of a code span.
    Code(usize),
    /// Finished markdown.
    Raw(usize),
    Break,
    /// Start of a mark. If it is `kept`, it is written even where another one of its kind covers the same text.
    Open {
        mark: Mark,
        kept: bool,
    },
    /// End of the mark that the event with this number opened.
    Close(usize),
}

impl Event {
    /// Returns the mark that the event opens.
    pub(super) fn opens(self) -> Option<Mark> {
        match self {
            Event::Open { mark, .. } => Some(mark),
            _ => None,
        }
    }
}

/// Target and title of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) target: String,
    pub(super) title: Option<String>,
}
