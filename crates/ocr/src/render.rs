//! Rendering of PDF pages.
//!
//! A page that consists of a single image, as in scans, is not rendered: the scanned image is used directly.

use hayro::hayro_interpret::font::GlyphRun;
use hayro::hayro_interpret::util::TransformExt;
use hayro::hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageData, ImageDrawProps, InterpreterCache,
    InterpreterSettings, RasterImage, SoftMask, interpret_page,
};
use hayro::hayro_syntax::page::Page;
use hayro::hayro_syntax::{LoadPdfError, Pdf};
use hayro::kurbo::{Affine, BezPath, Rect};
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings, render};

use crate::frame::Frame;
use crate::grey::{is_allowed, luminance, of_rgb};
use crate::{Error, Grey, MAX_PIXELS};

// Enough for print of 6 points, whose letters then have 8 pixels and are enlarged before they are read.
/// Resolution at which pages are rendered, in dots per inch.
const DPI: f32 = 200.0;
/// Maximum edge length that can be rendered, in pixels.
const MAX_DRAWN_EDGE: f32 = 30_000.0;
/// Range of resolutions in which scanned images are used directly, in dots per inch.
const SCANNED: std::ops::RangeInclusive<f32> = 90.0..=450.0;
/// Minimum share of a page that the image of a scan covers.
const WHOLE: f64 = 0.9;

/// Renderer for the pages of one PDF.
pub struct Renderer(Pdf);

impl Renderer {
    /// Opens a PDF, with the empty password if it is encrypted.
    ///
    /// # Errors
    ///
    /// [`Error::Broken`] if it cannot be read.
    pub fn new(bytes: Vec<u8>) -> Result<Self, Error> {
        Pdf::new(bytes).map(Self).map_err(|error| match error {
            LoadPdfError::Decryption(_) => Error::Broken("the PDF is encrypted".to_owned()),
            LoadPdfError::Invalid => Error::Broken("the file is not a PDF".to_owned()),
        })
    }

    /// Returns the number of pages.
    #[must_use]
    pub fn pages(&self) -> u32 {
        u32::try_from(self.0.pages().len()).unwrap_or(u32::MAX)
    }

    /// Renders a page, counted from 1, at 200 dpi; a large page at a lower resolution, a scanned page as it was
    /// scanned.
    ///
    /// # Errors
    ///
    /// [`Error::NoPage`], or [`Error::TooLarge`] if even a low resolution has too many pixels.
    pub fn render(&self, number: u32) -> Result<Frame, Error> {
        let place = (number as usize).checked_sub(1).ok_or(Error::NoPage(number))?;
        let page = self.0.pages().get(place).ok_or(Error::NoPage(number))?;
        match scanned(&self.0, page) {
            Some(frame) => Ok(frame),
            None => drawn(page),
        }
    }
}

fn drawn(page: &Page<'_>) -> Result<Frame, Error> {
    let (width, height) = page.render_dimensions();
    let most = (MAX_PIXELS as f32 / (width * height)).sqrt().min(MAX_DRAWN_EDGE / width.max(height));
    let scale = (DPI / 72.0).min(most);
    if !scale.is_finite() || width * scale < 1.0 || height * scale < 1.0 {
        return Err(Error::TooLarge);
    }
    // Hinting moves strokes to whole pixels, which changes their thickness; that is measured later.
    let settings = RenderSettings { force_image_interpolation: true, hinting: false, ..RenderSettings::default() };
    let size = PixmapSettings { x_scale: scale, y_scale: scale, bg_color: WHITE };
    let pixmap = render(page, &RenderCache::new(), &InterpreterSettings::default(), &settings, &size);
    let pixels = pixmap.data().iter().map(|pixel| luminance(pixel.r, pixel.g, pixel.b)).collect();
    let grey = Grey::new(u32::from(pixmap.width()), u32::from(pixmap.height()), pixels).ok_or(Error::TooLarge)?;
    Ok(Frame { grey, dpi: scale * 72.0 })
}

/// Returns the image that fills a page, rotated as the page is.
fn scanned(pdf: &Pdf, page: &Page<'_>) -> Option<Frame> {
    let (width, height) = page.render_dimensions();
    let sheet = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    let mut finder = Finder { sheet, scan: PageImages::None };
    let cache = InterpreterCache::new();
    let place = page.initial_transform(true).to_kurbo();
    let mut context = Context::new(place, sheet, &cache, pdf.xref(), InterpreterSettings::default());
    interpret_page(page, &mut context, &mut finder);
    match finder.scan {
        PageImages::One(frame) => Some(frame),
        PageImages::None | PageImages::Other => None,
    }
}

/// Content of a page.
enum PageImages {
    None,
    /// One image that covers the page.
    One(Frame),
    /// Anything else.
    Other,
}

/// Device that looks for the image of a scan.
struct Finder {
    sheet: Rect,
    scan: PageImages,
}

impl Finder {
    fn add(&mut self, image: &RasterImage<'_>, transform: Affine) {
        let found = match self.scan {
            PageImages::None => self.frame(image, transform),
            PageImages::One(_) | PageImages::Other => None,
        };
        self.scan = found.map_or(PageImages::Other, PageImages::One);
    }

    fn frame(&self, image: &RasterImage<'_>, transform: Affine) -> Option<Frame> {
        let size = Rect::new(0.0, 0.0, f64::from(image.width()), f64::from(image.height()));
        let covered = transform.transform_rect_bbox(size).intersect(self.sheet);
        let quarters = quarters(&transform)?;
        // The determinant is the area of a pixel in square points.
        let dpi = (72.0 / transform.determinant().abs().sqrt()) as f32;
        if covered.area() < WHOLE * self.sheet.area() || !SCANNED.contains(&dpi) {
            return None;
        }
        // An image that is cropped or shifted on the page must be rendered.
        let even = |a: f64, b: f64| (a - b).abs() < 0.02 * b;
        let around = transform.transform_rect_bbox(size);
        if !even(around.width(), self.sheet.width()) || !even(around.height(), self.sheet.height()) {
            return None;
        }
        let mut grey = None;
        image.with_rgba(|image, alpha| grey = if alpha.is_none() { shades(image) } else { None }, None);
        let grey = grey?;
        let across = if quarters % 2 == 1 { grey.height() } else { grey.width() };
        let dpi = across as f32 * 72.0 / self.sheet.width() as f32;
        Some(Frame { grey: grey.turned(quarters), dpi })
    }
}

/// Returns the clockwise quarter turns of a transform; `None` if it does anything except scale, turn by quarters and
/// move.
fn quarters(transform: &Affine) -> Option<u8> {
    // A scan that was placed by hand is a little turned or stretched: a hundredth and a twentieth are allowed.
    let [a, b, c, d, ..] = transform.as_coeffs();
    let size = a.abs().max(b.abs());
    let zero = |value: f64| value.abs() < 0.01 * size;
    let square = |x: f64, y: f64| (x.abs() / y.abs() - 1.0).abs() < 0.05;
    if zero(b) && zero(c) && square(a, d) && a * d > 0.0 {
        return Some(if a > 0.0 { 0 } else { 2 });
    }
    (zero(a) && zero(d) && square(b, c) && b * c < 0.0).then_some(if b > 0.0 { 1 } else { 3 })
}

fn shades(image: ImageData) -> Option<Grey> {
    if !is_allowed(image.width(), image.height()) {
        return None;
    }
    match image {
        ImageData::Luma(luma) => Grey::new(luma.width, luma.height, luma.data),
        ImageData::Rgb(rgb) => Grey::new(rgb.width, rgb.height, of_rgb(&rgb.data)),
    }
}

impl<'a> Device<'a> for Finder {
    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {
        self.scan = PageImages::Other;
    }

    fn push_clip_path(&mut self, _: &ClipPath) {}

    fn push_transparency_group(&mut self, opacity: f32, mask: Option<SoftMask<'a>>, mode: BlendMode) {
        // A plain group changes nothing of what is drawn in it.
        if opacity < 1.0 || mask.is_some() || mode != BlendMode::default() {
            self.scan = PageImages::Other;
        }
    }

    fn draw_glyph_run(&mut self, _: &GlyphRun<'_, 'a>, _: DrawProps<'a>, _: &DrawMode) {
        self.scan = PageImages::Other;
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        match image {
            Image::Raster(image) => self.add(&image, props.transform),
            Image::Stencil(_) => self.scan = PageImages::Other,
        }
    }

    fn pop_clip(&mut self) {}

    fn pop_transparency_group(&mut self) {}
}
