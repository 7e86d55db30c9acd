//! Distinction of growth from noise in samples.

/// A value at a time, or after an amount of work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) at: f64,
    pub(crate) figure: f64,
}

/// Returns the slope of the values by least squares; 0 where it is undefined.
pub(crate) fn slope(points: &[Point]) -> f64 {
    let number = points.len() as f64;
    let mean = |of: &dyn Fn(&Point) -> f64| points.iter().map(of).sum::<f64>() / number;
    let (x, y) = (mean(&|point| point.at), mean(&|point| point.figure));
    let (mut up, mut down) = (0.0, 0.0);
    for point in points {
        let off = point.at - x;
        up += off * (point.figure - y);
        down += off * off;
    }
    if down > 0.0 { up / down } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_told_from_noise() {
        let slope = |figures: &[f64]| {
            let points = figures.iter().enumerate().map(|(at, figure)| Point { at: at as f64, figure: *figure });
            slope(&points.collect::<Vec<_>>())
        };
        assert!((slope(&[50.0, 53.0, 56.0]) - 3.0).abs() < 1e-9);
        assert!(slope(&[50.0, 58.0, 50.0]).abs() < 1e-9);
        assert!(slope(&[50.0]).abs() < 1e-9 && slope(&[]).abs() < 1e-9);
    }
}
