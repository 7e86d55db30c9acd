//! Lists of sections and paths, and the phrases that include or exclude them.

use url::Url;

use super::phrase;
use super::sections::{Section, file_type, section_of};
use super::tokens::{Kind, Token};

/// Phrases before a list of what alone is wanted.
static INCLUDE: &[&str] = &[
    "VERB? only|just|exclusively|solely",
    "only|just VERB|include|keep",
    "nothing but|except",
    "include|keep only",
    "limit|restrict|confine it|this|the_crawl|crawling? to",
    "limited|restricted to",
    "crawl|scrape|index|spider",
    "stay|remain",
];
/// Phrases before a list of what is not wanted.
static EXCLUDE: &[&str] = &[
    "except for?",
    "excluding",
    "exclude",
    "skip",
    "skipping",
    "omit",
    "ignore",
    "ignoring",
    "without",
    "avoid",
    "not",
    "no",
    "leave out",
    "but not|no|skip|exclude|without|ignore",
    "other_than|apart_from|minus",
    "do_not|never VERB|include|follow",
    "everything|all|anything except|but",
    "all|every PAGES except|but",
];
/// Words before a place: `everything under /docs`.
static ALL_OF: &[&str] = &[
    "everything|anything|content",
    "all|any|the|every|all_the|all_of_the? PAGES|links|articles|posts",
    "all",
    "all of",
];
/// Words between these and the place.
const UNDER: &str = "under|below|beneath|inside|within|in|from|of|on|starting_with|that_start_with|that_are_under|\
            that_are_in|which_are_under|that_begin_with|beginning_with";
const DETERMINERS: &str = "the|its|their|our|your|all|all_the|every|each|any|the_whole|the_entire|the_full|all_of_the";
/// Nouns that may follow a section.
const NOUNS: &str = "section|sections|page|pages|post|posts|article|articles|part|area|folder|directory|subfolder|\
            entries|subtree|subpages|sub_pages|files|file|documents";
/// Nouns before a path.
const PATH_NOUNS: &str = "path|paths|folder|directory|section|url|urls|prefix|pages";
/// Nouns that make any word before them a part of the path.
const FOLDERS: &str = "folder|directory|subfolder|path";
/// Words that are no name of a folder.
const NO_NAMES: &[&str] = &[
    "this",
    "that",
    "same",
    "other",
    "another",
    "first",
    "last",
    "next",
    "previous",
    "main",
    "root",
    "parent",
    "home",
    "each",
    "every",
    "any",
    "some",
    "which",
    "what",
    "whole",
    "entire",
    "new",
    "old",
    "current",
    "important",
    "relevant",
    "right",
    "wrong",
    "given",
    "one",
    "top",
    "best",
    "following",
    "respective",
    "correct",
    "english",
    "german",
    "french",
];

/// Part of a site that is wanted or not.
#[derive(Clone)]
pub(super) enum Target {
    Path(String),
    Section(&'static Section),
    /// Folder of any name.
    Folder(String),
    /// Pattern of a file type.
    Files(&'static str),
}

/// Whether a list is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Include,
    Exclude,
}

/// List of targets with the number of its tokens.
pub(super) struct Found {
    pub(super) side: Side,
    pub(super) targets: Vec<Target>,
    pub(super) length: usize,
}

/// Reads the list of targets at the beginning of tokens, with the phrase before or after it.
pub(super) fn find(tokens: &[Token], start: &Url) -> Option<Found> {
    let lead =
        |phrases: &[&str]| phrases.iter().filter_map(|phrase| phrase::find(phrase, tokens)).map(|m| m.length).max();
    for (side, phrases) in [(Side::Exclude, EXCLUDE), (Side::Include, INCLUDE)] {
        let Some(length) = lead(phrases) else { continue };
        if let Some((targets, list)) = list(&tokens[length..], side, start) {
            return Some(Found { side, targets, length: length + list });
        }
    }
    // `everything under /docs` needs no phrase before it, and `/docs only` has it behind.
    let side = Side::Include;
    let (targets, length) = list(tokens, side, start)?;
    let only = phrase::find("only|alone", &tokens[length..]).map(|only| only.length);
    let begins_with_all = under(tokens).is_some();
    match only {
        Some(only) => Some(Found { side, targets, length: length + only }),
        None if begins_with_all => Some(Found { side, targets, length }),
        None => None,
    }
}

/// Reads targets with commas, `and` and `or` between them.
fn list(tokens: &[Token], side: Side, start: &Url) -> Option<(Vec<Target>, usize)> {
    let (first, mut length) = target(tokens, side, start)?;
    let mut targets = vec![first];
    loop {
        let rest = &tokens[length..];
        let comma = usize::from(rest.first().is_some_and(|token| token.kind == Kind::Comma));
        let and = phrase::find("and|or|nor|plus|as_well_as", &rest[comma..]).map_or(0, |found| found.length);
        // After `skip the blog, everything under /docs` the second part is wanted or not.
        let is_unclear = and == 0 && side == Side::Exclude && under(&rest[comma..]).is_some();
        if is_unclear {
            return None;
        }
        if comma + and == 0 {
            return Some((targets, length));
        }
        let Some((next, more)) = target(&rest[comma + and..], side, start) else { return Some((targets, length)) };
        targets.push(next);
        length += comma + and + more;
    }
}

/// Returns the number of tokens of `everything under`.
fn under(tokens: &[Token]) -> Option<usize> {
    let all = ALL_OF.iter().filter_map(|phrase| phrase::find(phrase, tokens)).map(|found| found.length).max()?;
    Some(all + phrase::find(UNDER, &tokens[all..])?.length)
}

fn target(tokens: &[Token], side: Side, start: &Url) -> Option<(Target, usize)> {
    let before = under(tokens).or_else(|| phrase::find(UNDER, tokens).map(|found| found.length)).unwrap_or(0);
    let rest = &tokens[before..];
    let determiner = phrase::find(DETERMINERS, rest).map_or(0, |found| found.length);
    let (found, length) = place(&rest[determiner..], side, start)?;
    Some((found, before + determiner + length))
}

/// Reads a path, a section, a folder or a file type.
fn place(tokens: &[Token], side: Side, start: &Url) -> Option<(Target, usize)> {
    let noun = |at: usize| tokens.get(at..).and_then(|rest| phrase::find(NOUNS, rest)).map_or(0, |found| found.length);
    let path_noun = phrase::find(PATH_NOUNS, tokens).map_or(0, |found| found.length);
    if let Some(path) = tokens.get(path_noun).and_then(|token| path(token, start)) {
        return Some((Target::Path(path), path_noun + 1 + noun(path_noun + 1)));
    }
    let first = match &tokens.first()?.kind {
        Kind::Word(word) => word.as_str(),
        Kind::Quoted(text) => {
            let length = 1 + noun(1);
            return (length > 1 && is_name(text)).then(|| (Target::Folder(text.clone()), length));
        }
        _ => return None,
    };
    if let Some(pattern) = file_type(first).filter(|_| side == Side::Exclude) {
        return Some((Target::Files(pattern), 1 + noun(1)));
    }
    let words: Vec<&str> = tokens.iter().take(3).map_while(Token::word).collect();
    if let Some((section, length)) = section_of(&words) {
        let noun = noun(length);
        return (noun > 0 || !section.needs_noun).then_some((Target::Section(section), length + noun));
    }
    phrase::find(FOLDERS, &tokens[1..]).filter(|_| is_name(first) && !NO_NAMES.contains(&first))?;
    Some((Target::Folder(first.to_owned()), 2))
}

/// Returns the path of a token: a path, or a URL of the site.
fn path(token: &Token, start: &Url) -> Option<String> {
    let path = match &token.kind {
        Kind::Path(path) => path.clone(),
        Kind::Quoted(text) => {
            let url = Url::parse(text).ok().filter(|url| url.query().is_none() && url.fragment().is_none())?;
            let is_own = url.host() == start.host() && url.port_or_known_default() == start.port_or_known_default();
            is_own.then(|| url.path().to_owned())?
        }
        _ => return None,
    };
    let is_plain = |c: char| c.is_alphanumeric() || "/-_.~%@*".contains(c);
    let stem = path.trim_end_matches(['*', '/', '…']);
    let is_usable = path.chars().all(is_plain) && !path.contains("//") && !path.contains("***") && !stem.is_empty();
    is_usable.then(|| stem.to_owned())
}

/// Whether a text can be a segment of a path.
fn is_name(text: &str) -> bool {
    (2..=60).contains(&text.len()) && text.chars().all(|c| c.is_alphanumeric() || "-_ ".contains(c))
}

impl Token {
    fn word(&self) -> Option<&str> {
        match &self.kind {
            Kind::Word(word) => Some(word),
            _ => None,
        }
    }
}
