//! What is met most.

/// Values with how often they were met, in the order of the first time.
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

    /// The one that was met most; the first of equals.
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

/// What is met most among `values`.
pub(crate) fn most<T: PartialEq>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts = Counts::default();
    values.for_each(|value| counts.add(value, 1.0));
    counts.most()
}

/// A length in pixels as CSS.
pub(crate) fn css_px(length: f64) -> String {
    format!("{}px", (length * 100.0).round() / 100.0)
}
