//! URLs of results: which may be returned, and in which spelling.

use crawl_frontier::without_tracking;
use url::Url;

/// Maximum length of a URL, in bytes.
const MAX_BYTES: usize = 8192;

/// Reads the URL of a result: absolute, http or https, with a host that pages may be fetched from, without user name and
/// password. Tracking parameters and text fragments are removed. `None` for all others.
pub(crate) fn place(text: &str, pages: &net::Client) -> Option<Url> {
    let text = text.trim();
    if text.len() > MAX_BYTES {
        return None;
    }
    let mut url = Url::parse(text).ok()?;
    let has_credentials = !url.username().is_empty() || url.password().is_some();
    if has_credentials || pages.check(&url).is_err() {
        return None;
    }
    without_tracking(&mut url);
    // A text fragment names words to highlight, after an ordinary fragment or alone.
    if let Some(at) = url.fragment().and_then(|fragment| fragment.find(":~:")) {
        let before = url.fragment().unwrap_or_default()[..at].to_owned();
        url.set_fragment(Some(before.as_str()).filter(|before| !before.is_empty()));
    }
    Some(url)
}

/// Whether a URL is that of a file type, such as `pdf`: by its extension, a folder of that name, or a file in its query.
pub(crate) fn has_type(url: &Url, file_type: &str) -> bool {
    let path = url.path().to_ascii_lowercase();
    let ends = |text: &str| text.strip_suffix(file_type).is_some_and(|rest| rest.ends_with('.'));
    if ends(path.trim_end_matches('/')) || path.split('/').any(|segment| segment == file_type) {
        return true;
    }
    url.query_pairs().any(|(_, value)| ends(&value.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_public_pages() {
        let egress = net::Egress { allow: vec!["127.0.0.1:18310".parse().unwrap()], ..net::Egress::default() };
        let pages = net::Client::new(net::Config { egress, ..net::Config::default() }).unwrap();
        for (text, expect) in [
            ("http://a.test/p?utm_source=z&x=1#y", Some("http://a.test/p?x=1#y")),
            (" https://a.test/?fbclid=1 ", Some("https://a.test/")),
            ("https://a.test/#:~:text=hello", Some("https://a.test/")),
            ("https://a.test/#part:~:text=hello", Some("https://a.test/#part")),
            ("http://127.0.0.1:18310/r1", Some("http://127.0.0.1:18310/r1")),
            ("http://127.0.0.1:18311/r1", None),
            ("javascript:alert(1)", None),
            ("file:///etc/passwd", None),
            ("data:text/html,x", None),
            ("ftp://a.test/", None),
            ("http://169.254.169.254/latest/", None),
            ("http://2130706433/", None),
            ("http://[::1]/", None),
            ("http://localhost/", None),
            ("http://user:pass@host.test/", None),
            ("not a url", None),
            ("/relative", None),
            ("", None),
        ] {
            assert_eq!(place(text, &pages).as_ref().map(Url::as_str), expect, "{text}");
        }
        assert_eq!(place(&format!("https://a.test/{}", "a".repeat(9000)), &pages), None);
    }

    #[test]
    fn file_types_of_urls() {
        for (url, expect) in [
            ("https://a.test/x.pdf", true),
            ("https://a.test/X.PDF?download=1", true),
            ("https://arxiv.org/pdf/1706.03762v7", true),
            ("https://a.test/get?file=report.pdf", true),
            ("https://a.test/pdf-tools", false),
            ("https://a.test/x.pdf.html", false),
            ("https://a.test/x", false),
        ] {
            assert_eq!(has_type(&url.parse().unwrap(), "pdf"), expect, "{url}");
        }
    }
}
