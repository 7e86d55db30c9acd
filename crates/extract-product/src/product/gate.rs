//! Whether the page has a product at all: it fails closed.

use super::Evidence;
use crate::draft::Draft;
use crate::meta;
use crate::missing::Missing;
use crate::shown::{LIKELY, SURE, VisibleProduct};
use crate::survey::Survey;

impl Evidence {
    /// Checks that the drafts, or failing them the weak sources, describe the subject of the page.
    pub(super) fn admit(
        &self,
        survey: &Survey<'_>,
        drafts: &[Draft],
        shown: &VisibleProduct,
        ambiguous: bool,
    ) -> Result<(), Missing> {
        if ambiguous && drafts.is_empty() {
            return Err(Missing::Ambiguous);
        }
        if drafts.is_empty() {
            return self.admit_weak(survey, shown);
        }
        if drafts.iter().all(is_bare) && !meta::is_product(survey) && shown.buttons.is_empty() {
            return Err(Missing::Weak);
        }
        // Articles and recipes may name a product without selling it.
        if self.is_text() && !drafts.iter().any(Draft::has_price) {
            return Err(Missing::Other);
        }
        Ok(())
    }

    fn is_text(&self) -> bool {
        self.json_ld.is_text || self.items.is_text
    }

    fn is_list(&self) -> bool {
        self.json_ld.is_list || self.items.is_list
    }

    /// Weak sources count only with a price, and shown text only where there is one main offer.
    fn admit_weak(&self, survey: &Survey<'_>, shown: &VisibleProduct) -> Result<(), Missing> {
        if self.is_text() || self.is_list() {
            return Err(Missing::Other);
        }
        // A home page shows many products, however prominent one of them is.
        if survey.page.url().path().len() <= 1 {
            return Err(Missing::Other);
        }
        let names_itself = meta::is_product(survey) || self.meta.variants.iter().any(|line| line.price.is_some());
        let sure = shows_one_offer(shown);
        match (names_itself, &shown.offered) {
            (true, _) if self.meta.has_price() => Ok(()),
            (true, Some(_)) => Ok(()),
            (false, Some(_)) if sure => Ok(()),
            (_, None) => Err(Missing::Nothing),
            _ => Err(Missing::Weak),
        }
    }
}

/// Whether a draft has nothing but a name and ratings, which pages declare for the stars in search results.
fn is_bare(draft: &Draft) -> bool {
    draft.codes.is_empty() && draft.brand.is_none() && draft.variants.is_empty() && !draft.has_price()
}

/// Whether the page shows one main offer: a heading, a price that stands out beside it, and a buy button or an article
/// number.
fn shows_one_offer(shown: &VisibleProduct) -> bool {
    let score = shown.offered.as_ref().filter(|offered| offered.stands_out).map_or(0.0, |offered| offered.score);
    let has_button = !shown.buttons.is_empty();
    let has_number = shown.labels.sku.is_some() && (has_button || shown.labels.brand.is_some());
    shown.title.is_some() && ((score >= SURE && has_button) || (score >= LIKELY && has_number))
}
