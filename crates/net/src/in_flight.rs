//! Memory budget for the bodies of all requests of the process, from their first bytes until everything derived from them
//! is dropped.
//!
//! A body acquires memory piece by piece as it grows. That alone could deadlock, with many bodies that each hold a part and
//! wait for the rest. Therefore one pass exists besides the pool, which lets a single body grow to the largest size: a body
//! that cannot continue waits for the pool or for the pass, whichever is free first, and the holder of the pass can always
//! finish. The pool is the budget minus the largest body. One body waits for either at a time; the others queue fairly,
//! team by team.

use std::fmt;
use std::sync::Arc;

use base::Owner;
use cpu::line::Line;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Size up to which bodies are not counted, so that most pages never touch the budget.
const FREE: u64 = 1 << 20;
/// Bytes per permit of the semaphore.
const UNIT: u64 = 64 << 10;
/// Minimum number of bytes acquired at a time, so that large bodies wait less often.
const STEP: u64 = 2 << 20;
/// Memory per byte of a body while it is processed: the body, the copy that is parsed, the tree, and the text derived from
/// it.
const FACTOR: u64 = 4;
/// Minimum size of the pool, regardless of the settings.
const MIN_POOL: u64 = FACTOR * (8 << 20);

/// The memory budget. Clones share it.
#[derive(Clone)]
pub struct InFlight(Arc<Sources>);

struct Sources {
    pool: Arc<Semaphore>,
    pass: Arc<Semaphore>,
    /// Queue of the bodies that wait for the pool or the pass.
    turns: Line,
}

impl InFlight {
    /// Creates a budget of `bytes` for bodies of at most `largest` bytes each.
    #[must_use]
    pub fn new(bytes: u64, largest: u64) -> Self {
        let pool = bytes.saturating_sub(FACTOR.saturating_mul(largest)).max(MIN_POOL);
        let pool = usize::try_from(pool / UNIT).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        let (pool, pass) = (Arc::new(Semaphore::new(pool)), Arc::new(Semaphore::new(1)));
        Self(Arc::new(Sources { pool, pass, turns: Line::new(1, usize::MAX) }))
    }

    /// Creates the share of one body of an owner, initially empty.
    #[must_use]
    pub fn room(&self, owner: &Owner) -> Room {
        let held = RoomShare { sources: Some(Arc::clone(&self.0)), owner: owner.clone(), ..RoomShare::default() };
        Room(Arc::new(Mutex::new(held)))
    }
}

impl fmt::Debug for InFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InFlight {{ {} MiB free }}", (self.0.pool.available_permits() as u64 * UNIT) >> 20)
    }
}

/// Share of the budget held by one body. Clones share it; it is released when the last of them is dropped. The default
/// belongs to no budget and never waits.
#[derive(Clone, Default)]
pub struct Room(Arc<Mutex<RoomShare>>);

#[derive(Default)]
struct RoomShare {
    sources: Option<Arc<Sources>>,
    owner: Owner,
    permit: Option<OwnedSemaphorePermit>,
    pass: Option<OwnedSemaphorePermit>,
}

impl RoomShare {
    fn units(&self) -> u64 {
        self.permit.as_ref().map_or(0, |permit| permit.num_permits() as u64)
    }

    fn add(&mut self, more: OwnedSemaphorePermit) {
        match &mut self.permit {
            Some(permit) => permit.merge(more),
            none => *none = Some(more),
        }
    }
}

impl Room {
    fn held(&self) -> MutexGuard<'_, RoomShare> {
        self.0.lock()
    }

    /// Waits until the share covers a body of `bytes` and everything derived from it. Cheap when it already does.
    pub async fn grow(&self, bytes: u64) {
        if bytes <= FREE {
            return;
        }
        let (sources, owner, more) = {
            let mut held = self.held();
            let Some(sources) = held.sources.clone().filter(|_| held.pass.is_none()) else { return };
            let wanted = FACTOR.saturating_mul(bytes).div_ceil(UNIT);
            let Some(lacking) = wanted.checked_sub(held.units()).filter(|lacking| *lacking > 0) else { return };
            let more = u32::try_from(lacking.max(FACTOR * STEP / UNIT)).unwrap_or(u32::MAX);
            if let Ok(permit) = Arc::clone(&sources.pool).try_acquire_many_owned(more) {
                held.add(permit);
                return;
            }
            (sources, held.owner.clone(), more)
        };
        // Cannot fail: the queue has no limit and the semaphores are never closed.
        let _turn = sources.turns.wait(&owner).await.ok();
        tokio::select! {
            permit = Arc::clone(&sources.pool).acquire_many_owned(more) => {
                if let Ok(permit) = permit {
                    self.held().add(permit);
                }
            }
            pass = Arc::clone(&sources.pass).acquire_owned() => {
                let mut held = self.held();
                held.pass = pass.ok();
                // The pass covers the whole body, so the permits acquired before are released.
                held.permit = None;
            }
        }
    }

    /// Releases what exceeds `bytes` of finished data, which is no longer processed and counts once.
    pub fn shrink(&self, bytes: u64) {
        let mut held = self.held();
        let wanted = if bytes <= FREE { 0 } else { bytes.div_ceil(UNIT) };
        if held.pass.is_some() {
            // The pass is for bodies that still grow, so the rest moves to the pool if there is room.
            let Some(sources) = held.sources.clone() else { return };
            let Ok(units) = u32::try_from(wanted) else { return };
            let Ok(permit) = Arc::clone(&sources.pool).try_acquire_many_owned(units) else { return };
            held.permit = Some(permit);
            held.pass = None;
            return;
        }
        let surplus = held.units().saturating_sub(wanted);
        let surplus = usize::try_from(surplus).unwrap_or(usize::MAX);
        drop(held.permit.as_mut().and_then(|permit| permit.split(surplus)));
    }
}

impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.held();
        write!(f, "Room {{ {} KiB, pass: {} }}", (held.units() * UNIT) >> 10, held.pass.is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn budget() -> InFlight {
        // A pool for 20 MiB of bodies, and the pass for one of 40 MiB.
        InFlight::new(FACTOR * 60 * MIB, 40 * MIB)
    }

    fn free(budget: &InFlight) -> u64 {
        budget.0.pool.available_permits() as u64 * UNIT
    }

    async fn grows(room: &Room, bytes: u64) -> bool {
        timeout(Duration::from_millis(20), room.grow(bytes)).await.is_ok()
    }

    #[tokio::test]
    async fn small_bodies_are_free_and_large_ones_are_paid_until_they_are_gone() {
        let budget = budget();
        let all = free(&budget);
        let (small, large) = (budget.room(&Owner::default()), budget.room(&Owner::default()));
        assert!(grows(&small, MIB).await && free(&budget) == all);
        assert!(grows(&large, 10 * MIB).await);
        assert!(free(&budget) <= all - FACTOR * 10 * MIB);
        let shared = large.clone();
        drop(large);
        shared.shrink(4 * MIB);
        assert_eq!(free(&budget), all - 4 * MIB);
        shared.shrink(MIB);
        assert_eq!(free(&budget), all);
        assert!(grows(&shared, 5 * MIB).await);
        drop(shared);
        assert_eq!(free(&budget), all);
        assert!(grows(&Room::default(), 1 << 40).await);
    }

    #[tokio::test]
    async fn where_the_pool_is_empty_one_goes_on_after_the_other() {
        let budget = budget();
        let all = free(&budget);
        let rooms: Vec<Room> = (0..4).map(|_| budget.room(&Owner::default())).collect();
        for room in &rooms {
            assert!(grows(room, 4 * MIB).await);
        }
        // Each holds a part, and none of them could finish with the pool alone.
        assert!(grows(&rooms[0], 40 * MIB).await);
        assert!(grows(&rooms[1], 8 * MIB).await, "the first one's part is free again");
        assert!(!grows(&rooms[2], 40 * MIB).await && !grows(&rooms[3], 40 * MIB).await);
        let (third, fourth) = (rooms[2].clone(), rooms[3].clone());
        let waiting = tokio::spawn(async move {
            third.grow(40 * MIB).await;
            drop(third);
        });
        let mut rooms = rooms.into_iter();
        drop((rooms.next(), rooms.next(), rooms.next()));
        waiting.await.unwrap();
        assert!(grows(&fourth, 40 * MIB).await);
        drop((fourth, rooms));
        assert_eq!(free(&budget), all);
    }

    #[tokio::test]
    async fn teams_take_turns() {
        let budget = budget();
        let order = Arc::new(Mutex::new(Vec::new()));
        let (first, second) = (budget.room(&Owner::default()), budget.room(&Owner::default()));
        assert!(grows(&first, 40 * MIB).await && grows(&second, 20 * MIB).await);
        let mut waiting = Vec::new();
        for name in ["many 1", "many 2", "many 3", "many 4", "other 1"] {
            let (room, order) = (budget.room(&Owner::new(&name[..5], name)), Arc::clone(&order));
            waiting.push(tokio::spawn(async move {
                room.grow(40 * MIB).await;
                order.lock().push(name);
            }));
            tokio::task::yield_now().await;
        }
        drop(first);
        for one in waiting {
            one.await.unwrap();
        }
        // The first two had their turn before the other team arrived.
        assert_eq!(*order.lock(), ["many 1", "many 2", "other 1", "many 3", "many 4"]);
        drop(second);
    }

    #[tokio::test]
    async fn what_is_finished_leaves_the_pass_to_the_next() {
        let budget = budget();
        let (first, second) = (budget.room(&Owner::default()), budget.room(&Owner::default()));
        assert!(grows(&first, 40 * MIB).await);
        assert!(!grows(&second, 40 * MIB).await);
        first.shrink(40 * MIB);
        assert!(grows(&second, 40 * MIB).await);
        second.shrink(40 * MIB);
        // Finished texts fill the pool: the next one keeps the pass until one of them is dropped.
        let (third, fourth) = (budget.room(&Owner::default()), budget.room(&Owner::default()));
        assert!(grows(&third, 40 * MIB).await);
        third.shrink(40 * MIB);
        assert!(!grows(&fourth, 40 * MIB).await);
        drop(first);
        third.shrink(40 * MIB);
        assert!(grows(&fourth, 40 * MIB).await);
    }
}
