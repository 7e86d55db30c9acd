//! Sizes in the head of a table.

use page::{Index, Page};

use super::priced::Choice;
use super::shown::PageText;

/// Limit on the rows and columns that are examined.
const MAX_ROWS: usize = 400;
const MAX_COLUMNS: usize = 40;

/// Labels the prices in the cells of a row with the head of their columns.
pub(super) fn label(shown: &PageText<'_>, lines: std::ops::Range<usize>, choices: &mut [Choice]) {
    let cells: Vec<Index> =
        lines.filter(|&at| shown.prices[at].is_some()).filter_map(|at| cell_of(shown, at)).collect();
    if cells.len() != choices.len() || cells.len() < 2 || choices.iter().any(|choice| !choice.label.is_empty()) {
        return;
    }
    let page = shown.page;
    let labels: Vec<String> = cells.iter().filter_map(|&cell| head_of(page, cell)).collect();
    let is_told_apart =
        labels.iter().all(|label| !label.is_empty()) && labels.windows(2).all(|pair| pair[0] != pair[1]);
    if labels.len() == choices.len() && is_told_apart {
        choices.iter_mut().zip(labels).for_each(|(choice, label)| choice.label = label);
    }
}

fn is_called(page: &Page, at: Index, names: &[&str]) -> bool {
    page.name(at).is_some_and(|name| names.contains(&&**name))
}

fn cell_of(shown: &PageText<'_>, at: usize) -> Option<Index> {
    let block = shown.line(at).block;
    std::iter::once(block)
        .chain(shown.page.ancestors(block).take(6))
        .find(|&up| is_called(shown.page, up, &["td", "th"]))
}

/// The text of the first cell of a cell's column, which has no price.
fn head_of(page: &Page, cell: Index) -> Option<String> {
    let row = page.parent(cell)?;
    let column =
        page.children(row).filter(|&at| page.element(at).is_some()).take(MAX_COLUMNS).position(|at| at == cell)?;
    let table = page.ancestors(cell).take(5).find(|&up| is_called(page, up, &["table"]))?;
    let mut rows =
        page.subtree(table).filter(|&at| is_called(page, at, &["tr"])).take(MAX_ROWS).take_while(|&at| at < row);
    rows.find_map(|row| {
        let head = page.children(row).filter(|&at| page.element(at).is_some()).nth(column)?;
        let text = crate::tags::text(page, head);
        let is_head = text.chars().any(char::is_alphanumeric) && text.chars().count() <= 24;
        let has_price = super::prices::amounts(&text, crate::money::Style::default())
            .iter()
            .any(|one| one.form > super::prices::PriceNotation::Bare);
        (is_head && !has_price).then_some(text)
    })
}
