//! Hostile input that is slow or large. The time limits are far above the measured times, for slow machines.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::{Duration, Instant};

use crawl_frontier::{
    PathFilter, Robots, Scope, ScopeOptions, SitemapParser, Steps, Url, Verdict, sitemap_candidates, template, url_key,
};

fn within<T>(limit: Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let before = on_core();
    let result = work();
    let took = before.zip(on_core()).map_or_else(|| start.elapsed(), |(before, after)| after - before);
    assert!(took < limit, "took {took:?}, at most {limit:?} is allowed");
    result
}

/// How long this thread has been on a core, where the system says it: other work on the machine makes no difference then.
fn on_core() -> Option<Duration> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    times.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

#[test]
fn patterns_of_stars_are_matched_in_linear_time() {
    let path = format!("/{}", "a".repeat(8000));
    let long = format!("User-agent: *\nDisallow: /{}b\n", "*a".repeat(8000));
    let many = format!("User-agent: *\n{}", "Disallow: *a*a*b\n".repeat(30_000));
    let halves = format!("User-agent: *\n{}", format!("Disallow: *{}b\n", "a".repeat(4000)).repeat(40));
    for (file, allowed) in [(long, true), (halves, true), (many, false)] {
        let robots = Robots::parse(file.as_bytes());
        // What takes too much work to tell is not fetched.
        assert_eq!(within(Duration::from_secs(5), || robots.allows("x", &path)), allowed);
    }
}

#[test]
fn patterns_of_a_request_are_matched_in_linear_time() {
    let url = Url::parse(&format!("https://example.com/{}!", "a".repeat(5000))).unwrap();
    for pattern in ["^(([a-z])+.)+[A-Z]([a-z])+$", "(.*a){25}", "(a*)*b", "(a|aa)+$", r"(\w{1,40}x){1,3}$"] {
        let filter = PathFilter::new(&[pattern.to_owned()], &[], false).unwrap();
        within(Duration::from_secs(5), || filter.refuses(&url));
    }
}

#[test]
fn patterns_that_blow_up_are_refused_quickly() {
    for pattern in
        ["((a{1,1000}){1,1000}){1,1000}", r"(\pL{1000}){1000}", &"(".repeat(1500), r"\w{9999}{99}", r"\pL{999}"]
    {
        let patterns = [pattern.to_owned()];
        assert!(within(Duration::from_secs(5), || PathFilter::new(&patterns, &[], false).is_err()), "{pattern}");
    }
}

#[test]
fn endless_markup_needs_little_memory() {
    for piece in ["<!--", "<![CDATA[", "<a b='", "<loc>x", "<!DOCTYPE [", "<?x ", "</", "<url><loc>", "&#x"] {
        let mut parser = SitemapParser::new(0);
        let part = piece.repeat((1 << 20) / piece.len());
        within(Duration::from_secs(20), || {
            for _ in 0..8 {
                parser.feed(part.as_bytes());
            }
        });
        assert!(parser.finish().pages.len() <= 50_000);
    }
}

#[test]
fn many_links_are_judged_quickly() {
    let start = Url::parse("https://example.com/docs/").unwrap();
    let options = ScopeOptions { exclude_paths: vec![r"\.php$".into(), "/private/".into()], ..Default::default() };
    let scope = Scope::new(&start, &options).unwrap();
    let links: Vec<Url> = (0..1000)
        .map(|number| start.join(&format!("guide-{number}/part/{number}.html?x={number}&b=2")).unwrap())
        .collect();
    within(Duration::from_secs(5), || {
        for link in &links {
            let _ = scope.admit(link, &start, 0);
        }
    });
}

/// So many patterns of a request whose text is at most `bytes` long.
fn request(bytes: usize, pattern: &str) -> Vec<String> {
    vec![pattern.to_owned(); (bytes / (pattern.len() + 3)).clamp(1, 1000)]
}

fn compile(patterns: &[String]) -> Result<PathFilter, String> {
    within(Duration::from_secs(2), || PathFilter::new(&[], patterns, false)).map_err(|error| error.to_string())
}

#[test]
fn all_patterns_of_a_request_have_one_budget() {
    for pattern in [
        "[a-z]{900}{9}",
        r"\p{L}{9}",
        r"(?u)\w{14}\d",
        r"(?i)\p{L}{3}",
        "[ab]*a[ab]{900}c",
        "(?:a?){900}",
        &r"(?i)[\x{0}-\x{10FFFF}]".repeat(80),
        &r"\pL".repeat(600),
        &format!("(?i){}", r"\pL".repeat(600)),
        &format!("[{}]", r"\pL\pN".repeat(300)),
        &format!(r"[\pL{}]", (0..900).filter_map(|c| char::from_u32(0x4e00 + 2 * c)).collect::<String>()),
        &format!("{}a{}", r"(?:\pL|".repeat(30), ")".repeat(30)),
        &format!("{}a{}", r"[\pL".repeat(30), "]".repeat(30)),
    ] {
        let error = compile(&request(90_000, pattern)).unwrap_err();
        assert!(error.contains(" of excludePaths ") && error.contains("too large"), "{error}");
    }
    // What only looks bad.
    compile(&request(4000, "(.*a){25}")).unwrap();
    for pattern in ["a|b|c", r"(?i)casino", r"\bbet\b", r"^/[^/]+/tag/\d+$", &"x".repeat(2000)] {
        compile(&request(20_000, pattern)).unwrap();
    }
}

#[test]
fn long_lists_of_words_and_folders_are_fine() {
    let lists: [fn(usize) -> String; 6] = [
        |n| format!("casino-{n}"),
        |n| format!("^/section-{n}/.*"),
        |n| format!("^/section-{n}/.*$"),
        |n| format!("(?i)casino{n}"),
        |n| format!("/{n}{}", "x".repeat(94)),
        |n| format!(r"/[^/]+/item{n}{}(\?|$)", "-x".repeat(36)),
    ];
    let start = Url::parse("https://example.com/").unwrap();
    let links: Vec<Url> = (0..3000).map(|n| start.join(&format!("/part/{}/CASINO-{n}-x", n * 7919)).unwrap()).collect();
    for list in lists {
        let patterns: Vec<String> = (0..1000).map(list).collect();
        let options = ScopeOptions { exclude_paths: patterns, ..Default::default() };
        let scope = within(Duration::from_secs(3), || Scope::new(&start, &options)).unwrap();
        let mut sieve = scope.sieve(Steps::of_a_page());
        within(Duration::from_secs(5), || links.iter().for_each(|link| drop(sieve.admit(link, &start, 0))));
        assert!(!sieve.is_used_up(), "{}", options.exclude_paths[1]);
    }
}

/// How many of a page's links are followed, in bounded time.
fn followed(options: &ScopeOptions, robots: &str, links: &[Url]) -> (usize, bool) {
    let start = Url::parse("https://example.com/").unwrap();
    let scope = Scope::new(&start, options).unwrap();
    let rules = Robots::parse(robots.as_bytes()).rules("OurBot");
    let mut sieve = scope.sieve(Steps::of_a_page());
    let follow =
        |link: &&Url| matches!(sieve.admit(link, &start, 0), Verdict::Follow { .. }) && sieve.allows(&rules, link);
    let count = within(Duration::from_secs(5), || links.iter().filter(follow).count());
    (count, sieve.is_used_up())
}

fn long_links(count: usize, letter: &str) -> Vec<Url> {
    let link = |number| format!("https://example.com/{number}/{}", letter.repeat(7900 / letter.len()));
    (0..count).map(|number| Url::parse(&link(number)).unwrap()).collect()
}

#[test]
fn rules_of_robots_times_links_are_bounded() {
    let plain = ScopeOptions::default();
    let heavy = format!("User-agent: *\n{}", format!("Disallow: /*{}b\n", "a".repeat(30)).repeat(11_000));
    let (count, used_up) = followed(&plain, &heavy, &long_links(40, "a"));
    assert!(used_up && count < 10, "{count}");
    let (count, used_up) = followed(&plain, &heavy, &long_links(4000, "ab"));
    assert!(used_up && count < 10, "{count}");
    // Without stars thousands of rules cost next to nothing.
    let folders: String = (0..30_000).map(|number| format!("Disallow: /f{number}/\n")).collect();
    let folders = format!("User-agent: *\n{folders}");
    assert_eq!(followed(&plain, &folders, &long_links(250, "a")), (250, false));
    let deep = format!("User-agent: *\nDisallow: /0/{}b\n", "a".repeat(7000));
    assert_eq!(followed(&plain, &deep, &long_links(250, "a")), (250, false));
    // A careful site with a long page.
    let careful: String = (0..200).map(|number| format!("Disallow: /*?sort={number}*&page=\n")).collect();
    let links: Vec<Url> = (0..10_000)
        .map(|n| Url::parse(&format!("https://example.com/articles/2024/{n}/how-it-is-done?x=y")).unwrap())
        .collect();
    assert_eq!(followed(&plain, &format!("User-agent: *\n{careful}"), &links), (10_000, false));
}

#[test]
fn patterns_times_links_are_bounded() {
    let empty = format!("(?:{}[ab]*a[ab]{{12}}c)", "|".repeat(1900));
    for pattern in ["[ab]*a[ab]{900}c", "(?:a?){300}[ab]{900}c", "(a|b|ab)*c[ab]{1000}", "(.*a){50}c", &empty] {
        let options = ScopeOptions { exclude_paths: request(20_000, pattern), ..Default::default() };
        let options = match Scope::new(&Url::parse("https://example.com/").unwrap(), &options) {
            Ok(_) => options,
            Err(_) => ScopeOptions { exclude_paths: vec![pattern.to_owned()], ..Default::default() },
        };
        followed(&options, "", &long_links(250, "abbabaabbb"));
    }
    let include = ScopeOptions { include_paths: vec!["[ab]*a[ab]{900}c".into()], ..Default::default() };
    assert_eq!(followed(&include, "", &long_links(250, "ab")).0, 0, "what is not known to be wanted is left alone");
}

#[test]
fn a_robots_file_of_names_and_delays_takes_little() {
    let file = format!("{}{}", "user-agent:a\n".repeat(19_000), "crawl-delay:1\n".repeat(18_000));
    let robots = within(Duration::from_secs(5), || Robots::parse(file.as_bytes()));
    assert_eq!(robots.rules("a").crawl_delay(), Some(Duration::from_secs(1)));
    let sitemaps: String = (0..30_000).map(|number| format!("Sitemap: /{number}\n")).collect();
    let robots = Robots::parse(sitemaps.as_bytes());
    let start = Url::parse("https://example.com/").unwrap();
    let found = within(Duration::from_secs(5), || sitemap_candidates(&start, robots.sitemaps()));
    assert!(found.len() < 1100, "{}", found.len());
}

#[test]
fn keys_of_long_addresses_are_made_quickly() {
    let query: String = (0..2700).map(|number| format!("{}&", 4000 - number)).collect();
    let folders = "/index.html".repeat(700);
    let sessions = "/;sid=1".repeat(1100);
    let paths = [format!("/?{query}"), folders, sessions, "/%61".repeat(2000), "/2024-01".repeat(900)];
    for path in paths {
        let urls: Vec<Url> = (0..250).map(|n| Url::parse(&format!("https://example.com/{n}{path}")).unwrap()).collect();
        within(Duration::from_secs(10), || {
            for url in &urls {
                let _ = (url_key(url, Default::default()), template(url), crawl_frontier::family(url));
                let _ = crawl_frontier::url_trap(url);
            }
        });
    }
}
