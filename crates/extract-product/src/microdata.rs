//! Microdata and RDFa, read into the same form as JSON-LD.

use page::Page;

use crate::json_ld::Root;
use crate::lenient::Budget;

/// Reads the items of the page that are no property of another item. Members are named as in JSON-LD: `@type`, `@id`,
/// then the properties; a property that occurs several times is a list.
pub(crate) fn read<'p>(_page: &'p Page, _budget: &mut Budget<'_>) -> Vec<Root<'p>> {
    Vec::new()
}
