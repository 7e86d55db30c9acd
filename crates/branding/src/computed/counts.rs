//! The most frequent of several values.

/// Values with their total weight, in the order of first appearance.
pub(crate) struct Counts<T>(Vec<(T, f64)>);

impl<T> Default for Counts<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: PartialEq> Counts<T> {
    pub(crate) fn add(&mut self, value: T, weight: f64) {
        match self.0.iter_mut().find(|(other, _)| *other == value) {
            Some((_, sum)) => *sum += weight,
            None => self.0.push((value, weight)),
        }
    }

    /// Returns the value with the largest weight; the first among equals.
    pub(crate) fn most(self) -> Option<T> {
        let mut best: Option<(T, f64)> = None;
        for (value, weight) in self.0 {
            if best.as_ref().is_none_or(|(_, most)| weight > *most) {
                best = Some((value, weight));
            }
        }
        best.map(|(value, _)| value)
    }
}

/// Returns the most frequent of `values`; the first among equals.
pub(crate) fn most<T: PartialEq>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts = Counts::default();
    values.for_each(|value| counts.add(value, 1.0));
    counts.most()
}

/// Formats a length in pixels as CSS, with at most two decimals.
pub(crate) fn css_px(length: f64) -> String {
    format!("{}px", (length * 100.0).round() / 100.0)
}
