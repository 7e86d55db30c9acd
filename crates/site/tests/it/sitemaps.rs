//! Pages listed in sitemaps of all formats, within limits.

use std::ops::ControlFlow;
use std::sync::LazyLock;
use std::time::Duration;

use base::Owner;
use site::{Approach, MAX_REQUESTS, Sink, SiteError, SitemapPage, SitemapTotals, Terms};
use testkit::{Body, Canary, Encoding, Reply, Script};
use tokio::time::Instant;

use crate::robots::approach;
use crate::world::World;

static OWNER: LazyLock<Owner> = LazyLock::new(|| Owner::new("team", "crawl"));

fn terms() -> Terms<'static> {
    Terms { owner: &OWNER, obey: true }
}

/// Sink that keeps everything, and stops after `most` pages.
struct Pages {
    all: Vec<SitemapPage>,
    most: usize,
    largest: usize,
}

impl Sink for Pages {
    type Error = SiteError;

    async fn take(&mut self, pages: Vec<SitemapPage>) -> Result<ControlFlow<()>, SiteError> {
        assert!(!pages.is_empty());
        self.largest = self.largest.max(pages.len());
        self.all.extend(pages);
        Ok(if self.all.len() < self.most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }
}

impl Pages {
    fn paths(&self) -> Vec<&str> {
        let mut paths: Vec<&str> = self.all.iter().map(|page| page.url.path()).collect();
        paths.sort_unstable();
        paths
    }
}

async fn read(world: &World, start: &str, most: usize) -> (Pages, SitemapTotals) {
    let mut pages = Pages { all: Vec::new(), most, largest: 0 };
    let found = world.ours.sitemaps(&world.site.url(start), approach(), terms(), &mut pages).await.unwrap();
    (pages, found)
}

fn text(body: impl Into<String>) -> Reply {
    Reply { body: body.into().into(), ..Reply::default() }
}

fn urlset(paths: &[&str]) -> Reply {
    let urls: String = paths.iter().map(|path| format!("<url><loc>{path}</loc></url>")).collect();
    text(format!("<urlset>{urls}</urlset>"))
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_form_from_the_lines_of_robots_txt() {
    let world = World::start().await;
    world.site.respond("/robots.txt", text("Sitemap: /index.xml\nSitemap: feed.rss\nUser-agent: *\nDisallow: /index"));
    world.site.respond(
        "/index.xml",
        text("<sitemapindex><sitemap><loc>/a.xml.gz</loc></sitemap><sitemap><loc>old.txt</loc></sitemap><sitemap><loc>/gone.xml</loc>"),
    );
    let set = b"<urlset><url><loc>/a1</loc><lastmod>2024-01-02</lastmod></url><url><loc>/a2</loc></url></urlset>";
    world.site.respond("/a.xml.gz", Reply { body: gzip(set).into(), ..Reply::default() });
    world.site.respond("/old.txt", Reply { status: 302, ..Reply::default() }.header("location", "/new.txt"));
    world.site.respond("/new.txt", text(format!("{}\nnonsense\n", world.site.url("/t1"))));
    world.site.respond(
        "/feed.rss",
        text("<rss><channel><item><title>One</title><description>Words</description><link>/f1</link></item></channel></rss>"),
    );
    let (pages, found) = read(&world, "/", 1000).await;
    assert_eq!(pages.paths(), ["/a1", "/a2", "/f1", "/t1"]);
    assert_eq!(found, SitemapTotals { sitemaps: 4, pages: 4, failed: 1, is_cut: false });
    let feed = pages.all.iter().find(|page| page.url.path() == "/f1").unwrap();
    assert_eq!((feed.about.title.as_deref(), feed.about.description.as_deref()), (Some("One"), Some("Words")));
    assert!(pages.all.iter().any(|page| page.about.lastmod.as_deref() == Some("2024-01-02")));
}

#[tokio::test(flavor = "multi_thread")]
async fn usual_places_unless_robots_txt_forbids_them() {
    let world = World::start().await;
    world.site.respond("/wp-sitemap.xml", urlset(&["/a"]));
    assert_eq!(read(&world, "/docs/", 1000).await.0.paths(), ["/a"]);
    let world = World::start().await;
    world.site.respond("/sitemap.xml", urlset(&["/a"]));
    world.site.respond("/docs/sitemap.xml", urlset(&["/docs/b"]));
    assert_eq!(read(&world, "/docs/", 1000).await.0.paths(), ["/a", "/docs/b"]);
    assert!(world.site.requests().iter().all(|seen| !seen.path.contains("wp-")), "something is there already");
    let world = World::start().await;
    world.site.respond("/robots.txt", text("User-agent: *\nDisallow: /"));
    world.site.respond("/sitemap.xml", urlset(&["/a"]));
    let (pages, found) = read(&world, "/", 1000).await;
    assert_eq!((pages.all.len(), found), (0, SitemapTotals::default()));
    assert_eq!(world.asked(), 1);
    let mut pages = Pages { all: Vec::new(), most: 9, largest: 0 };
    world.ours.sitemaps(&world.site.url("/"), approach(), Terms { obey: false, ..terms() }, &mut pages).await.unwrap();
    assert_eq!(pages.paths(), ["/a"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn large_sitemaps_come_in_batches_and_end_when_there_is_enough() {
    let world = World::start().await;
    let body = Body::repeat("<urlset>", "<url><loc>/page</loc></url>", 60_000, "</urlset>");
    world.site.respond("/sitemap.xml", Reply { body, ..Reply::default() });
    let (pages, found) = read(&world, "/", usize::MAX).await;
    assert_eq!((pages.all.len(), found.pages, found.is_cut), (50_000, 50_000, true));
    assert!(pages.largest < 5000, "{}", pages.largest);
    let (pages, found) = read(&world, "/", 10).await;
    assert!((10..5000).contains(&pages.all.len()) && !found.is_cut, "{}", pages.all.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn indexes_in_a_circle_in_depth_and_in_breadth() {
    let world = World::start().await;
    world.site.respond("/sitemap.xml", text("<sitemapindex><sitemap><loc>/sitemap.xml</loc></sitemap>"));
    assert_eq!(read(&world, "/", 1000).await.1.sitemaps, 1);
    let world = World::start().await;
    for depth in 0..50 {
        let name = if depth == 0 { "/sitemap.xml".to_owned() } else { format!("/s{depth}.xml") };
        let next = depth + 1;
        let body = format!("<sitemapindex><sitemap><loc>/s{next}.xml</loc></sitemap><url><loc>/p{depth}</loc></url>");
        world.site.respond(&name, text(body));
    }
    let (pages, found) = read(&world, "/", 1000).await;
    assert_eq!(pages.paths(), ["/p0", "/p1", "/p2", "/p3"]);
    assert!(found.is_cut);
    let world = World::start().await;
    let many: String = (0..50_000).map(|child| format!("<sitemap><loc>/c{child}.xml</loc></sitemap>")).collect();
    world.site.respond("/sitemap.xml", text(format!("<sitemapindex>{many}</sitemapindex>")));
    let (_, found) = read(&world, "/", 1000).await;
    // The additional request is for robots.txt.
    assert_eq!((found.is_cut, world.asked()), (true, 1 + MAX_REQUESTS));
    // Redirects count as requests.
    drop(world.site.take_requests());
    let away = Reply { status: 301, ..Reply::default() }.header("location", "/gone");
    world.site.script_below("/c", vec![Script::Reply(away)]);
    let (_, found) = read(&world, "/", 1000).await;
    assert!(found.is_cut && (MAX_REQUESTS - 3..=MAX_REQUESTS).contains(&world.asked()), "{}", world.asked());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_ones_may_be_redirected_as_well() {
    let world = World::start().await;
    let children = (MAX_REQUESTS - 1) / 2;
    let index: String = (0..children).map(|child| format!("<sitemap><loc>/c{child}.xml</loc></sitemap>")).collect();
    world.site.respond("/sitemap.xml", text(format!("<sitemapindex>{index}</sitemapindex>")));
    for child in 0..children {
        let away = Reply { status: 301, ..Reply::default() }.header("location", &format!("/new{child}.xml"));
        world.site.respond(&format!("/c{child}.xml"), away);
        world.site.respond(&format!("/new{child}.xml"), urlset(&[&format!("/p{child}")]));
    }
    let (_, found) = read(&world, "/", 1000).await;
    assert_eq!(found, SitemapTotals { sitemaps: 1 + children, pages: children, failed: 0, is_cut: false });
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_and_hostile_ones_give_what_can_be_read() {
    let world = World::start().await;
    let canary = Canary::start().await;
    let away = format!("http://{}/s.xml", canary.addr());
    let lines = ["/cut.xml", "/bomb.xml.gz", "/html.xml", "/dtd.xml", "/slow.xml", "/endless.xml", &away];
    let lines: String = lines.iter().map(|line| format!("Sitemap: {line}\n")).collect();
    world.site.respond("/robots.txt", text(lines));
    world.site.respond("/cut.xml", urlset(&["/a", "/b"]).header("content-length", "9999"));
    let bomb = Body::Zeros { bytes: 10 << 30, encodings: vec![Encoding::Gzip] };
    world.site.respond("/bomb.xml.gz", Reply { body: bomb, ..Reply::default() });
    world.site.respond("/html.xml", text("<html><body>404 <a href=/x>x</a>"));
    let doctype = format!("<!DOCTYPE l SYSTEM '{away}' [<!ENTITY x SYSTEM '{away}'>]>");
    world.site.respond("/dtd.xml", text(format!("{doctype}<urlset><url><loc>/c&x;</loc></url><url><loc>{away}</loc>")));
    world.site.script("/slow.xml", vec![Script::Hang(Duration::from_secs(60))]);
    let endless = Body::Repeat { prefix: "<urlset>".into(), unit: "x".into(), bytes: None, suffix: "".into() };
    world.site.respond("/endless.xml", Reply { body: endless, ..Reply::default() });
    let mut pages = Pages { all: Vec::new(), most: 1000, largest: 0 };
    let hurried = Approach { deadline: Instant::now() + Duration::from_secs(8), ..approach() };
    let started = Instant::now();
    let found = world.ours.sitemaps(&world.site.url("/"), hurried, terms(), &mut pages).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert_eq!(pages.paths(), ["/a", "/b", "/c&x;", "/s.xml"]);
    assert!(found.is_cut && found.failed >= 3, "{found:?}");
    assert_eq!(canary.connects(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn sites_that_fail_for_a_moment_are_asked_again_as_they_wish() {
    let busy = |status: u16| Script::Reply(Reply { status, ..Reply::default() });
    for (first, asked, waits) in [
        (vec![busy(503)], 2, 1),
        (vec![busy(500), busy(429)], 3, 3),
        // The HTTP client has its own retry for this.
        (vec![Script::Raw("this is not HTTP".into())], 2, 0),
        (vec![Script::Reply(Reply { status: 503, ..Reply::default() }.header("retry-after", "2"))], 2, 2),
    ] {
        let world = World::start().await;
        world.site.respond("/robots.txt", text("Sitemap: /map.xml"));
        world.site.script("/map.xml", first.into_iter().chain([Script::Reply(urlset(&["/a"]))]).collect());
        let started = Instant::now();
        let (pages, found) = read(&world, "/", 1000).await;
        assert_eq!((pages.paths(), found.failed), (vec!["/a"], 0));
        assert!(world.site.requests().iter().filter(|seen| seen.path == "/map.xml").count() >= asked);
        assert!(started.elapsed() >= Duration::from_secs(waits), "{:?}", started.elapsed());
    }
    for never in [busy(404), Script::Reply(Reply { status: 503, ..Reply::default() }.header("retry-after", "60"))] {
        let world = World::start().await;
        world.site.respond("/robots.txt", text("Sitemap: /map.xml"));
        world.site.script("/map.xml", vec![never, Script::Reply(urlset(&["/a"]))]);
        let (pages, found) = read(&world, "/", 1000).await;
        assert_eq!((pages.all.len(), found.failed), (0, 1));
    }
}
