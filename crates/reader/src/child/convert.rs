//! Conversion of a document to the answer.

use documents::{Document, MarkdownOptions, Page, RecogniseError, blocks, html, markdown, page_markdown};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wire::{PageText, PdfMode};

use crate::job::{Answer, Failure, Options};

/// Returns the answer for a document with pages. `blind` is the reason why OCR is unavailable, if it is.
pub(super) fn answer(document: &Document, options: &Options, blind: Option<&str>) -> Result<Answer, Failure> {
    if document.require_text().is_err() {
        refuse(document, options.mode, blind)?;
    }
    let text = markdown(document, &MarkdownOptions { page_markers: options.page_markers });
    let pages = |page: &Page| PageText { page_number: page.number, markdown: page_markdown(page) };
    let layout = if options.wants.blocks { same(&blocks(document, &text))? } else { Vec::new() };
    let warnings = warnings(document, options.mode, blind);
    Ok(Answer {
        html: options.wants.html.then(|| html(document)),
        links: document.links(),
        pages: if options.wants.pages { document.pages.iter().map(pages).collect() } else { Vec::new() },
        blocks: layout,
        metadata: document.metadata.clone(),
        pages_read: document.metadata.num_pages,
        is_partial: !document.pages_for_ocr().is_empty() && options.mode != PdfMode::Fast,
        warnings,
        markdown: text.text,
    })
}

/// Rejects a document that shows something but gave no text.
fn refuse(document: &Document, mode: PdfMode, blind: Option<&str>) -> Result<(), Failure> {
    if mode == PdfMode::Fast {
        return Err(Failure::OcrRequired);
    }
    if let Some(why) = blind {
        return Err(Failure::OcrMissing(why.to_owned()));
    }
    match document.pages.iter().find_map(|page| page.failure.as_ref()) {
        Some(RecogniseError::OutOfTime) => Err(Failure::Timeout),
        Some(RecogniseError::Limit(why)) => Err(Failure::Limit(format!("no page could be recognised: {why}"))),
        Some(RecogniseError::Failed(why)) => Err(Failure::Broken(format!("no page could be recognised: {why}"))),
        None => Ok(()),
    }
}

fn warnings(document: &Document, mode: PdfMode, blind: Option<&str>) -> Vec<String> {
    let those = |is: &dyn Fn(&Page) -> bool| -> Vec<u32> {
        document.pages.iter().filter(|page| is(page)).map(|page| page.number).collect()
    };
    let late = those(&|page| page.failure == Some(RecogniseError::OutOfTime));
    let failed = those(&|page| matches!(page.failure, Some(RecogniseError::Failed(_) | RecogniseError::Limit(_))));
    let unread = those(&|page| page.needs_ocr() && page.failure.is_none());
    let cut = those(&|page| page.quality.cut);
    let unread_why = match (mode, blind) {
        (PdfMode::Fast, _) => "it is in images or cannot be decoded; use the mode `auto` to have it recognised",
        (_, Some(why)) => why,
        (_, None) => "it is in images, in which no words were recognised",
    };
    [
        (unread, format!("text not read: {unread_why}")),
        (late, "not recognised before the timeout; allow more time or fewer pages".to_owned()),
        (failed, "not recognised, as the recognition of the page failed".to_owned()),
        (cut, "read in part, as the page exceeds the limit of content per page".to_owned()),
    ]
    .into_iter()
    .filter(|(pages, _)| !pages.is_empty())
    .map(|(pages, what)| format!("{}: {what}", numbers(&pages)))
    .collect()
}

/// Formats page numbers: `pages 1, 3-5`.
fn numbers(pages: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for page in pages {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *page => *last = *page,
            _ => runs.push((*page, *page)),
        }
    }
    let words = runs.iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    });
    let words = words.collect::<Vec<_>>().join(", ");
    if pages.len() == 1 { format!("page {words}") } else { format!("pages {words}") }
}

/// Converts a value to the equal type of another crate.
fn same<T: DeserializeOwned>(value: &impl Serialize) -> Result<T, Failure> {
    let same = serde_json::to_value(value).and_then(serde_json::from_value);
    same.map_err(|error| Failure::Broken(format!("its layout could not be converted: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_over_a_limit_is_no_broken_document() {
        let refused = |failure| {
            let page = Page { failure: Some(failure), ..Page::default() };
            refuse(&Document { pages: vec![page], ..Document::default() }, PdfMode::Auto, None)
        };
        let limit = refused(RecogniseError::Limit("too large".to_owned()));
        assert!(matches!(limit, Err(Failure::Limit(why)) if why.ends_with("too large")));
        assert!(matches!(refused(RecogniseError::Failed("damaged".to_owned())), Err(Failure::Broken(_))));
    }

    #[test]
    fn pages_are_named_in_runs() {
        assert_eq!(numbers(&[3]), "page 3");
        assert_eq!(numbers(&[1, 3, 4, 5, 9]), "pages 1, 3-5, 9");
    }
}
