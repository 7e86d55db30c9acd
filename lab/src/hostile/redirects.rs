//! `redirect_chain` of a page in the case file: a chain of redirects, each to a URL of its own.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use testkit::Reply;

use super::case::Object;
use super::traps::Maker;

/// Maximum length of a chain.
const MAX_HOPS: u64 = 100_000;
/// Known members of such a page.
const KNOWN: &[&str] = &["body", "headers", "path", "redirect_chain", "status"];

/// Returns the pages of `{"path": "/r", "redirect_chain": 3}`: `/r`, `/r/1` and `/r/2` redirect with `status` (302 by
/// default), and `/r/3` answers with `body`. `None` for any other page.
pub(crate) fn chain(page: &Object) -> Result<Option<Maker>> {
    let Some(hops) = page.get("redirect_chain") else { return Ok(None) };
    if let Some(key) = page.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        bail!("{key} is not known beside redirect_chain");
    }
    let hops = hops.as_u64().filter(|hops| (1..=MAX_HOPS).contains(hops));
    let hops = hops.with_context(|| format!("redirect_chain is no number of 1 to {MAX_HOPS}"))?;
    let text = |key: &str| page.get(key).and_then(Value::as_str);
    let path = text("path").context("redirect_chain needs a path")?.to_owned();
    let status = page.get("status").map_or(Some(302), Value::as_u64).and_then(|status| u16::try_from(status).ok());
    let status = status.context("status is no status")?;
    ensure!((300..400).contains(&status), "{status} is no redirect");
    let body = text("body").unwrap_or("<h1>The end</h1><p>The end of the chain of redirects.</p>").to_owned();
    let headers = headers(page)?;
    Ok(Some(Box::new(move |seen| {
        let seen_path = seen.path.split('?').next().unwrap_or_default();
        let hop = number(seen_path.strip_prefix(path.as_str())?)?;
        let reply = match hop {
            hop if hop < hops => Reply { status, headers: headers.clone(), ..Reply::default() }
                .header("Location", &format!("{}/{}", path.trim_end_matches('/'), hop + 1)),
            hop if hop == hops => {
                Reply { body: body.clone().into(), ..Reply::default() }.header("Content-Type", "text/html")
            }
            _ => return None,
        };
        Some(reply)
    })))
}

fn headers(page: &Object) -> Result<Vec<(String, String)>> {
    let given = page.get("headers").and_then(Value::as_object).into_iter().flatten();
    given.map(|(name, value)| Ok((name.clone(), value.as_str().context("a header is no text")?.to_owned()))).collect()
}

/// Parses the number of the hop from the rest of the path.
fn number(rest: &str) -> Option<u64> {
    let rest = rest.trim_start_matches('/');
    if rest.is_empty() { Some(0) } else { rest.parse().ok() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use testkit::Seen;

    use super::*;

    fn of(page: &Value) -> Result<Option<Maker>> {
        chain(page.as_object().unwrap())
    }

    #[test]
    fn every_hop_is_an_address_of_its_own() {
        for path in ["/r", "/"] {
            let page = json!({"path": path, "redirect_chain": 3, "status": 307, "headers": {"Set-Cookie": "a=1"}});
            let maker = of(&page).unwrap().unwrap();
            let mut at = path.to_owned();
            let mut asked = vec![at.clone()];
            let end = loop {
                let reply = maker(&Seen { path: at, ..Seen::default() }).unwrap();
                let location = reply.headers.iter().find(|(name, _)| name == "Location");
                let Some((_, next)) = location else { break reply };
                assert!(reply.status == 307 && reply.headers.iter().any(|(name, _)| name == "Set-Cookie"));
                assert!(!asked.contains(next), "{next} comes twice");
                at = next.clone();
                asked.push(at.clone());
            };
            assert_eq!((asked.len(), end.status), (4, 200));
            for stranger in ["/other", "/r/4", "/r/x"] {
                assert!(maker(&Seen { path: stranger.to_owned(), ..Seen::default() }).is_none(), "{stranger}");
            }
        }
    }

    #[test]
    fn what_is_not_known_is_an_error() {
        assert!(of(&json!({"path": "/"})).unwrap().is_none());
        for odd in [
            json!({"path": "/", "redirect_chain": 0}),
            json!({"path": "/", "redirect_chain": "many"}),
            json!({"redirect_chain": 3}),
            json!({"path": "/", "redirect_chain": 3, "moon": 1}),
            json!({"path": "/", "redirect_chain": 3, "status": 200}),
        ] {
            assert!(of(&odd).is_err(), "{odd}");
        }
    }
}
