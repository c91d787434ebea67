//! How a recorder ends: first nothing new is begun, later nothing is waited for.

use std::cell::Cell;
use std::time::{Duration, Instant};

use tokio::sync::watch;

/// How long nothing may pass before whoever holds a connection open for later is not waited for.
const SILENCE: Duration = Duration::from_secs(1);

/// How far the end has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Running,
    /// What is under way may finish.
    Draining,
    /// Everything ends now.
    Now,
}

/// Tells when the end begins.
#[derive(Debug, Clone)]
pub(crate) struct Stop(pub(crate) watch::Receiver<Phase>);

impl Stop {
    pub(crate) fn is_draining(&self) -> bool {
        *self.0.borrow() >= Phase::Draining
    }

    /// Waits until nothing new is to be begun.
    pub(crate) async fn draining(&mut self) {
        self.reached(Phase::Draining).await;
    }

    /// Waits until nothing new is to be begun and nothing has passed for a while, given when something last did.
    pub(crate) async fn silent(&mut self, last: &Cell<Instant>) {
        self.draining().await;
        while let Some(left) = SILENCE.checked_sub(last.get().elapsed()) {
            tokio::time::sleep(left.max(Duration::from_millis(1))).await;
        }
    }

    /// Waits until everything is to end.
    pub(crate) async fn now(&mut self) {
        self.reached(Phase::Now).await;
    }

    async fn reached(&mut self, phase: Phase) {
        // Without a sender nobody is left who could wait for us.
        let _ = self.0.wait_for(|now| *now >= phase).await;
    }
}
