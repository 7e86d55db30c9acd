//! Criteria of the soak: stable memory, handles and processes, no 5xx responses, correct sums.

use super::sample::Sample;
use super::stage::{Ledger, Webhooks};
use super::tally::RequestTally;
use crate::trend::{Point, slope};

/// Warm-up in minutes, in which caches and pools fill up. Excluded from slopes.
const WARM_UP_MINUTES: f64 = 5.0;
/// Minimum number of samples of a slope.
const ENOUGH: usize = 10;
/// Maximum memory growth of the server in MiB per minute.
const MAX_SLOPE: f64 = 1.0;
/// Maximum memory of the server at the end, in MiB.
const MAX_END_MIB: f64 = 150.0;
/// Maximum difference between the means of the last and the earlier samples. The number of open connections varies, and
/// a browser is replaced now and then.
const MAX_MORE_HANDLES: f64 = 32.0;
const MAX_MORE_THREADS: f64 = 8.0;
const MAX_MORE_CHILDREN: f64 = 4.0;
const MAX_MORE_TEMPORARY: f64 = 64.0;

/// Observations to judge.
pub(super) struct Observations<'a> {
    pub(super) samples: &'a [Sample],
    pub(super) kinds: Vec<RequestTally>,
    pub(super) ledger: Ledger,
    pub(super) webhooks: Webhooks,
}

/// Result of the soak.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// Lines for printing.
    pub(super) lines: Vec<String>,
    pub(super) failures: Vec<String>,
}

impl Observations<'_> {
    pub(super) fn verdict(&self) -> Verdict {
        let mut verdict = Verdict::default();
        self.memory(&mut verdict);
        self.rest_is_flat(&mut verdict);
        self.answers(&mut verdict);
        let Ledger { granted, available, reserved, spent, told } = self.ledger;
        verdict.fails(granted != available + reserved + spent, || {
            format!("{granted} credits were given, and there are {available} + {reserved} + {spent}")
        });
        verdict.fails(reserved != 0, || format!("{reserved} credits are still reserved"));
        verdict.fails(spent != told, || format!("{spent} credits were spent, and the answers say {told}"));
        let Webhooks { crawls, completed } = self.webhooks;
        verdict.fails(crawls != completed, || format!("{completed} webhooks tell of the end of {crawls} crawls"));
        verdict
    }

    fn memory(&self, verdict: &mut Verdict) {
        let points = |from: f64| -> Vec<Point> {
            let late = self.samples.iter().filter(|sample| sample.minutes() >= from);
            late.map(|sample| Point { at: sample.minutes(), figure: sample.server_mib }).collect()
        };
        let length = self.samples.last().map_or(0.0, Sample::minutes);
        let (late, half) = (points(WARM_UP_MINUTES), points(length / 2.0));
        let end = median(self.samples.iter().rev().take(3).map(|sample| sample.server_mib));
        let highest = self.samples.iter().map(|sample| sample.server_mib).fold(0.0, f64::max);
        verdict.lines.push(format!("the server at the end: {end:.1} MiB, at its highest {highest:.1} MiB"));
        verdict.fails(end > MAX_END_MIB, || format!("the server has {end:.1} MiB at the end, more than {MAX_END_MIB}"));
        if late.len() < ENOUGH {
            let grows = slope(&half);
            verdict.lines.push(format!("slope of the second half: {grows:+.2} MiB a minute, too short to be judged"));
            return;
        }
        let grows = slope(&late);
        verdict.lines.push(format!("slope after minute {WARM_UP_MINUTES}: {grows:+.2} MiB a minute"));
        verdict.fails(grows > MAX_SLOPE, || format!("the server grows by {grows:.2} MiB a minute"));
    }

    /// Compares the mean of the last third with that of the third before it.
    fn rest_is_flat(&self, verdict: &mut Verdict) {
        let third = self.samples.len() / 3;
        if third == 0 {
            return;
        }
        let (before, last) = self.samples[third..].split_at(third);
        let mut flat = |what: &str, most: f64, of: fn(&Sample) -> f64| {
            let mean = |samples: &[Sample]| samples.iter().map(of).sum::<f64>() / samples.len() as f64;
            let (before, last) = (mean(before), mean(last));
            verdict.lines.push(format!("{what}: {before:.1} in the second third, {last:.1} in the last"));
            verdict.fails(last > before + most, || format!("{what} grow from {before:.1} to {last:.1}"));
        };
        flat("handles", MAX_MORE_HANDLES, |sample| sample.handles as f64);
        flat("threads", MAX_MORE_THREADS, |sample| sample.threads as f64);
        flat("children", MAX_MORE_CHILDREN, |sample| sample.children as f64);
        flat("temporary files", MAX_MORE_TEMPORARY, |sample| sample.temporary as f64);
    }

    fn answers(&self, verdict: &mut Verdict) {
        verdict.fails(self.kinds.iter().all(|kind| kind.requests == 0), || "nothing was asked".to_owned());
        for kind in &self.kinds {
            verdict.fails(kind.server_errors > 0, || format!("{}: {} answers of 5xx", kind.name, kind.server_errors));
            let odd = kind.requests - kind.fine - kind.server_errors;
            verdict.fails(odd > 0, || format!("{}: {odd} answers are not as expected", kind.name));
        }
    }
}

impl Verdict {
    fn fails(&mut self, does: bool, why: impl Fn() -> String) {
        if does {
            self.failures.push(why());
        }
    }
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Returns samples of thirty minutes with this memory growth per minute and handle growth per sample.
    fn samples(mib_a_minute: f64, handles: usize) -> Vec<Sample> {
        let at = |number: u32| Sample {
            at: Duration::from_secs(20 * u64::from(number)),
            server_mib: 90.0 + mib_a_minute * f64::from(number) / 3.0,
            handles: 40 + handles * number as usize,
            ..Sample::default()
        };
        (1..=90).map(at).collect()
    }

    fn judge(samples: &[Sample], kind: RequestTally, ledger: Ledger) -> Verdict {
        let webhooks = Webhooks { crawls: 2, completed: 2 };
        Observations { samples, kinds: vec![kind], ledger, webhooks }.verdict()
    }

    const KIND: RequestTally =
        RequestTally { name: "k", requests: 9, fine: 9, server_errors: 0, unanswered: 0, credits: 5, odd: None };
    const LEDGER: Ledger = Ledger { granted: 10, available: 5, reserved: 0, spent: 5, told: 5 };

    #[test]
    fn each_bound_is_seen() {
        assert!(judge(&samples(0.5, 0), KIND, LEDGER).failures.is_empty());
        for (samples, kind, ledger, expect) in [
            (samples(1.2, 0), KIND, LEDGER, "grows by 1.20"),
            (samples(2.5, 0), KIND, LEDGER, "more than 150"),
            (samples(0.0, 2), KIND, LEDGER, "handles grow"),
            (samples(0.0, 0), RequestTally { fine: 8, server_errors: 1, ..KIND }, LEDGER, "1 answers of 5xx"),
            (samples(0.0, 0), RequestTally { fine: 8, ..KIND }, LEDGER, "not as expected"),
            (samples(0.0, 0), RequestTally { requests: 0, fine: 0, ..KIND }, LEDGER, "nothing was asked"),
            (samples(0.0, 0), KIND, Ledger { spent: 6, available: 4, ..LEDGER }, "the answers say 5"),
            (samples(0.0, 0), KIND, Ledger { available: 4, ..LEDGER }, "10 credits were given"),
            (samples(0.0, 0), KIND, Ledger { reserved: 1, available: 4, ..LEDGER }, "still reserved"),
        ] {
            let failures = judge(&samples, kind, ledger).failures.join("; ");
            assert!(failures.contains(expect), "{expect}: {failures}");
        }
    }

    #[test]
    fn a_short_run_has_no_slope_to_judge() {
        let verdict = judge(&samples(2.0, 0)[..15], KIND, LEDGER);
        assert!(verdict.failures.is_empty() && verdict.lines.join("\n").contains("too short"), "{verdict:?}");
    }
}
