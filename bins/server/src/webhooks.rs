//! Handlers of `/admin/…webhook…` for the operator: delivery log, redelivery and signing secrets.

use std::sync::Arc;

use app::webhooks;
use axum::Json;
use axum::extract::State;
use wire::{
    DataResponse, DeliveriesQuery, DeliveryView, Listing, RotateSecret, WebhookSecretView, decode_rotate_secret,
};

use crate::Service;
use crate::error::Failure;
use crate::extract::{self, Id, Query};

/// List the webhook deliveries of a team, newest first.
#[utoipa::path(
    get,
    path = "/admin/teams/{team}/webhooks/deliveries",
    tag = "admin",
    params(("team" = String, Path, format = "uuid"), DeliveriesQuery),
    responses((status = 200, description = "OK", body = Listing<DeliveryView>))
)]
pub(crate) async fn deliveries(
    State(service): State<Arc<Service>>,
    Id(team): Id,
    Query(wanted): Query<DeliveriesQuery>,
) -> Result<Json<Listing<DeliveryView>>, Failure> {
    let DeliveriesQuery { state, after, limit } = wanted;
    Ok(Json(webhooks::deliveries(&service.operations.app, team, state, after, limit).await?))
}

/// Send a failed webhook delivery again immediately.
#[utoipa::path(
    post,
    path = "/admin/webhooks/deliveries/{delivery}/redeliver",
    tag = "admin",
    params(("delivery" = String, Path, format = "uuid")),
    responses(
        (status = 200, description = "OK", body = DataResponse<DeliveryView>),
        (status = 409, description = "The payload is deleted: it was delivered, or its job has expired")
    )
)]
pub(crate) async fn redeliver(
    State(service): State<Arc<Service>>,
    Id(delivery): Id,
) -> Result<Json<DataResponse<DeliveryView>>, Failure> {
    Ok(Json(DataResponse::new(webhooks::redeliver(&service.operations.app, delivery).await?)))
}

/// Get the signing secret of a team's webhooks.
#[utoipa::path(
    get,
    path = "/admin/teams/{team}/webhook-secret",
    tag = "admin",
    params(("team" = String, Path, format = "uuid")),
    responses((status = 200, description = "OK", body = DataResponse<WebhookSecretView>))
)]
pub(crate) async fn secret(
    State(service): State<Arc<Service>>,
    Id(team): Id,
) -> Result<Json<DataResponse<WebhookSecretView>>, Failure> {
    Ok(Json(DataResponse::new(webhooks::secret(&service.operations.app, team).await?)))
}

/// Rotate a team's signing secret; the old one stays valid for the overlap.
#[utoipa::path(
    post,
    path = "/admin/teams/{team}/webhook-secret",
    tag = "admin",
    params(("team" = String, Path, format = "uuid")),
    request_body(content = RotateSecret, example = json!({"overlapSeconds": 3600})),
    responses((status = 200, description = "OK", body = DataResponse<WebhookSecretView>))
)]
pub(crate) async fn rotate_secret(
    State(service): State<Arc<Service>>,
    Id(team): Id,
    extract::Json(body): extract::Json,
) -> Result<Json<DataResponse<WebhookSecretView>>, Failure> {
    let request = decode_rotate_secret(body)?;
    Ok(Json(DataResponse::new(webhooks::rotate_secret(&service.operations.app, team, request).await?)))
}
