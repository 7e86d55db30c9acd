//! Wishes about limits, speed, sources and reach: phrases with what they mean.

use wire::SitemapMode;

use super::phrase::{self, Match};
use super::tokens::Token;
use super::wish::{Flag, Wish};

/// Meaning of a phrase, from which a [`Wish`] is made with the number of the phrase.
#[derive(Debug, Clone, Copy)]
enum Means {
    Limit,
    Depth,
    Delay,
    Fixed(Wish),
}

const fn on(flag: Flag) -> Means {
    Means::Fixed(Wish::Flag(flag, true))
}

const fn off(flag: Flag) -> Means {
    Means::Fixed(Wish::Flag(flag, false))
}

const fn sitemap(mode: SitemapMode) -> Means {
    Means::Fixed(Wish::Sitemap(mode))
}

/// Phrases with their meanings. The longest match counts.
static RULES: &[(&str, Means)] = &[
    // Number of pages.
    ("MOST the? first? # PAGES TOP?", Means::Limit),
    ("the? first # PAGES TOP?", Means::Limit),
    ("# PAGES TOP?", Means::Limit),
    ("# page limit", Means::Limit),
    ("a? limit of # PAGES?", Means::Limit),
    ("limit # PAGES?", Means::Limit),
    ("page limit of|is|to? # PAGES?", Means::Limit),
    ("set? the? limit to|is|at # PAGES?", Means::Limit),
    ("NEVER VERB more_than # PAGES", Means::Limit),
    ("limit the? number_of PAGES to # PAGES?", Means::Limit),
    ("max_pages|maximum_pages|maximum_number_of_pages is|to? #", Means::Limit),
    ("only|just this|the_start|one|a_single page", Means::Fixed(Wish::Limit(1))),
    ("this|the_start page only", Means::Fixed(Wish::Limit(1))),
    // Depth.
    (
        "MOST? # LEVELS deep|down|away? from_the_start_page|from_the_homepage|from_the_home_page|from_the_start? TOP?",
        Means::Depth,
    ),
    ("a? MOST? depth|crawl_depth|discovery_depth|link_depth of|is|to? # LEVELS? TOP?", Means::Depth),
    ("a? max|maximum depth of|is|to? # LEVELS?", Means::Depth),
    ("limit|set the? depth to # LEVELS?", Means::Depth),
    ("NEVER go|crawl deeper_than # LEVELS? deep?", Means::Depth),
    ("no|not deeper_than # LEVELS?", Means::Depth),
    ("follow links MOST? # LEVELS deep?", Means::Depth),
    ("NEVER follow any? links", Means::Fixed(Wish::Depth(0))),
    ("without following any? links", Means::Fixed(Wish::Depth(0))),
    // Speed.
    ("wait|pause|sleep for? # $ BETWEEN", Means::Delay),
    ("wait|pause|sleep for? a $ BETWEEN", Means::Delay),
    ("with|use|add? a|an # $ delay|pause BETWEEN?", Means::Delay),
    ("with|use|add? a|an? delay|pause of # $ BETWEEN?", Means::Delay),
    ("delay of? # $ BETWEEN?", Means::Delay),
    ("# $ delay|pause? BETWEEN", Means::Delay),
    ("at_most? one page|request every|per # $", Means::Delay),
    ("at_most? one page|request every|per|a $", Means::Delay),
    // Subdomains.
    ("INCLUDE all|any|the|its? subdomains", on(Flag::Subdomains)),
    ("with all|its|the? subdomains", on(Flag::Subdomains)),
    ("subdomains too|as_well", on(Flag::Subdomains)),
    ("SKIP all|any|the|its? subdomains", off(Flag::Subdomains)),
    ("NEVER include|crawl|follow|visit all|any|the|its? subdomains", off(Flag::Subdomains)),
    ("not|but_not the|its|any? subdomains", off(Flag::Subdomains)),
    // Other sites.
    ("INCLUDE all|any|the? external|outbound links|sites|pages|domains", on(Flag::External)),
    ("INCLUDE all|any|the? links_to other|external sites|websites|domains", on(Flag::External)),
    ("SKIP all|any|the? external|outbound links|sites|pages|domains", off(Flag::External)),
    ("SKIP all|any|the? links_to other|external sites|websites|domains", off(Flag::External)),
    ("NEVER follow|include|crawl|visit all|any|the? external|outbound links|sites|pages|domains", off(Flag::External)),
    ("NEVER follow any? links_to other|external sites|websites|domains", off(Flag::External)),
    ("NEVER leave the|this SITE", off(Flag::External)),
    ("stay|remain on|within|in the|this same? SITE", off(Flag::External)),
    // The whole site.
    ("VERB? the whole|entire|complete|full SITE", on(Flag::EntireDomain)),
    (
        "VERB? the whole|entire|complete|full SITE and|with|including|plus all? its|the? subdomains",
        Means::Fixed(Wish::WholeWithSubdomains),
    ),
    ("VERB? all|every|all_the PAGES OFSITE", on(Flag::EntireDomain)),
    ("VERB? everything OFSITE", on(Flag::EntireDomain)),
    // Queries.
    ("SKIP the|any|all? query|url|get parameters|params|strings|string", on(Flag::IgnoreQuery)),
    ("SKIP the? query_string_parameters", on(Flag::IgnoreQuery)),
    ("keep the|all? query|url parameters|params|strings|string", off(Flag::IgnoreQuery)),
    // Spellings.
    ("deduplicate|dedupe|merge similar urls", on(Flag::Deduplicate)),
    ("NEVER deduplicate|dedupe|merge similar? urls", off(Flag::Deduplicate)),
    // Sitemap.
    ("only|just VERB|use? the? sitemap|sitemaps|sitemap_urls", sitemap(SitemapMode::Only)),
    ("use only the? sitemap|sitemaps", sitemap(SitemapMode::Only)),
    ("VERB only the? sitemap|sitemaps", sitemap(SitemapMode::Only)),
    ("only|just VERB? the? PAGES in|from|of|listed_in the? sitemap|sitemaps", sitemap(SitemapMode::Only)),
    ("VERB only the? PAGES in|from|of|listed_in the? sitemap|sitemaps", sitemap(SitemapMode::Only)),
    ("the? sitemap|sitemaps only", sitemap(SitemapMode::Only)),
    ("SKIP the|any|all? sitemap|sitemaps", sitemap(SitemapMode::Skip)),
    ("NEVER use|read the|any? sitemap|sitemaps", sitemap(SitemapMode::Skip)),
    ("use the? sitemap|sitemaps", sitemap(SitemapMode::Include)),
    // What is made of each page.
    ("VERB? only|just the? main_content", Means::Fixed(Wish::MainContent)),
    ("the? main_content only", Means::Fixed(Wish::MainContent)),
    ("as|in|return|output markdown", Means::Fixed(Wish::Formats(&["markdown"]))),
    ("as|in|return|output html", Means::Fixed(Wish::Formats(&["html"]))),
    ("as|in|return|output raw_html", Means::Fixed(Wish::Formats(&["rawHtml"]))),
    ("as|in|return|output markdown and html", Means::Fixed(Wish::Formats(&["markdown", "html"]))),
    ("as|in|return|output html and markdown", Means::Fixed(Wish::Formats(&["html", "markdown"]))),
    // What is done anyway.
    ("respect|obey|honor|honour the? robots.txt", Means::Fixed(Wish::AsAlways)),
];

/// Words between wishes that ask for nothing themselves.
static FILLERS: &[&str] = &[
    "please",
    "and",
    "but",
    "then",
    "also",
    "kindly",
    "i want you? to?",
    "i would like you? to?",
    "i need you? to?",
    "we want to?",
    "we need to?",
    "we would like to?",
    "can|could|would you",
    "you can",
    "make sure to|you?",
    "VERB",
    "VERB it",
    "VERB this|the SITE",
    "VERB this url|page",
    "OFSITE",
    "of it",
    "thanks",
    "thank_you",
    "with",
    "go",
];

/// Returns the wish at the beginning of tokens, with the number of tokens. A number out of its bounds is no wish.
pub(super) fn find(tokens: &[Token]) -> Option<(Wish, usize)> {
    let matches = RULES.iter().filter_map(|(phrase, means)| Some((phrase::find(phrase, tokens)?, *means)));
    let (found, means) = matches.max_by_key(|(found, _)| found.length)?;
    Some((wish(means, found)?, found.length))
}

/// Returns the number of tokens of the filler at the beginning of tokens.
pub(super) fn filler(tokens: &[Token]) -> Option<usize> {
    FILLERS.iter().filter_map(|phrase| phrase::find(phrase, tokens)).map(|found| found.length).max()
}

fn wish(means: Means, found: Match) -> Option<Wish> {
    match means {
        Means::Fixed(wish) => Some(wish),
        Means::Limit => whole(found, 1..=wire::MAX_CRAWL_LIMIT).map(Wish::Limit),
        Means::Depth => whole(found, 0..=1000).map(Wish::Depth),
        Means::Delay => {
            // Rounded up: a slower crawl does no harm.
            let seconds = found.number.unwrap_or(1.0).ceil();
            let most = wire::MAX_DELAY_S;
            (seconds > 0.0 && seconds <= most).then_some(Wish::Delay(seconds as u32))
        }
    }
}

fn whole(found: Match, range: std::ops::RangeInclusive<u32>) -> Option<u32> {
    let number = found.number?;
    let is_whole = number.fract() == 0.0 && number <= f64::from(*range.end());
    Some(number as u32).filter(|number| is_whole && range.contains(number))
}
