//! What holds for any segment: it reads back, damage shows, and a seal gives back the very bytes.

#![expect(clippy::unwrap_used, reason = "a test that panics has done its job")]

mod damage;
mod drafts;
mod reading;
mod sealing;
