//! Selectors of style sheets: tags, ids, classes and attributes, below one another.

use page::{Element, Index, Page};

/// Limit on the parts of a selector.
const MAX_PARTS: usize = 12;
/// Limit on a selector, in bytes.
const MAX_LENGTH: usize = 400;

/// A selector of one rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Selector {
    /// From the element itself outwards.
    parts: Vec<Part>,
    /// Whether it holds only in a state of the page, or depends on something that is not read here.
    pub(super) is_loose: bool,
    /// Whether it names a pseudo-element.
    pub(super) is_of_pseudo: bool,
}

/// Conditions on one element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Part {
    tag: Option<String>,
    id: Option<String>,
    classes: Vec<String>,
    attributes: Vec<Attribute>,
    /// Conditions of which none may hold.
    none_of: Vec<Part>,
    /// Whether the element is a child of the one of the next part, not just somewhere in it.
    is_child: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Attribute {
    name: String,
    /// `=`, or the character before it; `None` where the attribute only has to be present.
    operator: Option<char>,
    value: String,
}

/// What the elements of a selector have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Id(String),
    Class(String),
    Tag(String),
    Any,
}

/// Number of comparisons that are left for a page.
pub(super) struct Steps(pub(super) u32);

impl Selector {
    /// Reads a selector without commas; `None` for one that is not understood, or is too long.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() || text.len() > MAX_LENGTH {
            return None;
        }
        let mut selector = Self::default();
        let mut reader = Reader { rest: text, is_loose: false, is_of_pseudo: false };
        let mut parts = vec![reader.part(true)?];
        while !reader.rest.is_empty() {
            let is_spaced = reader.rest.starts_with(|c: char| c.is_ascii_whitespace());
            reader.rest = reader.rest.trim_start();
            let combinator = reader.rest.chars().next()?;
            let is_child = match combinator {
                '>' => true,
                // Elements beside one another: the page is not searched for them.
                '+' | '~' => {
                    reader.is_loose = true;
                    false
                }
                _ if is_spaced => false,
                _ => return None,
            };
            if matches!(combinator, '>' | '+' | '~') {
                reader.rest = reader.rest[1..].trim_start();
            }
            let mut part = reader.part(true)?;
            part.is_child = is_child;
            parts.push(part);
            if parts.len() > MAX_PARTS {
                return None;
            }
        }
        parts.reverse();
        (selector.parts, selector.is_loose, selector.is_of_pseudo) = (parts, reader.is_loose, reader.is_of_pseudo);
        Some(selector)
    }

    /// Returns how specific it is: ids, then classes and attributes, then tags.
    pub(super) fn specificity(&self) -> u32 {
        self.parts.iter().map(Part::specificity).sum()
    }

    /// Whether it has more than one condition, so that it may depend on a state.
    pub(super) fn is_of_several(&self) -> bool {
        self.parts.iter().map(Part::count).sum::<usize>() > 1
    }

    /// Returns what its elements have in common.
    pub(super) fn key(&self) -> Key {
        let Some(part) = self.parts.first() else { return Key::Any };
        let class = part.classes.first();
        let id = part.id.as_ref().map(|id| Key::Id(id.clone()));
        id.or_else(|| class.map(|class| Key::Class(class.clone())))
            .or_else(|| part.tag.as_ref().map(|tag| Key::Tag(tag.clone())))
            .unwrap_or(Key::Any)
    }

    /// Returns the ids and classes of its elements.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.first().into_iter().flat_map(|part| part.id.iter().chain(&part.classes)).map(String::as_str)
    }

    /// Whether the element at `index` matches. False when no steps are left.
    pub(super) fn matches(&self, page: &Page, index: Index, steps: &mut Steps) -> bool {
        self.matches_from(0, page, index, steps)
    }

    fn matches_from(&self, part: usize, page: &Page, index: Index, steps: &mut Steps) -> bool {
        if steps.0 == 0 {
            return false;
        }
        steps.0 -= 1;
        let Some(this) = self.parts.get(part) else { return true };
        if !page.element(index).is_some_and(|element| this.matches(element)) {
            return false;
        }
        if part + 1 == self.parts.len() {
            return true;
        }
        let reach = if this.is_child { 1 } else { usize::MAX };
        page.ancestors(index).take(reach).any(|above| self.matches_from(part + 1, page, above, steps))
    }
}

impl Part {
    fn matches(&self, element: &Element) -> bool {
        self.tag.as_ref().is_none_or(|tag| *element.name.local == **tag)
            && self.id.as_ref().is_none_or(|id| element.attr("id").is_some_and(|found| *found == **id))
            && self.has_classes(element)
            && self.attributes.iter().all(|attribute| attribute.matches(element))
            && !self.none_of.iter().any(|part| part.matches(element))
    }

    fn has_classes(&self, element: &Element) -> bool {
        if self.classes.is_empty() {
            return true;
        }
        let Some(class) = element.attr("class") else { return false };
        self.classes.iter().all(|wanted| class.split_ascii_whitespace().any(|name| name == wanted))
    }

    fn count(&self) -> usize {
        usize::from(self.tag.is_some())
            + usize::from(self.id.is_some())
            + self.classes.len()
            + self.attributes.len()
            + self.none_of.len()
    }

    fn specificity(&self) -> u32 {
        let classes = (self.classes.len() + self.attributes.len()) as u32;
        let inner = self.none_of.iter().map(Part::specificity).max().unwrap_or(0);
        u32::from(self.id.is_some()) * 10_000 + classes * 100 + u32::from(self.tag.is_some()) + inner
    }
}

impl Attribute {
    fn matches(&self, element: &Element) -> bool {
        let Some(found) = element.attr(self.name.as_str()) else { return false };
        let value = self.value.as_str();
        match self.operator {
            None => true,
            Some('^') => !value.is_empty() && found.starts_with(value),
            Some('$') => !value.is_empty() && found.ends_with(value),
            Some('*') => !value.is_empty() && found.contains(value),
            Some('~') => found.split_ascii_whitespace().any(|word| word == value),
            Some('|') => *found == *value || found.starts_with(value) && found[value.len()..].starts_with('-'),
            Some(_) => *found == *value,
        }
    }
}

/// Position in a selector.
struct Reader<'t> {
    rest: &'t str,
    is_loose: bool,
    is_of_pseudo: bool,
}

impl Reader<'_> {
    /// Reads the conditions on one element. `may_negate` is false inside `:not()`.
    fn part(&mut self, may_negate: bool) -> Option<Part> {
        let mut part = Part::default();
        if let Some(rest) = self.rest.strip_prefix('*') {
            self.rest = rest;
        } else if self.rest.starts_with(is_name) {
            part.tag = Some(self.name()?.to_ascii_lowercase());
        } else if !self.rest.starts_with(['.', '#', '[', ':']) {
            return None;
        }
        while let Some(mark) = self.rest.chars().next().filter(|mark| matches!(mark, '.' | '#' | '[' | ':')) {
            self.rest = &self.rest[1..];
            match mark {
                '.' => part.classes.push(self.name()?),
                '#' => part.id = Some(self.name()?),
                '[' => part.attributes.push(self.attribute()?),
                _ => self.pseudo(&mut part, may_negate)?,
            }
        }
        Some(part)
    }

    /// Reads a name; a backslash is removed, as in `md\:block`.
    fn name(&mut self) -> Option<String> {
        let mut name = String::new();
        let mut characters = self.rest.char_indices();
        let mut end = self.rest.len();
        while let Some((at, c)) = characters.next() {
            match c {
                '\\' => name.push(characters.next()?.1),
                c if is_name(c) => name.push(c),
                _ => {
                    end = at;
                    break;
                }
            }
        }
        self.rest = &self.rest[end..];
        (!name.is_empty()).then_some(name)
    }

    /// Reads an attribute after its bracket.
    fn attribute(&mut self) -> Option<Attribute> {
        let (inner, rest) = self.rest.split_once(']')?;
        self.rest = rest;
        let Some((name, value)) = inner.split_once('=') else {
            return Some(Attribute { name: inner.trim().to_ascii_lowercase(), operator: None, value: String::new() });
        };
        let operator = name.chars().next_back().filter(|c| "^$*~|".contains(*c));
        let name = name.trim_end_matches(['^', '$', '*', '~', '|']).trim().to_ascii_lowercase();
        let value = value.trim().trim_matches(['"', '\'']).to_owned();
        Some(Attribute { name, operator: operator.or(Some('=')), value })
    }

    /// Reads a pseudo-class or pseudo-element after its colon.
    fn pseudo(&mut self, part: &mut Part, may_negate: bool) -> Option<()> {
        let is_double = self.rest.strip_prefix(':').inspect(|rest| self.rest = rest).is_some();
        let name = self.name()?.to_ascii_lowercase();
        let is_element = is_double || matches!(name.as_str(), "before" | "after" | "first-line" | "first-letter");
        self.is_of_pseudo |= is_element;
        if let Some(inner) = self.rest.strip_prefix('(') {
            if name == "not" && may_negate {
                self.rest = inner.trim_start();
                part.none_of.push(self.part(false)?);
                while let Some(rest) = self.rest.trim_start().strip_prefix(',') {
                    self.rest = rest.trim_start();
                    part.none_of.push(self.part(false)?);
                }
                self.rest = self.rest.trim_start().strip_prefix(')')?;
                return Some(());
            }
            self.rest = &inner[closing(inner)? + 1..];
        }
        if name == "root" {
            part.tag = Some("html".to_owned());
        } else {
            self.is_loose |= !is_element;
        }
        Some(())
    }
}

/// Returns the position of the bracket that closes the one opened before `text`.
fn closing(text: &str) -> Option<usize> {
    let mut open = 1_usize;
    text.bytes().position(|byte| {
        match byte {
            b'(' => open += 1,
            b')' => open -= 1,
            _ => {}
        }
        open == 0
    })
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '\\') || !c.is_ascii()
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    #[test]
    fn elements_are_matched_by_their_attributes_and_their_place() {
        let html = "<div id=a class='x y'><section class='md:z'><p class=p data-k=v>t</p></section></div>";
        let page = Page::parse(html, &Url::parse("https://a.test/").unwrap());
        let p = (0..page.node_count()).find(|&index| page.attr(index, "data-k").is_some()).unwrap();
        let check = |text: &str, expect: bool| {
            let selector = Selector::read(text).unwrap();
            assert_eq!(selector.matches(&page, p, &mut Steps(100)), expect, "{text}");
        };
        for text in [
            "p",
            "*",
            "P.p",
            ".x.y .p",
            "#a p",
            "#a>section>p",
            ".md\\:z > p",
            "p[data-k]",
            "p[data-k=\"v\"]",
            "p[class^=p]",
            "p:not(.q)",
            "html body p",
        ] {
            check(text, true);
        }
        for text in ["div", "#a > p", ".z p", "p:not(.p)", "p:not([data-k], .q)", "p[data-k=w]", "section.p"] {
            check(text, false);
        }
        assert!(!Selector::read("p").unwrap().matches(&page, p, &mut Steps(0)));
    }

    #[test]
    fn what_holds_only_sometimes_is_loose() {
        for (text, is_loose) in
            [("p:hover", true), ("a + p", true), ("p:nth-child(2n)", true), ("p:not(.a)", false), (":root p", false)]
        {
            assert_eq!(Selector::read(text).map(|selector| selector.is_loose), Some(is_loose), "{text}");
        }
        assert!(Selector::read("p::before").is_some_and(|selector| selector.is_of_pseudo));
        for text in ["", "p >", ".", "p:not(", "p:is(", "{", "p,q", "&.a"] {
            assert_eq!(Selector::read(text), None, "{text}");
        }
    }

    #[test]
    fn specificity_and_key() {
        let check = |text: &str, specificity: u32, key: Key| {
            let selector = Selector::read(text).unwrap();
            assert_eq!((selector.specificity(), selector.key()), (specificity, key), "{text}");
        };
        check("p", 1, Key::Tag("p".into()));
        check("#a p.b", 10_101, Key::Class("b".into()));
        check("div #a.b", 10_101, Key::Id("a".into()));
        check("p > *", 1, Key::Any);
        check("p:not(.b):hover", 101, Key::Tag("p".into()));
    }
}
