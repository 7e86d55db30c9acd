//! Adding of linked pages to a crawl: each page once, with the shortest known path to it.

use std::collections::{HashMap, HashSet};

use ::runs::{Context, jobs_of};
use base::Timestamp;
use store::runs::{self, NewPage, PageRow, PageState, Progress, ShorterWay, Way};
use store::{Conn, StoreError, jobs};

use super::frontier::{CrawlRun, Frontier};
use super::links::{self, Found, Links, Listed};

/// Pages that a run knows and adds in one transaction. The caller holds the lock on its progress.
pub(super) struct Walk<'a> {
    context: &'a Context,
    /// Crawl of the context.
    run: Option<&'a CrawlRun>,
    /// Whether the run was full before; then the pages that links lead to are not looked up.
    is_full: bool,
    /// Keys of known pages that are not in the context's memory, with their depths.
    known: HashMap<Vec<u8>, i32>,
    /// Rows of pages to be inserted.
    rows: Vec<PageRow>,
    /// Pages to be queued.
    fresh: Vec<NewPage>,
    now: Timestamp,
}

impl<'a> Walk<'a> {
    /// Begins with the keys that the run already knows.
    pub(super) async fn begin(
        conn: &mut Conn,
        context: &'a Context,
        progress: &Progress,
        keys: Vec<&[u8]>,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        // A full run has all its pages and enough spare ones: further pages need not be examined.
        let is_full = progress.is_full();
        let known = HashMap::new();
        let mut walk =
            Self { context, run: CrawlRun::of(context), is_full, known, rows: Vec::new(), fresh: Vec::new(), now };
        walk.look_up(conn, keys).await?;
        Ok(walk)
    }

    /// Returns all keys that are known from now on, with their depths.
    pub(super) fn into_known(self) -> Vec<(Vec<u8>, i32)> {
        self.known.into_iter().collect()
    }

    /// Whether the run knows a page.
    pub(super) fn knows(&self, key: &[u8]) -> bool {
        self.depth(key).is_some()
    }

    /// Adds a page that the run does not know.
    fn note(&mut self, page: NewPage, state: PageState) {
        self.known.insert(page.key.clone(), page.depth);
        self.rows.push(PageRow::new(&self.context.id, page, state));
    }

    /// Whether the run knows the page at a greater depth than this.
    pub(super) fn is_further(&self, key: &[u8], depth: i32) -> bool {
        self.depth(key).is_some_and(|known| known > depth)
    }

    /// Adds another address of a document, given by its id and the hash of its text.
    pub(super) fn note_alias(&mut self, page: NewPage, document: &str, content: Option<u64>) {
        self.known.insert(page.key.clone(), page.depth);
        self.rows.push(PageRow::alias(&self.context.id, page, document, content));
    }

    /// Queues a known page again with the next ones.
    pub(super) fn read_again(&mut self, page: NewPage) {
        self.fresh.push(page);
    }

    /// Adds linked pages, unless they are traps, before the results are judged: so that the other decisions of this
    /// transaction see them.
    pub(super) async fn take_on_first(
        &mut self,
        conn: &mut Conn,
        progress: &mut Progress,
        found: Vec<Found>,
    ) -> Result<(), StoreError> {
        if self.is_full || found.is_empty() {
            return Ok(());
        }
        // Shorter paths to known pages are followed with all other links.
        self.take_on_nearest(conn, progress, found).await?;
        self.flush(conn).await
    }

    /// Queues the pages that links lead to, unless they are traps, and records the links that are only reported.
    pub(super) async fn follow(
        &mut self,
        conn: &mut Conn,
        progress: &mut Progress,
        links: Links,
    ) -> Result<(), StoreError> {
        let Links { found, external, blocked } = links;
        if !self.is_full {
            let nearer = self.take_on_nearest(conn, progress, found).await?;
            self.follow_nearer(conn, progress, nearer).await?;
        }
        self.list(conn, links::EXTERNAL, external).await?;
        self.list(conn, links::BLOCKED, blocked).await?;
        self.enqueue(conn, progress).await
    }

    /// Records that known pages are at most at these depths, and follows their links again where they were read at a
    /// greater depth.
    pub(super) async fn bring_near(
        &mut self,
        conn: &mut Conn,
        progress: &mut Progress,
        pages: HashMap<Vec<u8>, Way>,
    ) -> Result<(), StoreError> {
        self.follow_nearer(conn, progress, pages).await?;
        self.enqueue(conn, progress).await
    }

    /// Inserts the new pages and queues those that are to be fetched.
    async fn enqueue(&mut self, conn: &mut Conn, progress: &mut Progress) -> Result<(), StoreError> {
        self.flush(conn).await?;
        self.fresh.extend(runs::promote_spare(conn, progress).await?);
        let fresh = std::mem::take(&mut self.fresh);
        if fresh.is_empty() {
            return Ok(());
        }
        let lane = self.context.lanes.pages(&self.context.id);
        jobs::enqueue(conn, &lane, &jobs_of(&self.context.id, &fresh, self.now)?, self.now).await?;
        Ok(())
    }

    /// Records shorter paths to known pages, and follows the links of those that have been read, recursively. Only the
    /// links of one page are in memory at a time. Each round has strictly shorter paths, so the loop ends.
    async fn follow_nearer(
        &mut self,
        conn: &mut Conn,
        progress: &mut Progress,
        mut nearer: HashMap<Vec<u8>, Way>,
    ) -> Result<(), StoreError> {
        while !nearer.is_empty() {
            let mut further = HashMap::new();
            for way in self.shorten(conn, nearer).await? {
                let found = self.links_of(conn, &way).await?;
                for (key, way) in self.take_on_nearest(conn, progress, found).await? {
                    let best: &mut Way = further.entry(key).or_insert_with(|| way.clone());
                    if way.depth < best.depth {
                        *best = way;
                    }
                }
            }
            nearer = further;
        }
        Ok(())
    }

    /// Adds new pages, and returns the known ones to which this is a shorter path.
    async fn take_on_nearest(
        &mut self,
        conn: &mut Conn,
        progress: &mut Progress,
        mut found: Vec<Found>,
    ) -> Result<HashMap<Vec<u8>, Way>, StoreError> {
        found.retain(|found| self.max_depth().is_none_or(|max| found.page.depth <= max));
        found.sort_by_key(|found| found.page.depth);
        let nearer = self.nearer(&found);
        self.take_on(conn, progress, found).await?;
        Ok(nearer)
    }

    async fn take_on(&mut self, conn: &mut Conn, progress: &mut Progress, found: Vec<Found>) -> Result<(), StoreError> {
        let found = self.unknown(found, |found| &found.page.key);
        let pages = links::without_traps(conn, &self.context.id, found).await?;
        let (fresh, spare) = runs::take_on(progress, pages);
        fresh.iter().for_each(|page| self.note(page.clone(), PageState::Queued));
        spare.into_iter().for_each(|page| self.note(page, PageState::Spare));
        self.fresh.extend(fresh);
        Ok(())
    }

    /// Returns the known pages that these links reach by a shorter path, by their keys. Matters only with a depth
    /// limit.
    fn nearer(&self, found: &[Found]) -> HashMap<Vec<u8>, Way> {
        let mut nearer = HashMap::new();
        if self.max_depth().is_some() {
            for page in found.iter().map(|found| &found.page) {
                if self.depth(&page.key).is_some_and(|known| known > page.depth) {
                    // Sorted by depth: the first entry is the nearest.
                    let way = || Way { depth: page.depth, parent: page.parent.clone() };
                    nearer.entry(page.key.clone()).or_insert_with(way);
                }
            }
        }
        nearer
    }

    /// Records shorter paths, and returns the pages whose links have to be followed again, nearest first.
    async fn shorten(&mut self, conn: &mut Conn, nearer: HashMap<Vec<u8>, Way>) -> Result<Vec<ShorterWay>, StoreError> {
        self.flush(conn).await?;
        let mut ways = runs::shorten(conn, &self.context.id, &nearer).await?;
        self.known.extend(nearer.into_iter().map(|(key, way)| (key, way.depth)));
        let max = self.max_depth().filter(|_| !self.is_full);
        ways.retain(|way| way.is_read && max.is_some_and(|max| way.depth < max));
        ways.sort_by_key(|way| way.depth);
        Ok(ways)
    }

    /// Returns the links of a page that has been read, after looking up which of them the run knows.
    async fn links_of(&mut self, conn: &mut Conn, way: &ShorterWay) -> Result<Vec<Found>, StoreError> {
        let Some(frontier) = self.frontier() else { return Ok(Vec::new()) };
        let Some(packed) = runs::kept_links(conn, &self.context.id, &way.page).await? else { return Ok(Vec::new()) };
        let links = links::unpack(&packed, &frontier.scope, way);
        let links = links.map_err(|error| StoreError::Inconsistent(error.to_string()))?;
        self.look_up(conn, links.iter().map(|found| found.page.key.as_slice()).collect()).await?;
        Ok(links)
    }

    /// Records links that are only reported.
    async fn list(&mut self, conn: &mut Conn, listed: Listed, pages: Vec<NewPage>) -> Result<(), StoreError> {
        let mut pages = self.unknown(pages, |page| &page.key);
        if pages.is_empty() {
            return Ok(());
        }
        let Listed { state, code, reason } = listed;
        pages.truncate(runs::list_room(conn, &self.context.id, state).await?);
        let message = reason.message();
        for page in pages {
            self.known.insert(page.key.clone(), page.depth);
            self.rows.push(PageRow::new(&self.context.id, page, state).listed(code, message, self.now));
        }
        Ok(())
    }

    async fn flush(&mut self, conn: &mut Conn) -> Result<(), StoreError> {
        runs::insert_pages(conn, std::mem::take(&mut self.rows)).await
    }

    /// Looks up in the database which of the keys not in memory the run knows.
    async fn look_up(&mut self, conn: &mut Conn, keys: Vec<&[u8]>) -> Result<(), StoreError> {
        let unsure = keys.into_iter().filter(|key| !self.knows(key)).collect();
        self.known.extend(runs::known_keys(conn, &self.context.id, unsure).await?);
        Ok(())
    }

    /// Returns the items with unknown keys, each once, in their order.
    fn unknown<T>(&self, found: Vec<T>, key: impl Fn(&T) -> &[u8]) -> Vec<T> {
        let mut seen: HashSet<Vec<u8>> = HashSet::new();
        let mut is_new = |key: &[u8]| !self.knows(key) && seen.insert(key.to_vec());
        found.into_iter().filter(|found| is_new(key(found))).collect()
    }

    /// Returns the depth at which the run knows a page.
    fn depth(&self, key: &[u8]) -> Option<i32> {
        self.known.get(key).copied().or_else(|| self.run?.known.depth(key))
    }

    fn frontier(&self) -> Option<&'a Frontier> {
        self.run?.frontier.as_ref()
    }

    fn max_depth(&self) -> Option<i32> {
        let max = self.frontier().and_then(|frontier| frontier.scope.max_depth());
        max.map(|max| i32::try_from(max).unwrap_or(i32::MAX))
    }
}
