//! Values of CSS properties, in lower case.

use std::borrow::Cow;

use cssparser::color::parse_named_color;

use super::style::Value;

/// Limit on a value, in bytes; a longer one is unknown.
const MAX_VALUE: usize = 500;
/// Font sizes below this cannot be read, in pixels.
const LEAST_FONT: f32 = 3.0;
/// Distance to the left or above the page at which nothing of an element is left to see, in pixels.
const FAR: f32 = 500.0;
/// Distance to the right at which an element is beyond any window, in pixels.
const FAR_RIGHT: f32 = 5000.0;
/// Size of the letter M, in pixels, for lengths in `em`.
const EM: f32 = 16.0;
/// A hundredth of a window, in pixels.
const WINDOW: f32 = 10.0;

/// A length with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Length {
    /// Pixels, or percent.
    amount: f32,
    is_percent: bool,
    is_relative: bool,
}

impl Length {
    /// Reads a length, such as `-9999px`; `None` for words.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let amount: f32 = number.parse().ok()?;
        let (scale, is_relative) = match unit {
            "" | "px" | "%" => (1.0, false),
            "pt" => (4.0 / 3.0, false),
            "em" | "ex" | "ch" => (EM, true),
            "rem" => (EM, false),
            "vw" | "vh" | "vmin" | "vmax" | "dvw" | "dvh" | "svh" | "lvh" => (WINDOW, false),
            "in" => (96.0, false),
            "cm" => (38.0, false),
            "mm" => (3.8, false),
            // An exponent, such as `-1e4px`.
            _ if unit.starts_with('e') => (text.trim_end_matches("px").parse::<f32>().ok()? / amount, false),
            _ => return None,
        };
        Some(Self { amount: amount * scale, is_percent: unit == "%", is_relative: is_relative || unit == "%" })
    }

    /// Whether it moves an element out of the page, to the left or above it.
    pub(super) fn is_far(self) -> bool {
        self.amount <= if self.is_percent { -200.0 } else { -FAR }
    }

    /// Whether it moves an element out of the page on either side.
    pub(super) fn is_far_aside(self) -> bool {
        self.is_far() || self.amount >= FAR_RIGHT
    }

    /// Whether it is the whole width, or more.
    pub(super) fn is_all(self) -> bool {
        self.is_percent && self.amount.abs() >= 100.0
    }

    /// Whether a box of this size shows nothing.
    pub(super) fn is_tiny(self) -> bool {
        self.amount <= if self.is_percent { 0.0 } else { 1.0 }
    }
}

/// Returns a text without its `/* … */`.
pub(super) fn without_comments(text: &str) -> Cow<'_, str> {
    if !text.contains("/*") {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut left = text;
    while let Some((before, after)) = left.split_once("/*") {
        kept.push_str(before);
        kept.push(' ');
        left = after.split_once("*/").map_or("", |(_, rest)| rest);
    }
    kept.push_str(left);
    Cow::Owned(kept)
}

/// Splits a text at a character outside of brackets and quotes.
pub(super) fn split(text: &str, at: char) -> impl Iterator<Item = &str> {
    let (mut depth, mut quote) = (0_usize, None);
    text.split(move |c: char| {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && quote.is_none() && c == at
    })
}

/// Whether a number, a length or a percentage is at most `most`.
pub(super) fn is_nothing(text: &str, most: f32) -> bool {
    let Some(length) = Length::read(text) else { return false };
    length.amount <= if length.is_percent { most * 100.0 } else { most }
}

pub(super) fn font_size(text: &str) -> Value {
    match Length::read(text) {
        Some(length) if length.is_relative => {
            if length.amount.abs() < if length.is_percent { 10.0 } else { 1.6 } {
                Value::On
            } else {
                Value::Unknown
            }
        }
        Some(length) if length.amount < LEAST_FONT => Value::On,
        None if matches!(text, "larger" | "smaller") => Value::Unknown,
        _ => Value::Off,
    }
}

/// Returns the size in a value of `font`.
pub(super) fn size_of_font(text: &str) -> Option<Value> {
    let sizes = text.split_whitespace().map(|word| word.split('/').next().unwrap_or_default());
    // A bare number is a weight, unless it is 0.
    let is_size = |word: &&str| Length::read(word).is_some_and(|length| length.amount == 0.0) || !is_number(word);
    sizes.filter(|word| Length::read(word).is_some()).find(is_size).map(font_size)
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the colour of a text.
pub(super) fn ink(text: &str) -> Value {
    match color(text) {
        Some(color) if color.a < 0.05 => Value::On,
        Some(color) if color.a > 0.95 => opaque(&color),
        _ => Value::Unknown,
    }
}

/// Returns the colour of a background.
pub(super) fn ground(text: &str) -> Value {
    if text.len() > MAX_VALUE || text.contains("url(") || text.contains("gradient(") || text.contains("image") {
        return Value::Unknown;
    }
    let color = split(text, ' ').find_map(|word| color(word.trim()));
    match color {
        Some(color) if color.a > 0.95 => opaque(&color),
        Some(color) if color.a > 0.05 => Value::Unknown,
        Some(_) => Value::Off,
        None => {
            if text.contains("none") {
                Value::Off
            } else {
                Value::Unknown
            }
        }
    }
}

fn opaque(color: &csscolorparser::Color) -> Value {
    let [red, green, blue, _] = color.to_rgba8();
    Value::Color([red, green, blue])
}

fn color(text: &str) -> Option<csscolorparser::Color> {
    if text.len() > MAX_VALUE || !text.is_ascii() {
        return None;
    }
    if text.starts_with('#') || text.contains('(') {
        return csscolorparser::parse(text).ok();
    }
    if text == "transparent" {
        return Some(csscolorparser::Color::new(0.0, 0.0, 0.0, 0.0));
    }
    let (red, green, blue) = parse_named_color(text).ok()?;
    Some(csscolorparser::Color::from_rgba8(red, green, blue, u8::MAX))
}

/// Reads a colour as HTML attributes have it, which may lack its `#`.
pub(super) fn color_of_attribute(text: &str) -> Option<[u8; 3]> {
    let text = text.trim().to_ascii_lowercase();
    let is_bare = text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let found = if is_bare { color(&format!("#{text}")) } else { color(&text) }?;
    let [red, green, blue, _] = found.to_rgba8();
    Some([red, green, blue])
}

/// Largest difference of two colours that cannot be told apart, in each channel: that of #f3f3f3 on white.
const ALIKE: u8 = 12;

/// Whether two colours cannot be told apart.
pub(super) fn is_alike(one: [u8; 3], two: [u8; 3]) -> bool {
    one.iter().zip(two).all(|(one, two)| one.abs_diff(two) <= ALIKE)
}

/// Whether a filter makes an element transparent.
pub(super) fn fades(text: &str) -> bool {
    let amount = |start: &str| text.split_once(start).and_then(|(_, rest)| rest.split(')').next());
    amount("alpha(opacity=").or_else(|| amount("opacity(")).is_some_and(|amount| is_nothing(amount, 0.05))
}

/// Whether a `clip` leaves nothing.
pub(super) fn clips_all(text: &str) -> bool {
    let Some(inner) = text.strip_prefix("rect(").and_then(|rest| rest.strip_suffix(')')) else { return false };
    let sides: Vec<f32> = inner
        .split([',', ' '])
        .filter(|side| !side.is_empty())
        .filter_map(Length::read)
        .map(|side| side.amount)
        .collect();
    matches!(sides[..], [top, right, bottom, left] if right - left <= 1.0 || bottom - top <= 1.0)
}

/// Whether a `clip-path` leaves nothing.
pub(super) fn clips_path(text: &str) -> bool {
    let inner = |name: &str| text.strip_prefix(name).and_then(|rest| rest.split(')').next());
    let lengths = |inner: &str| inner.split([',', ' ']).filter_map(Length::read).collect::<Vec<_>>();
    if let Some(inner) = inner("inset(") {
        let sides = lengths(inner);
        // One value is for all sides, two are for above and beside.
        return sides.first().is_some_and(|side| side.is_percent && side.amount >= 50.0)
            || sides.get(1).is_some_and(|side| side.is_percent && side.amount >= 100.0);
    }
    if let Some(inner) = inner("circle(").or_else(|| inner("ellipse(")) {
        return lengths(inner).first().is_some_and(|radius| radius.amount <= 1.0);
    }
    inner("polygon(").is_some_and(|inner| lengths(inner).iter().all(|side| side.amount == 0.0))
}

/// Whether a transformation makes an element vanish: to no size, on its edge, or out of the page.
pub(super) fn transforms_away(text: &str) -> bool {
    text.split(')').filter_map(|call| call.split_once('(')).any(|(name, inner)| {
        let mut amounts = inner.split([',', ' ']).filter(|part| !part.is_empty());
        match name.trim() {
            "scale" | "scale3d" | "scalex" | "scaley" => amounts.any(|amount| is_nothing(amount, 0.01)),
            "matrix" => amounts.next() == Some("0"),
            "rotatex" | "rotatey" => matches!(inner.trim(), "90deg" | "-90deg"),
            name if name.starts_with("translate") => amounts.filter_map(Length::read).any(Length::is_far_aside),
            _ => false,
        }
    })
}
