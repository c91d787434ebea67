//! Which run a request belongs to: by its prefix, its headers, or the client's own ids.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use scribe::event::{Attribution, Fields, Identity};

use crate::forwarding::routes::{Claim, Upstream, is_id};
use crate::http::fields;

/// Fields by which clients tell who they are: the field, our name for it, and whether it is the session. Of several that
/// are, the first counts: opencode sends its own beside the one that its dialect of `OpenAI` has in common with Codex.
const CLIENT_IDS: [(&[u8], &str, bool); 9] = [
    (b"x-claude-code-session-id", "claude_code_session", true),
    (b"x-claude-code-agent-id", "claude_code_agent", false),
    (b"x-session-id", "opencode_session", true),
    (b"x-parent-session-id", "opencode_parent_session", false),
    (b"session-id", "codex_session", true),
    (b"thread-id", "codex_thread", false),
    (b"x-codex-parent-thread-id", "codex_parent_thread", false),
    (b"x-openai-subagent", "codex_subagent", false),
    (b"x-initiator", "initiator", false),
];

/// A run that was announced over the control socket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) session: String,
    pub(crate) task: String,
    /// Where its requests go in the place of, or beside, the configured upstreams.
    pub(crate) upstreams: Vec<Arc<Upstream>>,
}

/// Who a request belongs to, and the upstreams that come with that.
#[derive(Debug, Default)]
pub(crate) struct Owner {
    pub(crate) identity: Identity,
    pub(crate) upstreams: Vec<Arc<Upstream>>,
}

/// The runs that are known.
#[derive(Debug, Default)]
pub(crate) struct Runs(RwLock<HashMap<String, Run>>);

impl Runs {
    /// Announce a run.
    pub(crate) fn register(&self, id: String, run: Run) {
        self.write().insert(id, run);
    }

    pub(crate) fn get(&self, id: &str) -> Option<Run> {
        self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner).get(id).cloned()
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, HashMap<String, Run>> {
        self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Who a request belongs to. Loopback is no access control: ids that nobody registered are a claim and no more.
    pub(crate) fn identify(
        &self,
        prefix: Option<Claim>,
        request: &Fields,
        client: &[(&'static str, String)],
    ) -> Owner {
        let Some(claim) = prefix.or_else(|| claim_of(request)) else {
            let session =
                client.iter().find(|(name, _)| CLIENT_IDS.iter().any(|known| known.2 && known.1 == *name));
            let session = session.map(|(_, id)| id.clone()).filter(|id| is_id(id.as_bytes()));
            let attribution = if session.is_some() { Attribution::Client } else { Attribution::None };
            let identity = Identity { session, task: None, run: None, attribution };
            return Owner { identity, upstreams: Vec::new() };
        };
        let known = claim.run.as_ref().and_then(|run| self.get(run)).filter(|run| {
            claim.session.as_ref().is_none_or(|session| *session == run.session)
                && claim.task.as_ref().is_none_or(|task| *task == run.task)
        });
        let (session, task, attribution, upstreams) = match known {
            Some(run) => (Some(run.session), Some(run.task), Attribution::Run, run.upstreams),
            None => (claim.session, claim.task, Attribution::Claimed, Vec::new()),
        };
        Owner { identity: Identity { session, task, run: claim.run, attribution }, upstreams }
    }
}

/// The ids of the fields `x-blackbird-session`, `-task` and `-run`, if there is any.
fn claim_of(request: &Fields) -> Option<Claim> {
    let word = |name: &[u8]| {
        let value = fields::first(request, name).filter(|value| is_id(value));
        value.map(|value| String::from_utf8_lossy(value).into_owned())
    };
    let claim = Claim {
        session: word(b"x-blackbird-session"),
        task: word(b"x-blackbird-task"),
        run: word(b"x-blackbird-run"),
    };
    (claim != Claim::default()).then_some(claim)
}

/// The client's own ids.
pub(crate) fn client_ids(request: &Fields) -> Vec<(&'static str, String)> {
    let value = |field: &[u8]| fields::first(request, field).filter(|value| value.len() <= 256);
    CLIENT_IDS
        .iter()
        .filter_map(|(field, name, _)| Some((*name, String::from_utf8_lossy(value(field)?).into_owned())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(pairs: &[(&str, &str)]) -> Fields {
        pairs.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect()
    }

    fn claim(session: &str, task: &str, run: &str) -> Claim {
        Claim { session: Some(session.into()), task: Some(task.into()), run: Some(run.into()) }
    }

    fn identify(prefix: Option<Claim>, pairs: &[(&str, &str)]) -> (String, Attribution) {
        let runs = Runs::default();
        runs.register("r1".into(), Run { session: "s1".into(), task: "t1".into(), upstreams: vec![] });
        let fields = fields(pairs);
        let identity = runs.identify(prefix, &fields, &client_ids(&fields)).identity;
        let words = [identity.session, identity.task, identity.run];
        (words.map(|word| word.unwrap_or_else(|| "-".into())).join(" "), identity.attribution)
    }

    #[test]
    fn the_prefix_comes_before_headers_and_these_before_the_clients_ids() {
        let headers = [("X-Blackbird-Session", "s2"), ("X-Claude-Code-Session-Id", "s3")];
        assert_eq!(identify(Some(claim("s1", "t1", "r1")), &headers), ("s1 t1 r1".into(), Attribution::Run));
        assert_eq!(identify(None, &headers), ("s2 - -".into(), Attribution::Claimed));
        assert_eq!(identify(None, &headers[1..]), ("s3 - -".into(), Attribution::Client));
        assert_eq!(identify(None, &[]), ("- - -".into(), Attribution::None));
    }

    #[test]
    fn of_two_sessions_the_clients_own_counts() {
        let both = [("session-id", "s1"), ("x-session-id", "ses_2")];
        assert_eq!(identify(None, &both), ("ses_2 - -".into(), Attribution::Client));
    }

    #[test]
    fn a_registered_run_brings_its_session_and_task() {
        assert_eq!(identify(None, &[("x-blackbird-run", "r1")]), ("s1 t1 r1".into(), Attribution::Run));
    }

    #[test]
    fn ids_that_nobody_registered_are_a_claim() {
        assert_eq!(identify(Some(claim("s1", "t1", "r9")), &[]), ("s1 t1 r9".into(), Attribution::Claimed));
        assert_eq!(
            identify(Some(claim("other", "t1", "r1")), &[]),
            ("other t1 r1".into(), Attribution::Claimed)
        );
    }

    #[test]
    fn an_id_that_is_none_is_not_taken() {
        assert_eq!(identify(None, &[("x-blackbird-session", "a b")]), ("- - -".into(), Attribution::None));
        assert_eq!(identify(None, &[("session-id", "../x")]), ("- - -".into(), Attribution::None));
    }
}
