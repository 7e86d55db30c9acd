//! Single wishes, and their sum.

use serde_json::{Map, Value, json};
use wire::{DerivedOptions, SitemapMode};

/// A wish that is no list of sections.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Wish {
    Limit(u32),
    Depth(u32),
    /// Seconds between pages.
    Delay(u32),
    Flag(Flag, bool),
    WholeWithSubdomains,
    Sitemap(SitemapMode),
    MainContent,
    Formats(&'static [&'static str]),
    /// Something that every crawl does.
    AsAlways,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flag {
    EntireDomain,
    Subdomains,
    External,
    IgnoreQuery,
    Deduplicate,
}

/// Two wishes contradict each other.
#[derive(Debug)]
pub(super) struct Contradiction;

/// Adds a wish.
pub(super) fn add(options: &mut DerivedOptions, wish: Wish) -> Result<(), Contradiction> {
    match wish {
        Wish::Limit(limit) => set(&mut options.limit, limit),
        Wish::Depth(depth) => set(&mut options.max_discovery_depth, depth),
        Wish::Delay(delay) => set(&mut options.delay, delay),
        Wish::Flag(flag, value) => set(of(options, flag), value),
        Wish::WholeWithSubdomains => {
            set(&mut options.crawl_entire_domain, true)?;
            set(&mut options.allow_subdomains, true)
        }
        Wish::Sitemap(mode) => set(&mut options.sitemap, mode),
        Wish::MainContent => scrape(options, "onlyMainContent", &json!(true)),
        Wish::Formats(formats) => scrape(options, "formats", &json!(formats)),
        Wish::AsAlways => Ok(()),
    }
}

fn of(options: &mut DerivedOptions, flag: Flag) -> &mut Option<bool> {
    match flag {
        Flag::EntireDomain => &mut options.crawl_entire_domain,
        Flag::Subdomains => &mut options.allow_subdomains,
        Flag::External => &mut options.allow_external_links,
        Flag::IgnoreQuery => &mut options.ignore_query_parameters,
        Flag::Deduplicate => &mut options.deduplicate_similar_urls,
    }
}

fn set<T: PartialEq + Copy>(place: &mut Option<T>, value: T) -> Result<(), Contradiction> {
    if *place.get_or_insert(value) == value { Ok(()) } else { Err(Contradiction) }
}

fn scrape(options: &mut DerivedOptions, key: &str, value: &Value) -> Result<(), Contradiction> {
    let scrape = options.scrape_options.get_or_insert_with(Map::new);
    if scrape.entry(key).or_insert_with(|| value.clone()) == value { Ok(()) } else { Err(Contradiction) }
}
