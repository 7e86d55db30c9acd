//! Tables of formulas: matrices, cases, aligned lines.

use page::Index;

use super::Writer;

impl Writer<'_> {
    /// A table with the fences around it, as the environment that draws both. Says how many of `parts` were used.
    pub(super) fn fenced_table(&mut self, parts: &[Index]) -> usize {
        let Some((&open, rest)) = parts.split_first() else { return 0 };
        let Some((&table, rest)) = rest.split_first() else { return 0 };
        if self.name(open) != "mo" || self.name(table) != "mtable" {
            return 0;
        }
        let close = rest.first().filter(|&&close| self.name(close) == "mo").map(|&close| self.words(close));
        let (environment, used) = match (&*self.words(open), close.as_deref()) {
            ("(", Some(")")) => ("pmatrix", 3),
            ("[", Some("]")) => ("bmatrix", 3),
            ("|", Some("|")) => ("vmatrix", 3),
            ("‖" | "||", Some("‖" | "||")) => ("Vmatrix", 3),
            ("{", Some("}")) => ("Bmatrix", 3),
            ("{", Some("")) => ("cases", 3),
            ("{", None) => ("cases", 2),
            _ => return 0,
        };
        self.table(table, environment);
        used
    }

    /// Rows and cells in an environment.
    pub(super) fn table(&mut self, index: Index, environment: &str) {
        self.push(&format!("\\begin{{{environment}}} "));
        let mut first_row = true;
        for row in self.elements(index) {
            if !std::mem::take(&mut first_row) {
                self.out.push_str(" \\\\ ");
            }
            // The label of a row is no part of its formula.
            let skipped = usize::from(self.name(row) == "mlabeledtr");
            let mut first_cell = true;
            for cell in self.elements(row).into_iter().skip(skipped) {
                if !std::mem::take(&mut first_cell) {
                    self.out.push_str(" & ");
                }
                self.row(cell);
            }
        }
        self.push(&format!(" \\end{{{environment}}}"));
    }
}
