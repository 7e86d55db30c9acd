//! Parser from the text of style sheets to the declarations for the typical parts of a page.

use cssparser::{
    AtRuleParser, CowRcStr, DeclarationParser, ParseError, Parser, ParserState, QualifiedRuleParser,
    RuleBodyItemParser, RuleBodyParser, StyleSheetParser,
};

use super::selectors::{StyledPart, Theme, parts};
use super::{Styles, families};

/// Limit on all style sheets together, in bytes.
pub(crate) const MAX_BYTES: usize = 1 << 20;
/// Limit on rules.
const MAX_RULES: usize = 20_000;
/// Limit on stored properties, variables and fonts.
const MAX_KEPT: usize = 4_000;
/// Limit on nested rules such as `@media`.
const MAX_DEPTH: usize = 4;
/// Length limit of a value, in bytes; longer declarations are ignored.
const MAX_VALUE: usize = 512;
/// Limit on stored web fonts.
const MAX_FACES: usize = 60;
/// Length limit of a property name, in bytes.
const MAX_NAME: usize = 100;
/// Length limit of a list of selectors, in bytes.
const MAX_SELECTORS: usize = 2_000;

/// The properties that are stored.
const PROPERTIES: [&str; 21] = [
    "background",
    "background-color",
    "border",
    "border-color",
    "border-radius",
    "box-shadow",
    "color",
    "color-scheme",
    "font",
    "font-family",
    "font-size",
    "font-weight",
    "line-height",
    "margin",
    "max-width",
    "outline-color",
    "padding",
    "text-transform",
    "transition",
    "transition-duration",
    "transition-timing-function",
];

/// Reads style sheets in cascade order, as far as the budget goes, and then the values of `style` attributes, each with
/// its part of the page.
pub(crate) fn read_sheets<'a>(
    sheets: impl Iterator<Item = &'a str>,
    attributes: &[(StyledPart, String)],
    theme: &Theme,
) -> Styles {
    let mut rules = Rules { styles: Styles::default(), left: MAX_RULES, depth: 0, theme };
    let mut bytes = MAX_BYTES;
    for sheet in sheets {
        let text = &sheet[..sheet.floor_char_boundary(bytes)];
        bytes -= text.len();
        let mut input = Parser::new(text);
        let mut parser = StyleSheetParser::new(&mut input, &mut rules);
        while parser.parser.left > 0 && parser.next().is_some() {}
    }
    for (part, text) in attributes {
        let text = &text[..text.floor_char_boundary(bytes)];
        bytes -= text.len();
        read_declarations(&mut Parser::new(text), &[*part], &mut rules.styles);
    }
    rules.styles
}

/// The rules read so far, and the remaining budget.
struct Rules<'t> {
    styles: Styles,
    left: usize,
    depth: usize,
    theme: &'t Theme,
}

/// An at-rule that is read: a group of rules, or a font.
enum At {
    Group,
    Font,
}

impl<'i> QualifiedRuleParser<'i> for Rules<'_> {
    type Prelude = Vec<StyledPart>;
    type QualifiedRule = ();
    type Error = ();

    fn parse_prelude(&mut self, input: &mut Parser<'i>) -> Result<Vec<StyledPart>, ParseError<()>> {
        self.left = self.left.saturating_sub(1);
        let selectors = rest(input);
        Ok(if selectors.len() <= MAX_SELECTORS { parts(selectors, self.theme) } else { Vec::new() })
    }

    fn parse_block(
        &mut self,
        found: Vec<StyledPart>,
        _: &ParserState,
        input: &mut Parser<'i>,
    ) -> Result<(), ParseError<()>> {
        if found.is_empty() || self.left == 0 {
            rest(input);
        } else {
            read_declarations(input, &found, &mut self.styles);
        }
        Ok(())
    }
}

impl<'i> AtRuleParser<'i> for Rules<'_> {
    type Prelude = At;
    type AtRule = ();
    type Error = ();

    fn parse_prelude(&mut self, name: CowRcStr<'i>, input: &mut Parser<'i>) -> Result<At, ParseError<()>> {
        self.left = self.left.saturating_sub(1);
        let condition = rest(input).to_ascii_lowercase();
        match name.to_ascii_lowercase().as_str() {
            "media" if is_for_a_desktop(&condition) => Ok(At::Group),
            "supports" | "layer" => Ok(At::Group),
            "font-face" => Ok(At::Font),
            _ => Err(ParseError::unexpected_token()),
        }
    }

    fn parse_block(&mut self, kind: At, _: &ParserState, input: &mut Parser<'i>) -> Result<(), ParseError<()>> {
        match kind {
            At::Font => self.font(input),
            At::Group if self.depth < MAX_DEPTH => {
                self.depth += 1;
                let mut parser = StyleSheetParser::new(input, self);
                while parser.parser.left > 0 && parser.next().is_some() {}
                self.depth -= 1;
            }
            At::Group => {}
        }
        rest(input);
        Ok(())
    }
}

impl Rules<'_> {
    fn font(&mut self, input: &mut Parser<'_>) {
        let mut font = Styles::default();
        read_declarations(input, &[StyledPart::Root], &mut font);
        let family = font.get(StyledPart::Root, "font-family").and_then(|value| families(&value).into_iter().next());
        if let Some(family) = family
            && !self.styles.faces.contains(&family)
            && self.styles.faces.len() < MAX_FACES
        {
            self.styles.faces.push(family);
        }
    }
}

/// Whether a media query may match a desktop screen in light mode: a heuristic by the words of the query.
fn is_for_a_desktop(condition: &str) -> bool {
    !["print", "dark", "max-width", "reduce", "forced", "speech", "not ", "<"]
        .iter()
        .any(|word| condition.contains(word))
}

/// Consumes and returns the remaining input.
fn rest<'i>(input: &mut Parser<'i>) -> &'i str {
    let start = input.position();
    while input.next().is_ok() {}
    input.slice_from(start).trim()
}

fn read_declarations(input: &mut Parser<'_>, parts: &[StyledPart], styles: &mut Styles) {
    let mut kept = Declarations { parts, styles };
    for _ in RuleBodyParser::new(input, &mut kept) {}
}

/// Reader for the declarations of one rule.
struct Declarations<'s> {
    parts: &'s [StyledPart],
    styles: &'s mut Styles,
}

impl<'i> DeclarationParser<'i> for Declarations<'_> {
    type Declaration = ();
    type Error = ();

    fn parse_value(
        &mut self,
        name: CowRcStr<'i>,
        input: &mut Parser<'i>,
        _: &ParserState,
    ) -> Result<(), ParseError<()>> {
        let value = rest(input);
        let value =
            value.strip_suffix("important").and_then(|v| v.trim_end().strip_suffix('!')).unwrap_or(value).trim();
        let is_wanted = name.starts_with("--") || PROPERTIES.iter().any(|property| name.eq_ignore_ascii_case(property));
        if is_wanted && value.len() <= MAX_VALUE && !value.is_empty() && name.len() <= MAX_NAME {
            for &part in self.parts {
                let is_of_page = matches!(part, StyledPart::Root | StyledPart::Body);
                if (is_of_page || !name.starts_with("--")) && self.styles.len() < MAX_KEPT {
                    self.styles.insert(part, &name, value);
                }
            }
        }
        Ok(())
    }
}

impl<'i> AtRuleParser<'i> for Declarations<'_> {
    type Prelude = ();
    type AtRule = ();
    type Error = ();
}

impl QualifiedRuleParser<'_> for Declarations<'_> {
    type Prelude = ();
    type QualifiedRule = ();
    type Error = ();
}

impl RuleBodyItemParser<'_, (), ()> for Declarations<'_> {
    fn parse_declarations(&self) -> bool {
        true
    }

    fn parse_qualified(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(css: &str, part: StyledPart, property: &str, value: Option<&str>) {
        assert_eq!(
            read_sheets([css].into_iter(), &[], &Theme::default()).get(part, property).as_deref(),
            value,
            "{css}"
        );
    }

    #[test]
    fn what_comes_later_counts() {
        check("body { color: red } body { color: BLUE !important; }", StyledPart::Body, "color", Some("BLUE"));
        check("body{color:red;;color:}", StyledPart::Body, "color", Some("red"));
        check("a { color: red; & b { color: blue } }", StyledPart::Link, "color", Some("red"));
        check("a { b { color: blue } color: red }", StyledPart::Link, "color", Some("red"));
        check("<!-- a { COLOR : red } -->", StyledPart::Link, "color", Some("red"));
    }

    #[test]
    fn conditions() {
        check("@media (min-width: 30em) { a { color: red } }", StyledPart::Link, "color", Some("red"));
        check("@layer base { @supports (a: b) { a { color: red } } }", StyledPart::Link, "color", Some("red"));
        for other in ["print", "(prefers-color-scheme: dark)", "(max-width: 9em)", "not all", "(width < 9em)"] {
            check(
                &format!("a {{ color: red }} @media {other} {{ a {{ color: blue }} }}"),
                StyledPart::Link,
                "color",
                Some("red"),
            );
        }
        check(
            "@import 'x'; @charset 'y'; @font-face { src: z } a { color: red }",
            StyledPart::Link,
            "color",
            Some("red"),
        );
    }

    #[test]
    fn variables_and_fonts() {
        let css = "@font-face { font-family: 'Inter var' } @font-face{font-family:Inter var}
                   :root { --a: 1px ; --B: {x} } a { --a: 2px } html { font: 16px/1.5 var(--f, Arial) }";
        let styles =
            read_sheets([css].into_iter(), &[(StyledPart::Body, "color: red; --a: 3px".into())], &Theme::default());
        assert_eq!(styles.faces, ["Inter var"]);
        assert_eq!(styles.fill("var(--a) var(--B)").as_deref(), Some("3px {x}"));
        assert_eq!(styles.get(StyledPart::Root, "font").as_deref(), Some("16px/1.5 Arial"));
        assert_eq!(styles.get(StyledPart::Body, "color").as_deref(), Some("red"));
    }

    #[test]
    fn budgets() {
        let long = format!("a {{ color: {} }}", "x".repeat(MAX_VALUE + 1));
        check(&long, StyledPart::Link, "color", None);
        check(&format!("{}a {{ color: red }}", "b{}".repeat(MAX_RULES)), StyledPart::Link, "color", None);
        check(&format!("{}a {{ color: red }}", "@media x {".repeat(200_000)), StyledPart::Link, "color", None);
        check(&"{".repeat(200_000), StyledPart::Link, "color", None);
        let sheet = " ".repeat(MAX_BYTES);
        assert_eq!(
            read_sheets([&*sheet, "a{color:red}"].into_iter(), &[], &Theme::default()).get(StyledPart::Link, "color"),
            None
        );
        let many: String = (0..2 * MAX_KEPT).map(|n| format!("--v{n}: 1;")).collect();
        assert_eq!(
            read_sheets([&*format!(":root {{{many}}}")].into_iter(), &[], &Theme::default()).variables.len(),
            MAX_KEPT
        );
    }
}
