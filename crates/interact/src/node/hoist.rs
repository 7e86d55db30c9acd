//! Keeps the variables of one call for the next, where they may be declared again: `const` and `let` at the top level
//! become `var`. Length and lines stay the same, so error positions remain correct.

/// Kind of the last token, which decides whether a `/` is a division or begins a regular expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Value,
    Operator,
}

/// Keywords after which a `/` begins a regular expression.
const OPERATORS: &[&[u8]] = &[
    b"return",
    b"typeof",
    b"await",
    b"case",
    b"in",
    b"of",
    b"delete",
    b"void",
    b"throw",
    b"new",
    b"instanceof",
    b"else",
    b"do",
    b"yield",
];

/// Returns the code with its top-level declarations changed to `var`.
pub(crate) fn hoist(code: &str) -> String {
    let mut scan = Scan {
        code: code.as_bytes(),
        at: 0,
        depth: 0,
        before: Before::Operator,
        templates: Vec::new(),
        hits: Vec::new(),
    };
    while scan.at < scan.code.len() {
        scan.step();
    }
    let mut hoisted = code.to_owned();
    for (at, word) in scan.hits {
        // The replacements are ASCII and as long as the replaced words (`const` becomes `var  `).
        hoisted.replace_range(at..at + word.len(), word);
    }
    hoisted
}

struct Scan<'a> {
    code: &'a [u8],
    at: usize,
    /// Number of open brackets of all kinds.
    depth: usize,
    before: Before,
    /// Bracket depth at the start of each open template substitution.
    templates: Vec<usize>,
    hits: Vec<(usize, &'static str)>,
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.code.get(self.at + ahead).copied().unwrap_or_default()
    }

    fn step(&mut self) {
        match self.peek(0) {
            b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
            b'/' if self.peek(1) == b'/' => self.skip_until(b"\n"),
            b'/' if self.peek(1) == b'*' => self.skip_until(b"*/"),
            b'/' if self.before == Before::Operator => self.regex(),
            quote @ (b'"' | b'\'') => self.quoted(quote),
            b'`' => {
                self.at += 1;
                self.template();
            }
            b'(' | b'[' | b'{' => self.bracket(1, Before::Operator),
            b'}' if self.templates.last() == Some(&self.depth) => {
                self.templates.pop();
                self.at += 1;
                self.template();
            }
            b')' | b']' => self.bracket(-1, Before::Value),
            b'}' => self.bracket(-1, Before::Operator),
            first if is_word(first) => self.word(),
            _ => {
                self.at += 1;
                self.before = Before::Operator;
            }
        }
    }

    fn bracket(&mut self, by: isize, before: Before) {
        self.depth = self.depth.saturating_add_signed(by);
        self.at += 1;
        self.before = before;
    }

    fn word(&mut self) {
        let start = self.at;
        while is_word(self.peek(0)) {
            self.at += 1;
        }
        let word = &self.code[start..self.at];
        let is_member = start > 0 && self.code[start - 1] == b'.';
        if self.depth == 0 && self.templates.is_empty() && !is_member && self.declares() {
            match word {
                b"const" => self.hits.push((start, "var  ")),
                b"let" => self.hits.push((start, "var")),
                _ => {}
            }
        }
        self.before = if OPERATORS.contains(&word) { Before::Operator } else { Before::Value };
    }

    /// Whether a declarable name or pattern follows.
    fn declares(&self) -> bool {
        let rest = &self.code[self.at..];
        let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let next = rest.get(blank).copied().unwrap_or_default();
        matches!(next, b'[' | b'{') || blank > 0 && is_word(next) && !next.is_ascii_digit()
    }

    fn quoted(&mut self, quote: u8) {
        self.at += 1;
        while self.at < self.code.len() && self.peek(0) != quote && self.peek(0) != b'\n' {
            self.at += if self.peek(0) == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        self.before = Before::Value;
    }

    /// Skips to the end of a template, or into its next substitution.
    fn template(&mut self) {
        while self.at < self.code.len() {
            match self.peek(0) {
                b'\\' => self.at += 2,
                b'`' => {
                    self.at += 1;
                    self.before = Before::Value;
                    return;
                }
                b'$' if self.peek(1) == b'{' => {
                    self.at += 2;
                    self.templates.push(self.depth);
                    self.before = Before::Operator;
                    return;
                }
                _ => self.at += 1,
            }
        }
    }

    fn regex(&mut self) {
        let (mut in_class, start) = (false, self.at);
        self.at += 1;
        while self.at < self.code.len() {
            match self.peek(0) {
                b'\\' => self.at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => break,
                // A regular expression cannot span lines, so it was a division.
                b'\n' => {
                    self.at = start;
                    break;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at += 1;
        self.before = Before::Value;
    }

    fn skip_until(&mut self, end: &[u8]) {
        let found = self.code[self.at..].windows(end.len()).position(|window| window == end);
        self.at = found.map_or(self.code.len(), |found| self.at + found + end.len());
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_the_outermost_level_changes() {
        let check = |code: &str, expect: &str| assert_eq!(hoist(code), expect);
        check("const a = 1; let b", "var   a = 1; var b");
        check("const {a, b} = x;let[c]=y", "var   {a, b} = x;var[c]=y");
        check("{ const a = 1 } for (let i of x) f()", "{ const a = 1 } for (let i of x) f()");
        check(
            "'const a'; \"let b\"; // let c\n/* const d */ `let ${ (() => { let e })() } let f`",
            "'const a'; \"let b\"; // let c\n/* const d */ `let ${ (() => { let e })() } let f`",
        );
        check(
            "x = /[/'\"]const a/; const b = 1 / 2; const c = '/'",
            "x = /[/'\"]const a/; var   b = 1 / 2; var   c = '/'",
        );
        check(
            "const f = () => { const g = 1; }\nconst h = `${`{`}`\nlet i = 2",
            "var   f = () => { const g = 1; }\nvar   h = `${`{`}`\nvar i = 2",
        );
        check("a.let = 1; let = 2; constant", "a.let = 1; let = 2; constant");
    }

    proptest! {
        #[test]
        fn any_text_keeps_its_length(code in "[a-z${}()\\[\\]`'\"/\\\\ \n.*;=ö]{0,80}|(const|let| |a|=|`|\\$\\{|\\}|/|'|\n){0,40}") {
            let hoisted = hoist(&code);
            prop_assert_eq!(hoisted.len(), code.len());
        }
    }
}
