//! The `product` format.

use page::Page;
use wire::Product;

use crate::lenient::Budget;
use crate::missing::Missing;
use crate::{json_ld, microdata};

/// Returns the product that a page sells.
///
/// # Errors
/// The reason why the page has none.
pub fn product(page: &Page) -> Result<Product, Missing> {
    let mut budget = Budget::new(page.stop());
    let _roots = (json_ld::read(page, &mut budget), microdata::read(page, &mut budget));
    Err(Missing::Nothing)
}
