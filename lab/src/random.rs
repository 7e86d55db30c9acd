//! Deterministic pseudo-random numbers by a linear congruential generator (Knuth, MMIX).

/// Linear congruential generator; its high bits are better than its low ones.
pub(crate) struct Random(u64);

impl Random {
    /// Creates a generator with a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0
    }

    /// Returns the next number without its low bits.
    pub(crate) fn high(&mut self) -> u64 {
        self.next() >> 33
    }
}
