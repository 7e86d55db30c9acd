//! Assembles the result of a visit.

use bytes::Bytes;
use url::Url;
use visit::{Acted, Rendered, State};

use super::Run;
use crate::error::BrowserError;
use crate::page::Shown;
use crate::requests::Download;
use crate::state;
use crate::visited::Visited;

impl Run<'_> {
    /// Returns the result for a URL that is a file.
    pub(super) async fn file(&self, file: Download) -> Result<Visited, BrowserError> {
        if file.is_cut || self.context.proxy.is_spent() {
            return Err(BrowserError::TooLarge { what: "file", limit: self.requests.max_body() });
        }
        let header = |name: &str| file.header(name).map(str::to_owned);
        // The length applies to the encoded body only.
        let length = header("content-length").filter(|_| header("content-encoding").is_none());
        if length.and_then(|length| length.parse().ok()).is_some_and(|length: usize| file.body.len() < length) {
            return Err(BrowserError::Site { reason: "the file was cut short".to_owned() });
        }
        self.results.add(file.body.len()).await?;
        Ok(Visited {
            url: file.url.parse().unwrap_or_else(|_| self.visit.url.clone()),
            status: file.status,
            content_type: header("content-type"),
            retry_after: header("retry-after"),
            body: file.body,
            ..self.nothing()
        })
    }

    fn nothing(&self) -> Visited {
        Visited {
            url: self.visit.url.clone(),
            status: 200,
            content_type: None,
            retry_after: None,
            body: Bytes::new(),
            rendered: self.unseen(),
            warnings: Vec::new(),
            room: self.results.room(),
        }
    }

    /// Returns what is known without a page.
    fn unseen(&self) -> Rendered {
        Rendered { timezone: Some(self.timezone.to_owned()), ..Rendered::default() }
    }

    /// Returns the result for a page.
    ///
    /// # Errors
    /// If its state is wanted and cannot be saved.
    pub(super) async fn visited(
        &self,
        acted: Acted,
        shown: Shown,
        warnings: Vec<String>,
    ) -> Result<Visited, BrowserError> {
        let document = self.tab().document();
        let body = self.tab().body().unwrap_or_default();
        // Later steps work on one of the two and drop the other, so only the larger counts.
        self.results.add(body.bytes.len().max(shown.dom.len())).await?;
        let content_type =
            document.header("content-type").map(|sent| if body.is_text { as_utf8(sent) } else { sent.to_owned() });
        let rendered = Rendered {
            dom: Some(shown.dom.into()),
            screenshot: shown.screenshot,
            styles: shown.styles,
            acted,
            state: self.state().await?,
            windows: self.windows(),
            ..self.unseen()
        };
        Ok(Visited {
            url: document.url.parse().unwrap_or_else(|_| self.visit.url.clone()),
            status: if document.status == 0 { 200 } else { document.status },
            content_type,
            retry_after: document.header("retry-after").map(str::to_owned),
            body: body.bytes,
            rendered,
            warnings,
            ..self.nothing()
        })
    }

    /// Returns the http and https addresses of windows that the page tried to open.
    fn windows(&self) -> Vec<Url> {
        let urls = self.tab().windows().into_iter().filter_map(|url| Url::parse(&url).ok());
        urls.filter(|url| matches!(url.scheme(), "http" | "https")).collect()
    }

    async fn state(&self) -> Result<Option<State>, BrowserError> {
        if !self.visit.keeps_state {
            return Ok(None);
        }
        let nothing = State::default();
        let before = self.visit.state.unwrap_or(&nothing);
        let state = state::save(self.context, before, self.visit.deadline).await;
        state.map(Some).map_err(BrowserError::from)
    }
}

/// Replaces the charset of a content type whose text was converted to UTF-8.
pub(super) fn as_utf8(content_type: &str) -> String {
    let mut parts: Vec<_> = content_type.split(';').map(str::trim).collect();
    parts.retain(|part| !part.to_ascii_lowercase().starts_with("charset"));
    parts.push("charset=utf-8");
    parts.join("; ")
}
