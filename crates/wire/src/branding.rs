//! `data.branding`. Maps are limited to strings where a typed client requires it (docs/CONTRACT.md, "Document").

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::words::words;

type Words = BTreeMap<String, String>;

/// Brand identity and design system of a page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Branding {
    /// Colour scheme of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color_scheme: Option<ColorScheme>,
    /// Name of the brand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand_name: Option<String>,
    /// URL of the logo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logo: Option<String>,
    /// Hex colours by role: primary, background, textPrimary and so on.
    #[schema(value_type = BTreeMap<String, String>)]
    pub colors: Words,
    /// Fonts used on the page.
    pub fonts: Vec<Font>,
    /// Font sizes, weights and line heights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typography: Option<Typography>,
    /// Spacing of the layout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spacing: Option<Spacing>,
    /// Styles by component, such as `buttonPrimary` → `background` → `#0a0`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub components: BTreeMap<String, BTreeMap<String, String>>,
    /// Icon style.
    #[schema(value_type = BTreeMap<String, String>)]
    pub icons: Words,
    /// Image URLs by role: logo, favicon, ogImage; null if known to be missing.
    pub images: BTreeMap<String, Option<String>>,
    /// Animation durations and easings.
    #[schema(value_type = BTreeMap<String, String>)]
    pub animations: Words,
    /// Layout grid and element heights.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub layout: Map<String, Value>,
    /// Tone of voice of the texts.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub tone: Map<String, Value>,
    /// Brand personality: tone, energy and audience.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub personality: Map<String, Value>,
}

words! {
    /// Colour scheme of a page.
    pub enum ColorScheme {
        /// Dark text on a light ground.
        Light = "light",
        /// Light text on a dark ground.
        Dark = "dark",
    }
}

/// Font used on a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Font {
    /// Font family.
    pub family: String,
    /// Further properties of the font.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Font sizes, weights and line heights.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Typography {
    /// Font families by role: primary, heading, code.
    #[schema(value_type = BTreeMap<String, String>)]
    pub font_families: Words,
    /// Fallback font stacks by role.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub font_stacks: BTreeMap<String, Vec<String>>,
    /// Font sizes by role: h1, h2, h3, body, small.
    #[schema(value_type = BTreeMap<String, String>)]
    pub font_sizes: Words,
    /// Line heights by role: heading, body.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub line_heights: BTreeMap<String, f64>,
    /// Font weights by name: light, regular, medium, bold.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub font_weights: BTreeMap<String, u32>,
}

/// Spacing of the layout.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Spacing {
    /// Base unit of the grid, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_unit: Option<u32>,
    /// Border radius, as CSS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub border_radius: Option<String>,
    /// Padding values.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub padding: Map<String, Value>,
    /// Margin values.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub margins: Map<String, Value>,
    /// Gap between grid columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid_gutter: Option<Value>,
}
