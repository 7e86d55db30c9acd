//! Places of cells, where gaps between rows and columns are closed.

use std::collections::HashMap;

use memchr::memmem;

use super::{place, reference};

/// New numbers of rows and columns, where gaps are closed.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub rows: Option<HashMap<usize, usize>>,
    pub columns: HashMap<usize, usize>,
}

impl Places {
    /// Closes gaps of more than two.
    pub(super) fn closing(text: &str) -> Self {
        let (mut rows, mut columns) = (Vec::new(), Vec::new());
        for at in memmem::find_iter(text.as_bytes(), b"<c r=\"") {
            if let Some((row, column)) = place(reference(&text[at..])) {
                rows.push(row);
                columns.push(column);
            }
        }
        Self { rows: Some(closed(rows)), columns: closed(columns) }
    }
}

fn closed(mut numbers: Vec<usize>) -> HashMap<usize, usize> {
    numbers.sort_unstable();
    numbers.dedup();
    let (mut closed, mut last, mut next) = (HashMap::new(), 0, 0);
    for number in numbers {
        next += (number - last).min(3);
        last = number;
        closed.insert(number, next);
    }
    closed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_closed() {
        let closed = closed(vec![1, 2, 7, 1_048_576, 2]);
        assert_eq!([1, 2, 7, 1_048_576].map(|number| closed[&number]), [1, 2, 5, 8]);
    }
}
