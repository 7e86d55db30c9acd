//! Shaded boxes: areas that are slightly darker than the paper, such as table rows.

use crate::grey::Grey;
use crate::hocr::Box4;

/// Side of the sampled cells, in inches.
const CELL: f32 = 0.04;
/// Minimum and maximum difference of a shaded box from the paper, of 255.
const DARKER: std::ops::RangeInclusive<i32> = 7..=110;
/// Maximum difference of the cells of one box.
const SAME: i32 = 6;
/// Minimum size of a box, in inches.
const MIN_WIDTH: f32 = 0.5;
const MIN_HEIGHT: f32 = 0.1;
/// Minimum share of its bounds that a box covers.
const FULL: f32 = 0.85;

/// Returns the shaded boxes of an image, in pixels.
pub(crate) fn find(picture: &Grey, dpi: f32) -> Vec<Box4> {
    let side = ((CELL * dpi) as usize).max(2);
    let cells = Cells::of(picture, side);
    let Some(paper) = cells.paper() else { return Vec::new() };
    let (width, height) = ((MIN_WIDTH * dpi) as usize / side, (MIN_HEIGHT * dpi) as usize / side);
    let mut seen = vec![false; cells.shades.len()];
    let mut out = Vec::new();
    for start in 0..cells.shades.len() {
        let shaded = |place: usize| DARKER.contains(&(paper - i32::from(cells.shades[place])));
        if seen[start] || !shaded(start) {
            continue;
        }
        let group = cells.grow(start, &mut seen, shaded);
        if group.columns() >= width && group.rows() >= height && group.count as f32 >= FULL * group.places() as f32 {
            let edge = |place: usize| (place * side) as f32;
            out.push([edge(group.left), edge(group.top), edge(group.right + 1), edge(group.bottom + 1)]);
        }
    }
    out
}

/// Background shade of each cell.
struct Cells {
    across: usize,
    shades: Vec<u8>,
}

impl Cells {
    fn of(picture: &Grey, side: usize) -> Self {
        let (across, down) = (picture.width() / side, picture.height() / side);
        let mut shades = Vec::with_capacity(across * down);
        let mut values = Vec::with_capacity(side * side);
        for row in 0..down {
            for column in 0..across {
                values.clear();
                for y in row * side..(row + 1) * side {
                    values.extend_from_slice(&picture.row(y)[column * side..(column + 1) * side]);
                }
                // The upper quartile, as text does not darken the background that it stands on.
                let place = values.len() * 3 / 4;
                shades.push(*values.select_nth_unstable(place).1);
            }
        }
        Self { across, shades }
    }

    /// Returns the most frequent shade of the lighter half, as the shade of the paper.
    fn paper(&self) -> Option<i32> {
        let mut counts = [0_usize; 256];
        self.shades.iter().for_each(|shade| counts[usize::from(*shade)] += 1);
        let most = counts.iter().enumerate().skip(128).max_by_key(|(_, count)| **count)?;
        (*most.1 > 0).then_some(most.0 as i32)
    }

    /// Returns the connected cells of similar shade around a cell.
    fn grow(&self, start: usize, seen: &mut [bool], shaded: impl Fn(usize) -> bool) -> Group {
        let shade = i32::from(self.shades[start]);
        let mut group = Group { left: usize::MAX, top: usize::MAX, right: 0, bottom: 0, count: 0 };
        let mut open = vec![start];
        seen[start] = true;
        while let Some(place) = open.pop() {
            let (row, column) = (place / self.across, place % self.across);
            group.add(row, column);
            let sides = [
                (column > 0).then(|| place - 1),
                (column + 1 < self.across).then(|| place + 1),
                place.checked_sub(self.across),
                Some(place + self.across).filter(|below| *below < self.shades.len()),
            ];
            for near in sides.into_iter().flatten() {
                if !seen[near] && shaded(near) && (i32::from(self.shades[near]) - shade).abs() <= SAME {
                    seen[near] = true;
                    open.push(near);
                }
            }
        }
        group
    }
}

/// Group of connected cells.
struct Group {
    left: usize,
    top: usize,
    right: usize,
    bottom: usize,
    count: usize,
}

impl Group {
    fn add(&mut self, row: usize, column: usize) {
        self.left = self.left.min(column);
        self.top = self.top.min(row);
        self.right = self.right.max(column);
        self.bottom = self.bottom.max(row);
        self.count += 1;
    }

    fn columns(&self) -> usize {
        self.right - self.left + 1
    }

    fn rows(&self) -> usize {
        self.bottom - self.top + 1
    }

    fn places(&self) -> usize {
        self.columns() * self.rows()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shaded_rows_are_found() {
        let (width, height) = (800_usize, 600_usize);
        let mut pixels = vec![252; width * height];
        for y in 160..208 {
            pixels[y * width + 80..y * width + 720].fill(225);
        }
        // Text on it, and text elsewhere.
        for y in 170..190 {
            for x in (100..300).step_by(9) {
                pixels[y * width + x] = 0;
                pixels[(y + 200) * width + x] = 0;
            }
        }
        assert_eq!(find(&Grey::new(800, 600, pixels).unwrap(), 200.0), [[80.0, 160.0, 720.0, 208.0]]);
    }
}
