//! Pages of web archives: WARC 1.0 and 1.1 (ISO 28500), as crawlers and browsers save them, plain or packed with gzip.

use std::io::{self, BufRead, Read as _};

use fetch::{BodyKind, Fetched};
use flate2::bufread::{MultiGzDecoder, ZlibDecoder};
use url::Url;

/// Largest page, in bytes, packed and open. Larger records are passed over.
const MAX_PAGE: u64 = 16 << 20;
/// Longest header of a record or a page, in bytes.
const MAX_HEADER: usize = 64 << 10;

/// Reason why an archive cannot be read further.
#[derive(Debug, thiserror::Error)]
pub enum WarcError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// There is no record where one should begin.
    #[error("record {0} is no record of a web archive (WARC)")]
    Record(u64),
}

/// Web archive that is read record by record.
pub struct WebArchive<R> {
    reader: R,
    /// Records that were read.
    records: u64,
}

/// Names and values of a header, the names in lower case.
type Header = Vec<(String, String)>;

/// Page of a record.
struct Response {
    status: u16,
    header: Header,
    body: Vec<u8>,
}

/// Record of an archive.
struct Record {
    header: Header,
    /// Absent if it holds no page.
    block: Option<Vec<u8>>,
}

impl<R: BufRead> WebArchive<R> {
    /// Creates the archive of a reader, which gives its bytes without packing.
    pub fn new(reader: R) -> Self {
        Self { reader, records: 0 }
    }

    /// Returns the next page that a search can find: one that was loaded from an http or https URL, and is text or a
    /// document. `None` at the end of the archive.
    ///
    /// # Errors
    /// [`WarcError`].
    pub fn next_page(&mut self) -> Result<Option<Fetched>, WarcError> {
        while let Some(Record { header, block }) = self.record()? {
            if let Some(page) = block.and_then(|block| page(&header, block)) {
                return Ok(Some(page));
            }
        }
        Ok(None)
    }

    /// Reads the next record.
    fn record(&mut self) -> Result<Option<Record>, WarcError> {
        self.records += 1;
        let broken = || WarcError::Record(self.records);
        let mut first = line(&mut self.reader)?;
        // Two empty lines end the record before.
        while matches!(first.as_slice(), b"\n" | b"\r\n") {
            first = line(&mut self.reader)?;
        }
        if first.is_empty() {
            return Ok(None);
        }
        if !first.starts_with(b"WARC/") {
            return Err(broken());
        }
        let mut lines = Vec::new();
        loop {
            let line = line(&mut self.reader)?;
            if matches!(line.as_slice(), b"\n" | b"\r\n") {
                break;
            }
            if !line.ends_with(b"\n") || lines.len() > MAX_HEADER {
                return Err(broken());
            }
            lines.extend(line);
        }
        let header = header(&lines);
        let length = value(&header, "content-length").and_then(|length| length.parse().ok()).ok_or_else(broken)?;
        let is_page = matches!(value(&header, "warc-type"), Some("response" | "resource")) && length <= MAX_PAGE;
        let mut block = self.reader.by_ref().take(length);
        let mut bytes = Vec::new();
        let read = if is_page { block.read_to_end(&mut bytes)? as u64 } else { io::copy(&mut block, &mut io::sink())? };
        if read < length {
            return Err(broken());
        }
        Ok(Some(Record { header, block: is_page.then_some(bytes) }))
    }
}

/// Returns the next line with its end; a part of it if it is too long, and nothing at the end.
fn line(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    reader.by_ref().take(MAX_HEADER as u64).read_until(b'\n', &mut line)?;
    Ok(line)
}

fn header(lines: &[u8]) -> Header {
    let text = String::from_utf8_lossy(lines);
    let pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs.map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned())).collect()
}

fn value<'h>(header: &'h Header, name: &str) -> Option<&'h str> {
    header.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// Returns the page of a record.
fn page(record: &Header, block: Vec<u8>) -> Option<Fetched> {
    let target = value(record, "warc-target-uri")?.trim_matches(['<', '>']);
    let url = Url::parse(target).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let response = match value(record, "content-type") {
        Some(kind) if kind.starts_with("application/http") => response(&block)?,
        kind => {
            let header = kind.map(|kind| ("content-type".to_owned(), kind.to_owned())).into_iter().collect();
            Response { status: 200, header, body: block }
        }
    };
    if !(200..300).contains(&response.status) {
        return None;
    }
    let content_type = value(&response.header, "content-type").map(str::to_owned);
    let page = Fetched::new(url, response.status, content_type, response.open()?.into());
    is_found(&page).then_some(page)
}

/// Whether a search can find a page: scripts, style sheets and data are part of archives too.
fn is_found(page: &Fetched) -> bool {
    let declared = page.content_type.as_deref().unwrap_or_default();
    match page.kind {
        BodyKind::Html | BodyKind::Markdown | BodyKind::Pdf => true,
        BodyKind::Text => declared.starts_with("text/plain") || declared.starts_with("text/csv"),
        BodyKind::Other => documents::detect(&page.body, Some(declared), Some(page.url.path())).is_some(),
        BodyKind::Xml | BodyKind::Json | BodyKind::Image => false,
    }
}

/// Takes an HTTP response apart.
fn response(block: &[u8]) -> Option<Response> {
    let (end, after) = head_end(&block[..block.len().min(MAX_HEADER)])?;
    let head = &block[..end];
    let first = head.split(|byte| *byte == b'\n').next()?;
    let status = std::str::from_utf8(first).ok()?.split_whitespace().nth(1)?.parse().ok()?;
    Some(Response { status, header: header(head), body: block.get(after..)?.to_vec() })
}

/// Returns where a head ends, and where the body begins.
fn head_end(block: &[u8]) -> Option<(usize, usize)> {
    let at = |mark: &[u8]| block.windows(mark.len()).position(|bytes| bytes == mark);
    at(b"\r\n\r\n").map(|end| (end, end + 4)).or_else(|| at(b"\n\n").map(|end| (end, end + 2)))
}

impl Response {
    /// Returns the body as the site meant it; `None` for a coding that is not known, and a body that is damaged or too
    /// large. Some crawlers open bodies and leave the header as it was.
    fn open(self) -> Option<Vec<u8>> {
        let is_chunked = value(&self.header, "transfer-encoding").is_some_and(|coding| coding.contains("chunked"));
        let joined = is_chunked.then(|| joined(&self.body)).flatten();
        let body = joined.unwrap_or(self.body);
        let mut open = Vec::new();
        match value(&self.header, "content-encoding").unwrap_or("identity").trim() {
            "gzip" | "x-gzip" if body.starts_with(&[0x1f, 0x8b]) => {
                MultiGzDecoder::new(body.as_slice()).take(MAX_PAGE).read_to_end(&mut open).ok()?;
            }
            "deflate" if body.first().is_some_and(|first| first & 0x0f == 8) => {
                ZlibDecoder::new(body.as_slice()).take(MAX_PAGE).read_to_end(&mut open).ok()?;
            }
            "br" | "zstd" if std::str::from_utf8(&body).is_err() => return None,
            _ => return Some(body),
        }
        Some(open)
    }
}

/// Joins the chunks of a body; `None` if it has none.
fn joined(body: &[u8]) -> Option<Vec<u8>> {
    let (mut out, mut rest) = (Vec::with_capacity(body.len()), body);
    loop {
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let size = std::str::from_utf8(&rest[..end]).ok()?.split(';').next()?.trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        rest = &rest[end + 1..];
        if size == 0 {
            return Some(out);
        }
        out.extend(rest.get(..size)?);
        let after = rest.get(size..)?;
        rest = after.strip_prefix(b"\r\n").or_else(|| after.strip_prefix(b"\n"))?;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn record(kind: &str, url: &str, content_type: &str, block: &[u8]) -> Vec<u8> {
        let head = format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nContent-Type: {content_type}\r\n\
             Content-Length: {}\r\n\r\n",
            block.len()
        );
        [head.as_bytes(), block, b"\r\n\r\n"].concat()
    }

    fn http(url: &str, head: &str, body: &[u8]) -> Vec<u8> {
        let block = [format!("HTTP/1.1 {head}\r\n\r\n").as_bytes(), body].concat();
        record("response", url, "application/http; msgtype=response", &block)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = GzEncoder::new(Vec::new(), Compression::default());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    fn pages(archive: &[u8]) -> Result<Vec<(String, String)>, WarcError> {
        let mut archive = WebArchive::new(archive);
        let mut found = Vec::new();
        while let Some(page) = archive.next_page()? {
            found.push((page.url.path().to_owned(), page.text().into_owned()));
        }
        Ok(found)
    }

    #[test]
    fn pages_are_read_and_everything_else_is_passed_over() {
        let html = "200 OK\r\nContent-Type: text/html";
        let packed = format!("{html}\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked");
        let body = gzip(b"<p>packed");
        let chunked = [format!("{:x}\r\n", body.len()).as_bytes(), &body, b"\r\n0\r\n\r\n"].concat();
        let archive = [
            record("warcinfo", "", "application/warc-fields", b"software: x\r\n"),
            http("https://a.test/plain", html, b"<p>plain"),
            http("https://a.test/packed", &packed, &chunked),
            // Opened by the crawler, with the header of the site.
            http("<https://a.test/opened>", &packed, b"<p>opened"),
            http("https://a.test/gone", "404 Not Found\r\nContent-Type: text/html", b"<p>gone"),
            http("https://a.test/style.css", "200 OK\r\nContent-Type: text/css", b"p { color: red }"),
            http("dns:a.test", html, b"<p>no page"),
            http("https://a.test/damaged", "no response", b""),
            record("request", "https://a.test/plain", "application/http; msgtype=request", b"GET / HTTP/1.1\r\n\r\n"),
            record("resource", "https://a.test/resource", "text/html", b"<p>resource"),
        ];
        let expect =
            [("/plain", "<p>plain"), ("/packed", "<p>packed"), ("/opened", "<p>opened"), ("/resource", "<p>resource")];
        let found = pages(&archive.concat()).unwrap();
        let found: Vec<_> = found.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn what_is_no_archive_is_an_error() {
        assert!(pages(b"").unwrap().is_empty());
        assert!(matches!(pages(b"{\"url\": 1}\n"), Err(WarcError::Record(1))));
        let whole = http("https://a.test/", "200 OK\r\nContent-Type: text/html", b"<p>whole");
        assert!(matches!(pages(&whole[..whole.len() - 9]), Err(WarcError::Record(1))));
        assert!(matches!(pages(&[whole.as_slice(), b"junk"].concat()), Err(WarcError::Record(2))));
        assert!(matches!(pages(b"WARC/1.0\r\nContent-Length: x\r\n\r\n"), Err(WarcError::Record(1))));
        assert!(matches!(pages(b"WARC/1.0\r\nX: y\r\n"), Err(WarcError::Record(1))));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_end(bytes in "(WARC/1.0\r\n|Content-Length: [0-9]{1,3}\r\n|WARC-Type: response\r\n|\r\n|[a-z0-9\r\n:]{0,9}){0,20}") {
            let _ = pages(bytes.as_bytes());
        }
    }
}
