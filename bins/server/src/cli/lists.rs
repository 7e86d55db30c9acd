//! The command `lists`: downloads the filter lists behind `blockAds`. They are downloaded only on this command and are not
//! shipped with the program because of their licences.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use axum::http::{HeaderValue, StatusCode, header};
use boot::config::{Config, Loaded};
use clap::Subcommand;
use tokio::time::Instant;
use url::Url;

use super::backup::write_through;
use super::print;

/// Byte limit of one list, decoded. Common lists have up to 4 MB.
const MAX_BYTES: usize = 32 << 20;
const TIMEOUT: Duration = Duration::from_secs(120);
/// Number of first lines that are searched for the title.
const HEAD_LINES: usize = 50;
const AGENT: &str = concat!("Quarry/", env!("CARGO_PKG_VERSION"));

#[derive(Subcommand)]
pub(crate) enum Lists {
    /// Download the lists of browser.list_urls; a server loads them when it starts
    Update,
}

impl Lists {
    /// Runs the command. One failed list gives a failure status; the others are still updated.
    pub(crate) async fn run(self, loaded: Loaded) -> anyhow::Result<ExitCode> {
        match self {
            Self::Update => update(&loaded.config).await,
        }
    }
}

async fn update(config: &Config) -> anyhow::Result<ExitCode> {
    let urls = &config.browser.list_urls;
    ensure!(!urls.is_empty(), "browser.list_urls is empty");
    let folder = boot::lists_folder(config)?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let client = boot::client(config, None).await?;
    let proxy = config.fetch.basic_proxies.0.first();
    let (mut names, mut code) = (BTreeSet::new(), ExitCode::SUCCESS);
    for url in urls {
        let name = file_name(url);
        let done = match names.insert(name.clone()) {
            true => renew(&client, proxy, url, &folder.join(&name)).await,
            false => Err(anyhow::anyhow!("another list has the same file name")),
        };
        match done {
            Ok((rules, bytes)) => print(&format!("{name}: {rules} rules, {bytes} bytes\n"))?,
            Err(error) => {
                code = ExitCode::FAILURE;
                writeln!(std::io::stderr().lock(), "quarry-server: {name}: {error:#}")?;
            }
        }
    }
    print(&format!("{}: restart a running server to load the lists\n", folder.display()))?;
    Ok(code)
}

/// Downloads a list, replaces the old one atomically, and returns its number of rules and of bytes.
async fn renew(
    client: &net::Client,
    proxy: Option<&net::Proxy>,
    url: &Url,
    place: &Path,
) -> anyhow::Result<(usize, usize)> {
    let list = fetch(client, proxy, url).await?;
    let rules = rules(&list)?;
    // Not `*.txt`, so that a server that starts meanwhile does not load it.
    let new = place.with_extension(format!("new{}", std::process::id()));
    let put = write_through(&new, list.as_bytes())
        .and_then(|()| fs::rename(&new, place).with_context(|| format!("cannot write {}", place.display())));
    if put.is_err() {
        // The file may not exist.
        let _ = fs::remove_file(&new);
    }
    put.map(|()| (rules, list.len()))
}

async fn fetch(client: &net::Client, proxy: Option<&net::Proxy>, url: &Url) -> anyhow::Result<String> {
    let mut request = net::Request::get(url.clone());
    request.headers.insert(header::USER_AGENT, HeaderValue::from_static(AGENT));
    request.proxy = proxy.cloned();
    request.deadline = Instant::now() + TIMEOUT;
    let mut download = client.open(request).await?;
    let has_left_tls = download.redirects.iter().chain([&download.url]).any(|url| url.scheme() != "https");
    if url.scheme() == "https" && has_left_tls {
        bail!("the list is redirected to a URL without TLS");
    }
    ensure!(download.status == StatusCode::OK, "the server answered {}", download.status);
    let mut list = Vec::new();
    while let Some(piece) = download.piece().await? {
        ensure!(list.len() + piece.len() <= MAX_BYTES, "the list is larger than {} MiB", MAX_BYTES >> 20);
        list.extend_from_slice(&piece);
    }
    String::from_utf8(list).context("the list is not UTF-8 text")
}

/// Returns the number of rules of a list. Rejects other content, such as the HTML page of a list that has moved.
fn rules(list: &str) -> anyhow::Result<usize> {
    let list = list.trim_start_matches('\u{feff}').trim_start();
    ensure!(!list.starts_with('<'), "the response is a web page, not a filter list");
    let titled = |line: &str| line.starts_with("! Title:");
    let known = list.starts_with("[Adblock") || list.lines().take(HEAD_LINES).any(titled);
    ensure!(known, "the response is not a filter list: those begin with `[Adblock` or have a line `! Title:`");
    let is_rule = |line: &&str| !line.is_empty() && !line.starts_with('!') && !line.starts_with("[Adblock");
    let rules = list.lines().map(str::trim).filter(is_rule).count();
    ensure!(rules > 0, "the list has no rules");
    Ok(rules)
}

/// Returns the file name of a list: the last segment of its path, ending in `.txt`.
fn file_name(url: &Url) -> String {
    let last = url.path().rsplit('/').next().unwrap_or_default();
    let last = last.strip_suffix(".txt").unwrap_or(last).trim_start_matches('.');
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '_' };
    let name: String = last.chars().take(100).map(plain).collect();
    if name.is_empty() { "list.txt".to_owned() } else { format!("{name}.txt") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_told_from_what_is_none() {
        let check = |text: &str, expect: Result<usize, &str>| match (rules(text), expect) {
            (Ok(rules), Ok(expect)) => assert_eq!(rules, expect, "{text}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{text}: {error}"),
            (found, _) => panic!("{text}: {found:?}"),
        };
        check("[Adblock Plus 2.0]\n! Version: 1\n||ads.test^\n\n##.banner\r\n", Ok(2));
        check("\u{feff}[Adblock Plus 2.0]\n##.banner", Ok(1));
        check("! Checksum: x\n! Title: Mine\n||ads.test^\n", Ok(1));
        check("<!doctype html>\n! Title: Mine\n||ads.test^", Err("a web page"));
        check("||ads.test^\n##.banner", Err("not a filter list"));
        check(&format!("{}! Title: late\n||ads.test^\n", "x\n".repeat(HEAD_LINES)), Err("not a filter list"));
        check("", Err("not a filter list"));
        check("[Adblock Plus 2.0]\n! Title: empty\n", Err("no rules"));
    }

    #[test]
    fn lists_are_known_by_their_path() {
        for (url, expect) in [
            ("https://easylist.to/easylist/easylist.txt", "easylist.txt"),
            ("https://lists.test/a/b?c=/d.txt", "b.txt"),
            ("https://lists.test/..txt", "list.txt"),
            ("https://lists.test/%2e%2e%2fpasswd", "_2e_2e_2fpasswd.txt"),
            ("https://lists.test", "list.txt"),
        ] {
            assert_eq!(file_name(&url.parse().unwrap()), expect, "{url}");
        }
        let long = format!("https://lists.test/{}", "a".repeat(500));
        assert_eq!(file_name(&long.parse().unwrap()).len(), 104);
    }
}
