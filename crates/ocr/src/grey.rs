//! Greyscale images.

/// Maximum number of pixels of an image, decoded or rendered; a letter page at 600 dpi has 34 million.
pub const MAX_PIXELS: u64 = 36_000_000;
/// Maximum edge length of an image, in pixels; tesseract accepts at most 32 767.
pub const MAX_EDGE: u32 = 30_000;

/// Greyscale image; 0 is black and 255 white.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grey {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Grey {
    /// Creates an image from rows, top to bottom; `None` if the number of pixels is wrong or above [`MAX_PIXELS`].
    #[must_use]
    pub fn new(width: u32, height: u32, pixels: Vec<u8>) -> Option<Self> {
        let fits = is_allowed(width, height) && pixels.len() as u64 == u64::from(width) * u64::from(height);
        fits.then_some(Self { width: width as usize, height: height as usize, pixels })
    }

    /// Returns the width in pixels.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the height in pixels.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns all pixels, row by row.
    #[must_use]
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    pub(crate) fn row(&self, y: usize) -> &[u8] {
        &self.pixels[y * self.width..(y + 1) * self.width]
    }

    pub(crate) fn rows(&self) -> std::slice::ChunksExact<'_, u8> {
        self.pixels.chunks_exact(self.width)
    }

    /// Returns the image rotated clockwise by quarter turns.
    #[must_use]
    pub fn turned(&self, quarters: u8) -> Self {
        let (width, height) = (self.width, self.height);
        match quarters % 4 {
            0 => self.clone(),
            2 => Self { width, height, pixels: self.pixels.iter().rev().copied().collect() },
            quarters => {
                let mut pixels = vec![0; self.pixels.len()];
                for (y, row) in self.rows().enumerate() {
                    let column = if quarters == 1 { height - 1 - y } else { y };
                    for (x, value) in row.iter().enumerate() {
                        let line = if quarters == 1 { x } else { width - 1 - x };
                        pixels[line * height + column] = *value;
                    }
                }
                Self { width: height, height: width, pixels }
            }
        }
    }

    /// Returns the image with left and right exchanged.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let pixels = self.rows().flat_map(|row| row.iter().rev().copied()).collect();
        Self { width: self.width, height: self.height, pixels }
    }

    /// Returns the image rotated about its centre so that lines descending to the right by `angle`, in radians, become
    /// level. The size is kept; the corners are filled with white.
    #[must_use]
    pub fn levelled(&self, angle: f32) -> Self {
        let (sin, cos) = angle.sin_cos();
        let (cx, cy) = (self.width as f32 / 2.0, self.height as f32 / 2.0);
        let mut pixels = vec![255; self.pixels.len()];
        for (y, row) in pixels.chunks_exact_mut(self.width).enumerate() {
            let dy = y as f32 - cy;
            // Source position of the row's first pixel; each step to the right advances it by the rotated unit vector.
            let (mut from_x, mut from_y) = (cx - cos * cx - sin * dy, cy - sin * cx + cos * dy);
            for pixel in row {
                *pixel = self.sample(from_x, from_y);
                from_x += cos;
                from_y += sin;
            }
        }
        Self { width: self.width, height: self.height, pixels }
    }

    /// Returns the shade between pixels, by bilinear interpolation in 8-bit fixed point.
    fn sample(&self, x: f32, y: f32) -> u8 {
        if !(x >= 0.0 && y >= 0.0) {
            return 255;
        }
        let (left, top) = (x as usize, y as usize);
        if left + 1 >= self.width || top + 1 >= self.height {
            return 255;
        }
        let at = top * self.width + left;
        // Position between the four pixels, in 256ths. The two products together have 16 bits more than a shade.
        let (fx, fy) = (((x - left as f32) * 256.0) as u32, ((y - top as f32) * 256.0) as u32);
        let mix = |a: u8, b: u8| u32::from(a) * (256 - fx) + u32::from(b) * fx;
        let upper = mix(self.pixels[at], self.pixels[at + 1]);
        let lower = mix(self.pixels[at + self.width], self.pixels[at + self.width + 1]);
        ((upper * (256 - fy) + lower * fy) >> 16) as u8
    }

    /// Fills a box with white: left, top, right and bottom, the latter two exclusive.
    pub(crate) fn whiten(&mut self, [x0, y0, x1, y1]: [u32; 4]) {
        let (x0, x1) = ((x0 as usize).min(self.width), (x1 as usize).min(self.width));
        for y in (y0 as usize)..(y1 as usize).min(self.height) {
            if let Some(row) = self.pixels.get_mut(y * self.width + x0..y * self.width + x1) {
                row.fill(255);
            }
        }
    }

    /// Returns the part of the image inside a box; `None` if it is empty.
    pub(crate) fn cut(&self, [x0, y0, x1, y1]: [u32; 4]) -> Option<Self> {
        let (x1, y1) = (x1.min(self.width as u32), y1.min(self.height as u32));
        let rows = (y0..y1).flat_map(|y| self.row(y as usize).get(x0 as usize..x1 as usize).unwrap_or_default());
        Self::new(x1.checked_sub(x0)?, y1.checked_sub(y0)?, rows.copied().collect())
    }

    /// Returns the image scaled by a factor; `None` if it would be too large.
    #[must_use]
    pub fn scaled(&self, factor: f32) -> Option<Self> {
        let length = |edge: usize| ((edge as f32 * factor).round().max(1.0)) as u32;
        let (width, height) = (length(self.width), length(self.height));
        if !factor.is_finite() || !is_allowed(width, height) {
            return None;
        }
        let whole = image::GrayImage::from_raw(self.width as u32, self.height as u32, self.pixels.clone())?;
        // Triangle blurs less than a pixel and does not ring, unlike sharper filters, whose halos look like strokes.
        let filter = image::imageops::FilterType::Triangle;
        let scaled = image::imageops::resize(&whole, width, height, filter);
        Self::new(width, height, scaled.into_raw())
    }

    /// Returns the threshold between ink and paper (Otsu, "A threshold selection method from gray-level histograms",
    /// 1979).
    #[must_use]
    pub fn threshold(&self) -> u8 {
        let mut counts = [0_u64; 256];
        for value in &self.pixels {
            counts[usize::from(*value)] += 1;
        }
        let total = self.pixels.len() as f64;
        let sum: f64 = counts.iter().enumerate().map(|(shade, count)| shade as f64 * *count as f64).sum();
        // For each possible threshold, the variance between the two classes; the largest wins. Sums are kept from shade
        // to shade, so the pixels are read once.
        let (mut dark, mut dark_sum, mut best, mut found) = (0.0, 0.0, -1.0, 127);
        for (shade, count) in counts.iter().enumerate() {
            dark += *count as f64;
            dark_sum += shade as f64 * *count as f64;
            let light = total - dark;
            if dark == 0.0 || light == 0.0 {
                continue;
            }
            let apart = dark_sum / dark - (sum - dark_sum) / light;
            let between = dark * light * apart * apart;
            if between > best {
                (best, found) = (between, shade);
            }
        }
        u8::try_from(found).unwrap_or(127)
    }
}

/// Whether the size is within the limits.
pub(crate) fn is_allowed(width: u32, height: u32) -> bool {
    let edges = [width, height].iter().all(|edge| (1..=MAX_EDGE).contains(edge));
    edges && u64::from(width) * u64::from(height) <= MAX_PIXELS
}

/// Returns the luminance of a colour.
pub(crate) fn luminance(red: u8, green: u8, blue: u8) -> u8 {
    // ITU-R BT.601, in 256ths: 0.299, 0.587 and 0.114.
    ((u32::from(red) * 77 + u32::from(green) * 150 + u32::from(blue) * 29) >> 8) as u8
}

/// Returns the luminance of a colour on white paper.
pub(crate) fn on_paper(red: u8, green: u8, blue: u8, alpha: u8) -> u8 {
    let (shade, alpha) = (u32::from(luminance(red, green, blue)), u32::from(alpha));
    ((shade * alpha + 255 * (255 - alpha)) / 255) as u8
}

/// Minimum luminance of light ink, which cannot be seen on white.
const LIGHT: u8 = 200;

/// Returns the shades of interleaved red, green, blue and alpha samples on white; on black and inverted if what is drawn
/// on a transparent ground is light, as in logos and captures of dark pages.
pub(crate) fn of_rgba(samples: &[u8]) -> Vec<u8> {
    let pixels = || samples.chunks_exact(4);
    let inked = || pixels().filter(|pixel| pixel[3] > 127);
    let (count, light) = inked().fold((0_usize, 0_usize), |(count, light), pixel| {
        (count + 1, light + usize::from(luminance(pixel[0], pixel[1], pixel[2]) >= LIGHT))
    });
    // Light text covers less than half of a transparent picture, and hardly anything else is drawn there.
    let is_light = 2 * count < samples.len() / 4 && 10 * light > 9 * count;
    let shade = |pixel: &[u8]| match is_light {
        true => 255 - (u32::from(luminance(pixel[0], pixel[1], pixel[2])) * u32::from(pixel[3]) / 255) as u8,
        false => on_paper(pixel[0], pixel[1], pixel[2], pixel[3]),
    };
    pixels().map(shade).collect()
}

/// Returns the luminances of interleaved red, green and blue samples.
pub(crate) fn of_rgb(samples: &[u8]) -> Vec<u8> {
    samples.chunks_exact(3).map(|colour| luminance(colour[0], colour[1], colour[2])).collect()
}

/// Returns the luminance of a CMYK colour; 0 means no ink.
pub(crate) fn of_inks(cyan: u8, magenta: u8, yellow: u8, black: u8) -> u8 {
    let left = |ink: u8| 255 - ink.saturating_add(black);
    luminance(left(cyan), left(magenta), left(yellow))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, height: u32, pixels: &[u8]) -> Grey {
        Grey::new(width, height, pixels.to_vec()).unwrap()
    }

    #[test]
    fn quarters_turn_clockwise() {
        let wide = picture(3, 2, &[1, 2, 3, 4, 5, 6]);
        assert_eq!(wide.turned(1), picture(2, 3, &[4, 1, 5, 2, 6, 3]));
        assert_eq!(wide.turned(2), picture(3, 2, &[6, 5, 4, 3, 2, 1]));
        assert_eq!(wide.turned(3), picture(2, 3, &[3, 6, 2, 5, 1, 4]));
        assert_eq!(wide.turned(1).turned(3), wide);
        assert_eq!(wide.mirrored(), picture(3, 2, &[3, 2, 1, 6, 5, 4]));
        // Top and bottom exchanged.
        assert_eq!(wide.mirrored().turned(2), picture(3, 2, &[4, 5, 6, 1, 2, 3]));
    }

    #[test]
    fn a_line_that_descends_is_levelled() {
        let mut pixels = vec![255; 200 * 100];
        for x in 10..190 {
            let y = 45 + x / 20;
            pixels[y * 200 + x] = 0;
            pixels[(y + 1) * 200 + x] = 0;
        }
        let level = picture(200, 100, &pixels).levelled((1.0_f32 / 20.0).atan());
        let dark = |row: &[u8]| row.iter().filter(|value| **value < 128).count();
        assert!(level.rows().map(dark).max().unwrap() > 150);
    }

    #[test]
    fn light_ink_on_a_transparent_ground_is_dark_on_paper() {
        let (clear, white, black) = ([0, 0, 0, 0], [255, 255, 255, 255], [0, 0, 0, 255]);
        assert_eq!(of_rgba(&[clear, clear, white].concat()), [255, 255, 0]);
        assert_eq!(of_rgba(&[clear, clear, black].concat()), [255, 255, 0]);
        // A picture without a transparent ground stays as it is.
        assert_eq!(of_rgba(&[white, white, black].concat()), [255, 255, 0]);
    }

    #[test]
    fn the_threshold_parts_ink_from_paper() {
        let pixels: Vec<u8> = (0..1000).map(|place| if place % 10 == 0 { 40 } else { 230 }).collect();
        assert!((40..230).contains(&picture(100, 10, &pixels).threshold()));
    }

    #[test]
    fn sizes_are_bounded() {
        assert!(Grey::new(2, 2, vec![0; 3]).is_none());
        assert!(Grey::new(0, 2, Vec::new()).is_none());
        assert!(!is_allowed(6001, 6001) && !is_allowed(MAX_EDGE + 1, 1) && is_allowed(5100, 6600));
    }
}
