//! Limits on the requests, addresses and headers of a page, for the benefit of others who share its browser.

use std::sync::atomic::{AtomicU64, Ordering};

use cdp::{CdpError, Event};
use serde_json::Value;

/// Maximum number of requests and sockets per visit: five times that of the busiest pages.
const MAX_REQUESTS: u64 = 10_000;
/// Maximum size of addresses and headers per visit, in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// Maximum size of one address, in bytes. Browsers show at most 64 KiB, and few servers accept that much.
const MAX_ADDRESS: u64 = 256 << 10;

/// Counters of a page.
#[derive(Default)]
pub(super) struct Noise {
    requests: AtomicU64,
    bytes: AtomicU64,
    /// Limit in visits; 0 means no limit.
    visits: AtomicU64,
}

impl Noise {
    /// Sets the limit in visits; 0 means no limit.
    pub(super) fn allow(&self, visits: u64) {
        self.visits.store(visits, Ordering::Relaxed);
    }

    /// Counts an event, and returns an error if a limit is exceeded.
    pub(super) fn count(&self, event: &Event) -> Option<CdpError> {
        let visits = self.visits.load(Ordering::Relaxed);
        if visits == 0 {
            return None;
        }
        let told = Told::of(event)?;
        let bytes = self.bytes.fetch_add(told.address + told.headers, Ordering::Relaxed) + told.address + told.headers;
        let one = u64::from(told.is_request);
        let requests = self.requests.fetch_add(one, Ordering::Relaxed) + one;
        let over =
            |what: &'static str, found: u64, limit: u64| (found > limit).then_some(CdpError::Noisy { what, limit });
        let address = if told.is_data { 0 } else { told.address };
        over("requests of the page", requests, MAX_REQUESTS * visits)
            .or_else(|| over("bytes of an address of the page", address, MAX_ADDRESS))
            .or_else(|| over("bytes of addresses and headers of the page", bytes, MAX_BYTES * visits))
    }
}

/// Counted parts of an event.
struct Told {
    is_request: bool,
    /// Whether the address is a `data:` address, which contains the resource itself.
    is_data: bool,
    address: u64,
    headers: u64,
}

impl Told {
    fn of(event: &Event) -> Option<Self> {
        let params = &event.params;
        let (is_request, address, headers) = match event.method.as_str() {
            "Network.requestWillBeSent" => (true, &params["request"]["url"], Some(&params["request"]["headers"])),
            "Network.webSocketCreated" => (true, &params["url"], None),
            "Network.responseReceived" => (false, &params["response"]["url"], Some(&params["response"]["headers"])),
            "Network.requestWillBeSentExtraInfo" | "Network.responseReceivedExtraInfo" => {
                (false, &Value::Null, Some(&params["headers"]))
            }
            "Page.navigatedWithinDocument" | "Page.windowOpen" => (false, &params["url"], None),
            "Page.frameNavigated" => (false, &params["frame"]["url"], None),
            _ => return None,
        };
        let address = address.as_str().unwrap_or_default();
        let is_data = address.starts_with("data:");
        let headers = headers.and_then(Value::as_object).into_iter().flatten();
        let headers = headers.map(|(name, value)| name.len() + value.as_str().map_or(0, str::len)).sum::<usize>();
        Some(Self {
            is_request: is_request && !is_data,
            is_data,
            address: address.len() as u64,
            headers: headers as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(method: &str, params: Value) -> Event {
        Event { method: method.to_owned(), params, session: None }
    }

    fn noise() -> Noise {
        let noise = Noise::default();
        noise.allow(1);
        noise
    }

    #[test]
    fn requests_addresses_and_headers_are_bounded() {
        let asked = event("Network.requestWillBeSent", json!({"request": {"url": "http://a.test/", "headers": {}}}));
        let many = noise();
        assert!((0..MAX_REQUESTS).all(|_| many.count(&asked).is_none()));
        let over = CdpError::Noisy { what: "requests of the page", limit: MAX_REQUESTS };
        assert_eq!(many.count(&asked), Some(over));
        many.allow(20);
        assert_eq!(many.count(&asked), None);
        let moved = |length: usize| event("Page.navigatedWithinDocument", json!({"url": "x".repeat(length)}));
        assert_eq!(noise().count(&moved(200 << 10)), None);
        assert!(matches!(noise().count(&moved(300 << 10)), Some(CdpError::Noisy { .. })));
        let answered = json!({"response": {"url": "", "headers": {"a": "x".repeat(1 << 20)}}});
        let (heavy, answered) = (noise(), event("Network.responseReceived", answered));
        assert!((0..63).all(|_| heavy.count(&answered).is_none()));
        assert!(heavy.count(&answered).is_some());
    }

    #[test]
    fn what_is_in_the_page_is_no_request_and_has_no_address() {
        let url = format!("data:image/png;base64,{}", "x".repeat(1 << 20));
        let shown = event("Network.requestWillBeSent", json!({"request": {"url": url, "headers": {}}}));
        let noise = noise();
        assert!((0..20).all(|_| noise.count(&shown).is_none()));
        assert_eq!(noise.requests.load(Ordering::Relaxed), 0);
        let alone = Noise::default();
        assert!((0..100).all(|_| alone.count(&shown).is_none()));
    }
}
