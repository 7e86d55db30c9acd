//! Detection of the skew of a page.
//!
//! At the right angle the ink of a line of text falls into the fewest rows, so the sum of the squares of the ink per
//! row has its maximum (Postl, "Detection of linear oblique structures and skew scan in digitized documents", 1986).

use crate::grey::Grey;

/// Largest angle that is detected, in degrees.
const MAX_DEGREES: f32 = 6.0;
/// Steps of the first and the second search, in degrees.
const COARSE: f32 = 0.25;
const FINE: f32 = 0.03;
/// Maximum number of sampled dark pixels.
const MAX_DARK: usize = 60_000;
/// Side of a cell of the search, in pixels.
const CELL: usize = 3;

/// Returns the angle by which lines descend to the right, in radians; 0 if it is unclear.
pub(crate) fn angle(picture: &Grey, threshold: u8) -> f32 {
    let dark = dark_cells(picture, threshold);
    if dark.len() < 200 {
        return 0.0;
    }
    let rows = picture.height() / CELL + 1;
    let reach = (picture.width() / CELL) as f32 * MAX_DEGREES.to_radians().tan();
    let mut counts = vec![0_u32; rows + 2 * reach as usize + 4];
    let mut score = |degrees: f32| {
        let slope = degrees.to_radians().tan();
        counts.fill(0);
        for (x, y) in &dark {
            let row = (*y - slope * *x + reach + 1.0) as usize;
            if let Some(count) = counts.get_mut(row) {
                *count += 1;
            }
        }
        counts.iter().map(|count| f64::from(*count) * f64::from(*count)).sum::<f64>()
    };
    let level = score(0.0);
    let coarse = search(0.0, MAX_DEGREES, COARSE, &mut score);
    let (best, found) = search(coarse.0, COARSE, FINE, &mut score);
    // Noise has a maximum too, so the best angle must be clearly better than none.
    if found > 1.04 * level { best.to_radians() } else { 0.0 }
}

/// Returns the best of the angles around one, and its score. Ties go to the smaller angle.
fn search(around: f32, reach: f32, step: f32, score: &mut impl FnMut(f32) -> f64) -> (f32, f64) {
    let steps = (reach / step).round() as i32;
    let tried = (-steps..=steps).map(|place| around + place as f32 * step).map(|degrees| (degrees, score(degrees)));
    tried.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.abs().total_cmp(&a.0.abs()))).unwrap_or((0.0, 0.0))
}

/// Returns positions at the lower edges of ink: the feet of letters stand on their line, and each stroke counts once.
fn dark_cells(picture: &Grey, threshold: u8) -> Vec<(f32, f32)> {
    let mut out = Vec::new();
    for y in 1..picture.height() {
        let (above, here) = (picture.row(y - 1), picture.row(y));
        for x in (0..here.len()).step_by(CELL) {
            if above[x] <= threshold && here[x] > threshold {
                out.push((x as f32 / CELL as f32, y as f32 / CELL as f32));
            }
        }
    }
    let every = out.len() / MAX_DARK + 1;
    out.into_iter().step_by(every).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws lines of dashes that descend by an angle.
    fn lines(degrees: f32) -> Grey {
        let (width, height) = (1200_usize, 1600_usize);
        let mut pixels = vec![255; width * height];
        for line in 0..35 {
            for x in (100..1100).filter(|x| x % 14 < 9) {
                let y = 120.0 + 40.0 * line as f32 + (x as f32 - 600.0) * degrees.to_radians().tan();
                for row in 0..14 {
                    pixels[(y as usize + row) * width + x] = 20;
                }
            }
        }
        Grey::new(1200, 1600, pixels).unwrap()
    }

    #[test]
    fn angles_are_found() {
        for degrees in [-4.0, -1.3, 0.0, 0.4, 2.0, 5.0] {
            let found = angle(&lines(degrees), 128).to_degrees();
            assert!((found - degrees).abs() < 0.1, "{degrees}: {found}");
        }
    }

    #[test]
    fn an_empty_page_is_level() {
        assert!(angle(&Grey::new(300, 300, vec![255; 90_000]).unwrap(), 128) == 0.0);
    }
}
