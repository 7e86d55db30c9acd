//! The choice of the page's product among those that one source describes.

use super::same::is_same;
use crate::draft::Draft;
use crate::subject::Subject;

// A fit is the share of words that a name has in common with the titles of the page; its URL or a code gives 0.7 at
// least. The limits were set by hand.

/// Fit that a product must have to be the subject of the page.
const MIN_FIT: f64 = 0.6;
/// Difference in fit that decides between two products.
const MARGIN: f64 = 0.12;

/// The outcome of a choice.
#[derive(Debug)]
pub(super) enum Choice {
    One(Box<Draft>),
    /// Several drafts fit equally well.
    Ambiguous,
    /// No draft fits.
    None,
}

/// Chooses the draft that fits the page; several that are the same product are merged.
pub(super) fn choose(drafts: &[Draft], subject: &Subject) -> Choice {
    let named = drafts.iter().filter(|draft| draft.title.is_some() || draft.has_price() || !draft.codes.is_empty());
    let mut rated: Vec<RatedDraft<'_>> = named.map(|draft| RatedDraft { fit: subject.fit(draft), draft }).collect();
    rated.sort_by(|a, b| b.fit.total_cmp(&a.fit).then_with(|| b.draft.has_price().cmp(&a.draft.has_price())));
    let Some((best, others)) = rated.split_first() else { return Choice::None };
    // One that does not fit may be an advertisement; several are a list.
    if best.fit < MIN_FIT {
        return if others.is_empty() { Choice::None } else { Choice::Ambiguous };
    }
    let mut chosen = best.draft.clone();
    for other in others.iter().filter(|other| best.fit - other.fit < MARGIN) {
        if is_same(&chosen, other.draft) {
            absorb(&mut chosen, other.draft);
        // Without a title it cannot be said which of the two is meant, so it does not make the choice doubtful.
        } else if other.draft.title.is_some() {
            return Choice::Ambiguous;
        }
    }
    Choice::One(Box::new(chosen))
}

struct RatedDraft<'d> {
    fit: f64,
    draft: &'d Draft,
}

/// Takes what another description of the same product adds. Its lines are further variants if they are other ones.
fn absorb(own: &mut Draft, other: &Draft) {
    let differs = own.codes.sku.is_some() && other.codes.sku.is_some() && own.codes.sku != other.codes.sku;
    if own.variants.is_empty() {
        own.variants.clone_from(&other.variants);
    } else if differs && !other.variants.is_empty() {
        own.label_lines();
        let mut others = other.clone();
        others.label_lines();
        let is_new = |line: &crate::draft::VariantDraft| !own.variants.iter().any(|own| own.codes == line.codes);
        let more: Vec<_> = others.variants.into_iter().filter(is_new).collect();
        own.variants.extend(more);
        own.variants.truncate(crate::schema::MAX_LINES);
    }
    super::finish::complete_draft(own, other);
}
