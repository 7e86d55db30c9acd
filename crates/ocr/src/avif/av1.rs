//! Decoding of one AV1 picture.

use re_rav1d::dav1d::pixel::YUVRange;
use re_rav1d::dav1d::{Decoder, Picture, PlanarImageComponent, Settings};

use super::items::Size;
use super::{Samples, broken};
use crate::Error;

/// Decodes the brightness of a picture with a declared size.
pub(super) fn decode(data: Vec<u8>, size: Size) -> Result<Samples, Error> {
    if data.is_empty() {
        return Err(broken("its picture is empty"));
    }
    let damaged = |_| broken("its picture cannot be decoded");
    let mut settings = Settings::new();
    settings.set_n_threads(1);
    settings.set_max_frame_delay(1);
    // The data may say another size than the file.
    settings.set_frame_size_limit(size.width.saturating_mul(size.height));
    let mut decoder = Decoder::with_settings(&settings).map_err(damaged)?;
    decoder.send_data(data, None, None, None).map_err(damaged)?;
    let picture = decoder.get_picture().map_err(damaged)?;
    if (Size { width: picture.width(), height: picture.height() }) != size {
        return Err(broken("its picture has another size than it says"));
    }
    samples(&picture, size).ok_or_else(|| broken("its picture is incomplete"))
}

fn samples(picture: &Picture, size: Size) -> Option<Samples> {
    let (width, height) = (size.width as usize, size.height as usize);
    let plane = picture.plane(PlanarImageComponent::Y);
    let stride = picture.stride(PlanarImageComponent::Y) as usize;
    let depth = picture.bit_depth();
    let bytes = if depth > 8 { 2 } else { 1 };
    let is_limited = matches!(picture.color_range(), YUVRange::Limited);
    let mut values = Vec::with_capacity(width * height);
    for row in plane.chunks(stride.max(1)).take(height) {
        let row = row.get(..width * bytes)?;
        values.extend(row.chunks_exact(bytes).map(|sample| shade(sample, depth, is_limited)));
    }
    (values.len() == width * height).then_some(Samples { size, values })
}

/// Returns the upper eight bits of a sample. Of a limited range, 16 is black and 235 white.
fn shade(sample: &[u8], depth: usize, is_limited: bool) -> u8 {
    let value = match sample {
        [low, high] => u32::from(u16::from_le_bytes([*low, *high])) >> depth.saturating_sub(8),
        _ => u32::from(sample.first().copied().unwrap_or(255)),
    };
    let value = if is_limited { value.saturating_sub(16) * 255 / 219 } else { value };
    u8::try_from(value).unwrap_or(255)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_all_depths_are_shades() {
        assert_eq!(shade(&[200], 8, false), 200);
        assert_eq!([16, 235, 255].map(|value| shade(&[value], 8, true)), [0, 255, 255]);
        assert_eq!(shade(&1023_u16.to_le_bytes(), 10, false), 255);
        assert_eq!(shade(&(16_u16 << 4).to_le_bytes(), 12, true), 0);
    }
}
