//! RTF: hidden and deleted text goes, and raised text and boxes of forms become what the converter understands.
//!
//! The file stays as it is, but for what is left out or added between its words (Rich Text Format Specification 1.9.1).

use super::marks::{self, Script};

/// Maximum nesting of groups.
const MAX_DEPTH: usize = 1000;
/// Words of a file that needs a change.
const SIGNS: [&[u8]; 7] = [b"\\super", b"\\sub", b"\\v", b"\\deleted", b"FORMCHECKBOX", b"\\up", b"\\dn"];
/// Destinations whose content is text of the document.
const TEXT_GROUPS: [&str; 8] = ["field", "fldrslt", "footnote", "rtf", "shptxt", "shp", "shpinst", "shprslt"];

/// Returns the file with its text put right; `None` if nothing has to be changed.
pub(super) fn mended(file: &[u8]) -> Option<Vec<u8>> {
    if !SIGNS.iter().any(|sign| memchr::memmem::find(file, sign).is_some()) {
        return None;
    }
    let mut writer = Writer {
        out: Vec::with_capacity(file.len()),
        open: Script::Normal,
        state: State::default(),
        stack: Vec::new(),
    };
    let mut rest = file;
    while !rest.is_empty() {
        rest = writer.step(rest)?;
    }
    writer.close();
    Some(writer.out)
}

#[derive(Debug, Clone, Copy)]
struct State {
    script: Script,
    is_hidden: bool,
    is_deleted: bool,
    /// Whether the group holds no text of the document, such as a table of fonts.
    is_other: bool,
    /// Whether a control word has been read since the group began.
    has_begun: bool,
    /// Whether the group is ignorable, `\*`.
    is_starred: bool,
    /// Number of letters that stand for a Unicode one in old programs.
    fallback: usize,
    /// Whether the group is a field.
    is_field: bool,
    /// Whether the field is a box of a form.
    is_box: bool,
    /// Whether the box is ticked.
    is_ticked: Option<bool>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            script: Script::Normal,
            is_hidden: false,
            is_deleted: false,
            is_other: false,
            has_begun: false,
            is_starred: false,
            fallback: 1,
            is_field: false,
            is_box: false,
            is_ticked: None,
        }
    }
}

struct Writer {
    out: Vec<u8>,
    /// Position whose first mark has been written.
    open: Script,
    state: State,
    stack: Vec<State>,
}

impl Writer {
    /// Reads the next piece; returns the rest, or nothing if groups are nested too deeply.
    fn step<'f>(&mut self, rest: &'f [u8]) -> Option<&'f [u8]> {
        match rest {
            [b'{', after @ ..] => {
                self.close();
                self.out.push(b'{');
                if self.stack.len() >= MAX_DEPTH {
                    return None;
                }
                self.stack.push(self.state);
                (self.state.has_begun, self.state.is_starred, self.state.is_field) = (false, false, false);
                Some(after)
            }
            [b'}', after @ ..] => {
                self.close();
                self.out.push(b'}');
                let ended = std::mem::replace(&mut self.state, self.stack.pop().unwrap_or_default());
                self.end(ended);
                Some(after)
            }
            [b'\\', ..] => Some(self.control(rest)),
            [end @ (b'\r' | b'\n'), after @ ..] => {
                self.out.push(*end);
                Some(after)
            }
            [byte, after @ ..] => {
                self.text(&[*byte]);
                Some(after)
            }
            [] => Some(rest),
        }
    }

    /// Takes over what a group has told about a box, and shows the box behind its field.
    fn end(&mut self, ended: State) {
        let ticked = ended.is_ticked.filter(|_| ended.is_box);
        if !ended.is_field {
            (self.state.is_box, self.state.is_ticked) = (ended.is_box, ended.is_ticked);
        } else if let Some(is_ticked) = ticked.filter(|_| !self.state.is_hidden && !self.state.is_other) {
            self.mark(marks::ticked(is_ticked));
        }
    }

    /// Reads a control word or symbol.
    fn control<'f>(&mut self, rest: &'f [u8]) -> &'f [u8] {
        let letters = rest[1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        if letters == 0 {
            return self.symbol(rest);
        }
        let name = std::str::from_utf8(&rest[1..=letters]).unwrap_or_default();
        let after = &rest[1 + letters..];
        let digits = after
            .iter()
            .enumerate()
            .take_while(|(at, byte)| byte.is_ascii_digit() || (*at == 0 && **byte == b'-'))
            .count();
        let number = std::str::from_utf8(&after[..digits]).ok().and_then(|digits| digits.parse::<i64>().ok());
        let mut end = 1 + letters + digits;
        if name == "bin" {
            end = end.saturating_add(1 + usize::try_from(number.unwrap_or(0)).unwrap_or(0)).min(rest.len());
            self.other(&rest[..end]);
            return &rest[end..];
        }
        let has_space = rest.get(end) == Some(&b' ');
        end += usize::from(has_space);
        match name {
            // The letter, and its replacement in old programs.
            "u" => {
                let skipped = fallback(&rest[end..], self.state.fallback);
                self.text(&rest[..end + skipped]);
                return &rest[end + skipped..];
            }
            "tab" | "emdash" | "endash" | "lquote" | "rquote" | "ldblquote" | "rdblquote" | "bullet" | "emspace"
            | "enspace" | "line" => self.text(&rest[..end]),
            _ => {
                self.word(name, number);
                self.other(&rest[..end]);
            }
        }
        &rest[end..]
    }

    fn symbol<'f>(&mut self, rest: &'f [u8]) -> &'f [u8] {
        let length = match rest.get(1) {
            Some(b'\'') => 4.min(rest.len()),
            Some(_) => 2,
            None => 1,
        };
        match rest.get(1) {
            Some(b'*') => {
                self.state.is_starred = true;
                self.other(&rest[..length]);
            }
            Some(b'\r' | b'\n') | None => self.other(&rest[..length]),
            Some(_) => self.text(&rest[..length]),
        }
        &rest[length..]
    }

    /// Follows the properties of text.
    fn word(&mut self, name: &str, number: Option<i64>) {
        let is_on = number != Some(0);
        let state = &mut self.state;
        if !state.has_begun {
            state.has_begun = true;
            state.is_other |= (state.is_starred && !TEXT_GROUPS.contains(&name)) || is_table(name);
            if TEXT_GROUPS.contains(&name) {
                (state.script, state.is_field) = (Script::Normal, name == "field");
            }
        }
        let switched = |script: Script| if is_on { script } else { Script::Normal };
        match name {
            "super" => state.script = switched(Script::Raised),
            "sub" => state.script = switched(Script::Lowered),
            "up" => state.script = if number.unwrap_or(6) > 0 { Script::Raised } else { Script::Normal },
            "dn" => state.script = if number.unwrap_or(6) > 0 { Script::Lowered } else { Script::Normal },
            "nosupersub" => state.script = Script::Normal,
            "v" => state.is_hidden = is_on,
            "deleted" => state.is_deleted = is_on,
            "plain" => (state.script, state.is_hidden, state.is_deleted) = (Script::Normal, false, false),
            "uc" => state.fallback = usize::try_from(number.unwrap_or(1)).unwrap_or(1).min(16),
            "fftype" => state.is_box = number == Some(1),
            "ffres" if number != Some(25) => state.is_ticked = Some(is_on),
            "ffdefres" => state.is_ticked = state.is_ticked.or(Some(is_on)),
            _ => {}
        }
    }

    /// Writes text, unless it is hidden, between the marks of its position.
    fn text(&mut self, text: &[u8]) {
        self.state.has_begun = true;
        if self.state.is_other {
            self.out.extend_from_slice(text);
            return;
        }
        if self.state.is_hidden || self.state.is_deleted {
            return;
        }
        if self.open != self.state.script {
            self.close();
            if text != b" " {
                self.mark(self.state.script.ends()[0]);
                self.open = self.state.script;
            }
        }
        self.out.extend_from_slice(text);
    }

    /// Writes what is no text.
    fn other(&mut self, word: &[u8]) {
        self.close();
        self.out.extend_from_slice(word);
    }

    fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        if open != Script::Normal {
            self.mark(open.ends()[1]);
        }
    }

    /// Writes a mark, which needs no letter for old programs.
    fn mark(&mut self, mark: &str) {
        for letter in mark.chars() {
            let code = i64::from(u32::from(letter)) - 65_536;
            self.out.extend_from_slice(format!("{{\\uc0\\u{code} }}").as_bytes());
        }
    }
}

/// Whether a destination holds no text of the document.
fn is_table(name: &str) -> bool {
    matches!(
        name,
        "fonttbl"
            | "colortbl"
            | "stylesheet"
            | "info"
            | "listtable"
            | "listoverridetable"
            | "pict"
            | "header"
            | "footer"
            | "headerl"
            | "headerr"
            | "headerf"
            | "footerl"
            | "footerr"
            | "footerf"
            | "fldinst"
            | "object"
            | "listtext"
            | "pntext"
            | "nonshppict"
    )
}

/// Returns the length of the letters that stand for a Unicode one in old programs.
fn fallback(rest: &[u8], count: usize) -> usize {
    let mut length = 0;
    for _ in 0..count {
        length += match &rest[length..] {
            [b'\\', b'\'', _, _, ..] => 4,
            [b'\\' | b'{' | b'}' | b'\r' | b'\n', ..] | [] => break,
            _ => 1,
        };
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, expected: &str) {
        let file = format!("{{\\rtf1 {file}}}");
        let mended = mended(file.as_bytes()).unwrap_or_else(|| file.into_bytes());
        let plain = String::from_utf8(mended).unwrap();
        let mut shown = plain.trim_start_matches("{\\rtf1 ").to_owned();
        for (code, letter) in [("{\\uc0\\u-560 }", "<"), ("{\\uc0\\u-559 }", ">"), ("{\\uc0\\u-555 }", "[x]")] {
            shown = shown.replace(code, letter);
        }
        assert_eq!(shown.strip_suffix('}').unwrap(), expected);
    }

    #[test]
    fn raised_text_stands_between_marks() {
        check("10{\\super 3} x", "10{\\super <3>} x");
        check("a\\super 2\\nosupersub  b", "a\\super <2>\\nosupersub  b");
        check(
            "a{\\super\\chftn{\\footnote \\super x\\plain  note}}",
            "a{\\super\\chftn{\\footnote \\super <x>\\plain  note}}",
        );
        check("{\\super \\u178 ?b}", "{\\super <\\u178 ?b>}");
    }

    #[test]
    fn hidden_text_goes() {
        check("a{\\v b\\'e9\\u233 ?\\par}c", "a{\\v \\par}c");
        check("a\\v b\\v0 c\r\nd", "a\\v \\v0 c\r\nd");
        check("{\\deleted a}{\\*\\x \\v b}{\\fonttbl\\v c}", "{\\deleted }{\\*\\x \\v b}{\\fonttbl\\v c}");
    }

    #[test]
    fn boxes_stand_behind_their_field() {
        let field = "{\\field{\\*\\fldinst FORMCHECKBOX{\\*\\formfield{\\fftype1\\ffres1}}}{\\fldrslt}}";
        check(&format!("{field} yes"), &format!("{field}[x] yes"));
    }

    #[test]
    fn damaged_files_are_no_harm() {
        for file in ["\\super", "{\\super \\", "\\v }}}} \\'", "\\sub\\u\\bin99 x", "\\bin-1\\up-3"] {
            let _mended = mended(file.as_bytes());
        }
        assert!(mended("{\\super".repeat(2000).as_bytes()).is_none());
    }
}
