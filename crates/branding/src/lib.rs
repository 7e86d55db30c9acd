//! The `branding` format: the look and voice of a page, from its declarations or from a sample of computed styles.
//!
//! ```
//! let url = url::Url::parse("https://acme.test/").unwrap();
//! let page = page::Page::parse(
//!     "<title>Guide - Acme</title><meta name=theme-color content='#336699'><link rel=icon href=icon.png>",
//!     &url,
//! );
//! let branding = branding::declared(&page, &[]);
//! assert_eq!(branding.brand_name.as_deref(), Some("Acme"));
//! assert_eq!(branding.colors["primary"], "#336699");
//! assert_eq!(branding.images["favicon"].as_deref(), Some("https://acme.test/icon.png"));
//! assert_eq!(branding.images["logo"], None);
//! ```
//!
//! [`computed`] describes the rendered page and needs a browser; [`declared`] reads HTML and style sheets. Colours are
//! `#RRGGBB`; lengths and times are CSS values or numbers of pixels. This crate does no I/O, reads no clock and does
//! not panic; the same page and sample give the same result.

mod bounded;
mod color;
mod computed;
mod css;
mod declared;
mod fonts;
mod head;
mod roles;
mod sample;
mod voice;

pub use bounded::{List, Number, Paint, Text};
pub use color::Color;
pub use computed::computed;
pub use css::Sheet;
pub use declared::{declared, linked};
pub use sample::{Container, Element, ElementKind, Face, Grid, Icon, Logo, Rect, Sample, Size, Variable};
