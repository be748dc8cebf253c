//! The command `click-bandits-serve`.

use crate::config::{Config, TEMPLATE, WithoutStore, address};
use crate::engine::Base;
use crate::export::Form;
use crate::fitted::FirstEvents;
use crate::http::{App, serve};
use crate::metrics::{Metrics, log};
use crate::store::{self, Journal, Store, StoreError};
use crate::tokens::Tokens;
use crate::writer::{Conditions, Writer};
use lexopt::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

const HELP: &str = "\
Serves decisions of a bandit policy over HTTP, and loses nothing that it acknowledged.

Usage: click-bandits-serve CONFIG [--data DIR] [--listen ADDRESS] [--from FITTED]
                                  [--apply | --check [--lists-a-day N]]
       click-bandits-serve --init
       click-bandits-serve export --store DIR|postgres://.. --out DIR [--as csv|ubi]
                                   [--archive DIR].. [--authorities FILE]

  CONFIG             a TOML file
  --init             print a configuration with all keys and their meanings
  --data DIR         the directory of the store
  --listen ADDRESS   such as 127.0.0.1:7300
  --from FITTED      a new store begins with what `click-bandits fit` found in a log: queries with
                     their items, displays, clicks and priors, and examination; `hybrid-ts` with
                     what `fit --context` found: items, segments, scales of features, posterior
  --apply            what CONFIG has other than the store holds from now on; without it, the
                     settings of the store hold, and the log says what differs
  --check            say what the configuration has, and what of FITTED is left out, and stop;
                     with --lists-a-day N, the days that each step of [launch] takes

  export             write decisions and answers as files that `click-bandits fit` and `evaluate`
                     read; a directory that a server uses is refused: take GET /v1/log from that.
                     --as ubi: queries and events of User Behavior Insights, in place of a table
                     --archive: a directory of archived events, which come before those of the store
                     --authorities: certificates to check the database's against, in PEM

It stops on SIGTERM and SIGINT, with a snapshot, and reads the tokens and authorities again on
SIGHUP. Its log goes to standard error, a JSON object in each line.
";

/// The time that a process which was killed has to let go of its store: its last sync may still
/// run.
const OLD_PROCESS: Duration = Duration::from_secs(3);
/// The time that the last snapshot has.
const LAST_SNAPSHOT: Duration = Duration::from_secs(5);

#[derive(Default)]
struct Arguments {
    config: Option<PathBuf>,
    data: Option<PathBuf>,
    listen: Option<String>,
    from: Option<PathBuf>,
    check: bool,
    lists_a_day: Option<f64>,
    apply: bool,
    store: Option<PathBuf>,
    authorities: Option<PathBuf>,
    archives: Vec<PathBuf>,
    out: Option<PathBuf>,
    export: bool,
    form: Option<Form>,
}

impl Arguments {
    /// Reads the command line; `None` if all is said and done.
    fn read() -> Result<Option<Self>, String> {
        let fault = |error: lexopt::Error| format!("{error}; see --help");
        let (mut arguments, mut given) = (Self::default(), BTreeSet::new());
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next().map_err(fault)? {
            if let Long(name) = argument
                && name != "archive"
                && !given.insert(name.to_owned())
            {
                return Err(format!("--{name} is given twice; see --help"));
            }
            let path =
                |parser: &mut lexopt::Parser| parser.value().map(|path| Some(path.into())).map_err(fault);
            let word = |parser: &mut lexopt::Parser| {
                parser.value().and_then(lexopt::ValueExt::string).map_err(fault)
            };
            match argument {
                Short('h') | Long("help") => return print(HELP).map(|()| None),
                Short('V') | Long("version") => {
                    return print(concat!("click-bandits-serve ", env!("CARGO_PKG_VERSION"), "\n"))
                        .map(|()| None);
                }
                Long("init") => return print(TEMPLATE).map(|()| None),
                Long("data") => arguments.data = path(&mut parser)?,
                Long("listen") => arguments.listen = Some(word(&mut parser)?),
                Long("store") => arguments.store = path(&mut parser)?,
                Long("authorities") => arguments.authorities = path(&mut parser)?,
                Long("archive") => arguments.archives.extend(path(&mut parser)?),
                Long("out") => arguments.out = path(&mut parser)?,
                Long("as") => {
                    arguments.form = Some(match word(&mut parser)?.as_str() {
                        "csv" => Form::Csv,
                        "ubi" => Form::Ubi,
                        form => return Err(format!("--as {form}: expected csv or ubi")),
                    });
                }
                Long("from") => arguments.from = path(&mut parser)?,
                Long("check") => arguments.check = true,
                Long("lists-a-day") => {
                    let text = word(&mut parser)?;
                    let number =
                        text.parse().ok().filter(|number: &f64| *number >= 1.0 && number.is_finite());
                    let number =
                        number.ok_or(format!("--lists-a-day {text}: expected a number from 1 on"))?;
                    arguments.lists_a_day = Some(number);
                }
                Long("apply") => arguments.apply = true,
                Value(word) if word == "export" && arguments.config.is_none() => arguments.export = true,
                Value(config) if arguments.config.is_none() => arguments.config = Some(config.into()),
                other => return Err(fault(other.unexpected())),
            }
        }
        arguments.check_command().map(|()| Some(arguments))
    }

    /// Refuses arguments that the command would ignore.
    fn check_command(&self) -> Result<(), String> {
        let given = [
            ("a configuration", false, self.config.is_some()),
            ("--data", false, self.data.is_some()),
            ("--listen", false, self.listen.is_some()),
            ("--from", false, self.from.is_some()),
            ("--check", false, self.check),
            ("--apply", false, self.apply),
            ("--lists-a-day", false, self.lists_a_day.is_some()),
            ("--store", true, self.store.is_some()),
            ("--authorities", true, self.authorities.is_some()),
            ("--archive", true, !self.archives.is_empty()),
            ("--out", true, self.out.is_some()),
            ("--as", true, self.form.is_some()),
        ];
        let ignored = given.iter().find(|(_, of_export, is_given)| *is_given && *of_export != self.export);
        let only = if self.export { "not" } else { "only" };
        if self.lists_a_day.is_some() && !self.check {
            return Err("--lists-a-day: only with --check; see --help".into());
        }
        if self.check && self.apply {
            return Err("--apply: not with --check, which opens no store; see --help".into());
        }
        ignored.map_or(Ok(()), |(what, ..)| Err(format!("{what}: {only} for export; see --help")))
    }
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
    let Some(arguments) = Arguments::read()? else { return Ok(()) };
    let Arguments {
        config,
        data,
        listen,
        from,
        check,
        store,
        authorities,
        archives,
        out,
        export,
        form,
        apply,
        lists_a_day,
    } = arguments;
    if export {
        let (Some(store), Some(out)) = (store, out) else {
            return Err("export needs --store and --out; see --help".into());
        };
        return crate::export::export(
            &store,
            authorities.as_deref(),
            &archives,
            &out,
            form.unwrap_or_default(),
        );
    }
    let path = config.ok_or("a configuration is missing; see --help")?;
    let mut config = Config::read(&path).map_err(|error| {
        let faults: Vec<String> = error.all().iter().map(ToString::to_string).collect();
        faults.join("\nerror: ")
    })?;
    if let Some(data) = data {
        config.data = data;
    }
    if let Some(listen) = listen {
        config.listen = address(&listen).map_err(|what| format!("--listen: {what}"))?;
    }
    let tokens = config.tokens.as_deref().map_or_else(|| Ok(Tokens::default()), Tokens::read)?;
    if tokens.is_empty() && !config.listen.ip().is_loopback() {
        return Err(format!("{}: without `tokens`, only a loopback address is served", config.listen));
    }
    let fitted = from.map(|from| FirstEvents::read(&from, &mut config.policy)).transpose()?;
    // A store knows the examination with which it began.
    if config.policy.is_complete() || check {
        config.check()?;
    }
    let left_out = fitted.as_ref().map_or(&[][..], |fitted| &fitted.left_out);
    if check {
        print(format_args!("{}: good\n{config}\n", path.display()))?;
        if let (Some(launch), Some(lists)) = (&config.policy.launch, lists_a_day) {
            crate::launch::plan(launch, lists).iter().try_for_each(|line| print(format_args!("{line}\n")))?;
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
