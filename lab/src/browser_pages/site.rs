//! The site that serves the built pages on two origins: files immediately, data requests after a delay.

use std::collections::HashMap;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::Value;
use testkit::{Body, Reply, Script, Seen, Site};

use super::book::{self, Book, Route};
use super::child::Child;

/// Both origins, and their requests.
pub(crate) struct Pages {
    first: Site,
    second: Site,
    shared: Arc<Shared>,
    /// Node servers of single pages.
    _children: Vec<Child>,
}

struct Shared {
    routes: HashMap<String, Route>,
    files: HashMap<String, Bytes>,
    /// Pages with client-side routing by path.
    routed: Vec<String>,
    statuses: HashMap<String, u16>,
    visits: Mutex<HashMap<String, Visit>>,
}

/// Requests of a page since [`Pages::forget`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Visit {
    /// All requests.
    pub(crate) asked: Vec<PageRequest>,
    turns: HashMap<String, usize>,
}

/// A request of a page.
#[derive(Debug, Clone)]
pub(crate) struct PageRequest {
    pub(crate) path: String,
    /// Time when its response was sent; for an endless one, its last piece with content.
    pub(crate) done: Instant,
}

impl Visit {
    /// Returns when the last response that the page needs was sent.
    pub(crate) fn last_needed(&self) -> Option<Instant> {
        self.asked.iter().filter(|asked| !asked.path.ends_with("favicon.ico")).map(|asked| asked.done).max()
    }
}

impl Pages {
    /// Serves the built pages on two consecutive ports. No response is delayed by more than `max_delay`.
    pub(crate) async fn start(built: &Path, book: &Book, max_delay: Duration) -> Result<Self> {
        let (first, second) = two_sites().await?;
        let mut files = HashMap::new();
        read_files(built, built, &mut files)?;
        let odd = book::home().join("behaviour");
        read_files(&odd, &odd, &mut files)?;
        let mut routes = book::routes(&book::home().join("pages"))?;
        routes.extend(book::routes(&odd)?);
        fill_steps(&mut routes, &files)?;
        let most = u64::try_from(max_delay.as_millis()).unwrap_or(u64::MAX);
        routes.values_mut().for_each(|route| route.delay_ms = route.delay_ms.min(most));
        let routed = book.pages.iter().filter(|page| page.url_ends.is_some()).map(|page| page.id.clone()).collect();
        let statuses = book.plain.iter().map(|page| (page.id.clone(), page.status)).collect();
        let shared = Arc::new(Shared { routes, files, routed, statuses, visits: Mutex::default() });
        for site in [&first, &second] {
            let shared = Arc::clone(&shared);
            site.others(move |seen| shared.answer(seen));
        }
        let mut children = Vec::new();
        for page in &book.pages {
            if let Some(child) = &page.child {
                let child = Child::start(&book::home().join("pages").join(&page.id).join(child)).await?;
                // The only page of its kind uses the default path of its library.
                first.script_below("/socket.io/", vec![Script::Forward(child.addr())]);
                children.push(child);
            }
        }
        Ok(Self { first, second, shared, _children: children })
    }

    /// Returns the URL of a page.
    pub(crate) fn url(&self, path: &str) -> String {
        self.first.url(path).to_string()
    }

    /// Returns the port of the first origin.
    pub(crate) fn first_port(&self) -> u16 {
        self.first.addr().port()
    }

    /// Returns the addresses that the egress guard has to admit.
    pub(crate) fn allow(&self) -> String {
        format!("{},{}", self.first.addr(), self.second.addr())
    }

    /// Clears the recorded requests of a page.
    pub(crate) fn forget(&self, id: &str) {
        self.shared.visits.lock().remove(id);
    }

    /// Returns the recorded requests of a page.
    pub(crate) fn visit(&self, id: &str) -> Visit {
        self.shared.visits.lock().get(id).cloned().unwrap_or_default()
    }

    /// Returns the HTML of a page as served.
    pub(crate) fn html(&self, id: &str) -> Option<Bytes> {
        self.shared.files.get(&format!("/{id}/index.html")).cloned()
    }

    /// Returns the bytes that both origins have sent.
    pub(crate) fn sent(&self) -> u64 {
        self.first.sent() + self.second.sent()
    }

    /// Returns the heads of all requests below a path prefix, with the requested port.
    pub(crate) fn heads(&self, prefix: &str) -> Vec<(u16, Seen)> {
        let of = |site: &Site| {
            let port = site.addr().port();
            let seen = site.requests().into_iter().filter(|seen| seen.path.starts_with(prefix));
            seen.map(|seen| (port, seen)).collect::<Vec<_>>()
        };
        [of(&self.first), of(&self.second)].concat()
    }
}

impl Shared {
    fn answer(&self, seen: &Seen) -> Option<Reply> {
        let path = seen.path.split('?').next().unwrap_or_default();
        let id = page_of(path).to_owned();
        if path == format!("/{id}/") {
            // Every visit begins with the first turn.
            self.visits.lock().entry(id.clone()).or_default().turns.clear();
        }
        let (reply, told) = match self.route(path) {
            Some((key, route)) => self.routed(&id, &key, route, path)?,
            None => (self.file(&id, path)?, Duration::ZERO),
        };
        let done = Instant::now() + reply.delay + told;
        self.visits.lock().entry(id).or_default().asked.push(PageRequest { path: path.to_owned(), done });
        Some(reply)
    }

    fn route(&self, path: &str) -> Option<(String, &Route)> {
        if let Some(route) = self.routes.get(path) {
            return Some((path.to_owned(), route));
        }
        let below = |key: &String| key.strip_suffix('*').is_some_and(|prefix| path.starts_with(prefix));
        let (key, route) = self.routes.iter().find(|(key, _)| below(key))?;
        Some((key.clone(), route))
    }

    /// Returns the response, and the duration of its pieces with content.
    fn routed(&self, id: &str, key: &str, route: &Route, path: &str) -> Option<(Reply, Duration)> {
        let turn = {
            let mut visits = self.visits.lock();
            let turns = visits.entry(id.to_owned()).or_default().turns.entry(key.to_owned()).or_default();
            *turns += 1;
            *turns - 1
        };
        let route = route.turns.get(turn).or(route.turns.last()).unwrap_or(route);
        let named = route.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect::<Vec<_>>();
        let (kind, body) = self.body(id, route, path)?;
        let mut reply =
            Reply { status: route.status, headers: named, body, delay: Duration::from_millis(route.delay_ms) };
        if !reply.headers.iter().any(|(name, _)| name == "content-type") {
            reply = reply.header("content-type", kind);
        }
        let told = route.steps.iter().map(|(pause, _)| Duration::from_millis(*pause)).sum();
        Some((reply, told))
    }

    fn body(&self, id: &str, route: &Route, path: &str) -> Option<(&'static str, Body)> {
        if !route.steps.is_empty() {
            let step = |(pause, piece): &(u64, String)| (Duration::from_millis(*pause), Bytes::from(piece.clone()));
            let steps = route.steps.iter().map(step).collect();
            return Some(("text/html; charset=utf-8", Body::Steps { steps, then: route.then.as_ref().map(step) }));
        }
        if let Some(json) = &route.json {
            return Some(("application/json", json.to_string().into()));
        }
        if let Some(html) = &route.html {
            return Some(("text/html; charset=utf-8", html.clone().into()));
        }
        let file = match &route.file {
            Some(Value::String(name)) => format!("/{id}/{name}"),
            Some(_) => path.to_owned(),
            None => return Some(("text/plain; charset=utf-8", route.text.clone().unwrap_or_default().into())),
        };
        Some((content_type(&file), self.files.get(&file)?.clone().into()))
    }

    fn file(&self, id: &str, path: &str) -> Option<Reply> {
        let path = if path.ends_with('/') { format!("{path}index.html") } else { path.to_owned() };
        let index = format!("/{id}/index.html");
        let is_route = self.routed.iter().any(|own| own == id) && !path.contains('.');
        let path = if is_route { index } else { path };
        let body = self.files.get(&path)?.clone();
        let status = if path.ends_with(".html") { self.statuses.get(id).copied().unwrap_or(200) } else { 200 };
        Some(Reply { status, body: body.into(), ..Reply::default() }.header("content-type", content_type(&path)))
    }
}

/// Returns the page of a path: `/ID/…` or `/api/ID/…`.
fn page_of(path: &str) -> &str {
    let mut parts = path.split('/').skip(1);
    match parts.next() {
        Some("api") => parts.next().unwrap_or_default(),
        first => first.unwrap_or_default(),
    }
}

pub(super) fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript",
        "css" => "text/css",
        "json" => "application/json",
        "txt" | "md" => "text/plain; charset=utf-8",
        "xml" => "application/rss+xml",
        "pdf" => "application/pdf",
        "csv" => "text/csv",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "wasm" => "application/wasm",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

fn read_files(root: &Path, folder: &Path, into: &mut HashMap<String, Bytes>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("no built pages in {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            read_files(root, &path, into)?;
        } else {
            let name = path.strip_prefix(root)?.to_string_lossy().into_owned();
            into.insert(format!("/{name}"), fs::read(&path)?.into());
        }
    }
    Ok(())
}

fn fill_steps(routes: &mut HashMap<String, Route>, files: &HashMap<String, Bytes>) -> Result<()> {
    for (path, route) in routes {
        if let Some(name) = &route.steps_file {
            let file = format!("/{}/{name}", page_of(path));
            let Some(bytes) = files.get(&file) else { continue };
            route.steps = serde_json::from_slice(bytes).with_context(|| format!("{file} holds no steps"))?;
        }
    }
    Ok(())
}

/// Starts two sites with consecutive ports: the second origin of a page is the same host with the next port.
async fn two_sites() -> Result<(Site, Site)> {
    for _ in 0..50 {
        let first = Site::start().await;
        let Some(next) = first.addr().port().checked_add(1) else { continue };
        if let Ok(second) = Site::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, next))).await {
            return Ok((first, second));
        }
    }
    bail!("no two ports of loopback that follow each other are free")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_belongs_to_a_page() {
        for (path, expect) in [("/x/", "x"), ("/api/x/list", "x"), ("/x/a/b.js", "x"), ("/", ""), ("/api", "")] {
            assert_eq!(page_of(path), expect, "{path}");
        }
    }

    #[tokio::test]
    async fn pages_are_answered_by_route_file_and_turn() {
        let built = tempfile::tempdir().unwrap();
        for (name, text) in [("react-query-retry/index.html", "<p>shell"), ("react-router/index.html", "<p>routed")] {
            fs::create_dir_all(built.path().join(name).parent().unwrap()).unwrap();
            fs::write(built.path().join(name), text).unwrap();
        }
        let mut book = book::read_book().unwrap();
        book.pages.iter_mut().for_each(|page| page.child = None);
        let pages = Pages::start(built.path(), &book, Duration::MAX).await.unwrap();
        let get = async |path: &str| lab::service::get(pages.first.addr(), path).await.unwrap();
        for visit in 0..2 {
            assert_eq!(get("/react-query-retry/").await.text(), "<p>shell", "{visit}");
            assert_eq!(get("/api/react-query-retry/level").await.status, 503, "{visit}");
            assert_eq!(get("/api/react-query-retry/level").await.status, 200, "{visit}");
        }
        assert_eq!(get("/react-router/tour/7").await.text(), "<p>routed");
        assert_eq!(get("/react-router/none.js").await.status, 404);
        let visit = pages.visit("react-query-retry");
        assert!(visit.asked.len() == 6 && visit.last_needed().unwrap() <= Instant::now(), "{visit:?}");
        pages.forget("react-query-retry");
        assert!(pages.visit("react-query-retry").asked.is_empty());
    }
}
