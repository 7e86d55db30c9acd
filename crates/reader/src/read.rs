//! Reading of one document with a child, from the file to the answer.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::children::Children;
use crate::job::{Answer, Job, ReadError};
use crate::look::Looks;
use crate::message::{Said, Told};
use crate::process::Child;

/// Minimum and maximum of the time that is reserved after the last recognised page; the reserve is an eighth of the
/// rest.
const RESERVE: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(5));

/// Reads a document. Dropping the future kills all children that work on it.
pub(crate) async fn document<E>(
    pool: &Arc<Children>,
    job: &Job,
    deadline: Instant,
    afford: impl AsyncFnOnce(u32) -> Result<(), E>,
) -> Result<Answer, ReadError<E>> {
    let mut child = pool.child().await?;
    let pages = Looks::new(pool, job, deadline - reserve(deadline));
    match converse(&mut child, pages, job, afford).await {
        Ok(Ok(answer)) => {
            pool.put_back(child);
            Ok(answer)
        }
        // A child that reports a failure is still usable.
        Ok(Err(error)) => {
            pool.put_back(child);
            Err(error)
        }
        Err(_) => Err(child.fate().await.into()),
    }
}

fn reserve(deadline: Instant) -> Duration {
    let left = deadline.saturating_duration_since(Instant::now());
    (left / 8).clamp(RESERVE.0, RESERVE.1).min(left)
}

/// Returns the result of the document; an `io::Error` means that the connection to the child failed.
async fn converse<E>(
    child: &mut Child,
    mut pages: Looks,
    job: &Job,
    afford: impl AsyncFnOnce(u32) -> Result<(), E>,
) -> io::Result<Result<Answer, ReadError<E>>> {
    let told = Told::Read { kind: job.kind, options: job.options, can_ocr: child.can_ocr };
    child.tell(&told, &job.bytes).await?;
    let mut afford = Some(afford);
    loop {
        let said = child.hear().await?;
        match said {
            Said::Opened { pages } => {
                let afford = afford.take().ok_or_else(out_of_turn)?;
                if let Err(error) = afford(pages).await {
                    child.tell(&Told::Leave, &[]).await?;
                    return Ok(Err(ReadError::Afford(error)));
                }
                child.tell(&Told::Go, &[]).await?;
            }
            // No results before `Opened`: pages must be paid for before they are read.
            _ if afford.is_some() && !matches!(said, Said::Failed(_)) => return Err(out_of_turn()),
            Said::Expect(numbers) => pages.expect(&numbers),
            Said::Wants(number) => {
                let seen = pages.page(number).await;
                child.tell(&Told::Seen(seen), &[]).await?;
            }
            Said::Read(answer) => return Ok(Ok(*answer)),
            Said::Failed(failure) => return Ok(Err(failure.into())),
            Said::Ready { .. } | Said::Seen(_) => return Err(out_of_turn()),
        }
    }
}

fn out_of_turn() -> io::Error {
    io::Error::other("unexpected message from the child")
}
