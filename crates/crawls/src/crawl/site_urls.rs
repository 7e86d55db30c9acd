//! URLs of a site for a language model: those in its sitemaps, and the links of the start page.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use ::runs::Runs;
use answers::crawl_params::MAX_PATHS;
use base::Owner;
use kernel::AppError;
use scrape::{Ports, Target};
use site::{AGENT, Approach, Sink, SitemapPage, Terms};
use tokio::time::Instant;
use url::{Position, Url};
use wire::ScrapeOptions;

use super::prompt::Prompt;

/// Time for reading the site. What was read until then is used.
const TIME: Duration = Duration::from_secs(12);
/// Maximum number of URLs that are read from one source.
const MAX_READ: usize = 2000;

/// Reads URLs of the site of a prompt: of each section about as many, at most [`MAX_PATHS`]. robots.txt is obeyed. A site that
/// cannot be read has none.
#[crate::boxed]
pub(super) async fn read(runs: &Runs, prompt: &Prompt<'_>, options: &ScrapeOptions, owner: &Owner) -> Vec<Url> {
    let site = runs.app().site();
    let deadline = Instant::now() + TIME;
    let verify_tls = !options.skips_tls_verification(prompt.basic_auth.is_some());
    let approach = Approach { agent: AGENT, deadline, verify_tls, private: prompt.private };
    let Ok(rules) = site.rules_at_start(&prompt.start, approach).await else { return Vec::new() };
    if rules.failure.is_some() {
        return Vec::new();
    }
    let mut listed = Listed::default();
    let sitemaps = async {
        let found = site.sitemaps(&prompt.start, approach, Terms { owner, obey: true }, &mut listed).await;
        // Without its sitemaps the site still has links.
        let _unread: Option<AppError> = found.err();
    };
    let links = async {
        match rules.rules.allows_url(&prompt.start) {
            true => links(runs, prompt, options, &Visit { owner, deadline }).await,
            false => Vec::new(),
        }
    };
    let (linked, ()) = tokio::join!(links, sitemaps);
    let host = prompt.start.host_str().and_then(crawl_frontier::registrable_domain);
    let is_own = |url: &Url| {
        url.host_str() == prompt.start.host_str()
            || (host.is_some() && url.host_str().and_then(crawl_frontier::registrable_domain) == host)
    };
    choose(linked.into_iter().chain(listed.urls).filter(is_own))
}

#[derive(Clone, Copy)]
struct Visit<'a> {
    owner: &'a Owner,
    deadline: Instant,
}

/// Returns the links of the start page; none if it cannot be read.
#[crate::boxed]
async fn links(runs: &Runs, prompt: &Prompt<'_>, options: &ScrapeOptions, visit: &Visit<'_>) -> Vec<Url> {
    let options = ScrapeOptions {
        formats: Vec::new(),
        headers: options.headers.clone(),
        location: options.location.clone(),
        skip_tls_verification: options.skip_tls_verification,
        ..ScrapeOptions::default()
    };
    let target = Target {
        basic_auth: prompt.basic_auth.clone(),
        private: prompt.private,
        owner: visit.owner.clone(),
        collect_links: true,
        ..Target::new(prompt.start.clone(), Arc::new(options), visit.deadline)
    };
    let tools = runs.scraper().tools();
    let found = scrape::run(tools, Ports::default(), &target, |scraped, _| {
        let is_loaded = scraped.document.metadata.error.is_none();
        let links = scraped.links.iter().take(if is_loaded { MAX_READ } else { 0 });
        links.filter_map(|link| Url::parse(link).ok()).collect::<Vec<_>>()
    });
    found.await.unwrap_or_default()
}

/// Sink that collects the first URLs of the sitemaps.
#[derive(Default)]
struct Listed {
    urls: Vec<Url>,
}

impl Sink for Listed {
    type Error = AppError;

    async fn take(&mut self, pages: Vec<SitemapPage>) -> Result<ControlFlow<()>, AppError> {
        let room = MAX_READ - self.urls.len();
        self.urls.extend(pages.into_iter().take(room).map(|page| page.url));
        Ok(if self.urls.len() < MAX_READ { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }
}

/// Chooses URLs in turn from all sections, where a section is a host and the first segment of a path.
fn choose(urls: impl Iterator<Item = Url>) -> Vec<Url> {
    let mut seen = HashSet::new();
    let mut sections: BTreeMap<(String, String), VecDeque<Url>> = BTreeMap::new();
    for mut url in urls {
        url.set_query(None);
        url.set_fragment(None);
        if seen.insert(url[Position::BeforeHost..].to_owned()) {
            let first = url.path_segments().and_then(|mut segments| segments.next()).unwrap_or_default().to_owned();
            sections.entry((url.host_str().unwrap_or_default().to_owned(), first)).or_default().push_back(url);
        }
    }
    // Large sections first: with more than a hundred, these say most of the site.
    let mut sections: Vec<VecDeque<Url>> = sections.into_values().collect();
    sections.sort_by_key(|section| std::cmp::Reverse(section.len()));
    let mut chosen = Vec::new();
    while chosen.len() < MAX_PATHS && sections.iter().any(|section| !section.is_empty()) {
        chosen.extend(sections.iter_mut().filter_map(VecDeque::pop_front));
    }
    chosen.truncate(MAX_PATHS);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_has_its_turn() {
        let page = |path: &str| Url::parse(&format!("https://a.test{path}")).unwrap();
        let many = (0..500).map(|number| page(&format!("/blog/{number}?x={number}")));
        let few = ["/about", "/docs/a", "/docs/b", "/docs/b#c", "/docs/b?d"].map(page);
        let chosen = choose(many.chain(few));
        assert_eq!(chosen.len(), MAX_PATHS);
        assert_eq!(chosen[..3], ["/blog/0", "/docs/a", "/about"].map(page));
        assert_eq!(chosen.iter().filter(|url| url.path().starts_with("/docs/")).count(), 2);
    }
}
