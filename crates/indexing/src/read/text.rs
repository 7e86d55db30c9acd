//! Pages that are text already, and the names of files.

use fetch::BodyKind;
use page_index::{IndexedPage, MOST_TEXT};
use url::Url;

use super::{MAX_DESCRIPTION, MAX_HEADINGS, MAX_TITLE, cut};

/// Lines of a text that may be its front matter.
const MAX_FRONT_LINES: usize = 100;

/// Returns the page of a text. Markdown has headings, and may begin with its title, description, language and date
/// between two lines of dashes.
pub(super) fn page(text: &str, kind: BodyKind) -> IndexedPage {
    let text = cut(text.trim_start_matches('\u{feff}'), MOST_TEXT);
    if kind != BodyKind::Markdown {
        return IndexedPage { text, ..IndexedPage::default() };
    }
    let mut page = IndexedPage::default();
    let body = front_matter(&text, &mut page).unwrap_or(&text);
    let mut headings = Vec::new();
    for line in body.lines() {
        if let Some(heading) = heading(line) {
            headings.push(heading);
        }
    }
    if page.title.is_empty() {
        page.title = cut(headings.first().copied().unwrap_or_default(), MAX_TITLE);
    }
    page.headings = cut(&headings.join("\n"), MAX_HEADINGS);
    body.clone_into(&mut page.text);
    page
}

/// Reads the lines between dashes at the beginning of a text, and returns what follows them.
fn front_matter<'t>(text: &'t str, page: &mut IndexedPage) -> Option<&'t str> {
    let body = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let mut end = 0;
    let mut values = Vec::new();
    for line in body.split_inclusive('\n').take(MAX_FRONT_LINES) {
        end += line.len();
        if line.trim_end() == "---" {
            for (key, value) in values {
                take(page, key, value);
            }
            return body.get(end..);
        }
        values.extend(line.split_once(':').map(|(key, value)| (key.trim(), value.trim().trim_matches(['"', '\'']))));
    }
    None
}

fn take(page: &mut IndexedPage, key: &str, value: &str) {
    match key {
        "title" => page.title = cut(value, MAX_TITLE),
        "description" => page.description = cut(value, MAX_DESCRIPTION),
        "language" => page.language = Some(value.to_owned()).filter(|language| !language.is_empty()),
        "date" => {
            page.published = super::dates::parse(value);
            page.is_news = page.published.is_some();
        }
        _ => {}
    }
}

fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let text = text.strip_prefix(' ').filter(|_| (1..=6).contains(&level))?;
    Some(text.trim().trim_end_matches('#').trim_end()).filter(|text| !text.is_empty())
}

/// Returns the last part of a path, as a person would write it: the title of what has none.
pub(super) fn file_name(url: &Url) -> String {
    let last = url.path_segments().and_then(|mut parts| parts.rfind(|part| !part.is_empty()));
    let name = last.or(url.host_str()).unwrap_or_default().replace("%20", " ").replace(['_', '+'], " ");
    cut(&name, MAX_TITLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_has_a_title_and_headings() {
        let found = page("# Saws #\n\nof steel\n\n## Blades\n#no", BodyKind::Markdown);
        assert_eq!((found.title.as_str(), found.headings.as_str()), ("Saws", "Saws\nBlades"));
        let found =
            page("---\ntitle: \"Saws: all\"\ndate: 2024-05-06\nlanguage: de\n---\n# Other\ntext", BodyKind::Markdown);
        assert_eq!((found.title.as_str(), found.headings.as_str()), ("Saws: all", "Other"));
        assert_eq!((found.published, found.is_news), (Some(1_714_953_600_000), true));
        assert_eq!((found.text.as_str(), found.language.as_deref()), ("# Other\ntext", Some("de")));
        let found = page("---\nno end", BodyKind::Markdown);
        assert_eq!((found.title.as_str(), found.text.as_str()), ("", "---\nno end"));
        assert_eq!(page("# a", BodyKind::Text).title, "");
    }

    #[test]
    fn files_are_called_by_their_names() {
        let name = |url: &str| file_name(&Url::parse(url).unwrap());
        assert_eq!(name("https://a.test/docs/annual_report%202023.pdf"), "annual report 2023.pdf");
        assert_eq!(name("https://a.test/docs/"), "docs");
        assert_eq!(name("https://a.test/"), "a.test");
    }
}
