//! What one look at a page in a browser brings: the computed styles of its typical elements.

use serde::Deserialize;

use crate::bounded::{List, Number, Paint, Text};
use crate::color::Color;

/// A sample of computed styles, as `crates/browser/src/js/styles.js` takes it. Lengths are CSS pixels, colours are sRGB.
/// Everything is bounded while it is read, and what is missing or of another type counts as not seen.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Sample {
    /// The window.
    pub viewport: Size,
    /// Whether the page is drawn on a dark ground where it says nothing.
    pub dark: bool,
    /// What the page stands on.
    pub ground: Paint,
    /// `<body>` itself.
    pub body: Element,
    /// Custom properties whose name is that of a role and whose value is a colour.
    pub variables: List<Variable, 150>,
    /// Web fonts that were loaded.
    pub faces: List<Face, 60>,
    /// Typical elements, in document order.
    pub elements: List<Element, 500>,
    /// What may be the logo.
    pub logos: List<Logo, 20>,
    /// Icons, in document order.
    pub icons: List<Icon, 40>,
    /// Centred boxes with a greatest width.
    pub containers: List<Container, 20>,
    /// Grids of several columns.
    pub grids: List<Grid, 20>,
    /// What the border of a field becomes when it has the focus.
    pub focus_color: Paint,
}

/// How large something is.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub struct Size {
    /// From left to right.
    pub width: Number,
    /// From top to bottom.
    pub height: Number,
}

/// Where something stands on the page.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub struct Place {
    /// From the left edge.
    pub x: Number,
    /// From the top edge.
    pub y: Number,
    /// From left to right.
    pub width: Number,
    /// From top to bottom.
    pub height: Number,
}

impl Place {
    pub(crate) fn area(&self) -> f64 {
        self.width.get().max(0.0) * self.height.get().max(0.0)
    }
}

/// What an element is to a reader.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// `<body>`.
    Body,
    /// `<h1>` to `<h6>`.
    Heading,
    /// A paragraph, an item of a list, a cell.
    Paragraph,
    /// A link within text or a menu.
    Link,
    /// What looks like something to press.
    Button,
    /// A field of a form.
    Input,
    /// A framed box.
    Card,
    /// A large area with a ground of its own.
    Surface,
    /// A menu.
    Nav,
    /// The head of the page.
    Header,
    /// The foot of the page.
    Footer,
    /// Code.
    Code,
    /// Small print.
    Small,
    /// A warning, a badge and the like.
    Notice,
    /// Anything else.
    #[default]
    #[serde(other)]
    Other,
}

/// One element and its computed style.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Element {
    /// What it is to a reader.
    pub kind: Kind,
    /// Its tag.
    pub tag: Text,
    /// Its id, classes and label.
    pub name: Text,
    /// The beginning of its text.
    pub text: Text,
    /// Where it stands.
    #[serde(rename = "box")]
    pub place: Place,
    /// `color`.
    pub color: Paint,
    /// `background-color`.
    pub background: Paint,
    /// Colours of the gradient behind it.
    pub gradient: List<Paint, 4>,
    /// What is seen behind its text.
    pub ground: Paint,
    /// The colour of its border, if it is drawn.
    pub border_color: Paint,
    /// `border-top-left-radius`.
    pub radius: Text,
    /// `font-family`.
    pub font: Text,
    /// `font-size`.
    pub size: Number,
    /// `font-weight`.
    pub weight: Number,
    /// `line-height` by `font-size`; 0 for `normal`.
    pub line_height: Number,
    /// Top, right, bottom, left.
    pub padding: List<Number, 4>,
    /// Top, right, bottom, left.
    pub margin: List<Number, 4>,
    /// `column-gap`.
    pub gap: Number,
    /// The first `transition-duration`.
    pub duration: Text,
    /// The first `transition-timing-function`.
    pub easing: Text,
    /// Whether its text is underlined.
    pub underlined: bool,
    /// Whether it stands in the frame of the page: its head, foot, menus.
    pub framed: bool,
}

impl Element {
    /// The colour of its own ground: that of a gradient where there is one.
    pub(crate) fn own_ground(&self) -> Option<Color> {
        self.gradient.first().and_then(|paint| paint.0).or(self.background.0)
    }

    /// The colour of its text as it is seen.
    pub(crate) fn ink(&self) -> Option<Color> {
        Some(self.color.0?.over(self.ground.0.unwrap_or(Color::WHITE)))
    }
}

/// A custom property with a colour.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Variable {
    /// With its two hyphens.
    pub name: Text,
    /// Its value.
    pub color: Paint,
}

/// A web font.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Face {
    /// Its family.
    pub family: Text,
}

/// A picture that may be the logo.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Logo {
    /// `img`, `svg`, or the element whose background it is.
    pub tag: Text,
    /// Its address; may be a `data:` URL.
    pub url: Text,
    /// A drawing that stands in the page itself, as a file.
    pub svg: Text,
    /// What is said of it.
    pub text: Text,
    /// Where it stands.
    #[serde(rename = "box")]
    pub place: Place,
    /// Whether it stands in the head of the page.
    pub top: bool,
    /// Whether a name near it says that it is a logo.
    pub hint: bool,
    /// Where a press leads: `home`, `site`, `away`, or nowhere.
    pub leads: Text,
}

/// An icon.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Icon {
    /// `outline`, `filled` or `font`.
    pub style: Text,
    /// Its colour.
    pub color: Paint,
}

/// A centred box.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Container {
    /// `max-width`.
    pub max_width: Number,
    /// How wide it is.
    pub width: Number,
    /// How tall it is.
    pub height: Number,
}

/// A grid.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Grid {
    /// Its columns.
    pub columns: Number,
    /// Between columns.
    pub gap: Number,
    /// How wide it is.
    pub width: Number,
}
