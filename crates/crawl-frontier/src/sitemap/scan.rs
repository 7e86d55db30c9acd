//! An incremental, lenient scanner of tags and texts with little memory.

/// A token. Comments, processing instructions and document types are skipped, including the entities that they define.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    /// The content between `<` and `>`: `url`, `/url`, `link href="…"/`.
    Tag(&'a [u8]),
    /// A part of the text between two tags, with unresolved entities, or of the content of CDATA.
    Text(&'a [u8]),
}

/// State of the scanner.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum ScannerState {
    #[default]
    Text,
    /// After `<`, before the kind of markup is known.
    Open,
    /// In a tag, with the open quote or 0.
    Tag(u8),
    /// In CDATA, after this many closing brackets.
    Cdata(usize),
    /// In a comment, after this many dashes.
    Comment(usize),
    Instruction,
    /// In a document type, with this bracket depth.
    Doctype(u32),
}

/// Maximum length of a tag with its attributes; the rest is dropped.
const MAX_TAG: usize = 16 * 1024;

/// Scanner that splits text into tokens. Its memory is bounded by one piece and the longest tag.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    inside: ScannerState,
    /// The beginning of unfinished markup.
    kept: Vec<u8>,
}

impl Scanner {
    /// Calls `emit` for every token of a piece, until it returns false.
    pub(super) fn feed(&mut self, mut piece: &[u8], emit: &mut impl FnMut(Token<'_>) -> bool) {
        while !piece.is_empty() {
            let (used, go_on) = match self.inside {
                ScannerState::Text => self.text(piece, emit),
                ScannerState::Open => (self.open(piece), true),
                ScannerState::Tag(quote) => self.tag(piece, quote, emit),
                ScannerState::Cdata(brackets) => self.cdata(piece, brackets, emit),
                ScannerState::Comment(dashes) => (self.comment(piece, dashes), true),
                ScannerState::Instruction => (self.instruction(piece), true),
                ScannerState::Doctype(depth) => (self.doctype(piece, depth), true),
            };
            if !go_on {
                return;
            }
            piece = &piece[used..];
        }
    }

    fn text(&mut self, piece: &[u8], emit: &mut impl FnMut(Token<'_>) -> bool) -> (usize, bool) {
        let end = piece.iter().position(|byte| *byte == b'<');
        if let Some(end) = end {
            self.inside = ScannerState::Open;
            return (end + 1, end == 0 || emit(Token::Text(&piece[..end])));
        }
        (piece.len(), emit(Token::Text(piece)))
    }

    /// Determines the kind of markup after `<`, byte by byte, since the piece may end anywhere.
    fn open(&mut self, piece: &[u8]) -> usize {
        self.kept.push(piece[0]);
        let next = match self.kept.as_slice() {
            b"?" => Some(ScannerState::Instruction),
            b"!--" => Some(ScannerState::Comment(0)),
            b"![CDATA[" => Some(ScannerState::Cdata(0)),
            b"!" | b"!-" => None,
            kept if b"![CDATA[".starts_with(kept) => None,
            [b'!', ..] => {
                self.kept.clear();
                self.inside = ScannerState::Doctype(0);
                // Not consumed: the byte itself may be the end or a bracket.
                return 0;
            }
            _ => {
                self.kept.clear();
                self.inside = ScannerState::Tag(0);
                return 0;
            }
        };
        if let Some(next) = next {
            self.kept.clear();
            self.inside = next;
        }
        1
    }

    fn tag(&mut self, piece: &[u8], mut quote: u8, emit: &mut impl FnMut(Token<'_>) -> bool) -> (usize, bool) {
        for (at, &byte) in piece.iter().enumerate() {
            match byte {
                b'>' if quote == 0 => {
                    self.keep(&piece[..at]);
                    self.inside = ScannerState::Text;
                    let go_on = emit(Token::Tag(&self.kept));
                    self.kept.clear();
                    return (at + 1, go_on);
                }
                // A tag within a tag: the first one was not closed.
                b'<' => {
                    self.keep(&piece[..at]);
                    self.inside = ScannerState::Open;
                    let go_on = emit(Token::Tag(&self.kept));
                    self.kept.clear();
                    return (at + 1, go_on);
                }
                b'"' | b'\'' if quote == 0 => quote = byte,
                _ if byte == quote => quote = 0,
                _ => {}
            }
        }
        self.keep(piece);
        self.inside = ScannerState::Tag(quote);
        (piece.len(), true)
    }

    fn cdata(&mut self, piece: &[u8], before: usize, emit: &mut impl FnMut(Token<'_>) -> bool) -> (usize, bool) {
        let leading = piece.iter().take_while(|byte| **byte == b']').count();
        let brackets = before + leading;
        let mut text = |count: usize| (0..count).all(|_| emit(Token::Text(b"]")));
        match piece.get(leading) {
            None => {
                self.inside = ScannerState::Cdata(brackets.min(2));
                (leading, text(brackets.saturating_sub(2)))
            }
            Some(b'>') if brackets >= 2 => {
                self.inside = ScannerState::Text;
                (leading + 1, text(brackets - 2))
            }
            Some(_) => {
                self.inside = ScannerState::Cdata(0);
                let rest = &piece[leading..];
                let end = rest.iter().position(|byte| *byte == b']').unwrap_or(rest.len());
                (leading + end, text(brackets) && emit(Token::Text(&rest[..end])))
            }
        }
    }

    fn comment(&mut self, piece: &[u8], mut dashes: usize) -> usize {
        for (at, &byte) in piece.iter().enumerate() {
            match byte {
                b'-' => dashes += 1,
                b'>' if dashes >= 2 => {
                    self.inside = ScannerState::Text;
                    return at + 1;
                }
                _ => dashes = 0,
            }
        }
        self.inside = ScannerState::Comment(dashes.min(2));
        piece.len()
    }

    fn instruction(&mut self, piece: &[u8]) -> usize {
        match piece.iter().position(|byte| *byte == b'>') {
            Some(end) => {
                self.inside = ScannerState::Text;
                end + 1
            }
            None => piece.len(),
        }
    }

    fn doctype(&mut self, piece: &[u8], mut depth: u32) -> usize {
        for (at, &byte) in piece.iter().enumerate() {
            match byte {
                b'[' => depth += 1,
                b']' => depth = depth.saturating_sub(1),
                b'>' if depth == 0 => {
                    self.inside = ScannerState::Text;
                    return at + 1;
                }
                _ => {}
            }
        }
        self.inside = ScannerState::Doctype(depth);
        piece.len()
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_TAG.saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats tokens as text, with adjacent texts joined, because texts are split depending on the pieces.
    fn tokens(input: &str, size: usize) -> String {
        let mut scanner = Scanner::default();
        let mut out = String::new();
        let mut was_text = false;
        for piece in input.as_bytes().chunks(size) {
            scanner.feed(piece, &mut |token| {
                let (is_text, bytes) = match token {
                    Token::Text(bytes) => (true, bytes),
                    Token::Tag(bytes) => (false, bytes),
                };
                if !(is_text && was_text) {
                    out.push(if is_text { '|' } else { '<' });
                }
                was_text = is_text;
                out.push_str(&String::from_utf8_lossy(bytes));
                true
            });
        }
        out
    }

    fn check(input: &str, expect: &str) {
        for size in [1, 2, 3, 7, input.len()] {
            assert_eq!(tokens(input, size), expect, "{input} in pieces of {size}");
        }
    }

    #[test]
    fn tags_and_texts() {
        check("<a>x</a>", "<a|x</a");
        check("<?xml version='1.0'?><!-- <b> --> y<a b='>' c=\"'\"/>z", "| y<a b='>' c=\"'\"/|z");
        check("<!----><!---><x>--->z", "|z");
        check("<a><![CDATA[ x]]]y]] ]]]></a>", "<a| x]]]y]] ]</a");
        check("<!DOCTYPE l [<!ENTITY a 'lol'>]><b>&a;", "<b|&a;");
        check("<!doctype html><html>", "<html");
        check("<!>x", "|x");
        check("<![CDAT>x", "|x");
    }

    #[test]
    fn broken_input() {
        check("<a <b>x", "<a <b|x");
        check("<a href='x<b>y", "<a href='x<b|y");
        check("x<", "|x");
        check("<!-- never", "");
        check("a > b", "|a > b");
    }

    #[test]
    fn long_tags_are_cut() {
        let tokens = tokens(&format!("<{}>x", "a".repeat(100_000)), 1000);
        assert_eq!(tokens.len(), 1 + MAX_TAG + 2);
    }
}
