//! `/sessions`: the addresses of a browser session, each with a token that ends with it. A WebSocket for the DevTools
//! protocol, and a page with its WebSocket that shows the browser.

mod carry;

use std::sync::Arc;

use app::AppError;
use app::browser::{Door, Entrance};
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts as _, Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{Html, IntoResponse as _, Response};
use axum::{Extension, Json};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use utoipa::ToSchema;
use uuid::Uuid;
use wire::{Code, ErrorBody};

use crate::Service;
use crate::address::PublicAddress;
use crate::auth::is_handshake;
use crate::error::Failure;
use crate::request::RequestContext;

/// The page of the live view. Everything that it needs is in it.
const PAGE: &str = include_str!("sessions/live.html");
/// The page in its place, when there is nothing to see.
const ENDED: &str = include_str!("sessions/ended.html");
/// It may do nothing but run its own script and style and open its own socket; it may stand in a frame of another page, which
/// is what such addresses are for.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src blob:; connect-src 'self' ws: wss:; base-uri 'none'; form-action 'none'";
/// [`version`] as Playwright asks for it.
pub(crate) const VERSION_WITH_SLASH: &str = "/sessions/{id}/{door}/{token}/json/version/";
/// Largest message of a client of the protocol: a page that it sets, a script that it adds.
const MAX_CDP_MESSAGE: usize = 32 << 20;
/// Largest message of a viewer.
const MAX_VIEW_MESSAGE: usize = 64 << 10;

/// The open sockets of sessions.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    open: TaskTracker,
    stop: CancellationToken,
}

impl Sockets {
    /// Tells all of them to end.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
        self.open.close();
    }

    /// Returns when the last one has ended.
    pub(crate) async fn ended(&self) {
        self.open.wait().await;
    }
}

/// What the DevTools protocol says of a browser before its socket is opened.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct Version {
    /// Name of the browser.
    #[schema(rename = "Browser")]
    browser: String,
    /// Version of the protocol.
    #[schema(rename = "Protocol-Version")]
    protocol: String,
    /// Where the socket is.
    #[schema(rename = "webSocketDebuggerUrl")]
    socket: String,
}

type DoorPath = Result<Path<(String, String, String)>, PathRejection>;

/// Use or watch a browser session by one of its addresses.
#[utoipa::path(
    get,
    path = "/sessions/{id}/{door}/{token}",
    tag = "browser",
    params(
        ("id" = String, Path, description = "Id of the session"),
        ("door" = String, Path, description = "`cdp`, `view` or `control`"),
        ("token" = String, Path, description = "What opens it"),
    ),
    responses(
        (status = 101, description = "The DevTools protocol, or frames as JPEG"),
        (status = 200, description = "A page that shows the browser", body = String, content_type = "text/html"),
        (status = 400, description = "Not a WebSocket", body = ErrorBody),
        (status = 403, description = "The team may not be called for from this address", body = ErrorBody),
        (status = 503, description = "The session is on another server", body = ErrorBody),
    )
)]
pub(crate) async fn open(
    State(service): State<Arc<Service>>,
    place: DoorPath,
    Extension(context): Extension<RequestContext>,
    request: Request,
) -> Result<Response, Failure> {
    let is_sight = place.as_ref().is_ok_and(|Path((_, door, _))| door != Door::Cdp.as_str());
    let entrance = match enter(&service, place, &context).await {
        Err(failure) if is_sight && wants_page(request.headers()) => return Ok(failure_page(failure)),
        entrance => entrance?,
    };
    if is_handshake(request.headers()) {
        return upgrade(service, entrance, request).await;
    }
    match entrance.door() {
        Door::Cdp => Err(Failure::new(Code::BadRequest, "this address takes WebSockets, as of connectOverCDP")),
        Door::View | Door::Control => Ok(page()),
    }
}

/// Get where the socket of a browser session is, as Chromium says it.
#[utoipa::path(
    get,
    path = "/sessions/{id}/{door}/{token}/json/version",
    tag = "browser",
    params(
        ("id" = String, Path, description = "Id of the session"),
        ("door" = String, Path, description = "`cdp`"),
        ("token" = String, Path, description = "What opens it"),
    ),
    responses(
        (status = 200, description = "OK", body = Version),
        (status = 403, description = "The team may not be called for from this address", body = ErrorBody),
        (status = 503, description = "The session is on another server", body = ErrorBody),
    )
)]
pub(crate) async fn version(
    State(service): State<Arc<Service>>,
    place: DoorPath,
    Extension(context): Extension<RequestContext>,
    address: PublicAddress,
) -> Result<Json<Value>, Failure> {
    let path = place.as_ref().ok().map(|Path((id, door, token))| format!("/sessions/{id}/{door}/{token}"));
    let entrance = enter(&service, place, &context).await?;
    let path = path.filter(|_| entrance.door() == Door::Cdp).ok_or(AppError::SessionNotFound)?;
    let socket = format!("{}{path}", address.0.replacen("http", "ws", 1));
    Ok(Json(json!({ "Browser": "Chrome", "Protocol-Version": "1.3", "webSocketDebuggerUrl": socket })))
}

/// A session of this process opens to its token whatever else its address was refused. For other sessions the database is
/// asked, so wrong tokens, and right ones from where the team may not call, count as refused keys do.
async fn enter(service: &Service, place: DoorPath, context: &RequestContext) -> Result<Entrance, Failure> {
    let unknown = || Failure::from(AppError::SessionNotFound);
    let Ok(Path((id, door, token))) = place else { return Err(unknown()) };
    let id = Uuid::try_parse(&id).map_err(|_| unknown())?;
    let door = Door::ALL.into_iter().find(|known| known.as_str() == door).ok_or_else(unknown)?;
    let (from, per_minute) = (context.address(), service.config.limits.refused_per_minute);
    let name = remembered_as(id, door, &token);
    let here = app::browser::enter_here(&service.app, id, door, &token, from).await;
    if let Ok(Some(entrance)) = here {
        return Ok(entrance);
    }
    service.refusals.check(from, Some(&name), per_minute)?;
    let entered = match here {
        Ok(_) => app::browser::enter(&service.app, id, door, &token, from).await,
        Err(error) => Err(error),
    };
    match &entered {
        Err(AppError::SessionNotFound | AppError::AddressNotAllowed { .. }) => {
            service.refusals.count(from, Some(&name), per_minute);
        }
        // It opens a session, on this server or on another one.
        Ok(_) | Err(AppError::SessionElsewhere { .. }) => service.refusals.remember(&name),
        Err(_) => {}
    }
    Ok(entered?)
}

/// What [`Refusals`](crate::refusals::Refusals) knows an address of a session by. No key of a caller is the same text: none
/// has a line break.
fn remembered_as(id: Uuid, door: Door, token: &str) -> String {
    format!("session\n{id}\n{}\n{token}", door.as_str())
}

/// Whether somebody looks at it in a browser, and not a program.
fn wants_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    !is_handshake(headers) && accept.split(',').any(|kind| kind.trim_start().starts_with("text/html"))
}

/// The failure as a page. It says the same for a session that has ended and for one that never was.
fn failure_page(failure: Failure) -> Response {
    let (title, text) = match failure.code() {
        Code::SessionNotFound | Code::SessionEnded => {
            ("The session has ended", "This browser session has ended, or its address is not complete.")
        }
        Code::AddressNotAllowed => {
            ("Not allowed from here", "This browser session opens from some networks only. Try again from one of them.")
        }
        Code::RateLimited => {
            ("Too many requests", "Too many wrong session addresses were opened from here. Try again in a minute.")
        }
        _ => ("Not available", "This browser session cannot be shown now. Try again in a few seconds."),
    };
    let page = ENDED.replace("{title}", title).replace("{text}", text);
    let mut response = failure.into_response();
    *response.body_mut() = Body::from(page);
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    protected(response)
}

fn page() -> Response {
    protected(Html(PAGE).into_response())
}

fn protected(mut response: Response) -> Response {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // The address is the key.
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn upgrade(service: Arc<Service>, entrance: Entrance, request: Request) -> Result<Response, Failure> {
    let (mut parts, _) = request.into_parts();
    let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &service).await;
    let upgrade =
        upgrade.map_err(|error| Failure::new(Code::BadRequest, format!("no WebSocket handshake: {error}")))?;
    let most = if entrance.door() == Door::Cdp { MAX_CDP_MESSAGE } else { MAX_VIEW_MESSAGE };
    let (open, stop) = (service.sockets.open.clone(), service.sockets.stop.clone());
    let carried = move |socket| async move {
        open.track_future(stop.run_until_cancelled(carry::carry(socket, entrance))).await;
    };
    Ok(upgrade.max_message_size(most).max_frame_size(most).on_upgrade(carried))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusals::Refusals;

    #[test]
    fn what_opens_a_session_is_no_key() {
        let (refusals, guesser, id) = (Refusals::default(), "192.0.2.1".parse().unwrap(), Uuid::from_u128(7));
        let good = remembered_as(id, Door::View, "t");
        refusals.remember(&good);
        refusals.count(guesser, None, 1);
        assert!(refusals.check(guesser, Some(&good), 1).is_ok());
        let others = [remembered_as(id, Door::Control, "t"), remembered_as(Uuid::nil(), Door::View, "t")];
        for other in others.iter().map(String::as_str).chain(["t", "session t"]) {
            assert!(refusals.check(guesser, Some(other), 1).is_err(), "{other}");
        }
        // A header cannot contain a line break, so no API key equals this.
        assert!(HeaderValue::from_str(&good).is_err(), "{good}");
    }
}
