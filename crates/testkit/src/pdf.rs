//! Small hostile PDF files, which make a careless reader hang, run out of memory or open connections.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::write::ZlibEncoder;
use flate2::{Compress, Compression, FlushCompress};

/// Kind of a PDF file (ISO 32000-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pdf {
    /// A valid file: one page that says hello.
    Plain,
    /// A content stream that inflates to that many bytes.
    FlateBomb(u64),
    /// A page tree that contains itself.
    PageTreeCycle,
    /// A cross-reference table that names itself as the previous one.
    XrefLoop,
    /// Objects that are references to each other.
    RefCycle,
    /// That many pages.
    Pages(u32),
    /// A valid file of that many pages, each with a line `Page N of the report.` and the title Report.
    Report(u32),
    /// One page that is an image, without text.
    Scan,
    /// A file encrypted with an unknown password.
    Encrypted,
    /// A file truncated in the middle.
    Truncated,
    /// A stream compressed by that many filters.
    FilterChain(u32),
    /// An image of 60000 by 60000 pixels of one bit.
    ImageBomb,
    /// Ten levels of forms, each drawn ten times by the level above.
    FormLaughs,
    /// A megabyte of junk before the header.
    LateHeader,
    /// A page of two thousand million points by two thousand million.
    HugeMediabox,
    /// A content stream whose declared length of a gigabyte is wrong.
    BadLength,
    /// Actions that start a program and open `/launch` on this port of 127.0.0.1.
    LaunchAction(u16),
}

impl Pdf {
    /// Generates the file. A bomb of n bytes takes time proportional to n and memory proportional to n / 1000.
    #[must_use]
    pub fn bytes(self) -> Vec<u8> {
        match self {
            Self::Plain => plain("", b""),
            Self::FlateBomb(bytes) => one_page("/Filter /FlateDecode", &deflated_blanks(bytes), &[]),
            Self::PageTreeCycle => file(&[CATALOG, b"<< /Type /Pages /Count 1 /Kids [2 0 R] /Parent 2 0 R >>"], ""),
            Self::XrefLoop => xref_loop(),
            Self::RefCycle => {
                let pages: &[u8] = b"<< /Type /Pages /Count 3 0 R /Kids 4 0 R >>";
                file(&[CATALOG, pages, b"4 0 R", b"3 0 R"], "")
            }
            Self::Pages(count) => many_pages(count),
            Self::Report(count) => report(count),
            Self::Scan => scan(),
            Self::Encrypted => plain(ENCRYPTED, b""),
            Self::Truncated => {
                let mut whole = plain("", b"");
                whole.truncate(whole.len() / 2);
                whole
            }
            Self::FilterChain(count) => filter_chain(count),
            Self::ImageBomb => image_bomb(),
            Self::FormLaughs => form_laughs(),
            Self::LateHeader => [vec![b'j'; 1_000_000], plain("", b"")].concat(),
            Self::HugeMediabox => changed("/MediaBox [0 0 612 792]", "/MediaBox [0 0 2000000000 2000000000]"),
            Self::BadLength => changed(&format!("/Length {}", HELLO.len()), "/Length 999999999"),
            Self::LaunchAction(port) => launch_action(port),
        }
    }
}

const CATALOG: &[u8] = b"<< /Type /Catalog /Pages 2 0 R >>";
const PAGES: &[u8] = b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>";
const PLAIN_PAGE: &[u8] =
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 << \
    /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>";
const HELLO: &[u8] = b"BT /F1 12 Tf 72 720 Td (hello) Tj ET";
const ENCRYPTED: &str = "/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -44 \
    /O <0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef> \
    /U <fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210> >> \
    /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]";

/// Assembles objects 1, 2, … with their cross-reference table; `trailer` has extra entries.
fn file(objects: &[&[u8]], trailer: &str) -> Vec<u8> {
    let mut out = b"%PDF-1.7\n".to_vec();
    let mut table = String::from("0000000000 65535 f \n");
    for (index, object) in objects.iter().enumerate() {
        let _ = writeln!(table, "{:010} 00000 n ", out.len());
        out.extend_from_slice(format!("{} 0 obj\n", index + 1).as_bytes());
        out.extend_from_slice(object);
        out.extend_from_slice(b"\nendobj\n");
    }
    let (start, size) = (out.len(), objects.len() + 1);
    let tail = format!(
        "xref\n0 {size}\n{table}trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n"
    );
    out.extend_from_slice(tail.as_bytes());
    out
}

fn stream(entries: &str, data: &[u8]) -> Vec<u8> {
    let head = format!("<< {entries} /Length {} >>\nstream\n", data.len());
    [head.as_bytes(), data, b"\nendstream"].concat()
}

/// Returns a file of one page whose content stream is object 4; `more` become objects 5, 6, …, named /X5, /X6, … on it.
fn one_page(entries: &str, content: &[u8], more: &[Vec<u8>]) -> Vec<u8> {
    let names: String = (5..5 + more.len()).map(|number| format!("/X{number} {number} 0 R ")).collect();
    let page = format!(
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /XObject << {names}>> \
         /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
    );
    let content = stream(entries, content);
    let mut objects: Vec<&[u8]> = vec![CATALOG, PAGES, page.as_bytes(), &content];
    objects.extend(more.iter().map(Vec::as_slice));
    file(&objects, "")
}

fn plain(trailer: &str, catalog_entries: &[u8]) -> Vec<u8> {
    let catalog = [b"<< /Type /Catalog /Pages 2 0 R ".as_slice(), catalog_entries, b" >>"].concat();
    file(&[&catalog, PAGES, PLAIN_PAGE, &stream("", HELLO)], trailer)
}

/// Returns a zlib stream (RFC 1950) of blanks. One flushed block is compressed once and repeated, since flushed blocks are
/// independent.
fn deflated_blanks(bytes: u64) -> Vec<u8> {
    const BLOCK: usize = 1 << 20;
    let mut out = vec![0x78, 0x9C];
    let whole = deflated_block(BLOCK);
    for _ in 0..bytes / BLOCK as u64 {
        out.extend_from_slice(&whole);
    }
    out.extend(deflated_block(usize::try_from(bytes % BLOCK as u64).unwrap_or(0)));
    out.extend_from_slice(&[3, 0]);
    // Adler-32 of n equal bytes in closed form.
    let (n, prime) = (u128::from(bytes), 65_521);
    let low = (1 + n * 32) % prime;
    let high = (n + 32 * (n * (n + 1) / 2)) % prime;
    out.extend_from_slice(&u32::try_from(high << 16 | low).unwrap_or(0).to_be_bytes());
    out
}

fn deflated_block(bytes: usize) -> Vec<u8> {
    let mut packer = Compress::new(Compression::best(), false);
    let mut out = Vec::with_capacity(bytes / 500 + 1024);
    // Cannot fail: the output buffer is large enough.
    let _ = packer.compress_vec(&vec![b' '; bytes], &mut out, FlushCompress::Full);
    out
}

/// Returns the plain file with one text replaced by another and a correct cross-reference table.
fn changed(from: &str, to: &str) -> Vec<u8> {
    let objects: Vec<Vec<u8>> = [CATALOG, PAGES, PLAIN_PAGE, &stream("", HELLO)]
        .map(|object| String::from_utf8_lossy(object).replace(from, to).into_bytes())
        .to_vec();
    file(&objects.iter().map(Vec::as_slice).collect::<Vec<_>>(), "")
}

fn xref_loop() -> Vec<u8> {
    // The trailer follows the table, so additions to it do not move the table.
    let table = plain("", b"").windows(7).position(|window| window == b"xref\n0 ").unwrap_or_default();
    plain(&format!("/Prev {table}"), b"")
}

fn many_pages(count: u32) -> Vec<u8> {
    let kids = "3 0 R ".repeat(count as usize);
    let pages = format!("<< /Type /Pages /Count {count} /Kids [{kids}] >>");
    let page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>";
    file(&[CATALOG, pages.as_bytes(), page], "")
}

fn report(count: u32) -> Vec<u8> {
    let count = count as usize;
    let kids: String = (0..count).map(|page| format!("{} 0 R ", 4 + 2 * page)).collect();
    let pages = format!("<< /Type /Pages /Count {count} /Kids [{kids}] >>");
    let info = b"<< /Title (Report) /Author (A. Quarrier) /CreationDate (D:20240131093005Z) >>";
    let mut objects = vec![CATALOG.to_vec(), pages.into_bytes(), info.to_vec()];
    for page in 0..count {
        let text = format!("BT /F1 12 Tf 72 720 Td (Page {} of the report.) Tj ET", page + 1);
        let contents = format!("/Contents {} 0 R", 5 + 2 * page);
        let head = String::from_utf8_lossy(PLAIN_PAGE).replace("/Contents 4 0 R", &contents);
        objects.extend([head.into_bytes(), stream("", text.as_bytes())]);
    }
    file(&objects.iter().map(Vec::as_slice).collect::<Vec<_>>(), "/Info 3 0 R")
}

/// Returns a page covered by an image, black above white.
fn scan() -> Vec<u8> {
    let entries = "/Type /XObject /Subtype /Image /Width 64 /Height 64 /BitsPerComponent 8 /ColorSpace /DeviceGray";
    let image = stream(entries, &[[0_u8; 2048], [255; 2048]].concat());
    one_page("", b"q 612 0 0 792 0 0 cm /X5 Do Q", &[image])
}

fn filter_chain(count: u32) -> Vec<u8> {
    let mut data = HELLO.to_vec();
    for _ in 0..count {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        let _ = encoder.write_all(&data);
        data = encoder.finish().unwrap_or_default();
    }
    one_page(&format!("/Filter [{}]", "/FlateDecode ".repeat(count as usize)), &data, &[])
}

fn image_bomb() -> Vec<u8> {
    let entries = "/Type /XObject /Subtype /Image /Width 60000 /Height 60000 /BitsPerComponent 1 \
        /ColorSpace /DeviceGray /Filter /FlateDecode";
    let image = stream(entries, &deflated_blanks(60_000 * 60_000 / 8));
    one_page("", b"q 600 0 0 600 0 0 cm /X5 Do Q", &[image])
}

fn form_laughs() -> Vec<u8> {
    let form = |level: usize| {
        let next = level + 1;
        let entries = format!(
            "/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /XObject << /X{next} {next} 0 R >> >>"
        );
        stream(&entries, format!("/X{next} Do ").repeat(10).as_bytes())
    };
    let mut forms: Vec<Vec<u8>> = (5..14).map(form).collect();
    forms.push(stream("/Type /XObject /Subtype /Form /BBox [0 0 612 792]", HELLO));
    one_page("", b"/X5 Do", &forms)
}

fn launch_action(port: u16) -> Vec<u8> {
    let uri = format!("<< /S /URI /URI (http://127.0.0.1:{port}/launch) >>");
    plain("", format!("/OpenAction << /S /Launch /F (/bin/true) /Next {uri} >>").as_bytes())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn text(pdf: Pdf) -> String {
        String::from_utf8_lossy(&pdf.bytes()).into_owned()
    }

    #[test]
    fn the_table_points_at_the_objects() {
        let file = text(Pdf::Plain);
        let start: usize = file.rsplit("startxref\n").next().unwrap().lines().next().unwrap().parse().unwrap();
        assert!(file[start..].starts_with("xref\n0 5\n"));
        let first: usize = file[start..].lines().nth(3).unwrap()[..10].parse().unwrap();
        assert!(file[first..].starts_with("1 0 obj"));
    }

    #[test]
    fn a_report_has_its_pages() {
        let file = text(Pdf::Report(3));
        assert_eq!(file.matches("/Type /Page ").count(), 3);
        assert!(file.contains("/Kids [4 0 R 6 0 R 8 0 R ]") && file.contains("(Page 3 of the report.)"));
        assert!(text(Pdf::Scan).contains("/Length 4096"));
    }

    #[test]
    fn the_loop_points_at_itself() {
        let file = text(Pdf::XrefLoop);
        let (_, prev) = file.split_once("/Prev ").unwrap();
        let prev: usize = prev.split(' ').next().unwrap().parse().unwrap();
        assert!(file[prev..].starts_with("xref\n0 5"));
    }

    #[test]
    fn blanks_inflate_to_their_number() {
        for bytes in [0, 5, 1 << 20, 3_000_000] {
            let mut out = Vec::new();
            flate2::read::ZlibDecoder::new(deflated_blanks(bytes).as_slice()).read_to_end(&mut out).unwrap();
            assert_eq!(out, vec![b' '; usize::try_from(bytes).unwrap()]);
        }
    }

    #[test]
    fn numbers_that_are_too_large_are_in_the_file() {
        assert!(text(Pdf::HugeMediabox).contains("[0 0 2000000000 2000000000]"));
        assert!(text(Pdf::BadLength).contains("/Length 999999999"));
        assert!(!text(Pdf::Plain).contains("999999999"));
    }

    #[test]
    fn bombs_are_small() {
        assert!(Pdf::FlateBomb(100_000_000).bytes().len() < 600_000);
        // The overhead per filter depends on the compressor.
        assert!(Pdf::FilterChain(100).bytes().len() < 300_000);
        assert_eq!(text(Pdf::Pages(3)).matches("3 0 R ").count(), 3);
    }
}
