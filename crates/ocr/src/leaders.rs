//! Leaders: rows of dots that lead from a title to its page number.
//!
//! Tesseract reads them as random letters. So they are erased from the image before it is read, and inserted among the
//! words as dots.

use crate::grey::Grey;
use crate::parts::Component;

/// Maximum size of a dot, in inches.
const MAX_DOT: f32 = 0.035;
/// Maximum distance between dots, in inches.
const MAX_STEP: f32 = 0.2;
/// Minimum number of dots; three are an ellipsis.
const MIN_DOTS: usize = 6;
/// Tolerance of the distance between dots, as a share of it, but at least a pixel and a half.
const EVEN: f32 = 0.3;
/// Maximum number of dots on a page; more of them are a pattern.
const MAX_DOTS: usize = 60_000;

/// Row of dots, in pixels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Leader {
    pub(crate) dots: Vec<Component>,
}

impl Leader {
    /// Returns left, top, right, bottom.
    pub(crate) fn bounds(&self) -> [f32; 4] {
        let start = [f32::INFINITY, f32::INFINITY, 0.0, 0.0];
        self.dots.iter().fold(start, |[x0, y0, x1, y1], dot| {
            [x0.min(dot.x0 as f32), y0.min(dot.y0 as f32), x1.max(dot.x1 as f32), y1.max(dot.y1 as f32)]
        })
    }
}

/// Finds the leaders among the parts of an image.
pub(crate) fn find(parts: &[Component], dpi: f32) -> Vec<Leader> {
    let most = (MAX_DOT * dpi).max(2.0) as u32;
    let is_dot = |part: &&Component| {
        let (width, height) = (part.width(), part.height());
        width <= most && height <= most && width <= 2 * height + 1 && height <= 2 * width + 1
    };
    let mut dots: Vec<Component> = parts.iter().filter(is_dot).copied().collect();
    if dots.len() > MAX_DOTS {
        return Vec::new();
    }
    dots.sort_by_key(|dot| (dot.x0, dot.y1));
    // Rows that may still grow. The dots come from left to right, so a row ends when the next dot is out of its reach.
    let mut open: Vec<Vec<Component>> = Vec::new();
    let mut found = Vec::new();
    for dot in dots {
        let reach = MAX_STEP * dpi;
        let (early, late): (Vec<_>, Vec<_>) =
            open.into_iter().partition(|row| row.last().is_some_and(|last| dot.x0 as f32 - last.x0 as f32 > reach));
        found.extend(early);
        open = late;
        let fit = open.iter_mut().filter(|row| goes_on(row, &dot)).max_by_key(|row| row.len());
        match fit {
            Some(row) => row.push(dot),
            None => open.push(vec![dot]),
        }
    }
    found.extend(open);
    found.into_iter().filter(|row| row.len() >= MIN_DOTS).map(|dots| Leader { dots }).collect()
}

fn goes_on(row: &[Component], dot: &Component) -> bool {
    let Some(last) = row.last() else { return false };
    let step = dot.x0 as f32 - last.x0 as f32;
    let level = dot.y1.abs_diff(last.y1) <= 1 && dot.y0.abs_diff(last.y0) <= 2;
    let usual = match row {
        [.., before, last] => last.x0 as f32 - before.x0 as f32,
        _ => step,
    };
    level && dot.x0 > last.x1 && (step - usual).abs() <= (EVEN * usual).max(1.6)
}

/// Erases the dots of leaders.
pub(crate) fn erase(picture: &mut Grey, leaders: &[Leader]) {
    for dot in leaders.iter().flat_map(|leader| &leader.dots) {
        picture.whiten([dot.x0.saturating_sub(1), dot.y0.saturating_sub(1), dot.x1 + 1, dot.y1 + 1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(x: u32, y: u32) -> Component {
        Component { x0: x, y0: y, x1: x + 3, y1: y + 3, area: 9 }
    }

    #[test]
    fn even_rows_of_dots_are_leaders() {
        let leader = |y: u32| (0..20).map(move |place| dot(100 + 9 * place, y + place % 2));
        let specks = [dot(40, 300), dot(77, 20), dot(205, 61), dot(300, 52)];
        let ellipsis = (0..3).map(|place| dot(400 + 9 * place, 50));
        let parts: Vec<Component> = leader(50).chain(leader(90)).chain(specks).chain(ellipsis).collect();
        let found = find(&parts, 200.0);
        assert_eq!(found.iter().map(|leader| leader.dots.len()).collect::<Vec<_>>(), [20, 20]);
        assert_eq!(found[0].bounds(), [100.0, 50.0, 274.0, 54.0]);
    }
}
