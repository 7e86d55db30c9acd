//! Operations on the cookies of the page's context.

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use url::Url;

use super::{Failure, Hands};

/// Maximum number of cookies in one call.
const MAX_COOKIES: usize = 300;

#[derive(Deserialize)]
pub(super) struct Cookies {
    /// URLs to which the cookies would be sent; empty means all cookies.
    #[serde(default)]
    urls: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct AddCookies {
    cookies: Vec<Cookie>,
}

/// A cookie in Playwright's format.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cookie {
    name: String,
    value: String,
    url: Option<String>,
    domain: Option<String>,
    path: Option<String>,
    expires: Option<f64>,
    http_only: Option<bool>,
    secure: Option<bool>,
    same_site: Option<String>,
}

impl Hands {
    pub(super) async fn cookies(&self, args: Cookies, by: Instant) -> Result<Value, Failure> {
        let session = self.tab.session();
        let answer = match args.urls.is_empty() {
            // Sent to the page, not to the browser, so that it returns the cookies of this context only.
            true => session.call_by(by, "Network.getAllCookies", json!({})).await?,
            false => session.call_by(by, "Network.getCookies", json!({ "urls": args.urls })).await?,
        };
        let all = answer["cookies"].as_array().into_iter().flatten();
        let told = |cookie: &Value| {
            let names = ["name", "value", "domain", "path", "expires", "httpOnly", "secure", "sameSite"];
            names.into_iter().map(|name| (name.to_owned(), cookie[name].clone())).collect::<serde_json::Map<_, _>>()
        };
        Ok(all.map(|cookie| Value::Object(told(cookie))).collect())
    }

    pub(super) async fn add_cookies(&self, args: AddCookies, by: Instant) -> Result<Value, Failure> {
        if args.cookies.len() > MAX_COOKIES {
            return Err(Failure::wrong("addCookies", &format!("at most {MAX_COOKIES} cookies per call")));
        }
        let cookies = args.cookies.iter().map(Cookie::param).collect::<Result<Vec<_>, _>>()?;
        self.tab.session().call_by(by, "Network.setCookies", json!({ "cookies": cookies })).await?;
        Ok(Value::Null)
    }

    pub(super) async fn clear_cookies(&self, by: Instant) -> Result<Value, Failure> {
        self.tab.session().call_by(by, "Network.clearBrowserCookies", json!({})).await?;
        Ok(Value::Null)
    }
}

impl Cookie {
    fn param(&self) -> Result<Value, Failure> {
        let url = self.url.as_deref().map(Url::parse).transpose();
        let url = url.map_err(|_| Failure::wrong("addCookies", "`url` is not a URL"))?;
        if url.as_ref().is_some_and(|url| !matches!(url.scheme(), "http" | "https")) {
            return Err(Failure::wrong("addCookies", "`url` must be http or https"));
        }
        if url.is_none() && self.domain.is_none() {
            return Err(Failure::wrong("addCookies", "a cookie needs `url`, or `domain` and `path`"));
        }
        let mut param = json!({ "name": self.name, "value": self.value });
        let mut set = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                param[name] = value;
            }
        };
        set("url", url.map(|url| url.as_str().into()));
        set("domain", self.domain.clone().map(Value::from));
        set("path", self.path.clone().map(Value::from));
        set("expires", self.expires.filter(|at| *at > 0.0).map(Value::from));
        set("httpOnly", self.http_only.map(Value::from));
        set("secure", self.secure.map(Value::from));
        set("sameSite", self.same_site.clone().map(Value::from));
        Ok(param)
    }
}
