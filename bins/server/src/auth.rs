//! Authentication and access control. A guard in front of every route enforces the [`Access`] that the route names. Another
//! guard, in front of all other paths, keeps refusals from revealing which paths exist: every path under `/v2`, known or
//! not, needs a caller, except for the links in mails; every path under `/admin` needs the operator. Requests without a known key are refused when a web
//! page may have sent them ([`browser`]: cross-site requests and DNS rebinding).

use std::sync::Arc;
use std::time::Instant;

use app::AppError;
use app::auth::{self, Caller, authenticate};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use boot::browser;
use boot::config::AuthMode;
use boot::metrics;
use boot::operator::bearer;
use wire::Code;

use crate::access::Access;
use crate::address::PublicAddress;
use crate::error::Failure;
use crate::limits::{Standing, Subject, network};
use crate::missing::not_found;
use crate::request::{Local, RequestContext};
use crate::{Service, keyless};

/// The listener that accepted a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listener {
    /// The public API, `server.listen`.
    Api,
    /// The operator API, `admin.listen`.
    Operator,
}

/// State shared by all guards.
#[derive(Clone)]
pub(crate) struct Gate {
    /// State shared by the handlers.
    pub(crate) service: Arc<Service>,
    /// The listener that accepted the request.
    pub(crate) listener: Listener,
}

/// State of [`guard`].
#[derive(Clone)]
pub(crate) struct GuardState {
    /// State shared by all guards.
    pub(crate) gate: Gate,
    /// Access rule of the route.
    pub(crate) access: Access,
}

/// Passes a request on to its route, with its [`Caller`] in the extensions, or answers with a refusal.
pub(crate) async fn guard(State(guarded): State<GuardState>, request: Request, next: Next) -> Response {
    guarded.gate.admit(Some(guarded.access), request, next).await
}

/// Passes a request for an unknown path on to the fallback, or answers with a refusal.
pub(crate) async fn guard_without_route(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    gate.admit(Access::without_route(request.uri().path()), request, next).await
}

impl Gate {
    /// Applies an access rule; `None` is the rule of unknown paths under `/v2`.
    async fn admit(&self, access: Option<Access>, request: Request, next: Next) -> Response {
        let (parts, body) = request.into_parts();
        let passed = match access {
            Some(Access::Health | Access::Signed) => Ok(()),
            Some(Access::Open) => self.open(&parts).await,
            Some(Access::Metrics) => self.metrics(&parts).await,
            Some(Access::Operator) => self.operator(&parts),
            Some(Access::Team(_) | Access::TeamOrKeyless(_)) | None if self.listener == Listener::Api => {
                return self.team(access, Request::from_parts(parts, body), next).await;
            }
            Some(Access::Team(_) | Access::TeamOrKeyless(_)) | None => Err(not_found()),
        };
        match passed {
            Ok(()) => next.run(Request::from_parts(parts, body)).await,
            Err(failure) => failure.into_response(),
        }
    }

    async fn team(&self, access: Option<Access>, request: Request, next: Next) -> Response {
        let service = &self.service;
        let (mut parts, body) = request.into_parts();
        let Some(context) = parts.extensions.get::<RequestContext>().cloned() else {
            return Failure::new(Code::UnknownError, "unexpected error").into_response();
        };
        let mut caller = match self.caller(access, &parts, &context).await {
            Ok(caller) => caller,
            Err(failure) => return failure.into_response(),
        };
        caller.address = Some(PublicAddress::of(&parts, service).0);
        context.set_team(&caller.team.id);
        if let Err(error) = caller.rules.check_address(context.address()) {
            return Failure::from(error).into_response();
        }
        let standing = count(service, &caller, &context);
        let caller_is_keyless = caller.is_keyless;
        let mut response = match standing.filter(|standing| standing.refused_for.is_some()) {
            Some(standing) if caller.is_keyless => {
                metrics::rate_limited();
                keyless::too_many(&standing).into_response()
            }
            Some(standing) => {
                metrics::rate_limited();
                let why = format!("too many requests, try again in {} s", standing.retry_after());
                Failure::new(Code::RateLimited, why).into_response()
            }
            None => match check_endpoint(&caller, access) {
                Ok(()) => {
                    parts.extensions.insert(caller);
                    next.run(Request::from_parts(parts, body)).await
                }
                Err(error) => Failure::from(error).into_response(),
            },
        };
        if let Some(standing) = standing.filter(|standing| !(caller_is_keyless && standing.is_of_team())) {
            standing.describe(response.headers_mut());
        }
        response
    }

    async fn caller(&self, access: Option<Access>, parts: &Parts, context: &RequestContext) -> Result<Caller, Failure> {
        let service = &self.service;
        let token = bearer(&parts.headers)?.or_else(|| socket_key(&parts.headers));
        let per_minute = service.config.limits.refused_per_minute;
        service.refusals.check(context.address(), token, per_minute)?;
        let is_bare = auth::shown(token).is_none();
        let found = match is_bare && keyless::admits(&service.config.auth, access) {
            true => auth::keyless(&service.operations.app).await,
            false => authenticate(&service.operations.app, token).await,
        };
        let caller = match found {
            Err(AppError::Unauthorized(_)) if is_bare && !service.config.auth.keyless.is_empty() => {
                service.refusals.count(context.address(), token, per_minute);
                return Err(keyless::needs_key(&service.config.auth));
            }
            Err(error @ AppError::Unauthorized(_)) => {
                service.refusals.count(context.address(), token, per_minute);
                return Err(error.into());
            }
            caller => caller?,
        };
        match (&caller.key, token) {
            (Some(_), Some(token)) => service.refusals.remember(token),
            // Without a known key the request may come from a web page, which can send an invented key too.
            _ => self.browser(parts)?,
        }
        Ok(caller)
    }

    /// Admits calls to public paths. With `auth.mode = "keys"` the service is meant for the network, so web pages may
    /// call them too.
    async fn open(&self, parts: &Parts) -> Result<(), Failure> {
        match (self.listener, self.service.config.auth.mode) {
            (Listener::Api, AuthMode::Keys) => Ok(()),
            _ => self.no_page(parts).await,
        }
    }

    /// Refuses requests that a web page may have sent, unless they have a known key.
    async fn no_page(&self, parts: &Parts) -> Result<(), Failure> {
        let refused = self.browser(parts).map_err(Failure::from);
        let context = parts.extensions.get::<RequestContext>();
        match (refused, bearer(&parts.headers)?, context) {
            (Err(failure), Some(_), Some(context)) if self.listener == Listener::Api => {
                let caller = self.caller(None, parts, context).await?;
                if caller.key.is_some() { Ok(()) } else { Err(failure) }
            }
            (refused, ..) => refused,
        }
    }

    fn browser(&self, parts: &Parts) -> Result<(), browser::ForeignPage> {
        let listen = self.service.address;
        let local = parts.extensions.get::<Local>().map_or(listen, |local| local.0);
        browser::check(parts, &self.service.config.server.hosts, [listen, local])
    }

    async fn metrics(&self, parts: &Parts) -> Result<(), Failure> {
        let settings = &self.service.config;
        if self.listener == Listener::Api && settings.admin.listen.is_some() {
            return Err(not_found());
        }
        if self.service.operator.is_some_and(|operator| operator.sends(&parts.headers)) {
            return Ok(());
        }
        match (self.listener, settings.auth.mode) {
            (Listener::Api, AuthMode::Keys) => {
                self.count_refusal(parts, bearer(&parts.headers)?);
                let why =
                    "the operator's token (admin.token) is required; a port of admin.listen serves metrics without it";
                Err(Failure::new(Code::Unauthorized, why))
            }
            _ => self.no_page(parts).await,
        }
    }

    fn operator(&self, parts: &Parts) -> Result<(), Failure> {
        let service = &self.service;
        let here = self.listener == Listener::Operator || service.config.admin.listen.is_none();
        let Some(operator) = service.operator.filter(|_| here) else {
            return Err(not_found());
        };
        let token = bearer(&parts.headers)?;
        if let Some(context) = parts.extensions.get::<RequestContext>() {
            service.refusals.check(context.address(), token, service.config.limits.refused_per_minute)?;
        }
        match (operator.sends(&parts.headers), token) {
            (true, Some(token)) => {
                service.refusals.remember(token);
                Ok(())
            }
            _ => {
                self.count_refusal(parts, token);
                Err(Failure::new(Code::Unauthorized, "the operator's token (admin.token) is required"))
            }
        }
    }

    fn count_refusal(&self, parts: &Parts, token: Option<&str>) {
        if let Some(context) = parts.extensions.get::<RequestContext>() {
            let per_minute = self.service.config.limits.refused_per_minute;
            self.service.refusals.count(context.address(), token, per_minute);
        }
    }
}

/// Checks that the key may use the endpoint. Unknown paths pass: the fallback answers them with 404.
fn check_endpoint(caller: &Caller, access: Option<Access>) -> Result<(), AppError> {
    match access {
        Some(access) => caller.rules.check_endpoint(access.group()),
        None => Ok(()),
    }
}

fn count(service: &Service, caller: &Caller, context: &RequestContext) -> Option<Standing> {
    let now = Instant::now();
    let stranger = match caller.is_keyless {
        true => service.strangers.take(context.address(), &service.config.auth, now),
        false => None,
    };
    // An address over its own limit must not use up the limit of the team.
    if stranger.is_some_and(|standing| standing.refused_for.is_some()) {
        return stranger;
    }
    let per_minute = u32::try_from(caller.team.rate_per_minute).unwrap_or(0);
    let team = service.limits.take(Subject::Team(caller.team.id.clone()), per_minute, now);
    let address = match caller.key {
        Some(_) => None,
        None if caller.is_keyless => stranger,
        None => {
            let subject = Subject::Address(network(context.address()));
            service.limits.take(subject, service.config.limits.keyless_per_minute, now)
        }
    };
    match (team, address) {
        // Callers without a key see only the limit of their address, unless the team's limit is used up.
        (Some(team), address) if caller.is_keyless && team.refused_for.is_none() => address,
        (Some(team), Some(address)) => Some(team.stricter(address)),
        (one, other) => one.or(other),
    }
}

/// Returns whether a request is a WebSocket handshake.
pub(crate) fn is_handshake(headers: &HeaderMap) -> bool {
    let value = headers.get(header::UPGRADE).and_then(|value| value.to_str().ok());
    value.is_some_and(|value| value.eq_ignore_ascii_case("websocket"))
}

/// Returns the API key of a WebSocket from a browser, where scripts cannot set headers: the only subprotocol offered.
fn socket_key(headers: &HeaderMap) -> Option<&str> {
    let mut lines = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let only = lines.next().filter(|_| lines.next().is_none())?.to_str().ok()?.trim();
    (is_handshake(headers) && !only.is_empty() && !only.contains(',')).then_some(only)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_the_only_subprotocol() {
        let check = |upgrade: &str, lines: &[&str], expect: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::UPGRADE, upgrade.parse().unwrap());
            for line in lines {
                headers.append(header::SEC_WEBSOCKET_PROTOCOL, line.parse().unwrap());
            }
            assert_eq!(socket_key(&headers), expect, "{lines:?}");
        };
        check("websocket", &["fc-1"], Some("fc-1"));
        check("WebSocket", &[" fc-1 "], Some("fc-1"));
        check("websocket", &[], None);
        check("websocket", &["fc-1, chat"], None);
        check("websocket", &["fc-1", "chat"], None);
        check("websocket", &[""], None);
        check("h2c", &["fc-1"], None);
    }
}
