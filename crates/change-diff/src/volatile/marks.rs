//! Marks of the last checks.

use serde::{Deserialize, Serialize};

/// Bits of the checks that are remembered.
const WINDOW: u8 = 0b1_1111;
/// Number of checks with changes that make volatile.
const OFTEN: u32 = 3;
/// Maximum number of checks without a change until a volatile block counts again.
const MAX_REST: u8 = 30;

/// Behaviour in a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// As it was.
    Still,
    /// Same content in another place.
    Moved,
    /// Other content, gone, or back.
    Changed,
}

/// Checks that have changed something: those among the last five, of which the lowest bit is the last one, and their
/// number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Marks {
    #[serde(rename = "c", default, skip_serializing_if = "is_zero")]
    changed: u8,
    #[serde(rename = "m", default, skip_serializing_if = "is_zero")]
    moved: u8,
    /// Number of checks with a change or a move.
    #[serde(rename = "n", default, skip_serializing_if = "is_zero")]
    count: u8,
    /// Number of checks without one since the last.
    #[serde(rename = "q", default, skip_serializing_if = "is_zero")]
    rest: u8,
    #[serde(rename = "v", default, skip_serializing_if = "is_false")]
    is_volatile: bool,
    #[serde(rename = "r", default, skip_serializing_if = "is_false")]
    is_restless: bool,
}

impl Marks {
    /// Returns the marks with those of one more check.
    pub(super) fn after(self, event: Event) -> Self {
        let shifted = |marks: u8, is_marked: bool| ((marks << 1) | u8::from(is_marked)) & WINDOW;
        let changed = shifted(self.changed, event == Event::Changed);
        let moved = shifted(self.moved, event == Event::Moved);
        let all = changed | moved;
        let is_often = all.count_ones() >= OFTEN;
        // Where blocks only change places, the first other content counts.
        let is_new_often = is_often && changed.count_ones() > 1;
        let is_still = event == Event::Still;
        let count = self.count.saturating_add(u8::from(!is_still));
        let rest = if is_still { self.rest.saturating_add(1) } else { 0 };
        // The more often it has changed, the longer it must rest.
        let lasts = rest < count.saturating_mul(2).min(MAX_REST);
        Self {
            changed,
            moved,
            count,
            rest,
            is_volatile: if self.is_volatile { lasts } else { is_new_often },
            is_restless: if self.is_restless { lasts } else { is_often },
        }
    }

    /// Whether it changes again and again.
    pub(super) fn is_volatile(self) -> bool {
        self.is_volatile
    }

    /// Whether it changes its place again and again.
    pub(super) fn is_restless(self) -> bool {
        self.is_restless
    }

    /// Whether one of the last checks has found other content.
    pub(super) fn has_changed(self) -> bool {
        self.changed != 0 || self.is_volatile
    }

    /// Whether there is nothing to remember.
    pub(super) fn is_idle(self) -> bool {
        self.changed | self.moved == 0 && !self.is_volatile && !self.is_restless
    }

    /// Returns how much it is worth to remember.
    pub(super) fn weight(self) -> u32 {
        let flags = u32::from(self.is_volatile) * 100 + u32::from(self.is_restless) * 50;
        flags + 2 * self.changed.count_ones() + self.moved.count_ones()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(marks: &u8) -> bool {
    *marks == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns after which of the checks, `x` with a change and `.` without, it is volatile.
    fn volatile(checks: &str) -> String {
        let mut marks = Marks::default();
        let mut step = |check: char| {
            marks = marks.after(if check == 'x' { Event::Changed } else { Event::Still });
            if marks.is_volatile() { 'v' } else { '-' }
        };
        checks.chars().map(&mut step).collect()
    }

    #[test]
    fn three_changes_in_five_checks_make_volatile_until_twice_as_many_without() {
        assert_eq!(volatile("xxx"), "--v");
        assert_eq!(volatile("x.x.x"), "----v");
        assert_eq!(volatile("x..xx"), "----v");
        assert_eq!(volatile("x...x.x"), "-------", "three in seven");
        assert_eq!(volatile("xxx.....x"), "--vvvvvvv");
        assert_eq!(volatile("xxx......x"), "--vvvvvv--");
        assert_eq!(volatile("xxxxx.........x"), "--vvvvvvvvvvvvv");
        assert_eq!(volatile("xxxxx..........x"), "--vvvvvvvvvvvv--");
        assert_eq!(volatile("x.........x.........x"), "---------------------");
    }

    #[test]
    fn a_place_that_changes_says_nothing_of_the_content() {
        let mut marks = Marks::default();
        for _ in 0..9 {
            marks = marks.after(Event::Moved);
        }
        assert!(marks.is_restless() && !marks.is_volatile());
        assert!(!marks.after(Event::Changed).is_volatile());
        assert!(marks.after(Event::Changed).after(Event::Changed).is_volatile());
    }
}
