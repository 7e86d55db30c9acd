//! Normalization of rules: pieces of one rule are joined, and rules that nearly coincide are made equal.

use crate::geometry::{Point, Rect};

/// Maximum distance of rules that are treated as one, in points.
const SAME: f32 = 2.2;
/// Maximum gap inside a rule that is dashed or drawn cell by cell, in points.
const GAP: f32 = 4.5;
/// Minimum length of a rule, in points.
const SHORTEST: f32 = 4.0;
/// Maximum number of rules; with more the page is a drawing.
const MAX_EDGES: usize = 3000;

/// Rule along an axis: its position across, start and end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Edge {
    pub(crate) at: f32,
    pub(crate) from: f32,
    pub(crate) to: f32,
}

impl Edge {
    pub(crate) fn length(&self) -> f32 {
        self.to - self.from
    }
}

/// Rules of a page.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    pub(crate) across: Vec<Edge>,
    pub(crate) down: Vec<Edge>,
}

impl Edges {
    pub(crate) fn of(rules: &[Rect]) -> Self {
        let mut edges = Self::default();
        for rule in rules {
            let Point { x, y } = rule.center();
            if rule.width() >= rule.height() {
                edges.across.push(Edge { at: y, from: rule.x0, to: rule.x1 });
            } else {
                edges.down.push(Edge { at: x, from: rule.y0, to: rule.y1 });
            }
        }
        edges.across = joined(std::mem::take(&mut edges.across));
        edges.down = joined(std::mem::take(&mut edges.down));
        if edges.across.len() + edges.down.len() > MAX_EDGES {
            return Self::default();
        }
        edges
    }
}

/// Joins the pieces of each rule, in order of position.
fn joined(mut edges: Vec<Edge>) -> Vec<Edge> {
    edges.sort_by(|a, b| a.at.total_cmp(&b.at));
    let mut out: Vec<Edge> = Vec::new();
    let mut start = 0;
    while start < edges.len() {
        let first = edges[start].at;
        let length = edges[start..].iter().take_while(|edge| edge.at - first <= SAME).count();
        let level = &mut edges[start..start + length];
        let at = level.iter().map(|edge| edge.at).sum::<f32>() / length as f32;
        level.sort_by(|a, b| a.from.total_cmp(&b.from));
        let before = out.len();
        for edge in level.iter() {
            match out[before..].last_mut().filter(|last| edge.from <= last.to + GAP) {
                Some(last) => last.to = last.to.max(edge.to),
                None => out.push(Edge { at, ..*edge }),
            }
        }
        start += length;
    }
    out.retain(|edge| edge.length() >= SHORTEST);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_lines() {
        let piece = |x0, x1, y| Rect { x0, y0: y, x1, y1: y };
        let edges = Edges::of(&[
            piece(0.0, 50.0, 10.0),
            piece(52.0, 90.0, 10.5),
            piece(0.0, 90.0, 40.0),
            piece(0.0, 2.0, 70.0),
        ]);
        let spans: Vec<_> = edges.across.iter().map(|edge| (edge.from, edge.to)).collect();
        assert_eq!(spans, [(0.0, 90.0), (0.0, 90.0)]);
        assert!(edges.down.is_empty());
    }
}
