//! Reading of stored documents, for the answers to clients.

use blobs::BlobError;
use bytes::Bytes;
use kernel::auth::Caller;
use kernel::{App, AppError};
use serde_json::json;
use serde_json::value::RawValue;
use store::runs::{Run, StoredDocument};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::handle::Runs;

/// Maximum size of the JSON of one document, in bytes.
const MAX_JSON: usize = 1 << 30;
/// Length of an id in characters.
const ID_LENGTH: usize = 36;

/// Rewrite of file URLs from the address that the run's owner used to the address that the reader uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Move {
    from: String,
    to: String,
}

impl Move {
    /// Returns `None` when the URLs stay as they are.
    pub(crate) fn of(app: &App, row: &Run, caller: &Caller) -> Option<Self> {
        let (from, to) = (row.address.clone()?, caller.address.clone()?);
        (from != to && !from.is_empty() && !app.files().has_public_url()).then_some(Self { from, to })
    }

    /// Rewrites the file URLs in a document. A file URL is a JSON string that begins with the address, the folder of
    /// files and an id.
    fn apply(&self, json: String) -> String {
        let begin = format!("\"{}/files/", self.from);
        let is_file = |rest: &str| {
            let id = rest.get(..ID_LENGTH).and_then(|id| Uuid::try_parse(id).ok());
            id.is_some() && rest[ID_LENGTH..].starts_with('/')
        };
        if !json.contains(&begin) {
            return json;
        }
        let mut moved = String::with_capacity(json.len() + 64);
        let mut rest = json.as_str();
        while let Some(at) = rest.find(&begin) {
            let (before, found) = rest.split_at(at);
            let after = &found[begin.len()..];
            moved.push_str(before);
            match is_file(after) {
                true => moved.extend(["\"", &self.to, "/files/"]),
                false => moved.push_str(&begin),
            }
            rest = after;
        }
        moved.push_str(rest);
        moved
    }
}

/// Returns the JSON of stored documents, in the same order. A document whose body is lost or damaged says so in
/// `metadata.error`; the others are unaffected.
///
/// # Errors
/// [`AppError::Internal`] when the blob store is not reachable; trying again may help.
pub(crate) async fn unpack(
    runs: &Runs,
    rows: Vec<StoredDocument>,
    urls: Option<Move>,
) -> Result<Vec<Box<RawValue>>, AppError> {
    let mut bodies = Vec::with_capacity(rows.len());
    for mut row in rows {
        let body = match (row.body.take(), row.blob.as_deref()) {
            (Some(body), _) => Some(Bytes::from(body)),
            (None, Some(key)) => match runs.app().blobs().get(key).await {
                Err(error @ (BlobError::Store { .. } | BlobError::Away(_))) => return Err(AppError::internal(error)),
                other => other.ok().flatten(),
            },
            (None, None) => None,
        };
        bodies.push((row, body));
    }
    let runs = runs.clone();
    let work = move || {
        let read =
            |(row, body): (StoredDocument, Option<Bytes>)| read_or_tell(&runs, &row, body.as_deref(), urls.as_ref());
        bodies.into_iter().map(read).collect()
    };
    spawn_blocking(work).await.map_err(AppError::internal)?
}

fn read_or_tell(
    runs: &Runs,
    row: &StoredDocument,
    body: Option<&[u8]>,
    urls: Option<&Move>,
) -> Result<Box<RawValue>, AppError> {
    // The recorded size bounds the memory that a damaged body can claim.
    let limit = usize::try_from(row.bytes).unwrap_or(MAX_JSON).min(MAX_JSON);
    if let Some(document) = body.and_then(|body| read(body, limit, urls)) {
        return Ok(document);
    }
    if runs.lost().is_news(&row.page_id) {
        tracing::warn!(page = row.page_id, blob = row.blob, "body of a stored document is lost or damaged");
    }
    let metadata = json!({
        "url": row.url,
        "sourceURL": row.url,
        "scrapeId": row.page_id,
        "error": "the stored document is lost; scrape the page again",
    });
    serde_json::value::to_raw_value(&json!({ "metadata": metadata })).map_err(AppError::internal)
}

fn read(body: &[u8], limit: usize, urls: Option<&Move>) -> Option<Box<RawValue>> {
    let json = String::from_utf8(zstd::bulk::decompress(body, limit).ok()?).ok()?;
    let json = match urls {
        Some(urls) => urls.apply(json),
        None => json,
    };
    RawValue::from_string(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_urls_of_files_move() {
        let urls = Move { from: "http://old.test:1".to_owned(), to: "https://new.test".to_owned() };
        let id = "01900000-0000-7000-8000-000000000001";
        let check = |json: &str, expect: &str| assert_eq!(urls.apply(json.to_owned()), expect);
        check(
            &format!(
                r#"{{"screenshot":"http://old.test:1/files/{id}/a.png?until=1","pdfs":["http://old.test:1/files/{id}/b"]}}"#
            ),
            &format!(
                r#"{{"screenshot":"https://new.test/files/{id}/a.png?until=1","pdfs":["https://new.test/files/{id}/b"]}}"#
            ),
        );
        for same in [
            format!(r#"{{"markdown":"see http://old.test:1/files/{id}/a.png"}}"#),
            format!(r#"{{"links":["http://old.test:1/files/other","http://old.test:1/files/{id}"]}}"#),
            r#"{"links":["http://old.test:1/files/ä"]}"#.to_owned(),
            r#""http://old.test:1/files/"#.to_owned(),
        ] {
            check(&same, &same);
        }
    }
}
