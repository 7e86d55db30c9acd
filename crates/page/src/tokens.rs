//! A tokenizer for HTML source that follows the HTML standard and does not copy text.
//!
//! html5ever's tokenizer reads character by character and copies. Here, text, scripts and attribute values are slices
//! of one shared buffer, found by searching for their ends. html5ever builds the tree.

use std::cell::RefCell;

use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::{Attribute, LocalName, QualName, ns};
use memchr::{memchr, memchr2, memchr3, memmem};

use crate::references::push_decoded;
use crate::scan::{bracket_end, comment_end, ends_name, raw_end, script_end};

/// Limit on the attributes of one tag: each is compared with all before it.
pub(crate) const MAX_ATTRIBUTES: usize = 256;
/// Bytes of text per token; budgets are checked between tokens.
const CHUNK: usize = 64 << 10;
/// Slots in the cache of tag and attribute names.
const NAMES: usize = 256;

/// Tokenizer state after a token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextMode {
    Markup,
    /// Raw text up to the end tag, with character references: `<title>`.
    Decoded,
    /// Raw text up to the end tag: `<style>`.
    Raw,
    Script,
    /// Raw text up to the end of the page: `<plaintext>`.
    Rest,
}

/// Receives tokens.
pub(crate) trait Sink {
    /// Takes a token and returns how to read the text after it.
    fn take(&mut self, token: Token) -> TextMode;
    /// Whether the sink accepts no more tokens.
    fn full(&self) -> bool;
    /// Whether `<![CDATA[` is allowed here: inside SVG and MathML.
    fn in_drawing(&self) -> bool;
}

/// Tokenizes `source` to its end, or until the sink is full. Line ends must be `\n`. Comment tokens are empty. Returns
/// whether attributes were left out.
pub(crate) fn tokenize(source: &str, sink: &mut impl Sink) -> bool {
    let names = vec![LocalName::default(); NAMES];
    let mut reader = Reader {
        html: source,
        shared: StrTendril::from_slice(source),
        at: 0,
        sink,
        names,
        attributes: Vec::new(),
        decoded: String::new(),
        cut: false,
    };
    reader.run();
    reader.cut
}

struct Reader<'h, S> {
    html: &'h str,
    /// A copy of `html` in a reference-counted buffer, which the slices keep alive.
    shared: StrTendril,
    at: usize,
    sink: &'h mut S,
    names: Vec<LocalName>,
    attributes: Vec<Attribute>,
    decoded: String,
    cut: bool,
}

impl<S: Sink> Reader<'_, S> {
    fn run(&mut self) {
        while !self.sink.full() {
            let (begin, plain) = self.markup_start();
            if plain {
                self.plain_text(begin);
            } else {
                self.text(begin, true);
            }
            if begin == self.html.len() {
                break;
            }
            self.markup();
        }
        self.sink.take(Token::EOFToken);
    }

    /// Returns the position of the next `<` that begins markup, and whether the text before it is plain: no references,
    /// no NUL, no `<`.
    fn markup_start(&self) -> (usize, bool) {
        let bytes = self.html.as_bytes();
        let first = memchr3(b'<', b'&', 0, &bytes[self.at..]).map_or(bytes.len(), |found| self.at + found);
        let plain = bytes.get(first).is_none_or(|&b| b == b'<');
        let mut at = first;
        while let Some(found) = memchr(b'<', &bytes[at..]) {
            at += found;
            match bytes.get(at + 1) {
                Some(b'/') if at + 2 == bytes.len() => {}
                Some(b'/' | b'!' | b'?') => return (at, plain && at == first),
                Some(letter) if letter.is_ascii_alphabetic() => return (at, plain && at == first),
                _ => {}
            }
            at += 1;
        }
        (bytes.len(), plain && first == bytes.len())
    }

    fn markup(&mut self) {
        let bytes = self.html.as_bytes();
        let begin = self.at;
        match (bytes[begin + 1], bytes.get(begin + 2)) {
            (b'/', Some(letter)) if letter.is_ascii_alphabetic() => {
                self.tag(begin + 2, TagKind::EndTag);
            }
            (b'!', Some(b'-')) if self.html[begin..].starts_with("<!--") => {
                self.at = comment_end(self.html, begin + 4);
                self.comment();
            }
            (b'!', Some(b'[')) if self.html[begin..].starts_with("<![CDATA[") && self.sink.in_drawing() => {
                self.at = begin + 9;
                let end = memmem::find(&bytes[self.at..], b"]]>").map_or(bytes.len(), |found| self.at + found);
                self.text(end, false);
                self.at = bytes.len().min(end + 3);
            }
            (b'!' | b'?' | b'/', _) => {
                self.at = bracket_end(self.html, begin + 2);
                let word = self.html.get(begin + 1..begin + 9);
                if word.is_some_and(|word| word.eq_ignore_ascii_case("!doctype")) {
                    doctype(&self.html[begin..self.at]).into_iter().for_each(|token| {
                        self.sink.take(token);
                    });
                } else if bytes.get(begin + 2) != Some(&b'>') || bytes[begin + 1] != b'/' {
                    self.comment();
                }
            }
            _ => {
                if let Some((name, follows)) = self.tag(begin + 1, TagKind::StartTag) {
                    self.raw_text(&name, follows);
                }
            }
        }
    }

    fn comment(&mut self) {
        self.sink.take(Token::CommentToken(StrTendril::new()));
    }

    /// Emits the text up to `end`.
    fn text(&mut self, end: usize, with_references: bool) {
        while self.at < end && !self.sink.full() {
            let rest = &self.html.as_bytes()[self.at..end];
            let special = if with_references { memchr2(b'&', 0, rest) } else { memchr(0, rest) };
            let plain = self.at + special.unwrap_or(rest.len());
            if special.is_some_and(|special| rest[special] == b'&') {
                self.text_with_references(end);
                continue;
            }
            self.plain_text(plain);
            if special.is_some() {
                self.sink.take(Token::NullCharacterToken);
                self.at = plain + 1;
            }
        }
        self.at = end;
    }

    /// Emits the text up to `end`, which needs no decoding.
    fn plain_text(&mut self, end: usize) {
        while self.at < end && !self.sink.full() {
            let stop = self.boundary(end);
            let text = self.slice(self.at, stop);
            self.at = stop;
            self.sink.take(Token::CharacterTokens(text));
        }
        self.at = end;
    }

    /// Emits the text up to `end` or the next NUL, decoded.
    fn text_with_references(&mut self, end: usize) {
        let rest = &self.html.as_bytes()[self.at..end];
        let end = self.at + memchr(0, rest).unwrap_or(rest.len());
        let mut stop = self.boundary(end);
        if stop < end {
            // A chunk must not split a reference: it ends before an `&` in its last 40 bytes, which is longer than any
            // named reference.
            let tail = stop - 40;
            stop = memchr(b'&', &self.html.as_bytes()[tail..stop]).map_or(stop, |found| tail + found);
        }
        self.decoded.clear();
        push_decoded(&mut self.decoded, &self.html[self.at..stop], false);
        self.at = stop;
        self.sink.take(Token::CharacterTokens(StrTendril::from_slice(&self.decoded)));
    }

    /// Returns `end`, or the end of the current chunk if that comes first.
    fn boundary(&self, end: usize) -> usize {
        if end - self.at <= CHUNK { end } else { self.html.floor_char_boundary(self.at + CHUNK) }
    }

    fn slice(&self, start: usize, end: usize) -> StrTendril {
        self.shared.subtendril(start as u32, (end - start) as u32)
    }

    /// Emits the raw text after a start tag of `name`.
    fn raw_text(&mut self, name: &LocalName, follows: TextMode) {
        let end = match follows {
            TextMode::Markup => return,
            TextMode::Script => script_end(self.html, self.at),
            TextMode::Decoded | TextMode::Raw => raw_end(self.html, self.at, name),
            TextMode::Rest => self.html.len(),
        };
        let decoded = follows == TextMode::Decoded;
        let text = &self.html[self.at..end];
        if memchr(0, text.as_bytes()).is_none() {
            return self.text(end, decoded);
        }
        let text = text.replace('\0', "\u{fffd}");
        self.decoded.clear();
        if decoded {
            push_decoded(&mut self.decoded, &text, false);
        } else {
            self.decoded.push_str(&text);
        }
        self.at = end;
        self.sink.take(Token::CharacterTokens(StrTendril::from_slice(&self.decoded)));
    }

    /// Reads a tag from its name on. Returns `None` if the page ends inside the tag, which discards it.
    fn tag(&mut self, name: usize, kind: TagKind) -> Option<(LocalName, TextMode)> {
        let bytes = self.html.as_bytes();
        let mut at = skip(bytes, name, |b| !ends_name(b));
        let name = self.name(name, at);
        let mut seen = 0;
        let self_closing = loop {
            let before = at;
            at = skip(bytes, at, |b| is_blank(b) || b == b'/');
            match bytes.get(at) {
                None => {
                    self.attributes.clear();
                    self.at = at;
                    return None;
                }
                Some(b'>') => break at > before && bytes[at - 1] == b'/',
                Some(_) => {}
            }
            seen += 1;
            at = self.attribute(at, kind == TagKind::StartTag && seen <= MAX_ATTRIBUTES);
        };
        self.cut |= seen > MAX_ATTRIBUTES;
        self.at = at + 1;
        let attrs = self.attributes.drain(..).collect();
        let tag = Tag { kind, name: name.clone(), self_closing, attrs, had_duplicate_attributes: false };
        Some((name, self.sink.take(Token::TagToken(tag))))
    }

    /// Reads one attribute; returns the position after it.
    fn attribute(&mut self, start: usize, keep: bool) -> usize {
        let bytes = self.html.as_bytes();
        // The first byte belongs to the name even when it is `=`.
        let name_end = skip(bytes, start + 1, |b| !ends_name(b) && b != b'=');
        let mut end = name_end;
        let (mut value, mut plain) = ((name_end, name_end), false);
        let equals = skip(bytes, name_end, is_blank);
        if bytes.get(equals) == Some(&b'=') {
            let from = skip(bytes, equals + 1, is_blank);
            if let Some(&quote @ (b'"' | b'\'')) = bytes.get(from) {
                let inside = &bytes[from + 1..];
                let special = memchr3(quote, b'&', 0, inside).unwrap_or(inside.len());
                plain = inside.get(special).is_none_or(|&b| b == quote);
                let close = special + memchr(quote, &inside[special..]).unwrap_or(inside.len() - special);
                value = (from + 1, from + 1 + close);
                end = bytes.len().min(from + 2 + close);
            } else {
                end = skip(bytes, from, |b| !is_blank(b) && b != b'>');
                value = (from, end);
            }
        }
        if keep {
            let name = QualName::new(None, ns!(), self.name(start, name_end));
            if !self.attributes.iter().any(|other| other.name.local == name.local) {
                let value = if plain { self.slice(value.0, value.1) } else { self.value(value.0, value.1) };
                self.attributes.push(Attribute { name, value });
            }
        }
        end
    }

    fn value(&mut self, start: usize, end: usize) -> StrTendril {
        let value = &self.html[start..end];
        if memchr2(b'&', 0, value.as_bytes()).is_none() {
            return self.slice(start, end);
        }
        self.decoded.clear();
        push_decoded(&mut self.decoded, value, true);
        if self.decoded.contains('\0') {
            self.decoded = self.decoded.replace('\0', "\u{fffd}");
        }
        StrTendril::from_slice(&self.decoded)
    }

    /// Returns the name of a tag or attribute, in lower case. A direct-mapped cache by a cheap hash (length, first,
    /// middle and last byte) is faster than the global table of interned names.
    fn name(&mut self, start: usize, end: usize) -> LocalName {
        let name = &self.html[start..end];
        let byte = |at: usize| usize::from(name.as_bytes().get(at).copied().unwrap_or_default());
        let hash = 5 * name.len() + 3 * byte(0) + 17 * byte(name.len() / 2) + 89 * byte(name.len().saturating_sub(1));
        let known = &mut self.names[hash % NAMES];
        if **known != *name {
            if name.bytes().any(|b| b.is_ascii_uppercase() || b == 0) {
                return LocalName::from(name.to_ascii_lowercase().replace('\0', "\u{fffd}"));
            }
            *known = LocalName::from(name);
        }
        known.clone()
    }
}

/// Parses a doctype with html5ever's own tokenizer: a rare token with intricate rules.
fn doctype(source: &str) -> Vec<Token> {
    #[derive(Default)]
    struct Collected(RefCell<Vec<Token>>);
    impl TokenSink for Collected {
        type Handle = ();
        fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
            if let Token::DoctypeToken(_) = token {
                self.0.borrow_mut().push(token);
            }
            TokenSinkResult::Continue
        }
    }
    let tokenizer = Tokenizer::new(Collected::default(), TokenizerOpts::default());
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from_slice(source));
    let _ = tokenizer.feed(&queue);
    tokenizer.end();
    tokenizer.sink.0.into_inner()
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b' ')
}

fn skip(bytes: &[u8], from: usize, keep: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from.min(bytes.len()) + rest.iter().position(|&b| !keep(b)).unwrap_or(rest.len())
}
