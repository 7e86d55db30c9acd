//! What a page looks like and how it speaks: the `branding` format, from what it declares or from a sample of computed styles.
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
//! [`computed`] says what somebody sees and needs a browser; [`declared`] says what HTML and style sheets promise. Colours are
//! `#RRGGBB`, lengths and times as CSS writes them, or numbers of pixels. Nothing here does I/O, reads a clock or panics, and
//! the same page and sample give the same answer.

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
pub use sample::{Container, Element, Face, Grid, Icon, Kind, Logo, Place, Sample, Size, Variable};
