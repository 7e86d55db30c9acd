//! Escaping of text: only characters that markdown would read as markup get a backslash.

use super::edges::{flanks, is_punctuation};

/// Context of a piece of text: its position, and properties of its paragraph.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextContext {
    /// Whether the text starts a line, where `#`, `>`, `-` and `1.` have a meaning.
    pub(super) line_start: bool,
    /// Whether the line follows a hard line break: an underline would turn the line above into a heading or a table.
    pub(super) later_line: bool,
    /// Whether the text starts a list item, where `[ ]` is a check box.
    pub(super) item_start: bool,
    /// Whether the text is inside the brackets of a link.
    pub(super) in_link: bool,
    /// Whether the text is inside a table cell.
    pub(super) in_cell: bool,
    /// Character after the text.
    pub(super) next: char,
    /// Whether the paragraph has a single `*` and no delimiters that it could pair with.
    pub(super) lone_star: bool,
    /// Whether the paragraph has a single `_` and no delimiters that it could pair with.
    pub(super) lone_underscore: bool,
    /// Whether the paragraph has a single `` ` `` and no delimiters that it could pair with.
    pub(super) lone_tick: bool,
    /// Whether the paragraph has a single `~` and no delimiters that it could pair with.
    pub(super) lone_tilde: bool,
    /// Whether the paragraph has struck-through text.
    pub(super) struck: bool,
    /// Whether the paragraph has a `[`.
    pub(super) brackets: bool,
    /// Whether the paragraph has a `>`.
    pub(super) tags: bool,
}

impl Default for TextContext {
    fn default() -> Self {
        TextContext {
            line_start: false,
            later_line: false,
            item_start: false,
            in_link: false,
            in_cell: false,
            next: ' ',
            lone_star: false,
            lone_underscore: false,
            lone_tick: false,
            lone_tilde: false,
            struck: false,
            brackets: true,
            tags: true,
        }
    }
}

/// Bytes that may need a backslash.
const MARKUP: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b"<&\\`*_~[]|";
    let mut i = 0;
    while i < bytes.len() {
        table[bytes[i] as usize] = true;
        i += 1;
    }
    table
};

/// Appends `text` to `out`, escaped.
pub(super) fn push_text(out: &mut String, text: &str, spot: TextContext) {
    let text = if spot.line_start { push_line_start(out, text, spot) } else { text };
    if !text.bytes().any(|byte| MARKUP[byte as usize]) {
        return out.push_str(text);
    }
    // The text of a link may have paired brackets; a single one would end it.
    let brackets = spot.in_link && !holds_plain_brackets(text);
    let bytes = text.as_bytes();
    let mut plain = 0;
    let mut i = 0;
    while let Some(found) = bytes[i..].iter().position(|byte| MARKUP[*byte as usize]) {
        i += found;
        let byte = bytes[i];
        let rest = &text[i + 1..];
        let line_start = spot.line_start && i == 0;
        // A run of these is one delimiter: whether it can open or close depends on the characters around the whole run.
        if matches!(byte, b'*' | b'_') {
            let run = bytes[i..].iter().take_while(|b| **b == byte).count();
            let lone = if byte == b'*' { spot.lone_star } else { spot.lone_underscore };
            if !lone && delimits(byte, before(out, text, i), text[i + run..].chars().next().unwrap_or(spot.next)) {
                out.push_str(&text[plain..i]);
                (0..run).for_each(|_| out.extend(['\\', byte as char]));
                plain = i + run;
            }
            i += run;
            continue;
        }
        let Some(replacement) = escape(byte, before(out, text, i), rest, TextContext { line_start, ..spot }, brackets)
        else {
            i += 1;
            continue;
        };
        out.push_str(&text[plain..i]);
        out.push_str(replacement);
        i += 1;
        plain = i;
    }
    out.push_str(&text[plain..]);
}

/// Returns the replacement for `byte`, if it must be escaped. `brackets` says whether all brackets must be.
fn escape(byte: u8, before: char, rest: &str, spot: TextContext, brackets: bool) -> Option<&'static str> {
    Some(match byte {
        b'<' if (spot.tags || spot.line_start) && opens_tag(rest) => "&lt;",
        b'&' if starts_entity(rest) => "&amp;",
        b'\\' if rest.starts_with(|n: char| n.is_ascii_punctuation()) => "\\\\",
        b'\\' if rest.is_empty() && !spot.next.is_alphanumeric() => "\\\\",
        b'`' if !spot.lone_tick => "\\`",
        b'~' if !spot.lone_tilde && strikes(before, rest, spot.struck) => "\\~",
        b'[' if brackets => "\\[",
        b']' if brackets || spot.brackets && rest.starts_with('(') => "\\]",
        b'|' if spot.in_cell => "\\|",
        _ => return None,
    })
}

/// Whether a run of `delimiter` between these characters could open or close emphasis (CommonMark, rules 1 to 8).
fn delimits(delimiter: u8, before: char, after: char) -> bool {
    let (left, right) = flanks(before, after);
    match delimiter {
        b'_' => left && (!right || is_punctuation(before)) || right && (!left || is_punctuation(after)),
        _ => left || right,
    }
}

/// Whether a tilde, or a run with it, could end struck-through text. One that could only begin it is harmless.
fn strikes(before: char, rest: &str, struck: bool) -> bool {
    struck || rest.starts_with('~') || !before.is_whitespace()
}

fn opens_tag(rest: &str) -> bool {
    rest.starts_with(|n: char| n.is_ascii_alphabetic() || "/!?".contains(n))
}

/// Whether the brackets in a link's text are paired and do not form a link.
fn holds_plain_brackets(text: &str) -> bool {
    let mut depth = 0_i32;
    let mut closed = false;
    for byte in text.bytes() {
        if closed && matches!(byte, b'(' | b'[') {
            return false;
        }
        closed = byte == b']';
        depth += i32::from(byte == b'[') - i32::from(closed);
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

/// Returns the character before `text[i..]`, which may be the last one of `out`.
fn before(out: &str, text: &str, i: usize) -> char {
    let written = if i > 0 { text[..i].chars().next_back() } else { out.chars().next_back() };
    written.unwrap_or(' ')
}

/// Whether `rest`, the text after `&`, continues a character reference.
pub(super) fn starts_entity(rest: &str) -> bool {
    let Some(end) = rest.bytes().take(34).position(|b| b == b';') else {
        return false;
    };
    let name = &rest[..end];
    match name.strip_prefix('#') {
        Some(number) => {
            let (digits, hex) = number.strip_prefix(['x', 'X']).map_or((number, false), |hex| (hex, true));
            (1..=7).contains(&digits.len())
                && digits.bytes().all(|b| if hex { b.is_ascii_hexdigit() } else { b.is_ascii_digit() })
        }
        None => name.len() > 1 && name.bytes().all(|b| b.is_ascii_alphanumeric()),
    }
}

/// Escapes the start of a line if it would begin a block, and returns the rest of `text`.
fn push_line_start<'t>(out: &mut String, text: &'t str, spot: TextContext) -> &'t str {
    let Some(first) = text.chars().next() else { return text };
    if first.is_ascii_digit() {
        return push_number(out, text, spot);
    }
    if !first.is_ascii_punctuation() {
        return text;
    }
    let run = text.len() - text.trim_start_matches(first).len();
    let after = &text[run..];
    let blank_after = if after.is_empty() { spot.next.is_whitespace() } else { after.starts_with([' ', '\t']) };
    let only = |set: &str| text.chars().all(|c| set.contains(c));
    // A run of `-`, `*` or `_` alone is a thematic break, one of `=` or `-` below text an underline of a heading.
    let marks_block = match first {
        '#' => run <= 6 && blank_after,
        '>' => true,
        '-' | '+' | '*' => run == 1 && blank_after || first != '+' && only(if first == '-' { "- " } else { "* " }),
        '_' => only("_ "),
        '=' => spot.later_line && only("= "),
        '~' => run >= 3,
        '[' => spot.item_start && ["[ ]", "[x]", "[X]"].iter().any(|task| text.starts_with(task)) || defines(text),
        _ => false,
    };
    let underline = spot.later_line && matches!(first, '-' | '|' | ':') && only("-|: ");
    if marks_block || underline {
        out.push('\\');
        out.push(first);
        return &text[first.len_utf8()..];
    }
    text
}

/// Escapes `1.` and `1)`, which begin a list. After a line break only the number 1 does: other numbers cannot interrupt
/// a paragraph.
fn push_number<'t>(out: &mut String, text: &'t str, spot: TextContext) -> &'t str {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let tail = &text[digits..];
    let ends = || if tail.len() == 1 { spot.next.is_whitespace() } else { tail[1..].starts_with([' ', '\t']) };
    let interrupts = !spot.later_line || text[..digits].parse() == Ok(1_u32);
    if digits > 9 || !interrupts || !tail.starts_with(['.', ')']) || !ends() {
        return text;
    }
    out.push_str(&text[..digits]);
    out.push('\\');
    out.push_str(&tail[..1]);
    &tail[1..]
}

/// Whether the text starts with `[label]:`, which would define a link or a footnote.
fn defines(text: &str) -> bool {
    text.find(']').is_some_and(|end| text[end + 1..].starts_with(':'))
}

/// Appends a URL as the destination of a link, so that nothing in it ends the parentheses.
pub(super) fn destination(out: &mut String, url: &str, in_cell: bool) {
    let special =
        |byte: u8| byte <= b' ' || matches!(byte, b'(' | b')' | b'\\' | b'`' | b'<' | b'>' | b'|' | b'&' | 0x7f..);
    if !url.bytes().any(special) {
        return out.push_str(url);
    }
    let balanced = is_balanced(url);
    for (i, c) in url.char_indices() {
        match c {
            '(' | ')' if !balanced => {
                out.push('\\');
                out.push(c);
            }
            '\\' => out.push_str("%5C"),
            '`' => out.push_str("%60"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '|' if in_cell => out.push_str("%7C"),
            '&' if starts_entity(&url[i + 1..]) => out.push_str("&amp;"),
            c if c == ' ' || c.is_control() => out.push_str("%20"),
            c => out.push(c),
        }
    }
}

fn is_balanced(url: &str) -> bool {
    let mut depth = 0_i32;
    for byte in url.bytes() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        // Markdown parsers give up at 32 levels.
        if !(0..=30).contains(&depth) {
            return false;
        }
    }
    depth == 0
}

/// Appends a code span, delimited by a number of backticks that no run inside has. Line breaks become spaces.
pub(super) fn push_code_span(out: &mut String, code: &str, in_cell: bool) {
    let ticks = shortest_fence(code);
    // Markdown strips one space from both ends of a span that begins and ends with one.
    let blank = code.starts_with(' ') && code.ends_with(' ') && !code.trim_matches(' ').is_empty();
    let padded = blank || code.starts_with('`') || code.ends_with('`');
    let push_ticks = |out: &mut String| (0..ticks).for_each(|_| out.push('`'));
    push_ticks(out);
    if padded {
        out.push(' ');
    }
    for c in code.chars() {
        match c {
            '\n' => out.push(' '),
            '|' if in_cell => out.push_str("\\|"),
            c => out.push(c),
        }
    }
    if padded {
        out.push(' ');
    }
    push_ticks(out);
}

/// Returns the smallest length of a run of backticks that does not occur in `code`.
fn shortest_fence(code: &str) -> usize {
    // Bit n is set if a run of n backticks occurs; bit 0 is excluded below, since a fence has at least one.
    let mut seen = 0_u64;
    for run in code.split(|c| c != '`').filter(|run| !run.is_empty()) {
        seen |= 1_u64.checked_shl(run.len() as u32).unwrap_or(0);
    }
    let free = (!(seen | 1)).trailing_zeros() as usize;
    if free < 63 { free } else { longest_run(code, '`') + 1 }
}

/// Returns the length of the longest run of `wanted`.
pub(super) fn longest_run(text: &str, wanted: char) -> usize {
    text.split(|c| c != wanted).map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_at(text: &str, expect: &str, spot: TextContext) {
        let mut out = String::new();
        push_text(&mut out, text, spot);
        assert_eq!(out, expect, "{text}");
    }

    #[test]
    fn text_keeps_what_is_harmless() {
        for text in [
            "a - b + c",
            "snake_case_name",
            "2 * 3",
            "a < b && c",
            "AT&T, R&D",
            "#tag",
            "1.5 x",
            "[1] a",
            "a] b",
            "~100 to ~200",
            "x > y",
            "a \\ b",
            "[ ] no item",
            "-1",
            "1234567890. x",
        ] {
            check_at(text, text, TextContext { line_start: true, ..TextContext::default() });
        }
        let calm =
            TextContext { lone_star: true, lone_tick: true, brackets: false, tags: false, ..TextContext::default() };
        for text in ["Price*", "a `b", "a](b)", "a <b"] {
            check_at(text, text, calm);
        }
    }

    #[test]
    fn text_that_looks_like_markup_is_escaped() {
        let check = |text: &str, expect: &str| check_at(text, expect, TextContext::default());
        check("*a*", "\\*a\\*");
        check("_a_ __b__", "\\_a\\_ \\_\\_b\\_\\_");
        check("a_\"b\"", "a\\_\"b\"");
        check("`a`", "\\`a\\`");
        check("[a](b)", "[a\\](b)");
        check("<script>x</script>", "&lt;script>x&lt;/script>");
        check("&lt; &#38; &x", "&amp;lt; &amp;#38; &x");
        check("a\\*b \\ c\\", "a\\\\\\*b \\ c\\\\");
        check("~~a~~", "\\~\\~a\\~\\~");
    }

    #[test]
    fn line_starts_are_escaped() {
        let check = |text: &str, expect: &str| {
            check_at(text, expect, TextContext { line_start: true, ..TextContext::default() })
        };
        check("# a", "\\# a");
        check("> a", "\\> a");
        check("- a", "\\- a");
        check("* a", "\\* a");
        check("---", "\\---");
        check("* * *", "\\* * *");
        check("1. a", "1\\. a");
        check("12) a", "12\\) a");
        check("~~~", "\\~\\~\\~");
        check("[a]: b", "\\[a]: b");
        check("===", "===");
        let item = TextContext { line_start: true, item_start: true, ..TextContext::default() };
        check_at("[x] a", "\\[x] a", item);
        let later = TextContext { line_start: true, later_line: true, ..TextContext::default() };
        check_at("===", "\\===", later);
        check_at("--- | ---", "\\--- | ---", later);
        check_at("2. a", "2. a", later);
        check_at("1. a", "1\\. a", later);
    }

    #[test]
    fn brackets_in_links() {
        let check =
            |text: &str, expect: &str| check_at(text, expect, TextContext { in_link: true, ..TextContext::default() });
        check("[1]", "[1]");
        check("a](http://evil.test) [b", "a\\](http://evil.test) \\[b");
        check("[a](b)", "\\[a\\](b)");
        check("[a", "\\[a");
    }

    #[test]
    fn destinations_cannot_end_early() {
        let check = |url: &str, expect: &str| {
            let mut out = String::new();
            destination(&mut out, url, false);
            assert_eq!(out, expect, "{url}");
        };
        check("https://a.test/b_(c)", "https://a.test/b_(c)");
        check("https://a.test/b)c", "https://a.test/b\\)c");
        check("a b<c>`\n", "a%20b%3Cc%3E%60%20");
        check("?a=1&copy;=2&b", "?a=1&amp;copy;=2&b");
    }

    #[test]
    fn code_spans() {
        let check = |code: &str, expect: &str| {
            let mut out = String::new();
            push_code_span(&mut out, code, true);
            assert_eq!(out, expect, "{code}");
        };
        check("a", "`a`");
        check("a|b\nc", "`a\\|b c`");
        check("`a", "`` `a ``");
        check("a``b", "`a``b`");
        check("` ``", "``` ` `` ```");
        check(" a ", "`  a  `");
        check(" a", "` a`");
        check("  ", "`  `");
    }
}
