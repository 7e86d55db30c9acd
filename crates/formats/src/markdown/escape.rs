//! Text that must stay text: what markdown would read as markup gets a backslash, and only that.

/// Where a piece of text stands.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spot {
    /// First of its line, where `#`, `>`, `-` and `1.` have a meaning.
    pub(super) line_start: bool,
    /// Behind a hard line break, where an underline would make the line above a heading or a table.
    pub(super) later_line: bool,
    /// Inside the brackets of a link.
    pub(super) in_link: bool,
    /// Inside a table cell.
    pub(super) in_cell: bool,
    /// What will stand behind the text, where that is known.
    pub(super) next: Option<char>,
}

/// Appends `text` to `out`.
pub(super) fn push_text(out: &mut String, text: &str, spot: Spot) {
    let text = if spot.line_start { push_line_start(out, text, spot) } else { text };
    let several_tildes = || text.bytes().filter(|b| *b == b'~').nth(1).is_some();
    let tildes = text.contains('~') && several_tildes();
    let brackets = spot.in_link && !holds_plain_brackets(text);
    let mut plain = 0;
    for (i, c) in text.char_indices().filter(|(_, c)| c.is_ascii_punctuation()) {
        let rest = &text[i + 1..];
        let replacement = match c {
            '<' if rest.starts_with(|n: char| n.is_ascii_alphabetic() || "/!?".contains(n)) => "&lt;",
            '&' if starts_entity(rest) => "&amp;",
            '\\' if rest.is_empty() || rest.starts_with(|n: char| n.is_ascii_punctuation()) => "\\\\",
            '`' => "\\`",
            '*' if !stands_alone(before(out, text, i), rest) => "\\*",
            '_' if !stands_alone(before(out, text, i), rest) && !inside_word(before(out, text, i), rest) => "\\_",
            '~' if tildes && (rest.starts_with('~') || before(out, text, i).is_some_and(|p| !p.is_whitespace())) => {
                "\\~"
            }
            '[' if brackets => "\\[",
            ']' if brackets || rest.chars().next().or(spot.next).is_some_and(|n| "([:".contains(n)) => "\\]",
            '|' if spot.in_cell => "\\|",
            _ => continue,
        };
        out.push_str(&text[plain..i]);
        out.push_str(replacement);
        plain = i + 1;
    }
    out.push_str(&text[plain..]);
}

/// Whether the brackets in a link's text are paired and make no link of their own.
fn holds_plain_brackets(text: &str) -> bool {
    let mut depth = 0_i32;
    let mut closed = false;
    for c in text.chars() {
        if closed && matches!(c, '(' | '[' | ':') {
            return false;
        }
        closed = c == ']';
        depth += i32::from(c == '[') - i32::from(closed);
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

/// The character in front of `text[i..]`; what is written already counts, but not a backslash just added.
fn before(out: &str, text: &str, i: usize) -> Option<char> {
    if i > 0 {
        return text[..i].chars().next_back();
    }
    out.chars().next_back()
}

/// Blanks on both sides: cannot open or close emphasis.
fn stands_alone(before: Option<char>, rest: &str) -> bool {
    before.is_none_or(char::is_whitespace) && rest.starts_with(char::is_whitespace)
}

fn inside_word(before: Option<char>, rest: &str) -> bool {
    before.is_some_and(char::is_alphanumeric) && rest.starts_with(char::is_alphanumeric)
}

fn starts_entity(rest: &str) -> bool {
    let Some(end) = rest.bytes().take(34).position(|b| b == b';') else {
        return false;
    };
    let name = &rest[..end];
    match name.strip_prefix('#') {
        Some(number) => {
            let (digits, hex) = number.strip_prefix(['x', 'X']).map_or((number, false), |hex| (hex, true));
            !digits.is_empty() && digits.bytes().all(|b| if hex { b.is_ascii_hexdigit() } else { b.is_ascii_digit() })
        }
        None => !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric()),
    }
}

/// Writes what needs a backslash at the start of a line and returns the rest of `text`.
fn push_line_start<'t>(out: &mut String, text: &'t str, spot: Spot) -> &'t str {
    let Some(first) = text.chars().next() else { return text };
    let run = text.len() - text.trim_start_matches(first).len();
    let after = &text[run..];
    let blank_after = after.is_empty() || after.starts_with([' ', '\t']);
    let only = |set: &str| text.chars().all(|c| set.contains(c));
    let marks_block = match first {
        '#' => run <= 6 && blank_after,
        '>' => true,
        '-' | '+' | '*' => run == 1 && blank_after || first != '+' && only(if first == '-' { "- " } else { "* " }),
        '_' => only("_ "),
        '=' => spot.later_line && only("= "),
        '[' => ["[ ]", "[x]", "[X]"].iter().any(|task| text.starts_with(task)),
        _ => false,
    };
    let underline = spot.later_line && matches!(first, '-' | '|' | ':') && only("-|: ");
    if marks_block || underline {
        out.push('\\');
        out.push(first);
        return &text[first.len_utf8()..];
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let tail = &text[digits..];
    if (1..=9).contains(&digits) && tail.starts_with(['.', ')']) && (tail.len() == 1 || tail[1..].starts_with(' ')) {
        out.push_str(&text[..digits]);
        out.push('\\');
        out.push_str(&tail[..1]);
        return &tail[1..];
    }
    text
}

/// A URL for the parentheses of a link: nothing in it can end them.
pub(super) fn destination(url: &str, in_cell: bool) -> String {
    let balanced = is_balanced(url);
    let mut safe = String::with_capacity(url.len());
    for c in url.chars() {
        match c {
            '(' | ')' if !balanced => {
                safe.push('\\');
                safe.push(c);
            }
            '\\' => safe.push_str("%5C"),
            '<' => safe.push_str("%3C"),
            '>' => safe.push_str("%3E"),
            '|' if in_cell => safe.push_str("%7C"),
            c if c.is_whitespace() || c.is_control() => safe.push_str("%20"),
            c => safe.push(c),
        }
    }
    safe
}

fn is_balanced(url: &str) -> bool {
    let mut depth = 0_i32;
    for byte in url.bytes() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        // Markdown readers give up at 32 levels.
        if !(0..=30).contains(&depth) {
            return false;
        }
    }
    depth == 0
}

/// A code span whose backticks outnumber those inside.
pub(super) fn push_code_span(out: &mut String, code: &str, in_cell: bool) {
    let ticks = "`".repeat(longest_run(code, '`') + 1);
    let ticks = if longest_run(code, '`') == 0 { "`" } else { &ticks };
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    out.push_str(ticks);
    out.push_str(pad);
    if in_cell {
        out.push_str(&code.replace('|', "\\|"));
    } else {
        out.push_str(code);
    }
    out.push_str(pad);
    out.push_str(ticks);
}

/// Length of the longest uninterrupted run of `wanted`.
pub(super) fn longest_run(text: &str, wanted: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_at(text: &str, expect: &str, spot: Spot) {
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
        ] {
            check_at(text, text, Spot { line_start: true, ..Spot::default() });
        }
    }

    #[test]
    fn text_that_looks_like_markup_is_escaped() {
        let check = |text: &str, expect: &str| check_at(text, expect, Spot::default());
        check("*a*", "\\*a\\*");
        check("_a_ __b__", "\\_a\\_ \\_\\_b\\_\\_");
        check("`a`", "\\`a\\`");
        check("[a](b)", "[a\\](b)");
        check("<script>x</script>", "&lt;script>x&lt;/script>");
        check("&lt; &#38; &x", "&amp;lt; &amp;#38; &x");
        check("a\\*b \\ c\\", "a\\\\\\*b \\ c\\\\");
        check("~~a~~", "\\~\\~a\\~\\~");
    }

    #[test]
    fn line_starts_are_escaped() {
        let check = |text: &str, expect: &str| check_at(text, expect, Spot { line_start: true, ..Spot::default() });
        check("# a", "\\# a");
        check("> a", "\\> a");
        check("- a", "\\- a");
        check("* a", "\\* a");
        check("---", "\\---");
        check("* * *", "\\* * \\*");
        check("1. a", "1\\. a");
        check("12) a", "12\\) a");
        check("[x] a", "\\[x] a");
        check("===", "===");
        let later = Spot { line_start: true, later_line: true, ..Spot::default() };
        check_at("===", "\\===", later);
        check_at("--- | ---", "\\--- | ---", later);
    }

    #[test]
    fn brackets_in_links() {
        let check = |text: &str, expect: &str| check_at(text, expect, Spot { in_link: true, ..Spot::default() });
        check("[1]", "[1]");
        check("a](http://evil.test) [b", "a\\](http://evil.test) \\[b");
        check("[a](b)", "\\[a\\](b)");
        check("[a", "\\[a");
    }

    #[test]
    fn destinations_cannot_end_early() {
        let check = |url: &str, expect: &str| assert_eq!(destination(url, false), expect, "{url}");
        check("https://a.test/b_(c)", "https://a.test/b_(c)");
        check("https://a.test/b)c", "https://a.test/b\\)c");
        check("a b<c>\n", "a%20b%3Cc%3E%20");
    }
}
