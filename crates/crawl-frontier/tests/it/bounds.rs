//! Input made to be slow or large. The times are far above what is measured, for slow machines.

use std::time::{Duration, Instant};

use crawl_frontier::{PathFilter, Robots, Scope, ScopeOptions, SitemapParser, Url};

fn within<T>(limit: Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    assert!(start.elapsed() < limit, "took {:?}, at most {limit:?} is allowed", start.elapsed());
    result
}

#[test]
fn patterns_of_stars_are_matched_in_linear_time() {
    let path = format!("/{}", "a".repeat(8000));
    let long = format!("User-agent: *\nDisallow: /{}b\n", "*a".repeat(8000));
    let many = format!("User-agent: *\n{}", "Disallow: *a*a*b\n".repeat(30_000));
    let halves = format!("User-agent: *\n{}", format!("Disallow: *{}b\n", "a".repeat(4000)).repeat(120));
    for file in [long, many, halves] {
        let robots = Robots::parse(file.as_bytes());
        assert!(within(Duration::from_secs(5), || robots.allows("x", &path)));
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
