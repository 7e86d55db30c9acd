//! Rules: straight horizontal and vertical lines, found as long thin runs of ink.

use crate::grey::Grey;
use crate::hocr::Box4;

/// Minimum length of a line, in inches; longer than the strokes of letters.
const MIN_LENGTH: f32 = 0.3;
/// Maximum thickness of a line, in inches.
const MAX_THICK: f32 = 0.03;
/// Maximum gap inside a run, in pixels: scanners lose some.
const MAX_GAP: usize = 2;
/// Maximum distance between the pieces of one line, in pixels, where it continues one row higher or lower.
const MAX_BREAK: i64 = 12;
/// Distance between the sampled positions of a run, in pixels.
const SAMPLE: usize = 5;
/// Maximum number of runs in one direction; with more the page is a picture.
const MAX_RUNS: usize = 60_000;

/// Returns the horizontal and vertical lines of an image, in pixels.
pub(crate) fn find(picture: &Grey, threshold: u8, dpi: f32) -> Vec<Box4> {
    let least = (MIN_LENGTH * dpi) as usize;
    let thick = (MAX_THICK * dpi).max(3.0) as i64;
    let dark = |x: i64, y: i64| {
        let inside = (0..picture.width() as i64).contains(&x) && (0..picture.height() as i64).contains(&y);
        inside && picture.row(y as usize)[x as usize] <= threshold
    };
    let mut across = runs_across(picture, threshold, least);
    across.retain(|run| run.is_thin(thick, dark));
    let mut down = runs_down(picture, threshold, least);
    down.retain(|run| run.is_thin(thick, |along, at| dark(at, along)));
    let (across, down) = (lines(across, thick), lines(down, thick));
    let across = across.into_iter().map(|line| [line.from, line.top, line.to, line.bottom + 1]);
    let down = down.into_iter().map(|line| [line.top, line.from, line.bottom + 1, line.to]);
    across.chain(down).map(|edges| edges.map(|edge| edge as f32)).collect()
}

/// Run of ink: its row or column, start and end.
#[derive(Debug, Clone, Copy)]
struct Run {
    at: i64,
    from: i64,
    to: i64,
}

impl Run {
    /// Whether the run is a line, thin and with paper on both sides, for at least 60 % of its length, rather than a row
    /// of letters or the edge of a block.
    fn is_thin(&self, thick: i64, dark: impl Fn(i64, i64) -> bool) -> bool {
        let (mut thin, mut all) = (0, 0);
        for along in (self.from..self.to).step_by(SAMPLE) {
            let reach = |step: i64| (1..=thick).take_while(|far| dark(along, self.at + step * far)).count() as i64;
            let (before, after) = (reach(-1), reach(1));
            let clear = |at: i64| !dark(along, at);
            let alone = clear(self.at - before - 2) && clear(self.at + after + 2);
            all += 1;
            thin += usize::from(before + after < thick && alone);
        }
        thin * 5 >= all * 3
    }
}

fn runs_across(picture: &Grey, threshold: u8, least: usize) -> Vec<Run> {
    let mut out = Vec::new();
    for (y, row) in picture.rows().enumerate() {
        let mut run = Growing::default();
        for (x, value) in row.iter().enumerate() {
            out.extend(run.step(*value <= threshold, x, least).map(|(from, to)| Run { at: y as i64, from, to }));
        }
        out.extend(run.end(least).map(|(from, to)| Run { at: y as i64, from, to }));
    }
    out
}

fn runs_down(picture: &Grey, threshold: u8, least: usize) -> Vec<Run> {
    let mut columns = vec![Growing::default(); picture.width()];
    let mut out = Vec::new();
    for (y, row) in picture.rows().enumerate() {
        for ((x, value), run) in (0..).zip(row).zip(&mut columns) {
            out.extend(run.step(*value <= threshold, y, least).map(|(from, to)| Run { at: x, from, to }));
        }
    }
    for (x, mut run) in (0..).zip(columns) {
        out.extend(run.end(least).map(|(from, to)| Run { at: x, from, to }));
    }
    out.sort_by_key(|run| (run.at, run.from));
    out
}

/// Run that may still grow.
#[derive(Debug, Clone, Copy, Default)]
struct Growing {
    from: usize,
    /// End of its last ink; 0 while there is none.
    to: usize,
}

impl Growing {
    /// Takes the next pixel, and returns a run that ended before it.
    fn step(&mut self, dark: bool, place: usize, least: usize) -> Option<(i64, i64)> {
        if !dark {
            return (self.to > 0 && place > self.to + MAX_GAP).then(|| self.end(least)).flatten();
        }
        if self.to == 0 {
            self.from = place;
        }
        self.to = place + 1;
        None
    }

    fn end(&mut self, least: usize) -> Option<(i64, i64)> {
        let found = (self.to >= self.from + least).then_some((self.from as i64, self.to as i64));
        self.to = 0;
        found
    }
}

/// Line under construction: adjacent rows of ink.
#[derive(Debug, Clone, Copy)]
struct InkBand {
    top: i64,
    bottom: i64,
    from: i64,
    to: i64,
    /// Amount of ink.
    ink: i64,
}

/// Joins the runs of adjacent rows to lines, and discards those that are too thick.
fn lines(runs: Vec<Run>, thick: i64) -> Vec<InkBand> {
    if runs.len() > MAX_RUNS {
        return Vec::new();
    }
    let mut done: Vec<InkBand> = Vec::new();
    let mut open: Vec<InkBand> = Vec::new();
    for run in runs {
        open.retain(|line| {
            let late = line.bottom + 2 < run.at;
            if late {
                done.push(*line);
            }
            !late
        });
        let touches = |line: &InkBand| line.from - MAX_BREAK <= run.to && run.from <= line.to + MAX_BREAK;
        let mut joined = InkBand { top: run.at, bottom: run.at, from: run.from, to: run.to, ink: run.to - run.from };
        open.retain(|line| {
            let apart = !touches(line);
            if !apart {
                joined = InkBand {
                    top: joined.top.min(line.top),
                    bottom: joined.bottom.max(line.bottom),
                    from: joined.from.min(line.from),
                    to: joined.to.max(line.to),
                    ink: joined.ink + line.ink,
                };
            }
            apart
        });
        open.push(joined);
    }
    done.append(&mut open);
    // A slightly slanted line covers more rows with its length, but has no more ink per length.
    done.retain(|line| {
        let length = line.to - line.from;
        line.bottom + 1 - line.top <= thick + length / 200 && line.ink <= thick * length
    });
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_and_blocks_and_letters_are_not() {
        let (width, height) = (800_usize, 600_usize);
        let mut pixels = vec![255; width * height];
        let mut fill = |x0: usize, y0: usize, x1: usize, y1: usize| {
            for y in y0..y1 {
                pixels[y * width + x0..y * width + x1].fill(0);
            }
        };
        fill(50, 100, 400, 103);
        // The line continues one row lower after a gap.
        fill(404, 101, 750, 104);
        fill(50, 100, 52, 500);
        fill(300, 200, 500, 300);
        fill(100, 400, 130, 404);
        let found = find(&Grey::new(800, 600, pixels).unwrap(), 128, 200.0);
        assert_eq!(found, [[50.0, 100.0, 750.0, 104.0], [50.0, 100.0, 52.0, 500.0]]);
    }
}
