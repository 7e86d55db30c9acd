//! Dead-lettering of jobs: the move and the handler's record of it, in one transaction.

use std::pin::Pin;

use store::jobs::{self, Claimed, HeldJob, Payload as _};
use store::{Conn, StoreError};

use crate::shared::Core;
use crate::{Handler, Running};

type Writing<'a> = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>>;

/// Job to be dead-lettered, with or without a readable payload.
pub(crate) enum DeadJob<'a, P> {
    Read(&'a Running<P>),
    Unread(&'a Claimed),
}

/// Dead-letters a job. If its handler can never record that, the job is dead-lettered without the record; otherwise it
/// would be retried forever.
pub(crate) fn bury<'a, H: Handler>(
    core: &'a Core,
    handler: &'a H,
    held: HeldJob<'a>,
    lost: DeadJob<'a, H::Payload>,
    error: &'a str,
) -> Writing<'a> {
    Box::pin(async move {
        let now = core.now();
        let mut conn = core.store.conn().await?;
        let buried: Result<(), StoreError> = conn
            .tx(async |conn: &mut Conn| {
                if jobs::bury(conn, &held, error, now).await? {
                    match &lost {
                        DeadJob::Read(job) => handler.give_up(conn, job, error).await?,
                        DeadJob::Unread(job) => handler.give_up_unread(conn, job, error).await?,
                    }
                }
                Ok(())
            })
            .await;
        match buried {
            Err(refusal) if refusal.is_permanent() => {
                tracing::error!(error = %refusal, job = held.lease.id, kind = H::Payload::KIND, "the handler could not record the dead-lettered job");
                jobs::bury(&mut conn, &held, error, now).await.map(drop)
            }
            other => other,
        }
    })
}
