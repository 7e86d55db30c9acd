//! How evenly checks are spread over the minutes of an hour: Pearson's chi-square.

/// Returns the probability of counts that are at least as uneven, if every minute is as likely.
pub(super) fn probability(counts: &[u64]) -> f64 {
    let all: u64 = counts.iter().sum();
    let mean = all as f64 / counts.len() as f64;
    let statistic: f64 = counts.iter().map(|count| (*count as f64 - mean).powi(2) / mean).sum();
    upper_tail(statistic, (counts.len() - 1) as f64)
}

/// Upper tail of the chi-square distribution, by the approximation of Wilson and Hilferty.
fn upper_tail(statistic: f64, freedom: f64) -> f64 {
    let width = 2.0 / (9.0 * freedom);
    normal_tail(((statistic / freedom).cbrt() - (1.0 - width)) / width.sqrt())
}

/// Upper tail of the standard normal distribution (Abramowitz and Stegun 26.2.17, off by less than 1e-7).
fn normal_tail(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - normal_tail(-z);
    }
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let factors = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let sum = factors.iter().rev().fold(0.0, |sum, factor| (sum + factor) * t);
    (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt() * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_the_distribution_are_met() {
        let check = |statistic: f64, freedom: f64, expect: f64| {
            let found = upper_tail(statistic, freedom);
            assert!((found - expect).abs() < expect / 20.0, "{statistic}, {freedom}: {found}");
        };
        check(98.324, 59.0, 0.001);
        check(77.931, 59.0, 0.05);
        check(58.335, 59.0, 0.5);
        check(18.307, 10.0, 0.05);
    }

    #[test]
    fn crowded_minutes_are_told() {
        assert!(probability(&[100; 60]) > 0.999);
        let mut crowded = [100; 60];
        crowded[0] = 220;
        assert!(probability(&crowded) < 0.001);
    }
}
