//! Order of the candidates: what the words of a query say together.

use tantivy::postings::{Postings as _, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet as _, Searcher, SegmentReader, Term};

use crate::collect::Candidate;
use crate::plan::{Plan, Wanted};
use crate::schema::Fields;

/// Candidates of which the words' places are looked at: more cost time and come too late to be among the best.
const CLOSELY: usize = 100;
/// Candidates looked at for a long query: it may be a sentence of one page, whose words many other pages have as well.
const CLOSELY_LONG: usize = 300;
/// Most words of a query that are likely all meant. Of a longer one a good page need not have all.
const FEW_WORDS: usize = 6;
/// Fewest words of a quote.
const SHORTEST_QUOTE: usize = 3;
/// Most places of a word where a quote is looked for.
const MOST_ANCHORS: usize = 50;
/// Positions within which two words are near each other.
const NEAR: u32 = 8;

/// Weights of the places of words, relative to their rarity. Pairs and titles were chosen for collections of papers with
/// judged queries, quotes for these and for sentences of documentation.
mod worth {
    pub(super) const PAIRS: f32 = 0.5;
    pub(super) const TITLE: f32 = 0.2;
    pub(super) const ALL_WORDS: f32 = 0.2;
    pub(super) const QUOTE: f32 = 3.5;
}

/// Positions of a word in one page, and in its title.
#[derive(Debug, Default, Clone)]
struct Places {
    page: Vec<u32>,
    title: Vec<u32>,
}

/// Adds to the score of candidates, in the order of their rank, what the places of the words say, and orders them by it.
pub(crate) fn rank(
    fields: &Fields,
    searcher: &Searcher,
    plan: &Plan,
    candidates: &mut [Candidate],
) -> tantivy::Result<()> {
    let (close, _) = candidates.split_at_mut(candidates.len().min(most_close(plan)));
    // Lists of pages are read forwards only.
    close.sort_by_key(|candidate| (candidate.segment, candidate.page));
    for candidates in close.chunk_by_mut(|one, other| one.segment == other.segment) {
        let Some(first) = candidates.first() else { continue };
        let reader = searcher.segment_reader(first.segment);
        let mut lists = Lists::open(fields, reader, &plan.wanted)?;
        for candidate in candidates {
            candidate.score += bonus(&plan.wanted, &lists.places(candidate.page));
        }
    }
    candidates.sort_by(Candidate::rank);
    Ok(())
}

/// Returns the maximum number of candidates of which the words' places are looked at.
pub(crate) fn most_close(plan: &Plan) -> usize {
    if plan.wanted.len() > FEW_WORDS { CLOSELY_LONG } else { CLOSELY }
}

/// Lists of pages of a word, for each of its stems.
struct OfWord {
    page: Vec<SegmentPostings>,
    title: Vec<SegmentPostings>,
}

/// Lists of pages of all words in a segment.
struct Lists(Vec<OfWord>);

impl Lists {
    fn open(fields: &Fields, reader: &SegmentReader, wanted: &[Wanted]) -> tantivy::Result<Self> {
        let open = |field: Field, word: &Wanted| -> tantivy::Result<Vec<SegmentPostings>> {
            let list = reader.inverted_index(field)?;
            let mut out = Vec::new();
            for stem in &word.stems {
                let term = Term::from_field_text(field, stem);
                out.extend(list.read_postings(&term, IndexRecordOption::WithFreqsAndPositions)?);
            }
            Ok(out)
        };
        let mut words = Vec::new();
        for word in wanted {
            words.push(OfWord { page: open(fields.words, word)?, title: open(fields.title_words, word)? });
        }
        Ok(Lists(words))
    }

    /// Returns the places of the words in a page.
    fn places(&mut self, page: DocId) -> Vec<Places> {
        let of_word = |lists: &mut OfWord| Places {
            page: positions(&mut lists.page, page),
            title: positions(&mut lists.title, page),
        };
        self.0.iter_mut().map(of_word).collect()
    }
}

/// Returns the positions of any of several terms in a page, each once.
fn positions(lists: &mut [SegmentPostings], page: DocId) -> Vec<u32> {
    let mut out = Vec::new();
    for list in lists.iter_mut() {
        if list.doc() < page {
            list.seek(page);
        }
        if list.doc() == page {
            list.append_positions_with_offset(0, &mut out);
        }
    }
    if lists.len() > 1 {
        out.sort_unstable();
    }
    out.dedup();
    out
}

/// Returns what the places of the words add to the score of a page.
fn bonus(wanted: &[Wanted], places: &[Places]) -> f32 {
    let all: f32 = wanted.iter().map(|word| word.rarity).sum();
    if all <= 0.0 {
        return 0.0;
    }
    let titled = wanted.iter().zip(places).filter(|(_, places)| !places.title.is_empty());
    let in_title = titled.map(|(word, _)| word.rarity).sum::<f32>() / all;
    let pairs: f32 = pairs(wanted, places).sum();
    let has_all =
        if wanted.len() <= FEW_WORDS && places.iter().all(|places| !places.page.is_empty()) { 1.0 } else { 0.0 };
    let of_all =
        worth::ALL_WORDS * has_all + worth::TITLE * in_title * in_title + worth::QUOTE * quoted(wanted, places, all);
    worth::PAIRS * pairs + all * of_all
}

/// Returns how likely the page is quoted, from 0 to 1: how much of the query stands in one place, word by word as in the
/// query. Less than nearly all of it says little, and two words are a pair. `all` is the rarity of all words.
#[expect(clippy::cast_precision_loss, reason = "a query has few words")]
fn quoted(wanted: &[Wanted], places: &[Places], all: f32) -> f32 {
    let with_places = wanted.iter().zip(places).filter(|(_, places)| !places.page.is_empty());
    // A quote has the rarest word too.
    let Some((rarest, anchors)) = with_places.max_by(|(one, _), (other, _)| one.rarity.total_cmp(&other.rarity)) else {
        return 0.0;
    };
    let at = |anchor: &u32| {
        let (mut count, mut rarity) = (0_usize, 0.0);
        for (word, places) in wanted.iter().zip(places) {
            let place = (anchor + word.place).checked_sub(rarest.place);
            if place.is_some_and(|place| places.page.binary_search(&place).is_ok()) {
                count += 1;
                rarity += word.rarity;
            }
        }
        if count < SHORTEST_QUOTE {
            return 0.0;
        }
        (rarity / all).powi(5) * (1.0 - 2.0 / count as f32)
    };
    anchors.page.iter().take(MOST_ANCHORS).map(at).fold(0.0, f32::max)
}

/// Returns the worth of each pair of neighbours of the query: how often they are near each other in the page, with
/// decreasing returns, twice for those in the same order and distance.
fn pairs<'a>(wanted: &'a [Wanted], places: &'a [Places]) -> impl Iterator<Item = f32> + 'a {
    wanted.windows(2).zip(places.windows(2)).map(|(words, places)| {
        let ([first, second], [one, other]) = (words, places) else { return 0.0 };
        let apart = second.place.saturating_sub(first.place);
        let often = near(&one.page, &other.page, apart);
        first.rarity.min(second.rarity) * often / (often + 1.0)
    })
}

/// Counts the positions of one word that have the other near, double where it is as far behind as in the query.
fn near(one: &[u32], other: &[u32], apart: u32) -> f32 {
    let mut often = 0.0;
    let mut from = 0;
    for position in one {
        while other.get(from).is_some_and(|other| other + NEAR < *position) {
            from += 1;
        }
        let mut worth = 0.0_f32;
        for other in other[from..].iter().take_while(|other| **other <= position + NEAR) {
            worth = worth.max(if *other == position + apart { 1.0 } else { 0.5 });
        }
        often += worth;
    }
    often
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_near_each_other_count_more_in_their_order() {
        assert!((near(&[1, 50], &[2, 90], 1) - 1.0).abs() < f32::EPSILON);
        assert!((near(&[2], &[1], 1) - 0.5).abs() < f32::EPSILON);
        assert!((near(&[1], &[30], 1)).abs() < f32::EPSILON);
        assert!((near(&[1, 3, 5], &[2, 4, 6], 1) - 3.0).abs() < f32::EPSILON);
    }

    #[test]
    fn a_quote_counts_by_its_words() {
        let word = |place, rarity| Wanted { stems: Vec::new(), place, rarity, times: 1.0 };
        let wanted = [word(1, 1.0), word(3, 4.0), word(4, 2.0)];
        let worth = |places: [&[u32]; 3]| {
            let places = places.map(|page| Places { page: page.to_vec(), title: Vec::new() });
            quoted(&wanted, &places, 7.0)
        };
        assert!((worth([&[3, 20], &[9, 22], &[2, 23]]) - 1.0 / 3.0).abs() < 1e-6);
        assert!(worth([&[20], &[22], &[40]]).abs() < f32::EPSILON, "two words are a pair");
        assert!(worth([&[0], &[1], &[2]]).abs() < f32::EPSILON, "not as far from each other as in the query");
        assert!(worth([&[], &[], &[]]).abs() < f32::EPSILON);
    }
}
