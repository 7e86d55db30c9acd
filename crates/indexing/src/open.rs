//! Opening of the index, when it is first needed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use base::Owner;
use page_index::{IndexError, PageIndex, Stats};
use tokio::time::Instant;

use crate::recent::Recent;
use crate::{Indexing, IndexingError, OWNER};

/// Subfolder with the files of the index. What is in it is removed when the index is damaged.
const FILES: &str = "pages";
/// Time limit of opening the index.
const PATIENCE: Duration = Duration::from_secs(60);
/// Most copies that are counted.
const MAX_COUNTED: i64 = 100_000;

impl Indexing {
    /// Returns the folder with the files of the index.
    pub(crate) fn files(&self) -> PathBuf {
        self.parts().folder.join(FILES)
    }

    /// Returns the index, which is opened by the first call. A damaged one is removed, and an empty one takes its place.
    ///
    /// # Errors
    /// [`IndexingError`] when its files cannot be used.
    #[crate::boxed]
    pub(crate) async fn open(&self) -> Result<PageIndex, IndexingError> {
        let mut kept = self.0.index.lock().await;
        if let Some(index) = &*kept {
            return Ok(index.clone());
        }
        let files = self.files();
        let (index, is_lost) = self.on_cpu(move || open(&files)).await?;
        if is_lost {
            self.0.is_lost.store(true, Ordering::Relaxed);
        }
        *kept = Some(index.clone());
        Ok(index)
    }

    /// Whether the index was opened.
    pub(crate) async fn is_open(&self) -> bool {
        self.0.index.lock().await.is_some()
    }

    /// Returns the mark of the follower as the last commit has it, without opening the index; empty if there is none.
    pub(crate) async fn mark(&self) -> Result<String, IndexingError> {
        let (kept, files) = (self.0.index.lock().await.clone(), self.files());
        if kept.is_none() && !files.exists() {
            return Ok(String::new());
        }
        self.on_cpu(move || match kept {
            Some(index) => Ok(index.stats()?.place.unwrap_or_default()),
            None => Ok(PageIndex::place(&files).unwrap_or_default()),
        })
        .await
    }

    /// Runs work on the index on a thread.
    pub(crate) async fn on_cpu<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, IndexError> + Send + 'static,
    ) -> Result<T, IndexingError> {
        let (owner, deadline) = (Owner::of_team(OWNER), Instant::now() + PATIENCE);
        Ok(self.parts().cpu.run(&owner, deadline, |_| work()).await??)
    }

    /// Returns the numbers of the index; `None` if there is none yet.
    ///
    /// # Errors
    /// [`IndexingError`] when its files cannot be used.
    #[crate::boxed]
    pub async fn stats(&self) -> Result<Option<Stats>, IndexingError> {
        if !self.files().exists() {
            return Ok(None);
        }
        let index = self.open().await?;
        self.on_cpu(move || index.stats()).await.map(Some)
    }

    /// Returns the number of cached copies after the place of the follower, at most 100 000.
    ///
    /// # Errors
    /// [`IndexingError`] when the files of the index or the database fail.
    #[crate::boxed]
    pub async fn waiting(&self) -> Result<usize, IndexingError> {
        let (recent, cache) = (Recent::at(&self.mark().await?), &self.parts().cache);
        let Some(newest) = cache.newest().await? else { return Ok(0) };
        Ok(cache.ids_between(recent.place(), &newest, MAX_COUNTED).await?.len())
    }

    /// Removes the index and builds it again from the cache; returns the number of its pages.
    ///
    /// # Errors
    /// [`IndexError::Busy`] while a server uses it, and other errors when the files of the index, the database or the
    /// blob store fail.
    #[crate::boxed]
    pub async fn rebuild(&self) -> Result<u64, IndexingError> {
        if self.files().exists() {
            let index = self.open().await?;
            self.on_cpu(move || index.writer().map(drop)).await?;
        }
        {
            let mut kept = self.0.index.lock().await;
            *kept = None;
            remove(&self.files()).map_err(|error| IndexError::File(error.to_string()))?;
        }
        self.catch_up().await?;
        Ok(self.stats().await?.map_or(0, |stats| stats.pages))
    }
}

/// Opens the index in a folder, and returns whether a damaged one had to be removed.
fn open(folder: &Path) -> Result<(PageIndex, bool), IndexError> {
    let failed = |error: io::Error| IndexError::File(error.to_string());
    let open = || {
        fs::create_dir_all(folder).map_err(failed)?;
        PageIndex::open(folder, page_index::Settings::default())
    };
    match open() {
        Err(error @ IndexError::Unreadable { .. }) => {
            tracing::warn!(%error, "the index of pages is built again from the cache");
            remove(folder).map_err(failed)?;
            Ok((open()?, true))
        }
        opened => Ok((opened?, false)),
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
