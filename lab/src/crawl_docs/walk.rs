//! A breadth-first walk over the linked files of a folder, without a server.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::rc::Rc;

use anyhow::{Context, Result};
use url::Url;

use super::folder::{ContentKind, Folder, PathTarget, type_of};
use super::html;

/// Identity of a page in the walk: a file and a query.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Spot {
    pub(crate) file: String,
    pub(crate) query: String,
}

/// A file reached by links.
#[derive(Debug)]
pub(crate) struct ReachedFile {
    /// URL of its first link, without the fragment.
    pub(crate) url: Url,
    pub(crate) kind: ContentKind,
    /// Pages with a link to it. The start may have none.
    pub(crate) from: Vec<Rc<Spot>>,
    /// Canonical address of the page, if that is another page of the folder.
    pub(crate) canonical: Option<Spot>,
}

/// All files reached by links.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    pub(crate) reached: BTreeMap<Spot, ReachedFile>,
    /// Broken addresses of the site, each with one page that links to it.
    pub(crate) dead: BTreeMap<String, Rc<Spot>>,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.query.is_empty() { "" } else { "?" };
        write!(f, "{}{mark}{}", self.file, self.query)
    }
}

/// Walks from `start`. Only `<a>` and `<area>` of HTML pages count as links, also with `rel="nofollow"`, which the
/// contract ignores.
pub(crate) fn walk(folder: &Folder, start: &Url) -> Result<Walk> {
    let mut walk = Walk::default();
    let first = spot(folder, start).with_context(|| format!("{start} is no file"))?;
    walk.reached.insert(first.clone(), reached(&first, start.clone(), Vec::new()));
    let mut waiting = VecDeque::from([(first, start.clone())]);
    // Each file is read once, for all queries.
    let mut read = HashMap::new();
    while let Some((from, url)) = waiting.pop_front() {
        let from = Rc::new(from);
        if type_of(&from.file).1 != ContentKind::Html {
            continue;
        }
        if !read.contains_key(&from.file) {
            let html = folder.read(&from.file).with_context(|| format!("cannot read {}", from.file))?;
            read.insert(from.file.clone(), html::links(&String::from_utf8_lossy(&html)));
        }
        let links = &read[&from.file];
        let base = links.base.as_deref().and_then(|base| url.join(base.trim()).ok()).unwrap_or_else(|| url.clone());
        let canonical = links.canonical.as_deref().and_then(|canonical| own(&base, start, canonical));
        let canonical = canonical.and_then(|canonical| spot(folder, &canonical)).filter(|other| *other != *from);
        if let Some(page) = walk.reached.get_mut(from.as_ref()) {
            page.canonical = canonical;
        }
        for target in links.hrefs.iter().filter_map(|href| own(&base, start, href)) {
            let Some(to) = spot(folder, &target) else {
                walk.dead.entry(address(&target)).or_insert_with(|| Rc::clone(&from));
                continue;
            };
            if let Some(known) = walk.reached.get_mut(&to) {
                known.link(&from);
            } else {
                walk.reached.insert(to.clone(), reached(&to, target.clone(), vec![Rc::clone(&from)]));
                waiting.push_back((to, landed(folder, target)));
            }
        }
    }
    Ok(walk)
}

/// Returns the URL after the redirect to a folder's trailing slash, the base of its relative links.
fn landed(folder: &Folder, mut url: Url) -> Url {
    if folder.target(url.path()) == PathTarget::Slashless {
        url.set_path(&format!("{}/", url.path()));
    }
    url
}

/// Returns the page of a URL of the site, if its file exists.
pub(crate) fn spot(folder: &Folder, url: &Url) -> Option<Spot> {
    match folder.target(landed(folder, url.clone()).path()) {
        PathTarget::File(file) => Some(Spot { file, query: url.query().unwrap_or_default().to_owned() }),
        PathTarget::Slashless | PathTarget::Nowhere => None,
    }
}

/// Returns path and query of a URL.
pub(crate) fn address(url: &Url) -> String {
    url[url::Position::BeforePath..url::Position::AfterQuery].to_owned()
}

/// Resolves a link, if it stays on the site.
fn own(base: &Url, site: &Url, link: &str) -> Option<Url> {
    let link = link.trim();
    let mut url = base.join(link).ok().filter(|url| !link.is_empty() && url.origin() == site.origin())?;
    url.set_fragment(None);
    Some(url)
}

fn reached(spot: &Spot, url: Url, from: Vec<Rc<Spot>>) -> ReachedFile {
    ReachedFile { url, kind: type_of(&spot.file).1, from, canonical: None }
}

impl ReachedFile {
    fn link(&mut self, from: &Rc<Spot>) {
        // A page is read in one pass, so its repeated links to the same page are consecutive.
        if self.from.last() != Some(from) {
            self.from.push(Rc::clone(from));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn names(walk: &Walk) -> Vec<String> {
        walk.reached.keys().map(ToString::to_string).collect()
    }

    #[test]
    fn walks_a_small_folder() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("b/c")).unwrap();
        for (file, html) in [
            ("index.html", "<a href=index.html#top>1</a><a href='a.html?x=1&amp;y=2'>2</a><a href=b>3</a><a href=b/>4"),
            ("a.html", "<base href=/b/><a href=d.html>1</a><a rel=nofollow href=../n.txt>2</a><a href=//b.test/>3"),
            ("b/index.html", "<map><area href=c/e%20e.html></map><a href=gone.html>1</a><a href=mailto:a@b.c>2"),
            ("b/d.html", "<link rel=canonical href=index.html><a href=/p.png>1</a><!--<a href=/no.html>-->"),
            ("b/c/e e.html", "<a href=>1</a><a href=?>2</a><a href=' ../../index.html '>3"),
            ("n.txt", "<a href=no.html>"),
            ("p.png", ""),
            ("no.html", ""),
        ] {
            fs::write(root.path().join(file), html).unwrap();
        }
        let start = Url::parse("http://127.0.0.1:1/").unwrap();
        let walk = walk(&Folder::at(root.path()), &start).unwrap();
        assert_eq!(
            names(&walk),
            ["a.html?x=1&y=2", "b/c/e e.html", "b/d.html", "b/index.html", "index.html", "n.txt", "p.png"]
        );
        assert_eq!(walk.dead.keys().map(String::as_str).collect::<Vec<_>>(), ["/b/gone.html"]);
        let of = |file: &str| &walk.reached[&Spot { file: file.to_owned(), query: String::new() }];
        assert_eq!(of("b/d.html").canonical.as_ref().map(|spot| spot.file.as_str()), Some("b/index.html"));
        assert_eq!(of("n.txt").from.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a.html?x=1&y=2"]);
        assert_eq!(of("p.png").kind, ContentKind::Other);
    }

    #[test]
    fn the_start_must_be_there() {
        let root = tempfile::tempdir().unwrap();
        let start = Url::parse("http://127.0.0.1:1/").unwrap();
        assert!(walk(&Folder::at(root.path()), &start).is_err());
    }
}
