//! Trains the model that tells main content from the rest, and says how good it is on sites that it has not seen.
//!
//! Start it with `cargo xtask train`; docs/ADDING.md says more.

mod arguments;
mod boost;
mod compose;
mod data;
mod evaluate;
mod labels;
mod random;
mod splice;
mod table;
mod threads;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{Error, Write as _, stdout};
use std::path::Path;
use std::time::Instant;

use self::arguments::Arguments;
use self::boost::{Ensemble, Examples, Options};
use self::data::{Page, Set};
use self::random::Random;
use self::table::Table;

/// Prints a line at once.
macro_rules! say {
    ($($arg:tt)*) => {
        writeln!(stdout().lock(), $($arg)*)?
    };
}

fn main() -> Result<(), Error> {
    let arguments = Arguments::read(std::env::args().skip(1)).map_err(Error::other)?;
    let started = Instant::now();
    let mut pages = data::read(&arguments.data)?;
    say!("{:4.0} s: {} pages", seconds(started), pages.len());
    let real = pages.len();
    for repeat in 1..=arguments.repeats.max(1) {
        pages.truncate(real);
        let mut fold_of = folds(&pages, arguments.folds, repeat);
        let (made, made_folds) = compose::compose(&pages, &fold_of, arguments.made, repeat);
        pages.extend(made);
        fold_of.extend(made_folds);
        let samples = Samples::of(&pages, arguments.made_weight);
        say!("{:4.0} s: {} pages put together, {} blocks", seconds(started), pages.len() - real, samples.labels.len());
        let trainer = Trainer { pages: &pages, samples: &samples, fold_of: &fold_of, arguments: &arguments };
        if arguments.validate {
            let scores = trainer.cross_validate(started)?;
            report(&pages, &samples, &scores, &arguments)?;
        }
        if let Some(folder) = arguments.out.as_ref().filter(|_| repeat == 1) {
            write_models(&trainer, folder, started)?;
        }
    }
    say!("{:4.0} s: done", seconds(started));
    Ok(())
}

fn seconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64()
}

/// How good the scores are of models that have not seen the sites.
fn report(pages: &[Page], samples: &Samples, scores: &[f32], arguments: &Arguments) -> Result<(), Error> {
    say!("on sites that were not learnt from:\n{}", evaluate::evaluate(pages, scores, arguments.bias));
    for bias in [-0.6, -0.4, -0.2, 0.0, 0.2] {
        let report = evaluate::evaluate(pages, scores, bias);
        let (wcxb, aeb, traf, made) = (report.wcxb.f1, report.aeb.f1, report.traf.f1, report.made.f1);
        say!("  bias {bias:4}: wcxb {wcxb:.4} aeb {aeb:.4} traf {traf:.4} made {made:.4}");
    }
    if let Some(file) = &arguments.per_page {
        std::fs::write(file, per_page(pages, scores, arguments.bias))?;
    }
    if let Some(file) = &arguments.wrong {
        std::fs::write(file, wrong(pages, &samples.labels, scores, arguments.bias))?;
    }
    Ok(())
}

/// Trains both models on everything.
fn write_models(trainer: &Trainer, folder: &Path, started: Instant) -> Result<(), Error> {
    let trained = trainer.train(&trainer.samples.weights, None);
    say!("{:4.0} s: trained on everything", seconds(started));
    say!("on what was learnt from:\n{}", evaluate::evaluate(trainer.pages, &trained.scores, trainer.arguments.bias));
    let (first, second) = (formats::training::feature_names(), formats::training::feature_names_again());
    let tables = [(&trained.first, first, &trainer.samples.table), (&trained.second, second, &trained.table)];
    for ((ensemble, names, table), file) in tables.into_iter().zip(["first.txt", "second.txt"]) {
        say!("{file}: {}", write::usefulness(ensemble, &names));
        std::fs::write(folder.join(file), write::text(ensemble, &names, table))?;
    }
    Ok(())
}

/// All blocks of all pages.
struct Samples {
    table: Table,
    labels: Vec<f32>,
    weights: Vec<f32>,
    pages: Vec<u32>,
}

impl Samples {
    fn of(pages: &[Page], made_weight: f32) -> Samples {
        let (mut labels, mut weights, mut page_of) = (Vec::new(), Vec::new(), Vec::new());
        let mut values = Vec::new();
        for (number, page) in pages.iter().enumerate() {
            let own = labels::labels(page);
            let part = if page.set == Set::Made { made_weight } else { 1.0 };
            weights.extend(labels::weights(page, &own).iter().map(|weight| weight * part));
            page_of.extend(own.iter().map(|_| number as u32));
            labels.extend(own);
            values.extend_from_slice(&page.features);
        }
        let known = weights.iter().filter(|weight| **weight > 0.0).count();
        let mean = weights.iter().sum::<f32>() / known.max(1) as f32;
        weights.iter_mut().for_each(|weight| *weight /= mean);
        let table = Table::of(&values, formats::training::feature_names().len());
        Samples { table, labels, weights, pages: page_of }
    }
}

/// Trains the two models, of which the second learns from what the first says of sites that it has not seen.
struct Trainer<'a> {
    pages: &'a [Page],
    samples: &'a Samples,
    fold_of: &'a [usize],
    arguments: &'a Arguments,
}

struct Trained {
    first: Ensemble,
    second: Ensemble,
    /// Of the features of the second.
    table: Table,
    /// Log-odds of all blocks, of pages that were not learnt from too.
    scores: Vec<f32>,
}

impl Trainer<'_> {
    /// The log-odds of every block from models that have not seen its site.
    fn cross_validate(&self, started: Instant) -> Result<Vec<f32>, Error> {
        let mut scores = vec![0.0; self.samples.labels.len()];
        for fold in 0..self.arguments.folds {
            let weights = self.without(&self.samples.weights, |other| other == fold);
            let found = self.train(&weights, Some(fold)).scores;
            self.take(&mut scores, &found, |other| other == fold);
            say!("{:4.0} s: fold {} of {}", seconds(started), fold + 1, self.arguments.folds);
        }
        Ok(scores)
    }

    /// Trains on the rows with a weight, which are not of the fold `left_out`.
    fn train(&self, weights: &[f32], left_out: Option<usize>) -> Trained {
        let options = &self.arguments.options;
        let trees = self.arguments.first_trees;
        let short = Options { trees, rate: options.rate * options.trees as f64 / trees as f64, ..options.clone() };
        let part =
            |fold: usize| (fold + usize::from(left_out.is_some_and(|left_out| fold > left_out))) % self.arguments.parts;
        let (first, mut verdicts) = boost::train(self.examples(&self.samples.table, weights), &short);
        for number in 0..self.arguments.parts {
            let in_part = |fold: usize| Some(fold) != left_out && part(fold) == number;
            let others = self.without(weights, in_part);
            let found = boost::train(self.examples(&self.samples.table, &others), &short).1;
            self.take(&mut verdicts, &found, in_part);
        }
        let mut rows = Vec::new();
        let mut rest = verdicts.as_slice();
        for page in self.pages {
            let (own, behind) = rest.split_at(page.texts.len());
            rest = behind;
            rows.extend(page.blocks.features_again(own));
        }
        let table = Table::of(&rows, formats::training::feature_names_again().len());
        let (second, scores) = boost::train(self.examples(&table, weights), options);
        Trained { first, second, table, scores }
    }

    fn examples<'b>(&'b self, table: &'b Table, weights: &'b [f32]) -> Examples<'b> {
        Examples { table, labels: &self.samples.labels, weights, pages: &self.samples.pages }
    }

    /// No weight for rows of those folds.
    fn without(&self, weights: &[f32], folds: impl Fn(usize) -> bool) -> Vec<f32> {
        let rows = weights.iter().zip(&self.samples.pages);
        rows.map(|(&weight, &page)| if folds(self.fold_of[page as usize]) { 0.0 } else { weight }).collect()
    }

    /// Takes the values of rows of those folds.
    fn take(&self, into: &mut [f32], from: &[f32], folds: impl Fn(usize) -> bool) {
        for ((into, from), &page) in into.iter_mut().zip(from).zip(&self.samples.pages) {
            if folds(self.fold_of[page as usize]) {
                *into = *from;
            }
        }
    }
}

/// The fold of every page, always the same for a seed; pages of one site are in one fold.
fn folds(pages: &[Page], count: usize, seed: u64) -> Vec<usize> {
    let hosts: BTreeSet<&str> = pages.iter().map(|page| page.host.as_str()).collect();
    let mut hosts: Vec<&str> = hosts.into_iter().collect();
    Random::new(seed).shuffle(&mut hosts);
    let fold_of: BTreeMap<&str, usize> = hosts.iter().enumerate().map(|(at, &host)| (host, at % count)).collect();
    pages.iter().map(|page| fold_of[page.host.as_str()]).collect()
}

/// Lines of id, F1, precision and recall.
fn per_page(pages: &[Page], scores: &[f32], bias: f32) -> String {
    let report = evaluate::evaluate(pages, scores, bias);
    let lines = pages
        .iter()
        .zip(&report.pages)
        .map(|(page, own)| format!("{}\t{:.4}\t{:.4}\t{:.4}\n", page.id, own.f1, own.precision, own.recall));
    lines.collect()
}

/// For every page, the blocks on the wrong side: number, label, log-odds, letters of text, and how the text begins.
fn wrong(pages: &[Page], labels: &[f32], scores: &[f32], bias: f32) -> String {
    let mut out = String::new();
    let mut first = 0;
    for page in pages {
        let own = first..first + page.texts.len();
        first = own.end;
        let chosen = page.blocks.chosen(&scores[own.clone()], bias);
        let _ = writeln!(out, "{} {} of {} blocks", page.id, page.url, chosen.len());
        for (at, &chosen) in chosen.iter().enumerate() {
            let (label, score, text) = (labels[own.start + at], scores[own.start + at], page.texts[at].trim());
            if label != labels::UNKNOWN && chosen != (label > 0.5) {
                let begin: String = text.chars().take(60).map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
                let _ = writeln!(out, "  {at} {label:.2} {score:.2} {} {begin}", text.len());
            }
        }
    }
    out
}
