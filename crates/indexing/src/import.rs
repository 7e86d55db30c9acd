//! Import of documents: each becomes a copy in the page cache, so that it is found, expires and is erased as a page is.

use std::fmt::Write as _;

use base::Owner;
use cache::Page;
use fetch::Fetched;
use serde::Deserialize;
use url::Url;
use wire::ScrapeOptions;

use crate::{Indexing, IndexingError, OWNER};

/// Document to import: a line of a file. It has one of `text`, `markdown` and `html`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ImportedDocument {
    /// Address, http or https.
    pub url: String,
    /// Title.
    pub title: String,
    /// Short description.
    pub description: String,
    /// Language tag, such as `en`.
    pub language: String,
    /// Date of publication, such as `2024-05-06`; with it the document is found as news.
    pub published: String,
    /// Plain text; each line is a paragraph.
    pub text: Option<String>,
    /// Markdown.
    pub markdown: Option<String>,
    /// HTML.
    pub html: Option<String>,
}

/// Reason why a document was not imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The address is none of a page.
    #[error("`{0}` is not an http or https URL")]
    Url(String),
    /// The document has no body, or several.
    #[error("a document needs exactly one of `text`, `markdown` and `html`")]
    Body,
}

impl ImportedDocument {
    /// Returns the document as a fetched page.
    ///
    /// # Errors
    /// [`ImportError`].
    pub fn into_page(self) -> Result<Fetched, ImportError> {
        let url = Url::parse(&self.url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.ok_or_else(|| ImportError::Url(self.url.clone()))?;
        let (kind, body) = match (&self.text, &self.markdown, &self.html) {
            (Some(text), None, None) => ("text/html; charset=utf-8", self.html_of(text)),
            (None, Some(markdown), None) => ("text/markdown; charset=utf-8", self.markdown_of(markdown)),
            (None, None, Some(html)) => ("text/html; charset=utf-8", self.head_before(html)),
            _ => return Err(ImportError::Body),
        };
        Ok(Fetched::new(url, 200, Some(kind.to_owned()), body.into()))
    }

    fn html_of(&self, text: &str) -> String {
        let mut html = self.head();
        html.push_str("<main>");
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let _ = write!(html, "<p>{}</p>", escaped(line));
        }
        html.push_str("</main>");
        html
    }

    fn head(&self) -> String {
        let Self { title, description, language, published, .. } = self;
        let mut html = String::from("<!doctype html>");
        if !language.is_empty() {
            let _ = write!(html, "<html lang=\"{}\">", escaped(language));
        }
        if !title.is_empty() {
            let _ = write!(html, "<title>{}</title>", escaped(title));
        }
        if !description.is_empty() {
            let _ = write!(html, "<meta name=\"description\" content=\"{}\">", escaped(description));
        }
        if !published.is_empty() {
            let date = escaped(published);
            let _ = write!(html, "<meta property=\"article:published_time\" content=\"{date}\">");
            html.push_str("<meta property=\"og:type\" content=\"article\">");
        }
        html
    }

    /// Returns a page with what the line says of it before what the page says: the first counts.
    fn head_before(&self, html: &str) -> String {
        self.head() + html.trim_start()
    }

    fn markdown_of(&self, markdown: &str) -> String {
        let Self { title, description, language, published, .. } = self;
        let mut front = String::new();
        for (key, value) in
            [("title", title), ("description", description), ("language", language), ("date", published)]
        {
            let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
            if !value.is_empty() {
                let _ = writeln!(front, "{key}: {value}");
            }
        }
        if front.is_empty() { markdown.to_owned() } else { format!("---\n{front}---\n{markdown}") }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

impl Indexing {
    /// Stores pages as copies of a team; returns how many of them the cache has taken. They can be found once the index
    /// has caught up.
    ///
    /// # Errors
    /// [`IndexingError`] when the database or the blob store fails.
    #[crate::boxed]
    pub async fn import(&self, team: &str, pages: Vec<Fetched>) -> Result<usize, IndexingError> {
        if !self.is_enabled() {
            return Err(IndexingError::Disabled);
        }
        let cache = &self.parts().cache;
        let (options, owner) = (ScrapeOptions::default(), Owner::new(team, OWNER));
        let mut copies = Vec::with_capacity(pages.len());
        for page in pages {
            let slot = cache.slot(&Page { url: &page.url, options: &options, owner: &owner, takes_markdown: true });
            copies.extend(cache.keep(&slot, &page, false).await);
        }
        let count = copies.len();
        cache.write_copies(copies).await?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(line: &str) -> Result<Fetched, ImportError> {
        serde_json::from_str::<ImportedDocument>(line).unwrap().into_page()
    }

    #[test]
    fn lines_become_pages() {
        let found =
            page(r#"{"url": "https://a.test/x", "title": "A & B", "text": "one\n\n<two>", "other": 1}"#).unwrap();
        assert_eq!(found.text(), "<!doctype html><title>A &amp; B</title><main><p>one</p><p>&lt;two></p></main>");
        let found = page(r##"{"url": "https://a.test/x", "title": "A", "markdown": "# B"}"##).unwrap();
        assert_eq!((found.kind, &*found.text()), (fetch::BodyKind::Markdown, "---\ntitle: A\n---\n# B"));
        let found = page(r#"{"url": "https://a.test/x", "html": "<p>B"}"#).unwrap();
        assert_eq!(found.text(), "<!doctype html><p>B");
    }

    #[test]
    fn lines_that_are_no_documents() {
        let error = |line: &str| page(line).err().unwrap().to_string();
        assert!(error(r#"{"url": "/x", "text": "a"}"#).contains("`/x` is not"));
        assert!(error(r#"{"url": "ftp://a.test/", "text": "a"}"#).contains("is not an http"));
        assert!(error(r#"{"url": "https://a.test/"}"#).contains("exactly one"));
        assert!(error(r#"{"url": "https://a.test/", "text": "a", "html": "b"}"#).contains("exactly one"));
    }
}
