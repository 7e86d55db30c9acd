//! A sample of a rendered page: the computed styles of its typical elements.

use serde::Deserialize;

use crate::bounded::{List, Number, Paint, Text};
use crate::color::Color;

/// A sample of computed styles, as taken by `crates/browser/src/js/styles.js`. Lengths are CSS pixels, colours are
/// sRGB. Samples are untrusted input: sizes are bounded during deserialization, and members of a wrong type count as
/// missing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Sample {
    /// Size of the browser window.
    pub viewport: Size,
    /// Whether the default background is dark: the page is in dark mode.
    pub dark: bool,
    /// Background of the page.
    pub ground: Paint,
    /// The element `<body>`.
    pub body: Element,
    /// Custom properties named after a colour role, with a colour as their value.
    pub variables: List<Variable, 150>,
    /// Loaded web fonts.
    pub faces: List<Face, 60>,
    /// Typical elements, in document order.
    pub elements: List<Element, 500>,
    /// Candidates for the logo.
    pub logos: List<Logo, 20>,
    /// Icons, in document order.
    pub icons: List<Icon, 40>,
    /// Centred boxes with a `max-width`.
    pub containers: List<Container, 20>,
    /// Grids with several columns.
    pub grids: List<Grid, 20>,
    /// Border colour of a form field with the focus.
    pub focus_color: Paint,
}

/// Size of a box.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub struct Size {
    /// Width.
    pub width: Number,
    /// Height.
    pub height: Number,
}

/// Position and size of a box on the page.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub struct Rect {
    /// Distance from the left edge of the page.
    pub x: Number,
    /// Distance from the top edge of the page.
    pub y: Number,
    /// Width.
    pub width: Number,
    /// Height.
    pub height: Number,
}

impl Rect {
    pub(crate) fn area(&self) -> f64 {
        self.width.get().max(0.0) * self.height.get().max(0.0)
    }
}

/// Visual kind of an element.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElementKind {
    /// `<body>`.
    Body,
    /// `<h1>` to `<h6>`.
    Heading,
    /// A paragraph, list item or table cell.
    Paragraph,
    /// A link in text or a menu.
    Link,
    /// An element that looks like a button.
    Button,
    /// A form field.
    Input,
    /// A framed box.
    Card,
    /// A large area with its own background.
    Surface,
    /// A menu.
    Nav,
    /// The page header.
    Header,
    /// The page footer.
    Footer,
    /// Code.
    Code,
    /// Small print.
    Small,
    /// A warning, badge or similar notice.
    Notice,
    /// Anything else.
    #[default]
    #[serde(other)]
    Other,
}

/// An element and its computed style.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Element {
    /// Visual kind.
    pub kind: ElementKind,
    /// Tag name.
    pub tag: Text,
    /// Id, classes and label.
    pub name: Text,
    /// Beginning of the text.
    pub text: Text,
    /// Position and size.
    #[serde(rename = "box")]
    pub place: Rect,
    /// `color`.
    pub color: Paint,
    /// `background-color`.
    pub background: Paint,
    /// Colours of the background gradient.
    pub gradient: List<Paint, 4>,
    /// Visible background behind the text.
    pub ground: Paint,
    /// Colour of the border, if it is visible.
    pub border_color: Paint,
    /// `border-top-left-radius`.
    pub radius: Text,
    /// `font-family`.
    pub font: Text,
    /// `font-size`.
    pub size: Number,
    /// `font-weight`.
    pub weight: Number,
    /// `line-height` divided by `font-size`; 0 for `normal`.
    pub line_height: Number,
    /// Padding: top, right, bottom, left.
    pub padding: List<Number, 4>,
    /// Margin: top, right, bottom, left.
    pub margin: List<Number, 4>,
    /// `column-gap`.
    pub gap: Number,
    /// The first `transition-duration`.
    pub duration: Text,
    /// The first `transition-timing-function`.
    pub easing: Text,
    /// Whether the text is underlined.
    pub underlined: bool,
    /// Whether the element is in the page header, footer or a menu.
    pub framed: bool,
}

impl Element {
    /// Returns the element's own background colour: the first of its gradient, if it has one.
    pub(crate) fn own_ground(&self) -> Option<Color> {
        self.gradient.first().and_then(|paint| paint.0).or(self.background.0)
    }

    /// Returns the visible colour of the text, blended over its background.
    pub(crate) fn ink(&self) -> Option<Color> {
        Some(self.color.0?.over(self.ground.0.unwrap_or(Color::WHITE)))
    }
}

/// A custom property with a colour.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Variable {
    /// Name, with its two hyphens.
    pub name: Text,
    /// Value.
    pub color: Paint,
}

/// A web font.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Face {
    /// Font family.
    pub family: Text,
}

/// A candidate for the logo.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Logo {
    /// Tag name: `img`, `svg`, or that of the element whose background it is.
    pub tag: Text,
    /// URL of the picture, possibly a `data:` URL.
    pub url: Text,
    /// Inline SVG, serialised as a file.
    pub svg: Text,
    /// Alternative text, ARIA label and SVG title of the picture.
    pub text: Text,
    /// Position and size.
    #[serde(rename = "box")]
    pub place: Rect,
    /// Whether the picture is in the page header.
    pub top: bool,
    /// Whether a name on or near the picture calls it a logo.
    pub hint: bool,
    /// Target of a link around the picture: `home`, `site`, `away`, or empty without a link.
    pub leads: Text,
}

/// An icon.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Icon {
    /// Style: `outline`, `filled` or `font`.
    pub style: Text,
    /// Colour.
    pub color: Paint,
}

/// A centred box.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Container {
    /// `max-width`.
    pub max_width: Number,
    /// Width.
    pub width: Number,
    /// Height.
    pub height: Number,
}

/// A grid.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Grid {
    /// Number of columns.
    pub columns: Number,
    /// Gap between columns.
    pub gap: Number,
    /// Width.
    pub width: Number,
}
