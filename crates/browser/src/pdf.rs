//! Prints a page as PDF.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use cdp::CdpError;
use serde_json::json;
use tokio::time::Instant;
use visit::Printed;
use wire::{Paper, PdfAction};

use crate::BrowserError;
use crate::results::{Results, TooMuch};
use crate::tab::Tab;

/// Size limit of a PDF, in bytes.
const MAX_BYTES: usize = 64 << 20;
/// Size of one read, in bytes.
const CHUNK: usize = 1 << 20;
/// Millimetres per inch.
const INCH: f64 = 25.4;

/// Prints the page with its backgrounds. Reading stops as soon as the PDF no longer fits into `results`.
///
/// # Errors
/// `TooLarge` over 64 MiB, `Timeout` and `Crashed`.
pub(crate) async fn print(
    tab: &Tab,
    options: &PdfAction,
    until: Instant,
    results: &Results,
) -> Result<Result<Printed, TooMuch>, BrowserError> {
    let (width, height) = size(options.format);
    let params = json!({"landscape": options.landscape, "printBackground": true, "scale": options.scale,
        "paperWidth": width, "paperHeight": height, "transferMode": "ReturnAsStream"});
    let answer = tab.session().call_by(until, "Page.printToPDF", params).await?;
    let lacking = || CdpError::Malformed { method: "Page.printToPDF".to_owned(), lacks: "stream" };
    let stream = answer["stream"].as_str().ok_or_else(lacking)?;
    let bytes = read(tab, stream, until, results).await;
    tab.session().post("IO.close", json!({ "handle": stream })).await;
    bytes.map(|bytes| bytes.map(|bytes| Printed { bytes: Bytes::from(bytes) }))
}

async fn read(
    tab: &Tab,
    stream: &str,
    until: Instant,
    results: &Results,
) -> Result<Result<Vec<u8>, TooMuch>, BrowserError> {
    let mut bytes = Vec::new();
    loop {
        let params = json!({"handle": stream, "size": CHUNK});
        let chunk = tab.session().call_by(until, "IO.read", params).await?;
        let data = chunk["data"].as_str().unwrap_or_default();
        if chunk["base64Encoded"] == true {
            let lacking = |_| CdpError::Malformed { method: "IO.read".to_owned(), lacks: "data" };
            bytes.extend(BASE64_STANDARD.decode(data).map_err(lacking)?);
        } else {
            bytes.extend_from_slice(data.as_bytes());
        }
        if let Err(error) = results.check(bytes.len()) {
            return Ok(Err(error));
        }
        if bytes.len() > MAX_BYTES {
            return Err(BrowserError::TooLarge { what: "bytes of a PDF", limit: MAX_BYTES as u64 });
        }
        if chunk["eof"] == true {
            return Ok(Ok(bytes));
        }
    }
}

/// Returns width and height of a paper size, in inches.
fn size(paper: Paper) -> (f64, f64) {
    let metric = |width: f64, height: f64| (width / INCH, height / INCH);
    match paper {
        // ISO 216, in millimetres.
        Paper::A0 => metric(841.0, 1189.0),
        Paper::A1 => metric(594.0, 841.0),
        Paper::A2 => metric(420.0, 594.0),
        Paper::A3 => metric(297.0, 420.0),
        Paper::A4 => metric(210.0, 297.0),
        Paper::A5 => metric(148.0, 210.0),
        Paper::A6 => metric(105.0, 148.0),
        // ANSI/ASME Y14.1, in inches. Ledger is Tabloid turned.
        Paper::Letter => (8.5, 11.0),
        Paper::Legal => (8.5, 14.0),
        Paper::Tabloid => (11.0, 17.0),
        Paper::Ledger => (17.0, 11.0),
    }
}
