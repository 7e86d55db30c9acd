//! Descriptions of elements: `the second "Details" link`, `the search box`.

use super::words::{Word, after, join};

/// Description of an element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) name: Option<String>,
    /// Accepted roles; empty means all.
    pub(super) roles: Vec<&'static str>,
    /// Word for the role, for messages.
    pub(super) kind: Option<&'static str>,
    /// Index among several matches: 0 is the first, -1 the last.
    pub(super) place: Option<isize>,
}

/// Roles of text fields.
pub(super) const FIELDS: &[&str] = &["textbox", "searchbox", "combobox", "spinbutton"];

/// Maximum length of a name, in words.
const MAX_WORDS: usize = 10;

/// Words for kinds of elements, with their roles and their name in messages; longest first.
const KINDS: &[(&[&str], &[&str], &str)] = &[
    (&["text", "field"], FIELDS, "field"),
    (&["text", "box"], FIELDS, "field"),
    (&["text", "area"], &["textbox"], "field"),
    (&["input", "field"], FIELDS, "field"),
    (&["input", "box"], FIELDS, "field"),
    (&["form", "field"], FIELDS, "field"),
    (&["search", "field"], &["searchbox", "combobox", "textbox"], "search box"),
    (&["search", "box"], &["searchbox", "combobox", "textbox"], "search box"),
    (&["search", "bar"], &["searchbox", "combobox", "textbox"], "search box"),
    (&["search", "input"], &["searchbox", "combobox", "textbox"], "search box"),
    (&["menu", "item"], &["menuitem", "menuitemcheckbox", "menuitemradio"], "menu item"),
    (&["radio", "button"], &["radio"], "radio button"),
    (&["drop", "down"], &["combobox", "listbox"], "list"),
    (&["check", "box"], &["checkbox", "switch"], "checkbox"),
    (&["list", "box"], &["combobox", "listbox"], "list"),
    (&["button"], &["button"], "button"),
    (&["buttons"], &["button"], "button"),
    (&["link"], &["link"], "link"),
    (&["links"], &["link"], "link"),
    (&["checkbox"], &["checkbox", "switch"], "checkbox"),
    (&["switch"], &["switch", "checkbox"], "switch"),
    (&["toggle"], &["switch", "checkbox", "button"], "switch"),
    (&["radio"], &["radio"], "radio button"),
    (&["tab"], &["tab"], "tab"),
    (&["option"], &["option", "radio"], "option"),
    (&["menuitem"], &["menuitem"], "menu item"),
    (&["field"], FIELDS, "field"),
    (&["input"], FIELDS, "field"),
    (&["textbox"], FIELDS, "field"),
    (&["textarea"], &["textbox"], "field"),
    (&["searchbox"], &["searchbox", "combobox", "textbox"], "search box"),
    (&["dropdown"], &["combobox", "listbox"], "list"),
    (&["listbox"], &["combobox", "listbox"], "list"),
    (&["combobox"], &["combobox"], "list"),
    (&["slider"], &["slider"], "slider"),
    (&["heading"], &["heading"], "heading"),
    (&["headings"], &["heading"], "heading"),
    (&["headline"], &["heading"], "heading"),
    (&["image"], &["img", "image"], "image"),
    (&["picture"], &["img", "image"], "image"),
];

/// Words that are skipped before a description.
const FILLERS: &[&str] = &["the", "a", "an", "on", "at", "over", "onto", "this", "that", "my", "its"];
/// Words between a kind and a name.
const NAMING: &[&[&str]] = &[
    &["with", "the", "text"],
    &["with", "the", "name"],
    &["with", "the", "label"],
    &["that", "says"],
    &["which", "says"],
    &["with", "text"],
    &["with", "label"],
    &["called"],
    &["named"],
    &["labelled"],
    &["labeled"],
    &["saying"],
    &["titled"],
    &["for"],
];
const PLACES: &[(&str, isize)] = &[
    ("first", 0),
    ("1st", 0),
    ("second", 1),
    ("2nd", 1),
    ("third", 2),
    ("3rd", 2),
    ("fourth", 3),
    ("4th", 3),
    ("fifth", 4),
    ("5th", 4),
    ("sixth", 5),
    ("6th", 5),
    ("seventh", 6),
    ("7th", 6),
    ("eighth", 7),
    ("8th", 7),
    ("ninth", 8),
    ("9th", 8),
    ("tenth", 9),
    ("10th", 9),
    ("last", -1),
];

/// Parses a description; `None` if the words describe nothing.
pub(super) fn target(words: &[Word]) -> Option<Target> {
    let mut words = words;
    let mut target = Target::default();
    while let Some(first) = words.first().filter(|word| !word.is_quoted) {
        if FILLERS.contains(&first.small.as_str()) && words.len() > 1 {
            words = &words[1..];
        } else if let Some((_, place)) =
            PLACES.iter().find(|(word, _)| *word == first.small).filter(|_| words.len() > 1)
        {
            target.place = Some(*place);
            words = &words[1..];
        } else {
            break;
        }
    }
    if let Some((rest, (_, roles, kind))) = leading_kind(words) {
        target.take(roles, kind);
        words = NAMING.iter().find_map(|naming| after(rest, naming)).unwrap_or(rest);
    } else if let Some((rest, (_, roles, kind))) = trailing_kind(words) {
        target.take(roles, kind);
        words = rest;
    }
    // A longer name is more likely a sentence that needs a language model.
    if words.len() > MAX_WORDS {
        return None;
    }
    target.name = (!words.is_empty()).then(|| join(words));
    (target.name.is_some() || target.kind.is_some()).then_some(target)
}

type Kind = &'static (&'static [&'static str], &'static [&'static str], &'static str);

/// Parses `button Send`, `button named "Send"`, `the first link`.
fn leading_kind(words: &[Word]) -> Option<(&[Word], Kind)> {
    let kind = KINDS.iter().find(|(kind, ..)| after(words, kind).is_some())?;
    let rest = &words[kind.0.len()..];
    // In `search button` or `link checker` the first word is part of the name, so what follows must clearly be a name.
    let is_named = rest.is_empty()
        || rest.iter().all(|word| word.is_quoted)
        || NAMING.iter().any(|naming| after(rest, naming).is_some());
    (is_named
        || trailing_kind(words).is_none() && rest.first().is_some_and(|word| word.text.starts_with(char::is_uppercase)))
    .then_some((rest, kind))
}

/// Parses `Send button`, `"Send" button`.
fn trailing_kind(words: &[Word]) -> Option<(&[Word], Kind)> {
    KINDS.iter().find_map(|kind| {
        let at = words.len().checked_sub(kind.0.len()).filter(|at| *at > 0)?;
        after(&words[at..], kind.0).is_some_and(<[Word]>::is_empty).then_some((&words[..at], kind))
    })
}

impl Target {
    fn take(&mut self, roles: &[&'static str], kind: &'static str) {
        (self.roles, self.kind) = (roles.to_vec(), Some(kind));
    }

    /// Formats the description for messages.
    pub(super) fn told(&self) -> String {
        let kind = self.kind.unwrap_or("element");
        match &self.name {
            Some(name) => format!("{kind} \"{name}\""),
            None => kind.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::words;
    use super::*;

    #[test]
    fn descriptions_are_read() {
        let read = |text: &str| {
            let target = target(&words(text)).unwrap();
            (target.name.unwrap_or_default(), target.kind.unwrap_or_default(), target.place)
        };
        assert_eq!(read("the first link"), (String::new(), "link", Some(0)));
        assert_eq!(read("on the \"Sign in\" button"), ("Sign in".to_owned(), "button", None));
        assert_eq!(read("button named Send"), ("Send".to_owned(), "button", None));
        assert_eq!(read("the last Read more link"), ("Read more".to_owned(), "link", Some(-1)));
        assert_eq!(read("Search button"), ("Search".to_owned(), "button", None));
        assert_eq!(read("search box"), (String::new(), "search box", None));
        assert_eq!(read("the email input field"), ("email".to_owned(), "field", None));
        assert_eq!(read("More information"), ("More information".to_owned(), "", None));
        assert_eq!(read("link \"button\""), ("button".to_owned(), "link", None));
        assert_eq!(target(&words("the")), Some(Target { name: Some("the".to_owned()), ..Target::default() }));
        assert_eq!(target(&[]), None);
    }
}
