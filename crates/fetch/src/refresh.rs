//! The `Refresh` header, a redirect like `<meta http-equiv=refresh>` (HTML standard, "shared declarative refresh
//! steps").

use std::time::Duration;

use url::Url;

/// Longest delay that counts as an immediate redirect.
const AT_ONCE: Duration = Duration::from_secs(1);
/// Longest delay that is followed for a page with only a few words, such as "You are being redirected".
const SOON: Duration = Duration::from_secs(10);
/// Largest body, in bytes, that counts as a few words.
const SMALL: usize = 4096;

/// Returns the target of the `Refresh` header of the page at `url`; `bytes` is the length of the body. `None` if the
/// header names no other `http` or `https` address, or leaves the visitor time to read the page first.
pub(crate) fn target(header: &str, url: &Url, bytes: usize) -> Option<Url> {
    let header = header.trim();
    let seconds = header.len() - header.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let delay = match &header[..seconds] {
        "" if header.starts_with('.') => Duration::ZERO,
        digits => Duration::from_secs(digits.parse().ok()?),
    };
    if delay > SOON || delay > AT_ONCE && bytes > SMALL {
        return None;
    }
    let rest = header[seconds..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim_start();
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_start();
    let link = address(rest).trim();
    let mut target = url.join(link).ok().filter(|target| matches!(target.scheme(), "http" | "https"))?;
    base::address::cut_credentials(&mut target);
    let bare = |url: &Url| {
        let mut url = url.clone();
        url.set_fragment(None);
        url
    };
    (!link.is_empty() && bare(&target) != bare(url)).then_some(target)
}

/// Returns the address in `url = "/x"`; the `url =` is optional.
fn address(text: &str) -> &str {
    let named = text.get(..3).filter(|word| word.eq_ignore_ascii_case("url")).and_then(|_| {
        let rest = text[3..].trim_start();
        rest.strip_prefix('=').map(str::trim_start)
    });
    let text = named.unwrap_or(text);
    match text.strip_prefix(['\'', '"']) {
        Some(rest) => rest.split(&text[..1]).next().unwrap_or_default(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_lead_on() {
        let url = Url::parse("https://a.test/d/p").unwrap();
        let check = |header: &str, bytes, expect: Option<&str>| {
            assert_eq!(target(header, &url, bytes).as_ref().map(Url::as_str), expect, "{header}");
        };
        check("0; url=/goal", 100_000, Some("https://a.test/goal"));
        check("0;URL='g?a=\"b\"'", 0, Some("https://a.test/d/g?a=%22b%22"));
        check("1, https://u:p@b.test/x", 9_000, Some("https://b.test/x"));
        check(".5 Url = \"/x\" y", 0, Some("https://a.test/x"));
        check("5; url=/goal", 40, Some("https://a.test/goal"));
        check("5; url=/goal", 9_000, None);
        for none in [
            "",
            "5",
            "0",
            "0;",
            "0; url=",
            "0; url=p",
            "0; url=#x",
            "300; url=/x",
            "x; url=/y",
            "0; url=javascript:x",
            "-1; /x",
        ] {
            check(none, 0, None);
        }
    }
}
