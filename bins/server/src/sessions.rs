//! Handlers of `/sessions`: the URLs of a browser session, each with a token that is valid as long as the session. They
//! serve a WebSocket for the DevTools protocol, and the live view, a page with its own WebSocket.

mod carry;

use std::sync::Arc;

use app::browser::{Door, Entrance};
use app::{AppError, SessionsError};
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

/// The page of the live view, with its script and style inline.
const PAGE: &str = include_str!("sessions/live.html");
/// The page shown instead of the live view for an error.
const ENDED: &str = include_str!("sessions/ended.html");
/// Content security policy of the live view: only its inline script and style and its own WebSocket. Framing by other pages
/// is allowed, since live views are meant to be embedded.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src blob:; connect-src 'self' ws: wss:; base-uri 'none'; form-action 'none'";
/// Path of [`version`] with the trailing slash that Playwright sends.
pub(crate) const VERSION_WITH_SLASH: &str = "/sessions/{id}/{door}/{token}/json/version/";
/// Byte limit of a message from a DevTools client, which may carry a whole page or script.
const MAX_CDP_MESSAGE: usize = 32 << 20;
/// Byte limit of a message from a viewer.
const MAX_VIEW_MESSAGE: usize = 64 << 10;

/// The open WebSockets of sessions.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    open: TaskTracker,
    stop: CancellationToken,
}

impl Sockets {
    /// Ends all WebSockets.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
        self.open.close();
    }

    /// Returns when the last WebSocket has ended.
    pub(crate) async fn ended(&self) {
        self.open.wait().await;
    }
}

/// Version of a browser, as clients of the DevTools protocol request it before they open the WebSocket.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct Version {
    /// Name of the browser.
    #[schema(rename = "Browser")]
    browser: String,
    /// Version of the protocol.
    #[schema(rename = "Protocol-Version")]
    protocol: String,
    /// URL of the WebSocket.
    #[schema(rename = "webSocketDebuggerUrl")]
    socket: String,
}

type DoorPath = Result<Path<(String, String, String)>, PathRejection>;

/// Use or watch a browser session by one of its URLs.
#[utoipa::path(
    get,
    path = "/sessions/{id}/{door}/{token}",
    tag = "browser",
    params(
        ("id" = String, Path, description = "Id of the session"),
        ("door" = String, Path, description = "`cdp`, `view` or `control`"),
        ("token" = String, Path, description = "Token of the session"),
    ),
    responses(
        (status = 101, description = "WebSocket of the DevTools protocol, or of the live view with JPEG frames"),
        (status = 200, description = "Page of the live view", body = String, content_type = "text/html"),
        (status = 400, description = "Not a WebSocket", body = ErrorBody),
        (status = 403, description = "The team's address list excludes this client", body = ErrorBody),
        (status = 503, description = "The session runs on another server", body = ErrorBody),
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
        Door::Cdp => Err(Failure::new(Code::BadRequest, "this URL needs a WebSocket, such as that of connectOverCDP")),
        Door::View | Door::Control => Ok(page()),
    }
}

/// Get the WebSocket URL of a browser session, in Chromium's `/json/version` format.
#[utoipa::path(
    get,
    path = "/sessions/{id}/{door}/{token}/json/version",
    tag = "browser",
    params(
        ("id" = String, Path, description = "Id of the session"),
        ("door" = String, Path, description = "`cdp`"),
        ("token" = String, Path, description = "Token of the session"),
    ),
    responses(
        (status = 200, description = "OK", body = Version),
        (status = 403, description = "The team's address list excludes this client", body = ErrorBody),
        (status = 503, description = "The session runs on another server", body = ErrorBody),
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
    let path = path.filter(|_| entrance.door() == Door::Cdp).ok_or(SessionsError::SessionNotFound)?;
    let socket = format!("{}{path}", address.0.replacen("http", "ws", 1));
    Ok(Json(json!({ "Browser": "Chrome", "Protocol-Version": "1.3", "webSocketDebuggerUrl": socket })))
}

/// Checks the token of a session URL. Sessions of this process are checked in memory, even when the client's address has
/// used up its failed authentications. Others cost a database query, so wrong tokens, and valid ones from a network that
/// the team excludes, count as failed authentications.
async fn enter(service: &Service, place: DoorPath, context: &RequestContext) -> Result<Entrance, Failure> {
    let unknown = || Failure::from(SessionsError::SessionNotFound);
    let Ok(Path((id, door, token))) = place else { return Err(unknown()) };
    let id = Uuid::try_parse(&id).map_err(|_| unknown())?;
    let door = Door::ALL.into_iter().find(|known| known.as_str() == door).ok_or_else(unknown)?;
    let (from, per_minute) = (context.address(), service.config.limits.refused_per_minute);
    let name = remembered_as(id, door, &token);
    let here = app::browser::enter_here(&service.operations.sessions, id, door, &token, from).await;
    if let Ok(Some(entrance)) = here {
        return Ok(entrance);
    }
    service.refusals.check(from, Some(&name), per_minute)?;
    let entered = match here {
        Ok(_) => app::browser::enter(&service.operations.sessions, id, door, &token, from).await,
        Err(error) => Err(error),
    };
    match &entered {
        Err(SessionsError::SessionNotFound | SessionsError::App(AppError::AddressNotAllowed { .. })) => {
            service.refusals.count(from, Some(&name), per_minute);
        }
        // The token is valid, on this server or another one.
        Ok(_) | Err(SessionsError::SessionElsewhere { .. }) => service.refusals.remember(&name),
        Err(_) => {}
    }
    Ok(entered?)
}

/// Returns the key of a session URL in [`Refusals`](crate::refusals::Refusals); line breaks keep it distinct from API keys.
fn remembered_as(id: Uuid, door: Door, token: &str) -> String {
    format!("session\n{id}\n{}\n{token}", door.as_str())
}

/// Returns whether the client is a browser that shows pages, not a program.
fn wants_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    !is_handshake(headers) && accept.split(',').any(|kind| kind.trim_start().starts_with("text/html"))
}

/// Returns a failure as a page. Ended and unknown sessions get the same text.
fn failure_page(failure: Failure) -> Response {
    let (title, text) = match failure.code() {
        Code::SessionNotFound | Code::SessionEnded => {
            ("The session has ended", "This browser session has ended, or its URL is incomplete.")
        }
        Code::AddressNotAllowed => (
            "Not allowed from here",
            "This browser session is restricted to certain networks. Try again from one of them.",
        ),
        Code::RateLimited => {
            ("Too many requests", "Too many invalid session URLs were opened from your address. Try again in a minute.")
        }
        _ => ("Not available", "This browser session cannot be shown at the moment. Try again in a few seconds."),
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
        // The URL contains the token.
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
        upgrade.map_err(|error| Failure::new(Code::BadRequest, format!("invalid WebSocket handshake: {error}")))?;
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
