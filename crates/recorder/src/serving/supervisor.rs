//! Holds the listening socket and starts the recorder anew when it dies: connections queue meanwhile, and none is refused.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::Config;
use crate::files;
use crate::log;
use crate::serving::worker::{WorkerError, while_doing};

/// Connections that wait while no recorder accepts.
const BACKLOG: i32 = 1024;

/// A recorder that ran this long is started again at once when it dies.
const STEADY: Duration = Duration::from_secs(5);

/// The pauses between starts of a recorder that keeps dying.
const PAUSES: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(100), Duration::from_millis(500), Duration::from_secs(2)];

/// Bind, start the recorder, and keep it running until it is told to stop.
pub(crate) fn run(config: &Config, config_file: &Path) -> Result<(), WorkerError> {
    files::make_folder(&config.home)
        .map_err(while_doing(format!("cannot make {}", config.home.display())))?;
    files::make_folder(&config.run_folder()).map_err(while_doing("cannot make the folder 'run'"))?;
    let lock = files::append(&config.run_folder().join("supervisor.lock"))
        .map_err(while_doing("cannot open supervisor.lock"))?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|error| {
        let what = format!(
            "a recorder is already running for {}; stop it with 'blackbird down'",
            config.home.display()
        );
        WorkerError::Io { what, error: error.into() }
    })?;
    let listener = bind(config.listen).map_err(while_doing(format!(
        "cannot listen on {}; another program may use that port: choose one with proxy.listen",
        config.listen
    )))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(while_doing("cannot start the supervisor"))?;
    runtime.block_on(supervise(&listener, config, config_file))
}

/// Files that are there as long as this supervisor keeps a recorder running; left behind, they would mislead.
struct Presence([PathBuf; 2]);

impl Presence {
    /// Tell everyone who looks that it is us.
    fn announce(config: &Config) -> Result<Self, WorkerError> {
        let pid_file = config.run_folder().join("recorder.pid");
        files::replace(&pid_file, format!("{}\n", std::process::id()).as_bytes())
            .map_err(while_doing("cannot write recorder.pid"))?;
        Ok(Self([pid_file, config.control_socket.clone()]))
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        for path in &self.0 {
            if let Err(error) = std::fs::remove_file(path) {
                log::debug("a file of this run stays behind", &[("error", &error.to_string())]);
            }
        }
    }
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

async fn supervise(listener: &TcpListener, config: &Config, config_file: &Path) -> Result<(), WorkerError> {
    let listening = |kind| signal(kind).map_err(while_doing("cannot listen to signals"));
    let mut signals = [listening(SignalKind::terminate())?, listening(SignalKind::interrupt())?];
    let mut presence = None;
    let mut restarts = 0_u64;
    let mut deaths = 0_usize;
    loop {
        let began = Instant::now();
        let mut worker =
            start(listener, config_file, restarts).map_err(while_doing("cannot start the recorder"))?;
        let ready = readiness(&mut worker).await;
        if let Some(line) = ready.as_ref().filter(|_| presence.is_none()) {
            presence = Some(Presence::announce(config)?);
            tell(line, worker.id().unwrap_or_default());
        }
        let (status, asked) =
            wait(&mut worker, &mut signals).await.map_err(while_doing("cannot wait for the recorder"))?;
        if asked || status.success() {
            return Ok(());
        }
        if presence.is_none() {
            // It has said why; to try the same again would say the same.
            let error = io::Error::other(format!("it ended with {status}"));
            return Err(WorkerError::Io { what: "the recorder could not start".to_owned(), error });
        }
        deaths = if began.elapsed() > STEADY { 0 } else { deaths + 1 };
        restarts += 1;
        log::warn("the recorder died and is started again", &[("status", &status.to_string())]);
        tokio::time::sleep(PAUSES[deaths.min(PAUSES.len() - 1)]).await;
    }
}

/// Start a recorder that has the listening socket as its standard input.
fn start(listener: &TcpListener, config_file: &Path, restarts: u64) -> io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .arg("worker")
        .arg("--config")
        .arg(config_file)
        .arg("--restarts")
        .arg(restarts.to_string())
        .stdin(Stdio::from(OwnedFd::from(listener.try_clone()?)))
        .stdout(Stdio::piped())
        .spawn()
}

/// Wait until the recorder accepts connections: the line in which it says so.
async fn readiness(worker: &mut Child) -> Option<String> {
    let mut line = String::new();
    let read = BufReader::new(worker.stdout.take()?).read_line(&mut line).await;
    read.is_ok_and(|read| read > 0).then_some(line)
}

/// Tell whoever started us, with our own process id: that is the one to stop.
fn tell(line: &str, worker: u32) {
    let (theirs, ours) = (format!("\"pid\":{worker}"), format!("\"pid\":{}", std::process::id()));
    // Whoever started us may not care.
    let _ = io::stdout()
        .write_all(line.replacen(&theirs, &ours, 1).as_bytes())
        .and_then(|()| io::stdout().flush());
}

/// Wait for the recorder's end; tells whether it was asked for.
async fn wait(worker: &mut Child, signals: &mut [Signal; 2]) -> io::Result<(ExitStatus, bool)> {
    let [terminate, interrupt] = signals;
    let mut asked = false;
    loop {
        tokio::select! {
            status = worker.wait() => return Ok((status?, asked)),
            _ = terminate.recv() => asked = true,
            _ = interrupt.recv() => asked = true,
        }
        let pid = worker.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        if let Some(Err(error)) =
            pid.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::TERM))
        {
            log::debug("the recorder was gone before it was told to stop", &[("error", &error.to_string())]);
        }
    }
}
