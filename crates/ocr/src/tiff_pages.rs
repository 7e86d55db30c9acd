//! Decoding of TIFF files, which may contain several pages.

use std::io::Cursor;

use tiff::ColorType;
use tiff::decoder::{Decoder, DecodingResult, Limits};
use tiff::tags::Tag;

use crate::frame::{Frame, USUAL_DPI};
use crate::grey::{is_allowed, luminance, of_inks, of_rgb, on_paper};
use crate::{Error, Grey};

/// Maximum number of pages that are counted.
const MAX_PAGES: u32 = 10_000;
/// Memory limit of one decoded page, and of the decoder's buffers, in bytes.
const MAX_DECODED: usize = 256 << 20;
/// Range of plausible resolutions, in dots per inch; others are replaced by the default.
const LIKELY_DPI: std::ops::RangeInclusive<f32> = 60.0..=1300.0;

/// A TIFF file.
pub(crate) struct Tiff<'a>(Decoder<Cursor<&'a [u8]>>);

impl<'a> Tiff<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut limits = Limits::default();
        limits.decoding_buffer_size = MAX_DECODED;
        limits.intermediate_buffer_size = MAX_DECODED;
        // The tables of strips of the largest allowed image have some 100 KB.
        limits.ifd_value_size = 1 << 20;
        Decoder::new(Cursor::new(bytes)).map(|decoder| Self(decoder.with_limits(limits))).map_err(broken)
    }

    /// Counts the pages.
    pub(crate) fn count(mut self) -> u32 {
        let mut count = 1;
        while count < MAX_PAGES && self.0.more_images() && self.0.next_image().is_ok() {
            count += 1;
        }
        count
    }

    /// Decodes a page, counted from 1.
    pub(crate) fn frame(mut self, number: u32) -> Result<Frame, Error> {
        self.0.seek_to_image(number as usize - 1).map_err(broken)?;
        let (width, height) = self.0.dimensions().map_err(broken)?;
        if !is_allowed(width, height) {
            return Err(Error::TooLarge);
        }
        let colours = self.0.colortype().map_err(broken)?;
        let samples = match self.0.read_image().map_err(broken)? {
            DecodingResult::U8(samples) => samples,
            // Of 16 bits the upper eight.
            DecodingResult::U16(samples) => samples.into_iter().map(|sample| (sample >> 8) as u8).collect(),
            _ => return Err(Error::Broken("its sample format is not supported".to_owned())),
        };
        let pixels = self.shades(colours, width as usize, &samples)?;
        let grey = Grey::new(width, height, pixels).ok_or_else(|| Error::Broken("the file is truncated".to_owned()))?;
        Ok(Frame { grey, dpi: self.dpi() })
    }

    fn shades(&mut self, colours: ColorType, width: usize, samples: &[u8]) -> Result<Vec<u8>, Error> {
        let pixels = match colours {
            ColorType::Gray(8 | 16) => samples.to_vec(),
            ColorType::Gray(bits @ (1 | 2 | 4)) => {
                let most = (1_u32 << bits) - 1;
                unpacked(samples, width, bits).map(|value| (u32::from(value) * 255 / most) as u8).collect()
            }
            ColorType::GrayA(8 | 16) => samples.chunks_exact(2).map(|p| on_paper(p[0], p[0], p[0], p[1])).collect(),
            ColorType::RGB(8 | 16) | ColorType::YCbCr(8) => of_rgb(samples),
            ColorType::RGBA(8 | 16) => samples.chunks_exact(4).map(|p| on_paper(p[0], p[1], p[2], p[3])).collect(),
            ColorType::CMYK(8) => samples.chunks_exact(4).map(|p| of_inks(p[0], p[1], p[2], p[3])).collect(),
            ColorType::Palette(bits @ (1 | 2 | 4 | 8)) => {
                let map = self.0.find_tag_unsigned_vec::<u16>(Tag::ColorMap).map_err(broken)?.unwrap_or_default();
                // All reds, then all greens, then all blues, with 16 bits each (TIFF 6.0, "ColorMap").
                let third = map.len() / 3;
                let at = |place: usize| map.get(place).map_or(255, |value| (value >> 8) as u8);
                let shade = |value: u8| {
                    let value = usize::from(value);
                    luminance(at(value), at(third + value), at(2 * third + value))
                };
                unpacked(samples, width, bits).map(shade).collect()
            }
            _ => return Err(Error::Broken("its colour type is not supported".to_owned())),
        };
        Ok(pixels)
    }

    fn dpi(&mut self) -> f32 {
        let resolution = self.0.find_tag(Tag::XResolution).ok().flatten().and_then(|value| match value {
            tiff::decoder::ifd::Value::Rational(a, b) if b > 0 => Some(a as f32 / b as f32),
            _ => None,
        });
        // The unit 3 is the centimetre, 2 and a missing one are the inch.
        let centimetres = matches!(self.0.find_tag_unsigned::<u16>(Tag::ResolutionUnit), Ok(Some(3)));
        let dpi = resolution.map(|dots| if centimetres { dots * 2.54 } else { dots });
        dpi.filter(|dpi| LIKELY_DPI.contains(dpi)).unwrap_or(USUAL_DPI)
    }
}

/// Unpacks samples of fewer than eight bits; every row starts at a byte boundary.
fn unpacked(samples: &[u8], width: usize, bits: u8) -> impl Iterator<Item = u8> {
    let bits = usize::from(bits);
    let row = (width * bits).div_ceil(8).max(1);
    let mask = ((1_u16 << bits) - 1) as u8;
    samples
        .chunks_exact(row)
        .flat_map(move |row| (0..width).map(move |x| (row[x * bits / 8] >> (8 - bits - (x * bits) % 8)) & mask))
}

fn broken(error: tiff::TiffError) -> Error {
    match error {
        tiff::TiffError::LimitsExceeded => Error::TooLarge,
        other => Error::Broken(other.to_string()),
    }
}
