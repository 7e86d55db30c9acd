//! Styles: what hides text or moves it off the line.

use std::collections::HashMap;

use super::super::marks::Script;
use super::super::tree::Element;

/// Maximum number of styles that one is based on.
const MAX_CHAIN: usize = 20;

/// Properties of text, as far as they are set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub is_hidden: Option<bool>,
    pub script: Option<Script>,
}

/// Styles by their id, and the properties of all text.
#[derive(Debug, Default)]
pub(super) struct Styles {
    styles: HashMap<String, (Look, Option<String>)>,
    default: Look,
}

impl Styles {
    pub(super) fn read(root: &Element<'_>) -> Self {
        let mut styles = HashMap::new();
        for style in root.elements().filter(|element| element.local() == "style") {
            let Some(id) = style.attribute("styleId") else { continue };
            let based_on = style.child("basedOn").and_then(|based| based.attribute("val"));
            let look = style.child("rPr").map(look).unwrap_or_default();
            styles.insert(id.into_owned(), (look, based_on.map(std::borrow::Cow::into_owned)));
        }
        let default = root.at(&["docDefaults", "rPrDefault", "rPr"]).map(look).unwrap_or_default();
        Self { styles, default }
    }

    /// Whether any style hides text or moves it off the line.
    pub(super) fn matters(&self) -> bool {
        self.styles.values().any(|(look, _)| *look != Look::default()) || self.default != Look::default()
    }

    /// Returns the look of a style with those that it is based on. Hiding is a toggle (ECMA-376 part 1, 17.7.3): set
    /// twice, it is off.
    fn of(&self, id: Option<&str>) -> Look {
        let (mut sum, mut next, mut hides) = (Look::default(), id, false);
        for _ in 0..MAX_CHAIN {
            let Some((look, based_on)) = next.and_then(|id| self.styles.get(id)) else { break };
            hides ^= look.is_hidden == Some(true);
            sum.script = sum.script.or(look.script);
            next = based_on.as_deref();
        }
        sum.is_hidden = Some(hides);
        sum
    }

    /// Returns the look of a run by the styles of its paragraph and its own, and its direct properties.
    pub(super) fn run(&self, paragraph: Option<&str>, own: Option<&Element<'_>>) -> Look {
        let style = own.and_then(|own| own.child("rStyle")).and_then(|style| style.attribute("val"));
        let (paragraph, character) = (self.of(paragraph), self.of(style.as_deref()));
        let direct = own.map(look).unwrap_or_default();
        let by_styles = [paragraph, character, self.default].iter().filter(|look| look.is_hidden == Some(true)).count();
        Look {
            is_hidden: Some(direct.is_hidden.unwrap_or(by_styles % 2 == 1)),
            script: direct.script.or(character.script).or(paragraph.script).or(self.default.script),
        }
    }
}

/// Reads run properties.
fn look(properties: &Element<'_>) -> Look {
    let script = properties.child("vertAlign").and_then(|align| {
        Some(match align.attribute("val")?.as_ref() {
            "superscript" => Script::Raised,
            "subscript" => Script::Lowered,
            _ => Script::Normal,
        })
    });
    Look { is_hidden: on(properties, "vanish"), script: script.or_else(|| moved(properties)) }
}

/// Returns the position of text that is moved by at least three points (`position`, in half points) and small.
fn moved(properties: &Element<'_>) -> Option<Script> {
    let number = |name: &str| properties.child(name)?.attribute("val")?.parse::<i32>().ok();
    let position = number("position")?;
    let is_small = number("sz").is_some_and(|size| size < 20);
    match position {
        6.. if is_small => Some(Script::Raised),
        ..=-3 if is_small => Some(Script::Lowered),
        _ => None,
    }
}

/// Returns a switch; one without a value is on.
pub(super) fn on(properties: &Element<'_>, name: &str) -> Option<bool> {
    let switch = properties.child(name)?;
    Some(!matches!(switch.attribute("val").as_deref(), Some("0" | "false" | "off" | "none")))
}

#[cfg(test)]
mod tests {
    use super::super::super::tree::parse;
    use super::*;

    #[test]
    fn styles_hide_and_raise() {
        let styles = parse(
            "<w:styles><w:style w:styleId='H'><w:rPr><w:vanish/></w:rPr></w:style>\
             <w:style w:styleId='I'><w:basedOn w:val='H'/></w:style>\
             <w:style w:styleId='R'><w:basedOn w:val='R'/><w:rPr><w:vertAlign w:val='superscript'/></w:rPr></w:style></w:styles>",
        )
        .unwrap();
        let styles = Styles::read(&styles);
        let run = |paragraph: Option<&str>, properties: &str| {
            let look = styles.run(paragraph, Some(&parse(properties).unwrap()));
            (look.is_hidden.unwrap(), look.script.unwrap_or_default())
        };
        assert_eq!(run(None, "<w:rPr/>"), (false, Script::Normal));
        assert_eq!(run(Some("I"), "<w:rPr/>"), (true, Script::Normal));
        assert_eq!(run(Some("I"), "<w:rPr><w:rStyle w:val='H'/></w:rPr>"), (false, Script::Normal));
        assert_eq!(run(Some("I"), "<w:rPr><w:vanish w:val='0'/></w:rPr>"), (false, Script::Normal));
        assert_eq!(run(None, "<w:rPr><w:rStyle w:val='R'/></w:rPr>"), (false, Script::Raised));
        assert_eq!(run(None, "<w:rPr><w:position w:val='8'/><w:sz w:val='14'/></w:rPr>"), (false, Script::Raised));
        assert_eq!(run(None, "<w:rPr><w:position w:val='8'/></w:rPr>"), (false, Script::Normal));
    }
}
