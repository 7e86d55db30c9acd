//! Tables in formulas: matrices, cases, aligned lines.

use page::Index;

use super::Writer;

impl Writer<'_> {
    /// Writes a table with the fences around it as one environment. Returns how many of `parts` were used; 0 if they
    /// are not a fenced table.
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

    /// Writes the rows and cells of a table in an environment.
    pub(super) fn table(&mut self, index: Index, environment: &str) {
        self.push(&format!("\\begin{{{environment}}} "));
        let mut first_row = true;
        for row in self.elements(index) {
            if !std::mem::take(&mut first_row) {
                self.out.push_str(" \\\\ ");
            }
            // The label of a row is not part of the formula.
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
