//! Segments for the corpus, written record by record.

use wal::chain::{Chain, Root};
use wal::ids::Id;
use wal::record::{self, Kind, Record};
use wal::segment::Header;

/// The trace that all segments of the corpus belong to.
const TRACE: Id = Id(0x0193_3A5E_0000_7000_8000_0000_0000_0001);

/// The recorder that wrote them.
const INSTANCE: Id = Id(0x0193_3A5E_0001_7000_8000_0000_0000_0002);

/// 2026-11-16T12:00:00Z.
const WALL: i64 = 1_794_830_400_000_000_000;

/// When the first segment began, by the monotonic clock.
pub(crate) const START: u64 = 5_000_000_000;

/// The `number`th request of the corpus.
pub(crate) fn request(number: u128) -> Id {
    Id(0x0193_3A5E_0100_7000_8000_0000_0000_0000 + number)
}

/// A segment in the making.
pub(crate) struct Draft {
    pub(crate) header: Header,
    pub(crate) bytes: Vec<u8>,
    chain: Chain,
    next_sequence: u64,
    now: u64,
    /// Where each record begins.
    pub(crate) offsets: Vec<usize>,
}

impl Draft {
    /// The first segment of a trace.
    pub(crate) fn first() -> Self {
        Self::numbered(1, Root::default(), 1)
    }

    /// A segment of the trace.
    pub(crate) fn numbered(number: u64, previous_root: Root, first_sequence: u64) -> Self {
        let seconds = number - 1;
        Self::with_header(Header {
            number,
            id: Id(0x0193_3A5E_0002_7000_8000_0000_0000_0000 + u128::from(number)),
            trace: TRACE,
            instance: INSTANCE,
            previous_root,
            first_sequence,
            wall: WALL + i64::try_from(seconds).unwrap() * 1_000_000_000,
            monotonic: START + seconds * 1_000_000_000,
            boot: *b"boot of a corpus",
            policy: "2026.11.3".to_owned(),
        })
    }

    pub(crate) fn with_header(header: Header) -> Self {
        let bytes = header.encode();
        let chain = Chain::new(&bytes);
        let (next_sequence, now) = (header.first_sequence, header.monotonic);
        Self { header, bytes, chain, next_sequence, now, offsets: Vec::new() }
    }

    /// Append a record, a millisecond after the one before.
    pub(crate) fn add(
        &mut self,
        kind: Kind,
        flags: u16,
        request: Id,
        payload: impl AsRef<[u8]>,
    ) -> &mut Self {
        self.now += 1_000_000;
        let (kind, sequence, monotonic) = (kind.code(), self.next_sequence, self.now);
        let payload = payload.as_ref();
        self.add_record(&Record { version: 1, kind, flags, sequence, monotonic, request, payload })
    }

    /// Append this very record.
    pub(crate) fn add_record(&mut self, record: &Record<'_>) -> &mut Self {
        let range = record::encode(&mut self.bytes, self.header.id, record);
        self.offsets.push(range.start);
        self.chain.update(&self.bytes[range.start + 4..range.end]);
        self.next_sequence = record.sequence + 1;
        self
    }

    /// Leave out sequences, as if their records had been lost.
    pub(crate) fn skip(&mut self, sequences: u64) -> &mut Self {
        self.next_sequence += sequences;
        self
    }

    /// Append a checkpoint of all so far; `more` are further keys.
    pub(crate) fn checkpoint(&mut self, reason: &str, more: &str) -> &mut Self {
        let (sequence, root) = (self.next_sequence - 1, self.root());
        let monotonic = self.now + 1_000_000;
        let wall = self.header.wall + i64::try_from(monotonic - self.header.monotonic).unwrap();
        let payload = format!(
            r#"{{"reason":"{reason}","sequence":{sequence},"root":"{root}","wall":{wall},"monotonic":{monotonic}{more}}}"#
        );
        self.add(Kind::Checkpoint, 0, Id::default(), payload)
    }

    /// Append a whole exchange: a short question, answered as a stream of events.
    pub(crate) fn exchange(&mut self, id: Id, question: &str, answer: &[&str]) -> &mut Self {
        let body = format!(
            r#"{{"model":"m-1","stream":true,"max_tokens":64,"messages":[{{"role":"user","content":"{question}"}}]}}"#
        );
        self.add(Kind::RequestStart, record::flags::REDACTED, id, request_start(body.len()));
        self.add(Kind::RequestBody, 0, id, &body);
        self.add(Kind::ResponseStart, 0, id, RESPONSE_START);
        let mut stored = 0;
        for word in answer {
            let event = format!(
                "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{word}\"}}}}\n\n"
            );
            stored += event.len();
            self.add(Kind::ResponseBody, 0, id, event);
        }
        self.add(Kind::ResponseEnd, 0, id, response_end(body.len(), stored))
    }

    /// The root of all so far.
    pub(crate) fn root(&self) -> Root {
        self.chain.root()
    }

    /// The sequence that the next record would have.
    pub(crate) fn next_sequence(&self) -> u64 {
        self.next_sequence
    }
}

pub(crate) fn request_start(length: usize) -> String {
    format!(
        r#"{{"method":"POST","target":"/v1/messages","version":"HTTP/1.1","headers":[["Host","127.0.0.1:4141"],["x-api-key","[redacted:header]"],["content-type","application/json"],["content-length","{length}"]],"upstream":"anthropic","url":"https://api.anthropic.com/v1/messages","session":"harbour","task":"t1","run":"run_01JCX5W00G7000000000000001","attribution":"run","client":{{}},"mode":"full","policy":"2026.11.3"}}"#
    )
}

pub(crate) const RESPONSE_START: &str =
    r#"{"status":200,"reason":"OK","version":"HTTP/1.1","headers":[["content-type","text/event-stream"]]}"#;

fn response_end(request: usize, response: usize) -> String {
    let hmac = "5c".repeat(32);
    format!(
        r#"{{"request":{{"wire":{request},"decoded":{request},"stored":{request},"encoding":null,"hmac":"{hmac}","complete":true,"redactions":{{}}}},"response":{{"wire":{response},"decoded":{response},"stored":{response},"encoding":null,"hmac":"{hmac}","complete":true,"redactions":{{}},"trailers":[]}},"timings":{{"connected":210,"request_sent":400,"first_byte":3000,"end":9000}},"kept":{{}}}}"#
    )
}
