//! `data.menu`. Fields without `Option` are required by typed clients (docs/CONTRACT.md, "Document").

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::product::{Availability, Picture, Price};

/// Menu of a restaurant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Menu {
    /// Whether the page is a menu.
    pub is_menu: bool,
    /// Confidence of `isMenu`, from 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    pub confidence: f64,
    /// URL of the page.
    pub source_url: String,
    /// Restaurant, bar or kitchen that serves the menu.
    pub merchant: Merchant,
    /// Currency code (ISO 4217).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Sections of the menu.
    pub sections: Vec<Section>,
}

/// Restaurant, bar or kitchen that serves a menu.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Merchant {
    /// Name of the merchant.
    pub name: String,
    /// Type of merchant, such as restaurant or bar.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Location of the merchant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Value>,
}

/// Section of a menu.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Section {
    /// Section id.
    pub id: String,
    /// Heading of the section.
    pub name: String,
    /// Text below the heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Items of the section.
    pub items: Vec<MenuItem>,
}

/// Item of a menu.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MenuItem {
    /// Item id.
    pub id: String,
    /// Name of the item.
    pub name: String,
    /// Description of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Price of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Availability; always present.
    pub availability: Availability,
    /// Energy in kilocalories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calories: Option<f64>,
    /// Diets that the item suits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dietary: Vec<String>,
    /// Ids in other systems.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identifiers: Option<MenuIdentifiers>,
    /// Images of the item.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Picture>,
    /// Options that can be chosen with the item.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub option_groups: Vec<Value>,
    /// URL of the item's own page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// URL of the page where the item was found.
    pub source_url: String,
}

/// Ids of an item in other systems.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MenuIdentifiers {
    /// Id given by the merchant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merchant_item_id: Option<String>,
}
