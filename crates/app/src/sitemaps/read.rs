//! One sitemap: download, unpack, parse, hand out, all in pieces.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use crawl_frontier::{Kind, SitemapParser, SitemapUrl};
use flate2::write::MultiGzDecoder;
use tokio::sync::mpsc;
use tokio::time::Instant;
use url::Url;

use super::hunt::Place;
use super::{Listed, MOST_BYTES, PATIENCE};
use crate::App;
use crate::robots::{self, Manner};

/// Redirects that are followed to a sitemap.
const MOST_REDIRECTS: usize = 3;
/// Pages that are handed out together, at least until the sitemap ends.
const BATCH: usize = 1000;
/// Gzip is unpacked in bites of this size: one becomes 4 MiB at most.
const BITE: usize = 4096;
/// What a file in gzip starts with (RFC 1952 section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What every download of a call needs to know.
pub(super) struct Context<'a> {
    pub(super) app: &'a App,
    pub(super) manner: Manner<'a>,
    /// Whether robots.txt decides about guessed places.
    pub(super) obey: bool,
    /// Decoded bytes of all sitemaps so far.
    pub(super) bytes: AtomicU64,
}

/// What came of a place.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) nesting: u8,
    /// Requests besides the first.
    pub(super) redirects: usize,
    /// Whether there was a sitemap, in whatever state.
    pub(super) is_sitemap: bool,
    /// Whether the site names a sitemap that is not there.
    pub(super) is_missed: bool,
    pub(super) is_cut: bool,
    /// Other sitemaps that it lists.
    pub(super) sitemaps: Vec<Url>,
}

/// Reads the sitemap at a place and sends its pages in batches.
pub(super) async fn read(context: &Context<'_>, place: Place, sender: mpsc::Sender<Vec<Listed>>) -> Read {
    let mut done = Read { nesting: place.nesting, ..Read::default() };
    if !may_ask(context, &place).await {
        return done;
    }
    match download(context, &place, &sender, &mut done).await {
        Ok(()) => {}
        Err(error) => {
            if !context.manner.private {
                tracing::debug!(%error, "sitemap not read to its end");
            }
            done.redirects += if matches!(error, net::Error::TooManyRedirects { .. }) { MOST_REDIRECTS } else { 0 };
            done.is_cut |= done.is_sitemap || matches!(error, net::Error::Timeout);
        }
    }
    done.is_missed = place.is_declared && !done.is_sitemap;
    done
}

/// What the site names may be read; where it only might be, robots.txt decides.
async fn may_ask(context: &Context<'_>, place: &Place) -> bool {
    if place.is_declared || !context.obey {
        return true;
    }
    let site = robots::rules(context.app, &place.url, context.manner).await;
    site.is_ok_and(|site| site.rules.allows_url(&place.url))
}

async fn download(
    context: &Context<'_>,
    place: &Place,
    sender: &mpsc::Sender<Vec<Listed>>,
    done: &mut Read,
) -> Result<(), net::Error> {
    let deadline = Instant::now() + PATIENCE;
    let mut answer = context.app.web.open(place.url.clone(), context.manner, deadline, MOST_REDIRECTS).await?;
    done.redirects += answer.redirects.len();
    if !answer.status.is_success() {
        return Ok(());
    }
    let mut file = File::new(answer.url.clone(), place.nesting);
    let ended = loop {
        match answer.piece().await {
            Ok(Some(piece)) if file.take(context, &piece, sender).await => {}
            Ok(_) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    // What came before an error counts.
    drop(answer);
    file.end(sender, done).await;
    ended
}

/// A sitemap on its way.
struct File {
    base: Url,
    parser: SitemapParser,
    /// The first bytes, until there are enough to tell gzip.
    start: Vec<u8>,
    form: Form,
    /// Pages that wait for a full batch.
    pages: Vec<Listed>,
    count: usize,
    is_full: bool,
}

enum Form {
    Unknown,
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
}

impl File {
    fn new(base: Url, nesting: u8) -> Self {
        let parser = SitemapParser::new(nesting);
        let (start, pages) = (Vec::new(), Vec::new());
        Self { base, parser, start, form: Form::Unknown, pages, count: 0, is_full: false }
    }

    /// Reads a piece and hands out what was in it; false when no more is wanted.
    async fn take(&mut self, context: &Context<'_>, piece: &[u8], sender: &mpsc::Sender<Vec<Listed>>) -> bool {
        for bite in piece.chunks(BITE) {
            let (length, wanted) = self.feed(bite);
            let pages = self.parser.take_pages();
            self.collect(pages);
            if self.pages.len() >= BATCH && !self.send(sender).await {
                return false;
            }
            let all = context.bytes.fetch_add(length as u64, Ordering::Relaxed) + length as u64;
            self.is_full = all > MOST_BYTES;
            if !wanted || self.is_full {
                return false;
            }
            if length > 16 * BITE {
                // Much came out of little: let the others have a turn.
                tokio::task::yield_now().await;
            }
        }
        true
    }

    /// Unpacks and parses a bite: how long it was unpacked, and whether more is wanted.
    fn feed(&mut self, bite: &[u8]) -> (usize, bool) {
        if let Form::Unknown = self.form {
            self.start.extend_from_slice(bite);
            if self.start.len() < GZIP.len() {
                return (0, true);
            }
            let start = std::mem::take(&mut self.start);
            self.form = match start.starts_with(&GZIP) {
                true => Form::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
                false => Form::Plain,
            };
            return self.feed(&start);
        }
        let Form::Gzip(decoder) = &mut self.form else { return (bite.len(), self.parser.feed(bite)) };
        let is_sound = decoder.write_all(bite).and_then(|()| decoder.flush()).is_ok();
        let text = std::mem::take(decoder.get_mut());
        (text.len(), self.parser.feed(&text) && is_sound)
    }

    fn collect(&mut self, pages: impl IntoIterator<Item = SitemapUrl>) {
        let listed =
            pages.into_iter().filter_map(|about| Some(Listed { url: address(&self.base, &about.loc)?, about }));
        self.pages.extend(listed);
    }

    /// False when nobody takes them any more.
    async fn send(&mut self, sender: &mpsc::Sender<Vec<Listed>>) -> bool {
        self.count += self.pages.len();
        self.pages.is_empty() || sender.send(std::mem::take(&mut self.pages)).await.is_ok()
    }

    /// Hands out the rest and says what it was.
    async fn end(mut self, sender: &mpsc::Sender<Vec<Listed>>, done: &mut Read) {
        self.parser.feed(&self.start);
        let sitemap = std::mem::take(&mut self.parser).finish();
        self.collect(sitemap.pages);
        // Versions of a page in other languages are pages too.
        self.collect(sitemap.alternates.into_iter().map(|loc| SitemapUrl { loc, ..SitemapUrl::default() }));
        let _taken = self.send(sender).await;
        done.is_sitemap = match sitemap.kind {
            Kind::Unknown | Kind::Html => false,
            // Any text could be one: an error message, JSON.
            Kind::Text => self.count > 0,
            Kind::UrlSet | Kind::Index | Kind::Rss | Kind::Atom => true,
        };
        done.is_cut |= sitemap.is_cut || self.is_full;
        done.sitemaps = sitemap.sitemaps.iter().filter_map(|text| address(&self.base, text)).collect();
    }
}

/// An address as a sitemap writes it, absolute, if it can be a page.
fn address(base: &Url, text: &str) -> Option<Url> {
    let mut url = base.join(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    // Neither fails for a URL with a host.
    let _ = (url.set_username(""), url.set_password(None));
    Some(url)
}
