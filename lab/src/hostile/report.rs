//! Terminal output of the results.

use std::collections::BTreeMap;

use super::sniffer::BypassPackets;
use crate::say;

/// Outcome of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    /// Violated expectations.
    Failed(Vec<String>),
    /// Missing feature that the case waits for.
    Waiting(String),
}

/// Counts of a run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    kinds: BTreeMap<String, [usize; 3]>,
    reasons: BTreeMap<String, usize>,
    /// Bypassing packets of all cases with a browser.
    outside: Option<BypassPackets>,
}

impl Report {
    /// Records one case; a failed one is printed at once.
    pub(crate) fn add(&mut self, id: &str, kind: &str, note: &str, outcome: Outcome) {
        let counts = self.kinds.entry(kind.to_owned()).or_default();
        match outcome {
            Outcome::Passed => counts[0] += 1,
            Outcome::Failed(reasons) => {
                counts[1] += 1;
                say!("FAILED {id} ({note}): {}", reasons.join("; "));
            }
            Outcome::Waiting(reason) => {
                counts[2] += 1;
                *self.reasons.entry(reason).or_default() += 1;
            }
        }
    }

    /// Adds the packets that bypassed the proxy in the cases of a file.
    pub(crate) fn add_outside(&mut self, of_file: Option<BypassPackets>) {
        if let Some(more) = of_file.filter(|outside| outside.seen > 0) {
            self.outside.get_or_insert_default().merge(more);
        }
    }

    /// Prints the tables and the closing line; returns the number of failures. Packets outside the proxy fail the run.
    pub(crate) fn close(&self) -> usize {
        say!("\n{:<20} {:>7} {:>7} {:>8}", "kind", "passed", "failed", "waiting");
        let mut sums = [0; 3];
        for (kind, counts) in &self.kinds {
            say!("{kind:<20} {:>7} {:>7} {:>8}", counts[0], counts[1], counts[2]);
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        if !self.reasons.is_empty() {
            say!("\nwaiting for");
        }
        for (reason, count) in &self.reasons {
            say!("{count:>7}  {reason}");
        }
        let leaks = self.outside.as_ref().is_some_and(BypassPackets::is_any);
        if let Some(outside) = &self.outside {
            say!("\n{}: {outside}", if leaks { "FAILED all cases with a browser" } else { "all cases with a browser" });
        }
        say!("\n{} passed, {} failed, {} skipped", sums[0], sums[1], sums[2]);
        sums[1] + usize::from(leaks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_failed() {
        let mut report = Report::default();
        report.add("a-1", "a", "", Outcome::Passed);
        report.add("a-2", "a", "", Outcome::Failed(vec!["no".into()]));
        report.add("b-1", "b", "", Outcome::Waiting("the moon".into()));
        assert_eq!((report.kinds["a"], report.kinds["b"], report.close()), ([1, 1, 0], [0, 0, 1], 1));
    }

    #[test]
    fn packets_outside_the_proxy_fail_the_run() {
        let check = |outside: &[BypassPackets], expect: usize| {
            let mut report = Report::default();
            outside.iter().for_each(|of_file| report.add_outside(Some(of_file.clone())));
            assert_eq!(report.close(), expect, "{outside:?}");
        };
        let quiet = BypassPackets { seen: 10, ..BypassPackets::default() };
        check(&[quiet.clone(), quiet.clone()], 0);
        check(&[quiet.clone(), BypassPackets { udp: 1, ..quiet.clone() }, quiet], 1);
    }
}
