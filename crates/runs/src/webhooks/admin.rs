//! Administration of webhooks: the delivery log, redelivery, signing secrets.

use std::time::Duration;

use base::Secret;
use chrono::TimeDelta;
use kernel::{App, AppError, uuid};
use rand::random;
use store::webhooks::{self as rows, Logged, State};
use store::{Conn, StoreError, jobs, teams};
use uuid::Uuid;
use webhooks::SigningSecret;
use wire::{DeliveryState, DeliveryView, Invalid, Listing, RotateSecret, WebhookSecretView};

use super::deliver::stored_secrets;
use super::{HOOKS, attempt, lane, retry_lane};
use crate::RunsError;

/// Lists up to `limit` (1 to 1000) deliveries of a team, newest first, after `after`; of one state or of all.
///
/// # Errors
/// [`AppError::NotFound`] when there is no such team.
#[crate::boxed]
pub async fn deliveries(
    app: &App,
    team: Uuid,
    state: Option<DeliveryState>,
    after: Option<Uuid>,
    limit: u32,
) -> Result<Listing<DeliveryView>, AppError> {
    let mut conn = app.conn().await?;
    let team = known(&mut conn, team).await?;
    let limit = limit.clamp(1, 1000);
    let state = state.map(|state| match state {
        DeliveryState::Pending => State::Pending,
        DeliveryState::Delivered => State::Delivered,
        DeliveryState::Failed => State::Failed,
    });
    let after = after.map(|id| id.to_string());
    let found = rows::list(&mut conn, &team, state, after.as_deref(), i64::from(limit)).await?;
    let data = found.into_iter().map(view).collect::<Result<Vec<_>, _>>()?;
    let next = data.last().filter(|_| data.len() == limit as usize).map(|delivery| delivery.id);
    Ok(Listing { success: true, data, next })
}

/// Sends a failed delivery again, at once and with all its retries; the bytes and the id stay the same. A delivery that
/// is still pending is left as it is.
///
/// # Errors
/// [`AppError::NotFound`] when the delivery is unknown or no longer kept; [`RunsError::DeliveryGone`] when its body was
/// removed, because the receiver accepted it or its job has expired.
#[crate::boxed]
pub async fn redeliver(app: &App, delivery: Uuid) -> Result<DeliveryView, RunsError> {
    let (id, now) = (delivery.to_string(), app.now());
    let mut conn = app.conn().await?;
    let found = conn
        .tx(async |conn: &mut Conn| -> Result<Option<Logged>, StoreError> {
            let Some(found) = rows::find(conn, &id).await? else { return Ok(None) };
            if found.state != State::Pending && found.has_body {
                let lane_id = retry_lane(&found.job_id);
                jobs::enqueue(conn, &lane(&found.team_id, &lane_id), &[attempt(&id, 0, now)?], now).await?;
                rows::reopen(conn, &id, now).await?;
            }
            rows::find(conn, &id).await
        })
        .await?;
    let found = found.ok_or(AppError::NotFound("webhook delivery"))?;
    if !found.has_body {
        return Err(RunsError::DeliveryGone);
    }
    app.waker().wake(HOOKS);
    Ok(view(found)?)
}

/// Returns the signing secret of a team's webhooks; creates the first one if it has none.
///
/// # Errors
/// [`AppError::NotFound`] when there is no such team.
#[crate::boxed]
pub async fn secret(app: &App, team: Uuid) -> Result<WebhookSecretView, AppError> {
    let mut conn = app.conn().await?;
    let team = known(&mut conn, team).await?;
    secret_view(app, &mut conn, &team).await
}

/// Replaces a team's signing secret by a new one or by the one in the request. The old one stays valid during the
/// overlap.
///
/// # Errors
/// [`AppError::NotFound`] when there is no such team; [`AppError::Invalid`] for a text that is not a secret.
#[crate::boxed]
pub async fn rotate_secret(app: &App, team: Uuid, request: RotateSecret) -> Result<WebhookSecretView, AppError> {
    let fresh = match &request.secret {
        Some(text) => SigningSecret::parse(text).map_err(|error| Invalid::at("secret", error.to_string()))?,
        None => SigningSecret::generate(random()),
    };
    let overlap = Duration::from_secs(u64::from(request.overlap_seconds));
    let now = app.now();
    let until = now + TimeDelta::from_std(overlap).unwrap_or_default();
    let mut conn = app.conn().await?;
    let team = known(&mut conn, team).await?;
    rows::rotate(&mut conn, &team, &Secret::new(fresh.text()), until, now).await?;
    secret_view(app, &mut conn, &team).await
}

async fn known(conn: &mut Conn, team: Uuid) -> Result<String, AppError> {
    let team = team.to_string();
    match teams::find(conn, &team).await? {
        Some(_) => Ok(team),
        None => Err(AppError::NotFound("team")),
    }
}

async fn secret_view(app: &App, conn: &mut Conn, team: &str) -> Result<WebhookSecretView, AppError> {
    let rows::Secrets { current, previous, created_at } = stored_secrets(conn, team, app.now()).await?;
    let (previous_secret, previous_until) = match previous {
        Some((secret, until)) => (Some(secret.expose().to_owned()), Some(until)),
        None => (None, None),
    };
    Ok(WebhookSecretView { secret: current.expose().to_owned(), created_at, previous_secret, previous_until })
}

fn view(logged: Logged) -> Result<DeliveryView, AppError> {
    Ok(DeliveryView {
        id: uuid(&logged.id)?,
        team_id: uuid(&logged.team_id)?,
        job_id: logged.job_id,
        event: logged.event,
        url: logged.url,
        state: match logged.state {
            State::Pending => DeliveryState::Pending,
            State::Delivered => DeliveryState::Delivered,
            State::Failed => DeliveryState::Failed,
        },
        attempts: u32::try_from(logged.attempts).unwrap_or(0),
        status: logged.status.and_then(|status| u16::try_from(status).ok()),
        error: logged.error,
        duration_ms: logged.duration_ms.and_then(|millis| u64::try_from(millis).ok()),
        created_at: logged.created_at,
        delivered_at: logged.delivered_at,
        next_at: logged.next_at,
        body_bytes: u64::try_from(logged.body_bytes).unwrap_or(0),
        body_digest: Some(logged.body_digest).filter(|digest| !digest.is_empty()),
    })
}
