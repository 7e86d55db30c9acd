//! Sibling groups with the same signature ("kin"): posts, comments, cards, articles of an endless page.

use std::collections::HashMap;

use super::outline::Outline;

/// Features of a group among its kin.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KinFeatures {
    /// Number of kin, including the group itself.
    count: f32,
    /// Number of kin before it.
    before: f32,
    /// Letters of prose: of the first, of all before the group, of the group itself, and of all.
    first: f32,
    earlier: f32,
    own: f32,
    all: f32,
    /// Whether the group contains the start of the content, and whether any of its kin does.
    holds_start: bool,
    start_among: bool,
}

impl KinFeatures {
    /// Passes the features to `out`.
    pub(crate) fn write(&self, out: &mut impl FnMut(&'static str, f32)) {
        out("kin", self.count);
        out("kin_before", self.before);
        out("kin_first", self.first);
        out("kin_earlier", self.earlier);
        out("kin_own", self.own);
        out("kin_all", self.all);
        out("kin_start", f32::from(u8::from(self.holds_start)) + f32::from(u8::from(self.start_among)));
    }
}

/// Returns for every group the kin with the most prose, of the group itself or of one around it. `prose` counts the
/// letters of prose between two blocks.
pub(crate) fn kin(outline: &Outline, start: usize, prose: impl Fn(usize, usize) -> f32) -> Vec<KinFeatures> {
    let mut kinds: HashMap<(usize, u64), KinFeatures> = HashMap::new();
    let mut found: Vec<KinFeatures> = Vec::with_capacity(outline.groups.len());
    found.push(KinFeatures::default());
    for group in outline.groups.iter().skip(1) {
        let kind = kinds.entry((group.parent, group.signature)).or_default();
        let own = prose(group.first, group.end);
        if kind.count == 0.0 {
            kind.first = own;
        }
        let holds_start = group.holds(start);
        kind.start_among |= holds_start;
        found.push(KinFeatures {
            before: kind.count,
            earlier: kind.all,
            own,
            first: kind.first,
            holds_start,
            ..KinFeatures::default()
        });
        kind.count += 1.0;
        kind.all += own;
    }
    for (at, group) in outline.groups.iter().enumerate().skip(1) {
        let kind = kinds.get(&(group.parent, group.signature)).copied().unwrap_or_default();
        let own = KinFeatures { count: kind.count, all: kind.all, start_among: kind.start_among, ..found[at] };
        let around = found[group.parent];
        // Parents come before their children, so `found` is final for the group above.
        found[at] = if own.count > 1.0 && own.all > around.all { own } else { around };
    }
    found
}
