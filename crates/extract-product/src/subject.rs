//! Subject of a page: the names and URLs that its product must have.

use page::{Index, Page};
use url::Url;

use crate::draft::Draft;
use crate::survey::Survey;
use crate::tags::attribute;
use crate::words::{self, Words};

/// Length of a code that is not found in a URL by chance.
const MIN_CODE: usize = 5;
/// Digits that a number in a URL must have to be an id: shorter ones are sizes, years and pages.
const MIN_ID: usize = 5;

/// Names and URLs of the page.
pub(crate) struct Subject {
    /// Words of the headings.
    headings: Vec<Words>,
    /// Words of `og:title` and of the title.
    titles: Vec<Words>,
    /// Words of the parts of the titles: the name of the shop is one of its own.
    title_parts: Vec<Words>,
    /// Words of the last part of the path.
    slug: Words,
    /// Keys of the URLs of the page.
    urls: Vec<String>,
    /// URL of the page in lower case.
    address: String,
}

impl Subject {
    pub(crate) fn of(survey: &Survey<'_>) -> Subject {
        let page = survey.page.url();
        let titles = [survey.meta(&["og:title", "twitter:title"]), Some(survey.title.as_str())];
        let og_url = survey.meta(&["og:url"]).and_then(|url| page::absolute(survey.page.base(), url));
        let is_root = |url: &Url| url.path().len() <= 1 && page.path().len() > 1;
        let declared = survey.canonical.iter().chain(&og_url).filter(|url| !is_root(url));
        let slug = page.path_segments().and_then(|mut parts| parts.rfind(|part| part.contains('-')));
        Subject {
            headings: survey.heading_texts().map(|text| Words::of(&text)).collect(),
            title_parts: titles.into_iter().flatten().flat_map(parts).map(Words::of).collect(),
            titles: titles.into_iter().flatten().map(Words::of).collect(),
            slug: Words::of(slug.unwrap_or_default()),
            urls: std::iter::once(page).chain(declared).map(key).collect(),
            address: page.as_str().to_lowercase(),
        }
    }

    /// Returns how well a draft fits the page, from 0 to 1: its URL or a code in the URL, else its name.
    pub(crate) fn fit(&self, draft: &Draft) -> f64 {
        let same_url = draft.url.as_deref().and_then(|url| Url::parse(url).ok()).is_some_and(|url| self.has_url(&url));
        let name = draft.title.as_deref().map_or(0.0, |title| self.name_fit(title));
        // A page may give its own URL to everything on it, and codes are reused: the name tells them apart.
        let sure = same_url || draft.codes.all().any(|code| self.has_code(code));
        if sure { 0.7 + 0.3 * name } else { name }
    }

    /// Whether a draft of a source that describes much else is this page's: named like it, or by its URL or a code in
    /// it.
    pub(crate) fn is_named(&self, draft: &Draft) -> bool {
        let closeness = draft.title.as_deref().map_or(0.0, |title| self.closeness(title));
        closeness >= 0.7 || (closeness > 0.3 && self.fit(draft) >= 0.7 && self.is_addressed(draft))
    }

    fn is_addressed(&self, draft: &Draft) -> bool {
        let same_url = draft.url.as_deref().and_then(|url| Url::parse(url).ok()).is_some_and(|url| self.has_url(&url));
        same_url || draft.codes.all().any(|code| self.has_code(code))
    }

    /// Returns the share of words that a name has in common with the heading or a part of the title, of those that
    /// either has: a heading that is merely contained in the name is another one.
    pub(crate) fn closeness(&self, name: &str) -> f64 {
        let name = Words::of(name);
        let share = |own: &Words| {
            let share = name.common(own) as f64 / own.len().max(name.len()).max(1) as f64;
            if name.contradicts(own) { 0.0 } else { share }
        };
        self.headings.iter().chain(&self.title_parts).map(share).fold(0.0, f64::max)
    }

    pub(crate) fn has_url(&self, url: &Url) -> bool {
        let path_only = |key: &str| key.split('?').next().unwrap_or_default().to_owned();
        let key = key(url);
        let path = path_only(&key);
        path.contains('/') && self.urls.iter().any(|own| *own == key || path_only(own) == path)
    }

    /// Whether the URL of the page has a code as one of its parts.
    pub(crate) fn has_code(&self, code: &str) -> bool {
        let code = code.to_lowercase();
        let part = |c: char| c.is_alphanumeric();
        code.len() >= MIN_CODE
            && self.address.match_indices(&code).any(|(at, _)| {
                !self.address[..at].ends_with(part) && !self.address[at + code.len()..].starts_with(part)
            })
    }

    /// Returns the id of the product: what the form behind the heading sends, else what the URL has.
    pub(crate) fn product_id(&self, survey: &Survey<'_>) -> Option<String> {
        let heading = survey.headings.first().copied().unwrap_or(0);
        let value = |&node: &Index| attribute(survey.page, node, "value").and_then(words::code);
        let in_url = survey.fields.iter().filter_map(value).find(|code| self.has_code(code));
        let of_form = || survey.fields.iter().filter(|&&node| node > heading).find_map(value);
        in_url.or_else(|| id_in_url(survey.page)).or_else(of_form)
    }

    /// Returns how well a name fits the headings, the titles and the path, from 0 to 1.
    pub(crate) fn name_fit(&self, name: &str) -> f64 {
        let name = Words::of(name);
        // The whole heading in a longer name, or the whole name in a longer heading.
        let by_heading = self.headings.iter().map(|heading| {
            let back = if heading.len() > 1 { heading.share_in(&name) } else { 0.0 };
            name.share_in(heading).max(back * 0.95)
        });
        let by_title = self.titles.iter().map(|title| name.share_in(title) * 0.95);
        let by_slug = (self.slug.len() > 2).then(|| self.slug.share_in(&name).max(name.share_in(&self.slug)) * 0.9);
        by_heading.chain(by_title).chain(by_slug).fold(0.0, f64::max)
    }
}

/// Returns the last part of the path that is a number, or that stands behind `dp` in the URLs of Amazon.
fn id_in_url(page: &Page) -> Option<String> {
    let path = page.url().path();
    let asin = path.split_once("/dp/").or_else(|| path.split_once("/gp/product/")).map(|pair| pair.1);
    let asin = asin.and_then(|rest| rest.split('/').next()).filter(|asin| asin.len() == 10);
    let is_number = |part: &&str| (MIN_ID..=20).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    let number = || path.rsplit(|c: char| !c.is_ascii_alphanumeric()).find(is_number);
    asin.or_else(number).map(str::to_owned)
}

/// Returns a URL without what does not name the resource: scheme, `www.`, fragment, slash at the end.
fn key(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host);
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{host}{}{query}", url.path().trim_end_matches('/')).to_lowercase()
}

/// Returns a title, and the parts that common separators make of it.
fn parts(title: &str) -> impl Iterator<Item = &str> {
    let cut =
        [" | ", " - ", " – ", " — ", " :: ", " · "].into_iter().filter_map(|separator| title.find(separator)).min();
    [Some(title), cut.map(|cut| &title[..cut])].into_iter().flatten()
}
