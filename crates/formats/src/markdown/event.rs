//! What happens in a paragraph: text, code, marks that begin and end.

/// What a piece of text is, apart from text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Number of the link in the list of the paragraph.
    Link(usize),
    Strong,
    Emphasis,
    Strike,
    Subscript,
    Superscript,
}

/// One event of a paragraph. Pieces of text follow each other in one buffer, so that each is known by its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// Text, not escaped; at most one space between words.
    Text(usize),
    /// Text of a code span.
    Code(usize),
    /// Markdown already.
    Raw(usize),
    Break,
    /// A mark begins. When it is `kept`, it shows even where another one of its kind applies to the same text.
    Open {
        mark: Mark,
        kept: bool,
    },
    /// Number of the event that opened the mark.
    Close(usize),
}

impl Event {
    /// The mark that begins here.
    pub(super) fn opens(self) -> Option<Mark> {
        match self {
            Event::Open { mark, .. } => Some(mark),
            _ => None,
        }
    }
}

/// Target and title.
pub(super) type Link = (String, Option<String>);
