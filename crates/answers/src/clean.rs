//! Removal of what is left of a page's frame in its markdown: share buttons, calls to subscribe, consent notices, links
//! to other articles. Blocks are left out whole; no text is changed.

mod blocks;
mod by_model;
mod rules;
mod words;

use std::sync::LazyLock;

use llm::schema::Schema;

pub use by_model::{Cleaning, by_model};

/// Warning where no model has cleaned.
pub const WITHOUT_MODEL: &str = "onlyCleanContent: without a language model only frequent leftovers are removed, such as share buttons and related \
     links.";
/// Warning where the markdown is too long for the model.
pub const TOO_LONG: &str =
    "onlyCleanContent was skipped: the markdown is longer than the output limit of the cleaning model.";
/// Warning for a request that leaves no trace.
pub const ZERO_RETENTION: &str = "onlyCleanContent was skipped: it is not available with zero data retention.";
/// Warning where the answer of the model was not used.
pub const IMPLAUSIBLE: &str = "onlyCleanContent was skipped: the cleaning model would have removed most of the page.";

/// Cleaned markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleaned {
    /// The markdown without the blocks that were removed.
    pub markdown: String,
    /// Number of removed blocks.
    pub removed: usize,
    /// Warning for the caller.
    pub warning: Option<String>,
}

/// Removes frequent leftovers, without a model. The time is linear in the length of the markdown.
///
/// Code, tables and quotations stay, and so do headings with content below them.
///
/// ```
/// let markdown = "# Tea\n\nTea is made from leaves.\n\n## Related articles\n\n- [Coffee](/coffee)\n- [Cocoa](/cocoa)\n";
/// let cleaned = answers::clean::without_model(markdown);
/// assert_eq!((cleaned.markdown.as_str(), cleaned.removed), ("# Tea\n\nTea is made from leaves.\n", 2));
/// ```
#[must_use]
pub fn without_model(markdown: &str) -> Cleaned {
    let blocks = blocks::of(markdown);
    let is_left = rules::leftovers(markdown, &blocks);
    let (markdown, removed) = without(markdown, &blocks, &is_left);
    Cleaned { markdown, removed, warning: Some(WITHOUT_MODEL.to_owned()) }
}

/// Returns the markdown without some blocks, and their number.
fn without(markdown: &str, blocks: &[blocks::Block], is_left: &[bool]) -> (String, usize) {
    let removed = is_left.iter().filter(|is_left| **is_left).count();
    if removed == 0 {
        return (markdown.to_owned(), 0);
    }
    let kept = blocks.iter().zip(is_left).filter(|(_, is_left)| !**is_left);
    let mut text: String = kept.map(|(block, _)| &markdown[block.place.clone()]).collect();
    text.truncate(text.trim_end().len());
    if markdown.ends_with('\n') && !text.is_empty() {
        text.push('\n');
    }
    (text, removed)
}

/// Returns the form of the answer of a model.
fn form() -> Option<&'static Schema> {
    static FORM: LazyLock<Option<Schema>> = LazyLock::new(|| {
        Schema::read(serde_json::json!({
            "type": "object",
            "properties": { "leftovers": {
                "type": "array", "items": { "type": "integer" },
                "description": "The numbers of the blocks that are leftovers of the frame of the page.",
            } },
            "required": ["leftovers"],
            "additionalProperties": false,
        }))
        .ok()
    });
    FORM.as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(markdown: &str, expect: &str) {
        assert_eq!(without_model(markdown).markdown, expect);
    }

    const STORY: &str =
        "# Granite\n\nGranite is a hard stone, coarse in grain, and it is found in [many places](/places).\n";

    #[track_caller]
    fn removed(leftover: &str) {
        check(&format!("{STORY}\n{leftover}\n"), STORY);
        check(&format!("{leftover}\n\n{STORY}"), STORY);
    }

    #[track_caller]
    fn kept(content: &str) {
        let markdown = format!("{STORY}\n{content}\n");
        check(&markdown, &markdown);
    }

    #[test]
    fn leftovers_are_removed() {
        for leftover in [
            "- [Facebook](https://www.facebook.com/sharer/sharer.php?u=x)\n- [Tweet](https://twitter.com/intent/tweet?u=x)",
            "[Share on Facebook](#) [Share on Twitter](#) Email Print",
            "Share this article:",
            "## Related articles\n\n- [Basalt is young](/basalt)\n- [Marble](/marble) 12 May",
            "### You may also like\n\n[![](/a.png) How slate is split](/slate)\n\n[Gneiss](/gneiss)",
            "**Read also:** [Ten stones of the north](/north)",
            "Subscribe to our newsletter and get the best stones in your inbox.",
            "## Sign up for our newsletter\n\nEnter your email address below.",
            "We use cookies to improve your experience. By clicking accept you consent to our [cookie policy](/cookies).",
            "Advertisement",
            "Skip to content",
        ] {
            removed(leftover);
        }
    }

    #[test]
    fn content_is_kept() {
        for content in [
            "## Related work\n\nSmith studied [granite](/g) and found much about its grain.",
            "## Related articles\n\nThis section has text that says something about the stone and its use in bridges.",
            "- [Feldspar](/feldspar)\n- [Quartz](/quartz)\n- [Mica](/mica)",
            "## See also\n\n- [Basalt](/basalt)\n- [Gneiss](/gneiss)",
            "```\nSubscribe to our newsletter\n```",
            "    Advertisement",
            "| Share | Price |\n|---|---|\n| Facebook | 500 |",
            "> Subscribe to our newsletter, said the man.",
            "The paper explains how to subscribe to our newsletter in three steps, and why few readers do that.",
            "Facebook has bought the quarry. It will share the stone with Twitter.",
            "Many sites say that they use cookies, and the court found that the banner has to name each of them and its use before \
             anything is stored on the machine of a visitor, which most of the quarries of the north did not do until last year.",
            "- Read more about it in the book\n- Print the map",
        ] {
            kept(content);
        }
        let policy = "# Cookie policy\n\nWe use cookies to remember you. You can accept all cookies.\n";
        check(policy, policy);
        check("", "");
        let bare = "## Related articles\n";
        check(bare, bare);
    }

    #[test]
    fn a_list_of_links_that_is_there_twice_stays_once() {
        let list = "- [Home](/)\n- [News](/news)\n- [About](/about)\n";
        check(&format!("{list}\n{STORY}\n{list}"), &format!("{list}\n{STORY}"));
    }

    #[test]
    fn headings_with_content_stay() {
        let markdown =
            "## Recommended\n\n- [A](/a)\n- [B](/b)\n\n### Dosage\n\nTwo spoons a day, never more than that.\n";
        check(markdown, "## Recommended\n\n### Dosage\n\nTwo spoons a day, never more than that.\n");
    }

    #[test]
    fn the_time_is_linear() {
        for piece in [
            "[",
            "[a](",
            "- [a](b)\n",
            "![[",
            "# x\n",
            "## related\n\n[a](b)\n\n",
            "```\n",
            "we use cookies ",
            "* * *\n",
        ] {
            let time = |bytes: usize| {
                let markdown = piece.repeat(bytes / piece.len());
                let before = std::time::Instant::now();
                let _cleaned = without_model(&markdown);
                before.elapsed()
            };
            let (short, long) = (time(50_000), time(500_000));
            assert!(long < short * 40 + std::time::Duration::from_secs(1), "{piece}: {short:?}, {long:?}");
        }
    }
}
