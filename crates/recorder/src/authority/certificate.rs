//! What the certificates of the private CA say, as values.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::SystemTime;

use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DnType, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa,
    KeyPair, KeyUsagePurpose, NameConstraints, PublicKeyData, SanType,
};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, TrustAnchor};
use sha2::{Digest, Sha256};
use time::{Duration, OffsetDateTime};

use super::der;

/// How long the CA is valid.
const AUTHORITY_DAYS: i64 = 730;

/// It is issued anew when less than this is left.
const RENEWAL_DAYS: i64 = 30;

/// How long the certificate of a host is valid.
const LEAF_DAYS: i64 = 30;

/// Clocks of other machines, and of containers on this one, may be slow.
const BACKDATED: Duration = Duration::days(1);

/// A name that nobody can have, permitted if no other is: a list of permitted names that is empty permits all.
const NOBODY: &str = "blackbird.invalid";

/// The hosts that certificates are made for, and by the CA's own words can be made for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hosts {
    names: BTreeSet<String>,
    addresses: BTreeSet<IpAddr>,
}

impl Hosts {
    pub(crate) fn new<'a>(hosts: impl Iterator<Item = &'a str>) -> Self {
        let mut known = Self::default();
        for host in hosts {
            match host.parse() {
                Ok(address) => known.addresses.insert(address),
                Err(_) => known.names.insert(host.to_owned()),
            };
        }
        known
    }

    /// All of them, for people.
    pub(crate) fn list(&self) -> Vec<String> {
        self.names.iter().cloned().chain(self.addresses.iter().map(ToString::to_string)).collect()
    }

    fn constraints(&self) -> NameConstraints {
        let name = |name: &str| GeneralSubtree::DnsName(name.to_owned());
        let mut permitted: Vec<_> = self.names.iter().map(|known| name(known)).collect();
        if permitted.is_empty() {
            permitted.push(name(NOBODY));
        }
        let single = |address: &IpAddr| {
            let bits = if address.is_ipv4() { 32 } else { 128 };
            GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(*address, bits))
        };
        permitted.extend(self.addresses.iter().map(single));
        let all = [CidrSubnet::from_v4_prefix([0; 4], 0), CidrSubnet::from_v6_prefix([0; 16], 0)];
        let none = self.addresses.is_empty();
        let excluded_subtrees = if none { all.map(GeneralSubtree::IpAddress).to_vec() } else { Vec::new() };
        NameConstraints { permitted_subtrees: permitted, excluded_subtrees }
    }
}

/// From when to when a certificate is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Validity {
    pub(crate) begins: OffsetDateTime,
    pub(crate) ends: OffsetDateTime,
}

impl Validity {
    /// That of a certificate.
    pub(super) fn of(certificate: &[u8]) -> Option<Self> {
        der::validity(certificate).map(|(begins, ends)| Self { begins, ends })
    }

    /// Whether the CA is to be issued anew.
    pub(super) fn is_due(&self, now: SystemTime) -> bool {
        let now = OffsetDateTime::from(now);
        now < self.begins || self.ends - now < Duration::days(RENEWAL_DAYS)
    }
}

/// What the CA says of itself. The same key always has the same name, so that whoever trusts an earlier certificate of
/// the CA accepts what it issues later.
pub(super) fn authority(key: &KeyPair, hosts: &Hosts, now: SystemTime) -> CertificateParams {
    let fingerprint = hexadecimal(&Sha256::digest(key.subject_public_key_info()));
    let now = OffsetDateTime::from(now);
    let mut params = CertificateParams::default();
    params.distinguished_name = named(format!("Blackbird private CA {}", &fingerprint[..8]));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.name_constraints = Some(hosts.constraints());
    params.not_before = now - BACKDATED;
    params.not_after = now + Duration::days(AUTHORITY_DAYS);
    params
}

/// What the certificate of a host says; nothing if a certificate cannot be for such a name.
pub(super) fn leaf(host: &str, authority: Validity, now: SystemTime) -> Option<CertificateParams> {
    let now = OffsetDateTime::from(now);
    let mut params = CertificateParams::default();
    // A name in place of the host's: some verifiers would take that for another host to be checked.
    params.distinguished_name = named("recorded by Blackbird".to_owned());
    params.subject_alt_names = vec![match host.parse() {
        Ok(address) => SanType::IpAddress(address),
        Err(_) => SanType::DnsName(host.try_into().ok()?),
    }];
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    params.not_before = (now - BACKDATED).max(authority.begins);
    params.not_after = (now + Duration::days(LEAF_DAYS)).min(authority.ends);
    Some(params)
}

fn named(name: String) -> rcgen::DistinguishedName {
    let mut names = rcgen::DistinguishedName::new();
    names.push(DnType::CommonName, name);
    names
}

/// What a verifier takes of a certificate that it trusts: name, key and constraints.
pub(super) fn anchor(certificate: &CertificateDer<'_>) -> Option<TrustAnchor<'static>> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone().into_owned()).ok()?;
    roots.roots.pop()
}

/// Digits of a digest.
pub(super) fn hexadecimal(digest: &[u8]) -> String {
    use std::fmt::Write;
    digest.iter().fold(String::new(), |mut text, byte| {
        // A text takes whatever is written to it.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
