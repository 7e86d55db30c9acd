//! Settings of the browser: section `browser`.

use std::path::PathBuf;
use std::time::Duration;

use base::setting;
use serde::{Deserialize, Deserializer};
use url::Url;

/// Settings of section `browser`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Whether pages are visited in a browser. Default: on.
    pub enabled: bool,
    /// Path of the program: `chromium-headless-shell` or `chromium` itself, not a script that starts it. Default: none,
    /// which means the usual paths of the distributions.
    #[serde(deserialize_with = "setting::path")]
    pub path: Option<PathBuf>,
    /// Maximum number of browsers. Default: 1.
    #[serde(deserialize_with = "setting::positive")]
    pub processes: u16,
    /// Maximum number of concurrent visits per browser. Default: 4.
    #[serde(deserialize_with = "setting::positive")]
    pub contexts: u16,
    /// Maximum number of visits that wait for a slot. Default: 64.
    pub waiting: u16,
    /// Number of visits after which a browser is replaced. Default: 200.
    #[serde(deserialize_with = "setting::positive")]
    pub max_pages: u32,
    /// Age at which a browser is replaced. Default: 30 minutes.
    #[serde(rename = "max_age_s", deserialize_with = "setting::some_seconds")]
    pub max_age: Duration,
    /// Memory limit in bytes of a browser with all its processes, above which it is replaced; above twice the limit it
    /// is killed. 0 means no limit. Default: 1500 MiB.
    #[serde(rename = "max_memory_mib", deserialize_with = "setting::any_mib")]
    pub max_memory: u64,
    /// Memory limit in bytes of one page, above which it is killed. 0 means no limit. Default: 1000 MiB.
    #[serde(rename = "max_page_memory_mib", deserialize_with = "setting::any_mib")]
    pub max_page_memory: u64,
    /// Time for which pages of a noisy site or team are visited in a separate browser. 0 means never. Default: 10
    /// minutes.
    #[serde(rename = "aside_s", deserialize_with = "setting::seconds")]
    pub aside: Duration,
    /// Idle timeout of a browser without visits. Default: 60 s.
    #[serde(rename = "idle_s", deserialize_with = "setting::seconds")]
    pub idle: Duration,
    /// Whether Chromium's sandbox is used. Default: on.
    pub sandbox: Sandbox,
    /// User that browsers run as if the service runs as root: a name, `uid` or `uid:gid`. Default: `nobody`.
    pub user: String,
    /// Time for which the page of a scrape is held open for clients that resume it. Default: 30 s.
    #[serde(rename = "hold_s", deserialize_with = "setting::seconds")]
    pub hold: Duration,
    /// Folder of ad-blocking filter lists (`*.txt`), in addition to the short built-in list. Default: none.
    #[serde(deserialize_with = "setting::path")]
    pub lists: Option<PathBuf>,
    /// Addresses, http or https, from which the operator downloads such lists; browsers never do. Default: EasyList,
    /// EasyPrivacy and a list of consent notices.
    #[serde(deserialize_with = "web_addresses")]
    pub list_urls: Vec<Url>,
}

const LIST_URLS: [&str; 3] = [
    "https://easylist.to/easylist/easylist.txt",
    "https://easylist.to/easylist/easyprivacy.txt",
    "https://secure.fanboy.co.nz/fanboy-cookiemonster.txt",
];

/// Whether Chromium's sandbox is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sandbox {
    /// The sandbox is used, like `on`.
    #[default]
    Auto,
    /// The sandbox is used; no browser starts without it.
    On,
    /// The sandbox is disabled: a page that breaks out of its renderer has all rights of the browser's user.
    Off,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            path: None,
            processes: 1,
            contexts: 4,
            waiting: 64,
            max_pages: 200,
            max_age: Duration::from_secs(30 * 60),
            max_memory: 1500 << 20,
            max_page_memory: 1000 << 20,
            aside: Duration::from_secs(10 * 60),
            idle: Duration::from_secs(60),
            sandbox: Sandbox::Auto,
            user: "nobody".to_owned(),
            hold: Duration::from_secs(30),
            lists: None,
            list_urls: LIST_URLS.iter().filter_map(|url| url.parse().ok()).collect(),
        }
    }
}

fn web_addresses<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<Url>, D::Error> {
    setting::each(input, |item| match item.parse::<Url>() {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
        _ => Err(format!("{item}: expected an address such as https://easylist.to/easylist/easylist.txt")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_from_the_web() {
        assert_eq!(Settings::default().list_urls.len(), LIST_URLS.len());
        let read = |url: &str| serde_json::from_str::<Settings>(&format!(r#"{{"list_urls": ["{url}"]}}"#));
        assert_eq!(read("http://lists.lan/a.txt").unwrap().list_urls[0].host_str(), Some("lists.lan"));
        for bad in ["file:///etc/passwd", "lists.lan/a.txt", "data:,x"] {
            let refused = read(bad).unwrap_err().to_string();
            assert!(refused.contains(bad) && refused.contains("expected an address"), "{refused}");
        }
    }
}
