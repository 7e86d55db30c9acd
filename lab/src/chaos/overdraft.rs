//! `cargo xtask chaos overdraft`: 64 scrapes at once by a team with 10 credits.

use anyhow::{Result, ensure};
use serde_json::json;
use xtask::say;

use crate::made_site::MadeSite;
use crate::team::Team;

pub(crate) async fn run() -> Result<()> {
    let site = MadeSite::start(100).await;
    let server = super::installation(site.addr())?.server()?;
    let addr = server.addr();
    let team = Team::new(addr, "overdraft", 10).await?;
    let scrapes: Vec<_> = (0..64)
        .map(|number| {
            let (team, body) = (team.clone(), json!({ "url": site.url(number), "maxAge": 0 }));
            tokio::spawn(async move { team.post(addr, "/v2/scrape", &body).await.map(|answer| answer.status) })
        })
        .collect();
    let (mut good, mut refused) = (0, 0);
    for scrape in scrapes {
        match scrape.await?? {
            200 => good += 1,
            402 => refused += 1,
            other => anyhow::bail!("a scrape ended with {other}"),
        }
    }
    let left = team.credits(addr).await?;
    say!("64 scrapes on 10 credits: {good} x 200, {refused} x 402, {left} credits left");
    ensure!((good, refused, left) == (10, 54, 0), "it should be 10, 54 and 0");
    Ok(())
}
