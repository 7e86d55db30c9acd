//! `cargo run -p site --example robots_cases -- FILE…`: runs the HTTP cases of robots.txt case files against
//! `site::Site`, with real sites, a resolver and a canary on loopback. Called by `cargo xtask robots`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a tool for the terminal that stops when it cannot go on"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use net::{Allow, Client, Config, Egress, Limits};
use politeness::MAX_CRAWL_DELAY;
use serde_json::Value;
use site::{AGENT, Approach, SiteError, SiteRules};
use testkit::{Body, Canary, Dns, Encoding, ManualClock, Reply, Script, Site};
use url::Url;

/// Loopback internet of one case.
struct World {
    site: Site,
    /// A site on another port, another host, and https.
    other: Site,
    canary: Canary,
    _dns: Dns,
    clock: ManualClock,
    ours: site::Site,
    _folder: tempfile::TempDir,
}

#[tokio::main]
async fn main() {
    let (mut passed, mut failed) = (0, 0);
    for path in std::env::args().skip(1) {
        let file: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let cases = file.get("cases").unwrap_or(&file).as_array().unwrap();
        for case in cases.iter().filter(|case| case["kind"] == "http") {
            let faults = play(case).await;
            if faults.is_empty() {
                passed += 1;
            } else {
                failed += 1;
                println!("failed: {} {}: {}", case["id"], case["rule"], faults.join("; "));
            }
        }
    }
    println!("http: {passed} passed, {failed} failed");
    std::process::exit(i32::from(failed > 0));
}

impl World {
    async fn start(case: &Value) -> Self {
        let tls = case["origin"].get("tls").is_some() || text(&case["url"]).starts_with("https:");
        let site = if case["origin"].get("tls").is_some() { Site::start_tls().await } else { Site::start().await };
        let other = if tls { Site::start_tls().await } else { Site::start().await };
        let (dns, canary, clock) = (Dns::start().await, Canary::start().await, ManualClock::default());
        if case["origin"].get("dns").is_none() {
            dns.set("site.test", site.addr().ip().into());
        }
        dns.set("other.test", other.addr().ip().into());
        let allow = vec![Allow::Address(site.addr()), Allow::Address(other.addr())];
        let egress = Egress { allow, resolvers: vec![dns.addr()], ..Egress::default() };
        let client = Client::new(Config { egress, limits: Limits::default() }).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/cases.db", folder.path().display());
        let store = store::Store::open(&url, store::Options::default()).await.unwrap();
        store.migrate().await.unwrap();
        let ours = site::Site::new(client, vec![], store, Arc::new(clock.clone()), cpu::Cpu::new(1));
        Self { site, other, canary, _dns: dns, clock, ours, _folder: folder }
    }

    /// Configures the sites as `origin` of the case says.
    fn set(&self, case: &Value) {
        let origin = &case["origin"];
        let moved = |to: &str| Reply { status: 302, ..Reply::default() }.header("location", to);
        let last = Reply { body: text(&origin["final"]).to_owned().into(), ..Reply::default() };
        if let Some(place) = origin["redirect_to"].as_str() {
            let port = self.other.addr().port();
            let place = place.replace("{CANARY}", &self.canary.addr().to_string());
            self.site.respond("/robots.txt", moved(&place.replace("//other.test/", &format!("//other.test:{port}/"))));
            self.other.respond("/robots.txt", last);
        } else if origin["redirect_loop"] == true {
            self.site.respond("/robots.txt", moved("/robots.txt"));
        } else if let Some(count) = origin["redirects"].as_u64() {
            for step in 0..count {
                let from = if step == 0 { "/robots.txt".to_owned() } else { format!("/hop{step}") };
                self.site.respond(&from, moved(&format!("/hop{}", step + 1)));
            }
            self.site.respond(&format!("/hop{count}"), last);
        } else if let Some(seconds) = origin["hang_s"].as_u64() {
            self.site.script("/robots.txt", vec![Script::Hang(Duration::from_secs(seconds))]);
        } else {
            self.site.respond("/robots.txt", self.reply(origin));
        }
    }

    fn reply(&self, origin: &Value) -> Reply {
        let packed = origin["encoding"] == "gzip";
        let made = &origin["body_gen"];
        let body = if let Some(bytes) = made["zeros_bytes"].as_u64() {
            Body::Zeros { bytes, encodings: if packed { vec![Encoding::Gzip] } else { vec![] } }
        } else if let Some(bytes) = made["pad_comment_bytes"].as_u64() {
            Body::repeat("#", "#", bytes - 1, &format!("\n{}", text(&made["then"])))
        } else if let Some(coded) = origin["body_b64"].as_str() {
            base64::engine::general_purpose::STANDARD.decode(coded).unwrap().into()
        } else {
            let plain = text(&origin["body"]).replace("{CANARY}", &self.canary.addr().to_string());
            if packed { gzip(plain.as_bytes()).into() } else { plain.into() }
        };
        let mut reply =
            Reply { status: origin["status"].as_u64().unwrap_or(200).try_into().unwrap(), body, ..Reply::default() };
        if packed {
            reply = reply.header("content-encoding", "gzip");
        }
        for (name, value) in origin["headers"].as_object().into_iter().flatten() {
            reply = reply.header(name, text(value));
        }
        reply
    }

    /// Returns the URL of the case, with the port where it is served here.
    fn url(&self, case: &Value) -> Url {
        let origin = &case["origin"];
        let port = if origin["connect"] == "refused" { closed_port() } else { self.site.addr().port() };
        let scheme = if origin.get("tls").is_some() { "https" } else { "http" };
        let base = Url::parse(&format!("{scheme}://site.test:{port}/")).unwrap();
        let given = text(&case["url"]);
        match Url::parse(given) {
            // An absolute URL: another port, or https.
            Ok(mut url) => {
                url.set_port(Some(self.other.addr().port())).unwrap();
                url
            }
            Err(_) => base.join(given).unwrap(),
        }
    }

    async fn ask(&self, case: &Value) -> Result<Arc<SiteRules>, SiteError> {
        let verify_tls = case["options"]["skipTlsVerification"] == false;
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        self.ours.rules(&self.url(case), Approach { agent: AGENT, deadline, verify_tls, private: false }).await
    }
}

/// Runs a case and returns its faults.
async fn play(case: &Value) -> Vec<String> {
    let world = World::start(case).await;
    world.set(case);
    if text(&case["url"]).starts_with("http") {
        // Loads the own site first, so that a mix-up of sites would show.
        let own = serde_json::json!({ "origin": case["origin"], "url": "/x" });
        world.ask(&own).await.unwrap();
    }
    let (started, before) = (Instant::now(), peak(true));
    let mut site = world.ask(case).await.unwrap();
    let took = started.elapsed().as_secs_f64();
    let grown = peak(false).saturating_sub(before) >> 10;
    if let Some(hours) = case["clock_shift_h"].as_u64() {
        world.clock.advance(Duration::from_secs(hours * 3600));
        site = world.ask(case).await.unwrap();
    }
    let allowed = site.rules.allows_url(&world.url(case));
    let delay = site.crawl_delay.unwrap_or_default().min(MAX_CRAWL_DELAY).as_secs_f64();
    let mut faults = Vec::new();
    let mut check = |right: bool, what: String| {
        if !right {
            faults.push(what);
        }
    };
    check(case["allowed"].as_bool().is_none_or(|expect| expect == allowed), format!("allowed is {allowed}"));
    check(case["max_seconds"].as_f64().is_none_or(|most| took <= most), format!("took {took:.1} s"));
    check(case["max_rss_delta_mib"].as_u64().is_none_or(|most| grown <= most), format!("{grown} MiB more"));
    check(case["canary_hits"].as_u64().is_none_or(|_| world.canary.connects() == 0), "the canary was hit".to_owned());
    check(case["min_gap_s"].as_f64().is_none_or(|least| delay >= least), format!("delay {delay} s"));
    check(case["max_gap_s"].as_f64().is_none_or(|most| delay <= most), format!("delay {delay} s"));
    let asked = world.site.requests().iter().filter(|seen| seen.path == "/robots.txt").count() as u64;
    check(case["min_robots_requests"].as_u64().is_none_or(|least| asked >= least), format!("asked {asked} times"));
    for sitemap in case["sitemaps_must_include"].as_array().into_iter().flatten() {
        check(site.sitemaps.iter().any(|line| line == text(sitemap)), format!("{sitemap} is missing"));
    }
    for path in case["robots_blocked"].as_array().into_iter().flatten() {
        check(!site.rules.allows(text(path)), format!("{path} is allowed"));
    }
    faults
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// Returns a port on which nothing listens.
fn closed_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Returns the peak memory of this process since the last reset, in KiB (proc(5), `clear_refs`).
fn peak(reset: bool) -> u64 {
    if reset {
        let _ = std::fs::write("/proc/self/clear_refs", "5");
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}
