//! What the relay tells the scribe: each step of an exchange, as it happened on the wire.

use serde::Serialize;
use wal::ids::Id;

/// One step of one exchange.
#[derive(Debug)]
pub struct Event<'a> {
    /// Which exchange, unique within this process.
    pub exchange: u64,
    /// When it happened, in monotonic nanoseconds.
    pub at: u64,
    /// What happened.
    pub what: What<'a>,
}

/// What can happen in an exchange. `Open` comes first and `Close` last, each exactly once.
#[derive(Debug)]
pub enum What<'a> {
    /// The head of a request arrived.
    Open(&'a Opening),
    /// Bytes of the request's body passed, without transfer coding.
    RequestBody(&'a [u8]),
    /// All of the request's body passed.
    RequestSent,
    /// The head of a response arrived; informational ones come before the final one.
    ResponseHead(&'a ResponseHead),
    /// Bytes of the response's body passed, without transfer coding.
    ResponseBody(&'a [u8]),
    /// Bytes passed that cannot be recorded.
    Dropped {
        /// Why.
        cause: Cause,
        /// Whose body they belong to.
        direction: Direction,
        /// How many.
        bytes: u64,
        /// In how many pieces they came.
        chunks: u64,
    },
    /// Bytes passed that are counted and otherwise nobody's business.
    Passed {
        /// Which way they went.
        direction: Direction,
        /// How many.
        bytes: u64,
    },
    /// The exchange is over.
    Close(&'a Closing),
}

/// Why bytes that passed cannot be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The queue had no room for them (degrade mode).
    QueueFull,
    /// Their transfer coding is broken, so what is text among them is not known.
    Unreadable,
}

/// Which way bytes went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the client to the provider.
    Request,
    /// From the provider to the client.
    Response,
}

/// Header fields as they stood on the wire: name and value, in order.
pub type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// The head of a request, and where it goes.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// The id of the request.
    pub request: Id,
    /// Such as `POST`.
    pub method: String,
    /// Path and query, without run prefix and upstream's name.
    pub target: Vec<u8>,
    /// `HTTP/1.1` or `HTTP/1.0`.
    pub version: &'static str,
    /// All fields that the client sent, but for the token of the recorder itself.
    pub fields: Fields,
    /// The name of the upstream, `default`, or nothing if there is none.
    pub upstream: Option<String>,
    /// The address that the request is forwarded to.
    pub url: Option<String>,
    /// Which run it belongs to.
    pub identity: Identity,
    /// The client's own ids that its headers showed, by a name of ours.
    pub client: Vec<(&'static str, String)>,
    /// Whether the path is one that a known dialect has.
    pub recognised: bool,
    /// How the client reached the recorder.
    pub via: Via,
}

/// How a client reached the recorder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Via {
    /// By a base URL that names the recorder.
    #[default]
    Reverse,
    /// As a proxy, to a host that is recorded.
    Forward,
    /// As a proxy, to any other host: bytes are counted, and not one of them is looked at.
    Tunnel,
}

/// Which run an exchange belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// The session, if there is one.
    pub session: Option<String>,
    /// The task, if there is one.
    pub task: Option<String>,
    /// The run, if there is one.
    pub run: Option<String>,
    /// How it is known.
    pub attribution: Attribution,
}

/// How the run of an exchange is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Attribution {
    /// By a run that was registered over the control socket.
    Run,
    /// By ids that nobody registered.
    Claimed,
    /// By the client's own session id.
    Client,
    /// Not at all.
    #[default]
    None,
}

/// The head of a response.
#[derive(Debug, Clone, Default)]
pub struct ResponseHead {
    /// Such as 200.
    pub status: u16,
    /// Such as `OK`.
    pub reason: Vec<u8>,
    /// `HTTP/1.1` or `HTTP/1.0`.
    pub version: &'static str,
    /// All fields, in order.
    pub fields: Fields,
}

/// How an exchange ended.
#[derive(Debug, Clone, Default)]
pub struct Closing {
    /// What went wrong, if anything did.
    pub failure: Option<Failure>,
    /// Whether all of the request passed.
    pub request_complete: bool,
    /// Whether all of the response passed.
    pub response_complete: bool,
    /// Trailer fields of the response.
    pub trailers: Fields,
    /// When what happened.
    pub timings: Timings,
}

/// What went wrong, where and why.
#[derive(Debug, Clone)]
pub struct Failure {
    /// `client`, `upstream` or `recorder`.
    pub at: &'static str,
    /// One of the codes of wal/1.
    pub code: &'static str,
    /// A sentence for people; holds no header or body of theirs.
    pub message: String,
}

/// Microseconds since the first byte of the request; what was not reached is missing.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Timings {
    /// The upstream was connected; 0 if it was already.
    pub connected: Option<u64>,
    /// The last byte of the request was handed on.
    pub request_sent: Option<u64>,
    /// The first byte of the final response arrived.
    pub first_byte: Option<u64>,
    /// The exchange ended.
    pub end: Option<u64>,
}

/// What is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Everything, redacted.
    #[default]
    Full,
    /// No bodies.
    Privacy,
    /// Of bodies only what a short list of keys names.
    Passthrough,
}
