//! Decoding of image files.

use std::io::Cursor;

use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use crate::avif;
use crate::frame::{Frame, USUAL_DPI};
use crate::grey::{is_allowed, of_inks, of_rgb, of_rgba, on_paper};
use crate::tiff_pages::Tiff;
use crate::{Error, Grey, MAX_EDGE};

/// Memory limit of a decoder in bytes, besides the file.
const MAX_DECODED: u64 = 256 << 20;

/// Image file; TIFF files may contain several images.
pub struct Pictures<'a> {
    bytes: &'a [u8],
    format: Format,
    count: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Tiff,
    Jpeg2000,
    Avif,
    Other(ImageFormat),
}

impl<'a> Pictures<'a> {
    /// Detects the format: PNG, JPEG, JPEG 2000, TIFF, GIF (its first frame), BMP, WebP or AVIF.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for HEIC, [`Error::Broken`] for other files.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Error> {
        let format = format(bytes)?;
        let count = if format == Format::Tiff { Tiff::open(bytes)?.count() } else { 1 };
        Ok(Self { bytes, format, count })
    }

    /// Returns the number of images.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Decodes one image, counted from 1.
    ///
    /// # Errors
    ///
    /// [`Error::NoPage`], [`Error::Broken`] or [`Error::TooLarge`].
    pub fn frame(&self, number: u32) -> Result<Frame, Error> {
        if !(1..=self.count).contains(&number) {
            return Err(Error::NoPage(number));
        }
        match self.format {
            Format::Tiff => Tiff::open(self.bytes)?.frame(number),
            Format::Jpeg2000 => jpeg2000(self.bytes).map(|grey| Frame { grey, dpi: USUAL_DPI }),
            Format::Avif => avif::grey(self.bytes).map(|grey| Frame { grey, dpi: USUAL_DPI }),
            Format::Other(format) => other(self.bytes, format).map(|grey| Frame { grey, dpi: USUAL_DPI }),
        }
    }
}

fn format(bytes: &[u8]) -> Result<Format, Error> {
    if avif::is_avif(bytes) {
        return Ok(Format::Avif);
    }
    if let Some(b"ftypheic" | b"ftypheix" | b"ftypmif1" | b"ftypmsf1") = bytes.get(4..12) {
        return Err(Error::Unsupported("HEIC"));
    }
    let starts = |start: &[u8]| bytes.starts_with(start);
    if starts(b"II*\0") || starts(b"MM\0*") || starts(b"II+\0") || starts(b"MM\0+") {
        return Ok(Format::Tiff);
    }
    if starts(b"\0\0\0\x0cjP  ") || starts(b"\xff\x4f\xff\x51") {
        return Ok(Format::Jpeg2000);
    }
    match image::guess_format(bytes) {
        Ok(
            format @ (ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::Gif | ImageFormat::Bmp | ImageFormat::WebP),
        ) => Ok(Format::Other(format)),
        _ => Err(Error::Broken("the file is not a supported image".to_owned())),
    }
}

fn other(bytes: &[u8], format: ImageFormat) -> Result<Grey, Error> {
    let broken = |error: image::ImageError| match error {
        image::ImageError::Limits(_) => Error::TooLarge,
        other => Error::Broken(other.to_string()),
    };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_EDGE);
    limits.max_image_height = Some(MAX_EDGE);
    limits.max_alloc = Some(MAX_DECODED);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(broken)?;
    let (width, height) = decoder.dimensions();
    if !is_allowed(width, height) {
        return Err(Error::TooLarge);
    }
    let orientation = decoder.orientation().map_err(broken)?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(broken)?;
    picture.apply_orientation(orientation);
    shades(picture)
}

fn shades(picture: DynamicImage) -> Result<Grey, Error> {
    let (width, height) = (picture.width(), picture.height());
    let pixels = match picture {
        DynamicImage::ImageLuma8(grey) => grey.into_raw(),
        DynamicImage::ImageRgb8(colours) => of_rgb(colours.as_raw()),
        other => of_rgba(other.to_rgba8().as_raw()),
    };
    Grey::new(width, height, pixels).ok_or(Error::TooLarge)
}

fn jpeg2000(bytes: &[u8]) -> Result<Grey, Error> {
    use hayro_jpeg2000::{DecodeSettings, DecoderContext, Image};
    let broken = |error: hayro_jpeg2000::DecodeError| Error::Broken(error.to_string());
    let image = Image::new(bytes, &DecodeSettings::default()).map_err(broken)?;
    let (width, height) = (image.width(), image.height());
    if !is_allowed(width, height) {
        return Err(Error::TooLarge);
    }
    let colours = usize::from(image.color_space().num_channels());
    let channels = colours + usize::from(image.has_alpha());
    let mut context = DecoderContext::default();
    let samples = image.decode(&mut context).map_err(broken)?.data_u8();
    if channels == 0 || samples.len() != channels * width as usize * height as usize {
        return Err(Error::Broken("its channels differ in size".to_owned()));
    }
    let pixels = samples.chunks_exact(channels).map(|pixel| {
        let alpha = if channels > colours { pixel[colours] } else { 255 };
        match colours {
            3 => on_paper(pixel[0], pixel[1], pixel[2], alpha),
            4 => of_inks(pixel[0], pixel[1], pixel[2], pixel[3]),
            _ => on_paper(pixel[0], pixel[0], pixel[0], alpha),
        }
    });
    Grey::new(width, height, pixels.collect()).ok_or(Error::TooLarge)
}
