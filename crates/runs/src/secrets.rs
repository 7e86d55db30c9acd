//! Secrets of a request: user names, passwords and header values. They are removed from the request before it is
//! stored, kept in a table of their own that no answer reads, and deleted when the job ends.

use std::collections::BTreeMap;

use base::Secret;
use base::address::BasicAuth;
use kernel::credentials;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;
use wire::{WebhookConfig, without_userinfo};

/// Mask shown in place of a secret value.
const MASK: &str = "***";

/// Secrets of one request. Has no `Debug`, so that they cannot be logged.
#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Secrets {
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
    /// Moves the secrets out of the parts of a request. Those of single pages are stored with [`of_page`].
    pub fn take(
        url: Option<&mut Url>,
        headers: &mut BTreeMap<String, String>,
        webhook: Option<&mut WebhookConfig>,
    ) -> Self {
        let user = url.and_then(credentials::take).map(User::from);
        let mut secrets = Self { user, headers: masked(headers), ..Self::default() };
        if let Some(hook) = webhook {
            secrets.hook_user = credentials::take(&mut hook.url).map(User::from);
            secrets.hook_headers = masked(&mut hook.headers);
        }
        secrets
    }

    /// Restores the parts of a request, and returns the credentials from its URL.
    pub fn put_back(
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
    pub fn text(&self) -> Option<Secret> {
        let json = serde_json::to_string(self).ok().filter(|_| *self != Self::default());
        json.map(Secret::new)
    }

    /// Parses the output of [`Secrets::text`]; without it there are no secrets.
    ///
    /// # Errors
    /// A text that [`Secrets::text`] has not written.
    pub fn read(text: Option<&Secret>) -> Result<Self, serde_json::Error> {
        text.map_or_else(|| Ok(Self::default()), |text| serde_json::from_str(text.expose()))
    }
}

/// Serialises the credentials from the URL of one page for the table.
pub fn of_page(user: BasicAuth) -> Option<Secret> {
    serde_json::to_string(&User::from(user)).ok().map(Secret::new)
}

/// Parses the output of [`of_page`].
pub(crate) fn page(text: &Secret) -> Result<BasicAuth, serde_json::Error> {
    serde_json::from_str::<User>(text.expose()).map(BasicAuth::from)
}

/// Masks the header values of a request and removes passwords from its URLs, so that it can be shown to its owner.
pub fn hide(request: &mut Value) {
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
    fn from(user: BasicAuth) -> Self {
        let (name, password) = user;
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

    fn hook() -> WebhookConfig {
        let hook = json!({ "url": "https://you:hush4@hook.test/", "headers": { "Authorization": "hush5" } });
        wire::decode_webhook(&wire::event::CRAWL, hook).unwrap()
    }

    #[test]
    fn what_is_taken_is_masked_and_comes_back() {
        let (mut url, mut hook) = (Url::parse("http://me:hush1%40@a.test/x").unwrap(), hook());
        let mut headers = BTreeMap::from([("Cookie".to_owned(), "hush2".to_owned())]);
        let given = (headers.clone(), hook.clone());
        let text = Secrets::take(Some(&mut url), &mut headers, Some(&mut hook)).text().unwrap();
        let left = format!("{url} {headers:?} {}", serde_json::to_string(&hook).unwrap());
        assert!(!left.contains("hush") && left.contains("Cookie") && left.contains(MASK), "{left}");
        let user = Secrets::read(Some(&text)).unwrap().put_back(&mut headers, Some(&mut hook)).unwrap();
        assert_eq!((user.0.as_str(), user.1.expose()), ("me", "hush1@"));
        assert!((headers, hook) == given, "headers and webhook are as they were given");
        assert!(Secrets::take(None, &mut BTreeMap::new(), None).text().is_none());
        assert!(Secrets::read(None).unwrap().put_back(&mut BTreeMap::new(), None).is_none());
    }

    #[test]
    fn credentials_of_a_page_are_read_again() {
        let (name, password) = page(&of_page(("n".to_owned(), Secret::new("p"))).unwrap()).unwrap();
        assert_eq!((name.as_str(), password.expose()), ("n", "p"));
    }
}
