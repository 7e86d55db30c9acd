//! `cargo xtask chaos bodies`: memory growth of the server with eight pages of 90 MiB at once.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use testkit::{Body, Reply, Site};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use xtask::say;

use crate::hostile::raw;
use crate::team::Team;

const TOGETHER: usize = 8;
const MIB: u64 = 1024 * 1024;
/// Size of each page.
const BODY: u64 = 90 * MIB;
/// Maximum memory growth in MiB.
const MAX_GROWTH: u64 = 512;
/// Timeout of a request.
const PATIENCE: Duration = Duration::from_secs(180);

pub(crate) async fn run() -> Result<()> {
    let site = Site::start().await;
    let unit = "<p>words of a page that is larger than any other</p>\n";
    let body = Body::repeat("<html><body>", unit, BODY / unit.len() as u64, "");
    site.others(move |_| Some(Reply { body: body.clone(), ..Reply::default() }.header("content-type", "text/html")));
    let large = ["fetch.max_raw_mib", "fetch.max_decoded_mib"].map(|key| (key, "100".to_owned()));
    let server = super::installation(site.addr())?.set_all(large).server()?;
    let addr = server.addr();
    let team = Team::new(addr, "large", 1000).await?;
    let small = json!({"url": site.url("/small").to_string(), "formats": ["links"], "timeout": 1000});
    // Warm-up: memory of a first request is allocated before the measurement.
    let _ = team.post(addr, "/v2/scrape", &small).await;
    let (started, memory) = (Instant::now(), server.watch_memory());
    let mut scrapes = tokio::task::JoinSet::new();
    for number in 0..TOGETHER {
        let url = site.url(&format!("/body/{number}")).to_string();
        let json = json!({"url": url, "formats": ["rawHtml"], "maxAge": 0, "storeInCache": false, "timeout": 120_000});
        scrapes.spawn(status(addr, raw::post(addr, "/v2/scrape", &team.key, &json)));
    }
    let mut answers = Vec::new();
    while let Some(answer) = scrapes.join_next().await {
        answers.push(answer??);
    }
    let growth = memory.finish().await;
    let fine = answers.iter().filter(|(status, length)| *status == 200 && *length > BODY).count();
    say!(
        "{TOGETHER} pages of {} MiB at once: {fine} answered with all of it ({:?}), in {:.1} s, memory +{growth} MiB",
        BODY / MIB,
        answers.iter().map(|(status, _)| status).collect::<Vec<_>>(),
        started.elapsed().as_secs_f64()
    );
    ensure!(fine > 0, "no page was answered");
    ensure!(growth <= MAX_GROWTH, "it may grow by {MAX_GROWTH} MiB");
    Ok(())
}

/// Sends a request, and returns the status and the length of its answer, which is discarded.
async fn status(addr: SocketAddr, request: Vec<u8>) -> Result<(u16, u64)> {
    let work = async {
        let mut stream = TcpStream::connect(addr).await?;
        stream.write_all(&request).await?;
        let (mut head, mut piece, mut length) = (Vec::new(), vec![0; 256 * 1024], 0);
        loop {
            let read = stream.read(&mut piece).await?;
            if read == 0 {
                break;
            }
            let missing = 12_usize.saturating_sub(head.len()).min(read);
            head.extend_from_slice(&piece[..missing]);
            length += read as u64;
        }
        let status = String::from_utf8_lossy(&head).split(' ').nth(1).and_then(|status| status.parse().ok());
        Ok((status.context("no status")?, length))
    };
    tokio::time::timeout(PATIENCE, work).await.context("no answer")?
}
