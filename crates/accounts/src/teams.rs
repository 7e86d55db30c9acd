//! Administration of teams.

use base::{Timestamp, new_id};
use kernel::{App, AppError, limit as column, rules, uuid};
use store::ledger::{self, Booking};
use store::teams::{self as rows, Team, TeamChange};
use store::{Conn, List, StoreError, chats as chat_rows, keys as key_rows};
use uuid::Uuid;
use wire::{CreateTeam, Invalid, Listing, ModelLimits, PartnerGrant, TeamCreated, TeamFlags, TeamView, UpdateTeam};

use crate::{chats, keys};

/// Creates a team with its first key. Without `credits` it has no credit limit.
///
/// # Errors
/// [`AppError::Invalid`] for a chat channel that is there twice, or whose URL is a mask.
#[crate::boxed]
pub async fn create(app: &App, request: CreateTeam) -> Result<TeamCreated, AppError> {
    let (id, now) = (new_id(), app.now());
    let channels = chats::revealed(&request.chat_channels, &[])?;
    let team = Team {
        unlimited: request.credits.is_none(),
        concurrency: column(request.concurrency.unwrap_or(app.settings().team_concurrency)),
        rate_per_minute: column(request.rate_limit.unwrap_or(app.settings().team_rate_per_minute)),
        zero_data_retention: request.flags.zero_data_retention,
        enterprise: request.flags.enterprise,
        catalog: request.flags.catalog,
        addresses: rules::list(&request.addresses, String::clone),
        model_tokens_per_day: request.model_limits.tokens_per_day.map(tokens),
        model_cost_per_day: request.model_limits.cost_per_day.map(millionths),
        max_monitors: request.max_monitors.map(column),
        partner_grant: request.partner_grant.map(word),
        alert_emails: rules::list(&request.alert_emails, String::clone),
        ..Team::new(id.to_string(), request.name, now)
    };
    let credits = request.credits.unwrap_or(0);
    let (key, token) = keys::fresh(app, &team.id, "default");
    let mut conn = app.conn().await?;
    conn.tx(async |conn: &mut Conn| -> Result<(), StoreError> {
        rows::create(conn, &team).await?;
        key_rows::create(conn, &key).await?;
        chat_rows::replace(conn, &team.id, &channels).await?;
        grant(conn, &team.id, credits, now).await
    })
    .await?;
    Ok(TeamCreated { success: true, api_key: token.expose().to_owned(), team_id: id })
}

/// Returns one team.
///
/// # Errors
/// [`AppError::NotFound`].
#[crate::boxed]
pub async fn read(app: &App, id: Uuid) -> Result<TeamView, AppError> {
    let mut conn = app.conn().await?;
    let team = rows::find(&mut conn, &id.to_string()).await?.ok_or(AppError::NotFound("team"))?;
    view(&mut conn, team).await
}

/// Lists up to `limit` (1 to 1000) teams by id, after `after`.
///
/// # Errors
/// [`AppError::Internal`].
#[crate::boxed]
pub async fn list(app: &App, after: Option<Uuid>, limit: u32) -> Result<Listing<TeamView>, AppError> {
    let mut conn = app.conn().await?;
    let limit = limit.clamp(1, 1000);
    let after = after.map(|id| id.to_string());
    let mut data = Vec::new();
    for team in rows::list(&mut conn, after.as_deref(), i64::from(limit)).await? {
        data.push(view(&mut conn, team).await?);
    }
    let next = data.last().filter(|_| data.len() == limit as usize).map(|team| team.id);
    Ok(Listing { success: true, data, next })
}

/// Changes a team and grants it credits, atomically.
///
/// # Errors
/// [`AppError::NotFound`]; [`AppError::Invalid`] for a chat channel that is there twice, or the mask of none.
#[crate::boxed]
pub async fn update(app: &App, id: Uuid, request: UpdateTeam) -> Result<TeamView, AppError> {
    let (id, now) = (id.to_string(), app.now());
    let (credits, given) = (request.add_credits.unwrap_or(0), request.chat_channels.clone());
    let change = change_of(request);
    let mut conn = app.conn().await?;
    let changed = conn
        .tx(async |conn: &mut Conn| -> Result<Result<Option<Team>, Invalid>, StoreError> {
            // Checked first: a change with a fault writes nothing.
            let channels = match &given {
                Some(given) => Some(chats::changed(conn, &id, given).await?),
                None => None,
            };
            let channels = match channels.transpose() {
                Ok(channels) => channels,
                Err(invalid) => return Ok(Err(invalid)),
            };
            let changed = rows::update(conn, &id, &change).await?;
            if changed.is_some() {
                if let Some(channels) = channels {
                    chat_rows::replace(conn, &id, &channels).await?;
                }
                grant(conn, &id, credits, now).await?;
            }
            Ok(Ok(changed))
        })
        .await??;
    app.forget_callers();
    view(&mut conn, changed.ok_or(AppError::NotFound("team"))?).await
}

/// Returns the changes of a request to the row of its team.
fn change_of(request: UpdateTeam) -> TeamChange {
    let flags = request.flags.unwrap_or_default();
    let limits = request.model_limits.unwrap_or_default();
    TeamChange {
        name: request.name,
        unlimited: request.unlimited,
        concurrency: request.concurrency.map(column),
        rate_per_minute: request.rate_limit.map(column),
        zero_data_retention: flags.zero_data_retention,
        enterprise: flags.enterprise,
        catalog: flags.catalog,
        addresses: request.addresses.map(|addresses| rules::list(&addresses, String::clone)),
        model_tokens_per_day: limits.tokens_per_day.map(|limit| limit.map(tokens)),
        model_cost_per_day: limits.cost_per_day.map(|limit| limit.map(millionths)),
        max_monitors: request.max_monitors.map(|limit| limit.map(column)),
        partner_grant: request.partner_grant.map(|grant| grant.map(word)),
        alert_emails: request.alert_emails.map(|addresses| rules::list(&addresses, String::clone)),
    }
}

/// Grants credits; zero credits leave no trace in the ledger.
async fn grant(conn: &mut Conn, team: &str, credits: i64, at: Timestamp) -> Result<(), StoreError> {
    if credits > 0 {
        let key = format!("grant:{}", new_id());
        ledger::grant(conn, &Booking { key: &key, team, api_key: None, at }, credits).await?;
    }
    Ok(())
}

async fn view(conn: &mut Conn, team: Team) -> Result<TeamView, AppError> {
    let balance = ledger::balance(conn, &team.id).await?;
    let chat_channels = chats::view(conn, &team.id).await?;
    Ok(TeamView {
        id: uuid(&team.id)?,
        name: team.name,
        unlimited: team.unlimited,
        available: (!team.unlimited).then_some(balance.available),
        reserved: balance.reserved,
        spent: balance.spent,
        concurrency: u32::try_from(team.concurrency).unwrap_or(0),
        rate_limit: u32::try_from(team.rate_per_minute).unwrap_or(0),
        flags: TeamFlags {
            zero_data_retention: team.zero_data_retention,
            enterprise: team.enterprise,
            catalog: team.catalog,
        },
        addresses: team.addresses.map(|List(networks)| networks).unwrap_or_default(),
        model_limits: ModelLimits {
            tokens_per_day: team.model_tokens_per_day.and_then(|tokens| u64::try_from(tokens).ok()),
            cost_per_day: team.model_cost_per_day.map(amount),
        },
        max_monitors: team.max_monitors.and_then(|limit| u32::try_from(limit).ok()),
        partner_grant: team.partner_grant.and_then(|word| grant_of(&word)),
        alert_emails: team.alert_emails.map(|List(addresses)| addresses).unwrap_or_default(),
        chat_channels,
        created_at: team.created_at,
    })
}

/// Returns the value of the column.
fn word(grant: PartnerGrant) -> String {
    grant.as_str().to_owned()
}

fn grant_of(word: &str) -> Option<PartnerGrant> {
    PartnerGrant::ALL.iter().copied().find(|grant| grant.as_str() == word)
}

fn tokens(limit: u64) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Returns an amount of money in millionths.
#[expect(clippy::cast_possible_truncation, reason = "at most a thousand million, checked where it is decoded")]
fn millionths(amount: f64) -> i64 {
    (amount * 1e6).round() as i64
}

#[expect(clippy::cast_precision_loss, reason = "at most 1e15 millionths, which a float holds exactly")]
fn amount(millionths: i64) -> f64 {
    millionths as f64 / 1e6
}
