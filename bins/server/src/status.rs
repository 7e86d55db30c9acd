//! `GET` of a job: its status, or a WebSocket to watch it.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::request::Parts;
use axum::response::Response;
use wire::ResultsQuery;

use crate::address::PublicAddress;
use crate::error::Failure;
use crate::extract::Query;
use crate::job::{RunRequest, Runs, body};
use crate::{Service, auth, response_budget, watch};

/// A request for the status of a job.
pub(crate) struct StatusRequest {
    request: RunRequest,
    address: PublicAddress,
    wanted: StatusReply,
}

enum StatusReply {
    /// A single answer with a range of the documents.
    Progress(ResultsQuery),
    /// A WebSocket that sends all documents.
    Socket(Box<WebSocketUpgrade>),
}

impl FromRequestParts<Arc<Service>> for StatusRequest {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, service: &Arc<Service>) -> Result<Self, Failure> {
        let request = RunRequest::from_request_parts(parts, service).await?;
        let Ok(address) = PublicAddress::from_request_parts(parts, service).await;
        let wanted = match auth::is_handshake(&parts.headers) {
            true => StatusReply::Socket(Box::new(watch::handshake(parts, service).await?)),
            false => StatusReply::Progress(Query::from_request_parts(parts, service).await?.0),
        };
        Ok(Self { request, address, wanted })
    }
}

impl StatusRequest {
    /// Answers with the status, or upgrades to a WebSocket.
    pub(crate) async fn answer(self, runs: Runs) -> Result<Response, Failure> {
        let Self { request, address, wanted } = self;
        let range = match wanted {
            StatusReply::Socket(socket) => return watch::watch(*socket, runs, request).await,
            StatusReply::Progress(range) => range,
        };
        let permit = request.service.response_budget.permit(&request.reader).await?;
        let mut progress = runs.status(&request, range).await?;
        let next = progress.next_skip.take().map(|skip| {
            let limit = range.limit.map(|limit| format!("&limit={limit}")).unwrap_or_default();
            format!("{}?skip={skip}{limit}", runs.url(&address, request.id))
        });
        Ok(response_budget::answer(body(progress, next, request.service.operations.app.now()), permit))
    }
}
