//! Secrets of a request: user names, passwords and header values. They are removed from the request before it is
//! stored, kept in a table of their own that no answer reads, and deleted when the job ends.

use std::collections::BTreeMap;

use base::Secret;
use base::address::BasicAuth;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::{BatchRequest, CrawlRequest, WebhookConfig, without_userinfo};

use crate::credentials;

/// Mask shown in place of a secret value.
const MASK: &str = "***";

/// Secrets of one request. Has no `Debug`, so that they cannot be logged.
#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Secrets {
    user: Option<User>,
    headers: BTreeMap<String, String>,
    hook_user: Option<User>,
    hook_headers: BTreeMap<String, String>,
}

#[derive(PartialEq, Serialize, Deserialize)]
struct User {
    name: String,
    password: String,
}

impl Secrets {
    /// Moves the secrets out of the request of a crawl.
    pub(crate) fn of_crawl(request: &mut CrawlRequest) -> Self {
        let user = credentials::take(&mut request.url).map(User::from);
        Self { user, ..Self::of(&mut request.options.scrape_options.headers, request.webhook.as_mut()) }
    }

    /// Moves the secrets out of the request of a batch; those of its pages are stored with [`of_page`].
    pub(crate) fn of_batch(request: &mut BatchRequest) -> Self {
        Self::of(&mut request.options.headers, request.webhook.as_mut())
    }

    fn of(headers: &mut BTreeMap<String, String>, webhook: Option<&mut WebhookConfig>) -> Self {
        let mut secrets = Self { headers: masked(headers), ..Self::default() };
        if let Some(hook) = webhook {
            secrets.hook_user = credentials::take(&mut hook.url).map(User::from);
            secrets.hook_headers = masked(&mut hook.headers);
        }
        secrets
    }

    /// Restores the request of a crawl, and returns the credentials from its URL. Rows of older versions hold the
    /// secrets in the request itself.
    pub(crate) fn into_crawl(self, request: &mut CrawlRequest) -> Option<BasicAuth> {
        let in_url = credentials::take(&mut request.url);
        let user = self.put_back(&mut request.options.scrape_options.headers, request.webhook.as_mut());
        user.or(in_url)
    }

    /// Restores the request of a batch.
    pub(crate) fn into_batch(self, request: &mut BatchRequest) {
        self.put_back(&mut request.options.headers, request.webhook.as_mut());
    }

    fn put_back(
        self,
        headers: &mut BTreeMap<String, String>,
        webhook: Option<&mut WebhookConfig>,
    ) -> Option<BasicAuth> {
        let Self { user, headers: given, hook_user, hook_headers } = self;
        headers.extend(given);
        if let Some(hook) = webhook {
            Self { hook_user, hook_headers, ..Self::default() }.into_webhook(hook);
        }
        user.map(BasicAuth::from)
    }

    /// Restores the webhook of a request.
    pub(crate) fn into_webhook(self, hook: &mut WebhookConfig) {
        hook.headers.extend(self.hook_headers);
        if let Some((name, password)) = self.hook_user.map(BasicAuth::from) {
            credentials::put(&mut hook.url, &name, &password);
        }
    }

    /// Serialises the secrets for the table; `None` when there are none.
    pub(crate) fn text(&self) -> Option<Secret> {
        let json = serde_json::to_string(self).ok().filter(|_| *self != Self::default());
        json.map(Secret::new)
    }

    /// Parses the output of [`Secrets::text`]; without it there are no secrets.
    pub(crate) fn read(text: Option<&Secret>) -> Result<Self, serde_json::Error> {
        text.map_or_else(|| Ok(Self::default()), |text| serde_json::from_str(text.expose()))
    }
}

/// Serialises the credentials from the URL of one page for the table.
pub(crate) fn of_page(user: BasicAuth) -> Option<Secret> {
    serde_json::to_string(&User::from(user)).ok().map(Secret::new)
}

/// Parses the output of [`of_page`].
pub(crate) fn page(text: &Secret) -> Result<BasicAuth, serde_json::Error> {
    serde_json::from_str::<User>(text.expose()).map(BasicAuth::from)
}

/// Masks the header values of a request and removes passwords from its URLs, so that it can be shown to its owner.
pub(crate) fn hide(request: &mut Value) {
    mask_headers(request.pointer_mut("/headers"));
    mask_headers(request.pointer_mut("/scrapeOptions/headers"));
    mask_headers(request.pointer_mut("/webhook/headers"));
    for place in ["/url", "/webhook", "/webhook/url"] {
        if let Some(Value::String(url)) = request.pointer_mut(place) {
            *url = without_userinfo(url);
        }
    }
}

fn mask_headers(headers: Option<&mut Value>) {
    let values = headers.and_then(Value::as_object_mut).into_iter().flatten();
    values.for_each(|(_, value)| *value = MASK.into());
}

/// Returns the headers, and leaves masks in place of their values.
fn masked(headers: &mut BTreeMap<String, String>) -> BTreeMap<String, String> {
    let masks = headers.keys().map(|name| (name.clone(), MASK.to_owned())).collect();
    std::mem::replace(headers, masks)
}

impl From<BasicAuth> for User {
    fn from((name, password): BasicAuth) -> Self {
        Self { name, password: password.expose().to_owned() }
    }
}

impl From<User> for BasicAuth {
    fn from(user: User) -> Self {
        (user.name, Secret::new(user.password))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn crawl() -> CrawlRequest {
        let body = json!({
            "url": "http://me:hush1%40@a.test/x",
            "scrapeOptions": { "headers": { "Cookie": "hush2", "X-Tok": "hush3" } },
            "webhook": { "url": "https://you:hush4@hook.test/", "headers": { "Authorization": "hush5" } },
        });
        wire::decode_crawl(body).unwrap()
    }

    #[test]
    fn nothing_stays_in_the_request_and_all_comes_back() {
        let mut request = crawl();
        let secrets = Secrets::of_crawl(&mut request);
        let written = serde_json::to_string(&request).unwrap();
        assert!(!written.contains("hush") && written.contains("Cookie"), "{written}");
        let text = secrets.text().unwrap();
        let mut again = wire::decode_crawl(serde_json::from_str(&written).unwrap()).unwrap();
        let (name, password) = Secrets::read(Some(&text)).unwrap().into_crawl(&mut again).unwrap();
        assert_eq!((name.as_str(), password.expose()), ("me", "hush1@"));
        let mut given = crawl();
        credentials::take(&mut given.url);
        assert!(again == given, "headers and hook are as they were given");
        assert!(Secrets::of_crawl(&mut CrawlRequest::new("http://a.test/".parse().unwrap())).text().is_none());
    }

    #[test]
    fn rows_of_older_versions_are_read() {
        let mut request = crawl();
        let user = Secrets::read(None).unwrap().into_crawl(&mut request).unwrap();
        assert_eq!((user.0.as_str(), request.url.as_str()), ("me", "http://a.test/x"));
        assert_eq!(request.options.scrape_options.headers["Cookie"], "hush2");
        let mut shown = serde_json::to_value(crawl()).unwrap();
        hide(&mut shown);
        assert!(!shown.to_string().contains("hush"), "{shown}");
        assert_eq!(shown["webhook"]["url"], "https://hook.test/");
    }

    #[test]
    fn a_batch_is_treated_alike() {
        let body =
            json!({ "urls": ["http://a.test/"], "headers": { "Cookie": "hush" }, "webhook": "http://x:hush@h.test/" });
        let mut request = wire::decode_batch(body).unwrap();
        let given = request.clone();
        let text = Secrets::of_batch(&mut request).text().unwrap();
        assert!(!serde_json::to_string(&request).unwrap().contains("hush"));
        Secrets::read(Some(&text)).unwrap().into_batch(&mut request);
        assert!(request == given);
        let (name, password) = page(&of_page(("n".to_owned(), Secret::new("p"))).unwrap()).unwrap();
        assert_eq!((name.as_str(), password.expose()), ("n", "p"));
    }
}
