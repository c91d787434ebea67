//! One exchange as the recording side hears of it.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use scribe::event::{Cause, Closing, Direction, Failure, Fields, Opening, ResponseHead, Timings, Via};

use crate::metrics::Metrics;
use crate::recording::intake::{Intake, Item, Piece, Step};

static NEXT_EXCHANGE: AtomicU64 = AtomicU64::new(1);

/// Where the steps of all exchanges go.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    pub(crate) intake: Arc<Intake>,
    pub(crate) metrics: Arc<Metrics>,
    /// Whether streams wait when the queue is full.
    pub(crate) lossless: bool,
}

/// One exchange. Dropped without a word, as when its task is ended, it still closes.
#[derive(Debug)]
pub(crate) struct Tape {
    recorder: Recorder,
    exchange: u64,
    began: Instant,
    upstream: String,
    status: Cell<u16>,
    timings: Cell<Timings>,
    /// Bytes and chunks that found no room: of the request, of the response.
    dropped: [Cell<(u64, u64)>; 2],
    /// Bytes of a tunnel, which are counted alone; nothing if this is none.
    passed: Option<[Cell<u64>; 2]>,
    ending: RefCell<Ending>,
    /// Steps that go along with the next: one turn at the queue for several.
    waiting: RefCell<Vec<Item>>,
    closed: Cell<bool>,
}

#[derive(Debug, Default)]
struct Ending {
    request_complete: bool,
    response_complete: bool,
    trailers: Fields,
}

impl Tape {
    /// The head of a request arrived.
    pub(crate) fn open(recorder: &Recorder, began: Instant, opening: Opening) -> Self {
        let exchange = NEXT_EXCHANGE.fetch_add(1, Relaxed);
        recorder.metrics.active.fetch_add(1, Relaxed);
        let upstream = opening.upstream.clone().unwrap_or_else(|| "none".to_owned());
        let tape = Self {
            recorder: recorder.clone(),
            exchange,
            began,
            upstream,
            status: Cell::default(),
            timings: Cell::default(),
            dropped: Default::default(),
            passed: (opening.via == Via::Tunnel).then(Default::default),
            ending: RefCell::default(),
            waiting: RefCell::default(),
            closed: Cell::new(false),
        };
        tape.hold(Step::Open(Box::new(opening)));
        tape
    }

    /// Say now what was to go along with the next step, since that may take a while.
    pub(crate) fn flush(&self) {
        let mut waiting = self.waiting.borrow_mut();
        if !waiting.is_empty() {
            self.recorder.intake.push_all(&mut waiting);
        }
    }

    /// The upstream is connected.
    pub(crate) fn connected(&self, anew: bool) {
        let at = if anew { self.elapsed() } else { 0 };
        self.update(|timings| timings.connected = Some(at));
    }

    /// The last byte of the request was handed on.
    pub(crate) fn request_sent(&self) {
        self.mark_sent();
        self.push(Step::Sent);
    }

    fn mark_sent(&self) {
        self.ending.borrow_mut().request_complete = true;
        let at = self.elapsed();
        self.update(|timings| timings.request_sent = Some(at));
    }

    pub(crate) fn is_request_sent(&self) -> bool {
        self.ending.borrow().request_complete
    }

    /// The head of a response arrived; it is said with what follows it.
    pub(crate) fn head(&self, mut head: ResponseHead) {
        if self.passed.is_some() {
            head = ResponseHead { reason: Vec::new(), fields: Fields::new(), ..head };
        }
        if head.status >= 200 || head.status == 101 {
            self.status.set(head.status);
            let at = self.elapsed();
            self.update(|timings| timings.first_byte = Some(at));
            self.recorder.metrics.first_byte.add(self.began.elapsed());
        }
        self.hold(Step::Head(Box::new(head)));
    }

    /// Bytes of the request's body were handed on, perhaps its last.
    pub(crate) async fn request_body(&self, data: &[u8], last: bool) {
        if last {
            self.mark_sent();
        }
        self.body(Direction::Request, data, last).await;
    }

    /// Bytes of the response's body were handed on.
    pub(crate) async fn response_body(&self, data: &[u8]) {
        self.body(Direction::Response, data, false).await;
    }

    /// Bytes went through a tunnel.
    pub(crate) fn count_passed(&self, direction: Direction, bytes: usize) {
        if let Some(passed) = &self.passed {
            let passed = &passed[usize::from(direction == Direction::Response)];
            passed.set(passed.get() + bytes as u64);
        }
    }

    /// Tell how much passed that nobody looked at.
    fn tell_passed(&self) {
        let Some([request, response]) = &self.passed else { return };
        let metrics = &self.recorder.metrics;
        let both = [
            (Direction::Request, request, &metrics.request_bytes),
            (Direction::Response, response, &metrics.response_bytes),
        ];
        for (direction, passed, counter) in both {
            let bytes = passed.replace(0);
            counter.fetch_add(bytes, Relaxed);
            self.hold(Step::Passed { direction, bytes });
        }
    }

    /// Waits only if nothing may be lost and the disk cannot keep up.
    async fn body(&self, direction: Direction, data: &[u8], last: bool) {
        let (counter, dropped) = match direction {
            Direction::Request => (&self.recorder.metrics.request_bytes, &self.dropped[0]),
            Direction::Response => (&self.recorder.metrics.response_bytes, &self.dropped[1]),
        };
        if self.passed.is_some() {
            self.count_passed(direction, data.len());
            if last {
                self.push(Step::Sent);
            }
            return;
        }
        counter.fetch_add(data.len() as u64, Relaxed);
        let piece = Piece { exchange: self.exchange, at: trace::clock::monotonic(), direction, data, last };
        let mut waiting = self.waiting.take();
        if self.recorder.lossless {
            if !self.recorder.intake.try_push_body(&mut waiting, &piece) {
                self.recorder.intake.push_body(piece).await;
            }
            return;
        }
        self.tell_dropped(direction, dropped);
        if !self.recorder.intake.try_push_body(&mut waiting, &piece) {
            let (bytes, chunks) = dropped.get();
            dropped.set((bytes + data.len() as u64, chunks + 1));
            self.recorder.metrics.dropped_bytes.fetch_add(data.len() as u64, Relaxed);
            self.recorder.metrics.dropped_chunks.fetch_add(1, Relaxed);
            if last {
                self.push(Step::Sent);
            }
        }
    }

    /// A hole is told before anything behind it.
    fn tell_dropped(&self, direction: Direction, dropped: &Cell<(u64, u64)>) {
        let (bytes, chunks) = dropped.get();
        if chunks > 0 && self.recorder.intake.has_room() {
            dropped.set((0, 0));
            self.push(Step::Dropped { cause: Cause::QueueFull, direction, bytes, chunks });
        }
    }

    /// Bytes of the response were handed on of which nobody can say what is payload among them.
    pub(crate) fn unreadable(&self, bytes: usize) {
        if self.passed.is_some() {
            return self.count_passed(Direction::Response, bytes);
        }
        let step = Step::Dropped {
            cause: Cause::Unreadable,
            direction: Direction::Response,
            bytes: bytes as u64,
            chunks: 1,
        };
        self.push(step);
    }

    /// All of the response was handed on.
    pub(crate) fn response_complete(&self, trailers: Fields) {
        let mut ending = self.ending.borrow_mut();
        ending.response_complete = true;
        ending.trailers = if self.passed.is_some() { Fields::new() } else { trailers };
    }

    /// Whether all that each side of a WebSocket had to say was handed on.
    pub(crate) fn complete(&self, request: bool, response: bool) {
        let mut ending = self.ending.borrow_mut();
        ending.request_complete = request;
        ending.response_complete = response;
    }

    pub(crate) fn is_response_complete(&self) -> bool {
        self.ending.borrow().response_complete
    }

    /// Whether the client has seen anything of a final response.
    pub(crate) fn has_responded(&self) -> bool {
        self.status.get() != 0
    }

    /// The exchange is over.
    pub(crate) fn close(&self, failure: Option<Failure>) {
        if self.closed.replace(true) {
            return;
        }
        for (direction, dropped) in
            [(Direction::Request, &self.dropped[0]), (Direction::Response, &self.dropped[1])]
        {
            let (bytes, chunks) = dropped.replace((0, 0));
            if chunks > 0 {
                self.push(Step::Dropped { cause: Cause::QueueFull, direction, bytes, chunks });
            }
        }
        self.tell_passed();
        let at = self.elapsed();
        self.update(|timings| timings.end = Some(at));
        let metrics = &self.recorder.metrics;
        metrics.active.fetch_sub(1, Relaxed);
        metrics.count_request(&self.upstream, self.status.get());
        if let Some(failure) = &failure {
            metrics.count_error(failure.code);
        }
        let Ending { request_complete, response_complete, trailers } = self.ending.take();
        let timings = self.timings.get();
        self.push(Step::Close(Box::new(Closing {
            failure,
            request_complete,
            response_complete,
            trailers,
            timings,
        })));
    }

    fn push(&self, step: Step) {
        self.hold(step);
        self.flush();
    }

    fn hold(&self, step: Step) {
        self.waiting.borrow_mut().push(Item { exchange: self.exchange, at: trace::clock::monotonic(), step });
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn update(&self, change: impl FnOnce(&mut Timings)) {
        let mut timings = self.timings.get();
        change(&mut timings);
        self.timings.set(timings);
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        let message = "the recorder was stopped before the exchange came to its end".to_owned();
        self.close(Some(Failure { at: "recorder", code: "stopped", message }));
    }
}
