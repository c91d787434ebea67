//! The queue between what forwards and what records: bounded by bytes, and never in the way of forwarding.
//!
//! Forwarding threads append to one batch under a short lock; the recording thread takes the whole batch at once. Body
//! bytes lie one after the other in one buffer, so that taking a chunk costs a copy and no allocation.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use scribe::event::{Cause, Closing, Direction, Opening, ResponseHead};
use tokio::sync::Notify;

use crate::metrics::{Metrics, lock};
use crate::recording::orders::Order;

/// How long a small batch is left to grow, so that one look serves many chunks. Twice this is less than the 5 ms within
/// which everything is handed to the operating system.
const GATHERING: Duration = Duration::from_millis(2);

/// A batch of this size is taken at once.
const FULL_BATCH: usize = 256 << 10;

/// What a step weighs besides its body bytes.
const STEP_WEIGHT: usize = 64;

/// A step of an exchange, or an order, on its way to the recording thread.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) exchange: u64,
    /// Monotonic nanoseconds.
    pub(crate) at: u64,
    pub(crate) step: Step,
}

/// What happened. Body bytes lie in the batch.
#[derive(Debug)]
pub(crate) enum Step {
    Open(Box<Opening>),
    Sent,
    Head(Box<ResponseHead>),
    Body(Direction, usize),
    Dropped { cause: Cause, direction: Direction, bytes: u64, chunks: u64 },
    Passed { direction: Direction, bytes: u64 },
    Close(Box<Closing>),
    Order(Order),
}

/// Bytes of a body that passed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece<'a> {
    pub(crate) exchange: u64,
    /// Monotonic nanoseconds.
    pub(crate) at: u64,
    pub(crate) direction: Direction,
    pub(crate) data: &'a [u8],
    /// Whether the request is all there with them.
    pub(crate) last: bool,
}

/// Steps in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) items: Vec<Item>,
    pub(crate) bytes: Vec<u8>,
}

impl Batch {
    fn weight(&self) -> usize {
        self.bytes.len() + self.items.len() * STEP_WEIGHT
    }

    fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    fn add(&mut self, piece: &Piece) {
        let Piece { exchange, at, direction, data, last } = *piece;
        self.bytes.extend_from_slice(data);
        self.items.push(Item { exchange, at, step: Step::Body(direction, data.len()) });
        if last {
            self.items.push(Item { exchange, at, step: Step::Sent });
        }
    }

    /// Make it empty; memory that a burst needed is given back.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.bytes.clear();
        self.bytes.shrink_to(FULL_BATCH * 4);
        self.items.shrink_to(16 << 10);
    }
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "four things that are so or not, none of which excludes another"
)]
#[derive(Debug, Default)]
struct State {
    batch: Batch,
    /// Forwarding waits for room.
    waiting: bool,
    /// The recording thread waits to be woken.
    asleep: bool,
    /// Somebody waits for the answer to an order: an agent, perhaps, whose hook does.
    asked: bool,
    closed: bool,
}

impl State {
    /// Whether what is there should be taken at once.
    fn is_urgent(&self) -> bool {
        self.closed || self.waiting || self.asked || self.batch.weight() >= FULL_BATCH
    }
}

/// The queue.
#[derive(Debug)]
pub(crate) struct Intake {
    state: Mutex<State>,
    filled: Condvar,
    room: Notify,
    capacity: usize,
    metrics: Arc<Metrics>,
}

impl Intake {
    pub(crate) fn new(capacity: usize, metrics: Arc<Metrics>) -> Self {
        Self { state: Mutex::default(), filled: Condvar::new(), room: Notify::new(), capacity, metrics }
    }

    /// Add a step that is never dropped and never waits.
    pub(crate) fn push(&self, item: Item) {
        self.push_all(&mut vec![item]);
    }

    /// Add steps that are never dropped and never wait.
    pub(crate) fn push_all(&self, items: &mut Vec<Item>) {
        let mut state = lock(&self.state);
        state.asked |= items.iter().any(|item| matches!(item.step, Step::Order(_)));
        state.batch.items.append(items);
        self.added(&mut state);
    }

    /// Add body bytes if there is room, and in any case the steps before them.
    pub(crate) fn try_push_body(&self, before: &mut Vec<Item>, piece: &Piece) -> bool {
        let mut state = lock(&self.state);
        state.batch.items.append(before);
        let fits = state.batch.bytes.is_empty() || state.batch.weight() + piece.data.len() <= self.capacity;
        if fits {
            state.batch.add(piece);
        } else {
            state.waiting = true;
        }
        self.added(&mut state);
        fits
    }

    /// Whether the queue would take a small step without growing beyond its bound.
    pub(crate) fn has_room(&self) -> bool {
        lock(&self.state).batch.weight() < self.capacity
    }

    /// Add body bytes that found no room, waiting until there is some. If the wait is broken off with the exchange,
    /// they are added all the same: they passed.
    pub(crate) async fn push_body(&self, piece: Piece<'_>) {
        self.metrics.backpressure.fetch_add(1, Relaxed);
        let mut wait = Wait { intake: self, piece, over: false };
        loop {
            let room = self.room.notified();
            tokio::pin!(room);
            // Registered before the second look, or room made in between would go unnoticed.
            room.as_mut().enable();
            if self.try_push_body(&mut Vec::new(), &wait.piece) {
                wait.over = true;
                return;
            }
            room.await;
        }
    }

    /// Wake the other side if it has gone to sleep, or if it should not gather any longer; it looks by itself every few
    /// milliseconds as long as anything happens, so that traffic is not slowed down by waking it.
    fn added(&self, state: &mut State) {
        self.metrics.queue_bytes.store(state.batch.weight() as u64, Relaxed);
        if std::mem::take(&mut state.asleep) || state.is_urgent() {
            self.filled.notify_one();
        }
    }

    /// Take all that came, in exchange for an empty batch. Waits at most `patience` for anything to come; the answer
    /// is `false` once the queue is closed and empty.
    pub(crate) fn take(&self, batch: &mut Batch, patience: Duration) -> bool {
        let mut state = self.wait(lock(&self.state), GATHERING, |state| !state.is_urgent());
        if state.batch.is_empty() && !state.closed {
            state.asleep = true;
            state = self.wait(state, patience, |state| state.batch.is_empty() && !state.closed);
            state.asleep = false;
            state = self.wait(state, GATHERING, |state| !state.batch.is_empty() && !state.is_urgent());
        }
        std::mem::swap(&mut state.batch, batch);
        state.asked = false;
        self.metrics.queue_bytes.store(0, Relaxed);
        if std::mem::take(&mut state.waiting) {
            self.room.notify_waiters();
        }
        !(state.closed && batch.is_empty())
    }

    fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        longest: Duration,
        mut go_on: impl FnMut(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        let waited = self.filled.wait_timeout_while(state, longest, |state| go_on(state));
        waited.unwrap_or_else(std::sync::PoisonError::into_inner).0
    }

    /// Nothing more will come.
    pub(crate) fn close(&self) {
        lock(&self.state).closed = true;
        self.filled.notify_one();
    }
}

/// A piece that waits for room.
struct Wait<'a> {
    intake: &'a Intake,
    piece: Piece<'a>,
    over: bool,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if !self.over {
            let mut state = lock(&self.intake.state);
            state.batch.add(&self.piece);
            self.intake.added(&mut state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn try_push(intake: &Intake, exchange: u64, at: u64, data: &[u8]) -> bool {
        intake.try_push_body(&mut vec![], &piece(exchange, at, data))
    }

    fn piece(exchange: u64, at: u64, data: &[u8]) -> Piece<'_> {
        Piece { exchange, at, direction: Direction::Request, data, last: false }
    }

    fn intake(capacity: usize) -> Intake {
        Intake::new(capacity, Arc::default())
    }

    #[test]
    fn steps_come_out_in_the_order_in_which_they_went_in() {
        let intake = intake(1 << 20);
        assert!(try_push(&intake, 1, 10, b"ab"));
        assert!(try_push(&intake, 2, 11, b"cde"));
        intake.close();
        let mut batch = Batch::default();
        assert!(intake.take(&mut batch, Duration::ZERO));
        assert_eq!(batch.bytes, b"abcde");
        let steps: Vec<(u64, u64)> = batch.items.iter().map(|item| (item.exchange, item.at)).collect();
        assert_eq!(steps, [(1, 10), (2, 11)]);
        batch.clear();
        assert!(!intake.take(&mut batch, Duration::ZERO));
    }

    #[test]
    fn an_order_is_not_left_to_gather() {
        let intake = intake(1000);
        let (reply, _answer) = tokio::sync::oneshot::channel();
        intake.push(Item { exchange: 0, at: 0, step: Step::Order(Order::Closed(reply)) });
        assert!(lock(&intake.state).is_urgent());
        let mut batch = Batch::default();
        assert!(intake.take(&mut batch, Duration::ZERO));
        assert!(!lock(&intake.state).is_urgent());
    }

    #[test]
    fn a_full_queue_takes_no_body_but_every_other_step() {
        let intake = intake(200);
        assert!(try_push(&intake, 1, 0, &[0; 150]));
        assert!(!try_push(&intake, 1, 0, b"x"));
        let mut before = vec![Item { exchange: 2, at: 0, step: Step::Close(Box::default()) }];
        assert!(!intake.try_push_body(&mut before, &piece(1, 0, b"x")));
        assert!(before.is_empty());
        intake.push(Item { exchange: 1, at: 0, step: Step::Close(Box::default()) });
        let mut batch = Batch::default();
        intake.take(&mut batch, Duration::ZERO);
        assert_eq!(batch.items.len(), 3);
        assert!(try_push(&intake, 1, 0, b"x"));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_wait_that_is_broken_off_loses_nothing() {
        let intake = intake(100);
        assert!(try_push(&intake, 1, 0, &[0; 100]));
        {
            let push = intake.push_body(piece(1, 1, &[1; 100]));
            tokio::pin!(push);
            assert!(tokio::time::timeout(Duration::ZERO, &mut push).await.is_err());
        }
        let mut batch = Batch::default();
        intake.take(&mut batch, Duration::ZERO);
        assert_eq!((batch.items.len(), batch.bytes.len()), (2, 200));
    }

    #[test]
    fn a_chunk_larger_than_the_queue_still_passes() {
        assert!(try_push(&intake(10), 1, 0, &[0; 1000]));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_stream_waits_until_there_is_room() {
        let intake = Arc::new(intake(100));
        assert!(try_push(&intake, 1, 0, &[0; 100]));
        let waiting = Arc::clone(&intake);
        let push = async move { waiting.push_body(piece(1, 1, &[1; 100])).await };
        let drain = async {
            tokio::task::yield_now().await;
            let mut batch = Batch::default();
            intake.take(&mut batch, Duration::ZERO);
            batch.items.len()
        };
        let ((), taken) = tokio::join!(push, drain);
        assert_eq!(taken, 1);
        let mut batch = Batch::default();
        intake.take(&mut batch, Duration::ZERO);
        assert_eq!((batch.items[0].at, batch.bytes.len()), (1, 100));
    }
}
