//! Medians and spreads as Markdown.

use std::fmt::Write as _;

use super::measure::{AT_ONCE, Figure, Figures};

/// A program and its results of each round.
pub(super) struct Row {
    pub(super) title: String,
    pub(super) rounds: Vec<Figures>,
}

/// Number of measurements of a round: the crawls, then the scrapes.
const MEASUREMENTS: usize = AT_ONCE.len() + 1;

/// Formats the results of one round, printed while the others run.
pub(super) fn line(figures: &Figures) -> String {
    let [many, few, scrape] = figures.map(|Figure { rate, cpu }| format!("{rate:.0}/s {cpu:.2} ms"));
    format!("{many} at {}, {few} at {}, scrapes {scrape}", AT_ONCE[0], AT_ONCE[1])
}

/// Formats a line for each program with results.
pub(super) fn figures(rows: &[Row], connections: usize) -> String {
    let mut table = head(connections, true);
    for row in rows.iter().filter(|row| !row.rounds.is_empty()) {
        let _ = write!(table, "| {} |", row.title);
        for at in 0..MEASUREMENTS {
            let (rate, cpu) = (spread(row, at, |figure| figure.rate), spread(row, at, |figure| figure.cpu));
            let _ = write!(table, " {:.0} ({:.0}..{:.0}) |", rate.median, rate.lowest, rate.highest);
            let _ = write!(table, " {:.2} ({:.2}..{:.2}) |", cpu.median, cpu.lowest, cpu.highest);
        }
        table.push('\n');
    }
    table
}

/// Formats the results as ratios to one of the programs; above 1 is better: more per second, or less processor time.
pub(super) fn ratios(rows: &[Row], base: &Row, connections: usize) -> String {
    let mut table = head(connections, false);
    for row in rows.iter().filter(|row| !row.rounds.is_empty()) {
        let _ = write!(table, "| {} |", row.title);
        for at in 0..MEASUREMENTS {
            let median = |row: &Row, of: fn(&Figure) -> f64| spread(row, at, of).median;
            let rate = median(row, |figure| figure.rate) / median(base, |figure| figure.rate);
            let cpu = median(base, |figure| figure.cpu) / median(row, |figure| figure.cpu);
            let _ = write!(table, " {rate:.2} | {cpu:.2} |");
        }
        table.push('\n');
    }
    table
}

/// Returns the two header lines of a table.
fn head(connections: usize, units: bool) -> String {
    let mut names: Vec<String> = AT_ONCE.iter().map(|at_once| format!("crawl at {at_once}")).collect();
    names.push(format!("scrape at {connections}"));
    let cells = names.iter().enumerate().map(|(at, name)| match (units, at < AT_ONCE.len()) {
        (true, true) => format!(" {name}: pages/s | CPU ms a page |"),
        (true, false) => format!(" {name}: requests/s | CPU ms a request |"),
        (false, _) => format!(" {name}: speed | CPU |"),
    });
    format!("| |{}\n|---|{}\n", cells.collect::<String>(), "---|".repeat(2 * MEASUREMENTS))
}

struct Spread {
    median: f64,
    lowest: f64,
    highest: f64,
}

/// Returns the spread of one figure of measurement `at` over the rounds, of which there is at least one.
fn spread(row: &Row, at: usize, of: impl Fn(&Figure) -> f64) -> Spread {
    let mut all: Vec<f64> = row.rounds.iter().filter_map(|figures| figures.get(at).map(&of)).collect();
    all.sort_by(f64::total_cmp);
    let number = |index: usize| all.get(index).copied().unwrap_or(f64::NAN);
    Spread { median: number(all.len() / 2), lowest: number(0), highest: number(all.len().saturating_sub(1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(title: &str, rounds: &[(f64, f64)]) -> Row {
        let figures = |&(rate, cpu): &(f64, f64)| [Figure { rate, cpu }; 3];
        Row { title: title.to_owned(), rounds: rounds.iter().map(figures).collect() }
    }

    #[test]
    fn a_line_has_medians_and_spreads() {
        let table = figures(&[row("ours", &[(30.0, 0.5), (10.0, 0.25), (20.0, 1.0)]), row("failed", &[])], 16);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 3, "{table}");
        let cells = " 20 (10..30) | 0.50 (0.25..1.00) |".repeat(3);
        assert_eq!(lines[2], format!("| ours |{cells}"));
        assert!(lines[0].starts_with("| | crawl at 64: pages/s | CPU ms a page |"), "{table}");
        assert!(lines.iter().all(|line| line.matches('|').count() == 8), "{table}");
    }

    #[test]
    fn twice_as_fast_and_twice_as_cheap_are_both_2() {
        let (ours, base) = (row("ours", &[(200.0, 0.5)]), row("base", &[(100.0, 1.0)]));
        let table = ratios(&[ours], &base, 16);
        assert_eq!(table.lines().nth(2), Some(format!("| ours |{}", " 2.00 | 2.00 |".repeat(3)).as_str()));
    }
}
