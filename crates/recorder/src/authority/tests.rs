//! What a client that trusts the CA's certificate, and nothing else, makes of what the recorder shows it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};

use super::certificate::Hosts;
use super::store::{self, CaError, Kept, State};

/// What was done to a folder.
type Damage<'a> = &'a dyn Fn(&Path);

const DAY: Duration = Duration::from_secs(86_400);

fn hosts(names: &[&str]) -> Hosts {
    Hosts::new(names.iter().copied())
}

fn ensure(folder: &Path, names: &[&str], now: SystemTime) -> Result<Kept, CaError> {
    store::ensure(folder, &hosts(names), now, false)
}

/// Shake hands in memory as a client that has `certificate` alone; tells the protocol that was agreed on.
fn handshake(
    certificate: &CertificateDer<'static>,
    host: &str,
    server: ServerConfig,
) -> Result<Vec<u8>, String> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).map_err(|error| error.to_string())?;
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let name = ServerName::try_from(host.to_owned()).expect("a name");
    let mut client = ClientConnection::new(Arc::new(config), name).expect("a client");
    let mut server = ServerConnection::new(Arc::new(server)).expect("a server");
    while client.is_handshaking() || server.is_handshaking() {
        let mut wire = Vec::new();
        client.write_tls(&mut wire).expect("memory");
        server.read_tls(&mut wire.as_slice()).expect("memory");
        server.process_new_packets().map_err(|error| error.to_string())?;
        let mut wire = Vec::new();
        server.write_tls(&mut wire).expect("memory");
        client.read_tls(&mut wire.as_slice()).expect("memory");
        client.process_new_packets().map_err(|error| error.to_string())?;
    }
    Ok(client.alpn_protocol().unwrap_or_default().to_vec())
}

fn shown(kept: &Kept, host: &str, now: SystemTime) -> ServerConfig {
    kept.issue(host, now).expect("issued").0
}

#[test]
fn a_client_that_trusts_the_certificate_is_served_in_http_1() {
    let folder = tempfile::tempdir().expect("a folder");
    let now = SystemTime::now();
    let kept = ensure(folder.path(), &["api.example", "127.0.0.1", "::1"], now).expect("made");
    for host in ["api.example", "127.0.0.1", "::1"] {
        let agreed = handshake(&kept.certificate, host, shown(&kept, host, now));
        assert_eq!(agreed, Ok(b"http/1.1".to_vec()), "{host}");
    }
}

#[test]
fn what_the_key_signs_for_any_other_host_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let now = SystemTime::now();
    for (permitted, others) in [
        (&["api.example"][..], &["bank.example", "example", "xapi.example", "127.0.0.1", "::1"][..]),
        (&["127.0.0.1"], &["127.0.0.2", "::1", "bank.example"]),
        (&[], &["bank.example", "127.0.0.1"]),
    ] {
        let kept = store::ensure(folder.path(), &hosts(permitted), now, true).expect("made");
        for host in others {
            let refused = handshake(&kept.certificate, host, shown(&kept, host, now)).expect_err(host);
            assert!(refused.contains("NameConstraintViolation"), "{permitted:?} {host}: {refused}");
        }
    }
}

#[test]
fn new_hosts_come_with_a_new_certificate_of_the_same_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let now = SystemTime::now();
    let first = ensure(folder.path(), &["api.example"], now).expect("made");
    let same = ensure(folder.path(), &["api.example"], now).expect("kept");
    let next = ensure(folder.path(), &["api.example", "new.example"], now).expect("issued");
    assert_eq!((first.state, same.state, next.state), (State::Made, State::Kept, State::Reissued));
    assert_eq!(first.certificate, same.certificate);
    assert_ne!(first.certificate, next.certificate);
    assert!(handshake(&first.certificate, "api.example", shown(&next, "api.example", now)).is_ok());
    assert!(handshake(&first.certificate, "new.example", shown(&next, "new.example", now)).is_err());
    assert!(handshake(&next.certificate, "new.example", shown(&next, "new.example", now)).is_ok());
}

#[test]
fn a_certificate_that_ends_soon_is_issued_anew_and_one_that_is_renewed_has_another_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let now = SystemTime::now();
    let key = || std::fs::read(folder.path().join("ca.key")).expect("a key");
    ensure(folder.path(), &["api.example"], now - 699 * DAY).expect("made");
    let made = key();
    assert_eq!(ensure(folder.path(), &["api.example"], now).expect("kept").state, State::Kept);
    let later = ensure(folder.path(), &["api.example"], now + 2 * DAY).expect("issued");
    assert_eq!((later.state, key() == made), (State::Reissued, true));
    let expired = ensure(folder.path(), &["api.example"], now + 3000 * DAY).expect("issued");
    assert_eq!((expired.state, key() == made), (State::Reissued, true));
    let renewed = store::ensure(folder.path(), &hosts(&["api.example"]), now, true).expect("made");
    assert_eq!((renewed.state, key() == made), (State::Renewed, false));
}

#[test]
fn a_host_is_never_vouched_for_longer_than_the_ca_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let now = SystemTime::now();
    let kept = ensure(folder.path(), &["api.example"], now).expect("made");
    let ends = SystemTime::from(kept.validity.ends);
    let days = |now| kept.issue("api.example", now).expect("issued").1.duration_since(now).expect("later");
    // Certificates count in whole seconds.
    let whole = |left: Duration| (left + Duration::from_secs(1)).as_secs() / 86_400;
    assert_eq!((whole(days(now)), whole(days(ends - 10 * DAY))), (29, 9));
}

#[test]
fn damage_is_told_with_its_remedy_and_never_used() {
    let now = SystemTime::now();
    let other = tempfile::tempdir().expect("a folder");
    ensure(other.path(), &["api.example"], now).expect("made");
    let foreign = std::fs::read(other.path().join("ca.pem")).expect("read");
    let damages: [(&str, Damage); 6] = [
        ("does not belong to the key", &|folder| {
            std::fs::write(folder.join("ca.pem"), &foreign).expect("written");
        }),
        ("is damaged", &|folder| std::fs::write(folder.join("ca.pem"), b"no certificate").expect("written")),
        ("has lost its key", &|folder| std::fs::remove_file(folder.join("ca.key")).expect("removed")),
        ("is no P-256 key", &|folder| std::fs::write(folder.join("ca.key"), b"no key").expect("written")),
        ("mode 0640", &|folder| {
            let mode = std::fs::Permissions::from_mode(0o640);
            std::fs::set_permissions(folder.join("ca.key"), mode).expect("changed");
        }),
        ("mode 0604", &|folder| {
            let mode = std::fs::Permissions::from_mode(0o604);
            std::fs::set_permissions(folder.join("ca.key"), mode).expect("changed");
        }),
    ];
    for (words, damage) in damages {
        let folder = tempfile::tempdir().expect("a folder");
        ensure(folder.path(), &["api.example"], now).expect("made");
        damage(folder.path());
        let before = std::fs::read(folder.path().join("ca.pem")).expect("read");
        let error = ensure(folder.path(), &["api.example"], now).err().expect(words);
        let (code, message, remedy) = error.told();
        assert_eq!((code, remedy.as_str()), ("ca_unusable", store::RENEW), "{words}");
        assert!(message.contains(words), "{message}");
        assert_eq!(std::fs::read(folder.path().join("ca.pem")).expect("read"), before, "{words}");
        let renewed = store::ensure(folder.path(), &hosts(&["api.example"]), now, true);
        assert_eq!(renewed.expect("made").state, State::Renewed, "{words}");
    }
}

#[test]
fn the_file_holds_the_certificate() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = ensure(folder.path(), &["api.example"], SystemTime::now()).expect("made");
    let read = CertificateDer::from_pem_file(folder.path().join("ca.pem")).expect("read");
    assert_eq!(read, kept.certificate);
}
