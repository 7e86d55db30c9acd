//! The logarithm of scores.

/// Returns the natural logarithm of a positive number, from additions and multiplications alone: those give the same
/// result on every machine, which the logarithms of their libraries do not promise.
pub(crate) fn ln(value: f32) -> f32 {
    let value = f64::from(value.max(f32::MIN_POSITIVE));
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    // ln m = 2 artanh((m - 1) / (m + 1)), whose series is short as m is below 2.
    let part = (mantissa - 1.0) / (mantissa + 1.0);
    let square = part * part;
    let series = (0..10).rev().fold(0.0, |sum, k| sum * square + 1.0 / f64::from(2 * k + 1));
    (2.0 * part * series + f64::from(exponent) * std::f64::consts::LN_2) as f32
}

#[cfg(test)]
mod tests {
    use super::ln;

    #[test]
    fn the_logarithm_is_right() {
        for value in [0.001_f32, 0.5, 1.0, 1.5, 2.0, 10.0, 123_456.0] {
            assert!((ln(value) - value.ln()).abs() < 1e-4, "{value}");
        }
    }
}
