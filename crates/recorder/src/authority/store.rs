//! Key and certificate of the private CA on disk: made on first use, issued anew in time, and never used if damaged.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rcgen::{Issuer, KeyPair, PKCS_ECDSA_P256_SHA256};
use rustix::fs::{FlockOperation, flock};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use time::Duration;

use super::certificate::{self, Hosts, Validity};
use crate::files;

const CERTIFICATE: &str = "ca.pem";
const KEY: &str = "ca.key";
const LOCK: &str = "lock";

/// The certificate of a host is made anew when less than this is left.
const LEAF_LEFT: Duration = Duration::days(1);

/// What mends a CA that cannot be used.
pub(crate) const RENEW: &str = "run 'blackbird ca renew' to have key and certificate made anew";

/// Why the CA cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CaError {
    #[error(
        "the private CA at {path} cannot be read or written: {error}; see that the folder is yours and can be written"
    )]
    Io { path: PathBuf, error: io::Error },
    #[error("the key of the private CA, {path}, can be read by others (mode {mode:04o}); {RENEW}")]
    Readable { path: PathBuf, mode: u32 },
    #[error("the key of the private CA, {0}, is no P-256 key in PKCS#8; {RENEW}")]
    Key(PathBuf),
    #[error("the certificate of the private CA, {0}, is damaged; {RENEW}")]
    Certificate(PathBuf),
    #[error("the certificate of the private CA, {0}, does not belong to the key beside it; {RENEW}")]
    Foreign(PathBuf),
    #[error("the certificate of the private CA, {0}, has lost its key; {RENEW}")]
    Keyless(PathBuf),
    #[error("{0:?} is no name that a certificate can be for; correct the URL of its upstream")]
    Name(String),
    #[error("no certificate can be made: {0}; see the recorder's log")]
    Failed(String),
}

impl CaError {
    /// What kind of error it is, the message without its remedy, and the remedy.
    pub(crate) fn told(&self) -> (&'static str, String, String) {
        let code = match self {
            Self::Io { .. } => "ca_unwritable",
            Self::Name(_) => "bad_value",
            Self::Failed(_) => "failed",
            _ => "ca_unusable",
        };
        let text = self.to_string();
        let (message, remedy) = text.rsplit_once("; ").unwrap_or((&text, RENEW));
        (code, message.to_owned(), remedy.to_owned())
    }
}

/// What was done to have a CA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Kept,
    Made,
    Reissued,
    Renewed,
}

/// A CA that can be used.
pub(crate) struct Kept {
    pub(crate) state: State,
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) validity: Validity,
    issuer: Issuer<'static, KeyPair>,
}

impl Kept {
    /// Speak TLS in the name of a host, with a key that never reaches the disk; and until when that is good.
    pub(super) fn issue(&self, host: &str, now: SystemTime) -> Result<(ServerConfig, SystemTime), CaError> {
        let failed = |error: &dyn std::fmt::Display| CaError::Failed(error.to_string());
        let params =
            certificate::leaf(host, self.validity, now).ok_or_else(|| CaError::Name(host.to_owned()))?;
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(|error| failed(&error))?;
        let leaf = params.signed_by(&key, &self.issuer).map_err(|error| failed(&error))?;
        let secret = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![leaf.into()], secret)
            .map_err(|error| failed(&error))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok((config, (params.not_after - LEAF_LEFT).into()))
    }
}

/// By what a change of the folder is noticed without reading it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stamp([Option<Mark>; 2]);

/// Inode, size, mode, and when content or mode were last changed.
type Mark = (u64, u64, u32, i64, i64);

impl Stamp {
    pub(super) fn of(folder: &Path) -> Self {
        let mark =
            |known: Metadata| (known.ino(), known.size(), known.mode(), known.ctime(), known.ctime_nsec());
        Self([CERTIFICATE, KEY].map(|name| std::fs::metadata(folder.join(name)).ok().map(mark)))
    }

    /// Whether both files were there.
    pub(super) fn is_whole(&self) -> bool {
        self.0.iter().all(Option::is_some)
    }
}

/// The CA of a folder: as it is, issued anew with the same key if it is to, or made if there is none. `renew` has a new
/// key made in any case, whatever is there.
pub(crate) fn ensure(folder: &Path, hosts: &Hosts, now: SystemTime, renew: bool) -> Result<Kept, CaError> {
    let failed = |error| CaError::Io { path: folder.to_owned(), error };
    files::make_folder(folder).map_err(failed)?;
    let lock = files::append(&folder.join(LOCK)).map_err(failed)?;
    flock(&lock, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
    if renew {
        return make(folder, hosts, now, State::Renewed);
    }
    let there = folder.join(CERTIFICATE).try_exists().map_err(failed)?;
    match read_key(&folder.join(KEY))? {
        Some(key) => complete(folder, hosts, now, key),
        None if there => Err(CaError::Keyless(folder.join(CERTIFICATE))),
        None => make(folder, hosts, now, State::Made),
    }
}

/// Make a key and its certificate. The key comes first: one without a certificate is no damage.
fn make(folder: &Path, hosts: &Hosts, now: SystemTime, state: State) -> Result<Kept, CaError> {
    let failed = |error| CaError::Io { path: folder.to_owned(), error };
    let key =
        KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(|error| CaError::Failed(error.to_string()))?;
    files::replace(&folder.join(KEY), key.serialize_pem().as_bytes()).map_err(failed)?;
    sign(folder, hosts, now, key, state)
}

/// Look at the certificate that a key has, and issue it anew if need be.
fn complete(folder: &Path, hosts: &Hosts, now: SystemTime, key: KeyPair) -> Result<Kept, CaError> {
    let path = folder.join(CERTIFICATE);
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return sign(folder, hosts, now, key, State::Reissued);
        }
        Err(error) => return Err(CaError::Io { path, error }),
    };
    let damaged = || CaError::Certificate(path.clone());
    let found = CertificateDer::from_pem_slice(&text).map_err(|_| damaged())?;
    let anchor = certificate::anchor(&found).ok_or_else(damaged)?;
    let validity = Validity::of(&found).ok_or_else(damaged)?;
    let params = certificate::authority(&key, hosts, now);
    let expected = params.self_signed(&key).map_err(|error| CaError::Failed(error.to_string()))?;
    let expected = certificate::anchor(expected.der()).ok_or_else(damaged)?;
    if anchor.subject != expected.subject
        || anchor.subject_public_key_info != expected.subject_public_key_info
    {
        return Err(CaError::Foreign(path));
    }
    if anchor.name_constraints != expected.name_constraints || validity.is_due(now) {
        return sign(folder, hosts, now, key, State::Reissued);
    }
    Ok(Kept { state: State::Kept, certificate: found, validity, issuer: Issuer::new(params, key) })
}

/// Issue the certificate of a key.
fn sign(folder: &Path, hosts: &Hosts, now: SystemTime, key: KeyPair, state: State) -> Result<Kept, CaError> {
    let path = folder.join(CERTIFICATE);
    let params = certificate::authority(&key, hosts, now);
    let issued = params.self_signed(&key).map_err(|error| CaError::Failed(error.to_string()))?;
    files::replace(&path, issued.pem().as_bytes())
        .map_err(|error| CaError::Io { path: path.clone(), error })?;
    let validity = Validity::of(issued.der()).ok_or(CaError::Certificate(path))?;
    Ok(Kept { state, certificate: issued.into(), validity, issuer: Issuer::new(params, key) })
}

/// The key, if it is there; never one that others could have read.
fn read_key(path: &Path) -> Result<Option<KeyPair>, CaError> {
    let failed = |error| CaError::Io { path: path.to_owned(), error };
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let known = file.metadata().map_err(failed)?;
    let mode = known.permissions().mode() & 0o7777;
    if mode & 0o077 != 0 || known.uid() != rustix::process::geteuid().as_raw() {
        return Err(CaError::Readable { path: path.to_owned(), mode });
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    KeyPair::from_pkcs8_pem_and_sign_algo(&text, &PKCS_ECDSA_P256_SHA256)
        .map(Some)
        .map_err(|_| CaError::Key(path.to_owned()))
}
