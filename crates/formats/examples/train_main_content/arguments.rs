//! Command line of the trainer.

use std::path::PathBuf;
use std::str::FromStr;

use crate::boost::Options;

const USAGE: &str = "usage: train_main_content --data FOLDER [--out FILE] [--folds N] [--repeats N] [--made N] \
    [--made-weight R] [--per-page FILE] [--wrong FILE] [--trees N] [--leaves N] [--depth N] [--rate R] [--ridge R] \
    [--least R] [--columns R] [--pages R] [--bias R] [--seed N]";

/// Parsed command line.
pub(crate) struct Arguments {
    /// Folder with the data sets wcxb, aeb and traf.
    pub(crate) data: PathBuf,
    /// File for the model.
    pub(crate) out: Option<PathBuf>,
    /// Folds of the cross-validation.
    pub(crate) folds: usize,
    /// Number of cross-validations, each with different folds; 0 for none.
    pub(crate) repeats: u64,
    /// Composed pages per article.
    pub(crate) made: usize,
    /// Weight of a composed page; other pages have 1.
    pub(crate) made_weight: f32,
    /// File for the figures of every page.
    pub(crate) per_page: Option<PathBuf>,
    /// File for the misclassified blocks.
    pub(crate) wrong: Option<PathBuf>,
    /// Added to the log-odds before blocks are chosen.
    pub(crate) bias: f32,
    pub(crate) options: Options,
}

impl Default for Arguments {
    fn default() -> Arguments {
        Arguments {
            data: PathBuf::new(),
            out: None,
            folds: 5,
            repeats: 1,
            made: 2,
            made_weight: 0.5,
            per_page: None,
            wrong: None,
            bias: -0.6,
            options: defaults(),
        }
    }
}

impl Arguments {
    /// Parses the arguments after the program's name. The error is a message for the user.
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut arguments = Arguments::default();
        let options = &mut arguments.options;
        while let Some(flag) = words.next() {
            let value = words.next().ok_or(USAGE)?;
            match flag.as_str() {
                "--data" => arguments.data = value.into(),
                "--out" => arguments.out = Some(value.into()),
                "--per-page" => arguments.per_page = Some(value.into()),
                "--wrong" => arguments.wrong = Some(value.into()),
                "--folds" => set(&mut arguments.folds, &value)?,
                "--repeats" => set(&mut arguments.repeats, &value)?,
                "--made" => set(&mut arguments.made, &value)?,
                "--made-weight" => set(&mut arguments.made_weight, &value)?,
                "--bias" => set(&mut arguments.bias, &value)?,
                "--trees" => set(&mut options.trees, &value)?,
                "--leaves" => set(&mut options.leaves, &value)?,
                "--depth" => set(&mut options.depth, &value)?,
                "--rate" => set(&mut options.rate, &value)?,
                "--ridge" => set(&mut options.ridge, &value)?,
                "--least" => set(&mut options.least, &value)?,
                "--columns" => set(&mut options.columns, &value)?,
                "--pages" => set(&mut options.pages, &value)?,
                "--seed" => set(&mut options.seed, &value)?,
                _ => return Err(USAGE.to_owned()),
            }
        }
        if arguments.data.as_os_str().is_empty() { Err(USAGE.to_owned()) } else { Ok(arguments) }
    }
}

fn defaults() -> Options {
    Options { trees: 200, leaves: 31, depth: 8, rate: 0.06, ridge: 2.0, least: 0.5, columns: 0.4, pages: 0.8, seed: 1 }
}

fn set<T: FromStr>(place: &mut T, value: &str) -> Result<(), String> {
    *place = value.parse().map_err(|_| format!("not a number: {value}\n{USAGE}"))?;
    Ok(())
}
