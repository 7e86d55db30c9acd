//! Handlers of the links in mails: a recipient confirms or unsubscribes, without a key. A link opens a page with a button,
//! and only the button changes something, because programs that scan mails open links too. Mail programs unsubscribe with
//! one POST (RFC 8058).

use std::sync::Arc;
use std::time::Instant;

use app::monitors::{self, Purpose, Recipient};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{Html, IntoResponse as _, Response};
use axum::{Extension, Json};
use boot::metrics;
use tokio::time::Instant as Deadline;
use url::form_urlencoded;
use wire::{Code, DataResponse, EmailSubscription, EmailToken, EmailTokenQuery};

use crate::Service;
use crate::body::BodyLimits;
use crate::error::Failure;
use crate::extract::{Query, encoding, is_json, parse};
use crate::limits::{Subject, network};
use crate::request::{RequestContext, reader};

const PAGE: &str = include_str!("mail/page.html");
/// Content security policy of the pages: their inline style, and their form.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// Byte limit of a body.
const MAX_BODY: usize = 16 << 10;

/// Show the page with which a recipient of mails confirms. It changes nothing.
#[utoipa::path(
    get,
    path = "/v2/monitor/email/confirm",
    tag = "monitor",
    params(EmailTokenQuery),
    responses(
        (status = 200, description = "Page with a button", body = String, content_type = "text/html"),
        (status = 400, description = "The link is invalid or has expired", body = String, content_type = "text/html"),
        (status = 503, description = "Not available at the moment", body = String, content_type = "text/html"),
    )
)]
pub(crate) async fn show_confirm(
    State(service): State<Arc<Service>>,
    Extension(context): Extension<RequestContext>,
    Query(query): Query<EmailTokenQuery>,
) -> Response {
    show(&service, &context, Purpose::Confirm, query).await
}

/// Show the page with which a recipient of mails unsubscribes. It changes nothing.
#[utoipa::path(
    get,
    path = "/v2/monitor/email/unsubscribe",
    tag = "monitor",
    params(EmailTokenQuery),
    responses(
        (status = 200, description = "Page with a button", body = String, content_type = "text/html"),
        (status = 400, description = "The link is invalid or has expired", body = String, content_type = "text/html"),
        (status = 503, description = "Not available at the moment", body = String, content_type = "text/html"),
    )
)]
pub(crate) async fn show_unsubscribe(
    State(service): State<Arc<Service>>,
    Extension(context): Extension<RequestContext>,
    Query(query): Query<EmailTokenQuery>,
) -> Response {
    show(&service, &context, Purpose::Unsubscribe, query).await
}

/// Confirm a recipient of mails, by the token of the mail that asks. Also a form with the field `token`.
#[utoipa::path(
    post,
    path = "/v2/monitor/email/confirm",
    tag = "monitor",
    request_body(content = EmailToken, example = json!({"token": "TOKEN"})),
    responses((
        status = 200,
        description = "OK; a page for clients that accept `text/html`",
        content((DataResponse<EmailSubscription> = "application/json"), (String = "text/html"))
    ))
)]
pub(crate) async fn confirm(
    State(service): State<Arc<Service>>,
    Extension(context): Extension<RequestContext>,
    Query(query): Query<EmailTokenQuery>,
    request: Request,
) -> Response {
    answer(&service, &context, Purpose::Confirm, Posted { query, request }).await
}

/// Unsubscribe a recipient of mails, by the token of a mail. Also a form with the field `token`, or one click: any form to
/// the link of the mail.
#[utoipa::path(
    post,
    path = "/v2/monitor/email/unsubscribe",
    tag = "monitor",
    request_body(content = EmailToken, example = json!({"token": "TOKEN"})),
    responses((
        status = 200,
        description = "OK; a page for clients that accept `text/html`",
        content((DataResponse<EmailSubscription> = "application/json"), (String = "text/html"))
    ))
)]
pub(crate) async fn unsubscribe(
    State(service): State<Arc<Service>>,
    Extension(context): Extension<RequestContext>,
    Query(query): Query<EmailTokenQuery>,
    request: Request,
) -> Response {
    answer(&service, &context, Purpose::Unsubscribe, Posted { query, request }).await
}

/// Answers a GET with a page whose button sends the token.
async fn show(service: &Service, context: &RequestContext, purpose: Purpose, query: EmailTokenQuery) -> Response {
    let token = query.token.unwrap_or_default();
    match recipient(service, context, purpose, &token).await {
        Ok(found) => page(&asking(purpose, &found.email, &token)),
        Err(failure) => failure_page(failure),
    }
}

async fn recipient(
    service: &Service,
    context: &RequestContext,
    purpose: Purpose,
    token: &str,
) -> Result<Recipient, Failure> {
    limit(service, context)?;
    Ok(monitors::recipient(&service.operations.monitors, purpose, token).await?)
}

/// Counts a request to the limit of its address.
fn limit(service: &Service, context: &RequestContext) -> Result<(), Failure> {
    let subject = Subject::Address(network(context.address()));
    let standing = service.limits.take(subject, service.config.limits.keyless_per_minute, Instant::now());
    match standing.filter(|standing| standing.refused_for.is_some()) {
        Some(standing) => {
            metrics::rate_limited();
            let seconds = standing.retry_after();
            let why = format!("too many requests, try again in {seconds} s");
            Err(Failure::new(Code::RateLimited, why).retry_after(seconds))
        }
        None => Ok(()),
    }
}

/// POST with what its URL says.
struct Posted {
    query: EmailTokenQuery,
    request: Request,
}

/// Answers a POST: JSON to programs, a page to browsers.
async fn answer(service: &Service, context: &RequestContext, purpose: Purpose, posted: Posted) -> Response {
    let wants_page = accepts_pages(posted.request.headers()) && !is_json(posted.request.headers());
    match change(service, context, purpose, posted).await {
        Ok(changed) if wants_page => page(&done(purpose, &changed.email)),
        Ok(changed) => Json(DataResponse::new(changed)).into_response(),
        Err(failure) if wants_page => failure_page(failure),
        Err(failure) => failure.into_response(),
    }
}

async fn change(
    service: &Service,
    context: &RequestContext,
    purpose: Purpose,
    posted: Posted,
) -> Result<EmailSubscription, Failure> {
    limit(service, context)?;
    let token = token(service, context, posted).await?;
    let monitors = &service.operations.monitors;
    Ok(match purpose {
        Purpose::Confirm => monitors::confirm(monitors, &token).await?,
        Purpose::Unsubscribe => monitors::unsubscribe(monitors, &token).await?,
    })
}

/// Reads the token of a POST: from a JSON body, from a form, or from the URL.
async fn token(service: &Service, context: &RequestContext, posted: Posted) -> Result<String, Failure> {
    let Posted { query, request } = posted;
    let (head, body) = request.into_parts();
    encoding(&head.headers)?;
    let limits = BodyLimits {
        bytes: MAX_BODY,
        until: Deadline::now() + service.config.server.body_timeout,
        large: &service.large_bodies,
        owner: &reader(None, Some(context)),
        pace: None,
    };
    let bytes = limits.read(&head.headers, body).await?;
    if is_json(&head.headers) {
        return Ok(wire::decode_email_token(parse(&bytes)?)?.token);
    }
    let in_form = form_urlencoded::parse(&bytes).find(|(name, _)| name == "token");
    let in_form = in_form.map(|(_, value)| value.into_owned());
    in_form.or(query.token).ok_or_else(|| Failure::new(Code::InvalidToken, "the request has no token"))
}

/// Returns whether the client shows pages.
fn accepts_pages(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accept.split(',').any(|kind| kind.trim_start().starts_with("text/html"))
}

/// Texts of a page. They are HTML.
struct Texts {
    title: &'static str,
    text: String,
    form: String,
}

/// Returns the page that asks a recipient. The token was checked, so it is of letters, digits, `-`, `_` and `.`.
fn asking(purpose: Purpose, email: &str, token: &str) -> Texts {
    let email = escape(email);
    let (title, text, button) = match purpose {
        Purpose::Confirm => (
            "Do you want these mails?",
            format!("Monitors of web pages want to tell {email} when something changes."),
            "Yes, confirm",
        ),
        Purpose::Unsubscribe => {
            ("Unsubscribe?", format!("{email} will get no more mails of these monitors."), "Unsubscribe")
        }
    };
    let form = format!(
        "<form method=\"post\"><input type=\"hidden\" name=\"token\" value=\"{token}\"><button>{button}</button></form>"
    );
    Texts { title, text, form }
}

/// Returns the page after the answer of a recipient.
fn done(purpose: Purpose, email: &str) -> Texts {
    let email = escape(email);
    let (title, text) = match purpose {
        Purpose::Confirm => {
            ("Confirmed", format!("{email} will get these mails. Each of them has a link to unsubscribe."))
        }
        Purpose::Unsubscribe => ("Unsubscribed", format!("{email} will get no more mails of these monitors.")),
    };
    Texts { title, text, form: String::new() }
}

fn html(texts: &Texts) -> String {
    PAGE.replace("{title}", texts.title).replace("{form}", &texts.form).replace("{text}", &texts.text)
}

fn page(texts: &Texts) -> Response {
    protected(Html(html(texts)).into_response())
}

fn failure_page(failure: Failure) -> Response {
    let (title, text) = match failure.code() {
        Code::InvalidToken => ("This link does not work", "It has expired, or was not copied whole."),
        Code::SubscriptionNotFound => ("This link does not work", "This recipient is not known any more."),
        Code::RateLimited => ("Too many requests", "Try again in a minute."),
        _ => ("Not available", "Try again in a few minutes."),
    };
    let page = html(&Texts { title, text: text.to_owned(), form: String::new() });
    let mut response = failure.into_response();
    *response.body_mut() = Body::from(page);
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    protected(response)
}

fn protected(mut response: Response) -> Response {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // The URL contains the token.
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Returns a text as HTML.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_adds_no_markup() {
        let shown = html(&asking(Purpose::Confirm, "a&'b{form}@example.com", "a.b"));
        assert!(shown.contains("a&amp;&#39;b{form}@example.com"), "{shown}");
        assert_eq!(shown.matches("<form").count(), 1);
        assert!(html(&done(Purpose::Unsubscribe, "<b>@example.com")).contains("&lt;b&gt;@"));
    }

    #[test]
    fn browsers_get_pages() {
        let check = |accept: &str, expect: bool| {
            let headers = [(header::ACCEPT, accept.parse().unwrap())].into_iter().collect();
            assert_eq!(accepts_pages(&headers), expect, "{accept}");
        };
        check("text/html,application/xhtml+xml,*/*;q=0.8", true);
        check("application/xml, text/html", true);
        check("*/*", false);
        check("application/json", false);
    }
}
