//! Outgoing messages of the pipe. Each page, with its workers and frames, and each client has a queue ("lane") of its
//! own. Deficit round-robin by bytes keeps one lane from delaying the others.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::error::CdpError;

/// Bytes that a lane may send per turn while others are waiting.
const TURN: usize = 64 << 10;
/// Bytes that may wait in one lane, plus one message, so that a large one gets through.
const MAX_LANE: usize = 4 << 20;
/// Bytes that may wait in all lanes together. A message is always accepted by an empty lane.
const MAX_ALL: usize = 32 << 20;

/// Number of messages in a lane up to which others are added without waiting.
const MAX_UNASKED: usize = 4096;

/// Id of the lane: the root session of a page or a client, or `None` for the browser itself.
pub(crate) type Lane = Option<Arc<str>>;

/// Lanes of one pipe.
#[derive(Default)]
pub(crate) struct OutgoingLanes {
    lanes: Mutex<Lanes>,
    /// Notified when a message is ready to be written.
    ready: Notify,
    /// Notified when a lane may have room again.
    room: Notify,
}

#[derive(Default)]
struct Lanes {
    waiting: HashMap<Lane, Queue>,
    /// Lanes with waiting messages, in the order of their turns.
    turns: VecDeque<Lane>,
    bytes: usize,
    closed: bool,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Bytes that it may still send in this turn.
    credit: usize,
}

impl OutgoingLanes {
    /// Queues a message, waiting for room in its lane.
    ///
    /// # Errors
    /// `Closed`.
    pub(crate) async fn put(&self, lane: &Lane, message: Vec<u8>) -> Result<(), CdpError> {
        loop {
            // Created before the look: it also receives a notification that comes between the look and the wait.
            let room = self.room.notified();
            {
                let mut lanes = self.lanes.lock();
                if lanes.closed {
                    return Err(CdpError::Closed);
                }
                if lanes.has_room(lane) {
                    lanes.push(lane, message);
                    break;
                }
            }
            room.await;
        }
        self.ready.notify_one();
        Ok(())
    }

    /// Queues a small message of our own without waiting, even if the lane is full for others. Dropped if very many
    /// messages are waiting.
    pub(crate) fn put_now(&self, lane: &Lane, message: Vec<u8>) {
        let mut lanes = self.lanes.lock();
        if !lanes.closed && lanes.waiting.get(lane).is_none_or(|queue| queue.messages.len() < MAX_UNASKED) {
            lanes.push(lane, message);
            self.ready.notify_one();
        }
    }

    /// Returns the next message to write; `None` once closed.
    pub(crate) async fn next(&self) -> Option<Vec<u8>> {
        loop {
            {
                let mut lanes = self.lanes.lock();
                if lanes.closed {
                    return None;
                }
                if let Some(message) = lanes.take() {
                    self.room.notify_waiters();
                    return Some(message);
                }
            }
            self.ready.notified().await;
        }
    }

    /// Closes all lanes because the other end is gone.
    pub(crate) fn close(&self) {
        // Dropping the messages frees them at once; all waiting tasks are woken and see `closed`.
        *self.lanes.lock() = Lanes { closed: true, ..Lanes::default() };
        self.room.notify_waiters();
        self.ready.notify_one();
    }
}

impl Lanes {
    fn has_room(&self, lane: &Lane) -> bool {
        self.waiting.get(lane).is_none_or(|queue| queue.bytes < MAX_LANE && self.bytes < MAX_ALL)
    }

    fn push(&mut self, lane: &Lane, message: Vec<u8>) {
        if !self.waiting.contains_key(lane) {
            self.turns.push_back(lane.clone());
        }
        let queue = self.waiting.entry(lane.clone()).or_default();
        queue.bytes += message.len();
        self.bytes += message.len();
        queue.messages.push_back(message);
    }

    /// Removes the next message. A lane whose credit does not cover its message collects more with each turn.
    fn take(&mut self) -> Option<Vec<u8>> {
        loop {
            let lane = self.turns.front()?;
            let queue = self.waiting.get_mut(lane)?;
            let size = queue.messages.front().map_or(0, Vec::len);
            // The lane keeps its turn until its credit is used up. What is left of the credit is forgotten when the
            // lane becomes empty, so that an idle lane saves nothing up.
            if queue.credit < size {
                queue.credit += TURN;
                self.turns.rotate_left(1);
                continue;
            }
            let message = queue.messages.pop_front()?;
            queue.credit -= size;
            queue.bytes -= size;
            self.bytes -= size;
            if queue.messages.is_empty()
                && let Some(lane) = self.turns.pop_front()
            {
                self.waiting.remove(&lane);
            }
            return Some(message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(name: &str) -> Lane {
        Some(Arc::from(name))
    }

    /// Writes messages and returns their lengths.
    async fn written(out: &OutgoingLanes, count: usize) -> Vec<usize> {
        let mut sizes = Vec::new();
        for _ in 0..count {
            sizes.push(out.next().await.unwrap().len());
        }
        sizes
    }

    #[tokio::test]
    async fn small_messages_do_not_wait_behind_large_ones_of_others() {
        let out = OutgoingLanes::default();
        for _ in 0..3 {
            out.put(&lane("large"), vec![0; 1 << 20]).await.unwrap();
        }
        for size in [10, 20, 30] {
            out.put(&lane("small"), vec![0; size]).await.unwrap();
        }
        out.put(&None, vec![0; 40]).await.unwrap();
        let order = written(&out, 7).await;
        assert_eq!(order[..4].iter().sum::<usize>(), 100, "{order:?}");
        assert_eq!(order[4..], [1 << 20; 3]);
        assert!(
            out.lanes.lock().waiting.is_empty() && out.lanes.lock().turns.is_empty() && out.lanes.lock().bytes == 0
        );
    }

    #[tokio::test]
    async fn a_lane_keeps_its_order() {
        let out = OutgoingLanes::default();
        for size in [1, 100_000, 2, 200_000, 3] {
            out.put(&lane("a"), vec![0; size]).await.unwrap();
            out.put(&lane("b"), vec![0; 70_000 + size]).await.unwrap();
        }
        let order = written(&out, 10).await;
        let of_a: Vec<_> = order.into_iter().filter(|size| [1, 100_000, 2, 200_000, 3].contains(size)).collect();
        assert_eq!(of_a, [1, 100_000, 2, 200_000, 3]);
    }

    #[tokio::test]
    async fn a_full_lane_waits_and_another_does_not() {
        let out = Arc::new(OutgoingLanes::default());
        // The total limit is reached by eight full lanes.
        for number in 0..8 {
            out.put(&lane(&number.to_string()), vec![0; MAX_LANE]).await.unwrap();
        }
        let waits = {
            let out = Arc::clone(&out);
            tokio::spawn(async move { out.put(&lane("0"), vec![0; 1]).await })
        };
        out.put(&lane("calm"), vec![0; 5]).await.unwrap();
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        assert_eq!(written(&out, 1).await, [5]);
        written(&out, 8).await;
        assert_eq!(waits.await.unwrap(), Ok(()));
        assert_eq!(written(&out, 1).await, [1]);
    }

    #[tokio::test]
    async fn what_cannot_wait_goes_into_a_full_lane() {
        let out = OutgoingLanes::default();
        out.put(&None, vec![0; 3 * MAX_LANE]).await.unwrap();
        for size in 1..=MAX_UNASKED {
            out.put_now(&None, vec![0; size % 10]);
        }
        assert_eq!(out.lanes.lock().waiting.get(&Lane::None).map(|queue| queue.messages.len()), Some(MAX_UNASKED));
        assert_eq!(written(&out, 3).await, [3 * MAX_LANE, 1, 2]);
    }

    #[tokio::test]
    async fn the_end_ends_those_who_wait() {
        let out = Arc::new(OutgoingLanes::default());
        out.put(&None, vec![0; MAX_LANE]).await.unwrap();
        let waits = {
            let out = Arc::clone(&out);
            tokio::spawn(async move { out.put(&None, vec![0; 1]).await })
        };
        tokio::task::yield_now().await;
        out.close();
        assert_eq!(waits.await.unwrap(), Err(CdpError::Closed));
        assert!(out.next().await.is_none());
        assert_eq!(out.put(&None, Vec::new()).await, Err(CdpError::Closed));
    }
}
