//! Evaluation of the choice of blocks by their log-odds.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::Hash;

use crate::data::{Page, Set, Truth};
use crate::labels::{plain, words};

/// F1, precision and recall.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Figures {
    pub(crate) f1: f64,
    pub(crate) precision: f64,
    pub(crate) recall: f64,
}

/// Quality of the choice on all pages.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// By words: mean over the pages.
    pub(crate) wcxb: Figures,
    pub(crate) by_kind: BTreeMap<String, f64>,
    /// By runs of four words: F1 of mean precision and mean recall.
    pub(crate) aeb: Figures,
    /// By segments.
    pub(crate) traf: Figures,
    /// By runs of four words on composed pages.
    pub(crate) made: Figures,
    /// Likewise, by the kind of the part after the article.
    pub(crate) made_by_kind: BTreeMap<String, Figures>,
    /// Mean F1 of the worst tenth of the pages: wcxb, aeb, traf and made.
    pub(crate) worst: [f64; 4],
    /// Figures of every page, in order.
    pub(crate) pages: Vec<Figures>,
}

/// Evaluates the choice by `scores`, the log-odds of all blocks of all pages.
pub(crate) fn evaluate(pages: &[Page], scores: &[f32], bias: f32) -> Report {
    let mut pages_figures = Vec::with_capacity(pages.len());
    let mut rest = scores;
    let mut segments = [0; 3];
    for page in pages {
        let (own, behind) = rest.split_at(page.texts.len());
        rest = behind;
        let chosen = page.blocks.chosen(own, bias);
        let texts: Vec<&str> =
            page.texts.iter().zip(chosen).filter(|(_, kept)| *kept).map(|(text, _)| &**text).collect();
        let text = texts.join("\n");
        pages_figures.push(match &page.truth {
            Truth::Text(truth) if matches!(page.set, Set::Aeb | Set::Made) => runs(&text, truth),
            Truth::Text(truth) => bags(&text, truth),
            Truth::Segments { with, without } => {
                let own = held(&plain(&text), with, without);
                segments.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
                Figures::of(own[0], own[0] + own[1], own[0] + own[2])
            }
        });
    }
    report(pages, pages_figures, segments)
}

fn report(pages: &[Page], figures: Vec<Figures>, [right, wrong, missed]: [usize; 3]) -> Report {
    let of = |set: Set| pages.iter().zip(&figures).filter(move |(page, _)| page.set == set);
    let all = |set: Set| of(set).map(|(_, own)| *own).collect::<Vec<Figures>>();
    let by_kind = |set: Set| {
        let mut kinds: BTreeMap<String, Vec<Figures>> = BTreeMap::new();
        of(set).for_each(|(page, own)| kinds.entry(page.kind.clone()).or_default().push(*own));
        kinds.into_iter()
    };
    Report {
        wcxb: Figures::mean(&all(Set::Wcxb)),
        by_kind: by_kind(Set::Wcxb).map(|(kind, all)| (kind, Figures::mean(&all).f1)).collect(),
        aeb: Figures::mean(&all(Set::Aeb)).balanced(),
        traf: Figures::of(right, right + wrong, right + missed),
        made: Figures::mean(&all(Set::Made)).balanced(),
        made_by_kind: by_kind(Set::Made).map(|(kind, all)| (kind, Figures::mean(&all).balanced())).collect(),
        worst: [Set::Wcxb, Set::Aeb, Set::Traf, Set::Made].map(|set| worst(&all(set))),
        pages: figures,
    }
}

/// Returns the mean F1 of the worst tenth.
fn worst(figures: &[Figures]) -> f64 {
    let mut f1s: Vec<f64> = figures.iter().map(|own| own.f1).collect();
    f1s.sort_by(f64::total_cmp);
    f1s.truncate(f1s.len().div_ceil(10));
    f1s.iter().sum::<f64>() / f1s.len().max(1) as f64
}

/// Compares the words in lower case, in any order.
fn bags(text: &str, truth: &str) -> Figures {
    let (text, truth) = (plain(text), plain(truth));
    overlap(words(&text), words(&truth))
}

/// Compares the runs of four words.
fn runs(text: &str, truth: &str) -> Figures {
    let (text, truth): (Vec<&str>, Vec<&str>) = (words(text).collect(), words(truth).collect());
    overlap(windows(&text), windows(&truth))
}

fn windows<'a>(words: &'a [&'a str]) -> impl Iterator<Item = &'a [&'a str]> {
    words.windows(words.len().clamp(1, 4))
}

fn overlap<T: Hash + Eq>(found: impl Iterator<Item = T>, wanted: impl Iterator<Item = T>) -> Figures {
    let mut left: HashMap<T, usize> = HashMap::new();
    let (mut right, mut all_found, mut all_wanted) = (0, 0, 0);
    for item in wanted {
        *left.entry(item).or_default() += 1;
        all_wanted += 1;
    }
    for item in found {
        all_found += 1;
        if let Some(count) = left.get_mut(&item).filter(|count| **count > 0) {
            *count -= 1;
            right += 1;
        }
    }
    Figures::of(right, all_found, all_wanted)
}

/// Counts the segments that are rightly present, wrongly present, and wrongly missing.
fn held(text: &str, with: &[String], without: &[String]) -> [usize; 3] {
    let count = |segments: &[String]| segments.iter().filter(|segment| text.contains(&plain(segment))).count();
    let right = count(with);
    [right, count(without), with.len() - right]
}

impl Figures {
    fn of(right: usize, found: usize, wanted: usize) -> Figures {
        let part = |of: usize| if of == 0 { 0.0 } else { right as f64 / of as f64 };
        let f1 = if found + wanted == 0 { 0.0 } else { 2.0 * right as f64 / (found + wanted) as f64 };
        Figures { f1, precision: part(found), recall: part(wanted) }
    }

    fn mean(all: &[Figures]) -> Figures {
        let mean = |of: fn(&Figures) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
        Figures { f1: mean(|own| own.f1), precision: mean(|own| own.precision), recall: mean(|own| own.recall) }
    }

    /// Recomputes F1 from the precision and recall.
    fn balanced(self) -> Figures {
        let f1 = 2.0 * self.precision * self.recall / (self.precision + self.recall).max(f64::MIN_POSITIVE);
        Figures { f1, ..self }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "F1 {:.4} P {:.3} R {:.3}", self.f1, self.precision, self.recall)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "wcxb {}   aeb {}   traf {}   made {}", self.wcxb, self.aeb, self.traf, self.made)?;
        let [wcxb, aeb, traf, made] = self.worst;
        writeln!(f, "worst tenth: wcxb {wcxb:.3} aeb {aeb:.3} traf {traf:.3} made {made:.3}")?;
        self.by_kind.iter().try_for_each(|(kind, f1)| write!(f, "  {kind} {f1:.3}"))?;
        self.made_by_kind.iter().try_for_each(|(kind, own)| write!(f, "\n  after the article, {kind}: {own}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_tenth_is_rounded_up() {
        let pages: Vec<Figures> = (0..11).map(|at| Figures { f1: f64::from(at), ..Figures::default() }).collect();
        assert_eq!((worst(&pages), worst(&pages[..10]), worst(&[])), (0.5, 0.0, 0.0));
    }

    #[test]
    fn words_and_runs_are_counted_as_often_as_they_stand() {
        let figures = bags("a b a c", "A a d");
        assert_eq!((figures.precision, figures.recall), (0.5, 2.0 / 3.0));
        let figures = runs("a b c d e", "a b c d x");
        assert_eq!((figures.precision, figures.recall), (0.5, 0.5));
        assert_eq!(runs("", "a b"), Figures::default());
    }

    #[test]
    fn segments_are_looked_for() {
        let list = |items: &[&str]| items.iter().map(|&item| item.to_owned()).collect::<Vec<_>>();
        assert_eq!(held("one two three", &list(&["One, two", "four"]), &list(&["three"])), [1, 1, 1]);
    }
}
