//! Connected components of ink: letters, dots, specks.

use crate::grey::Grey;

/// Maximum number of runs of ink in an image; with more it is not a page of text.
const MAX_RUNS: usize = 3_000_000;

/// Connected component and its bounding box; the right and lower edges are exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Component {
    pub(crate) x0: u32,
    pub(crate) y0: u32,
    pub(crate) x1: u32,
    pub(crate) y1: u32,
    /// Number of dark pixels.
    pub(crate) area: u32,
}

impl Component {
    pub(crate) fn width(&self) -> u32 {
        self.x1 - self.x0
    }

    pub(crate) fn height(&self) -> u32 {
        self.y1 - self.y0
    }
}

/// Run of ink in one row.
struct Run {
    from: u32,
    to: u32,
    /// Index of its component, to be resolved by [`root`].
    part: u32,
}

/// Returns the components of an image, or none if there are too many runs.
// Connected-component labelling in one pass over the runs of each row, with a union-find structure in `parents`.
pub(crate) fn parts(picture: &Grey, threshold: u8) -> Vec<Component> {
    let mut parts: Vec<Component> = Vec::new();
    let mut parents: Vec<u32> = Vec::new();
    let (mut above, mut here): (Vec<Run>, Vec<Run>) = (Vec::new(), Vec::new());
    let mut count = 0;
    for (y, row) in picture.rows().enumerate() {
        runs(row, threshold, &mut here);
        count += here.len();
        if count > MAX_RUNS {
            return Vec::new();
        }
        // `first` skips the runs above that end left of this one, so both rows are walked once.
        let mut first = 0;
        for run in &mut here {
            while above.get(first).is_some_and(|other| other.to < run.from) {
                first += 1;
            }
            let mut part = u32::MAX;
            for other in above[first..].iter().take_while(|other| other.from <= run.to) {
                let found = root(&mut parents, other.part);
                part = if part == u32::MAX { found } else { join(&mut parents, &mut parts, part, found) };
            }
            if part == u32::MAX {
                part = parts.len() as u32;
                parents.push(part);
                parts.push(Component { x0: run.from, y0: y as u32, x1: run.to, y1: y as u32 + 1, area: 0 });
            }
            let held = &mut parts[part as usize];
            held.x0 = held.x0.min(run.from);
            held.x1 = held.x1.max(run.to);
            held.y1 = y as u32 + 1;
            held.area += run.to - run.from;
            run.part = part;
        }
        std::mem::swap(&mut above, &mut here);
    }
    parts
        .into_iter()
        .zip(parents)
        .zip(0..)
        .filter(|((_, parent), place)| parent == place)
        .map(|((part, _), _)| part)
        .collect()
}

fn runs(row: &[u8], threshold: u8, out: &mut Vec<Run>) {
    out.clear();
    let mut start = None;
    for (x, value) in (0..).zip(row) {
        match (*value <= threshold, start) {
            (true, None) => start = Some(x),
            (false, Some(from)) => {
                out.push(Run { from, to: x, part: 0 });
                start = None;
            }
            _ => {}
        }
    }
    out.extend(start.map(|from| Run { from, to: row.len() as u32, part: 0 }));
}

fn root(parents: &mut [u32], place: u32) -> u32 {
    let mut root = place;
    while parents[root as usize] != root {
        // Path halving.
        parents[root as usize] = parents[parents[root as usize] as usize];
        root = parents[root as usize];
    }
    root
}

/// Merges two components and returns the one that is kept.
fn join(parents: &mut [u32], parts: &mut [Component], a: u32, b: u32) -> u32 {
    if a == b {
        return a;
    }
    let (kept, gone) = (a.min(b), a.max(b));
    parents[gone as usize] = kept;
    let other = parts[gone as usize];
    let part = &mut parts[kept as usize];
    *part = Component {
        x0: part.x0.min(other.x0),
        y0: part.y0.min(other.y0),
        x1: part.x1.max(other.x1),
        y1: part.y1.max(other.y1),
        area: part.area + other.area,
    };
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ink_that_touches_is_one_part() {
        let drawing = [
            "#.#....#", //
            "#.#.....", //
            ".#...##.", //
            ".....##.", //
        ];
        let pixels = drawing.concat().bytes().map(|byte| if byte == b'#' { 0 } else { 255 }).collect();
        let found = parts(&Grey::new(8, 4, pixels).unwrap(), 128);
        let boxes: Vec<_> = found.iter().map(|part| (part.x0, part.y0, part.x1, part.y1, part.area)).collect();
        assert_eq!(boxes, [(0, 0, 3, 3, 5), (7, 0, 8, 1, 1), (5, 2, 7, 4, 4)]);
    }
}
