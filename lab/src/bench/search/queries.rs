//! Queries over the index, by clients at the same time.

use anyhow::Result;
use lab::{Installation, Memory};
use serde_json::json;
use xtask::say;

use super::super::load;
use super::corpus::{Corpus, zipf};
use crate::random::Random;

/// Numbers of clients.
const CLIENTS: [usize; 3] = [1, 8, 64];

/// Prints the latencies of `POST /v2/search` and the memory of the server.
pub(super) async fn run(installation: &Installation, corpus: &Corpus, queries: usize) -> Result<()> {
    let server = installation.clone().set("limits.keyless_per_minute", "0").server()?;
    let idle = server.memory()?.now;
    let address = server.addr().to_string();
    let mut random = Random::new(1);
    load::run(&address, requests(&address, corpus, &mut random, queries / 10 + 1), 1).await?;
    for clients in CLIENTS {
        let before = server.cpu()?;
        let figures = load::run(&address, requests(&address, corpus, &mut random, queries), clients).await?;
        let each = (server.cpu()? - before).as_secs_f64() * 1e3 / queries as f64;
        let ms = |time: std::time::Duration| time.as_secs_f64() * 1e3;
        say!(
            "search, {clients} clients: {:.0} requests/s, p50 {:.2} ms, p99 {:.2} ms, CPU {each:.2} ms each",
            figures.rate,
            ms(figures.p50),
            ms(figures.p99)
        );
    }
    let Memory { now, peak, .. } = server.memory()?;
    say!("memory: {idle:.1} MiB before the first query, {now:.1} MiB after, {peak:.1} MiB at its highest");
    Ok(())
}

/// Returns requests of two to four words.
fn requests(address: &str, corpus: &Corpus, random: &mut Random, count: usize) -> Vec<String> {
    let query = |_| {
        let words = 2 + random.high() as usize % 3;
        let words: Vec<&str> = (0..words).map(|_| zipf(random, &corpus.words)).collect();
        load::post(address, "/v2/search", &json!({ "query": words.join(" "), "limit": 10 }).to_string())
    };
    (0..count).map(query).collect()
}
