//! Queries: the index is asked first, then the cache which of the hits still stand.

use std::sync::Arc;

use base::Owner;
use cache::EVERYBODY;
use page_index::{Hit, MOST_HITS};
use tokio::time::{Instant, timeout_at};

use crate::{Indexing, IndexingError, Question};

/// Hits that are asked for besides those that are wanted, since some may be gone.
const SPARE_HITS: usize = 2;
/// Most copies that are kept for removal.
const MAX_GONE: usize = 10_000;

impl Indexing {
    /// Returns the hits whose copies a team may see now, best first. The index may lag behind the cache, so what was
    /// cached a moment ago may be missing.
    ///
    /// # Errors
    /// [`IndexingError`], with [`IndexingError::Timeout`] at the deadline.
    #[crate::boxed]
    pub async fn find(&self, team: &str, question: Question, deadline: Instant) -> Result<Vec<Hit>, IndexingError> {
        if !self.is_enabled() {
            return Err(IndexingError::Disabled);
        }
        if !self.files().exists() {
            return Ok(Vec::new());
        }
        timeout_at(deadline, self.find_standing(team, question, deadline)).await.map_err(|_| IndexingError::Timeout)?
    }

    async fn find_standing(
        &self,
        team: &str,
        question: Question,
        deadline: Instant,
    ) -> Result<Vec<Hit>, IndexingError> {
        let question = Arc::new(question);
        let wanted = question.offset.saturating_add(question.limit).min(MOST_HITS);
        let mut limit = (wanted + wanted / 4 + SPARE_HITS).min(MOST_HITS);
        loop {
            let hits = self.ask(team, Arc::clone(&question), limit, deadline).await?;
            let is_all = hits.len() < limit || limit == MOST_HITS;
            let standing = self.standing(team, hits).await?;
            if is_all || standing.len() >= wanted {
                return Ok(standing.into_iter().skip(question.offset).take(question.limit).collect());
            }
            limit = (limit * 4).min(MOST_HITS);
        }
    }

    /// Asks the index on a thread, which takes the turn of the team.
    async fn ask(
        &self,
        team: &str,
        question: Arc<Question>,
        limit: usize,
        deadline: Instant,
    ) -> Result<Vec<Hit>, IndexingError> {
        let (index, scope, owner) = (self.open().await?, team.to_owned(), Owner::of_team(team));
        let search = self.parts().cpu.run(&owner, deadline, move |stop| {
            index.search(&question.asked(&[&scope, EVERYBODY], limit), &|| stop.is_set())
        });
        Ok(search.await??)
    }

    /// Leaves out the hits whose copies do not stand in the cache for the team, and has them removed later.
    async fn standing(&self, team: &str, hits: Vec<Hit>) -> Result<Vec<Hit>, IndexingError> {
        if hits.is_empty() {
            return Ok(hits);
        }
        let mut ids: Vec<String> = hits.iter().map(|hit| hit.copy.clone()).collect();
        ids.sort_unstable();
        ids.dedup();
        let standing = self.parts().cache.standing(&ids, team).await?;
        ids.retain(|id| !standing.contains(id));
        if !ids.is_empty() {
            let mut gone = self.0.gone.lock();
            let room = MAX_GONE.saturating_sub(gone.len());
            gone.extend(ids.into_iter().take(room));
            self.0.has_gone.notify_one();
        }
        Ok(hits.into_iter().filter(|hit| standing.contains(&hit.copy)).collect())
    }
}
