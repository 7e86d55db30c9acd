//! `llms.txt` (llmstxt.org): a markdown list of pages that a site provides for language models.

use url::Url;

use crate::sitemap::SitemapUrl;

/// Byte limit of a file; the rest is ignored.
pub const MAX_LLMS_BYTES: usize = 1 << 20;
/// Maximum number of pages of one file.
const MAX_PAGES: usize = 10_000;
/// Maximum number of characters of a title and of a description, as in the entries of a feed.
const MAX_TITLE: usize = 300;
const MAX_DESCRIPTION: usize = 500;

/// Returns the pages that the file lists, with title and description: every link of its text except to other `llms.txt`.
///
/// ```
/// let pages = crawl_frontier::llms_pages("# Saws\n\n- [Care](/care.md): Oil and rust\n");
/// assert_eq!((pages[0].loc.as_str(), pages[0].title.as_deref()), ("/care.md", Some("Care")));
/// assert_eq!(pages[0].description.as_deref(), Some("Oil and rust"));
/// ```
#[must_use]
pub fn llms_pages(text: &str) -> Vec<SitemapUrl> {
    let mut pages = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if !in_code {
            push_pages(&mut pages, line);
        }
        if pages.len() >= MAX_PAGES {
            break;
        }
    }
    pages
}

/// Returns the page that a URL ending in `.md` is the markdown version of, by the rule of llmstxt.org: the URL without the
/// ending, or the folder of `index.html.md`.
#[must_use]
pub fn page_of_markdown(url: &Url) -> Option<Url> {
    let path = url.path().strip_suffix(".md")?;
    let path =
        ["index.html", "index"].iter().find_map(|name| path.strip_suffix(name)).filter(|path| path.ends_with('/'));
    let mut page = url.clone();
    page.set_path(path.unwrap_or(url.path().strip_suffix(".md")?));
    Some(page)
}

/// Adds the links of one line, up to the limit. In a list item the text after the first link and a colon is its
/// description.
fn push_pages(pages: &mut Vec<SitemapUrl>, line: &str) {
    let mut rest = line;
    while pages.len() < MAX_PAGES
        && let Some(middle) = rest.find("](")
    {
        let (before, after) = (&rest[..middle], &rest[middle + 2..]);
        let Some(end) = after.find([')', '\n']) else { return };
        let target = after[..end].split_ascii_whitespace().next().unwrap_or_default().trim_matches(['<', '>']);
        let title = before.rfind('[').map(|at| before[at + 1..].trim()).filter(|title| !title.is_empty());
        rest = &after[end + 1..];
        let is_list = ["llms.txt", "llms-full.txt"].iter().any(|name| target.ends_with(name));
        if target.is_empty() || target.starts_with('#') || is_list {
            continue;
        }
        // A line may be as long as the file, so searching its end for every link would be quadratic.
        let described = rest.trim_start().strip_prefix(':').map(|text| {
            let text: String = text.trim_start().chars().take(MAX_DESCRIPTION).collect();
            text.trim_end().to_owned()
        });
        pages.push(SitemapUrl {
            loc: target.to_owned(),
            title: title.map(|title| title.chars().take(MAX_TITLE).collect()),
            description: described.filter(|text| !text.is_empty()),
            ..SitemapUrl::default()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_the_file_are_pages() {
        let text = "# Site\n> About [us](https://a.test/about)\n\n## Docs\n- [One](/one.md): The [first](/x) part\n\
                    - [Two]( <two.md> )\n* [](/three)\n- [All](/llms-full.txt)\n- [Top](#top) [open](/o\n```\n[no](/no)\n```\n";
        let pages = llms_pages(text);
        let locs: Vec<&str> = pages.iter().map(|page| page.loc.as_str()).collect();
        assert_eq!(locs, ["https://a.test/about", "/one.md", "/x", "two.md", "/three"]);
        assert_eq!(pages[1].description.as_deref(), Some("The [first](/x) part"));
        assert_eq!((pages[3].title.as_deref(), pages[4].title.as_deref()), (Some("Two"), None));
        assert_eq!(llms_pages(&"[a](/b) ".repeat(20_000)).len(), MAX_PAGES);
    }

    #[test]
    fn one_line_is_as_bounded_as_many() {
        let mut pages = Vec::new();
        push_pages(&mut pages, &"](b):".repeat(MAX_LLMS_BYTES / 5));
        assert_eq!(pages.len(), MAX_PAGES);
        let is_cut = |page: &SitemapUrl| page.description.as_ref().is_some_and(|text| text.len() == MAX_DESCRIPTION);
        assert!(pages.iter().all(is_cut));
        push_pages(&mut pages, "[more](/c)");
        assert_eq!(pages.len(), MAX_PAGES);
        let padded = llms_pages(&format!("[a](/b) : {}x \n[c](/d):  ", "x ".repeat(MAX_DESCRIPTION / 2)));
        let described: Vec<_> = padded.iter().map(|page| page.description.as_ref().map(String::len)).collect();
        assert_eq!(described, [Some(MAX_DESCRIPTION - 1), None]);
    }

    #[test]
    fn markdown_stands_for_a_page() {
        let check = |url: &str, expect: Option<&str>| {
            let page = page_of_markdown(&Url::parse(url).unwrap());
            assert_eq!(page.as_ref().map(Url::as_str), expect, "{url}");
        };
        check("https://a.test/docs/a.md", Some("https://a.test/docs/a"));
        check("https://a.test/docs/a.html.md?x=1", Some("https://a.test/docs/a.html?x=1"));
        check("https://a.test/docs/index.html.md", Some("https://a.test/docs/"));
        check("https://a.test/docs/index.md", Some("https://a.test/docs/"));
        check("https://a.test/docs/myindex.md", Some("https://a.test/docs/myindex"));
        check("https://a.test/docs/a", None);
    }
}
