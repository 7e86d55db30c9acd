//! Widths of glyphs, as shares of the em.

use lopdf::{Dictionary, Document, Object};

use crate::objects::{Lookup, number, resolve};

/// Maximum number of entries in the width table of a composite font.
const MAX_ENTRIES: usize = 70_000;

/// Highest glyph number.
const MAX_CID: f32 = 65_535.0;

// From the metrics of Adobe's 14 standard fonts (Helvetica.afm, Times-Roman.afm), which files need not embed. Other
// styles of these families differ little.

/// Widths of Helvetica from space to tilde, in thousandths.
const HELVETICA: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];
/// Widths of Times from space to tilde, in thousandths.
const TIMES: [u16; 95] = [
    250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500, 500, 500, 500, 500,
    500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611, 556, 722, 722, 333, 389, 722, 611, 889,
    722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722, 722, 611, 333, 278, 333, 469, 500, 333, 444, 500, 444, 500,
    444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480,
    200, 480, 541,
];

/// Returns the widths of a simple font. `scale` is the width of one unit, a thousandth of the em except in Type 3
/// fonts.
pub(crate) fn simple(doc: &Document, font: &Dictionary, name: &str, scale: f32) -> [f32; 256] {
    let missing = font.dict(doc, b"FontDescriptor").and_then(|descriptor| descriptor.number(doc, b"MissingWidth"));
    let Some(listed) = font.array(doc, b"Widths") else { return standard(name) };
    let mut widths = [missing.unwrap_or(0.0) * scale; 256];
    let first = font.integer(doc, b"FirstChar").unwrap_or(0).clamp(0, 256);
    for (code, width) in (first..).zip(listed) {
        let Some(slot) = usize::try_from(code).ok().and_then(|code| widths.get_mut(code)) else { break };
        if let Some(width) = resolve(doc, width).and_then(number) {
            *slot = width * scale;
        }
    }
    widths
}

/// Returns the widths of a standard font.
fn standard(name: &str) -> [f32; 256] {
    if name.contains("Courier") || name.contains("Mono") {
        // All glyphs of Courier have 600 thousandths.
        return [0.6; 256];
    }
    let (table, other) =
        if name.contains("Times") || name.contains("Serif") { (&TIMES, 0.5) } else { (&HELVETICA, 0.556) };
    let mut widths = [other; 256];
    for (slot, width) in widths[32..].iter_mut().zip(table) {
        *slot = f32::from(*width) / 1000.0;
    }
    widths
}

/// Widths of a composite font: sorted ranges of glyphs, and the width of all others.
#[derive(Debug)]
pub(crate) struct CidWidths {
    ranges: Vec<(u32, u32, f32)>,
    other: f32,
}

impl CidWidths {
    pub(crate) fn of(doc: &Document, font: &Dictionary) -> Self {
        let other = font.number(doc, b"DW").unwrap_or(1000.0) / 1000.0;
        let mut ranges = Vec::new();
        let mut rest = font.array(doc, b"W").unwrap_or_default();
        let cid = |object: Option<&Object>| object.and_then(number).unwrap_or(0.0).clamp(0.0, MAX_CID) as u32;
        while let [first, second, after @ ..] = rest {
            let first = cid(resolve(doc, first));
            rest = after;
            match resolve(doc, second) {
                Some(Object::Array(listed)) => {
                    let widths = listed.iter().map(|width| resolve(doc, width).and_then(number).unwrap_or(0.0));
                    ranges.extend((first..).zip(widths).map(|(cid, width)| (cid, cid, width / 1000.0)));
                }
                Some(last) => {
                    let [width, after @ ..] = rest else { break };
                    rest = after;
                    let last = cid(Some(last));
                    ranges.push((first, last, resolve(doc, width).and_then(number).unwrap_or(0.0) / 1000.0));
                }
                None => {}
            }
            if ranges.len() > MAX_ENTRIES {
                break;
            }
        }
        ranges.sort_by_key(|(first, ..)| *first);
        Self { ranges, other }
    }

    pub(crate) fn get(&self, cid: u32) -> f32 {
        let place = self.ranges.partition_point(|(first, ..)| *first <= cid);
        match place.checked_sub(1).and_then(|place| self.ranges.get(place)) {
            Some((_, last, width)) if cid <= *last => *width,
            _ => self.other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_widths_has_lists_and_ranges() {
        let doc = Document::new();
        let listed = Object::Array(vec![500.into(), 250.into()]);
        let table = Object::Array(vec![3.into(), listed, 10.into(), 20.into(), 700.into()]);
        let widths = CidWidths::of(&doc, &Dictionary::from_iter([("W", table), ("DW", 900.into())]));
        for (cid, width) in [(2, 0.9), (3, 0.5), (4, 0.25), (5, 0.9), (10, 0.7), (20, 0.7), (21, 0.9)] {
            assert!((widths.get(cid) - width).abs() < 1e-6, "{cid}");
        }
    }

    #[test]
    fn numbers_beyond_all_glyphs_do_no_harm() {
        let listed = Object::Array(vec![500.into(), 250.into()]);
        let table = Object::Array(vec![Object::Real(1e20), listed, (-5).into(), i64::MAX.into(), 700.into()]);
        let widths = CidWidths::of(&Document::new(), &Dictionary::from_iter([("W", table)]));
        assert!((widths.get(7) - 0.7).abs() < 1e-6);
    }

    #[test]
    fn fonts_without_widths_have_those_of_a_standard_font() {
        let widths = simple(&Document::new(), &Dictionary::new(), "Helvetica-Bold", 0.001);
        assert!((widths[usize::from(b'W')] - 0.944).abs() < 1e-6);
    }
}
