//! Pictures that are recognised.

use ocr::{MAX_PIXELS, Pictures};

/// A picture of any format.
pub fn picture(input: &[u8]) {
    let Ok(frame) = Pictures::open(input).and_then(|pictures| pictures.frame(1)) else { return };
    let pixels = frame.grey.width() * frame.grey.height();
    assert_eq!(pixels, frame.grey.pixels().len());
    assert!(pixels as u64 <= MAX_PIXELS, "a picture is larger than allowed");
}
