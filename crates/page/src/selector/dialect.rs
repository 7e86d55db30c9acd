//! The supported selectors: Selectors Level 4 as far as it can be matched against a static page.
//!
//! Text searches such as jQuery's `:contains()` are unsupported: the text of an element includes that of all its
//! descendants, so testing every element is quadratic.

use std::fmt;

use cssparser::{CowRcStr, ParseError, ToCss};
use html5ever::{LocalName, Namespace};
use precomputed_hash::PrecomputedHash;
use selectors::parser::{self, SelectorImpl, SelectorParseErrorKind};

pub(super) type SelectorList = parser::SelectorList<Dialect>;

/// Type parameters of the `selectors` crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dialect;

/// A name, interned like the names in the tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Name(pub(super) LocalName);

/// The value in an attribute selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value(String);

/// Pseudo-classes that do not depend on the position in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pseudo {
    /// `:link`, `:any-link`: `a`, `area` or `link` with `href`.
    Link,
    /// `:only-text`: the only child is a text node that is not blank.
    OnlyText,
    /// A pseudo-class with browser state such as `:hover`: accepted, matches no element.
    Never(&'static str),
}

/// Pseudo-elements: none are supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoElement {}

/// Pseudo-classes that are accepted but match nothing.
const NEVER: [&str; 8] = ["visited", "active", "focus", "hover", "enabled", "disabled", "checked", "indeterminate"];

/// Parses a list of selectors.
pub(super) fn parse(text: &str) -> Option<SelectorList> {
    SelectorList::parse(&Reader, &mut cssparser::Parser::new(text), parser::ParseRelative::No).ok()
}

struct Reader;

impl<'i> parser::Parser<'i> for Reader {
    type Impl = Dialect;
    type Error = SelectorParseErrorKind;

    fn parse_is_and_where(&self) -> bool {
        true
    }

    fn parse_has(&self) -> bool {
        true
    }

    // Forgiving parsing would accept unsupported selectors inside `:is()` and silently match nothing.
    fn allow_forgiving_selectors(&self) -> bool {
        false
    }

    fn parse_non_ts_pseudo_class(&self, name: CowRcStr<'i>) -> Result<Pseudo, ParseError<Self::Error>> {
        match name.to_ascii_lowercase().as_str() {
            "link" | "any-link" => Ok(Pseudo::Link),
            "only-text" => Ok(Pseudo::OnlyText),
            other => NEVER
                .iter()
                .find(|never| **never == other)
                .map(|never| Pseudo::Never(never))
                .ok_or_else(|| ParseError::custom(SelectorParseErrorKind::UnsupportedPseudoClassOrElement)),
        }
    }
}

impl SelectorImpl for Dialect {
    type ExtraMatchingData<'a> = ();
    type AttrValue = Value;
    type Identifier = Name;
    type LocalName = Name;
    type NamespaceUrl = Namespace;
    type NamespacePrefix = Name;
    type BorrowedLocalName = Name;
    type BorrowedNamespaceUrl = Namespace;
    type NonTSPseudoClass = Pseudo;
    type PseudoElement = NoElement;
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        Name(text.into())
    }
}

impl ToCss for Name {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        dest.write_str(&self.0)
    }
}

impl PrecomputedHash for Name {
    fn precomputed_hash(&self) -> u32 {
        self.0.precomputed_hash()
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value(text.to_owned())
    }
}

impl AsRef<str> for Value {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl ToCss for Value {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        cssparser::serialize_string(&self.0, dest)
    }
}

impl ToCss for Pseudo {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        match self {
            Pseudo::Link => dest.write_str(":link"),
            Pseudo::OnlyText => dest.write_str(":only-text"),
            Pseudo::Never(name) => write!(dest, ":{name}"),
        }
    }
}

impl parser::NonTSPseudoClass for Pseudo {
    fn is_active_or_hover(&self) -> bool {
        false
    }

    fn is_user_action_state(&self) -> bool {
        false
    }
}

impl ToCss for NoElement {
    fn to_css<W: fmt::Write>(&self, _dest: &mut W) -> fmt::Result {
        match *self {}
    }
}

impl parser::PseudoElement for NoElement {}
