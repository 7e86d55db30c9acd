//! `data.product`, and the types shared by products and menus (docs/CONTRACT.md, "Document").

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Product that a page sells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Product {
    /// Name of the product.
    pub title: String,
    /// Brand or manufacturer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    /// Product category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Canonical URL of the product.
    pub url: String,
    /// Description by the seller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Variants that can be bought; at least one.
    #[schema(min_items = 1)]
    pub variants: Vec<Variant>,
}

/// Variant of a product.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Variant {
    /// Id given by the seller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Stock keeping unit (SKU).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sku: Option<String>,
    /// Name of the variant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Option values by option name, such as size and colour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<BTreeMap<String, String>>,
    /// Current price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Discount; absent if the price is not reduced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale: Option<Sale>,
    /// Availability; always present.
    pub availability: Availability,
    /// Images of the variant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<Picture>>,
}

/// Price of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Price {
    /// Amount, in units of the currency.
    pub amount: f64,
    /// Currency code (ISO 4217); only if the page states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Price as written on the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formatted: Option<String>,
}

/// Discount on a price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sale {
    /// Price before the discount.
    pub original_price: Price,
}

/// Availability of an item.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Availability {
    /// Whether the item is in stock.
    pub in_stock: bool,
    /// Availability as written on the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Image of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Picture {
    /// URL of the image.
    pub url: String,
    /// Alternative text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alt: Option<String>,
}
