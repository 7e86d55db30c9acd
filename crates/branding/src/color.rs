//! Colours: parsed from CSS, compared perceptually (OKLab), written as `#RRGGBB`.

use cssparser::color::{parse_hash_color, parse_named_color};

/// Length limit of a text that is parsed as a colour, in bytes.
const MAX_LENGTH: usize = 128;

/// A colour in sRGB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Color {
    red: u8,
    green: u8,
    blue: u8,
    /// Opacity, from 0 (transparent) to 1.
    alpha: f32,
}

/// A colour in OKLab, a perceptual colour space. Source: Björn Ottosson, <https://bottosson.github.io/posts/oklab/>.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lab {
    lightness: f64,
    a: f64,
    b: f64,
}

impl Lab {
    /// Returns the Euclidean distance in OKLab; [`Color::distance`] explains the scale.
    pub(crate) fn distance(self, other: Lab) -> f64 {
        let (lightness, a, b) = (self.lightness - other.lightness, self.a - other.a, self.b - other.b);
        (lightness * lightness + a * a + b * b).sqrt()
    }
}

impl Color {
    pub(crate) const WHITE: Color = Color { red: 255, green: 255, blue: 255, alpha: 1.0 };

    /// Parses a CSS colour: a name, `#rgb[a]`, `#rrggbb[aa]`, or a function of CSS Color 4 except `color()`. Returns
    /// `None` for anything else, including keywords that depend on the page (`currentcolor`, `inherit`, system
    /// colours), and for transparent colours.
    ///
    /// ```
    /// use branding::Color;
    ///
    /// assert_eq!(Color::parse("rebeccapurple").unwrap().hex(), "#663399");
    /// assert_eq!(Color::parse("hsl(210 50% 40%)").unwrap().hex(), "#336699");
    /// assert_eq!(Color::parse("transparent"), None);
    /// ```
    pub fn parse(css: &str) -> Option<Color> {
        let css = css.trim();
        if css.len() > MAX_LENGTH || !css.is_ascii() {
            return None;
        }
        let color = if let Some(digits) = css.strip_prefix('#') {
            let (red, green, blue, alpha) = parse_hash_color(digits.as_bytes()).ok()?;
            Color { red, green, blue, alpha }
        } else if css.contains('(') {
            let found = csscolorparser::parse(css).ok()?;
            let [red, green, blue, _] = found.to_rgba8();
            Color { red, green, blue, alpha: found.a.clamp(0.0, 1.0) }
        } else {
            let (red, green, blue) = parse_named_color(css).ok()?;
            Color { red, green, blue, alpha: 1.0 }
        };
        // About 1/255, the smallest step of eight bits: too little to be visible.
        (color.alpha > 0.004).then_some(color)
    }

    /// Formats the colour as `#RRGGBB`, without its opacity.
    pub fn hex(self) -> String {
        format!("#{:02X}{:02X}{:02X}", self.red, self.green, self.blue)
    }

    /// Returns this colour blended over the background `ground`.
    pub fn over(self, ground: Color) -> Color {
        let mix = |above: u8, below: u8| {
            let (above, below) = (f32::from(above), f32::from(below));
            // The cast is safe: the blend of two bytes is between them.
            (below + (above - below) * self.alpha).round() as u8
        };
        let (red, green, blue) =
            (mix(self.red, ground.red), mix(self.green, ground.green), mix(self.blue, ground.blue));
        Color { red, green, blue, alpha: 1.0 }
    }

    /// Returns the relative luminance, from 0 (black) to 1 (white). Source: WCAG 2.2, "relative luminance".
    pub fn luminance(self) -> f64 {
        let [red, green, blue] = self.linear();
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// Returns the contrast ratio of two colours, from 1 to 21. Source: WCAG 2.2, "contrast ratio".
    pub fn contrast(self, other: Color) -> f64 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    /// Returns the perceptual distance of two colours: below 0.02 they look the same, black and white are 1 apart.
    pub(crate) fn distance(self, other: Color) -> f64 {
        self.lab().distance(other.lab())
    }

    /// Whether the colour has a visible hue: it is not black, white or a grey.
    pub(crate) fn is_chromatic(self) -> bool {
        let lab = self.lab();
        // The chroma of 0.045 is above the bluish greys of common frameworks (`#6c757d`), and below muted brand
        // colours. Near black and white no chroma is visible.
        lab.a.hypot(lab.b) > 0.045 && (0.18..0.97).contains(&lab.lightness)
    }

    fn linear(self) -> [f64; 3] {
        [self.red, self.green, self.blue].map(|channel| {
            let value = f64::from(channel) / 255.0;
            // The transfer function of sRGB (IEC 61966-2-1).
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        })
    }

    pub(crate) fn lab(self) -> Lab {
        let [red, green, blue] = self.linear();
        // Oklab (Björn Ottosson, "A perceptual color space for image processing", 2020): two matrices with a cube root
        // between them.
        let long = (0.412_221_470_8 * red + 0.536_332_536_3 * green + 0.051_445_992_9 * blue).cbrt();
        let middle = (0.211_903_498_2 * red + 0.680_699_545_1 * green + 0.107_396_956_6 * blue).cbrt();
        let short = (0.088_302_461_9 * red + 0.281_718_837_6 * green + 0.629_978_700_5 * blue).cbrt();
        Lab {
            lightness: 0.210_454_255_3 * long + 0.793_617_785 * middle - 0.004_072_046_8 * short,
            a: 1.977_998_495_1 * long - 2.428_592_205 * middle + 0.450_593_709_9 * short,
            b: 0.025_904_037_1 * long + 0.782_771_766_2 * middle - 0.808_675_766 * short,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn color(css: &str) -> Color {
        Color::parse(css).unwrap()
    }

    #[test]
    fn spellings() {
        let check = |css: &str, hex: &str| assert_eq!(color(css).hex(), hex, "{css}");
        check("#0af", "#00AAFF");
        check(" #00aaff80 ", "#00AAFF");
        check("RED", "#FF0000");
        check("rgb(1, 2, 3)", "#010203");
        check("rgba(1 2 3 / 50%)", "#010203");
        check("hsla(120, 100%, 25%, 1)", "#008000");
        check("hwb(0 0% 0%)", "#FF0000");
        check("oklch(0.628 0.2577 29.23)", "#FF0000");
        for none in
            ["", "transparent", "currentColor", "inherit", "#12", "#00000000", "rgb(", "var(--x)", "url(#0)", "ö"]
        {
            assert_eq!(Color::parse(none), None, "{none}");
        }
        assert_eq!(Color::parse(&format!("rgb({}1 2 3)", " ".repeat(MAX_LENGTH))), None);
    }

    #[test]
    fn luminance_and_contrast_are_those_of_wcag() {
        let check = |one: &str, two: &str, ratio: f64| {
            let found = color(one).contrast(color(two));
            assert!((found - ratio).abs() < 0.01, "{one} {two}: {found}");
        };
        check("#000", "#fff", 21.0);
        check("#fff", "#fff", 1.0);
        check("#777", "#fff", 4.48);
        check("#0d6efd", "#fff", 4.5);
        check("#ff0000", "#ffffff", 4.0);
    }

    #[test]
    fn layers() {
        assert_eq!(color("#00000080").over(Color::WHITE).hex(), "#7F7F7F");
        assert_eq!(color("#123456").over(Color::WHITE).hex(), "#123456");
    }

    #[test]
    fn hues() {
        for hue in ["#0d6efd", "#d63384", "#f59e0b", "navy", "#3873ad"] {
            assert!(color(hue).is_chromatic(), "{hue}");
        }
        for grey in ["#000", "#fff", "#777", "#f8f9fa", "#212529", "#6c757d"] {
            assert!(!color(grey).is_chromatic(), "{grey}");
        }
        assert!(color("#fff").distance(color("#000")) > 0.99);
        assert!(color("#0d6efd").distance(color("#0b5ed7")) < 0.07);
    }
}
