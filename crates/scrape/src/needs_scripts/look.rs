//! The walk over a page that counts its words and collects its signs of scripts.

use formats::Page;
use page::{Element, Index, LocalName, local_name};

use super::{ENOUGH_WORDS, FEW_WORDS, TINY_WORDS, lists};

/// Words that an image counts as.
const WORDS_OF_A_PICTURE: usize = 4;
/// Longest delay of a refresh that counts as a redirect, in seconds; after more, there was something to read.
const MAX_REFRESH_SECONDS: f64 = 10.0;
/// Bytes of the visible text that are kept.
const MAX_SHOWN: usize = 4096;
/// Bytes of a script or a `noscript` that are inspected.
const MAX_PEEK: usize = 512;
/// Maximum bytes and words of a loading message.
const MAX_LOADING: (usize, usize) = (60, 4);

/// Signs that scripts fill the page. Stored as bits in `Look::signs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// A script that may draw content.
    Program,
    /// A frame, whose content is not in the tree.
    Frame,
    /// A refresh that leads to another page.
    Refresh,
    /// Streamed parts at the end of the response, moved to their place by a script.
    Stream,
    /// An empty root element of a framework, or an empty main part.
    EmptyRoot,
    /// A request to enable JavaScript.
    Noscript,
    /// A part that loads its own content.
    Island,
    /// A placeholder for loading content.
    Skeleton,
    /// A client-side template.
    Template,
    /// An empty part with a name.
    Placeholder,
    /// Server-rendered content that a script takes over.
    Hydration,
    /// An input or a selection.
    Control,
}

/// Result of the walk.
pub(super) struct Look<'p> {
    page: &'p Page,
    /// Visible words, including images, outside of navigation, header and footer.
    pub(super) words: usize,
    /// Words inside of navigation, header and footer.
    pub(super) words_apart: usize,
    /// Beginning of the visible text.
    pub(super) shown: String,
    signs: u32,
    /// End of the hidden subtree.
    hidden_until: Index,
    /// End of the navigation, header or footer subtree.
    apart_until: Index,
    has_late_part: bool,
    has_late_place: bool,
}

impl<'p> Look<'p> {
    /// Walks over the page until there are enough words to decide.
    pub(super) fn at(page: &'p Page) -> Self {
        let mut look = Self {
            page,
            words: 0,
            words_apart: 0,
            shown: String::new(),
            signs: 0,
            hidden_until: 0,
            apart_until: 0,
            has_late_part: false,
            has_late_place: false,
        };
        let mut at = 0;
        while at < page.node_count() && look.words < ENOUGH_WORDS && !page.stop().is_set() {
            at = look.step(at);
        }
        if look.has_late_part && look.has_late_place {
            look.note(Sign::Stream);
        }
        look
    }

    pub(super) fn has(&self, sign: Sign) -> bool {
        self.signs & (1 << sign as u32) != 0
    }

    fn note(&mut self, sign: Sign) {
        self.signs |= 1 << sign as u32;
    }

    fn note_if(&mut self, sign: Sign, applies: bool) {
        if applies {
            self.note(sign);
        }
    }

    fn is_hidden(&self, at: Index) -> bool {
        at < self.hidden_until
    }

    /// Inspects a node and returns the next one.
    fn step(&mut self, at: Index) -> Index {
        let page = self.page;
        if let Some(text) = page.text(at) {
            self.text(at, text);
            return at + 1;
        }
        match page.element(at) {
            Some(element) if self.enters(at, element) => at + 1,
            Some(_) => page.end(at),
            None => at + 1,
        }
    }

    fn text(&mut self, at: Index, text: &str) {
        if self.is_hidden(at) || text.trim().is_empty() {
            return;
        }
        let words = words(text);
        if at < self.apart_until {
            self.words_apart += words;
            return;
        }
        self.words += words;
        if self.shown.len() < MAX_SHOWN {
            self.shown.push_str(peek(text));
            self.shown.push(' ');
        }
        self.note_if(Sign::Skeleton, is_loading(text));
        self.note_if(Sign::Template, text.find("{{").is_some_and(|from| text[from..].contains("}}")));
    }

    /// Whether the children of the element are to be inspected.
    fn enters(&mut self, at: Index, element: &Element) -> bool {
        let name = &element.name.local;
        match *name {
            local_name!("script") => self.script(at, element),
            local_name!("noscript") => self.note_if(Sign::Noscript, asks(self.page, at)),
            local_name!("template") => self.template(element),
            local_name!("iframe") | local_name!("frame") => self.frame(at, element),
            local_name!("meta") => self.note_if(Sign::Refresh, self.leads_on(element)),
            local_name!("title") | local_name!("style") => {}
            _ => {
                self.ordinary(at, element);
                return true;
            }
        }
        false
    }

    fn ordinary(&mut self, at: Index, element: &Element) {
        let (page, name) = (self.page, &element.name.local);
        if is_hidden(element) {
            // React streams suspended parts as hidden elements `S:n`, to replace templates `B:n` or `P:n`.
            self.has_late_part |= element.attr("id").is_some_and(|id| id.starts_with("S:"));
            self.hidden_until = self.hidden_until.max(page.end(at));
        }
        if self.is_hidden(at) {
            return;
        }
        if is_apart(element) {
            self.apart_until = self.apart_until.max(page.end(at));
        }
        match *name {
            local_name!("body") => self.note_if(Sign::Program, element.attr("onload").is_some()),
            local_name!("img") | local_name!("picture") | local_name!("video") | local_name!("audio") => {
                self.words += WORDS_OF_A_PICTURE;
            }
            local_name!("input") | local_name!("textarea") | local_name!("select") => {
                let is_typed =
                    element.attr("type").is_none_or(|kind| !matches!(&*kind, "hidden" | "submit" | "button"));
                self.note_if(Sign::Control, is_typed);
            }
            _ => self.part(at, element),
        }
    }

    /// Inspects a part of the page that a script may fill.
    fn part(&mut self, at: Index, element: &Element) {
        let (id, name) = (element.attr("id").unwrap_or_default(), &*element.name.local);
        let is_root = lists::ROOTS.contains(&&*id) || name == "app-root" || element.attr("data-reactroot").is_some();
        let is_main = name == "main" || lists::MAIN_PARTS.contains(&&*id);
        if is_root || is_main {
            let inside = self.words_in(at);
            let is_bare =
                if is_root { inside <= TINY_WORDS && self.is_loading_or_empty(at) } else { self.is_empty(at) };
            self.note_if(Sign::EmptyRoot, is_bare);
            self.note_if(Sign::Hydration, is_root && !is_bare);
            return;
        }
        self.attributes(element);
        let is_custom = name.contains('-') && !name.starts_with("amp-") && !name.contains("font");
        self.note_if(Sign::Island, lists::ISLAND_NAMES.contains(&name));
        self.note_if(Sign::Island, name == "turbo-frame" && element.attr("src").is_some());
        if at < self.apart_until || !self.is_empty(at) || is_seldom_filled(&id) || is_seldom_filled(name) {
            return;
        }
        self.note_if(Sign::Island, is_custom);
        let has_name =
            !id.is_empty() || element.attrs.iter().any(|attribute| attribute.name.local.starts_with("data-"));
        let can_be_filled =
            matches!(name, "div" | "section" | "article" | "ul" | "ol" | "table" | "tbody" | "p" | "span" | "dl");
        let is_drawn = element.attr("style").is_some_and(|style| style.contains("background"));
        self.note_if(Sign::Placeholder, has_name && can_be_filled && !is_drawn);
    }

    fn attributes(&mut self, element: &Element) {
        for attribute in &element.attrs {
            let (name, value) = (&*attribute.name.local, &*attribute.value);
            match name {
                // The most frequent attributes, listed first to skip the list lookups.
                "id" | "href" | "src" | "srcset" | "style" | "title" | "alt" | "rel" | "target" | "width"
                | "height" => {}
                "class" => self.note_if(Sign::Skeleton, is_skeleton(value)),
                "aria-busy" => self.note_if(Sign::Skeleton, value == "true"),
                "role" => self.note_if(Sign::Skeleton, value == "progressbar"),
                "hx-trigger" | "data-hx-trigger" => {
                    self.note_if(
                        Sign::Island,
                        ["load", "revealed", "intersect"].iter().any(|word| value.contains(word)),
                    );
                }
                _ => {
                    self.note_if(Sign::Island, lists::names(lists::ISLANDS, name));
                    self.note_if(Sign::Template, lists::names(lists::TEMPLATES, name));
                    self.note_if(Sign::Hydration, lists::SERVER_DRAWN.contains(&name));
                }
            }
        }
    }

    fn script(&mut self, at: Index, element: &Element) {
        let kind = element.attr("type").unwrap_or_default().to_lowercase();
        let source = element.attr("src").unwrap_or_default();
        let text = if at + 1 < self.page.end(at) { self.page.text(at + 1).map_or("", peek) } else { "" };
        if kind == "application/json" {
            let has_name = element.attrs.iter().any(|attribute| *attribute.name.local != *"type");
            return self.note_if(Sign::Hydration, has_name && !text.trim().is_empty());
        }
        let runs = kind.is_empty()
            || ["javascript", "ecmascript", "module", "babel", "jsx"].iter().any(|word| kind.contains(word));
        let is_there = !source.is_empty() || !text.trim().is_empty();
        if runs && is_there && !self.has(Sign::Program) {
            let is_tracker = lists::TRACKERS.iter().any(|word| source.contains(word) || text.contains(word));
            self.note_if(Sign::Program, !is_tracker);
        }
        self.note_if(Sign::Hydration, text.contains("__") && lists::STATES.iter().any(|word| text.contains(word)));
    }

    fn template(&mut self, element: &Element) {
        let is_place = element.attr("id").is_some_and(|id| id.starts_with("B:") || id.starts_with("P:"));
        self.has_late_place |= is_place;
    }

    fn frame(&mut self, at: Index, element: &Element) {
        let leads = |name: &str| element.attr(name).is_some_and(|value| !value.is_empty() && &*value != "about:blank");
        let is_pixel = ["width", "height"]
            .into_iter()
            .any(|name| element.attr(name).is_some_and(|size| matches!(&*size, "0" | "1")));
        let is_shown = !self.is_hidden(at) && !is_hidden(element) && !is_pixel;
        self.note_if(Sign::Frame, is_shown && (leads("src") || leads("srcdoc")));
    }

    fn leads_on(&self, element: &Element) -> bool {
        if !element.attr("http-equiv").is_some_and(|value| value.trim().eq_ignore_ascii_case("refresh")) {
            return false;
        }
        let content = element.attr("content").unwrap_or_default();
        let (delay, rest) = content.split_once([';', ',']).unwrap_or((&*content, ""));
        let is_soon = delay.trim().parse().is_ok_and(|delay: f64| (0.0..=MAX_REFRESH_SECONDS).contains(&delay));
        // A page that reloads itself is waiting for something only if it shows nothing else.
        is_soon && (!rest.trim().is_empty() || self.words_in(0) <= TINY_WORDS)
    }

    /// Whether an element contains only white space and elements that are never shown.
    fn is_empty(&self, at: Index) -> bool {
        let is_nothing = |index: Index| match self.page.text(index) {
            Some(text) => text.trim().is_empty(),
            None => self.page.name(index).is_some_and(is_never_shown),
        };
        self.page.children(at).all(is_nothing)
    }

    /// Whether an element is empty or contains only a loading message.
    fn is_loading_or_empty(&self, at: Index) -> bool {
        let shown =
            self.page.subtree(at).filter_map(|index| self.page.text(index)).filter(|text| !text.trim().is_empty());
        self.is_empty(at)
            || self.words_in(at) == 0
            || shown.take(TINY_WORDS).any(|text| is_loading(text) || text.contains("{{"))
    }

    /// Counts the words in an element, up to just over `TINY_WORDS`.
    fn words_in(&self, at: Index) -> usize {
        let (mut count, mut index) = (0, at);
        while index < self.page.end(at) && count <= TINY_WORDS {
            let skips = self.page.name(index).is_some_and(is_never_shown);
            count += self.page.text(index).map_or(0, words);
            index = if skips { self.page.end(index) } else { index + 1 };
        }
        count
    }
}

/// Whether every non-empty `noscript` only asks to enable scripts.
pub(super) fn asks_for_scripts(page: &Page) -> bool {
    noscripts(page).all(|at| asks(page, at) && words_below(page, at) < FEW_WORDS)
}

/// Counts the words that a page has for readers without scripts.
pub(super) fn words_without_scripts(page: &Page) -> usize {
    noscripts(page).map(|at| words_below(page, at)).sum()
}

fn noscripts(page: &Page) -> impl Iterator<Item = Index> + '_ {
    page.positions().filter(move |&at| page.is(at, &local_name!("noscript")) && words_below(page, at) > 0)
}

fn words_below(page: &Page, at: Index) -> usize {
    page.subtree(at).filter_map(|index| page.text(index)).map(words).sum()
}

/// Whether a `noscript` asks to enable JavaScript. One with a tracking pixel does not.
fn asks(page: &Page, at: Index) -> bool {
    let mut text = String::new();
    for part in page.subtree(at).filter_map(|index| page.text(index)) {
        text.push_str(peek(part));
        if text.len() > MAX_PEEK {
            break;
        }
    }
    let text = text.to_lowercase();
    text.contains("javascript") && lists::ASKS.iter().any(|word| text.contains(word))
}

fn is_never_shown(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("script")
            | local_name!("style")
            | local_name!("template")
            | local_name!("noscript")
            | local_name!("head")
    )
}

/// Whether an element is hidden. Called for every element, so it scans the attributes once and copies nothing.
fn is_hidden(element: &Element) -> bool {
    let is_closed = element.name.local == local_name!("dialog") && element.attr("open").is_none();
    is_closed
        || element.attrs.iter().any(|attribute| match &*attribute.name.local {
            "hidden" | "v-cloak" | "x-cloak" | "ng-cloak" => true,
            "style" => attribute.value.contains("display") && attribute.value.replace(' ', "").contains("display:none"),
            _ => false,
        })
}

/// Whether an element is outside the main content: navigation, header or footer.
fn is_apart(element: &Element) -> bool {
    matches!(element.name.local, local_name!("nav") | local_name!("header") | local_name!("footer"))
        || element.attrs.iter().any(|attribute| {
            &*attribute.name.local == "role" && matches!(&*attribute.value, "navigation" | "banner" | "contentinfo")
        })
}

fn is_seldom_filled(name: &str) -> bool {
    let parts = || name.split(|c: char| !c.is_ascii_alphanumeric());
    parts().any(|part| lists::SELDOM_FILLED.iter().any(|entry| part.eq_ignore_ascii_case(entry)))
}

fn is_skeleton(class: &str) -> bool {
    lists::SKELETON_CLASSES.iter().any(|word| class.contains(word))
}

/// Whether a text is a loading message: a few words, or any number that end in dots.
fn is_loading(text: &str) -> bool {
    let (most_bytes, most_words) = MAX_LOADING;
    let text = text.trim();
    if text.len() > most_bytes {
        return false;
    }
    let text = text.to_lowercase();
    let ends = text.ends_with('…') || text.ends_with("...") || words(&text) <= most_words;
    ends && lists::LOADING.iter().any(|word| text.starts_with(word))
}

/// Returns the first `MAX_PEEK` bytes of a text.
fn peek(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_PEEK)]
}

/// Counts the words of a text. In scripts without spaces every two characters count as one.
fn words(text: &str) -> usize {
    let dense = |c: char| matches!(c, '\u{e00}'..='\u{eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}');
    let of = |word: &str| {
        let is_word = word.chars().any(char::is_alphanumeric);
        usize::from(is_word).max(word.chars().filter(|c| dense(*c)).count() / 2)
    };
    if text.is_ascii() {
        let words = text.split_ascii_whitespace();
        return words.filter(|word| word.bytes().any(|byte| byte.is_ascii_alphanumeric())).count();
    }
    text.split_whitespace().map(of).sum()
}
