//! Whether an element is seen, by its style and by what it inherits.

use page::{Element, Index, Page};

use super::style::{Property, Style, Value};
use super::value;

/// Why an element is hidden with everything in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// Left out, transparent or folded up, as what a control opens.
    Closed,
    /// Cut to nothing, or away from the page.
    Cut,
}

/// What is known of the styles of a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// Whether it has style sheets that are not read.
    pub(super) is_linked: bool,
    /// Whether a browser has already found what is not displayed.
    pub(super) is_rendered: bool,
}

/// Returns why an element is hidden with everything in it.
pub(super) fn cause(element: &Element, style: Option<&Style>, known: Known) -> Option<Cause> {
    if !known.is_rendered && is_left_out(element, style) {
        return Some(Cause::Closed);
    }
    let style = style?;
    if style.is_on(Property::Opacity) || style.is_on(Property::Filter) || style.is_on(Property::Content) {
        return Some(Cause::Closed);
    }
    let is_away = [Property::Left, Property::Right, Property::Top, Property::Bottom].iter().any(|&p| style.is_on(p));
    let is_positioned = style.is_on(Property::Position);
    let is_moved = is_away && (is_positioned || style.get(Property::Position) == Some(Value::Unknown));
    if is_moved || is_positioned && style.is_on(Property::Clip) {
        return Some(Cause::Cut);
    }
    if [Property::Margin, Property::ClipPath, Property::Transform, Property::Scale].iter().any(|&p| style.is_on(p)) {
        return Some(Cause::Cut);
    }
    let sides = [Property::Width, Property::Height, Property::MaxWidth, Property::MaxHeight];
    let is_folded = style.is_on(Property::Overflow) && sides.iter().any(|&side| style.is_on(side));
    (is_folded && !style.is_on(Property::Room)).then_some(Cause::Closed)
}

fn is_left_out(element: &Element, style: Option<&Style>) -> bool {
    match style.and_then(|style| style.get(Property::Display)) {
        Some(Value::On) => true,
        // An author's display wins over the attribute.
        Some(Value::Off) => false,
        _ => {
            let is_closed_dialog = &*element.name.local == "dialog" && element.attr("open").is_none();
            element.attr("hidden").is_some() || is_closed_dialog || &*element.name.local == "datalist"
        }
    }
}

/// Whether an animation or a transition may show the element.
pub(super) fn moves(style: &Style) -> bool {
    style.is_on(Property::Motion) || style.is_on(Property::Opacity) && style.get(Property::Transform).is_some()
}

/// Colour that is known, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Paint {
    Known([u8; 3]),
    /// No colour at all.
    Clear,
    Unknown,
}

/// What a text inherits from the elements around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sight {
    is_visible: bool,
    has_size: bool,
    is_indented: bool,
    ink: Paint,
    ground: Paint,
}

impl Sight {
    /// Returns what the text of a page inherits. With unknown style sheets, no colour is known.
    pub(super) fn of_page(known: Known) -> Self {
        let known = |color| if known.is_linked { Paint::Unknown } else { Paint::Known(color) };
        let (ink, ground) = (known([0; 3]), known([255; 3]));
        Self { is_visible: true, has_size: true, is_indented: false, ink, ground }
    }

    /// Whether text at this place is not seen.
    pub(super) fn hides_text(self) -> bool {
        self.hides_text_beside(false)
    }

    /// Whether text at this place is not seen, even if a script makes it visible.
    pub(super) fn hides_text_beside(self, is_shown_by_script: bool) -> bool {
        let is_alike = match (self.ink, self.ground) {
            (Paint::Clear, _) => true,
            (Paint::Known(ink), Paint::Known(ground)) => value::is_alike(ink, ground),
            _ => false,
        };
        self.hides_pictures() && !is_shown_by_script || !self.has_size || self.is_indented || is_alike
    }

    /// Whether pictures at this place are not seen.
    pub(super) fn hides_pictures(self) -> bool {
        !self.is_visible
    }

    /// Returns what text in an element inherits.
    pub(super) fn within(self, page: &Page, index: Index, style: Option<&Style>, known: Known) -> Self {
        let Some(element) = page.element(index) else { return self };
        // An unknown sheet may style what has a name.
        let may_differ = known.is_linked && (element.attr("class").is_some() || element.attr("id").is_some());
        let get = |property: Property| style.and_then(|style| style.get(property));
        let flag = |property: Property, inherited: bool| match get(property) {
            Some(Value::On) => true,
            Some(Value::Off) => false,
            _ => inherited && !may_differ,
        };
        Self {
            is_visible: known.is_rendered || !flag(Property::Visibility, !self.is_visible),
            has_size: !flag(Property::FontSize, !self.has_size),
            is_indented: flag(Property::Indent, self.is_indented),
            ink: self.ink_within(element, style, may_differ),
            ground: self.ground_within(element, style, may_differ),
        }
    }

    fn ink_within(self, element: &Element, style: Option<&Style>, may_differ: bool) -> Paint {
        let get = |property: Property| style.and_then(|style| style.get(property));
        // The background is seen in the shape of the text.
        if get(Property::GroundInText) == Some(Value::On) {
            return Paint::Unknown;
        }
        let attribute = |name: &str| element.attr(name).and_then(|color| value::color_of_attribute(&color));
        match get(Property::Ink) {
            Some(Value::Color(color)) => Paint::Known(color),
            Some(Value::On) => Paint::Clear,
            Some(_) => Paint::Unknown,
            None => match &*element.name.local {
                "font" => attribute("color").map_or(self.ink, Paint::Known),
                "body" => attribute("text").map_or(self.ink, Paint::Known),
                // Links and controls have a colour of their own.
                "a" | "button" | "input" | "select" | "textarea" | "mark" => Paint::Unknown,
                _ if may_differ => Paint::Unknown,
                _ => self.ink,
            },
        }
    }

    fn ground_within(self, element: &Element, style: Option<&Style>, may_differ: bool) -> Paint {
        let get = |property: Property| style.and_then(|style| style.get(property));
        let attribute = || element.attr("bgcolor").and_then(|color| value::color_of_attribute(&color));
        match get(Property::Ground) {
            Some(Value::Color(color)) => Paint::Known(color),
            Some(Value::Unknown | Value::On) => Paint::Unknown,
            Some(Value::Off) | None => match attribute() {
                Some(color) => Paint::Known(color),
                None if element.attr("background").is_some() => Paint::Unknown,
                // What is taken out of the flow may lie on anything.
                None if matches!(get(Property::Position), Some(Value::On | Value::Unknown)) => Paint::Unknown,
                None if may_differ || matches!(&*element.name.local, "button" | "mark" | "input") => Paint::Unknown,
                None => self.ground,
            },
        }
    }
}
