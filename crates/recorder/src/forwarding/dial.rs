//! Connections to upstreams: plain or TLS, one for each connection of a client.

use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::BytesMut;
use rustls::ClientConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio_rustls::{TlsConnector, TlsStream};

use crate::forwarding::routes::Upstream;

/// What a read asks for; a buffer that was filled is doubled up to this.
pub(crate) const READ_SIZE: usize = 64 << 10;

/// What a buffer begins with.
const SMALL_READ: usize = 16 << 10;

/// A peer that is gone without a word is noticed after a few minutes; a silent one that lives is never cut off.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Why an upstream cannot be reached.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DialError {
    #[error("cannot connect to {0}: {1}")]
    Connect(String, io::Error),
    #[error("cannot agree on TLS with {0}: {1}")]
    Tls(String, io::Error),
    #[error("{0} is no name that a certificate can be for")]
    Name(String),
    #[error("cannot check the certificate of {0}: {1}")]
    Roots(String, RootsError),
}

/// Why certificates cannot be checked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RootsError {
    #[error("the certificates of {0} cannot be read: {1}")]
    File(String, rustls::pki_types::pem::Error),
    #[error(
        "this system has no root certificates; install its package of CA certificates or set proxy.ca_file"
    )]
    None,
}

/// A connection to an upstream.
pub(crate) struct Link {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) reader: Reader,
    pub(crate) writer: Writer,
    /// Bytes that came and were not looked at yet.
    pub(crate) inbox: BytesMut,
}

/// What a peer says, on either side of the recorder.
pub(crate) enum Reader {
    Plain(OwnedReadHalf),
    Tls(ReadHalf<TlsStream<TcpStream>>),
}

/// What is said to a peer.
pub(crate) enum Writer {
    Plain(OwnedWriteHalf),
    /// With the socket below it, which is asked to break off.
    Tls(WriteHalf<TlsStream<TcpStream>>, OwnedFd),
}

/// Both halves of a plain connection.
pub(crate) fn plain(socket: TcpStream) -> (Reader, Writer) {
    let (reader, writer) = socket.into_split();
    (Reader::Plain(reader), Writer::Plain(writer))
}

/// The connection that two halves belong to.
pub(crate) fn reunite(reader: Reader, writer: Writer) -> io::Result<TcpStream> {
    match (reader, writer) {
        (Reader::Plain(reader), Writer::Plain(writer)) => reader.reunite(writer).map_err(io::Error::other),
        _ => Err(io::Error::other("the connection is under TLS already")),
    }
}

/// Both halves of a connection under TLS.
pub(crate) fn secured(stream: TlsStream<TcpStream>) -> io::Result<(Reader, Writer)> {
    let socket = stream.get_ref().0.as_fd().try_clone_to_owned()?;
    let (reader, writer) = tokio::io::split(stream);
    Ok((Reader::Tls(reader), Writer::Tls(writer, socket)))
}

impl Reader {
    /// Read what is there; 0 is the end.
    pub(crate) async fn read(&mut self, buffer: &mut BytesMut) -> io::Result<usize> {
        make_room(buffer);
        match self {
            Self::Plain(reader) => reader.read_buf(buffer).await,
            Self::Tls(reader) => reader.read_buf(buffer).await,
        }
    }
}

impl Writer {
    /// Write all of it, and leave nothing behind in a buffer.
    pub(crate) async fn write(&mut self, data: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.write_all(data).await,
            Self::Tls(writer, _) => {
                writer.write_all(data).await?;
                writer.flush().await
            }
        }
    }

    /// Write what goes out without waiting; 0 if nothing does.
    pub(crate) fn try_write(&self, data: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(writer) => match writer.try_write(data) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
                written => written,
            },
            Self::Tls(..) => Ok(0),
        }
    }

    /// Say that nothing more comes.
    pub(crate) async fn shutdown(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.shutdown().await,
            Self::Tls(writer, _) => writer.shutdown().await,
        }
    }

    /// Say at the level of the socket alone that nothing more comes: to TLS, that is an end without a word.
    pub(crate) fn tear(&self) -> io::Result<()> {
        match self {
            Self::Plain(writer) => SockRef::from(writer.as_ref()).shutdown(Shutdown::Write),
            Self::Tls(_, socket) => SockRef::from(socket).shutdown(Shutdown::Write),
        }
    }

    /// Have the connection broken off once it is dropped.
    pub(crate) fn break_off(self) -> io::Result<()> {
        match self {
            Self::Plain(writer) => {
                SockRef::from(writer.as_ref()).set_linger(Some(Duration::ZERO))?;
                writer.forget();
                Ok(())
            }
            Self::Tls(_, socket) => SockRef::from(&socket).set_linger(Some(Duration::ZERO)),
        }
    }
}

/// Room for the next read: little for those that get little, much for those that fill it.
pub(crate) fn make_room(buffer: &mut BytesMut) {
    if buffer.is_empty() {
        let size = if buffer.capacity() >= READ_SIZE { READ_SIZE } else { SMALL_READ };
        buffer.reserve(size);
    } else if buffer.capacity() - buffer.len() < 1024 {
        buffer.reserve(READ_SIZE);
    }
}

/// Connects to upstreams.
pub(crate) struct Dialer {
    /// Certificates that are trusted besides those of the system.
    file: Option<PathBuf>,
    /// Made on first use: a run may bring an upstream under TLS where none is configured.
    tls: OnceLock<TlsConnector>,
}

impl Dialer {
    /// A dialer that trusts the roots of the system and those of a file.
    pub(crate) fn new(file: Option<PathBuf>) -> Self {
        Self { file, tls: OnceLock::new() }
    }

    /// How TLS is spoken to upstreams.
    pub(crate) fn tls(&self) -> Result<&TlsConnector, RootsError> {
        if let Some(tls) = self.tls.get() {
            return Ok(tls);
        }
        let made = Self::connector(self.file.as_deref())?;
        Ok(self.tls.get_or_init(|| made))
    }

    fn connector(file: Option<&Path>) -> Result<TlsConnector, RootsError> {
        let mut roots = rustls::RootCertStore::empty();
        // What of the system's own set cannot be read is left out; the rest is what there is.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if let Some(file) = file {
            let bad = |error| RootsError::File(file.display().to_string(), error);
            for certificate in CertificateDer::pem_file_iter(file).map_err(bad)? {
                roots.add_parsable_certificates([certificate.map_err(bad)?]);
            }
        }
        if roots.is_empty() {
            return Err(RootsError::None);
        }
        let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsConnector::from(Arc::new(config)))
    }

    /// Open a connection.
    pub(crate) async fn dial(&self, upstream: &Arc<Upstream>) -> Result<Link, DialError> {
        let failed = |error| DialError::Connect(upstream.authority.clone(), error);
        let socket = TcpStream::connect((upstream.host.as_str(), upstream.port)).await.map_err(failed)?;
        tune(&socket).map_err(failed)?;
        let (reader, writer) = if upstream.tls {
            let tls = self.tls().map_err(|error| DialError::Roots(upstream.authority.clone(), error))?;
            let name = ServerName::try_from(upstream.host.clone());
            let name = name.map_err(|_| DialError::Name(upstream.host.clone()))?;
            let failed = |error| DialError::Tls(upstream.authority.clone(), error);
            secured(tls.connect(name, socket).await.map_err(failed)?.into()).map_err(failed)?
        } else {
            plain(socket)
        };
        Ok(Link { upstream: Arc::clone(upstream), reader, writer, inbox: BytesMut::new() })
    }
}

/// Small writes go out at once, and a dead peer is noticed in the end.
pub(crate) fn tune(socket: &TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE / 4);
    SockRef::from(socket).set_tcp_keepalive(&keepalive)
}
