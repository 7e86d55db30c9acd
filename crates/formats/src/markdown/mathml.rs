//! Conversion of MathML to TeX: fractions, roots, scripts, accents, tables, operators (MathML Core, MathML 3).

mod letters;
mod symbols;
mod tables;

use page::{Index, Page};

use self::letters::{accent, function, letter, operator};

/// Nesting depth of elements that are converted; deeper ones are written as text.
const MAX_DEPTH: usize = 48;

/// Converts the formula at `index` to TeX, without delimiters; empty if it shows nothing.
pub(super) fn tex(page: &Page, index: Index) -> String {
    let mut writer = Writer { page, out: String::new(), depth: 0 };
    writer.row(index);
    writer.out.trim().to_owned()
}

struct Writer<'p> {
    page: &'p Page,
    out: String,
    depth: usize,
}

impl Writer<'_> {
    /// Adds TeX, with a space between a command and a letter after it.
    fn push(&mut self, tex: &str) {
        if tex.starts_with(|c: char| c.is_ascii_alphabetic()) && ends_with_command(&self.out) {
            self.out.push(' ');
        }
        self.out.push_str(tex);
    }

    fn elements(&self, index: Index) -> Vec<Index> {
        self.page.children(index).filter(|&child| self.page.name(child).is_some()).collect()
    }

    fn name(&self, index: Index) -> &str {
        self.page.name(index).map_or("", |name| name)
    }

    fn attr(&self, index: Index, name: &str) -> String {
        self.page.attr(index, name).map(|value| value.trim().to_ascii_lowercase()).unwrap_or_default()
    }

    /// Returns the text of a token with its white space folded.
    fn words(&self, index: Index) -> String {
        let text = self.page.text_of(index);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Writes the children of `index` one after another.
    fn row(&mut self, index: Index) {
        let children = self.elements(index);
        if children.is_empty() {
            let text = self.words(index);
            if !text.is_empty() {
                self.text(&text);
            }
            return;
        }
        self.list(&children);
    }

    fn list(&mut self, children: &[Index]) {
        let mut at = 0;
        while at < children.len() {
            at += match self.fenced_table(&children[at..]) {
                0 => {
                    self.element(children[at]);
                    1
                }
                used => used,
            };
        }
    }

    fn element(&mut self, index: Index) {
        if self.depth > MAX_DEPTH {
            let text = self.words(index);
            return self.text(&text);
        }
        self.depth += 1;
        self.known(index);
        self.depth -= 1;
    }

    fn known(&mut self, index: Index) {
        let parts = self.elements(index);
        match (self.name(index), &parts[..]) {
            ("mi", _) => self.identifier(index),
            ("mn", _) => {
                let number: String = self.words(index).chars().map(letter).collect();
                self.push(&number);
            }
            ("mo", _) => self.operator(index),
            ("mtext" | "ms", []) => {
                let text = self.page.text_of(index);
                self.text(&text);
            }
            ("mspace", _) if self.attr(index, "linebreak") == "newline" => self.push("\\\\ "),
            ("mspace", _) => self.space(),
            ("mfrac", &[above, below]) => self.fraction(index, above, below),
            ("msqrt", _) => {
                self.push("\\sqrt{");
                self.row(index);
                self.out.push('}');
            }
            ("mroot", &[base, degree]) => {
                self.push("\\sqrt[");
                self.element(degree);
                self.out.push_str("]{");
                self.element(base);
                self.out.push('}');
            }
            ("msup", &[base, upper]) => self.scripts(base, None, Some(upper)),
            ("msub", &[base, lower]) => self.scripts(base, Some(lower), None),
            ("msubsup", &[base, lower, upper]) => self.scripts(base, Some(lower), Some(upper)),
            ("munder", &[base, lower]) => self.limits(base, Some(lower), None),
            ("mover", &[base, upper]) => self.limits(base, None, Some(upper)),
            ("munderover", &[base, lower, upper]) => self.limits(base, Some(lower), Some(upper)),
            ("mmultiscripts", &[base, ref scripts @ ..]) => self.around(base, scripts),
            ("mfenced", _) => self.fenced(index, &parts),
            ("mtable", _) => self.table(index, "matrix"),
            ("menclose", _) => self.enclosed(index),
            ("semantics" | "maction", &[first, ..]) => self.element(first),
            ("annotation" | "annotation-xml" | "none" | "mprescripts" | "maligngroup" | "malignmark", _) => {}
            ("mphantom", _) => self.space(),
            _ => self.row(index),
        }
    }

    fn space(&mut self) {
        if !self.out.ends_with(' ') {
            self.out.push(' ');
        }
    }

    /// Writes words as `\text{…}`.
    fn text(&mut self, text: &str) {
        if text.trim().is_empty() {
            return self.space();
        }
        let mut escaped = String::new();
        for c in text.chars() {
            match c {
                '\\' => escaped.push_str("\\backslash "),
                '#' | '$' | '%' | '&' | '_' | '{' | '}' => escaped.extend(['\\', c]),
                c if c.is_whitespace() => escaped.push(' '),
                c if c.is_control() => {}
                c => escaped.push(c),
            }
        }
        self.push(&format!("\\text{{{escaped}}}"));
    }

    /// Writes an identifier: a single letter as it is, a longer name upright.
    fn identifier(&mut self, index: Index) {
        let text = self.words(index);
        let variant = self.attr(index, "mathvariant");
        let (style, plain) = letters::styled(&text, &variant);
        let written = match (style, plain.chars().count()) {
            ("", 0) => return,
            ("", 1) => plain.chars().map(symbol).collect(),
            ("", _) => match function(&plain) {
                true => format!("\\{plain}"),
                false if plain.chars().all(char::is_alphanumeric) => format!("\\mathrm{{{plain}}}"),
                false => plain.chars().map(symbol).collect(),
            },
            (style, _) => format!("\\{style}{{{plain}}}"),
        };
        self.push(&written);
    }

    fn operator(&mut self, index: Index) {
        let text = self.words(index);
        let letters = text.chars().count() > 1 && text.chars().all(char::is_alphabetic);
        match () {
            () if function(&text) => self.push(&format!("\\{text}")),
            () if letters => self.push(&format!("\\operatorname{{{text}}}")),
            () => {
                for c in text.chars() {
                    self.push(&symbol(c));
                }
            }
        }
    }

    fn group(&mut self, index: Index) {
        self.out.push('{');
        self.element(index);
        self.out.push('}');
    }

    /// Writes the base of scripts, in braces unless it is one symbol.
    fn base(&mut self, index: Index) {
        let began = self.out.len();
        self.element(index);
        let written = self.out[began..].trim();
        let is_number = !written.is_empty() && written.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let is_command = written.strip_prefix('\\').is_some_and(|name| name.bytes().all(|b| b.is_ascii_alphabetic()));
        let is_call =
            written.starts_with("\\mathrm{") || written.starts_with("\\text{") || written.starts_with("\\mathb");
        let is_whole = is_call && written.find('}') == Some(written.len() - 1);
        if !(is_number || is_command || is_whole || written.chars().count() == 1) {
            self.out.insert(began, '{');
            self.out.push('}');
        }
    }

    fn scripts(&mut self, base: Index, lower: Option<Index>, upper: Option<Index>) {
        self.base(base);
        if let Some(lower) = lower.filter(|&lower| self.shows(lower)) {
            self.out.push('_');
            self.group(lower);
        }
        let Some(upper) = upper.filter(|&upper| self.shows(upper)) else { return };
        match &*self.words(upper) {
            "′" | "'" => self.out.push('\''),
            "″" | "''" => self.out.push_str("''"),
            _ => {
                self.out.push('^');
                self.group(upper);
            }
        }
    }

    fn shows(&self, index: Index) -> bool {
        self.name(index) != "none"
            && self.page.subtree(index).any(|i| self.page.text(i).is_some_and(|t| !t.trim().is_empty()))
    }

    /// Writes the parts above and below a base: as limits (of sums and other operators), accents, or a stack.
    fn limits(&mut self, base: Index, lower: Option<Index>, upper: Option<Index>) {
        let words = self.words(base);
        let takes_limits = letters::takes_limits(&words);
        if takes_limits {
            return self.scripts(base, lower, upper);
        }
        let mark = |index: Option<Index>, below: bool| accent(&self.words(index?), below);
        let (under, over) = (mark(lower, true), mark(upper, false));
        for (accent, part, stack) in [(over, upper, "\\overset{"), (under, lower, "\\underset{")] {
            match (accent, part) {
                (Some(accent), _) => self.push(&format!("\\{accent}{{")),
                (None, Some(part)) => {
                    self.push(stack);
                    self.element(part);
                    self.out.push_str("}{");
                }
                (None, None) => {}
            }
        }
        self.element(base);
        let open = usize::from(lower.is_some()) + usize::from(upper.is_some());
        (0..open).for_each(|_| self.out.push('}'));
    }

    /// Writes `mmultiscripts`: pairs of scripts after the base, then, behind `mprescripts`, pairs of those before it.
    fn around(&mut self, base: Index, scripts: &[Index]) {
        let is_border = |&index: &Index| self.name(index) == "mprescripts";
        let border = scripts.iter().position(is_border).unwrap_or(scripts.len());
        let (behind, front) = (&scripts[..border], scripts.get(border + 1..).unwrap_or_default());
        if !front.is_empty() {
            self.push("{}");
            self.pairs(front);
        }
        self.base(base);
        self.pairs(behind);
    }

    fn pairs(&mut self, scripts: &[Index]) {
        for pair in scripts.chunks(2) {
            for (&part, mark) in pair.iter().zip(['_', '^']) {
                if self.shows(part) {
                    self.out.push(mark);
                    self.group(part);
                }
            }
        }
    }

    fn fraction(&mut self, index: Index, above: Index, below: Index) {
        let thickness = self.attr(index, "linethickness");
        if self.attr(index, "bevelled") == "true" {
            self.group(above);
            self.out.push('/');
            return self.group(below);
        }
        let has_line = thickness.is_empty() || thickness.trim_end_matches(char::is_alphabetic).parse() != Ok(0.0);
        self.push(if has_line { "\\frac" } else { "\\genfrac{}{}{0pt}{}" });
        self.group(above);
        self.group(below);
    }

    fn fenced(&mut self, index: Index, parts: &[Index]) {
        let of = |name: &str, default: &str| {
            self.page.attr(index, name).map_or_else(|| default.to_owned(), |value| value.trim().to_owned())
        };
        let (open, close, separators) = (of("open", "("), of("close", ")"), of("separators", ","));
        let separators: Vec<char> = separators.chars().filter(|c| !c.is_whitespace()).collect();
        open.chars().for_each(|c| self.push(&symbol(c)));
        for (n, &part) in parts.iter().enumerate() {
            if n > 0
                && let Some(&separator) = separators.get(n - 1).or(separators.last())
            {
                self.push(&symbol(separator));
            }
            self.element(part);
        }
        close.chars().for_each(|c| self.push(&symbol(c)));
    }

    fn enclosed(&mut self, index: Index) {
        let notation = self.attr(index, "notation");
        let has = |wanted: &str| notation.split_whitespace().any(|name| name == wanted);
        let command = match () {
            () if has("radical") => "\\sqrt{",
            () if has("box") || has("roundedbox") => "\\boxed{",
            () if has("updiagonalstrike") || has("downdiagonalstrike") => "\\cancel{",
            () if has("top") => "\\overline{",
            () if has("bottom") => "\\underline{",
            () => return self.row(index),
        };
        self.push(command);
        self.row(index);
        self.out.push('}');
    }
}

/// Returns the TeX for a character.
fn symbol(c: char) -> String {
    operator(c).map_or_else(|| letter(c).to_string(), str::to_owned)
}

fn ends_with_command(tex: &str) -> bool {
    let name = tex.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    name.len() < tex.len() && name.ends_with('\\')
}

#[cfg(test)]
mod tests {
    use page::local_name;
    use url::Url;

    use super::*;

    fn check(mathml: &str, expect: &str) {
        let page = Page::parse(&format!("<math>{mathml}</math>"), &Url::parse("https://a.test/").unwrap());
        assert_eq!(tex(&page, page.first(&local_name!("math")).unwrap()), expect, "{mathml}");
    }

    #[test]
    fn tokens() {
        check("<mi>a</mi><mo>+</mo><mn>1.5</mn>", "a+1.5");
        check("<mi>α</mi><mi>x</mi><mo>·</mo><mi>sin</mi><mo>\u{2061}</mo><mi>y</mi>", "\\alpha x\\cdot\\sin y");
        check("<mi>speed</mi><mo>≤</mo><mtext>50% of it</mtext>", "\\mathrm{speed}\\le\\text{50\\% of it}");
        check("<mi>ℝ</mi><mi mathvariant=bold>v</mi><mi>\u{1d465}</mi>", "\\mathbb{R}\\mathbf{v}x");
        check("<mo>{</mo><mi>x</mi><mo>}</mo><mo>−</mo><mo>mod</mo>", "\\{x\\}-\\operatorname{mod}");
        check("", "");
    }

    #[test]
    fn fractions_roots_and_scripts() {
        check("<mfrac><mn>1</mn><mn>2</mn></mfrac>", "\\frac{1}{2}");
        check("<msup><mn>10</mn><mn>6</mn></msup>", "10^{6}");
        check("<msup><mrow><mo>(</mo><mi>a</mi><mo>)</mo></mrow><mn>2</mn></msup>", "{(a)}^{2}");
        check("<msubsup><mi>v</mi><mn>0</mn><mo>′</mo></msubsup>", "v_{0}'");
        check(
            "<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt><mroot><mi>y</mi><mn>3</mn></mroot>",
            "\\sqrt{x+1}\\sqrt[3]{y}",
        );
        check("<mfrac linethickness=0><mi>n</mi><mi>k</mi></mfrac>", "\\genfrac{}{}{0pt}{}{n}{k}");
        check(
            "<mmultiscripts><mi>C</mi><mn>1</mn><none></none><mprescripts></mprescripts><mn>6</mn><mn>14</mn></mmultiscripts>",
            "{}_{6}^{14}C_{1}",
        );
    }

    #[test]
    fn what_stands_above_and_below() {
        check(
            "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>i</mi>",
            "\\sum_{i=1}^{n}i",
        );
        check("<munder><mi>lim</mi><mi>x</mi></munder>", "\\lim_{x}");
        check("<mover><mi>x</mi><mo>→</mo></mover><mover accent=true><mi>y</mi><mo>^</mo></mover>", "\\vec{x}\\hat{y}");
        check("<munder><mi>z</mi><mo>_</mo></munder>", "\\underline{z}");
        check("<mover><mo>=</mo><mtext>def</mtext></mover>", "\\overset{\\text{def}}{=}");
    }

    #[test]
    fn tables_and_fences() {
        let rows = "<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd><mn>0</mn></mtd><mtd><mn>1</mn></mtd></mtr></mtable>";
        check(rows, "\\begin{matrix} a & b \\\\ 0 & 1 \\end{matrix}");
        check(&format!("<mo>(</mo>{rows}<mo>)</mo><mi>x</mi>"), "\\begin{pmatrix} a & b \\\\ 0 & 1 \\end{pmatrix}x");
        check(&format!("<mi>f</mi><mo>=</mo><mo>{{</mo>{rows}"), "f=\\begin{cases} a & b \\\\ 0 & 1 \\end{cases}");
        check("<mfenced open=[ separators=';'><mi>a</mi><mi>b</mi></mfenced>", "[a;b)");
        check("<menclose notation=box><mi>a</mi></menclose>", "\\boxed{a}");
    }

    #[test]
    fn depth_ends() {
        let deep = "<msup><mi>x</mi>".repeat(300);
        let page = Page::parse(&format!("<math>{deep}"), &Url::parse("https://a.test/").unwrap());
        assert!(tex(&page, page.first(&local_name!("math")).unwrap()).len() < 10_000);
    }
}
