//! Pictures of pages in, words with their places out: optical character recognition on tesseract.
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
//! [`Renderer`] draws the pages of a PDF, [`Pictures`] decodes pictures, and [`Engine`] reads what they show. It first puts the
//! picture upright (`skew`, quarters by what can be read at all), and besides the words (`hocr`) it measures what tells a
//! layout what they are: the size and weight of letters (`letters`), straight lines and shaded boxes (`rules`, `shades`).
//!
//! Tesseract looks at OMP_THREAD_LIMIT in the environment: it must be 1 where several of these run at the same time, or all are
//! many times slower.

mod engine;
mod error;
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
pub use grey::{Grey, MAX_EDGE, MAX_PIXELS};
pub use languages::Languages;
pub use page::{Area, Page, Word};
pub use picture::{Frame, Pictures};
pub use render::Renderer;
