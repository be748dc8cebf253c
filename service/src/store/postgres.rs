//! Events and snapshots in a `PostgreSQL` database, which several servers share.
//!
//! Every event is a row, numbered without gaps in the order of the commits: a server appends under
//! a lock, after it has taken the events of the others. So all servers see the same events in the
//! same order, and none reads a number before a smaller one is committed.

use super::row::{Last, key_of_event};
use super::rows::{NEWER, Rows, Summed, are_small, name_of, small_settings, sum_of_row};
use super::{
    Events, MakeValue, Queries, Receive, ReceiveState, Store, StoreError, Sum, of_snapshot, opened, sealed,
    sum_of_event,
};
use crate::event::{Batch, Event, Name, from_bytes, to_bytes};
use crate::lock;
use crate::metrics::log;
use postgres::fallible_iterator::FallibleIterator as _;
use postgres::{Client, Config, GenericClient, Row, SimpleQueryMessage};
use rustls::pki_types::pem::PemObject as _;
use serde_json::json;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_postgres_rustls::MakeRustlsConnect;

/// The tables. A database, or a schema of it, has one service.
const TABLES: &str = "\
create table if not exists click_bandits_events (
    number bigint primary key, time bigint not null, kind text not null, decision text, body bytea not null);
create index if not exists click_bandits_decisions on click_bandits_events (decision);
create table if not exists click_bandits_names (number bigint primary key, name bytea not null);
create table if not exists click_bandits_meta (key text primary key, value bytea not null);
create table if not exists click_bandits_queries (
    name text not null, next bigint not null, state bytea not null, primary key (name, next));
create table if not exists click_bandits_kept_queries (like click_bandits_queries including all);";
/// Copies the last snapshot beside it.
const KEEP: &str = "\
delete from click_bandits_kept_queries;
insert into click_bandits_kept_queries select distinct on (name) name, next, state
    from click_bandits_queries order by name, next desc;
insert into click_bandits_meta select 'kept-' || key, value from click_bandits_meta
    where key in ('head', 'next') on conflict (key) do update set value = excluded.value;";
/// Any number, by which servers agree on who makes the tables, a snapshot, or events.
const LOCKS: [i64; 3] = [0x636c_6963_6b30, 0x636c_6963_6b31, 0x636c_6963_6b32];
/// Sets a row of the table of settings.
const SET: &str =
    "insert into click_bandits_meta values ($1, $2) on conflict (key) do update set value = excluded.value";
/// The events that are dropped at once.
const DROPPED: i64 = 2_000;
/// The events that are read at once.
const PAGE: i64 = 10_000;
/// How long a connection may take to be made, and how long a server may be silent.
const PATIENCE: Duration = Duration::from_secs(5);

/// Number, time and event of a row.
type NumberedEvent = (u64, u64, Summed<Event>);

/// The store of several servers: a database.
pub struct SharedStore {
    config: Config,
    authorities: Option<PathBuf>,
    tls: Mutex<MakeRustlsConnect>,
    /// For the turns of the thread that appends.
    writer: Mutex<Option<Client>>,
    /// For everything else.
    reader: Mutex<Option<Client>>,
    /// How rows of events are read and written. It is locked after a connection, but for an append.
    rows: Mutex<Rows>,
}

impl std::fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("hosts", &self.config.get_hosts()).finish_non_exhaustive()
    }
}

impl SharedStore {
    /// The store in a database, such as `postgres://user:password@host/name?sslmode=require`, to
    /// which it connects when it is used. The server's certificate is checked against
    /// `authorities`, a file in PEM, or without one against those of the system. The password may
    /// be that of the environment, `PGPASSWORD`.
    pub fn new(url: &str, authorities: Option<&Path>) -> Result<Self, StoreError> {
        let mut config =
            Config::from_str(url).map_err(|error| StoreError::Settings(format!("store: {error}")))?;
        if let (None, Ok(password)) = (config.get_password(), std::env::var("PGPASSWORD")) {
            config.password(password);
        }
        config.connect_timeout(PATIENCE).tcp_user_timeout(PATIENCE).application_name("click-bandits-serve");
        let tls = Mutex::new(MakeRustlsConnect::new(certificates(authorities)?));
        let (writer, reader, rows) = (Mutex::new(None), Mutex::new(None), Mutex::default());
        Ok(Self { config, authorities: authorities.map(Path::to_owned), tls, writer, reader, rows })
    }

    /// Finds whether new rows are small.
    fn find_form(&self) -> Result<(), StoreError> {
        let settings = self.get("settings")?;
        lock(&self.rows).are_small |= settings.is_some_and(|settings| are_small(&settings));
        Ok(())
    }

    /// Takes the names that other servers added, or a server before this one.
    fn read_names(&self, client: &mut impl GenericClient) -> Result<(), postgres::Error> {
        let mut rows = lock(&self.rows);
        let first = rows.n_names() as u64;
        let statement = "select number, name from click_bandits_names where number >= $1 order by number";
        for (expected, row) in (first..).zip(client.query(statement, &[&signed(first)])?) {
            let (number, name): (i64, Vec<u8>) = (row.try_get(0)?, row.try_get(1)?);
            let name = opened(&number.to_le_bytes(), name).and_then(|name| name_of(&name));
            // After a damaged one, names are missing where they are used.
            let Some(name) = name.ok().filter(|_| number == signed(expected)) else { break };
            rows.add_name(&name);
        }
        Ok(())
    }

    /// The event of a row, with its number and its time. Names that are not known are read first.
    fn event_of(
        &self,
        client: &mut impl GenericClient,
        row: &Row,
        before: Option<Sum>,
    ) -> Result<Result<NumberedEvent, StoreError>, postgres::Error> {
        let (number, time, body): (i64, i64, Vec<u8>) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        let (number, time) = (number.cast_unsigned(), time.cast_unsigned());
        let key = key_of_event(number, time);
        let read = || lock(&self.rows).event(&key, body.clone(), before);
        let mut event = read();
        if let Ok(None) = event {
            self.read_names(client)?;
            event = read();
        }
        let event = event.and_then(|event| event.ok_or_else(|| "a name is missing".into()));
        Ok(match event {
            Ok(event) => Ok((number, time, event)),
            Err(what) => Err(StoreError::Damaged(format!("event {number}: {what}"))),
        })
    }

    fn connect(&self) -> Result<Client, postgres::Error> {
        let mut client = self.config.connect(lock(&self.tls).clone())?;
        // A server that dies or stops without a word gives its lock back.
        client.batch_execute(
            "set lock_timeout = '5s'; set idle_in_transaction_session_timeout = '1s'; \
             set synchronous_commit = on",
        )?;
        Ok(client)
    }

    /// Works with a connection, which is made anew after a failure.
    fn with<T>(
        &self,
        connection: &Mutex<Option<Client>>,
        work: impl FnOnce(&mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T, StoreError> {
        let mut connection = lock(connection);
        let outcome = match &mut *connection {
            Some(client) => work(client),
            none => self.connect().and_then(|client| work(none.insert(client))),
        };
        outcome.map_err(|error| {
            *connection = None;
            StoreError::Unavailable(describe(&error))
        })
    }

    /// Hands over the events from a number on, and returns the checksum of the last row. The
    /// connection is free meanwhile: to repeat an event, a query may have to be read.
    fn read_by(
        &self,
        connection: &Mutex<Option<Client>>,
        mut from: u64,
        receive: Receive<'_>,
    ) -> Result<Option<Sum>, StoreError> {
        let statement = "select number, time, body from click_bandits_events \
             where number >= $1 order by number limit $2";
        let mut before = (from == 0).then(Sum::default);
        loop {
            // With the row before them, which the first one continues.
            let first = from - u64::from(before.is_none());
            let rows = self.with(connection, |client| client.query(statement, &[&signed(first), &PAGE]))?;
            if before.is_none()
                && let Some(row) = rows.first()
                && row.get::<_, i64>(0) == signed(from)
            {
                // The row before it was dropped.
                let (first, sum) = self.anchor(connection)?;
                before = (first == from).then_some(sum);
            }
            for row in &rows {
                let (number, time, (event, sum)) =
                    self.with(connection, |client| self.event_of(client, row, before))??;
                before = Some(sum);
                if number < from {
                    continue;
                }
                if number != from {
                    return Err(StoreError::Damaged(format!("the events from number {from} on are missing")));
                }
                if receive(from, Batch { time, events: vec![event] }).is_break() {
                    return Ok(before);
                }
                from += 1;
            }
            if i64::try_from(rows.len()).is_ok_and(|n| n < PAGE) {
                return Ok(before);
            }
        }
    }

    /// Returns whether the event before a number is there, with this checksum if one is given.
    fn has_last(
        &self,
        client: &mut impl GenericClient,
        next: u64,
        last: Option<Sum>,
    ) -> Result<bool, postgres::Error> {
        let Some(number) = next.checked_sub(1) else { return Ok(true) };
        let statement = "select number, time, body from click_bandits_events where number = $1";
        let Some(row) = client.query_opt(statement, &[&signed(number)])? else { return Ok(false) };
        let event = self.event_of(client, &row, None)?;
        let is_last = |(number, time, (event, _)): NumberedEvent| {
            last.is_none_or(|last| last == sum_of_event(number, time, &event))
        };
        // A damaged row is another fault, which is found when it is read.
        Ok(event.map_or(true, is_last))
    }

    /// Returns whether the last snapshot was made from the events that are there, as far as it
    /// tells: one of an older version names no checksum.
    fn belongs(&self, client: &mut impl GenericClient) -> Result<bool, postgres::Error> {
        let next = next_of_snapshot(client)?;
        let last =
            value_of(client, "last")?.and_then(|row| from_bytes::<Last>(&opened(b"last", row).ok()?).ok());
        self.has_last(client, next, last.filter(|last| last.0 + 1 == next).map(|last| last.1))
    }

    /// The first event that is kept, and the checksum of the one before it.
    fn anchor(&self, connection: &Mutex<Option<Client>>) -> Result<Last, StoreError> {
        let row = self.get_by(connection, "first")?;
        row.map_or(Ok(Last::default()), |row| from_bytes(&row)).map_err(StoreError::Damaged)
    }

    fn get_by(&self, connection: &Mutex<Option<Client>>, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let row = self.with(connection, |client| value_of(client, key))?;
        // A copy has the checksum of its original.
        let original = key.strip_prefix("kept-").unwrap_or(key);
        let content = row.map(|row| opened(original.as_bytes(), row)).transpose();
        content.map_err(|what| StoreError::Damaged(format!("`{key}`: {what}")))
    }
}

/// A row of the table of settings.
fn value_of(client: &mut impl GenericClient, key: &str) -> Result<Option<Vec<u8>>, postgres::Error> {
    let row = client.query_opt("select value from click_bandits_meta where key = $1", &[&key])?;
    row.map(|row| row.try_get(0)).transpose()
}

/// The number of the event after the last snapshot; 0 without one.
fn next_of_snapshot(client: &mut impl GenericClient) -> Result<u64, postgres::Error> {
    let next = value_of(client, "next")?;
    Ok(next.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes))
}

fn key_of_query(name: &str, next: i64) -> Vec<u8> {
    [name.as_bytes(), &next.to_le_bytes()].concat()
}

/// The message of the database, without the query.
fn describe(error: &postgres::Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), |error| error.message().to_owned())
}

/// The settings of TLS.
fn certificates(authorities: Option<&Path>) -> Result<rustls::ClientConfig, StoreError> {
    let mut roots = rustls::RootCertStore::empty();
    if let Some(path) = authorities {
        let fault =
            |error: &dyn std::fmt::Display| StoreError::Settings(format!("{}: {error}", path.display()));
        for certificate in
            rustls::pki_types::CertificateDer::pem_file_iter(path).map_err(|error| fault(&error))?
        {
            roots.add(certificate.map_err(|error| fault(&error))?).map_err(|error| fault(&error))?;
        }
        if roots.is_empty() {
            return Err(fault(&"it has no certificate"));
        }
    } else {
        for certificate in rustls_native_certs::load_native_certs().certs {
            // One that is odd is not trusted.
            _ = roots.add(certificate);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| StoreError::Unavailable(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl Store for SharedStore {
    fn prepare(&self) -> Result<(), StoreError> {
        self.with(&self.reader, |client| {
            let mut transaction = client.transaction()?;
            transaction.execute("select pg_advisory_xact_lock($1)", &[&LOCKS[0]])?;
            transaction.batch_execute(TABLES)?;
            transaction.commit()
        })?;
        self.find_form()
    }

    fn read_authorities(&self) -> Result<(), StoreError> {
        *lock(&self.tls) = MakeRustlsConnect::new(certificates(self.authorities.as_deref())?);
        log("info", "authorities-read", json!({}));
        Ok(())
    }

    fn stay(&self) -> Result<(), StoreError> {
        self.with(&self.writer, |client| client.batch_execute("select"))
    }

    fn has_small_rows(&self) -> bool {
        lock(&self.rows).are_small
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn begin(&self, next: u64, last: Option<Sum>, receive: Receive<'_>) -> Result<Option<u64>, StoreError> {
        // A lock on the table keeps away those that delete from it and clean it up. The programs
        // that know no other one do not read small rows.
        let exclusive = if self.has_small_rows() {
            format!("select null from pg_advisory_xact_lock({})", LOCKS[2])
        } else {
            "lock table click_bandits_events in exclusive mode".into()
        };
        let time = "select floor(1000 * extract(epoch from clock_timestamp()))::bigint";
        let answers =
            self.with(&self.writer, |client| client.simple_query(&format!("begin; {exclusive}; {time}")))?;
        let time = answers.iter().find_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
            _ => None,
        });
        let mut unseen = next.checked_sub(1).zip(last);
        let from = unseen.map_or(next, |(number, _)| number);
        let outcome = self.read_by(&self.writer, from, &mut |number, batch| match unseen {
            Some((_, last)) if last != sum_of_event(number, batch.time, &batch.events[0]) => {
                ControlFlow::Break(())
            }
            Some(_) => {
                unseen = None;
                ControlFlow::Continue(())
            }
            None => receive(number, batch),
        });
        match (outcome, unseen) {
            (Err(StoreError::Damaged(_)) | Ok(_), Some((number, _))) => {
                // Readers may still be connected to the database that was there before.
                *lock(&self.reader) = None;
                lock(&self.rows).forget_names();
                Err(StoreError::OtherHistory(number))
            }
            (outcome, _) => {
                let last = outcome?.unwrap_or_default();
                self.with(&self.writer, |client| self.read_names(client))?;
                lock(&self.rows).last = last;
                Ok(time)
            }
        }
    }

    fn give_up(&self) -> Result<(), StoreError> {
        self.with(&self.writer, |client| client.batch_execute("rollback"))
    }

    fn append(&self, first: u64, batch: &Batch) -> Result<(), StoreError> {
        let numbers: Vec<i64> = (first..).take(batch.events.len()).map(signed).collect();
        let (kinds, decisions): (Vec<&str>, Vec<Option<&str>>) = batch
            .events
            .iter()
            .map(Event::columns)
            .map(|(kind, decision)| (kind, decision.map(|name| &**name)))
            .unzip();
        let (time, mut form) = (signed(batch.time), lock(&self.rows));
        let (bodies, sums): (Vec<Vec<u8>>, Vec<Sum>) = form.of_events(first, batch).into_iter().unzip();
        let names = form.new_names().map(|(number, name)| {
            let number = i64::from(number);
            (number, sealed(&number.to_le_bytes(), name.as_bytes().to_vec()))
        });
        let (name_numbers, names): (Vec<i64>, Vec<Vec<u8>>) = names.unzip();
        let outcome = self.with(&self.writer, |client| {
            if !names.is_empty() {
                let statement =
                    "insert into click_bandits_names select * from unnest($1::bigint[], $2::bytea[])";
                client.execute(statement, &[&name_numbers, &names])?;
            }
            client.execute(
                "insert into click_bandits_events (number, time, kind, decision, body) \
                 select number, $2, kind, decision, body \
                 from unnest($1::bigint[], $3::text[], $4::text[], $5::bytea[]) \
                 as event (number, kind, decision, body)",
                &[&numbers, &time, &kinds, &decisions, &bodies],
            )?;
            client.batch_execute("commit")
        });
        match (&outcome, sums.last()) {
            (Ok(()), Some(last)) => form.keep(*last),
            _ => form.undo(),
        }
        outcome
    }

    fn read(&self, from: u64, receive: Receive<'_>) -> Result<(), StoreError> {
        self.read_by(&self.reader, from, receive).map(|_| ())
    }

    fn head(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let belongs = self.with(&self.reader, |client| {
            let mut transaction = client.transaction()?;
            transaction.execute("select pg_advisory_xact_lock($1)", &[&LOCKS[1]])?;
            let belongs = self.belongs(&mut transaction)?;
            if !belongs {
                // States of queries do not tell of which snapshot they are: all are made anew.
                transaction.batch_execute(
                    "delete from click_bandits_queries; \
                     delete from click_bandits_meta where key in ('head', 'next', 'last')",
                )?;
            }
            transaction.commit().map(|()| belongs)
        })?;
        if !belongs {
            return Err(StoreError::Snapshot("it was made from events that the database has lost".into()));
        }
        self.get("head").map_err(of_snapshot)
    }

    fn query(&self, name: &str, next: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let statement = "select state, next from click_bandits_queries \
             where name = $1 order by next > $2, next desc limit 1";
        let row = self.with(&self.reader, |client| {
            let row = client.query_opt(statement, &[&name, &signed(next)])?;
            row.map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).transpose()
        })?;
        match row {
            // Another server took the snapshot away.
            None if self.last_snapshot()?.is_none() => {
                Err(StoreError::Snapshot(format!("query `{name}`: the database has no snapshot any more")))
            }
            None => Ok(None),
            Some((_, found)) if found > signed(next) => Err(StoreError::Behind),
            Some((row, found)) => {
                let state = opened(&key_of_query(name, found), row);
                state.map(Some).map_err(|what| StoreError::Snapshot(format!("query `{name}`: {what}")))
            }
        }
    }

    fn last_snapshot(&self) -> Result<Option<u64>, StoreError> {
        Ok(self.get("next")?.and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes))
    }

    fn replace(&self, (events, last): Events, head: &[u8], queries: Queries<'_>) -> Result<(), StoreError> {
        let (next, mut fault) = (events.end, None);
        self.with(&self.reader, |client| {
            let mut transaction = client.transaction()?;
            transaction.execute("select pg_advisory_xact_lock($1)", &[&LOCKS[1]])?;
            let newest = next_of_snapshot(&mut transaction)?;
            // The database may be another one than that which was read, or the snapshot on which
            // this one rests may be gone.
            if !self.has_last(&mut transaction, next, last)? || newest < events.start {
                fault = Some(StoreError::OtherHistory(next.saturating_sub(1)));
                return Ok(());
            }
            if newest >= next {
                // Another server made a later one.
                return Ok(());
            }
            let insert = transaction
                .prepare("insert into click_bandits_queries values ($1, $2, $3) on conflict do nothing")?;
            for query in queries {
                match query {
                    Ok((name, state)) => {
                        let state = sealed(&key_of_query(&name, signed(next)), state);
                        transaction.execute(&insert, &[&&*name, &signed(next), &state])?;
                    }
                    Err(error) => {
                        fault = Some(error);
                        return Ok(());
                    }
                }
            }
            transaction.execute(SET, &[&"head", &sealed(b"head", head.to_vec())])?;
            transaction.execute(SET, &[&"next", &next.to_le_bytes().as_slice()])?;
            if let Some(last) = last {
                let last = to_bytes(&(next - 1, last));
                transaction.execute(SET, &[&"last", &sealed(b"last", last)])?;
            }
            // A server may be behind this snapshot, and hardly behind the last one.
            transaction.execute(
                "delete from click_bandits_queries as old where exists (\
                 select from click_bandits_queries as newer \
                 where newer.name = old.name and newer.next > old.next and newer.next <= $1)",
                &[&signed(newest)],
            )?;
            transaction.commit()
        })?;
        fault.map_or(Ok(()), Err)
    }

    fn size(&self) -> Result<u64, StoreError> {
        let size = "select sum(pg_total_relation_size(oid))::bigint from pg_class \
             where relkind = 'r' and starts_with(relname, 'click_bandits_') and pg_table_is_visible(oid)";
        self.with(&self.reader, |client| client.query_one(size, &[])?.try_get::<_, i64>(0))
            .map(i64::cast_unsigned)
    }

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.get_by(&self.reader, key)
    }

    fn make_for(&self, settings: &str) -> Result<(), StoreError> {
        self.with(&self.reader, |client| {
            // Another server may have been faster; an older form makes way.
            let statement = "insert into click_bandits_meta as old values ('settings', $1) \
                 on conflict (key) do update set value = excluded.value \
                 where position($2::bytea in old.value) = 0";
            client
                .execute(statement, &[&sealed(b"settings", small_settings(settings)), &NEWER.as_bytes()])
                .map(|_| ())
        })?;
        self.find_form()
    }

    fn first(&self) -> Result<u64, StoreError> {
        Ok(self.anchor(&self.reader)?.0)
    }

    fn keep_snapshot(&self) -> Result<u64, StoreError> {
        self.with(&self.reader, |client| {
            let mut transaction = client.transaction()?;
            transaction.execute("select pg_advisory_xact_lock($1)", &[&LOCKS[1]])?;
            transaction.batch_execute(KEEP)?;
            transaction.commit()
        })?;
        let next = self.get("kept-next")?.and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
        // The last one stays, by which a server knows the history.
        Ok(next.map_or(0, |next| next.saturating_sub(1)))
    }

    fn kept_snapshot(&self, receive: ReceiveState<'_>) -> Result<Option<Vec<u8>>, StoreError> {
        let mut outcome = Ok(());
        self.with(&self.reader, |client| {
            let statement = "select name, next, state from click_bandits_kept_queries";
            let mut rows = client.query_raw(statement, std::iter::empty::<i64>())?;
            while let (Ok(()), Some(row)) = (&outcome, rows.next()?) {
                let (name, next): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
                let state = opened(&key_of_query(&name, next), row.try_get(2)?);
                let read = state.and_then(|state| Ok((Name::new(&name)?, state)));
                let read = read.map_err(|what| StoreError::Damaged(format!("query `{name}`: {what}")));
                outcome = read.and_then(|(name, state)| receive(name, state));
            }
            Ok(())
        })?;
        outcome?;
        self.get("kept-head")
    }

    fn drop_before(&self, next: u64) -> Result<(), StoreError> {
        let statement = "select time, body from click_bandits_events where number = $1";
        self.with(&self.reader, |client| {
            let mut transaction = client.transaction()?;
            transaction.execute("select pg_advisory_xact_lock($1)", &[&LOCKS[1]])?;
            if let Some(row) = transaction.query_opt(statement, &[&(signed(next) - 1)])? {
                let key = key_of_event(next - 1, row.try_get::<_, i64>(0)?.cast_unsigned());
                let first: Last = (next, sum_of_row(&key, row.try_get(1)?));
                transaction.execute(SET, &[&"first", &sealed(b"first", to_bytes(&first))])?;
            }
            transaction.commit()
        })?;
        let statement = "delete from click_bandits_events where number < least($1, $2 + (\
             select min(number) from click_bandits_events))";
        let delete =
            || self.with(&self.reader, |client| client.execute(statement, &[&signed(next), &DROPPED]));
        // Others take their turns in between.
        while delete()? > 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn once(&self, key: &str, make: MakeValue<'_>) -> Result<Vec<u8>, StoreError> {
        if let Some(value) = self.get(key)? {
            return Ok(value);
        }
        // Another server may be faster.
        let statement = "insert into click_bandits_meta values ($1, $2) on conflict do nothing";
        let value = sealed(key.as_bytes(), make()?);
        self.with(&self.reader, |client| client.execute(statement, &[&key, &value]))?;
        Ok(self.get(key)?.unwrap_or_default())
    }
}
