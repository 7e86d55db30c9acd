//! Export addresses of documents that are shown in a web application.

use url::Url;
use wire::FormatKind;

use crate::{Target, Tools, detect};

/// Returns the export address of the document at the target. `None` if the caller wants the page itself, or if no
/// reader is configured.
pub(crate) fn of(tools: &Tools, target: &Target) -> Option<Url> {
    let wants_page = detect::wants_page(&target.options) || target.options.wants(FormatKind::RawHtml);
    (tools.documents.is_some() && !wants_page).then(|| export(&target.url)).flatten()
}

/// Returns the export address for Google Docs, Sheets, Slides and Drive. Published pages (`/d/e/…/pub`) stay pages.
fn export(url: &Url) -> Option<Url> {
    let segments: Vec<&str> = url.path_segments()?.filter(|segment| !segment.is_empty()).collect();
    match (url.host_str()?, segments.as_slice()) {
        ("docs.google.com", [kind, rest @ ..]) => {
            let rest = if let ["u", _, rest @ ..] = rest { rest } else { rest };
            let (["d", id] | ["d", id, "edit" | "view" | "preview" | "mobilebasic" | "htmlview"]) = rest else {
                return None;
            };
            let way = match *kind {
                "document" => "export?format=docx",
                "spreadsheets" => "export?format=xlsx",
                "presentation" => "export/pptx",
                _ => return None,
            };
            (*id != "e").then(|| url.join(&format!("/{kind}/d/{id}/{way}")).ok()).flatten()
        }
        ("drive.google.com", ["file", "d", id] | ["file", "d", id, "view" | "preview" | "edit"]) => download(url, id),
        ("drive.google.com", ["open"]) => {
            let id = url.query_pairs().find(|(key, _)| key == "id")?.1;
            download(url, &id)
        }
        _ => None,
    }
}

fn download(url: &Url, id: &str) -> Option<Url> {
    let mut found = url.join("/uc").ok()?;
    found.query_pairs_mut().append_pair("export", "download").append_pair("id", id);
    // Some older files cannot be opened without it.
    if let Some((key, value)) = url.query_pairs().find(|(key, _)| key == "resourcekey") {
        found.query_pairs_mut().append_pair(&key, &value);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_google() {
        let check = |url: &str, expect: Option<&str>| {
            assert_eq!(export(&Url::parse(url).unwrap()).as_ref().map(Url::as_str), expect, "{url}");
        };
        let docs = "https://docs.google.com";
        let text = Some("https://docs.google.com/document/d/1aB_-9/export?format=docx");
        for way in ["", "/", "/edit", "/edit?usp=sharing#heading=h.1", "/preview", "/view"] {
            check(&format!("{docs}/document/d/1aB_-9{way}"), text);
        }
        check(&format!("{docs}/document/u/0/d/1aB_-9/edit"), text);
        check(
            &format!("{docs}/spreadsheets/d/X/edit#gid=0"),
            Some("https://docs.google.com/spreadsheets/d/X/export?format=xlsx"),
        );
        check(&format!("{docs}/presentation/d/X/edit"), Some("https://docs.google.com/presentation/d/X/export/pptx"));
        for page in [
            "/document/d/e/2PACX/pub",
            "/document/d/X/pub",
            "/document/d/X/export?format=pdf",
            "/forms/d/X/viewform",
            "/document/u/0/",
            "/",
        ] {
            check(&format!("{docs}{page}"), None);
        }
        let drive = "https://drive.google.com";
        let file = Some("https://drive.google.com/uc?export=download&id=X");
        check(&format!("{drive}/file/d/X/view?usp=sharing"), file);
        check(&format!("{drive}/open?id=X"), file);
        let old = Some("https://drive.google.com/uc?export=download&id=X&resourcekey=0-k");
        check(&format!("{drive}/file/d/X/view?resourcekey=0-k"), old);
        check(&format!("{drive}/drive/folders/X"), None);
        check("https://docs.google.com.evil.test/document/d/X/edit", None);
    }
}
