//! `data.product`, and the parts that products and menus share (docs/CONTRACT.md, "Document").

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The product that a page sells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Product {
    /// Its name.
    pub title: String,
    /// The maker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    /// The category of the product.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The canonical URL.
    pub url: String,
    /// What the seller says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What can be bought; at least one.
    #[schema(min_items = 1)]
    pub variants: Vec<Variant>,
}

/// One form of a product.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Variant {
    /// The seller's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The stock keeping unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sku: Option<String>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Option names with values, as size and colour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<BTreeMap<String, String>>,
    /// What it costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// What it cost before, when it is discounted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale: Option<Sale>,
    /// Whether it can be had; always there.
    pub availability: Availability,
    /// Pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<Picture>>,
}

/// A price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Price {
    /// The number.
    pub amount: f64,
    /// ISO 4217, only when the page names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// As the page writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formatted: Option<String>,
}

/// A discount.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sale {
    /// The price before.
    pub original_price: Price,
}

/// Whether a product can be bought.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Availability {
    /// It can.
    pub in_stock: bool,
    /// As the page says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Picture {
    /// Where it is.
    pub url: String,
    /// What it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alt: Option<String>,
}
