//! Style sheets of a page, as far as they decide what is seen.

use std::collections::{HashMap, HashSet};

use cssparser::{
    AtRuleParser, CowRcStr, DeclarationParser, ParseError, Parser, ParserState, QualifiedRuleParser,
    RuleBodyItemParser, RuleBodyParser, StyleSheetParser,
};
use page::{Element, Index, Page, local_name};

use super::selector::{Key, Selector, Steps};
use super::style::{Declared, Property, Style, Value};
use super::value;

/// Limit on all style sheets together, in bytes.
const MAX_BYTES: usize = 2 << 20;
/// Limit on the rules that are read.
const MAX_RULES: usize = 40_000;
/// Limit on the rules that are kept, each selector counted.
const MAX_KEPT: usize = 20_000;
/// Limit on nested groups such as `@media`.
const MAX_DEPTH: usize = 4;
/// Limit on the selectors of one rule, in bytes.
const MAX_SELECTORS: usize = 8_000;
/// Comparisons of elements with selectors: about a tenth of a second.
const MAX_STEPS: u32 = 4_000_000;

/// The rules that matter here, in the order of their sheets.
pub(super) struct Sheets {
    rules: Vec<Rule>,
    /// Rules by what their elements have in common, each list in order.
    by_key: HashMap<Key, Vec<usize>>,
    /// Ids and classes of elements that some rule shows in a state of the page.
    shown: HashSet<String>,
    steps: Steps,
}

struct Rule {
    selector: Selector,
    declared: Declared,
    /// Whether it may hide an element.
    may_hide: bool,
    /// Whether it sets colours.
    colors: bool,
}

impl Rule {
    fn new(selector: Selector, declared: Declared) -> Self {
        let Declared { normal, important } = declared;
        let may_hide = normal.may_hide() || important.may_hide();
        Self { selector, declared, may_hide, colors: normal.colors() || important.colors() }
    }
}

impl Sheets {
    /// Reads the `<style>` elements of a page.
    pub(super) fn of(page: &Page) -> Self {
        let mut reader = Reader { rules: Vec::new(), left: MAX_RULES, depth: 0, is_conditional: false };
        let mut bytes = MAX_BYTES;
        for index in page.positions().filter(|&index| page.is(index, &local_name!("style"))) {
            let media = page.attr(index, "media").unwrap_or_default().to_ascii_lowercase();
            let Some(is_conditional) = condition(&media) else { continue };
            reader.is_conditional = is_conditional;
            let text = page.text_of(index);
            let text = &text[..text.floor_char_boundary(bytes)];
            bytes -= text.len();
            let mut input = Parser::new(text);
            let mut parser = StyleSheetParser::new(&mut input, &mut reader);
            while parser.parser.left > 0 && parser.next().is_some() {}
        }
        Self::sorted(reader.rules)
    }

    fn sorted(rules: Vec<Rule>) -> Self {
        let mut sheets =
            Self { rules: Vec::new(), by_key: HashMap::new(), shown: HashSet::new(), steps: Steps(MAX_STEPS) };
        for rule in rules {
            let may_be_a_state = rule.selector.is_loose || rule.selector.is_of_several();
            if may_be_a_state && (rule.declared.normal.shows() || rule.declared.important.shows()) {
                sheets.shown.extend(rule.selector.names().map(str::to_owned));
            }
            if !rule.selector.is_loose {
                sheets.by_key.entry(rule.selector.key()).or_default().push(sheets.rules.len());
                sheets.rules.push(rule);
            }
        }
        sheets
    }

    /// Whether some rule shows an element with this id or class in a state of the page.
    pub(super) fn may_show(&self, element: &Element) -> bool {
        let is_shown = |name: &str| self.shown.contains(name);
        !self.shown.is_empty()
            && (element.attr("id").is_some_and(|id| is_shown(&id))
                || element.attr("class").is_some_and(|class| class.split_ascii_whitespace().any(is_shown)))
    }

    /// Returns the style that the sheets and its own attribute give an element. Where nothing may hide the element,
    /// only its colours are looked up, unless `is_whole` is set.
    pub(super) fn style(&mut self, page: &Page, index: Index, is_whole: bool) -> Option<Style> {
        let element = page.element(index)?;
        let attribute = element.attr("style").map(|style| Declared::of_attribute(&style));
        if self.rules.is_empty() || self.steps.0 == 0 {
            return attribute.map(|own| whole(std::iter::once(&own)));
        }
        let (mut found, others): (Vec<usize>, Vec<usize>) = self
            .candidates(element)
            .into_iter()
            .partition(|&rule| self.rules[rule].may_hide || self.rules[rule].colors);
        found.retain(|&rule| self.rules[rule].selector.matches(page, index, &mut self.steps));
        if is_whole || attribute.is_some() || found.iter().any(|&rule| self.rules[rule].may_hide) {
            let matches = |rule: &usize| self.rules[*rule].selector.matches(page, index, &mut self.steps);
            found.extend(others.into_iter().filter(matches));
        }
        found.sort_by_key(|&rule| (self.rules[rule].selector.specificity(), rule));
        if found.is_empty() && attribute.is_none() {
            return None;
        }
        Some(whole(found.iter().map(|&rule| &self.rules[rule].declared).chain(&attribute)))
    }

    fn candidates(&self, element: &Element) -> Vec<usize> {
        let mut found = Vec::new();
        let mut add = |key: Key| found.extend(self.by_key.get(&key).into_iter().flatten());
        add(Key::Any);
        add(Key::Tag(element.name.local.to_string()));
        if let Some(id) = element.attr("id") {
            add(Key::Id(id.to_string()));
        }
        if let Some(class) = element.attr("class") {
            let mut names: Vec<&str> = class.split_ascii_whitespace().take(MAX_CLASSES).collect();
            names.sort_unstable();
            names.dedup();
            names.into_iter().for_each(|name| add(Key::Class(name.to_owned())));
        }
        found
    }
}

/// Limit on the classes of an element that are looked up.
const MAX_CLASSES: usize = 50;

/// Applies declarations in the order of the cascade: important ones win over all others.
fn whole<'d>(declared: impl Iterator<Item = &'d Declared> + Clone) -> Style {
    let mut style = Style::default();
    declared.clone().for_each(|declared| style.add(&declared.normal));
    declared.for_each(|declared| style.add(&declared.important));
    style
}

/// Whether a media query depends on the window or the device; `None` if it never holds on a screen.
fn condition(query: &str) -> Option<bool> {
    match query.trim() {
        "" | "all" | "screen" | "only screen" | "all, screen" | "screen, print" | "screen,print" => Some(false),
        "print" | "speech" | "not all" | "only print" => None,
        _ => Some(true),
    }
}

/// Reader of style sheets, with what is left of its budget.
struct Reader {
    rules: Vec<Rule>,
    left: usize,
    depth: usize,
    is_conditional: bool,
}

impl<'i> QualifiedRuleParser<'i> for Reader {
    type Prelude = Vec<Selector>;
    type QualifiedRule = ();
    type Error = ();

    fn parse_prelude(&mut self, input: &mut Parser<'i>) -> Result<Vec<Selector>, ParseError<()>> {
        self.left = self.left.saturating_sub(1);
        let selectors = rest(input);
        if selectors.len() > MAX_SELECTORS {
            return Ok(Vec::new());
        }
        Ok(value::split(&value::without_comments(selectors), ',').filter_map(Selector::read).collect())
    }

    fn parse_block(
        &mut self,
        selectors: Vec<Selector>,
        _: &ParserState,
        input: &mut Parser<'i>,
    ) -> Result<(), ParseError<()>> {
        if selectors.is_empty() || self.left == 0 {
            rest(input);
            return Ok(());
        }
        let mut declarations = Declarations(Declared::default());
        for _ in RuleBodyParser::new(input, &mut declarations) {}
        let mut declared = declarations.0;
        if self.is_conditional {
            declared.normal.make_conditional();
            declared.important.make_conditional();
        }
        for selector in selectors {
            let declared = if selector.is_of_pseudo { of_pseudo(&declared) } else { declared };
            if !declared.is_empty() && self.rules.len() < MAX_KEPT {
                self.rules.push(Rule::new(selector, declared));
            }
        }
        Ok(())
    }
}

/// Returns what a pseudo-element means for its element: a background may lie behind the text.
fn of_pseudo(declared: &Declared) -> Declared {
    let mut of_element = Declared::default();
    if declared.normal.get(Property::Ground).or(declared.important.get(Property::Ground)).is_some() {
        of_element.important.set(Property::Ground, Value::Unknown);
    }
    of_element
}

impl<'i> AtRuleParser<'i> for Reader {
    /// Whether the group has a condition.
    type Prelude = bool;
    type AtRule = ();
    type Error = ();

    fn parse_prelude(&mut self, name: CowRcStr<'i>, input: &mut Parser<'i>) -> Result<bool, ParseError<()>> {
        self.left = self.left.saturating_sub(1);
        let query = rest(input).to_ascii_lowercase();
        let found = match name.to_ascii_lowercase().as_str() {
            "media" => condition(&query),
            "supports" | "layer" => Some(false),
            "container" => Some(true),
            _ => None,
        };
        found.ok_or_else(ParseError::unexpected_token)
    }

    fn parse_block(
        &mut self,
        is_conditional: bool,
        _: &ParserState,
        input: &mut Parser<'i>,
    ) -> Result<(), ParseError<()>> {
        if self.depth < MAX_DEPTH {
            let before = self.is_conditional;
            self.depth += 1;
            self.is_conditional |= is_conditional;
            let mut parser = StyleSheetParser::new(input, self);
            while parser.parser.left > 0 && parser.next().is_some() {}
            self.depth -= 1;
            self.is_conditional = before;
        }
        rest(input);
        Ok(())
    }
}

/// Consumes and returns the remaining input.
fn rest<'i>(input: &mut Parser<'i>) -> &'i str {
    let start = input.position();
    while input.next().is_ok() {}
    input.slice_from(start).trim()
}

/// Reader of the declarations of one rule.
struct Declarations(Declared);

impl<'i> DeclarationParser<'i> for Declarations {
    type Declaration = ();
    type Error = ();

    fn parse_value(
        &mut self,
        name: CowRcStr<'i>,
        input: &mut Parser<'i>,
        _: &ParserState,
    ) -> Result<(), ParseError<()>> {
        self.0.declare(&name, rest(input));
        Ok(())
    }
}

impl<'i> AtRuleParser<'i> for Declarations {
    type Prelude = ();
    type AtRule = ();
    type Error = ();
}

impl QualifiedRuleParser<'_> for Declarations {
    type Prelude = ();
    type QualifiedRule = ();
    type Error = ();
}

impl RuleBodyItemParser<'_, (), ()> for Declarations {
    fn parse_declarations(&self) -> bool {
        true
    }

    fn parse_qualified(&self) -> bool {
        true
    }
}
