//! An engine more: what a browser is to the pipeline. This file and a line where the engines are listed are all it takes.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use fetch::{Engine, Feature, FetchError, FetchRequest, Fetched};

/// Shows what the scripts of every page would have made of it, or how it fails.
#[derive(Default)]
pub(crate) struct Browser {
    pub(crate) shows: &'static str,
    /// The status it is answered with; 0 fails.
    pub(crate) status: u16,
    pub(crate) asked: AtomicUsize,
}

#[async_trait]
impl Engine for Browser {
    fn name(&self) -> &'static str {
        "browser"
    }

    fn offers(&self, _: Feature) -> bool {
        true
    }

    fn rank(&self) -> u32 {
        50
    }

    async fn fetch(&self, request: &FetchRequest<'_>) -> Result<Fetched, FetchError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if self.status == 0 {
            return Err(FetchError::Site { reason: "crashed".to_owned() });
        }
        let html = Some("text/html".to_owned());
        Ok(Fetched::new(request.url.clone(), self.status, html, self.shows.into()))
    }
}
