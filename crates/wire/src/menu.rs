//! `data.menu`. The members without `Option` are those that typed clients demand (docs/CONTRACT.md,
//! "Document").

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::product::{Availability, Picture, Price};

/// The menu of a restaurant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Menu {
    /// Whether the page is a menu at all.
    pub is_menu: bool,
    /// How sure that is, 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    pub confidence: f64,
    /// Where it was found.
    pub source_url: String,
    /// The restaurant, bar or kitchen that serves it.
    pub merchant: Merchant,
    /// ISO 4217.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Its parts.
    pub sections: Vec<Section>,
}

/// The restaurant, bar or kitchen that serves it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Merchant {
    /// The name.
    pub name: String,
    /// The kind of place.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Value>,
}

/// A part of a menu.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Section {
    /// Its id.
    pub id: String,
    /// Its heading.
    pub name: String,
    /// What stands below the heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What can be ordered.
    pub items: Vec<MenuItem>,
}

/// What can be ordered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MenuItem {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Whether it can be had; always there.
    pub availability: Availability,
    /// Its energy in kilocalories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calories: Option<f64>,
    /// Diets that it suits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dietary: Vec<String>,
    /// Ids of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identifiers: Option<MenuIdentifiers>,
    /// Pictures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Picture>,
    /// What can be chosen with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub option_groups: Vec<Value>,
    /// Its own page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Where it was found.
    pub source_url: String,
}

/// Ids of others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MenuIdentifiers {
    /// The merchant's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merchant_item_id: Option<String>,
}
