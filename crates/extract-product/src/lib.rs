//! The `product` and `menu` formats: what a page sells, from its structured data and from what it shows.
//!
//! ```
//! let url = url::Url::parse("https://shop.test/kettle").unwrap();
//! let html = r#"<h1>Kettle</h1><script type="application/ld+json">{"@type": "Product", "name": "Kettle", "sku": "K-1",
//!     "offers": {"price": "19.90", "priceCurrency": "EUR", "availability": "InStock"}}</script>"#;
//! let product = extract_product::product(&page::Page::parse(html, &url)).unwrap();
//! assert_eq!(product.title, "Kettle");
//! assert_eq!(product.variants[0].price.as_ref().unwrap().amount, 19.9);
//! assert!(product.variants[0].availability.in_stock);
//! ```
//!
//! Both fail closed: a page that could be read in two ways has no product and no menu, and [`Missing`] says why.
//! This crate does no I/O, reads no clock and does not panic. Pages are untrusted input: memory and time are bounded,
//! and reading ends early once the page's stop signal is set.

mod draft;
mod json_ld;
mod lenient;
mod menu;
mod meta;
mod microdata;
mod missing;
mod money;
mod product;
mod schema;
mod shown;
mod state;
mod subject;
mod survey;
mod tags;
mod value;
mod words;

pub use menu::menu;
pub use missing::Missing;
pub use product::product;
