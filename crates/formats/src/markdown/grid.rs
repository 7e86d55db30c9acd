//! Tables built from other elements, recognised by their roles (WAI-ARIA: table, grid, row, cell).

use page::{Index, local_name};

use super::table::Table;
use super::{Open, Writer};

/// Limit on the nodes of such a table.
const MAX_NODES: usize = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Table,
    Row,
    Cell,
    Head,
}

impl Writer<'_> {
    /// Starts a table if the element at `index` is one by its role; returns whether it is.
    pub(super) fn starts_grid(&mut self, index: Index) -> bool {
        if self.table.is_some() || self.is_flat() || self.role(index) != Some(Role::Table) || !self.is_grid(index) {
            return false;
        }
        self.flush();
        self.table = Some(Table::default());
        self.grid = Some(index);
        true
    }

    /// Starts a row or a cell of the open table.
    pub(super) fn start_grid_part(&mut self, index: Index) -> Option<Open> {
        self.grid.filter(|_| !self.in_cell())?;
        let role = self.role(index)?;
        self.flush();
        let is_head = |at: Index| self.role(at) == Some(Role::Head);
        let page = self.page;
        match role {
            Role::Table => None,
            Role::Row => {
                let mut parts =
                    page.subtree(index).filter(|&at| matches!(self.role(at), Some(Role::Head | Role::Cell)));
                let in_head = parts.all(is_head);
                self.table.as_mut()?.open_row(in_head);
                Some(Open::Row)
            }
            Role::Cell | Role::Head => {
                self.table.as_mut()?.open_cell(page, index);
                Some(Open::Cell)
            }
        }
    }

    fn role(&self, index: Index) -> Option<Role> {
        let role = self.page.element(index).filter(|element| !element.attrs.is_empty())?.attr("role")?;
        Some(match role.trim() {
            "table" | "grid" | "treegrid" => Role::Table,
            "row" => Role::Row,
            "cell" | "gridcell" => Role::Cell,
            "columnheader" | "rowheader" => Role::Head,
            _ => return None,
        })
    }

    /// Whether an element has rows with several cells, and no table inside.
    fn is_grid(&self, index: Index) -> bool {
        let page = self.page;
        if page.end(index) - index > MAX_NODES {
            return false;
        }
        let (mut rows, mut cells) = (0, 0);
        for at in index + 1..page.end(index) {
            match self.role(at) {
                Some(Role::Table) => return false,
                Some(Role::Row) => rows += 1,
                Some(Role::Cell | Role::Head) => cells += 1,
                None if page.is(at, &local_name!("table")) => return false,
                None => {}
            }
        }
        rows > 0 && cells > rows
    }
}
