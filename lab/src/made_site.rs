//! A generated site of any size: page number n links to pages 30n+1 … 30n+30, or to others beyond the end, so that
//! every page can be reached from page 0.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use testkit::{Reply, Site};

use crate::random::Random;

/// A generated site on loopback.
pub(crate) struct MadeSite {
    site: Site,
    pages: usize,
    /// Number of the edition, from 0.
    edition: Arc<AtomicUsize>,
}

/// Size of the text of a page, in bytes.
const TEXT: usize = 17_000;
/// Size of the text of a large page, which does not fit in a row of the database.
const LARGE_TEXT: usize = 600_000;

impl MadeSite {
    /// Links on each page.
    pub(crate) const LINKS: usize = 30;

    /// Starts a site of `pages` pages that answers at once.
    pub(crate) async fn start(pages: usize) -> Self {
        Self::slow(pages, Duration::ZERO).await
    }

    /// Starts a site of `pages` pages with a response delay.
    pub(crate) async fn slow(pages: usize, delay: Duration) -> Self {
        Self::made(pages, delay, |number, pages, _| page(number, pages)).await
    }

    /// Starts a site like [`MadeSite::slow`], some of whose pages are large and some change with each edition.
    pub(crate) async fn changing(pages: usize, delay: Duration) -> Self {
        Self::made(pages, delay, |number, pages, edition| {
            let text = if number % 20 == 7 { LARGE_TEXT } else { TEXT };
            let page = page_of(number, pages, text);
            if Self::changes(number) { page.replacen("</h1>", &format!(", edition {edition}</h1>"), 1) } else { page }
        })
        .await
    }

    async fn made(pages: usize, delay: Duration, make: fn(usize, usize, usize) -> String) -> Self {
        let (site, edition) = (Site::start().await, Arc::new(AtomicUsize::new(0)));
        let current = Arc::clone(&edition);
        site.others(move |seen| {
            let number: usize = seen.path.strip_prefix("/p/")?.split('?').next()?.parse().ok()?;
            let html = |body: String| Reply { body: body.into_bytes().into(), delay, ..Reply::default() };
            let make = || make(number, pages, current.load(Ordering::Relaxed));
            (number < pages).then(|| html(make()).header("content-type", "text/html; charset=utf-8"))
        });
        Self { site, pages, edition }
    }

    /// Whether a page of [`MadeSite::changing`] changes with each edition.
    pub(crate) fn changes(number: usize) -> bool {
        number % 3 == 1
    }

    /// Publishes the next edition.
    pub(crate) fn publish(&self) {
        self.edition.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.site.addr()
    }

    /// Clears the recorded requests, which would fill the memory in a long run.
    pub(crate) fn forget(&self) {
        drop(self.site.take_requests());
    }

    pub(crate) fn pages(&self) -> usize {
        self.pages
    }

    pub(crate) fn url(&self, number: usize) -> String {
        self.site.url(&format!("/p/{number}")).to_string()
    }

    pub(crate) fn page(&self, number: usize) -> String {
        page(number, self.pages)
    }
}

fn page(number: usize, pages: usize) -> String {
    page_of(number, pages, TEXT)
}

fn page_of(number: usize, pages: usize, text: usize) -> String {
    let mut random = Random::new(number as u64 + 1);
    let mut next = move |below: usize| random.high() as usize % below;
    let mut html = format!("<!doctype html><title>Page {number}</title><main><h1>Page {number}</h1><p>");
    html.reserve(text + 4096);
    while html.len() < text {
        // Random text, so that no two pages look like duplicates.
        for _ in 0..80 {
            html.push_str(WORDS[next(WORDS.len())]);
            html.push(if next(9) == 0 { ',' } else { 'n' });
            html.push(' ');
        }
        html.push_str(".</p><p>");
    }
    html.push_str("</p><ul>");
    for link in 1..=MadeSite::LINKS {
        let child = number * MadeSite::LINKS + link;
        let target = if child < pages { child } else { next(pages) };
        html.push_str(&format!("<li><a href=/p/{target}>page {target}</a>"));
    }
    html.push_str("</ul></main>");
    html
}

const WORDS: [&str; 64] = [
    "amber", "basalt", "cedar", "delta", "ember", "fjord", "granite", "harbour", "island", "juniper", "kelp", "lagoon",
    "meadow", "nectar", "orchard", "pebble", "quarry", "river", "summit", "tundra", "umber", "valley", "willow",
    "yarrow", "zephyr", "anchor", "beacon", "canal", "dune", "estuary", "forest", "glacier", "heath", "inlet", "jetty",
    "knoll", "ledge", "marsh", "narrows", "oasis", "plateau", "quay", "ridge", "shoal", "terrace", "upland", "vista",
    "wharf", "aspen", "birch", "clover", "daisy", "elm", "fern", "gorse", "hazel", "iris", "jasmine", "laurel",
    "maple", "nettle", "olive", "poppy", "rowan",
];
