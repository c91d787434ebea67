//! HTTP/1 as values: heads and bodies are understood without being rebuilt, so that what passes stays what it was.
//!
//! - [`fields`]: header fields, and what they say of a connection and of a body.
//! - [`request`]: the head of a request, checked strictly, and how it is spelled for the upstream.
//! - [`response`]: the head of a response, and how its body is framed.
//! - [`body`]: where a body ends, and which of its bytes are payload.
//! - [`answer`]: what the recorder says in its own name.

pub(crate) mod answer;
pub(crate) mod body;
pub(crate) mod fields;
pub(crate) mod request;
pub(crate) mod response;

/// The longest head that is read; longer ones are refused (requests) or passed on unread (responses).
pub(crate) const LONGEST_HEAD: usize = 256 << 10;

/// The most fields that a head may have.
pub(crate) const MOST_FIELDS: usize = 256;

/// The version's name.
pub(crate) fn version_name(minor: u8) -> &'static str {
    if minor == 0 { "HTTP/1.0" } else { "HTTP/1.1" }
}

/// Where the empty line of a head ends, if it is there; looks only at what came since `seen`.
pub(crate) fn end_of_head(data: &[u8], seen: usize) -> Option<usize> {
    let from = seen.saturating_sub(3);
    memchr::memmem::find(&data[from..], b"\r\n\r\n").map(|at| from + at + 4)
}
