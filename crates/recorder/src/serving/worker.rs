//! The recorder itself: forwarding threads, the recording thread, upkeep and control, from start to graceful end.

use std::io::{self, Write};
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use scribe::event::Mode;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::{JoinSet, LocalSet};
use trace::{Keeper, OsDisk, SystemClock};

use crate::authority::{Authority, Hosts};
use crate::config::{Config, ConfigError, WebSockets};
use crate::files;
use crate::forwarding::connection::{self, Shared};
use crate::forwarding::dial::{Dialer, RootsError};
use crate::forwarding::guard::Guard;
use crate::forwarding::tape::Recorder;
use crate::log;
use crate::metrics::Metrics;
use crate::recording::desk::{self as recording, StartError};
use crate::recording::intake::Intake;
use crate::recording::upkeep::{self, Chore};
use crate::serving::control::{self, Desk};
use crate::serving::own::Facts;
use crate::serving::stop::{Phase, Stop};

/// More forwarding threads than this gain nothing at the speed of models.
const MOST_THREADS: usize = 2;

/// How long an accept that failed is left alone: the usual cause is a lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Why the recorder cannot run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkerError {
    #[error("{0}")]
    Config(#[from] ConfigError),
    #[error("{0}")]
    Recording(#[from] StartError),
    #[error("{0}")]
    Roots(#[from] RootsError),
    #[error("{what}: {error}")]
    Io { what: String, error: io::Error },
}

/// Says what an error of the system was about.
pub(crate) fn while_doing(what: impl Into<String>) -> impl FnOnce(io::Error) -> WorkerError {
    move |error| WorkerError::Io { what: what.into(), error }
}

/// The recording side of a process: all of it but the forwarding.
pub(crate) struct Backstage {
    pub(crate) desk: Desk,
    recorder: Recorder,
    recording: JoinHandle<()>,
    upkeep: JoinHandle<()>,
    chores: Sender<Chore>,
}

impl Backstage {
    /// Open the trace and start the threads behind it.
    pub(crate) fn open(
        config: &Config,
        listen: String,
        stop: watch::Sender<Phase>,
        restarts: u64,
    ) -> Result<Self, WorkerError> {
        files::make_folder(&config.home)
            .map_err(while_doing(format!("cannot make {}", config.home.display())))?;
        files::make_folder(&config.run_folder()).map_err(while_doing("cannot make the folder 'run'"))?;
        let metrics = Arc::new(Metrics::default());
        let intake = Arc::new(Intake::new(config.queue_bytes, Arc::clone(&metrics)));
        let started = recording::start(config, Arc::clone(&intake), Arc::clone(&metrics))?;
        let keeper = Keeper::new(config.trace_folder(), Arc::new(OsDisk), Arc::new(SystemClock::new()));
        let (chores, upkeep) = upkeep::start(config, keeper, Arc::clone(&intake))
            .map_err(while_doing("cannot start a thread"))?;
        let runs_file = config.home.join("runs.jsonl");
        let runs = control::recall(&runs_file)
            .map_err(while_doing(format!("cannot read {}", runs_file.display())))?;
        let facts = Facts {
            metrics: Arc::clone(&metrics),
            version: env!("CARGO_PKG_VERSION"),
            instance: started.instance.to_string(),
            mode: match config.mode {
                Mode::Full => "full",
                Mode::Privacy => "privacy",
                Mode::Passthrough => "passthrough",
            },
            policy: started.policy,
        };
        let desk = Desk {
            intake: Arc::clone(&intake),
            upkeep: chores.clone(),
            runs: Arc::new(runs),
            runs_file,
            facts: Arc::new(facts),
            stop,
            listen,
            supervisor: control::parent(),
            started: log::rfc3339(SystemTime::now()),
            restarts,
        };
        let recorder = Recorder { intake, metrics, lossless: config.lossless };
        Ok(Self { desk, recorder, recording: started.thread, upkeep, chores })
    }

    /// Write what is left, sync it, and end.
    pub(crate) fn close(self) {
        // A thread that ended already needs no telling.
        let _ = self.chores.send(Chore::Stop);
        join(self.upkeep, "upkeep");
        self.recorder.intake.close();
        join(self.recording, "recording");
    }
}

fn join(thread: JoinHandle<()>, name: &str) {
    if thread.join().is_err() {
        log::warn("a thread ended with a panic", &[("thread", name)]);
    }
}

/// Run the recorder on the socket that is its standard input, until it is told to stop.
pub(crate) fn run(config: &Config, restarts: u64) -> Result<(), WorkerError> {
    let listener = TcpListener::from(
        io::stdin().as_fd().try_clone_to_owned().map_err(while_doing("cannot take the socket over"))?,
    );
    listener.set_nonblocking(true).map_err(while_doing("cannot set the socket up"))?;
    let address = listener.local_addr().map_err(while_doing("standard input is no listening socket"))?;
    raise_file_limit();
    let routes = config.routes()?;
    let intercepts = config.intercepts(&routes)?;
    let dialer = Dialer::new(config.ca_file.clone());
    if routes.need_tls() {
        dialer.tls()?;
    }
    let (stop_sender, stop) = watch::channel(Phase::Running);
    let backstage = Backstage::open(config, address.to_string(), stop_sender.clone(), restarts)?;
    let shared = Arc::new(Shared {
        routes,
        authority: Arc::new(Authority::new(config.ca_folder(), Hosts::new(intercepts.tls_hosts()))),
        intercepts,
        guard: Guard::new(config.token.clone(), &config.allowed_hosts, &config.allowed_origins),
        runs: Arc::clone(&backstage.desk.runs),
        recorder: backstage.recorder.clone(),
        dialer,
        facts: Arc::clone(&backstage.desk.facts),
        websockets: config.websocket == WebSockets::Relay,
    });
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = config.threads.unwrap_or(cores.min(MOST_THREADS)).max(1);
    let forwarding: Vec<JoinHandle<()>> = (0..threads)
        .map(|number| {
            let listener = listener.try_clone().map_err(while_doing("cannot share the socket"))?;
            let (shared, stop) = (Arc::clone(&shared), Stop(stop.clone()));
            std::thread::Builder::new()
                .name(format!("forward-{number}"))
                .spawn(move || forward(listener, &shared, stop))
                .map_err(while_doing("cannot start a thread"))
        })
        .collect::<Result<_, _>>()?;
    drop(listener);
    control_until_stopped(config, &backstage.desk, &stop_sender, Stop(stop), forwarding)?;
    backstage.close();
    log::info("the recorder has stopped", &[]);
    Ok(())
}

/// Serve the control socket and wait for the end: first politely, then for good.
fn control_until_stopped(
    config: &Config,
    desk: &Desk,
    sender: &watch::Sender<Phase>,
    mut stop: Stop,
    forwarding: Vec<JoinHandle<()>>,
) -> Result<(), WorkerError> {
    let runtime = runtime().map_err(while_doing("cannot start the control socket"))?;
    let path = &config.control_socket;
    let listener = {
        let _context = runtime.enter();
        control::listen(path).map_err(while_doing(format!("cannot listen on {}", path.display())))?
    };
    let signals = {
        let _context = runtime.enter();
        [SignalKind::terminate(), SignalKind::interrupt()].map(signal)
    };
    let [terminate, interrupt] = signals;
    let mut terminate = terminate.map_err(while_doing("cannot listen to signals"))?;
    let mut interrupt = interrupt.map_err(while_doing("cannot listen to signals"))?;
    runtime.block_on(async {
        let serving = tokio::spawn(control::serve(listener, desk.clone()));
        announce(desk);
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            () = stop.draining() => {}
        }
        log::info("the recorder is stopping; requests under way may finish", &[]);
        sender.send_replace(Phase::Draining);
        let finished = tokio::task::spawn_blocking(move || {
            for thread in forwarding {
                join(thread, "forwarding");
            }
        });
        tokio::pin!(finished);
        if tokio::time::timeout(Duration::from_secs(config.drain_seconds), &mut finished).await.is_err() {
            log::warn("requests under way are broken off", &[]);
            sender.send_replace(Phase::Now);
            // The threads end at once now, and a panic in one was told already.
            let _ = finished.await;
        }
        serving.abort();
    });
    Ok(())
}

/// Tell whoever started us that connections are accepted.
fn announce(desk: &Desk) {
    let line = json!({"ready": true, "listen": desk.listen, "pid": std::process::id()});
    let mut out = io::stdout();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        log::debug("nobody waits for the recorder to be ready", &[]);
    }
    log::info("the recorder is ready", &[("listen", &desk.listen), ("instance", &desk.facts.instance)]);
}

/// A forwarding thread: accepts connections and serves them, each on this thread alone.
fn forward(listener: TcpListener, shared: &Arc<Shared>, mut stop: Stop) {
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => {
            return log::warn("a forwarding thread could not start", &[("error", &error.to_string())]);
        }
    };
    LocalSet::new().block_on(&runtime, async {
        let listener = match tokio::net::TcpListener::from_std(listener) {
            Ok(listener) => listener,
            Err(error) => {
                return log::warn("a forwarding thread cannot listen", &[("error", &error.to_string())]);
            }
        };
        let mut clients = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((socket, _)) => {
                        let (shared, stop) = (Arc::clone(shared), stop.clone());
                        clients.spawn_local(async move { connection::serve(&shared, socket, stop).await });
                    }
                    Err(error) => {
                        log::warn("a connection could not be accepted", &[("error", &error.to_string())]);
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
                Some(_) = clients.join_next() => {}
                () = stop.draining() => break,
            }
        }
        drop(listener);
        tokio::select! {
            () = async { while clients.join_next().await.is_some() {} } => {}
            () = stop.now() => {}
        }
        clients.shutdown().await;
    });
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// Each client takes two file descriptors, and the usual soft limit is small.
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })
    {
        log::debug("the limit of open files stays", &[("error", &error.to_string())]);
    }
}
