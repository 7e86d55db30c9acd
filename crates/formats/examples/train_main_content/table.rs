//! Table of binned features, column by column.

/// Limit on the bins of a column.
pub(crate) const BINS: usize = 64;

/// Features, each as the number of its bin.
pub(crate) struct Table {
    columns: Vec<Column>,
}

struct Column {
    bins: Vec<u8>,
    /// Upper bounds of the bins, inclusive; the last bin has none.
    cuts: Vec<f32>,
}

impl Table {
    /// Builds a table from consecutive rows of `width` values.
    pub(crate) fn of(values: &[f32], width: usize) -> Table {
        let numbers: Vec<usize> = (0..width).collect();
        let read = |numbers: &[usize]| numbers.iter().map(|&column| Column::of(values, width, column)).collect();
        let (first, second) = numbers.split_at(width / 2);
        let (first, second): (Vec<Column>, Vec<Column>) = std::thread::scope(|scope| {
            let second = scope.spawn(|| read(second));
            (read(first), second.join().unwrap_or_default())
        });
        Table { columns: first.into_iter().chain(second).collect() }
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns.len()
    }

    pub(crate) fn column(&self, column: usize) -> &[u8] {
        &self.columns[column].bins
    }

    pub(crate) fn cuts(&self, column: usize) -> &[f32] {
        &self.columns[column].cuts
    }
}

impl Column {
    fn of(values: &[f32], width: usize, column: usize) -> Column {
        let own: Vec<f32> = values.iter().skip(column).step_by(width).copied().collect();
        let mut sorted = own.clone();
        sorted.sort_unstable_by(f32::total_cmp);
        let cuts = cuts(&sorted);
        let bins = own.iter().map(|value| cuts.partition_point(|cut| cut < value) as u8).collect();
        Column { bins, cuts }
    }
}

/// Returns cuts that put about the same number of values into every bin; equal values stay together.
fn cuts(sorted: &[f32]) -> Vec<f32> {
    let groups: Vec<&[f32]> = sorted.chunk_by(|a, b| a == b).collect();
    let mut cuts = Vec::new();
    let (mut left, mut filled) = (sorted.len(), 0);
    for pair in groups.windows(2) {
        let bins = BINS - cuts.len();
        if bins == 1 {
            break;
        }
        filled += pair[0].len();
        // With enough bins, every distinct value has its own.
        if groups.len() <= BINS || filled * bins >= left {
            cuts.push(between(pair[0][0], pair[1][0]));
            left -= filled;
            filled = 0;
        }
    }
    cuts
}

/// Returns the shortest number from `low` to below `high`, so that model files are short and stable.
fn between(low: f32, high: f32) -> f32 {
    let middle = low + (high - low) / 2.0;
    let short = |digits: usize| format!("{middle:.digits$e}").parse().unwrap_or(low);
    (0..9).map(short).find(|cut| (low..high).contains(cut)).unwrap_or(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_have_a_bin_each() {
        let table = Table::of(&[3.0, 0.0, 1.0, 0.5, 3.0, 0.0], 2);
        assert_eq!((table.column(0), table.column(1)), ([1, 0, 1].as_slice(), [0, 1, 0].as_slice()));
        assert_eq!((table.cuts(0), table.cuts(1)), ([2.0].as_slice(), [0.2].as_slice()));
    }

    #[test]
    fn many_values_share_bins_of_one_size() {
        let table = Table::of(&(0..6400).map(|value| value as f32).collect::<Vec<_>>(), 1);
        assert_eq!(table.cuts(0).len(), BINS - 1);
        let counts = table.column(0).chunk_by(|a, b| a == b).map(<[u8]>::len);
        assert!(counts.clone().all(|count| (99..=101).contains(&count)), "{:?}", counts.collect::<Vec<_>>());
    }

    #[test]
    fn cuts_are_short_and_between() {
        for (low, high) in [(0.0, 1.0), (1.25, 1.26), (1000.0, 1001.0), (-3.0, -2.9), (0.1, 0.100_000_01)] {
            let cut = between(low, high);
            assert!(low <= cut && cut < high, "{low} {cut} {high}");
        }
        assert_eq!(between(1.2501, 1.2699), 1.26);
    }
}
