//! The command `click-bandits-serve`.

use crate::config::{Config, TEMPLATE, WithoutStore, address};
use crate::engine::Base;
use crate::export::{Export, export};
use crate::fitted::FirstEvents;
use crate::http::{self, App, serve};
use crate::metrics::{Metrics, log};
use crate::store::{self, Journal, Store, StoreError};
use crate::tokens::Tokens;
use crate::writer::{Conditions, Writer};
use clap::{Parser, Subcommand};
use serde_json::json;
use std::io::{Write as _, stdout};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

/// The time that a process which was killed has to let go of its store: its last sync may still
/// run.
const OLD_PROCESS: Duration = Duration::from_secs(3);
/// The time that the last snapshot has.
const LAST_SNAPSHOT: Duration = Duration::from_secs(5);

/// Serves decisions of a bandit policy over HTTP, and loses nothing that it acknowledged.
///
/// It stops on SIGTERM and SIGINT, with a snapshot, and reads the tokens and authorities again on
/// SIGHUP. Its log goes to standard error, a JSON object in each line.
#[derive(Parser)]
#[command(name = "click-bandits-serve", version, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// A TOML file
    #[arg(required_unless_present = "init")]
    config: Option<PathBuf>,
    /// Print a configuration with all keys and their meanings
    #[arg(long, exclusive = true)]
    init: bool,
    /// The directory of the store
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Such as 127.0.0.1:7300
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    listen: Option<SocketAddr>,
    /// A new store begins with what `click-bandits fit` found in a log: queries with their items,
    /// displays, clicks and priors, and examination; `hybrid-ts` with what `fit --context` found:
    /// items, segments, scales of features, posterior
    #[arg(long, value_name = "FITTED")]
    from: Option<PathBuf>,
    /// Lets the settings of CONFIG hold from now on; without it, those of the store hold, and the
    /// log says what differs
    #[arg(long)]
    apply: bool,
    /// Say what the configuration has, and what of FITTED is left out, and stop; no store is opened
    #[arg(long, conflicts_with = "apply")]
    check: bool,
    /// With --check, print the days that each step of [launch] takes at this number of lists a day
    #[arg(long, value_name = "N", requires = "check", value_parser = positive)]
    lists_a_day: Option<f64>,
    /// The clicks of the site on a list, for the days: fewer clicks take more of them
    #[arg(long, value_name = "R", requires = "lists_a_day", value_parser = positive, default_value = "0.8")]
    clicks_a_list: f64,
}

#[derive(Subcommand)]
enum Command {
    /// Write decisions and answers as files that `click-bandits fit` and `evaluate` read; a
    /// directory that a server uses is refused: take GET /v1/log from that
    Export(Export),
}

fn positive(text: &str) -> Result<f64, &'static str> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && number.is_finite());
    number.ok_or("expected a number above 0")
}

fn print(text: impl std::fmt::Display) -> Result<(), String> {
    write!(stdout(), "{text}").map_err(|error| error.to_string())
}

/// Runs the command. An error is for its user.
pub fn run() -> Result<(), String> {
    // redb panics on some damaged files, which is no way to tell a user.
    std::panic::set_hook(Box::new(|panic| {
        let at = panic.location().map(ToString::to_string);
        log("error", "panic", json!({ "error": panic.payload_as_str(), "at": at }));
    }));
    let arguments = Arguments::parse();
    if let Some(Command::Export(of)) = &arguments.command {
        return export(of);
    }
    let Arguments { data, listen, from, check, apply, lists_a_day, clicks_a_list, .. } = arguments;
    let Some(path) = arguments.config else { return print(TEMPLATE) };
    let mut config = Config::read(&path).map_err(|error| {
        let faults: Vec<String> = error.all().iter().map(ToString::to_string).collect();
        faults.join("\nerror: ")
    })?;
    config.data = data.unwrap_or(config.data);
    config.listen = listen.unwrap_or(config.listen);
    let tokens = config.tokens.as_deref().map_or_else(|| Ok(Tokens::default()), Tokens::read)?;
    if tokens.is_empty() && !config.listen.ip().is_loopback() {
        return Err(format!("{}: without `tokens`, only a loopback address is served", config.listen));
    }
    let fitted = from.map(|from| FirstEvents::read(&from, &mut config.policy)).transpose()?;
    // A store knows the examination and the continuation with which it began.
    if !config.policy.may_be_completed() || check {
        config.check()?;
    }
    let left_out = fitted.as_ref().map_or(&[][..], |fitted| &fitted.left_out);
    if check {
        print(format_args!("{}: good\n{config}\n", path.display()))?;
        fitted.as_ref().map_or(Ok(()), |fitted| print(format_args!("begins with {}\n", fitted.summary())))?;
        if let Some(lists) = lists_a_day {
            let launch = config.policy.launch.as_ref();
            let launch = launch.ok_or("--lists-a-day: the configuration has no [launch]")?;
            let plan = crate::launch::plan(launch, lists, clicks_a_list);
            plan.iter().try_for_each(|line| print(format_args!("{line}\n")))?;
        }
        return left_out.iter().try_for_each(|what| print(format_args!("left out: {what}\n")));
    }
    if !left_out.is_empty() {
        let first = &left_out[..left_out.len().min(100)];
        log("info", "left-out", json!({ "number": left_out.len(), "first": first }));
    }
    start(config, tokens, fitted, apply)
}

/// Reads the tokens and the authorities again with each SIGHUP; those that cannot be read change
/// nothing.
async fn read_again(
    mut hangup: Signal,
    path: Option<PathBuf>,
    tokens: Arc<RwLock<Tokens>>,
    store: Arc<dyn Store>,
) {
    while hangup.recv().await.is_some() {
        if let Err(error) = store.read_authorities() {
            log("error", "authorities-unreadable", json!({ "error": error.to_string() }));
        }
        // Without tokens, there is nothing to read.
        let Some(path) = &path else { continue };
        match Tokens::read(path) {
            Ok(read) => {
                *tokens.write().unwrap_or_else(PoisonError::into_inner) = read;
                log("info", "tokens-read", json!({}));
            }
            Err(error) => log("error", "tokens-unreadable", json!({ "error": error })),
        }
    }
}

fn start(config: Config, tokens: Tokens, fitted: Option<FirstEvents>, apply: bool) -> Result<(), String> {
    std::fs::create_dir_all(&config.data).map_err(|error| format!("{}: {error}", config.data.display()))?;
    let start = Instant::now();
    let store = loop {
        match store::open(config.store.as_deref(), config.store_authorities.as_deref(), &config.data) {
            Err(StoreError::InUse(_)) if start.elapsed() < OLD_PROCESS => {
                std::thread::sleep(Duration::from_millis(50));
            }
            outcome => break outcome.map_err(|error| error.to_string())?,
        }
    };
    let serves_always = config.without_store == WithoutStore::Serve;
    let journal = Journal::open(&config.data, serves_always).map_err(|error| error.to_string())?;
    let incomplete = config.check().err();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let metrics = Arc::new(Metrics::default());
    let archives = config.archive.unwrap_or_else(|| config.data.join("archive"));
    let backups = config.backups.unwrap_or_else(|| config.data.join("backups"));
    // Beside the start: a server that shares the directory may be writing one.
    let left = backups.clone();
    std::thread::spawn(move || http::turn_of_backups(&left));
    let base = Base {
        store: store.clone(),
        template: Arc::new(config.policy),
        limits: config.limits.clone(),
        directory: config.data,
    };
    let (handle, counts) = (runtime.handle().clone(), metrics.clone());
    let writer = Writer { base, metrics: counts, runtime: handle, archives, serves_always };
    // The connections of a database must not be closed inside the runtime.
    let kept = store.clone();
    let begin = Conditions { items: config.items, fitted, incomplete, apply };
    runtime.block_on(async {
        // Before the recovery, so that a stop is never missed.
        let stop = |kind| signal(kind).map_err(|error| error.to_string());
        let (mut terminate, mut interrupt) = (stop(SignalKind::terminate())?, stop(SignalKind::interrupt())?);
        let listener = TcpListener::bind(config.listen).await;
        let listener = listener.map_err(|error| format!("{}: {error}", config.listen))?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let (told, is_over) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let started = writer.start(begin, journal, told.clone());
        let (requests, thread) = started.map_err(|error| error.to_string())?;
        let over = is_over.clone();
        // The thread ends when all requests are gone; before that only by a fault.
        let watched = tokio::task::spawn_blocking(move || {
            let outcome = thread.join();
            over.notify_one();
            let outcome = outcome.map_err(|_| "the writer failed".to_owned())?;
            outcome.map_err(|error| error.to_string())
        });
        tokio::select! {
            () = told.notified() => {}
            // A database that says nothing keeps nobody from asking how it stands.
            () = tokio::time::sleep(OLD_PROCESS), if store.is_shared() => {}
            () = is_over.notified() => return watched.await.map_err(|error| error.to_string())?,
            _ = terminate.recv() => return Ok(()),
            _ = interrupt.recv() => return Ok(()),
        }
        let tokens = Arc::new(RwLock::new(tokens));
        tokio::spawn(read_again(stop(SignalKind::hangup())?, config.tokens, tokens.clone(), store.clone()));
        let limits = Arc::new(config.limits);
        let app = App { requests, store, tokens, metrics, limits, backups, made: Arc::default() };
        log("info", "listening", json!({ "address": address.to_string() }));
        let stop = async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                () = is_over.notified() => {}
            }
        };
        serve(listener, app, stop).await;
        log("info", "stopping", json!({}));
        let start = Instant::now();
        if let Ok(outcome) = tokio::time::timeout(LAST_SNAPSHOT, watched).await {
            return outcome.map_err(|error| error.to_string())?;
        }
        log("info", "no-snapshot", json!({ "seconds": start.elapsed().as_secs_f64() }));
        Ok(())
    })?;
    runtime.shutdown_background();
    drop(kept);
    Ok(())
}
