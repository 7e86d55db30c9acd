//! Declarations that decide whether readers see an element.

use super::value::{self, Length};

/// A property, or the sides of one that count alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Property {
    Display,
    Visibility,
    Opacity,
    Filter,
    FontSize,
    Ink,
    Ground,
    /// The background is painted in the shape of the text.
    GroundInText,
    Position,
    Left,
    Right,
    Top,
    Bottom,
    Margin,
    Indent,
    Clip,
    ClipPath,
    Width,
    Height,
    MaxWidth,
    MaxHeight,
    /// Padding and minimum sizes, and growth in a flexible box.
    Room,
    Overflow,
    Transform,
    Scale,
    /// Transitions and animations.
    Motion,
    Content,
}

/// Number of properties.
const COUNT: usize = Property::Content as usize + 1;

/// Value of a property, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// A value that hides, alone or with others: `display: none`, `left: -9999px`, `overflow: hidden`.
    On,
    /// Any other value.
    Off,
    /// A value that depends on something unknown.
    Unknown,
    /// An opaque colour.
    Color([u8; 3]),
}

/// Declared values by property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Style([Option<Value>; COUNT]);

impl Default for Style {
    fn default() -> Self {
        Self([None; COUNT])
    }
}

impl Style {
    pub(super) fn get(&self, property: Property) -> Option<Value> {
        self.0[property as usize]
    }

    pub(super) fn is_on(&self, property: Property) -> bool {
        self.get(property) == Some(Value::On)
    }

    pub(super) fn set(&mut self, property: Property, value: Value) {
        self.0[property as usize] = Some(value);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// Whether a value shows what another one may hide.
    pub(super) fn shows(&self) -> bool {
        const SHOWN: [Property; 6] = [
            Property::Display,
            Property::Visibility,
            Property::Opacity,
            Property::Height,
            Property::MaxHeight,
            Property::Transform,
        ];
        SHOWN.iter().any(|&property| matches!(self.get(property), Some(Value::Off | Value::Unknown)))
    }

    /// Whether any value may hide the element. Position, size, overflow and motion do not hide it alone.
    pub(super) fn may_hide(&self) -> bool {
        const BESIDES: [Property; 4] = [Property::Position, Property::Room, Property::Overflow, Property::Motion];
        let besides = |at: usize| BESIDES.iter().any(|&property| property as usize == at);
        self.0.iter().enumerate().any(|(at, value)| *value == Some(Value::On) && !besides(at))
    }

    /// Whether a value decides the colours of a text and its background.
    pub(super) fn colors(&self) -> bool {
        const COLORS: [Property; 4] = [Property::Ink, Property::Ground, Property::GroundInText, Property::Position];
        COLORS.iter().any(|&property| self.get(property).is_some())
    }

    /// Adds later declarations, which override.
    pub(super) fn add(&mut self, later: &Style) {
        for (value, later) in self.0.iter_mut().zip(later.0) {
            *value = later.or(*value);
        }
    }

    /// Makes the declarations those of a rule that holds under some conditions: it may show, but it hides nothing.
    pub(super) fn make_conditional(&mut self) {
        for value in &mut self.0 {
            *value = match *value {
                Some(Value::On) | None => None,
                Some(_) => Some(Value::Unknown),
            };
        }
    }
}

/// Declarations of a rule, or of a `style` attribute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) normal: Style,
    pub(super) important: Style,
}

impl Declared {
    /// Adds a declaration as it is written; one that does not matter here changes nothing.
    pub(super) fn declare(&mut self, name: &str, value: &str) {
        let value = value::without_comments(value);
        let value = value.trim();
        let (value, is_important) = match value.split_once('!') {
            Some((value, word)) if word.trim().eq_ignore_ascii_case("important") => (value.trim_end(), true),
            _ => (value, false),
        };
        let style = if is_important { &mut self.important } else { &mut self.normal };
        read(style, &name.trim().to_ascii_lowercase(), &value.to_ascii_lowercase());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.normal.is_empty() && self.important.is_empty()
    }

    /// Reads the value of a `style` attribute.
    pub(super) fn of_attribute(text: &str) -> Self {
        let mut declared = Self::default();
        for declaration in value::split(&value::without_comments(text), ';') {
            if let Some((name, value)) = declaration.split_once(':') {
                declared.declare(name, value);
            }
        }
        declared
    }
}

/// Reads one declaration in lower case.
fn read(style: &mut Style, name: &str, text: &str) {
    let Some(property) = property(name) else { return };
    let value = match text {
        "" => return,
        "inherit" | "unset" | "revert" | "revert-layer" => Value::Unknown,
        "initial" => Value::Off,
        _ if text.contains("var(") || text.contains("calc(") || text.contains("env(") => Value::Unknown,
        _ => match name {
            "font" => match value::size_of_font(text) {
                Some(size) => size,
                None => return,
            },
            "inset" => return inset(style, text),
            _ => of_property(property, text),
        },
    };
    style.set(property, value);
}

fn property(name: &str) -> Option<Property> {
    Some(match name {
        "display" => Property::Display,
        "visibility" => Property::Visibility,
        "opacity" => Property::Opacity,
        "filter" => Property::Filter,
        "font-size" | "font" => Property::FontSize,
        "color" | "-webkit-text-fill-color" => Property::Ink,
        "background" | "background-color" | "background-image" => Property::Ground,
        "background-clip" | "-webkit-background-clip" => Property::GroundInText,
        "position" => Property::Position,
        "left" | "inset" | "inset-inline-start" => Property::Left,
        "right" | "inset-inline-end" => Property::Right,
        "top" => Property::Top,
        "bottom" => Property::Bottom,
        "margin" | "margin-left" | "margin-right" | "margin-top" | "margin-inline-start" => Property::Margin,
        "text-indent" => Property::Indent,
        "clip" => Property::Clip,
        "clip-path" | "-webkit-clip-path" => Property::ClipPath,
        "width" | "inline-size" => Property::Width,
        "height" | "block-size" => Property::Height,
        "max-width" => Property::MaxWidth,
        "max-height" => Property::MaxHeight,
        "padding" | "padding-top" | "padding-bottom" | "min-width" | "min-height" | "flex" | "flex-grow"
        | "aspect-ratio" => Property::Room,
        "overflow" | "overflow-x" | "overflow-y" => Property::Overflow,
        "transform" | "-webkit-transform" | "translate" => Property::Transform,
        "scale" | "zoom" => Property::Scale,
        "transition" | "animation" | "transition-property" | "animation-name" | "will-change" => Property::Motion,
        "content-visibility" => Property::Content,
        _ => return None,
    })
}

fn of_property(property: Property, text: &str) -> Value {
    let on = |is_on: bool| if is_on { Value::On } else { Value::Off };
    match property {
        Property::Display => on(text == "none"),
        Property::Visibility => on(matches!(text, "hidden" | "collapse")),
        Property::Opacity => on(value::is_nothing(text, 0.05)),
        Property::Scale => on(text.split_whitespace().any(|part| value::is_nothing(part, 0.01))),
        Property::Filter => on(value::fades(text)),
        Property::FontSize => value::font_size(text),
        Property::Ink => value::ink(text),
        Property::Ground => value::ground(text),
        Property::GroundInText => on(text.contains("text")),
        Property::Position => match text {
            "absolute" | "fixed" => Value::On,
            "static" => Value::Off,
            _ => Value::Unknown,
        },
        Property::Left | Property::Right => on(Length::read(text).is_some_and(Length::is_far_aside)),
        Property::Top | Property::Bottom => on(Length::read(text).is_some_and(Length::is_far)),
        Property::Margin => on(text.split_whitespace().filter_map(Length::read).any(Length::is_far)),
        Property::Indent => {
            on(text.split_whitespace().filter_map(Length::read).any(|length| length.is_far() || length.is_all()))
        }
        Property::Clip => on(value::clips_all(text)),
        Property::ClipPath => on(value::clips_path(text)),
        Property::Width | Property::Height | Property::MaxWidth | Property::MaxHeight => {
            on(Length::read(text).is_some_and(Length::is_tiny))
        }
        Property::Room => on(!text.split_whitespace().all(|part| value::is_nothing(part, 0.01) || part == "none")),
        Property::Overflow => on(text.split_whitespace().any(|part| matches!(part, "hidden" | "clip"))),
        Property::Transform => on(value::transforms_away(text)),
        Property::Motion => on(!text.starts_with("none") && !text.starts_with("auto")),
        Property::Content => on(text == "hidden"),
    }
}

/// Reads the four sides of an offset.
fn inset(style: &mut Style, text: &str) {
    let is_far = |side: &str| Length::read(side).is_some_and(Length::is_far);
    let value = if text.split_whitespace().any(is_far) { Value::On } else { Value::Off };
    [Property::Left, Property::Right, Property::Top, Property::Bottom].iter().for_each(|&side| style.set(side, value));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_hide() {
        let check = |declarations: &str, property, value: Option<Value>| {
            assert_eq!(Declared::of_attribute(declarations).normal.get(property), value, "{declarations}");
        };
        for (declarations, property) in [
            ("DISPLAY : None", Property::Display),
            ("visibility:collapse", Property::Visibility),
            ("opacity:.0", Property::Opacity),
            ("opacity:1%", Property::Opacity),
            ("font-size:0px", Property::FontSize),
            ("font-size: 1px", Property::FontSize),
            ("font:0/0 a", Property::FontSize),
            ("left:-9999px", Property::Left),
            ("left:-100vw", Property::Left),
            ("inset:auto auto auto -99em", Property::Left),
            ("text-indent:-999em", Property::Indent),
            ("text-indent:100%", Property::Indent),
            ("clip:rect(0,0,0,0)", Property::Clip),
            ("clip: rect(1px 1px 1px 1px)", Property::Clip),
            ("clip-path:inset(50%)", Property::ClipPath),
            ("clip-path:circle(0)", Property::ClipPath),
            ("max-height:0", Property::MaxHeight),
            ("overflow-x:hidden", Property::Overflow),
            ("transform:rotate(3deg) scale(0)", Property::Transform),
            ("transform:translateX(-9999px)", Property::Transform),
            ("filter:alpha(opacity=0)", Property::Filter),
            ("color:rgba(0,0,0,0)", Property::Ink),
            ("color:transparent", Property::Ink),
        ] {
            check(declarations, property, Some(Value::On));
        }
        for (declarations, property) in [
            ("display:block", Property::Display),
            ("opacity:.5", Property::Opacity),
            ("font-size:12px", Property::FontSize),
            ("left:-20px", Property::Left),
            ("top:2500px", Property::Top),
            ("clip:auto", Property::Clip),
            ("clip:rect(0,200px,100px,0)", Property::Clip),
            ("clip-path:inset(10%)", Property::ClipPath),
            ("transform:scale(0.5) translateX(-50%)", Property::Transform),
            ("height:auto", Property::Height),
        ] {
            check(declarations, property, Some(Value::Off));
        }
        check("color:#FFF", Property::Ink, Some(Value::Color([255; 3])));
        check("background: url(a;b.png) #fff", Property::Ground, Some(Value::Unknown));
        check("background:white", Property::Ground, Some(Value::Color([255; 3])));
        check("background:none", Property::Ground, Some(Value::Off));
        check("font-size:1.2em", Property::FontSize, Some(Value::Unknown));
        check("display:var(--x)", Property::Display, Some(Value::Unknown));
        check("colour:red", Property::Ink, None);
        let declared = Declared::of_attribute("display:none!important;display:block");
        assert!(declared.important.is_on(Property::Display) && !declared.normal.is_on(Property::Display));
    }
}
