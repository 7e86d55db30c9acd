//! `data.branding`. Maps hold strings only where a typed client demands it (docs/CONTRACT.md,
//! "Document").

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
    /// Light or dark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color_scheme: Option<ColorScheme>,
    /// The name of the brand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand_name: Option<String>,
    /// URL of the logo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logo: Option<String>,
    /// Hex colours by role: primary, background, textPrimary ….
    #[schema(value_type = BTreeMap<String, String>)]
    pub colors: Words,
    /// Fonts in use.
    pub fonts: Vec<Font>,
    /// Sizes and weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typography: Option<Typography>,
    /// Distances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spacing: Option<Spacing>,
    /// Styles by component, as `buttonPrimary` → `background` → `#0a0`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub components: BTreeMap<String, BTreeMap<String, String>>,
    /// The style of icons.
    #[schema(value_type = BTreeMap<String, String>)]
    pub icons: Words,
    /// Image URLs by role: logo, favicon, ogImage; null when known to be missing.
    pub images: BTreeMap<String, Option<String>>,
    /// Durations and easings.
    #[schema(value_type = BTreeMap<String, String>)]
    pub animations: Words,
    /// The grid and heights.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub layout: Map<String, Value>,
    /// The voice of the texts.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub tone: Map<String, Value>,
    /// Tone, energy and audience.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub personality: Map<String, Value>,
}

words! {
    /// Light or dark.
    pub enum ColorScheme {
        /// Dark text on a light ground.
        Light = "light",
        /// Light text on a dark ground.
        Dark = "dark",
    }
}

/// A font in use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Font {
    /// Its family.
    pub family: String,
    /// More about it.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Sizes and weights.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Typography {
    /// Families by role: primary, heading, code.
    #[schema(value_type = BTreeMap<String, String>)]
    pub font_families: Words,
    /// Fallbacks by role.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub font_stacks: BTreeMap<String, Vec<String>>,
    /// Sizes by role: h1, h2, h3, body, small.
    #[schema(value_type = BTreeMap<String, String>)]
    pub font_sizes: Words,
    /// Heights by role: heading, body.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub line_heights: BTreeMap<String, f64>,
    /// Weights by name: light, regular, medium, bold.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub font_weights: BTreeMap<String, u32>,
}

/// Distances.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Spacing {
    /// The unit of the grid, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_unit: Option<u32>,
    /// The radius of corners, as CSS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub border_radius: Option<String>,
    /// Inner distances.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub padding: Map<String, Value>,
    /// Outer distances.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub margins: Map<String, Value>,
    /// The distance of columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid_gutter: Option<Value>,
}
