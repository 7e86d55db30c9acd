//! Stitches a screenshot together from pieces, one below the other.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::{DynamicImage, GenericImage, ImageFormat, RgbImage};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::spawn_blocking;

use crate::BrowserError;

/// Permit for stitching: a whole picture takes up to 150 MB of memory, so only one is made at a time.
static PLACES: Semaphore = Semaphore::const_new(1);

/// Waits for the permit.
pub(crate) async fn place() -> Option<SemaphorePermit<'static>> {
    PLACES.acquire().await.ok()
}

/// A picture that is being stitched.
pub(crate) struct Whole {
    pixels: RgbImage,
    place: Option<SemaphorePermit<'static>>,
}

impl Whole {
    /// Creates a white picture. Sizes are in pixels, limited by the caller.
    pub(crate) fn new(width: f64, height: f64, place: Option<SemaphorePermit<'static>>) -> Self {
        let whole = |size: f64| size.round().clamp(1.0, 65_535.0) as u32;
        Self { pixels: RgbImage::from_pixel(whole(width), whole(height), image::Rgb([255; 3])), place }
    }

    /// Copies a PNG to its vertical position.
    pub(crate) async fn add(self, piece: Vec<u8>, top: f64) -> Result<Self, BrowserError> {
        in_thread(move || {
            let mut whole = self;
            let piece = image::load_from_memory_with_format(&piece, ImageFormat::Png)?.into_rgb8();
            let top = top.round().max(0.0) as u32;
            let width = piece.width().min(whole.pixels.width());
            let height = piece.height().min(whole.pixels.height().saturating_sub(top));
            if width > 0 && height > 0 {
                let part = image::imageops::crop_imm(&piece, 0, 0, width, height);
                whole.pixels.copy_from(&*part, 0, top)?;
            }
            Ok(whole)
        })
        .await
    }

    /// Encodes the file: JPEG if there is a quality, otherwise PNG.
    pub(crate) async fn encode(self, quality: Option<u32>) -> Result<Vec<u8>, BrowserError> {
        in_thread(move || {
            let Self { pixels, place } = self;
            let mut file = Cursor::new(Vec::new());
            let picture = DynamicImage::ImageRgb8(pixels);
            match quality.and_then(|quality| u8::try_from(quality).ok()) {
                Some(quality) => picture.write_with_encoder(JpegEncoder::new_with_quality(&mut file, quality))?,
                None => picture.write_with_encoder(PngEncoder::new(&mut file))?,
            }
            drop(place);
            Ok(file.into_inner())
        })
        .await
    }
}

/// Runs work that keeps a core busy, such as decoding and encoding, on a blocking thread.
async fn in_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, image::ImageError> + Send + 'static,
) -> Result<T, BrowserError> {
    let failed =
        |reason: String| BrowserError::Site { reason: format!("the screenshot could not be encoded: {reason}") };
    match spawn_blocking(work).await {
        Ok(result) => result.map_err(|error| failed(error.to_string())),
        Err(error) => Err(failed(error.to_string())),
    }
}
