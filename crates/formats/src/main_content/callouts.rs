//! Retention of callouts (notes, warnings) between kept blocks, on pages other than documentation.

use page::{Element, Index, Page, local_name};

use super::outline::{Group, Outline};
use crate::callout::CERTAIN_WORDS;

/// Limit on the words of a callout; a longer one is left to the model.
const LONG: u32 = 250;
/// Limit on the blocks of a callout.
const MANY: usize = 40;

/// Keeps every callout that stands between kept blocks.
pub(crate) fn keep_callouts(page: &Page, outline: &Outline, chosen: &mut [bool]) {
    for group in outline.groups.iter().skip(1) {
        let part = group.first..group.end;
        if part.len() > MANY {
            continue;
        }
        let around = &outline.groups[group.parent];
        let is_kept = |at: Option<usize>| at.is_some_and(|at| around.holds(at) && chosen[at]);
        let last = group.end == around.end;
        let among = is_kept(group.first.checked_sub(1)) && (last || is_kept(Some(group.end)));
        if !among || chosen[part.clone()].iter().all(|chosen| *chosen) {
            continue;
        }
        let blocks = &outline.blocks[part.clone()];
        let words: u32 = blocks.iter().map(|block| block.text.words).sum();
        let (letters, linked) = blocks
            .iter()
            .fold((0, 0), |(letters, linked), block| (letters + block.text.letters, linked + block.linked));
        if words <= LONG && linked * 2 <= letters && is_note(page, group) {
            chosen[part].fill(true);
        }
    }
}

/// Whether an element of the group is marked as a callout.
fn is_note(page: &Page, group: &Group) -> bool {
    let chain = std::iter::successors(Some(group.innermost), |&at| page.parent(at).filter(|_| at != group.element));
    chain.filter_map(|at: Index| page.element(at)).any(says_note)
}

fn says_note(element: &Element) -> bool {
    let boxed = matches!(
        element.name.local,
        local_name!("aside")
            | local_name!("blockquote")
            | local_name!("div")
            | local_name!("details")
            | local_name!("p")
            | local_name!("section")
            | local_name!("table")
    );
    boxed
        && element.attrs.iter().any(|attribute| match &*attribute.name.local {
            "role" => attribute.value.trim() == "note",
            "class" => attribute.value.split_ascii_whitespace().any(is_callout),
            _ => false,
        })
}

/// Whether a class certainly means a callout. On news and shop pages `info`, `tip` and `callout` are promotion.
fn is_callout(class: &str) -> bool {
    let mut words = class.split(|c: char| !c.is_ascii_alphanumeric());
    class.starts_with("alert-")
        || class.starts_with("starlight-aside")
        || words.any(|word| CERTAIN_WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::ContentOptions;
    use crate::select::content;

    /// Blocks whose text begins with `+` are kept beforehand.
    fn check(html: &str, expect: &[bool]) {
        let page = Page::parse(html, &url::Url::parse("https://a.test/").unwrap());
        let options = ContentOptions { only_main_content: false, ..ContentOptions::default() };
        let outline = Outline::of(&content(&page, &options));
        let mut chosen: Vec<bool> = outline.blocks.iter().map(|block| block.text.first == '+').collect();
        keep_callouts(&page, &outline, &mut chosen);
        assert_eq!(chosen, expect, "{html}");
    }

    #[test]
    fn a_note_between_kept_paragraphs_is_kept() {
        let note = "<div class='admonition warning'><p>Warning<p>Pull the plug.</div>";
        check(&format!("<div><p>+Saw.{note}<p>+Sand.</div>"), &[true; 4]);
        check(&format!("<div><p>+Saw.{note}</div><p>Footer"), &[true, true, true, false]);
        check("<div><p>+Saw.<aside role=note>Pull the plug.</aside><p>+Sand.</div>", &[true; 3]);
        check(&format!("<div><p>Saw.{note}<p>+Sand.</div>"), &[false, false, false, true]);
        check("<div><p>+Saw.<div class=promo>Buy saws.</div><p>+Sand.</div>", &[true, false, true]);
        check("<div><p>+Saw.<div class=note><a href=/x>More saws</a></div><p>+Sand.</div>", &[true, false, true]);
    }
}
