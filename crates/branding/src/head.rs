//! Branding in the HTML itself: name, colours, icons, preview image, logo.

use page::{Index, Page, absolute, local_name};
use serde_json::Value;
use url::Url;

use crate::color::Color;

/// Limit on JSON-LD, in bytes.
const MAX_JSON: usize = 256 * 1024;
/// Limit on the entries of JSON-LD.
const MAX_ENTRIES: usize = 500;
/// Limit on a name, in characters.
const MAX_NAME: usize = 80;
/// Number of ancestors of a picture that are searched for a name.
const MAX_ABOVE: usize = 3;
/// Separators between the title of a page and the name of its site.
const SEPARATORS: [&str; 9] = [" | ", " - ", " – ", " — ", " · ", " • ", " :: ", " » ", ": "];

/// Branding in the HTML itself.
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub(crate) brand_name: Option<String>,
    /// `<meta name=theme-color>` for a light scheme.
    pub(crate) theme_color: Option<Color>,
    /// `<meta name=color-scheme>`.
    pub(crate) color_scheme: Option<String>,
    pub(crate) favicon: Option<String>,
    pub(crate) touch_icon: Option<String>,
    pub(crate) og_image: Option<String>,
    pub(crate) logo: Option<String>,
}

/// Candidates collected while the page is read.
#[derive(Default)]
struct HeadCandidates {
    head: Head,
    other_icon: Option<String>,
    site_name: Option<String>,
    application: Option<String>,
    organization: Option<String>,
    title: Option<String>,
    pictured: Option<(u32, String)>,
    entries: usize,
    json: usize,
}

impl Head {
    pub(crate) fn read(page: &Page) -> Head {
        let mut found = HeadCandidates::default();
        for index in page.positions() {
            match page.name(index) {
                Some(&local_name!("meta")) => found.meta(page, index),
                Some(&local_name!("link")) => found.link(page, index),
                Some(&local_name!("script")) => found.script(page, index),
                Some(&local_name!("title")) if found.title.is_none() => found.title = name(&page.text_of(index)),
                Some(&local_name!("img")) => found.picture(page, index),
                _ => {}
            }
        }
        let HeadCandidates { mut head, other_icon, site_name, application, organization, title, pictured, .. } = found;
        let from_title = title.and_then(|title| name_in_title(&title, page.url()));
        head.brand_name = site_name.or(organization).or(application).or(from_title);
        head.favicon = head.favicon.or(other_icon);
        head.logo = head.logo.or(pictured.map(|(_, url)| url));
        head
    }
}

impl HeadCandidates {
    fn meta(&mut self, page: &Page, index: Index) {
        let Some(content) = page.attr(index, "content") else { return };
        let key = ["property", "name", "itemprop"].iter().find_map(|attribute| page.attr(index, attribute));
        let Some(key) = key.map(|key| key.trim().to_ascii_lowercase()) else { return };
        let url = || address(page, &content);
        let is_dark = page.attr(index, "media").is_some_and(|media| media.contains("dark"));
        match key.as_str() {
            "theme-color" if !is_dark => set(&mut self.head.theme_color, Color::parse(&content)),
            "color-scheme" => set(&mut self.head.color_scheme, Some(content.to_ascii_lowercase())),
            "og:image" | "og:image:url" | "og:image:secure_url" => set(&mut self.head.og_image, url()),
            "og:logo" | "logo" => set(&mut self.head.logo, url()),
            "og:site_name" => set(&mut self.site_name, name(&content)),
            "application-name" | "apple-mobile-web-app-title" => set(&mut self.application, name(&content)),
            _ => {}
        }
    }

    fn link(&mut self, page: &Page, index: Index) {
        let (Some(rel), Some(href)) = (page.attr(index, "rel"), page.attr(index, "href")) else { return };
        let rel = rel.to_ascii_lowercase();
        let place = if rel.split_ascii_whitespace().any(|word| word == "icon") {
            &mut self.head.favicon
        } else if rel.contains("apple-touch-icon") {
            &mut self.head.touch_icon
        } else if rel.contains("icon") {
            &mut self.other_icon
        } else {
            return;
        };
        set(place, address(page, &href));
    }

    fn script(&mut self, page: &Page, index: Index) {
        let is_data =
            page.attr(index, "type").is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/ld+json"));
        if !is_data || (self.organization.is_some() && self.head.logo.is_some()) {
            return;
        }
        let text = page.text_of(index);
        self.json = self.json.saturating_add(text.len());
        if self.json > MAX_JSON {
            return;
        }
        let Ok(data) = serde_json::from_str::<Value>(&text) else { return };
        self.entry(page, &data, 0);
    }

    /// Reads an entry of JSON-LD: alone, in a list, in `@graph`, or as the publisher of another one.
    fn entry(&mut self, page: &Page, data: &Value, depth: usize) {
        self.entries += 1;
        if depth > 4 || self.entries > MAX_ENTRIES {
            return;
        }
        if let Some(list) = data.as_array() {
            list.iter().for_each(|entry| self.entry(page, entry, depth + 1));
        }
        let kinds = match &data["@type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            kind => kind.as_str().into_iter().collect::<Vec<_>>(),
        };
        if kinds.iter().any(|kind| is_organization(kind)) {
            set(&mut self.organization, data["name"].as_str().and_then(name));
            let logo = &data["logo"];
            let logo = logo.as_str().or(logo["url"].as_str()).or(logo["contentUrl"].as_str());
            set(&mut self.head.logo, logo.and_then(|logo| address(page, logo)));
        } else if kinds.contains(&"WebSite") {
            set(&mut self.site_name, data["name"].as_str().and_then(name));
        }
        for inside in ["@graph", "publisher", "isPartOf"] {
            if !data[inside].is_null() {
                self.entry(page, &data[inside], depth + 1);
            }
        }
    }

    /// Considers a picture that is called a logo or links to the home page. The highest score wins, then the first.
    fn picture(&mut self, page: &Page, index: Index) {
        let says = |index: Index| {
            ["class", "id", "alt", "src", "itemprop"].iter().any(|n| page.attr(index, n).is_some_and(|v| is_logo(&v)))
        };
        let above = || page.ancestors(index).take(MAX_ABOVE);
        let hint = u32::from(says(index)) * 2 + u32::from(above().any(says));
        let home = above().filter_map(|i| page.attr(i, "href")).any(|href| is_home(page, &href));
        let score = hint + u32::from(home) * 2;
        if hint == 0 && !home || self.pictured.as_ref().is_some_and(|(best, _)| *best >= score) {
            return;
        }
        let source = ["src", "data-src"].iter().find_map(|name| address(page, &page.attr(index, name)?));
        if let Some(url) = source {
            self.pictured = Some((score, url));
        }
    }
}

fn set<T>(place: &mut Option<T>, value: Option<T>) {
    if place.is_none() {
        *place = value;
    }
}

fn address(page: &Page, link: &str) -> Option<String> {
    let url = absolute(page.base(), link)?;
    matches!(url.scheme(), "http" | "https").then(|| url.into())
}

fn is_organization(kind: &str) -> bool {
    ["Organization", "Corporation", "LocalBusiness", "Brand", "Store", "Restaurant", "SoftwareApplication"]
        .iter()
        .any(|word| kind.ends_with(word))
}

/// Whether a class, a label or a URL names a logo.
pub(crate) fn is_logo(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("logo") && !text.contains("logos") && !text.contains("logout") && !text.contains("partner")
        || text.split([' ', '-', '_']).any(|word| word == "brand")
}

fn is_home(page: &Page, href: &str) -> bool {
    let Some(url) = absolute(page.base(), href) else { return false };
    url.origin() == page.url().origin() && matches!(url.path(), "/" | "/index.html") && url.query().is_none()
}

/// Cleans a name for display; `None` if nothing is left of it.
pub(crate) fn name(text: &str) -> Option<String> {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let clean: String = words.chars().filter(|c| !c.is_control() && !is_direction(*c)).take(MAX_NAME).collect();
    let clean = clean.trim();
    (!clean.is_empty()).then(|| clean.to_owned())
}

/// Whether a character is an invisible control of text direction or width.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}'..='\u{200f}')
}

/// Returns the part of a title that names the site: the one that appears in the host name, else the last one if it is
/// short.
fn name_in_title(title: &str, url: &Url) -> Option<String> {
    let parts = title_parts(title);
    let host = url.host_str().unwrap_or_default();
    let plain = |part: &str| part.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let in_host = parts.iter().find(|part| {
        let part = plain(part);
        part.len() >= 3 && plain(host).contains(&part)
    });
    let last = parts.last().filter(|part| part.split_whitespace().count() <= if parts.len() > 1 { 5 } else { 3 });
    in_host.or(last).and_then(|part| name(part))
}

fn title_parts(title: &str) -> Vec<&str> {
    SEPARATORS
        .iter()
        .fold(vec![title], |parts, separator| parts.into_iter().flat_map(|part| part.split(separator)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(html: &str) -> Head {
        Head::read(&Page::parse(html, &Url::parse("https://docs.acme.test/guide/").unwrap()))
    }

    #[test]
    fn names() {
        let check = |html: &str, name: Option<&str>| assert_eq!(head(html).brand_name.as_deref(), name, "{html}");
        check("<title>Install - Acme Docs</title>", Some("Acme Docs"));
        check("<title>Acme | All that you need for a good day</title>", Some("Acme"));
        check("<title>How to install it on a machine</title>", None);
        check("<title>x</title><meta name=application-name content='App'>", Some("App"));
        check("<meta property=og:site_name content=' A\u{202e}\n B '>", Some("A B"));
        check(
            "<script type='application/ld+json'>{\"@type\": \"Organization\", \"name\": \"Org\"}</script>",
            Some("Org"),
        );
        check(
            "<script type='application/ld+json'>[{\"@graph\": [{\"publisher\": {\"@type\": [\"NewsMediaOrganization\"], \"name\": \"P\"}}]}]</script>",
            Some("P"),
        );
        check("<script type='application/ld+json'>{</script>", None);
        check("<title> </title>", None);
    }

    #[test]
    fn pictures() {
        let found = head(
            "<link rel='shortcut icon' href=/f.ico><link rel=apple-touch-icon href=t.png><link rel=mask-icon href=m.svg>
             <meta property=og:image content=og.png><meta name=theme-color media='(prefers-color-scheme: dark)' content=#000>
             <meta name=theme-color content='#336699'><meta name=color-scheme content='Light Dark'>
             <img src=a.png><header><a href=/><img src='data:,x'><img src=home.png></a><img src=logo.svg class=site-logo></header>",
        );
        assert_eq!(found.favicon.as_deref(), Some("https://docs.acme.test/f.ico"));
        assert_eq!(found.touch_icon.as_deref(), Some("https://docs.acme.test/guide/t.png"));
        assert_eq!(found.og_image.as_deref(), Some("https://docs.acme.test/guide/og.png"));
        assert_eq!(found.theme_color.map(Color::hex).as_deref(), Some("#336699"));
        assert_eq!(found.color_scheme.as_deref(), Some("light dark"));
        assert_eq!(found.logo.as_deref(), Some("https://docs.acme.test/guide/home.png"));
        let logo = |html: &str| head(html).logo.map(|url| url.replace("https://docs.acme.test/", "/"));
        assert_eq!(logo("<a href=/x class=navbar-brand><img src=/b.png></a>").as_deref(), Some("/b.png"));
        assert_eq!(logo("<div class=client-logos><img src=/b.png></div>"), None);
        let data = "<script type='application/ld+json'>{\"@type\": \"Organization\", \"logo\": {\"url\": \"/l.png\"}}</script>";
        assert_eq!(logo(&format!("<img class=logo src=/x.png>{data}")).as_deref(), Some("/l.png"));
        assert_eq!(logo("<img class=logo src='javascript:x'>"), None);
    }
}
