//! The `product` format.

mod choose;
mod currency;
mod finish;
mod gate;
mod same;

use page::Page;
use wire::Product;

use crate::draft::Draft;
use crate::lenient::Budget;
use crate::missing::Missing;
use crate::money::Style;
use crate::schema::{self, Schema};
use crate::shown;
use crate::state::{self, State};
use crate::subject::Subject;
use crate::survey::Survey;
use crate::{json_ld, meta, microdata};

use choose::Choice;

/// Returns the product that a page sells.
///
/// The sources are merged in this order: JSON-LD, microdata and RDFa, embedded state, data layer, `<meta>` elements;
/// what the page shows completes them. Each may only add to the product that the page is about.
///
/// # Errors
/// [`Missing`]: the reason for a page without a product.
pub fn product(page: &Page) -> Result<Product, Missing> {
    let survey = Survey::of(page);
    let evidence = Evidence::of(&survey);
    if page.stop().is_set() {
        return Err(Missing::Stopped);
    }
    evidence.product(&survey)
}

/// All that the sources say.
struct Evidence {
    subject: Subject,
    style: Style,
    json_ld: Schema,
    items: Schema,
    state: State,
    meta: Draft,
}

impl Evidence {
    fn of(survey: &Survey<'_>) -> Evidence {
        let page = survey.page;
        let mut budget = Budget::new(page.stop());
        let style = shown::style(page);
        let subject = Subject::of(survey);
        Evidence {
            state: state::read_state(survey, &subject, style, &mut budget),
            subject,
            style,
            json_ld: schema::read_products(&json_ld::read_scripts(page, &mut budget), style, page.base()),
            items: schema::read_products(&microdata::read_items(page, &mut budget), style, page.base()),
            meta: meta::read_meta(survey, style),
        }
    }

    fn product(self, survey: &Survey<'_>) -> Result<Product, Missing> {
        let mut drafts: Vec<Draft> = Vec::new();
        let mut ambiguous = false;
        for schema in [&self.json_ld, &self.items] {
            match choose::choose(&schema.drafts, &self.subject) {
                Choice::One(draft) => drafts.push(*draft),
                Choice::Ambiguous => ambiguous = true,
                Choice::None => {}
            }
        }
        let declared = drafts.len();
        for found in [&self.state.state, &self.state.analytics] {
            if let Choice::One(draft) = choose::choose(found, &self.subject) {
                drafts.push(*draft);
            }
        }
        let title = drafts.first().and_then(|draft| draft.title.clone());
        let shown = shown::read_visible(survey, title.as_deref(), self.style);
        self.admit(survey, &drafts, &shown, ambiguous)?;
        finish::scale(&mut drafts, declared, &shown);
        drafts.push(self.meta.clone());
        finish::product(survey, &self, drafts, &shown).ok_or(Missing::Weak)
    }
}
