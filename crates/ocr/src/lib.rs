//! Optical character recognition (OCR) with tesseract, from images of pages to words with positions.
//!
//! ```no_run
//! use ocr::{Engine, Languages, Renderer};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let languages = Languages::find(None, &[])?;
//! let mut engine = Engine::new(&languages)?;
//! let renderer = Renderer::new(std::fs::read("scan.pdf")?)?;
//! let page = engine.page(&renderer.render(1)?)?;
//! for word in &page.words {
//!     assert!(word.confidence <= 1.0);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`Renderer`] draws the pages of a PDF, [`Pictures`] decodes images, and [`Engine`] recognises their text. It first
//! turns the image upright (`skew`, and quarter turns by trial). Besides the words (`hocr`) it measures what the layout
//! analysis needs: size and weight of letters (`letters`), rules and shaded boxes (`rules`, `shades`).
//!
//! Tesseract reads OMP_THREAD_LIMIT from the environment: it must be 1 where several instances run at the same time,
//! otherwise all are many times slower.

mod avif;
mod engine;
mod error;
mod frame;
mod grey;
mod hocr;
mod languages;
mod leaders;
mod letters;
mod page;
mod parts;
mod picture;
mod render;
mod rules;
mod shades;
mod skew;
mod tiff_pages;

pub use engine::Engine;
pub use error::Error;
pub use frame::Frame;
pub use grey::{Grey, MAX_EDGE, MAX_PIXELS};
pub use languages::Languages;
pub use page::{Area, Page, Word};
pub use picture::Pictures;
pub use render::Renderer;
