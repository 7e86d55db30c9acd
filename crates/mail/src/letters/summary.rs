//! The letter about a check with changes.

use url::Url;

use crate::content::one_line;
use crate::{Content, Part};

/// Pages that are listed; the counts tell of all.
const MAX_PAGES: usize = 50;

/// Characters of all diffs together.
const MAX_DIFFS: usize = 20_000;

/// Characters of one diff.
const MAX_DIFF: usize = 3000;

/// Findings of a check.
#[derive(Debug, Clone)]
pub struct Summary<'a> {
    /// Name of the monitor.
    pub monitor: &'a str,
    /// Goal of the monitor.
    pub goal: Option<&'a str>,
    /// When the check ended, such as `2026-03-01 09:00 (Europe/Berlin)`.
    pub when: &'a str,
    /// Counts of all pages.
    pub counts: Counts,
    /// Pages to tell of, in the order of the letter: meaningful ones first.
    pub pages: &'a [ChangedPage<'a>],
    /// Where the recipient unsubscribes.
    pub unsubscribe: &'a Url,
}

/// Counts of pages by what a check has found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pages that have changed.
    pub changed: u64,
    /// New pages.
    pub new: u64,
    /// Pages that are gone.
    pub removed: u64,
    /// Pages that could not be read.
    pub error: u64,
}

/// One page in the letter.
#[derive(Debug, Clone)]
pub struct ChangedPage<'a> {
    /// Address of the page.
    pub url: &'a str,
    /// Title of the page.
    pub title: Option<&'a str>,
    /// Finding: `changed`, `new`, `removed` or `error`.
    pub status: &'a str,
    /// Sentence about it: the judge's reason, an error, a warning.
    pub note: Option<&'a str>,
    /// Diff to show; none where diffs are not wanted.
    pub diff: Option<&'a str>,
}

/// Tells of a check with changes: counts, then the pages, with as much of the diffs as fits.
#[must_use]
pub fn summary(summary: &Summary<'_>) -> Content {
    let monitor = one_line(summary.monitor, 80);
    let mut content = Content::new(&format!("{monitor}: {}", counts(summary.counts)))
        .with(Part::Heading(monitor))
        .with(Part::Text(format!("{} in the check of {}.", counts(summary.counts), summary.when)));
    if let Some(goal) = summary.goal {
        content = content.with(Part::Text(format!("Goal: {}", one_line(goal, 300))));
    }
    let mut left = MAX_DIFFS;
    for page in summary.pages.iter().take(MAX_PAGES) {
        content = content.with(item(page));
        if let Some(diff) = page.diff.filter(|_| left > 0) {
            let shown = beginning(diff, MAX_DIFF.min(left));
            left -= shown.chars().count().min(left);
            content = content.with(Part::Lines(shown));
        }
    }
    let more = summary.pages.len().saturating_sub(MAX_PAGES);
    if more > 0 {
        content = content.with(Part::Text(format!("{more} more pages are in the check.")));
    }
    content.with(Part::Note {
        text: "You get this mail as a recipient of this monitor.".to_owned(),
        link: "Unsubscribe".to_owned(),
        url: summary.unsubscribe.clone(),
    })
}

fn item(page: &ChangedPage<'_>) -> Part {
    let title = page.title.map(|title| one_line(title, 150)).filter(|title| !title.is_empty());
    let note = page.note.map(|note| format!(": {}", one_line(note, 300))).unwrap_or_default();
    Part::Item {
        text: title.unwrap_or_else(|| one_line(page.url, 200)),
        url: page.url.to_owned(),
        details: format!("{}{note}", one_line(page.status, 20)),
    }
}

/// Returns the first lines of a diff, and says when there are more.
fn beginning(diff: &str, max: usize) -> String {
    let Some((end, _)) = diff.char_indices().nth(max) else { return diff.to_owned() };
    let cut = &diff[..end];
    let whole = cut.rfind('\n').map_or(cut, |line| &cut[..line]);
    format!("{whole}\n… the rest is in the check")
}

fn counts(counts: Counts) -> String {
    let Counts { changed, new, removed, error } = counts;
    let parts = [(changed, "changed"), (new, "new"), (removed, "removed"), (error, "failed")];
    let said: Vec<String> =
        parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    if said.is_empty() { "no changes".to_owned() } else { said.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unsubscribe() -> Url {
        Url::parse("https://quarry.example.com/monitor/email/unsubscribe?token=t").unwrap()
    }

    fn page<'a>(url: &'a str, diff: Option<&'a str>) -> ChangedPage<'a> {
        ChangedPage { url, title: Some("Tea <b>now</b>"), status: "changed", note: Some("a price fell"), diff }
    }

    #[test]
    fn a_summary_has_counts_pages_and_diffs() {
        let url = unsubscribe();
        let pages = [page("https://example.com/a", Some("-12 €\n+10 €")), page("https://example.com/b", None)];
        let summary = summary(&Summary {
            monitor: "Prices\r\nBcc: x@example.com",
            goal: Some("tell me of <i>prices</i>"),
            when: "2026-03-01 09:00 (Europe/Berlin)",
            counts: Counts { changed: 2, error: 1, ..Counts::default() },
            pages: &pages,
            unsubscribe: &url,
        });
        assert_eq!(summary.subject(), "Prices Bcc: x@example.com: 2 changed, 1 failed");
        let html = summary.html();
        for expected in [
            "href=\"https://example.com/a\"",
            "Tea &lt;b&gt;now",
            "-12 €\n+10 €",
            "of &lt;i&gt;prices",
            "token=t",
            "a price fell",
        ] {
            assert!(html.contains(expected), "{expected}: {html}");
        }
    }

    #[test]
    fn many_pages_and_long_diffs_are_cut() {
        let url = unsubscribe();
        let diff = "+a line of ten\n".repeat(2000);
        let pages = vec![page("https://example.com/a", Some(&diff)); 200];
        let counts = Counts { changed: 200, ..Counts::default() };
        let summary =
            summary(&Summary { monitor: "m", goal: None, when: "now", counts, pages: &pages, unsubscribe: &url });
        let html = summary.html();
        assert!(html.len() < 60_000, "{}", html.len());
        assert!(html.contains("150 more pages") && html.contains("the rest is in the check"));
        assert_eq!(html.matches("<li>").count(), MAX_PAGES);
    }
}
