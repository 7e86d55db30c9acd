//! Stored pages in the form of fetched pages.

use bytes::Bytes;
use fetch::{BodyKind, Fetched, Rendered, Validators};
use url::Url;
use wire::ProxyUsed;

/// Stored facts about a page besides its body.
pub(crate) struct Facts {
    pub(crate) url: Url,
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    pub(crate) charset: Option<String>,
    pub(crate) rendered: bool,
    pub(crate) proxy: ProxyUsed,
    pub(crate) validators: Validators,
}

/// Builds a stored page, in the form of a fetched page.
pub(crate) fn page_of(facts: Facts, body: Bytes, room: net::Room) -> Fetched {
    let Facts { url, status, content_type, charset, rendered, proxy, validators } = facts;
    let (body, rendered) = match rendered {
        true => (Bytes::new(), Some(Box::new(Rendered { dom: Some(body), ..Rendered::default() }))),
        false => (body, None),
    };
    let kind = match rendered {
        Some(_) => BodyKind::Html,
        None => fetch::detect(content_type.as_deref(), &body),
    };
    Fetched {
        url,
        status,
        kind,
        content_type,
        body,
        charset,
        proxy,
        retry_after: None,
        validators,
        not_modified: false,
        warnings: Vec::new(),
        room,
        rendered,
    }
}

/// Returns the body to cache: the DOM after scripts where there is one, because it makes the original body useless.
pub(crate) fn kept_body(fetched: &Fetched) -> &Bytes {
    fetched.dom().unwrap_or(&fetched.body)
}
