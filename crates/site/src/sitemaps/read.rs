//! One sitemap: downloaded, decompressed, parsed and passed on in pieces.

use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::Stop;
use bytes::{Bytes, BytesMut};
use crawl_frontier::{SitemapKind, SitemapParser, SitemapUrl};
use flate2::write::MultiGzDecoder;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;
use url::Url;

use super::ask::{self, Candidate, Context, Share};
use super::{MAX_BYTES, MAX_REQUESTS, SitemapPage};

/// Minimum number of pages in a batch, except the last one.
const BATCH: usize = 1000;
/// Bytes of gzip that are decompressed at a time; they become 4 MiB at most.
const BITE: usize = 4096;
/// Downloaded bytes that are parsed together in one CPU slot.
const PORTION: usize = 64 << 10;
/// Magic number of gzip (RFC 1952 section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Result of reading a candidate.
#[derive(Debug, Default)]
pub(super) struct SitemapRead {
    pub(super) nesting: u8,
    /// Whether there was a sitemap, even a malformed one.
    pub(super) is_sitemap: bool,
    /// Whether a declared sitemap does not exist.
    pub(super) is_missed: bool,
    pub(super) is_cut: bool,
    /// Other sitemaps that it lists.
    pub(super) sitemaps: Vec<Url>,
}

/// Reads the sitemap at an address and sends its pages in batches.
pub(super) async fn read_sitemap(
    context: &Context<'_>,
    candidate: Candidate,
    share: Share<'_>,
    sender: Sender,
) -> SitemapRead {
    let mut done = SitemapRead { nesting: candidate.nesting, ..SitemapRead::default() };
    if !may_ask(context, &candidate).await {
        return done;
    }
    match download(context, &candidate, share, &sender, &mut done).await {
        Ok(()) => {}
        Err(error) => {
            if !context.approach.private {
                tracing::debug!(%error, "could not read a sitemap to its end; the pages so far are used");
            }
            done.is_cut |= done.is_sitemap || matches!(error, net::Error::Timeout);
        }
    }
    done.is_missed = candidate.is_declared && !done.is_sitemap;
    done
}

/// Whether the candidate may be requested: robots.txt decides only about undeclared ones.
async fn may_ask(context: &Context<'_>, candidate: &Candidate) -> bool {
    if candidate.is_declared || !context.terms.obey {
        return true;
    }
    let site = context.site.rules(&candidate.url, context.approach).await;
    site.is_ok_and(|site| site.rules.allows_url(&candidate.url))
}

async fn download(
    context: &Context<'_>,
    candidate: &Candidate,
    share: Share<'_>,
    sender: &Sender,
    done: &mut SitemapRead,
) -> Result<(), net::Error> {
    let mut answer = ask::open(context, candidate, share).await?;
    if !answer.status.is_success() {
        return Ok(());
    }
    let mut file = File::new(answer.url.clone(), candidate.nesting, Arc::clone(&context.bytes));
    let mut portion = BytesMut::new();
    let ended = loop {
        match answer.piece().await {
            Ok(Some(piece)) => {
                portion.extend_from_slice(&piece);
                if portion.len() < PORTION {
                    continue;
                }
                match file.take(context, portion.split().freeze(), sender).await {
                    Some(same) if same.is_wanted => file = same,
                    Some(same) => {
                        file = same;
                        break Ok(());
                    }
                    None => return given_up(done),
                }
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    // The part received before an error is used.
    drop(answer);
    match file.end(context, portion.freeze(), sender, &mut *done).await {
        Some(()) => ended,
        None => given_up(done),
    }
}

/// Records that the sitemap is cut because no CPU slot was free in time.
fn given_up(done: &mut SitemapRead) -> Result<(), net::Error> {
    done.is_cut = true;
    Ok(())
}

/// State of a sitemap while it is read. It moves into a CPU thread and back with every portion.
struct File {
    base: Url,
    parser: SitemapParser,
    /// First bytes, kept until there are enough to detect gzip.
    start: Vec<u8>,
    form: Compression,
    /// Pages that wait for a full batch.
    pages: Vec<SitemapPage>,
    count: usize,
    /// Decoded bytes of all sitemaps of the call.
    bytes: Arc<AtomicU64>,
    is_full: bool,
    /// Whether more of the file is to be read.
    is_wanted: bool,
}

enum Compression {
    Unknown,
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
}

type Sender = mpsc::Sender<Vec<SitemapPage>>;

impl File {
    fn new(base: Url, nesting: u8, bytes: Arc<AtomicU64>) -> Self {
        let parser = SitemapParser::new(nesting);
        let (start, pages) = (Vec::new(), Vec::new());
        Self {
            base,
            parser,
            start,
            form: Compression::Unknown,
            pages,
            count: 0,
            bytes,
            is_full: false,
            is_wanted: true,
        }
    }

    /// Reads a portion and passes on its pages. `None` if no CPU slot was free in time.
    async fn take(self, context: &Context<'_>, mut portion: Bytes, sender: &Sender) -> Option<Self> {
        let mut file = self;
        while !portion.is_empty() && file.is_wanted {
            let rest = portion;
            (file, portion) = work(context, move |stop| {
                let used = file.read_portion(&rest, stop);
                (file, rest.slice(used..))
            })
            .await?;
            if file.pages.len() >= BATCH && !file.send(sender).await {
                file.is_wanted = false;
            }
        }
        Some(file)
    }

    /// Reads bites until a batch is full or nothing more is wanted; returns the number of bytes read.
    fn read_portion(&mut self, portion: &[u8], stop: &Stop) -> usize {
        let mut used = 0;
        for bite in portion.chunks(BITE) {
            if stop.is_set() || !self.is_wanted || self.pages.len() >= BATCH {
                break;
            }
            used += bite.len();
            let (length, is_wanted) = self.feed(bite);
            let pages = self.parser.take_pages();
            self.collect(pages);
            let all = self.bytes.fetch_add(length as u64, Ordering::Relaxed) + length as u64;
            self.is_full = all > MAX_BYTES;
            self.is_wanted = is_wanted && !self.is_full;
        }
        used
    }

    /// Decompresses and parses a bite; returns the decompressed length, and whether more is wanted.
    fn feed(&mut self, bite: &[u8]) -> (usize, bool) {
        if let Compression::Unknown = self.form {
            self.start.extend_from_slice(bite);
            if self.start.len() < GZIP.len() {
                return (0, true);
            }
            let start = std::mem::take(&mut self.start);
            self.form = match start.starts_with(&GZIP) {
                true => Compression::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
                false => Compression::Plain,
            };
            return self.feed(&start);
        }
        let Compression::Gzip(decoder) = &mut self.form else { return (bite.len(), self.parser.feed(bite)) };
        let is_sound = decoder.write_all(bite).and_then(|()| decoder.flush()).is_ok();
        let text = std::mem::take(decoder.get_mut());
        (text.len(), self.parser.feed(&text) && is_sound)
    }

    fn collect(&mut self, pages: impl IntoIterator<Item = SitemapUrl>) {
        let listed =
            pages.into_iter().filter_map(|about| Some(SitemapPage { url: address(&self.base, &about.loc)?, about }));
        self.pages.extend(listed);
    }

    /// Sends the collected pages; returns false if the receiver was dropped.
    async fn send(&mut self, sender: &Sender) -> bool {
        self.count += self.pages.len();
        let mut pages = std::mem::take(&mut self.pages);
        while !pages.is_empty() {
            let later = pages.split_off(pages.len().min(2 * BATCH));
            if sender.send(pages).await.is_err() {
                return false;
            }
            pages = later;
        }
        true
    }

    /// Reads the last portion, passes on the rest and fills in the result. `None` if no CPU slot was free in time.
    async fn end(self, context: &Context<'_>, portion: Bytes, sender: &Sender, done: &mut SitemapRead) -> Option<()> {
        let mut file = self.take(context, portion, sender).await?;
        let (mut file, kind, sitemaps, is_cut) = work(context, move |_| {
            file.parser.feed(&file.start);
            let sitemap = std::mem::take(&mut file.parser).finish();
            file.collect(sitemap.pages);
            // Versions of a page in other languages are pages too.
            file.collect(sitemap.alternates.into_iter().map(|loc| SitemapUrl { loc, ..SitemapUrl::default() }));
            // An index may list 50 000 sitemaps; those beyond the request limit are not kept.
            let mut seen = HashSet::new();
            let sitemaps = sitemap.sitemaps.iter().filter_map(|text| address(&file.base, text));
            let sitemaps: Vec<Url> = sitemaps.filter(|url| seen.insert(url.clone())).take(MAX_REQUESTS + 1).collect();
            let is_cut = sitemap.is_cut || file.is_full || sitemaps.len() > MAX_REQUESTS;
            (file, sitemap.kind, sitemaps, is_cut)
        })
        .await?;
        let _taken = file.send(sender).await;
        done.is_sitemap = match kind {
            SitemapKind::Unknown | SitemapKind::Html => false,
            // Any text file could be a sitemap, also an error message or JSON, so it must list at least one page.
            SitemapKind::Text => file.count > 0,
            SitemapKind::UrlSet | SitemapKind::Index | SitemapKind::Rss | SitemapKind::Atom => true,
        };
        done.is_cut |= is_cut;
        done.sitemaps = sitemaps;
        Some(())
    }
}

/// Runs CPU work in a slot of the owner. `None` if no slot was free in time, and after a panic.
///
/// Spawned as a task, which is polled while pages are being sent. Otherwise it would hold its slot until then, which
/// could deadlock with a receiver that waits for a slot.
async fn work<T: Send + 'static>(context: &Context<'_>, work: impl FnOnce(&Stop) -> T + Send + 'static) -> Option<T> {
    let (cpu, owner, deadline) = (context.site.0.cpu.clone(), context.terms.owner.clone(), context.approach.deadline);
    let task = AbortOnDropHandle::new(tokio::spawn(async move { cpu.run(&owner, deadline, work).await }));
    let done = task.await.ok()?;
    done.inspect_err(|error| tracing::debug!(%error, "could not read a sitemap to its end; it is truncated")).ok()
}

/// Resolves an address from a sitemap, if it can be a page.
pub(crate) fn address(base: &Url, text: &str) -> Option<Url> {
    let mut url = base.join(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    base::address::cut_credentials(&mut url);
    Some(url)
}
