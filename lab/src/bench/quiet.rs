//! `cargo xtask bench quiet`: false alarms of checks of 40 made pages with rotating parts, with and without `ignoreVolatile`,
//! and edits of the pages that were missed. The pages are HTML, and become markdown as in a scrape.

mod made;
mod noise;

use anyhow::{Context as _, Result};
use base::Stop;
use change_diff::{History, Status, compare, unified};
use formats::{ContentOptions, MarkdownOptions, Page};
use url::Url;

use self::made::{Made, Visit};
use self::noise::{KINDS, Kind};
use crate::say;

/// Number of pages.
const PAGES: usize = 40;
/// Number of first checks of a page in which its rotations are learnt.
const LEARNING: u64 = 10;

/// Arguments of `cargo xtask bench quiet`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of checks of each page.
    #[arg(long, default_value_t = 2000)]
    checks: u64,
    /// Print what the diff of each false alarm after the first ten checks, and of each missed edit, shows.
    #[arg(long)]
    show: bool,
}

/// Counts of the checks of all pages.
#[derive(Default)]
struct Counts {
    checks: u64,
    edits: u64,
    /// Edits that were not told.
    missed: u64,
    /// Edits that were told with a diff that does not show them.
    unseen: u64,
    /// False alarms while rotations are learnt, and after.
    learning: u64,
    after: u64,
    /// False alarms without `ignoreVolatile`.
    plain: u64,
    /// False alarms after learning on pages with each kind of rotation.
    kinds: [u64; KINDS.len()],
}

/// Runs the benchmark.
pub(crate) fn run(args: &Args) -> Result<()> {
    for only_main_content in [true, false] {
        let mut counts = Counts::default();
        for number in 0..PAGES {
            page(number, only_main_content, args, &mut counts)?;
        }
        counts.print(only_main_content);
    }
    Ok(())
}

/// Checks a page again and again.
fn page(number: usize, only_main_content: bool, args: &Args, counts: &mut Counts) -> Result<()> {
    let mut made = Made::new(number);
    let kinds = made.kinds();
    let mut history = History::default();
    let mut last = markdown(&made.visit(0).html, only_main_content)?;
    for check in 1..=args.checks {
        let Visit { html, edit } = made.visit(check);
        let current = markdown(&html, only_main_content)?;
        let review = history.review(&last, &current, &Stop::new())?;
        let diff = unified(&review.previous, &review.current, &Stop::new())?;
        let seen = Seen { number, check, diff: &diff, is_plain_told: compare(&last, &current) == Status::Changed };
        match &edit {
            Some(text) => counts.edited(&seen, text, args.show),
            None => counts.unedited(&seen, &kinds, args.show),
        }
        (last, history) = (current, review.history);
    }
    Ok(())
}

/// Result of a check.
struct Seen<'a> {
    /// Number of the page.
    number: usize,
    check: u64,
    /// Diff; empty if nothing is told.
    diff: &'a str,
    /// Whether it is told without `ignoreVolatile`.
    is_plain_told: bool,
}

/// Makes a page into markdown.
fn markdown(html: &str, only_main_content: bool) -> Result<String> {
    let url = Url::parse("https://made.test/page").context("the URL of the made pages")?;
    let page = Page::parse(html, &url);
    let content = formats::content(&page, &ContentOptions { only_main_content, ..ContentOptions::default() });
    Ok(formats::markdown(&content, &MarkdownOptions::default()))
}

impl Counts {
    /// Counts a check of a page that was edited.
    fn edited(&mut self, seen: &Seen<'_>, text: &str, shows: bool) {
        let Seen { number, check, diff, .. } = *seen;
        let is_seen = diff.lines().any(|line| line.starts_with(['+', '-']) && line.contains(text));
        self.checks += 1;
        self.edits += 1;
        self.missed += u64::from(diff.is_empty());
        self.unseen += u64::from(!diff.is_empty() && !is_seen);
        if shows && !is_seen {
            say!("page {number}, check {check}: {text:?} is not in\n{diff}");
        }
    }

    /// Counts a check of a page that was not edited, with rotating parts of these kinds.
    fn unedited(&mut self, seen: &Seen<'_>, kinds: &[Kind], shows: bool) {
        let Seen { number, check, diff, is_plain_told } = *seen;
        self.checks += 1;
        self.plain += u64::from(is_plain_told);
        let is_alarm = u64::from(!diff.is_empty());
        if check <= LEARNING {
            self.learning += is_alarm;
            return;
        }
        self.after += is_alarm;
        for (count, (kind, _)) in self.kinds.iter_mut().zip(KINDS) {
            *count += is_alarm * u64::from(kinds.contains(&kind));
        }
        if shows && is_alarm > 0 {
            say!("page {number} with {kinds:?}, check {check}:\n{diff}");
        }
    }

    fn print(&self, only_main_content: bool) {
        let Self { checks, edits, missed, unseen, learning, after, plain, kinds } = self;
        let unedited = checks - edits;
        let rate = |alarms: u64, of: u64| match alarms {
            0 => "none".to_owned(),
            _ => format!("1 in {:.0}", of as f64 / alarms as f64),
        };
        let learnt = LEARNING * PAGES as u64;
        say!("{} of {PAGES} pages", if only_main_content { "main content" } else { "all content" });
        say!("  checks {checks}, edits {edits}: missed {missed}, told without showing them {unseen}");
        say!("  false alarms without ignoreVolatile: {plain} ({})", rate(*plain, unedited));
        say!("  with it: {} ({})", learning + after, rate(learning + after, unedited));
        say!("    in the first {LEARNING} checks of each page: {learning} ({})", rate(*learning, learnt));
        say!("    after: {after} ({})", rate(*after, unedited.saturating_sub(learnt)));
        let by_kind = kinds.iter().zip(KINDS).filter(|(count, _)| **count > 0);
        let by_kind: Vec<String> = by_kind.map(|(count, (_, name))| format!("{name} {count}")).collect();
        say!("    after, on pages with: {}", by_kind.join(", "));
    }
}
