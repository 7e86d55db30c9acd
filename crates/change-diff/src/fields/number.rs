//! Numbers by their value.

/// Number that is equal to another when their values are.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Number {
    Whole(i128),
    /// Number with a fraction, or one beyond 128 bits, by its bits.
    Other(u64),
}

impl Number {
    pub(super) fn of(number: &serde_json::Number) -> Self {
        if let Some(whole) = number.as_i128() {
            return Self::Whole(whole);
        }
        let float = number.as_f64().unwrap_or_default();
        // Below this power of two the conversion is exact.
        if float.fract() == 0.0 && float.abs() < 2_f64.powi(126) {
            Self::Whole(float as i128)
        } else {
            Self::Other(float.to_bits())
        }
    }
}
