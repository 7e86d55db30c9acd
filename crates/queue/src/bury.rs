//! Giving a job up: it becomes a dead letter, and its handler writes down what follows, in one transaction.

use std::pin::Pin;

use store::jobs::{self, Claimed, Held, Payload as _};
use store::{Conn, StoreError};

use crate::worker::Core;
use crate::{Handler, Running};

type Writing<'a> = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>>;

/// A job that is given up, with or without a payload that could be read.
pub(crate) enum Lost<'a, P> {
    Read(&'a Running<P>),
    Unread(&'a Claimed),
}

/// Buries a job. When its handler can never write down what follows, it is buried all the same: a job that cannot even be
/// given up would come back for ever.
pub(crate) fn bury<'a, H: Handler>(
    core: &'a Core,
    handler: &'a H,
    held: Held<'a>,
    lost: Lost<'a, H::Payload>,
    error: &'a str,
) -> Writing<'a> {
    Box::pin(async move {
        let now = core.now();
        let mut conn = core.store.conn().await?;
        let buried: Result<(), StoreError> = conn
            .tx(async |conn: &mut Conn| {
                if jobs::bury(conn, &held, error, now).await? {
                    match &lost {
                        Lost::Read(job) => handler.give_up(conn, job, error).await?,
                        Lost::Unread(job) => handler.give_up_unread(conn, job, error).await?,
                    }
                }
                Ok(())
            })
            .await;
        match buried {
            Err(refusal) if refusal.is_permanent() => {
                tracing::error!(error = %refusal, job = held.lease.id, kind = H::Payload::KIND, "what follows cannot be written");
                jobs::bury(&mut conn, &held, error, now).await.map(drop)
            }
            other => other,
        }
    })
}
