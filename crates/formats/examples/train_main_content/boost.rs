//! Gradient-boosted decision trees for a probability: logistic loss, histograms of binned columns, leaf-wise growth.

use crate::random::Random;
use crate::table::{BINS, Table};

/// Training parameters.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) trees: usize,
    /// Limit on the leaves of one tree.
    pub(crate) leaves: usize,
    /// Limit on the splits from the root to a leaf.
    pub(crate) depth: usize,
    /// Learning rate: the share of a tree's output that is used.
    pub(crate) rate: f64,
    /// L2 regularisation: added to the curvature of every leaf.
    pub(crate) ridge: f64,
    /// Least curvature of a leaf. The mean weight of a row is 1, so a row has about 0.25 at most.
    pub(crate) least: f64,
    /// Share of the columns that each tree sees.
    pub(crate) columns: f64,
    /// Share of the pages that each tree sees.
    pub(crate) pages: f64,
    pub(crate) seed: u64,
}

/// Training data.
#[derive(Clone, Copy)]
pub(crate) struct Examples<'a> {
    pub(crate) table: &'a Table,
    /// Target probability of each row.
    pub(crate) labels: &'a [f32],
    /// Weight of each row; rows with zero are excluded from training.
    pub(crate) weights: &'a [f32],
    /// The page of each row.
    pub(crate) pages: &'a [u32],
}

/// Trees whose outputs are summed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ensemble {
    pub(crate) base: f32,
    pub(crate) trees: Vec<Tree>,
}

/// A tree; the first node is the root.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Leaf(f32),
    /// Rows with bins up to and including `bin` go left. `gain` is the reduction of the loss.
    Split {
        column: usize,
        bin: u8,
        left: usize,
        right: usize,
        gain: f64,
    },
}

/// Sums of the first and second derivative of the loss.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    slope: f64,
    curve: f64,
}

/// A leaf that may be split further.
struct OpenLeaf {
    node: usize,
    depth: usize,
    rows: Vec<u32>,
    sum: Sum,
    /// [`BINS`] sums for each column that the tree sees.
    histogram: Vec<Sum>,
    best: Option<Split>,
}

#[derive(Debug, Clone, Copy)]
struct Split {
    /// Position among the columns that the tree sees.
    at: usize,
    bin: u8,
    gain: f64,
    left: Sum,
}

/// Trains an ensemble, and returns it with the log-odds of all rows, including those excluded from training.
pub(crate) fn train(examples: Examples, options: &Options) -> (Ensemble, Vec<f32>) {
    let base = base(examples);
    let mut scores = vec![base; examples.labels.len()];
    let mut trees = Vec::with_capacity(options.trees);
    let mut random = Random::new(options.seed);
    let pages = examples.pages.iter().max().map_or(0, |&last| last as usize + 1);
    for _ in 0..options.trees {
        let slopes = slopes(examples, &scores);
        let seen: Vec<bool> = (0..pages).map(|_| random.unit() < options.pages).collect();
        let of_row = |row: &u32| examples.weights[*row as usize] > 0.0 && seen[examples.pages[*row as usize] as usize];
        let rows: Vec<u32> = (0..scores.len() as u32).filter(of_row).collect();
        let columns = random.some_of(examples.table.columns(), options.columns);
        let tree = Grower { table: examples.table, slopes: &slopes, columns, options }.grow(rows);
        add(&tree, examples.table, &mut scores);
        trees.push(tree);
    }
    (Ensemble { base, trees }, scores)
}

/// Returns the log-odds of the mean label.
fn base(examples: Examples) -> f32 {
    let (mut sum, mut total) = (0.0, 0.0);
    for (&label, &weight) in examples.labels.iter().zip(examples.weights).filter(|(_, weight)| **weight > 0.0) {
        sum += f64::from(label * weight);
        total += f64::from(weight);
    }
    let mean = (sum / f64::max(total, f64::MIN_POSITIVE)).clamp(0.001, 0.999);
    rounded((mean / (1.0 - mean)).ln())
}

fn slopes(examples: Examples, scores: &[f32]) -> Vec<[f32; 2]> {
    let rows = scores.iter().zip(examples.labels).zip(examples.weights);
    rows.map(|((&score, &label), &weight)| {
        let chance = 1.0 / (1.0 + (-score).exp());
        [weight * (chance - label), (weight * chance * (1.0 - chance)).max(1e-9)]
    })
    .collect()
}

/// Adds a tree's outputs to the scores, on two threads.
fn add(tree: &Tree, table: &Table, scores: &mut [f32]) {
    let half = scores.len().div_ceil(2).max(1);
    std::thread::scope(|scope| {
        for (part, scores) in scores.chunks_mut(half).enumerate() {
            scope.spawn(move || {
                for (at, score) in scores.iter_mut().enumerate() {
                    *score += tree.answer(table, part * half + at);
                }
            });
        }
    });
}

impl Tree {
    fn answer(&self, table: &Table, row: usize) -> f32 {
        let mut at = 0;
        loop {
            match self.nodes[at] {
                Node::Leaf(value) => return value,
                Node::Split { column, bin, left, right, .. } => {
                    at = if table.column(column)[row] <= bin { left } else { right };
                }
            }
        }
    }
}

/// Grows one tree.
struct Grower<'a> {
    table: &'a Table,
    slopes: &'a [[f32; 2]],
    columns: Vec<usize>,
    options: &'a Options,
}

impl Grower<'_> {
    fn grow(&self, rows: Vec<u32>) -> Tree {
        let histogram = self.histogram(&rows);
        let sum = histogram[..BINS].iter().fold(Sum::default(), |sum, bin| sum.plus(*bin));
        let mut nodes = vec![Node::Leaf(self.value(sum))];
        let mut open = vec![self.judged(OpenLeaf { node: 0, depth: 0, rows, sum, histogram, best: None })];
        for _ in 1..self.options.leaves {
            let gain = |open: &OpenLeaf| open.best.map_or(0.0, |split| split.gain);
            let best = open.iter().enumerate().max_by(|a, b| gain(a.1).total_cmp(&gain(b.1))).map(|(at, _)| at);
            let Some((best, split)) = best.and_then(|at| Some((at, open[at].best?))) else { break };
            let leaf = open.swap_remove(best);
            let (left, right) = (nodes.len(), nodes.len() + 1);
            let column = self.columns[split.at];
            nodes[leaf.node] = Node::Split { column, bin: split.bin, left, right, gain: split.gain };
            let children = self.split(leaf, split, left);
            nodes.extend(children.iter().map(|child| Node::Leaf(self.value(child.sum))));
            open.extend(children);
        }
        Tree { nodes }
    }

    /// Finds the best split of a leaf, unless it is at the depth limit.
    fn judged(&self, mut leaf: OpenLeaf) -> OpenLeaf {
        if leaf.depth < self.options.depth {
            leaf.best = self.best(leaf.sum, &leaf.histogram);
        }
        leaf
    }

    /// Splits a leaf into two: `node` and the next number.
    fn split(&self, leaf: OpenLeaf, split: Split, node: usize) -> [OpenLeaf; 2] {
        let column = self.table.column(self.columns[split.at]);
        let (left, right): (Vec<u32>, Vec<u32>) = leaf.rows.iter().partition(|&&row| column[row as usize] <= split.bin);
        // Only the histogram of the smaller half is computed; that of the larger one is the difference.
        let small = self.histogram(if left.len() < right.len() { &left } else { &right });
        let mut large = leaf.histogram;
        large.iter_mut().zip(&small).for_each(|(large, small)| *large = large.minus(*small));
        let (of_left, of_right) = if left.len() < right.len() { (small, large) } else { (large, small) };
        let (depth, rest) = (leaf.depth + 1, leaf.sum.minus(split.left));
        [
            OpenLeaf { node, depth, rows: left, sum: split.left, histogram: of_left, best: None },
            OpenLeaf { node: node + 1, depth, rows: right, sum: rest, histogram: of_right, best: None },
        ]
        .map(|leaf| self.judged(leaf))
    }

    /// Computes the sums by bin of every column that the tree sees; on two threads for many rows.
    fn histogram(&self, rows: &[u32]) -> Vec<Sum> {
        let slopes: Vec<[f32; 2]> = rows.iter().map(|&row| self.slopes[row as usize]).collect();
        let mut histogram = vec![Sum::default(); self.columns.len() * BINS];
        let fill = |columns: &[usize], sums: &mut [Sum]| {
            for (&column, sums) in columns.iter().zip(sums.as_chunks_mut::<BINS>().0) {
                count(self.table.column(column), rows, &slopes, sums);
            }
        };
        if rows.len() < 500 {
            fill(&self.columns, &mut histogram);
            return histogram;
        }
        let half = self.columns.len().div_ceil(2);
        let (columns, others) = self.columns.split_at(half);
        let (sums, other_sums) = histogram.split_at_mut(half * BINS);
        std::thread::scope(|scope| {
            scope.spawn(|| fill(others, other_sums));
            fill(columns, sums);
        });
        histogram
    }

    fn best(&self, sum: Sum, histogram: &[Sum]) -> Option<Split> {
        let mut best: Option<Split> = None;
        for (at, bins) in histogram.chunks(BINS).enumerate() {
            let mut left = Sum::default();
            for (bin, next) in bins.iter().enumerate().take(self.table.cuts(self.columns[at]).len()) {
                left = left.plus(*next);
                let right = sum.minus(left);
                if left.curve < self.options.least || right.curve < self.options.least {
                    continue;
                }
                let gain = self.worth(left) + self.worth(right) - self.worth(sum);
                if gain > best.map_or(1e-6, |best| best.gain) {
                    best = Some(Split { at, bin: bin as u8, gain, left });
                }
            }
        }
        best
    }

    fn worth(&self, sum: Sum) -> f64 {
        sum.slope * sum.slope / (sum.curve + self.options.ridge)
    }

    fn value(&self, sum: Sum) -> f32 {
        rounded(-self.options.rate * sum.slope / (sum.curve + self.options.ridge))
    }
}

fn count(column: &[u8], rows: &[u32], slopes: &[[f32; 2]], sums: &mut [Sum; BINS]) {
    for (&row, &[slope, curve]) in rows.iter().zip(slopes) {
        let sum = &mut sums[usize::from(column[row as usize]) % BINS];
        sum.slope += f64::from(slope);
        sum.curve += f64::from(curve);
    }
}

impl Sum {
    fn plus(self, other: Sum) -> Sum {
        Sum { slope: self.slope + other.slope, curve: self.curve + other.curve }
    }

    fn minus(self, other: Sum) -> Sum {
        Sum { slope: self.slope - other.slope, curve: self.curve - other.curve }
    }
}

/// Rounds to the four decimals that are written to the file.
fn rounded(value: f64) -> f32 {
    ((value * 1e4).round() / 1e4) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: Options = Options {
        trees: 60,
        leaves: 8,
        depth: 20,
        rate: 0.2,
        ridge: 1.0,
        least: 0.5,
        columns: 1.0,
        pages: 0.8,
        seed: 1,
    };

    /// Learns `label` of two numbers and noise, and returns the share of held-out rows that are classified correctly.
    fn check(label: impl Fn(f32, f32) -> f32, options: &Options) -> f64 {
        let mut random = Random::new(7);
        let rows: Vec<[f32; 3]> = (0..4000).map(|_| [(); 3].map(|()| random.unit() as f32)).collect();
        let table = Table::of(&rows.concat(), 3);
        let labels: Vec<f32> = rows.iter().map(|row| label(row[0], row[1])).collect();
        let weights: Vec<f32> = (0..rows.len()).map(|at| f32::from(u8::from(at % 4 != 0))).collect();
        let pages: Vec<u32> = (0..rows.len() as u32).map(|row| row / 10).collect();
        let examples = Examples { table: &table, labels: &labels, weights: &weights, pages: &pages };
        let (ensemble, scores) = train(examples, options);
        assert_eq!((ensemble, scores.clone()), train(examples, options), "same data, same model");
        let right = (0..rows.len()).step_by(4).filter(|&row| (scores[row] > 0.0) == (labels[row] > 0.5)).count();
        right as f64 / 1000.0
    }

    #[test]
    fn learns_a_threshold_and_an_exclusive_or() {
        assert!(check(|a, _| f32::from(u8::from(a > 0.3)), &OPTIONS) > 0.98);
        assert!(check(|a, b| f32::from(u8::from((a > 0.5) != (b > 0.5))), &OPTIONS) > 0.97);
    }

    #[test]
    fn learns_from_soft_labels_and_some_of_the_columns() {
        let options = Options { columns: 0.7, depth: 3, ..OPTIONS };
        assert!(check(|a, b| if a + b > 1.0 { 0.8 } else { 0.1 }, &options) > 0.94);
    }

    #[test]
    fn a_tree_has_no_more_leaves_than_asked_for() {
        let table = Table::of(&(0..1000).map(|value| value as f32).collect::<Vec<_>>(), 1);
        let labels: Vec<f32> = (0..1000).map(|row| f32::from(u8::from(row % 100 < 50))).collect();
        let (weights, pages) = (vec![1.0; 1000], vec![0; 1000]);
        let examples = Examples { table: &table, labels: &labels, weights: &weights, pages: &pages };
        let (ensemble, _) = train(examples, &Options { trees: 3, leaves: 5, pages: 1.0, ..OPTIONS });
        assert!(ensemble.trees.iter().all(|tree| tree.nodes.len() == 9));
    }
}
