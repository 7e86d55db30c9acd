//! Products in the scripts and attributes of a page: the state of its framework, the run parameters of marketplaces, and
//! what it tells its analytics.

mod find;
mod keys;
mod matrix;
mod modules;
mod reader;
mod scan;
mod variants;

use crate::draft::{Draft, VariantDraft};
use crate::lenient::Budget;
use crate::money::Style;
use crate::subject::Subject;
use crate::survey::Survey;
use crate::value::Value;

/// A value in a script or an attribute.
pub(crate) struct StateValue<'p> {
    pub(crate) value: Value<'p>,
    /// Whether it is written for analytics, which counts less.
    pub(crate) is_analytics: bool,
}

/// The products of the scripts that fit the page.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) state: Vec<Draft>,
    pub(crate) analytics: Vec<Draft>,
    /// The option matrices of forms, which have no name: that of the only form is the page's.
    pub(crate) matrices: Vec<Vec<VariantDraft>>,
}

/// Reads the products in scripts and attributes that are named like the page or stand in its URL.
pub(crate) fn read_state(survey: &Survey<'_>, subject: &Subject, style: Style, budget: &mut Budget<'_>) -> State {
    let sources = scan::sources(survey, budget);
    let mut all = State::default();
    for source in &sources {
        all.matrices.extend(matrix::find(&source.value, style, survey.page.base()));
        let drafts = find::products(&source.value, subject, style, survey.page.base());
        let kept = if source.is_analytics { &mut all.analytics } else { &mut all.state };
        kept.extend(drafts);
    }
    all
}
