//! Trains the main-content model, and evaluates it on held-out sites by cross-validation.
//!
//! Run it with `cargo xtask train`; docs/ADDING.md has the details.

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
use self::boost::Examples;
use self::data::{Page, Set};
use self::random::Random;
use self::table::Table;

/// Prints a line immediately.
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
    for repeat in 1..=arguments.repeats {
        pages.truncate(real);
        let mut fold_of = folds(&pages, arguments.folds, repeat);
        let (made, made_folds) = compose::compose(&pages, &fold_of, arguments.made, repeat);
        pages.extend(made);
        fold_of.extend(made_folds);
        let samples = Samples::of(&pages, arguments.made_weight);
        say!("{:4.0} s: {} composed pages, {} blocks", seconds(started), pages.len() - real, samples.labels.len());
        let scores = cross_validate(&samples, &fold_of, &arguments, started)?;
        report(&pages, &samples, &scores, &arguments)?;
    }
    if let Some(file) = &arguments.out {
        pages.truncate(real);
        pages.extend(compose::compose(&pages, &vec![0; real], arguments.made, 1).0);
        write_model(&pages, file, &arguments, started)?;
    }
    say!("{:4.0} s: done", seconds(started));
    Ok(())
}

fn seconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64()
}

/// Reports the quality of scores from cross-validation.
fn report(pages: &[Page], samples: &Samples, scores: &[f32], arguments: &Arguments) -> Result<(), Error> {
    say!("on held-out sites:\n{}", evaluate::evaluate(pages, scores, arguments.bias));
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

/// Trains on all pages and writes the model.
fn write_model(pages: &[Page], file: &Path, arguments: &Arguments, started: Instant) -> Result<(), Error> {
    let names = formats::training::feature_names();
    let samples = Samples::of(pages, arguments.made_weight);
    let (ensemble, scores) = boost::train(samples.examples(&samples.weights), &arguments.options);
    say!("{:4.0} s: trained on all pages", seconds(started));
    say!("on the training pages:\n{}", evaluate::evaluate(pages, &scores, arguments.bias));
    say!("{}", write::usefulness(&ensemble, &names));
    std::fs::write(file, write::text(&ensemble, &names, &samples.table))
}

/// Training data of all blocks of all pages.
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

    fn examples<'a>(&'a self, weights: &'a [f32]) -> Examples<'a> {
        Examples { table: &self.table, labels: &self.labels, weights, pages: &self.pages }
    }
}

/// Returns the log-odds of every block from a model that was trained without its site.
fn cross_validate(
    samples: &Samples,
    fold_of: &[usize],
    arguments: &Arguments,
    started: Instant,
) -> Result<Vec<f32>, Error> {
    let mut scores = vec![0.0; samples.labels.len()];
    for fold in 0..arguments.folds {
        let held_out = |row: usize| fold_of[samples.pages[row] as usize] == fold;
        let mut weights = samples.weights.clone();
        weights.iter_mut().enumerate().filter(|(row, _)| held_out(*row)).for_each(|(_, weight)| *weight = 0.0);
        let (_, found) = boost::train(samples.examples(&weights), &arguments.options);
        scores.iter_mut().enumerate().filter(|(row, _)| held_out(*row)).for_each(|(row, score)| *score = found[row]);
        say!("{:4.0} s: fold {} of {}", seconds(started), fold + 1, arguments.folds);
    }
    Ok(scores)
}

/// Returns the fold of every page, deterministic for a seed; all pages of a site are in one fold.
fn folds(pages: &[Page], count: usize, seed: u64) -> Vec<usize> {
    let hosts: BTreeSet<&str> = pages.iter().map(|page| page.host.as_str()).collect();
    let mut hosts: Vec<&str> = hosts.into_iter().collect();
    Random::new(seed).shuffle(&mut hosts);
    let fold_of: BTreeMap<&str, usize> = hosts.iter().enumerate().map(|(at, &host)| (host, at % count)).collect();
    pages.iter().map(|page| fold_of[page.host.as_str()]).collect()
}

/// Returns lines of id, F1, precision and recall.
fn per_page(pages: &[Page], scores: &[f32], bias: f32) -> String {
    let report = evaluate::evaluate(pages, scores, bias);
    let lines = pages
        .iter()
        .zip(&report.pages)
        .map(|(page, own)| format!("{}\t{:.4}\t{:.4}\t{:.4}\n", page.id, own.f1, own.precision, own.recall));
    lines.collect()
}

/// Returns for every page the misclassified blocks: number, label, log-odds, bytes of text, and the start of the text.
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
