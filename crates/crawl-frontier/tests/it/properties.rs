//! Random addresses, robots files and sitemaps.

use crawl_frontier::{
    KeyRules, Robots, Scope, ScopeOptions, Sitemap, SitemapParser, Trap, Traps, Url, Verdict, content_hash, family,
    template, url_key, url_trap,
};
use proptest::prelude::*;

const PIECES: [&str; 36] = [
    "a",
    "b",
    "index.html",
    "index.php",
    "%61",
    "%2e",
    "%2F",
    "%",
    "%zz",
    "%%34%31",
    ".",
    "..",
    "/",
    "//",
    ";jsessionid=1",
    ";",
    "(S(lit3py55t21z5v55vlm25s55))",
    "?",
    "&",
    "=",
    "+",
    "%20",
    " ",
    "#",
    "/",
    "!",
    "é",
    "utm_source=x",
    "sid=",
    "0123456789abcdef0",
    ":",
    "@",
    "*",
    "$",
    "2024",
    "-05",
];
const HOSTS: [&str; 10] = [
    "example.com",
    "www.example.com",
    "www.www.example.com",
    "EXAMPLE.com.",
    "a.b.example.co.uk",
    "[::1]",
    "127.0.0.1",
    "u:p@example.com:443",
    "www.com:8080",
    "..",
];

fn address() -> impl Strategy<Value = Url> {
    let path = prop::collection::vec(0..PIECES.len(), 0..10);
    (prop::bool::ANY, 0..HOSTS.len(), path).prop_filter_map("no URL", |(secure, host, path)| {
        let scheme = if secure { "https" } else { "http" };
        let path: String = path.into_iter().map(|piece| PIECES[piece]).collect();
        Url::parse(&format!("{scheme}://{}/{path}", HOSTS[host])).ok()
    })
}

fn rules() -> impl Strategy<Value = KeyRules> {
    (prop::bool::ANY, prop::bool::ANY).prop_map(|(fold_similar, ignore_query)| KeyRules { fold_similar, ignore_query })
}

/// Text that has a chance to mean something to a parser.
fn soup(words: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => (0..words.len()).prop_map(|word| words[word].as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

const ROBOTS: &[&str] = &[
    "User-agent:",
    "Disallow:",
    "Allow:",
    "Crawl-delay:",
    "Sitemap:",
    "disalow ",
    "*",
    "$",
    "/",
    "a",
    "OurBot",
    "\n",
    "\r",
    "\r\n",
    " ",
    "#",
    "%",
    "%e9",
    "1e999",
    "\u{feff}",
    "/index.html",
];
const SITEMAP: &[&str] = &[
    "<",
    ">",
    "/",
    "<url>",
    "</url>",
    "<loc>",
    "</loc>",
    "<sitemapindex>",
    "<sitemap>",
    "<rss>",
    "<item>",
    "<link>",
    "<link href='",
    "'",
    "\"",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "]",
    "<!DOCTYPE",
    "[",
    "&amp;",
    "&#x",
    ";",
    "&",
    "https://a.test/",
    "\n",
    "<feed>",
    "<entry>",
    "<title>",
    "<guid>",
    "<?",
    "\u{feff}",
    "<priority>",
    "9",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_key_of_a_key_is_the_key(url in address(), rules in rules()) {
        let key = url_key(&url, rules);
        let again = Url::parse(key.as_str()).unwrap();
        prop_assert_eq!(url_key(&again, rules), key);
    }

    #[test]
    fn spellings_share_a_key(url in address()) {
        let key = url_key(&url, KeyRules::default());
        let mut other = url.clone();
        other.set_fragment(None);
        if url.fragment().is_none_or(|fragment| !fragment.starts_with(['/', '!'])) {
            prop_assert_eq!(&url_key(&other, KeyRules::default()), &key);
        }
        let _ = other.set_username("me");
        let _ = other.set_scheme(if url.scheme() == "http" { "https" } else { "http" });
        other.query_pairs_mut().append_pair("utm_campaign", "x");
        other.set_fragment(url.fragment());
        if url.port().is_none() {
            prop_assert_eq!(&url_key(&other, KeyRules::default()), &key);
        }
    }

    #[test]
    fn verdicts_are_stable_and_never_panic(link in address(), page in address(), start in address(), depth in 0u32..4) {
        let options = ScopeOptions {
            max_discovery_depth: Some(3),
            crawl_entire_domain: depth % 2 == 0,
            allow_subdomains: depth > 1,
            allow_external_links: depth == 3,
            exclude_paths: vec!["/b$".into()],
            ..Default::default()
        };
        let scope = Scope::new(&start, &options).unwrap();
        let verdict = scope.admit(&link, &page, depth);
        prop_assert_eq!(&scope.admit(&link, &page, depth), &verdict);
        if let Verdict::Follow { key, depth: next } = verdict {
            prop_assert_eq!(next, depth + 1);
            prop_assert_eq!(key, scope.key(&link));
            prop_assert!(scope.follows_links_of(&page, depth));
        }
        let _ = (scope.admit_start(&link), scope.admit_listed(&link), scope.admit_landing(&link, depth));
    }

    #[test]
    fn traps_never_panic(url in address()) {
        let _ = (url_trap(&url), family(&url), template(&url), content_hash(url.as_str()));
        let mut traps = Traps::default();
        prop_assert_ne!(traps.enter(&url), Some(Trap::Variants));
    }

    #[test]
    fn robots_never_panic(file in soup(ROBOTS), path in ".{0,20}", agent in ".{0,10}") {
        let robots = Robots::parse(&file);
        let rules = robots.rules(&agent);
        prop_assert_eq!(robots.allows(&agent, &path), rules.allows(&path));
        prop_assert_eq!(rules.deciding(&path).is_none_or(|rule| rule.allow), rules.allows(&path));
    }

    #[test]
    fn robots_match_as_a_slow_matcher_does(pattern in "[ab*$/]{0,8}", path in "/[ab/$]{0,10}") {
        let file = format!("User-agent: *\nDisallow: {pattern}");
        let expect = !pattern.is_empty() && slow(pattern.as_bytes(), path.as_bytes());
        prop_assert_eq!(!Robots::parse(file.as_bytes()).allows("x", &path), expect);
    }

    #[test]
    fn sitemaps_do_not_depend_on_pieces(file in soup(SITEMAP), size in 1usize..40, nesting in 0u8..5) {
        let whole = Sitemap::parse(&file, nesting);
        let mut parser = SitemapParser::new(nesting);
        for piece in file.chunks(size) {
            parser.feed(piece);
        }
        prop_assert_eq!(parser.finish(), whole);
    }
}

/// The definition of a match, by trying everything.
fn slow(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => true,
        [b'$'] => path.is_empty(),
        [b'*', rest @ ..] => (0..=path.len()).any(|skip| slow(rest, &path[skip..])),
        [first, rest @ ..] => path.first() == Some(first) && slow(rest, &path[1..]),
    }
}

/// Whether a pattern of robots.txt matches, read as plainly as RFC 9309 section 2.2.3 says it.
fn plainly(pattern: &[u8], path: &[u8]) -> bool {
    match (pattern, path) {
        ([], _) | ([b'$'], []) => true,
        ([b'*', rest @ ..], _) => (0..=path.len()).any(|skipped| plainly(rest, &path[skipped..])),
        ([one, pattern @ ..], [other, path @ ..]) => one == other && plainly(pattern, path),
        _ => false,
    }
}

proptest! {
    #[test]
    fn the_longest_rule_decides_however_it_is_found(
        patterns in prop::collection::vec((any::<bool>(), "/?[ab*/]{0,5}[$]?"), 0..12),
        path in "/[ab/]{0,8}",
    ) {
        let lines: String = patterns
            .iter()
            .map(|(allow, pattern)| format!("{}: {pattern}\n", if *allow { "Allow" } else { "Disallow" }))
            .collect();
        let rules = Robots::parse(format!("User-agent: *\n{lines}").as_bytes()).rules("A");
        let matching = patterns
            .iter()
            .filter(|(_, pattern)| !pattern.is_empty() && plainly(pattern.as_bytes(), path.as_bytes()));
        let deciding = matching.max_by_key(|(allow, pattern)| (pattern.len(), *allow));
        prop_assert_eq!(rules.allows(&path), deciding.is_none_or(|(allow, _)| *allow), "{} by {}", path, lines);
    }
}
