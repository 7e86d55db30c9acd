//! Sites generated while they are crawled: `site_gen` and `sitemap_gen` of the case file. Every trap also has some good
//! pages, `/good/1` and so on, linked from the start.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use testkit::{Body, Reply, Script, Seen};

use super::case::Object;
use super::setup;

/// Path prefix of the good pages.
pub(crate) const GOOD: &str = "/good/";
/// Number of links of the page with only links: 10 MB with their markup.
const FLOOD: usize = 300_000;
/// Number of hosts that the start page links to.
const SUBDOMAINS: usize = 10_000;

/// Function that generates the answers of a site.
pub(crate) type Maker = Box<dyn Fn(&Seen) -> Option<Reply> + Send + Sync>;

/// Returns the site of a page of `setup.origin`; `None` for an ordinary page. `origin` is the base URL of the site.
pub(crate) fn site(page: &Object, origin: &str) -> Result<Option<Maker>> {
    match (object(page, "site_gen"), object(page, "sitemap_gen")) {
        (None, None) => Ok(None),
        (Some(site), None) => trap(site, origin).map(Some),
        (None, Some(sitemap)) => sitemaps(sitemap, origin).map(Some),
        (Some(_), Some(_)) => bail!("a page has both site_gen and sitemap_gen"),
    }
}

/// Returns the page for all paths below `path_prefix` whose texts contain `{n}` or `{n+1}`: the number at the end of
/// the path, and the next one. `None` for any other page.
pub(crate) fn numbered(page: &Object, canary_port: u16) -> Result<Option<Maker>> {
    let text = Value::from(page.clone()).to_string();
    let Some(prefix) = page.get("path_prefix").and_then(Value::as_str).filter(|_| text.contains("{n")) else {
        return Ok(None);
    };
    let prefix = prefix.to_owned();
    let make = move |number: u64| {
        let text = text.replace("{n+1}", &(number + 1).to_string()).replace("{n}", &number.to_string());
        let page: Object = serde_json::from_str(&text)?;
        match setup::page(&page, canary_port)?.1 {
            Script::Reply(reply) => Ok(reply),
            _ => bail!("a page with numbers is an ordinary page"),
        }
    };
    make(0)?;
    Ok(Some(Box::new(move |seen| {
        let path = seen.path.split('?').next().unwrap_or_default();
        let digits = path.strip_prefix(&prefix)?.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        make(digits.parse().unwrap_or(0)).ok()
    })))
}

/// Whether a page of `setup.origin` links to host names that are unknown to the stage.
pub(crate) fn has_hosts(page: &Value) -> bool {
    page.get("site_gen").is_some()
}

fn object<'a>(page: &'a Object, key: &str) -> Option<&'a Object> {
    page.get(key).and_then(Value::as_object)
}

fn number(object: &Object, key: &str) -> Option<u64> {
    object.get(key).and_then(Value::as_u64)
}

/// Links of the start page to the trap, and its pages.
struct Trap {
    entrance: String,
    pages: Maker,
}

fn trap(site: &Object, origin: &str) -> Result<Maker> {
    if let Some(key) = site.keys().find(|key| !["trap", "good_pages"].contains(&key.as_str())) {
        bail!("site_gen.{key} is not known");
    }
    let good = number(site, "good_pages").context("site_gen needs good_pages")?;
    let name = site.get("trap").and_then(Value::as_str).unwrap_or_default();
    let trap = match name {
        "calendar" => calendar(),
        "session_path" => counted(|n| format!("/s/{n:08x}/list"), "/s/"),
        "session_query" => counted(|n| format!("/list?sid={n:08x}"), "/list"),
        "relative_growth" => relative_growth(),
        "link_flood" => link_flood(),
        "variants" => variants(origin, good),
        "ping_pong" => ping_pong(),
        "subdomains" => subdomains(origin),
        "random_links" => random_links(),
        "facets" => facets(),
        other => bail!("the trap {other:?} is not known"),
    };
    let links: String = (1..=good).map(|n| link(&format!("{GOOD}{n}"))).collect();
    let start = format!("<html><body>{links}{}</body></html>", trap.entrance);
    Ok(Box::new(move |seen| {
        let path = seen.path.split('?').next().unwrap_or_default();
        if let Some(n) = good_page(path).filter(|n| (1..=good).contains(n)) {
            return Some(html(format!("<h1>Good page {n}</h1><p>Nothing but good words, number {n}.</p>")));
        }
        if let Some(reply) = (trap.pages)(seen) {
            return Some(reply);
        }
        (path == "/").then(|| html(start.clone()))
    }))
}

/// Returns the number of a good page, for any spelling of its path.
pub(crate) fn good_page(path: &str) -> Option<u64> {
    let rest = path.strip_prefix(GOOD)?;
    rest.trim_end_matches("index.html").trim_end_matches('/').parse().ok()
}

fn link(to: &str) -> String {
    format!("<a href=\"{to}\">{to}</a>\n")
}

fn html(body: String) -> Reply {
    Reply { body: body.into(), ..Reply::default() }.header("Content-Type", "text/html")
}

/// A calendar whose days link to the next and the previous one.
fn calendar() -> Trap {
    let day = |n: i64| format!("/calendar/{}/{}/{}", 2000 + n.div_euclid(360), n.div_euclid(30) % 12 + 1, n % 30 + 1);
    let number = |path: &str| {
        let mut parts = path.strip_prefix("/calendar/")?.split('/').map(str::parse::<i64>);
        let mut part = || parts.next()?.ok();
        Some((part()? - 2000) * 360 + (part()? - 1) * 30 + part()? - 1)
    };
    let pages: Maker = Box::new(move |seen| {
        let n = number(&seen.path)?;
        let (next, before) = (link(&day(n + 1)), link(&day((n - 1).max(0))));
        Some(html(format!("<h1>Day {n}</h1><p>No events on day {n}.</p>{next}{before}")))
    });
    Trap { entrance: link(&day(7000)), pages }
}

/// Pages whose links are new on each request.
fn counted(url: fn(u64) -> String, below: &'static str) -> Trap {
    let count = AtomicU64::new(1);
    let pages: Maker = Box::new(move |seen| {
        let n = seen.path.starts_with(below).then(|| count.fetch_add(2, Ordering::Relaxed))?;
        Some(html(format!("<h1>List</h1><p>The same list for everybody.</p>{}{}", link(&url(n)), link(&url(n + 1)))))
    });
    Trap { entrance: link(&url(0)), pages }
}

fn relative_growth() -> Trap {
    let pages: Maker = Box::new(|seen| {
        seen.path.starts_with("/grow/").then(|| html("<h1>Grow</h1><p>Deeper.</p><a href=\"a/\">a</a>".to_owned()))
    });
    Trap { entrance: link("/grow/"), pages }
}

fn link_flood() -> Trap {
    let pages: Maker = Box::new(|seen| {
        if let Some(n) = seen.path.strip_prefix("/flood/") {
            return Some(html(format!("<h1>Flood {n}</h1><p>Leaf {n}.</p>")));
        }
        (seen.path == "/flood").then(|| {
            html((0..FLOOD).fold(String::new(), |mut out, n| {
                let _ = writeln!(out, "<a href=/flood/{n}>f{n}</a>");
                out
            }))
        })
    });
    Trap { entrance: link("/flood"), pages }
}

/// All spellings of the URLs of the good pages.
fn variants(origin: &str, good: u64) -> Trap {
    let host = origin.trim_start_matches("http://");
    let spellings = |n: u64| {
        let (path, mut out) = (format!("{GOOD}{n}"), String::new());
        for base in [format!("http://{host}"), format!("https://{host}"), format!("http://www.{host}")] {
            for end in ["", "/", "/index.html", "#top", "?utm_source=a&utm_medium=b", "?fbclid=1"] {
                out += &link(&format!("{base}{path}{end}"));
            }
        }
        out
    };
    Trap { entrance: (1..=good).map(spellings).collect(), pages: Box::new(|_| None) }
}

fn ping_pong() -> Trap {
    let pages: Maker = Box::new(|seen| {
        let other = match seen.path.as_str() {
            "/ping" => "/pong",
            "/pong" => "/ping",
            _ => return None,
        };
        Some(Reply { status: 302, ..Reply::default() }.header("Location", other))
    });
    Trap { entrance: link("/ping") + &link("/pong"), pages }
}

fn subdomains(origin: &str) -> Trap {
    let host = origin.trim_start_matches("http://").to_owned();
    let links = (0..SUBDOMAINS).map(|n| link(&format!("http://s{n}.{host}/"))).collect();
    let pages: Maker = Box::new(|seen| {
        let name = seen.header("host").split('.').next()?.strip_prefix('s')?.parse::<usize>().ok()?;
        Some(html(format!("<h1>Host {name}</h1><p>Front page of host {name}.</p>")))
    });
    Trap { entrance: links, pages }
}

/// Pages that link to ten new pages each, below any of them.
fn random_links() -> Trap {
    let count = AtomicU64::new(1);
    let path = |n: u64| {
        // Finaliser of MurmurHash3, which turns consecutive numbers into unrelated ones.
        let mut hash = n.wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        format!("/random/{:08x}/{:08x}", hash >> 32, hash & 0xffff_ffff)
    };
    let pages: Maker = Box::new(move |seen| {
        seen.path.starts_with("/random/").then(|| {
            let first = count.fetch_add(10, Ordering::Relaxed);
            let links: String = (first..first + 10).map(|n| link(&path(n))).collect();
            html(format!("<h1>Words {first}</h1><p>Words of page {first}, and where to go from here.</p>{links}"))
        })
    });
    Trap { entrance: link(&path(0)), pages }
}

/// A shop with a list that can be filtered by eight properties, in any order: more URLs than there are atoms.
fn facets() -> Trap {
    const NAMES: [&str; 8] = ["brand", "colour", "material", "page", "price", "rating", "size", "sort"];
    let pages: Maker = Box::new(|seen| {
        let (path, query) = seen.path.split_once('?').unwrap_or((&seen.path, ""));
        if path != "/shop" {
            return None;
        }
        let chosen: Vec<&str> = query.split('&').filter(|part| !part.is_empty()).collect();
        let links: String = NAMES
            .iter()
            .flat_map(|name| (1..=10).map(move |value| (name, value)))
            .map(|(name, value)| {
                let others = chosen.iter().filter(|own| own.split('=').next() != Some(name)).copied();
                let own = format!("{name}={value}");
                link(&format!("/shop?{}", others.chain([own.as_str()]).collect::<Vec<_>>().join("&")))
            })
            .collect();
        Some(html(format!("<h1>Shop</h1><p>Things by {query}.</p>{links}")))
    });
    Trap { entrance: link("/shop"), pages }
}

/// Returns sitemaps. `{nest}`: nested indexes. `{urls}`: one sitemap. `{children, urls}`: an index of sitemaps.
/// `{bytes}`: one sitemap of that size; `urls` is ignored.
fn sitemaps(sitemap: &Object, origin: &str) -> Result<Maker> {
    let keys: Vec<&str> = sitemap.keys().map(String::as_str).collect();
    if let (Some(bytes), true) = (number(sitemap, "bytes"), keys.iter().all(|key| ["bytes", "urls"].contains(key))) {
        return Ok(large_sitemap(bytes, origin));
    }
    let (nest, children, urls) = match keys.as_slice() {
        ["nest"] => (number(sitemap, "nest"), None, Some(2)),
        ["urls"] => (None, None, number(sitemap, "urls")),
        ["children", "urls"] => (None, number(sitemap, "children"), number(sitemap, "urls")),
        _ => bail!("sitemap_gen with {keys:?} is not known"),
    };
    let urls = urls.context("sitemap_gen needs numbers")?;
    let origin = origin.to_owned();
    Ok(Box::new(move |seen| {
        let level = match seen.path.strip_prefix("/sitemap")?.strip_suffix(".xml")? {
            "" => 0,
            rest => rest.strip_prefix('-')?.parse::<u64>().ok()?,
        };
        let body = match (nest, children) {
            (Some(depth), _) if level < depth => index(&origin, level + 1..level + 2),
            (None, Some(children)) if level == 0 => index(&origin, 1..children + 1),
            _ => set(&origin, level, urls),
        };
        Some(Reply { body: body.into(), ..Reply::default() }.header("Content-Type", "application/xml"))
    }))
}

/// Generates the two pages of the case, then URLs of missing pages until the size is reached.
fn large_sitemap(bytes: u64, origin: &str) -> Maker {
    let entry = |path: &str| format!("<url><loc>{origin}/{path}</loc></url>\n");
    let prefix = format!("<urlset>{}{}", entry("a"), entry("b"));
    let unit = entry("none/of/these/pages/is/there");
    let rest = bytes.saturating_sub((prefix.len() + "</urlset>".len()) as u64);
    // Complete entries, then spaces, so that the file can be parsed to its end.
    let whole = rest / unit.len() as u64 * unit.len() as u64;
    let suffix = " ".repeat(usize::try_from(rest - whole).unwrap_or(0)) + "</urlset>";
    let body = Body::Repeat { prefix: prefix.into(), unit: unit.into(), bytes: Some(whole), suffix: suffix.into() };
    Box::new(move |seen| {
        (seen.path == "/sitemap.xml")
            .then(|| Reply { body: body.clone(), ..Reply::default() }.header("Content-Type", "application/xml"))
    })
}

fn index(origin: &str, children: std::ops::Range<u64>) -> String {
    let entry = |n| format!("<sitemap><loc>{origin}/sitemap-{n}.xml</loc></sitemap>");
    format!("<sitemapindex>{}</sitemapindex>", children.map(entry).collect::<String>())
}

/// Generates a sitemap whose first two URLs are pages of the case; the others do not exist.
fn set(origin: &str, level: u64, urls: u64) -> String {
    let path = |n: u64| match n {
        0 => "a".to_owned(),
        1 => "b".to_owned(),
        n => format!("none/{level}/{n}"),
    };
    let entry = |n| format!("<url><loc>{origin}/{}</loc></url>", path(n));
    format!("<urlset>{}</urlset>", (0..urls).map(entry).collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn make(page: &Value) -> Maker {
        site(page.as_object().unwrap(), "http://origin.test:1").unwrap().unwrap()
    }

    fn text(maker: &Maker, path: &str) -> Option<String> {
        let reply = maker(&Seen { path: path.to_owned(), ..Seen::default() })?;
        match reply.body {
            testkit::Body::Bytes(bytes) => Some(String::from_utf8(bytes.to_vec()).unwrap()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_trap_has_an_entrance_and_good_pages() {
        for trap in [
            "calendar",
            "session_path",
            "session_query",
            "relative_growth",
            "link_flood",
            "variants",
            "ping_pong",
            "subdomains",
            "random_links",
            "facets",
        ] {
            let maker = make(&json!({"path": "/", "site_gen": {"trap": trap, "good_pages": 10}}));
            assert!(text(&maker, "/").unwrap().contains("/good/10"), "{trap}");
            assert!(text(&maker, "/good/10/index.html").unwrap().contains("number 10"), "{trap}");
            assert!(text(&maker, "/good/11").is_none(), "{trap}");
        }
        let calendar = make(&json!({"site_gen": {"trap": "calendar", "good_pages": 1}}));
        let first = text(&calendar, "/").unwrap();
        let day = first.split('"').find(|part| part.starts_with("/calendar/")).unwrap();
        assert_eq!(text(&calendar, day).unwrap().matches("<a ").count(), 2);
        let shop = make(&json!({"site_gen": {"trap": "facets", "good_pages": 1}}));
        assert!(text(&shop, "/shop?size=1").unwrap().contains("/shop?size=1&sort=2"));
        let random = make(&json!({"site_gen": {"trap": "random_links", "good_pages": 1}}));
        assert_ne!(text(&random, "/random/0/0"), text(&random, "/random/0/0"));
        let session = make(&json!({"site_gen": {"trap": "session_query", "good_pages": 1}}));
        assert_ne!(text(&session, "/list?sid=0"), text(&session, "/list?sid=0"));
        assert!(site(json!({"site_gen": {"trap": "moon", "good_pages": 1}}).as_object().unwrap(), "").is_err());
    }

    #[test]
    fn a_chain_of_redirects_has_no_end() {
        let hop = json!({"path_prefix": "/hop/", "status": 302, "headers": {"Location": "/hop/{n+1}"}});
        let maker = numbered(hop.as_object().unwrap(), 1).unwrap().unwrap();
        let reply = maker(&Seen { path: "/hop/41".to_owned(), ..Seen::default() }).unwrap();
        assert_eq!((reply.status, reply.headers[0].1.as_str()), (302, "/hop/42"));
        assert!(maker(&Seen { path: "/".to_owned(), ..Seen::default() }).is_none());
        assert!(numbered(json!({"path_prefix": "/x"}).as_object().unwrap(), 1).unwrap().is_none());
    }

    #[test]
    fn sitemaps_of_every_shape() {
        let nested = make(&json!({"sitemap_gen": {"nest": 3}}));
        assert!(text(&nested, "/sitemap.xml").unwrap().contains("/sitemap-1.xml"));
        assert!(text(&nested, "/sitemap-3.xml").unwrap().contains("<loc>http://origin.test:1/a</loc>"));
        let wide = make(&json!({"sitemap_gen": {"children": 5, "urls": 7}}));
        assert_eq!(text(&wide, "/sitemap.xml").unwrap().matches("<sitemap>").count(), 5);
        assert_eq!(text(&wide, "/sitemap-5.xml").unwrap().matches("<url>").count(), 7);
        assert_eq!(text(&wide, "/a"), None);
        let large =
            make(&json!({"sitemap_gen": {"bytes": 1000}}))(&Seen { path: "/sitemap.xml".into(), ..Seen::default() });
        assert_eq!(large.unwrap().body.length(), Some(1000));
    }
}
