//! A decoded image.

use crate::Grey;

/// Assumed resolution of an image that does not declare one, in dots per inch.
pub(crate) const USUAL_DPI: f32 = 200.0;

/// Decoded image and its resolution.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Image.
    pub grey: Grey,
    /// Pixels per inch.
    pub dpi: f32,
}
