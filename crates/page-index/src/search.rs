//! Answers to questions.

use tantivy::schema::{Field, Value as _};
use tantivy::{DocAddress, TantivyDocument};

use crate::collect::{Candidate, collect};
use crate::document::file_words;
use crate::index::Opened;
use crate::plan::{Plan, plan};
use crate::rank::{most_close, rank};
use crate::schema::{Fields, flags};
use crate::simhash::are_alike;
use crate::view::{View, moment, number};
use crate::{Asked, Hit, IndexError, MOST_HITS, PageImage, PageKind, Source};

/// Most candidates that are ordered.
const MOST: usize = 2_000;
/// Most images of one page in an answer.
const OF_A_PAGE: usize = 5;
/// Share of the best score that a page must have to be put before a better one for its date.
const RELEVANT: f32 = 0.4;

/// Answers a question.
pub(crate) fn search(opened: &Opened, asked: &Asked<'_>, stop: &dyn Fn() -> bool) -> Result<Vec<Hit>, IndexError> {
    let view = opened.view();
    let failed = |error| opened.failed(&error);
    let Some(plan) = plan(&opened.fields, &view, asked).map_err(failed)? else { return Ok(Vec::new()) };
    let wanted = (asked.offset.saturating_add(asked.limit)).min(MOST_HITS);
    let mut most = (3 * wanted).max(most_close(&plan));
    loop {
        let found = collect(&view, &plan, asked, most, stop).map_err(failed)?;
        let mut candidates = found.ok_or(IndexError::Stopped)?;
        let is_all = candidates.len() < most;
        if asked.source != Source::Images {
            rank(&opened.fields, &view.searcher, &plan, &mut candidates).map_err(failed)?;
        }
        let answer = Answer { fields: &opened.fields, view: &view, plan: &plan, asked, wanted };
        let mut hits = answer.hits(candidates, stop).map_err(failed)?.ok_or(IndexError::Stopped)?;
        if hits.len() >= wanted || is_all || most >= MOST {
            hits.drain(..asked.offset.min(hits.len()));
            return Ok(hits);
        }
        // One site has more of the best than it may, or copies of one page do.
        most = (most * 5).min(MOST);
    }
}

struct Answer<'a> {
    fields: &'a Fields,
    view: &'a View,
    plan: &'a Plan,
    asked: &'a Asked<'a>,
    wanted: usize,
}

/// Columns of a candidate.
struct Row {
    candidate: Candidate,
    published: Option<i64>,
    site: u64,
    simhash: u64,
}

impl Answer<'_> {
    /// Returns the hits, those before the offset included, or nothing if it was stopped.
    fn hits(&self, candidates: Vec<Candidate>, stop: &dyn Fn() -> bool) -> tantivy::Result<Option<Vec<Hit>>> {
        let mut rows: Vec<Row> = candidates.into_iter().map(|candidate| self.row(candidate)).collect();
        self.order(&mut rows);
        let mut hits: Vec<Hit> = Vec::new();
        let mut kept: Vec<&Row> = Vec::new();
        for row in &rows {
            if hits.len() >= self.wanted {
                break;
            }
            if stop() {
                return Ok(None);
            }
            if self.is_one_too_many(row, &kept) {
                continue;
            }
            let hit = self.hit(row)?;
            // The same page may be in two of the scopes.
            if hits.iter().any(|other| other.url == hit.url) {
                continue;
            }
            kept.push(row);
            if self.asked.source == Source::Images { hits.extend(images(self.plan, &hit)) } else { hits.push(hit) }
        }
        hits.truncate(self.wanted);
        Ok(Some(hits))
    }

    fn row(&self, candidate: Candidate) -> Row {
        let (columns, page) = (self.view.columns(candidate.segment), candidate.page);
        Row {
            candidate,
            published: moment(columns.and_then(|columns| columns.published.as_ref()), page),
            site: number(columns.and_then(|columns| columns.site.as_ref()), page),
            simhash: number(columns.and_then(|columns| columns.simhash.as_ref()), page),
        }
    }

    /// Puts the newest first if that is asked, of those that are about as relevant as the best.
    fn order(&self, rows: &mut Vec<Row>) {
        if self.asked.newest_first {
            let best = rows.first().map_or(0.0, |row| row.candidate.score);
            rows.retain(|row| row.candidate.score >= best * RELEVANT);
            rows.sort_by_key(|row| std::cmp::Reverse(row.published));
        }
    }

    /// Returns whether a page repeats one that is kept, or its site has had its share.
    fn is_one_too_many(&self, row: &Row, kept: &[&Row]) -> bool {
        if kept.iter().any(|other| are_alike(other.simhash, row.simhash)) {
            return true;
        }
        let of_site = || kept.iter().filter(|other| other.site == row.site).count();
        self.asked.per_site.is_some_and(|most| of_site() >= most)
    }

    fn hit(&self, row: &Row) -> tantivy::Result<Hit> {
        let Candidate { score, segment, page } = row.candidate;
        let document: TantivyDocument = self.view.searcher.doc(DocAddress::new(segment, page))?;
        let stored = |field: Field| {
            document.get_first(field).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
        };
        let columns = self.view.columns(segment);
        let flags = number(columns.and_then(|columns| columns.flags.as_ref()), page);
        Ok(Hit {
            copy: stored(self.fields.copy),
            scope: columns.map(|columns| columns.scope(page)).transpose()?.unwrap_or_default(),
            url: stored(self.fields.url),
            title: stored(self.fields.title),
            description: stored(self.fields.description),
            text: stored(self.fields.text),
            language: Some(stored(self.fields.language)).filter(|language| !language.is_empty()),
            kind: if flags & flags::DOCUMENT == 0 { PageKind::Page } else { PageKind::Document },
            published: row.published,
            fetched: moment(columns.and_then(|columns| columns.fetched.as_ref()), page).unwrap_or_default(),
            score,
            images: serde_json::from_str(&stored(self.fields.images)).unwrap_or_default(),
            image: None,
        })
    }
}

/// Returns the images of a page that the query asks for, each as a hit: those whose text has most of the words; without
/// any, the first image, as the page itself was found.
fn images(plan: &Plan, hit: &Hit) -> Vec<Hit> {
    let worth = |image: &PageImage| plan.worth_of(&format!("{} {}", image.alt, file_words(&image.url)));
    let mut images: Vec<(f32, &PageImage)> = hit.images.iter().map(|image| (worth(image), image)).collect();
    images.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let is_any = images.first().is_some_and(|(worth, _)| *worth > 0.0);
    let shown = images.iter().filter(|(worth, _)| !is_any || *worth > 0.0);
    let most = if is_any { OF_A_PAGE } else { 1 };
    shown.take(most).map(|(_, image)| Hit { image: Some((*image).clone()), ..hit.clone() }).collect()
}
