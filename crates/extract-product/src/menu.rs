//! The `menu` format.

use page::Page;
use wire::Menu;

use crate::missing::Missing;

/// Returns the menu of a page.
///
/// # Errors
/// The reason why the page has none.
pub fn menu(_page: &Page) -> Result<Menu, Missing> {
    Err(Missing::Nothing)
}
