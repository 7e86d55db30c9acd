//! The writer.

use std::collections::HashMap;
use std::sync::Arc;

use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::schema::Value as _;
use tantivy::{DocAddress, DocSet as _, IndexWriter, TantivyDocument, Term};

use crate::document::document;
use crate::encode::Encoder;
use crate::index::Opened;
use crate::schema::Identity;
use crate::{IndexError, IndexedPage};

/// Least and most memory that the library takes, in bytes.
const LEAST_MEMORY: usize = 15_000_000;
const MOST_MEMORY: usize = 2 << 30;
/// Text that may wait for the indexing thread, in bytes. Beyond it the writer commits early, with the place of the
/// last commit: what follows that place is read again after a crash, and replaced.
const MOST_WAITING: usize = 64 << 20;

/// Writer of an index. No query sees its work, and none of it outlasts the process, before [`Writer::commit`].
pub struct Writer {
    opened: Arc<Opened>,
    writer: IndexWriter,
    encoder: Encoder,
    /// Copies by page that were put since the last commit.
    put: HashMap<Identity, String>,
    removed: usize,
    waiting: usize,
    place: Option<String>,
}

impl Writer {
    pub(crate) fn open(opened: Arc<Opened>) -> Result<Self, IndexError> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(opened.settings.writer_bytes.clamp(LEAST_MEMORY, MOST_MEMORY))
            .build();
        let writer: IndexWriter = opened.index.writer_with_options(options).map_err(|error| opened.failed(&error))?;
        // Few segments: a query has to look into each.
        let mut policy = LogMergePolicy::default();
        policy.set_min_num_segments(6);
        policy.set_min_layer_size(2_000);
        policy.set_max_docs_before_merge(500_000);
        policy.set_del_docs_ratio_before_merge(0.3);
        writer.set_merge_policy(Box::new(policy));
        // Another process may have written since the folder was opened.
        opened.refresh()?;
        let place = opened.index.load_metas().map_err(|error| opened.failed(&error))?.payload;
        Ok(Writer { opened, writer, encoder: Encoder::default(), put: HashMap::new(), removed: 0, waiting: 0, place })
    }

    /// Adds a page. It takes the place of an older copy of the same scope and page key; a copy that is older than the
    /// one held is left out. Work for a processor.
    ///
    /// # Errors
    ///
    /// [`IndexError::File`] if a file could not be written; the writer has to be opened again then.
    pub fn put(&mut self, page: &IndexedPage) -> Result<(), IndexError> {
        let identity = Identity::of(&page.scope, &page.page_key);
        let held = match self.put.get(&identity) {
            Some(copy) => Some(copy.clone()),
            None => self.committed(identity)?,
        };
        if let Some(held) = held {
            if held > page.copy {
                return Ok(());
            }
            self.writer.delete_term(identity.term(&self.opened.fields));
        }
        let anchors = self.exchange_anchors(identity, page);
        let document = document(&self.opened.fields, &mut self.encoder, page, &anchors);
        self.writer.add_document(document).map_err(|error| self.opened.failed(&error))?;
        self.put.insert(identity, page.copy.clone());
        self.waiting += page.text.len() + page.headings.len();
        if self.waiting > MOST_WAITING {
            self.commit_with(self.place.clone())?;
        }
        Ok(())
    }

    /// Removes copies by their ids. Ids that are not held are left out.
    ///
    /// # Errors
    ///
    /// As [`Writer::put`].
    pub fn remove(&mut self, copies: &[String]) -> Result<(), IndexError> {
        for copy in copies {
            self.writer.delete_term(Term::from_field_text(self.opened.fields.copy, copy));
        }
        self.put.retain(|_, put| !copies.contains(put));
        self.removed += copies.len();
        Ok(())
    }

    /// Makes everything so far visible and lasting, with the place of the follower.
    ///
    /// # Errors
    ///
    /// As [`Writer::put`].
    pub fn commit(&mut self, place: &str) -> Result<(), IndexError> {
        self.commit_with(Some(place.to_owned()))
    }

    /// Waits for merges that run, and closes the writer: the folder is as small then as it gets.
    ///
    /// # Errors
    ///
    /// As [`Writer::put`].
    pub fn finish(self) -> Result<(), IndexError> {
        self.writer.wait_merging_threads().map_err(|error| self.opened.failed(&error))?;
        self.opened.refresh()
    }

    /// Returns how many pages were added or removed since the last commit.
    #[must_use]
    pub fn uncommitted(&self) -> usize {
        self.put.len() + self.removed
    }

    fn commit_with(&mut self, place: Option<String>) -> Result<(), IndexError> {
        let failed = |error| self.opened.failed(&error);
        let mut prepared = self.writer.prepare_commit().map_err(failed)?;
        if let Some(place) = &place {
            prepared.set_payload(place);
        }
        prepared.commit().map_err(failed)?;
        self.opened.refresh()?;
        self.place = place;
        self.put.clear();
        (self.removed, self.waiting) = (0, 0);
        Ok(())
    }

    /// Returns the id of the copy of a page that the last commit has.
    fn committed(&self, identity: Identity) -> Result<Option<String>, IndexError> {
        self.find(identity).map_err(|error| self.opened.failed(&error))
    }

    fn find(&self, identity: Identity) -> tantivy::Result<Option<String>> {
        let view = self.opened.view();
        let searcher = &view.searcher;
        let term = identity.term(&self.opened.fields);
        for (segment, reader) in (0..).zip(searcher.segment_readers()) {
            let list = reader.inverted_index(self.opened.fields.identity)?;
            let Some(mut postings) = list.read_postings(&term, tantivy::schema::IndexRecordOption::Basic)? else {
                continue;
            };
            while postings.doc() != tantivy::TERMINATED {
                if !reader.is_deleted(postings.doc()) {
                    let page: TantivyDocument = searcher.doc(DocAddress::new(segment, postings.doc()))?;
                    return Ok(page
                        .get_first(self.opened.fields.copy)
                        .and_then(|copy| copy.as_str().map(str::to_owned)));
                }
                postings.advance();
            }
        }
        Ok(None)
    }

    /// Remembers the links of a page, and returns the texts of those to it.
    fn exchange_anchors(&self, identity: Identity, page: &IndexedPage) -> Vec<String> {
        let mut anchors = self.opened.anchors.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let others = page.links.iter().filter(|link| link.target != page.page_key);
        anchors.add(others.map(|link| (Identity::of(&page.scope, &link.target), link.text.clone())));
        anchors.of(&identity).to_vec()
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("uncommitted", &self.uncommitted()).finish_non_exhaustive()
    }
}
