//! Several servers on one database, which the test starts: servers and the database are killed
//! under load. Without an installed `PostgreSQL` nothing is tested, which the output says.

use crate::kills::{Clients, check, environment, table_of_log, table_of_queries};
use crate::server::{Server, one_item_config};
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A database of its own.
pub(crate) struct Database {
    programs: PathBuf,
    directory: TempDir,
    pub(crate) port: u16,
    process: Child,
}

/// A directory for the user of the database, who is another one.
fn directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(directory.path(), open).unwrap();
    directory
}

/// A program of `PostgreSQL`, which must not run as root.
fn command(programs: &Path, name: &str) -> Command {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| {
        use std::os::unix::fs::MetadataExt as _;
        own.uid() == 0
    });
    let program = programs.join(name);
    if is_root {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
        command
    } else {
        Command::new(program)
    }
}

impl Database {
    /// `None` if `PostgreSQL` is not installed.
    pub(crate) fn start() -> Option<Self> {
        let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let programs = versions.map(|version| version.path().join("bin")).max();
        let Some(programs) = programs.filter(|programs| programs.join("initdb").is_file()) else {
            println!("skipped: PostgreSQL is not installed");
            return None;
        };
        let directory = directory();
        let mut create = command(&programs, "initdb");
        create.args(["--auth=trust", "--username=bandits", "--no-sync", "-D"]);
        let created = create.arg(directory.path().join("data")).output().unwrap();
        assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stderr));
        Some(Self::on(programs, directory))
    }

    fn run(programs: &Path, directory: &Path, port: u16) -> Child {
        let mut server = command(programs, "postgres");
        server.arg("-D").arg(directory.join("data")).args(["-p", &port.to_string(), "-c"]);
        server.args(["listen_addresses=127.0.0.1", "-c"]);
        server.arg(format!("unix_socket_directories={}", directory.display()));
        server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://bandits@127.0.0.1:{}/postgres", self.port)
    }

    /// Runs a statement.
    pub(crate) fn run_sql(&self, statement: &str) {
        self.client().batch_execute(statement).unwrap();
    }

    /// A number that a query tells.
    pub(crate) fn number(&self, query: &str) -> u64 {
        self.client().query_one(query, &[]).unwrap().get::<_, i64>(0).cast_unsigned()
    }

    pub(crate) fn client(&self) -> postgres::Client {
        postgres::Client::connect(&self.url(), postgres::NoTls).unwrap()
    }

    /// Copies it into another database of the same server, as docs/service.md says.
    pub(crate) fn copy_to(&self, name: &str) {
        self.run_sql(&format!("create database {name}"));
        let port = self.port.to_string();
        let to = ["-h", "127.0.0.1", "-p", &port, "-U", "bandits", "-d"];
        let file = self.directory.path().join("dump");
        let run = |program: &str, arguments: &[&str]| {
            let mut command = command(&self.programs, program);
            let output = command.args(to).args(arguments).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        let file = file.to_str().unwrap();
        run("pg_dump", &["postgres", "--format=custom", "--table=click_bandits_*", "--file", file]);
        run("pg_restore", &[name, "--exit-on-error", file]);
    }

    /// A standby of it, which follows without being waited for.
    pub(crate) fn standby(&self) -> Self {
        let directory = directory();
        let port = self.port.to_string();
        let mut copy = command(&self.programs, "pg_basebackup");
        copy.args(["-h", "127.0.0.1", "-p", &port, "-U", "bandits", "--no-sync", "-c", "fast", "-R", "-D"]);
        let copied = copy.arg(directory.path().join("data")).output().unwrap();
        assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
        Self::on(self.programs.clone(), directory)
    }

    fn on(programs: PathBuf, directory: TempDir) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = Self::run(&programs, directory.path(), port);
        Self { programs, directory, port, process }
    }

    fn is_ready(&self) -> bool {
        let mut ask = command(&self.programs, "pg_isready");
        ask.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]).status().unwrap().success()
    }

    pub(crate) fn wait(&mut self) {
        for _ in 0..600 {
            if self.is_ready() {
                return;
            }
            // It refuses to start while what a killed one left is still there.
            if self.process.try_wait().unwrap().is_some() {
                self.process = Self::run(&self.programs, self.directory.path(), self.port);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("the database does not start");
    }

    /// Sends a signal to all of its processes.
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.process.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        let ids = children.split_whitespace().map(str::to_owned).chain([id.to_string()]);
        assert!(Command::new("kill").arg(signal).args(ids).status().unwrap().success());
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A directory with the configuration of a server on a database.
pub(crate) fn configured(url: &str, limits: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let config = one_item_config(&format!("store = '{url}'\n{limits}"));
    std::fs::write(directory.path().join("config.toml"), config).unwrap();
    directory
}

/// Makes an authority and a certificate of the database by it, in a directory.
fn certify(directory: &Path, authority: &str) {
    let openssl = |arguments: &str| {
        let made =
            Command::new("openssl").current_dir(directory).args(arguments.split(' ')).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    };
    std::fs::write(directory.join("names"), "subjectAltName=IP:127.0.0.1").unwrap();
    let new_key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(&format!(
        "req -x509 {new_key} -keyout {authority}.key -out {authority}.pem -subj /CN={authority}"
    ));
    openssl(&format!("req {new_key} -keyout server.key -out server.csr -subj /CN=database"));
    let by = format!("-CA {authority}.pem -CAkey {authority}.key -CAcreateserial");
    openssl(&format!("x509 -req -in server.csr {by} -extfile names -out server.crt"));
}

#[test]
fn authorities_are_read_again() {
    let Some(mut database) = Database::start() else { return };
    database.wait();
    let directory = directory();
    let at = |name: &str| directory.path().join(name);
    let serve_certificate = |authority: &str| {
        certify(directory.path(), authority);
        let data = database.directory.path().join("data");
        for file in ["server.key", "server.crt"] {
            // The database's user owns the copy.
            let to = data.join(file);
            let mut copy = command(Path::new("/bin"), "cp");
            std::fs::set_permissions(at(file), std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
            assert!(copy.arg(at(file)).arg(&to).status().unwrap().success());
            assert!(command(Path::new("/bin"), "chmod").arg("600").arg(&to).status().unwrap().success());
        }
        database.run_sql("alter system set ssl = on");
        database.run_sql("select pg_reload_conf()");
        database.run_sql("select pg_sleep(0.3)");
    };
    serve_certificate("one");
    let url = format!("{}?sslmode=require", database.url());
    let of_server = configured(&url, "store-authorities = 'authorities.pem'");
    let authorities = of_server.path().join("authorities.pem");
    std::fs::copy(at("one.pem"), &authorities).unwrap();
    let server = Server::start_in(of_server.path(), "127.0.0.1:0").unwrap();
    crate::lost::wait("it is not ready", &server, || server.get("/readyz").0 == 200);
    let hang_up = |line: &str| {
        crate::lost::signal(&server, "-HUP");
        crate::lost::wait(line, &server, || server.log().contains(line));
    };
    std::fs::write(&authorities, "no certificate").unwrap();
    hang_up("authorities-unreadable");
    // The database has a certificate of another authority from now on.
    serve_certificate("two");
    let others =
        "select pg_terminate_backend(pid) from pg_stat_ssl join pg_stat_activity using (pid) where ssl";
    database.run_sql(others);
    crate::lost::wait("it is ready", &server, || server.get("/readyz").0 == 503);
    std::fs::copy(at("two.pem"), &authorities).unwrap();
    hang_up("authorities-read\"");
    crate::lost::wait("it is not ready", &server, || server.get("/readyz").0 == 200);
    assert_eq!(server.post("/v1/decide", &json!({ "id": "d" })).0, 200);
}

#[test]
fn a_click_may_reach_another_server_than_its_decision() {
    let Some(mut database) = Database::start() else { return };
    database.wait();
    let directories = [(); 2].map(|()| configured(&database.url(), ""));
    let [one, other] =
        directories.each_ref().map(|directory| Server::start_in(directory.path(), "127.0.0.1:0").unwrap());
    let (status, list) = one.post("/v1/decide", &json!({ "id": "d" }));
    assert_eq!(status, 200, "{list}");
    // The same decision is the same list everywhere.
    assert_eq!(other.post("/v1/decide", &json!({ "id": "d" })).1["items"], list["items"]);
    let click = json!({ "id": "d", "clicks": [1], "close": true });
    assert_eq!(other.post("/v1/clicks", &click).1["outcome"], "counted");
    assert_eq!(one.post("/v1/clicks", &click).1["outcome"], "repeated");
    let item = list["items"][0]["item"].as_str().unwrap();
    for server in [&one, &other] {
        let (_, rows) = server.get("/v1/items?query=default");
        let row = rows["items"].as_array().unwrap().iter().find(|row| row["item"] == item).unwrap();
        assert_eq!((&row["shows"], &row["clicks"]), (&json!(1), &json!(1)));
    }
    // Other settings are said, and those of the database hold.
    let differing = tempfile::tempdir().unwrap();
    let config = std::fs::read_to_string(directories[0].path().join("config.toml")).unwrap();
    std::fs::write(differing.path().join("config.toml"), config.replace("positions = 3", "positions = 2"))
        .unwrap();
    let server = Server::start_in(differing.path(), "127.0.0.1:0").unwrap();
    assert!(server.log().contains("positions: the store's 3 holds, the file has 2"), "{}", server.log());
}

/// Kills servers and the database again and again while clients use all of them; `KILLS` and
/// `DATABASE_KILLS` in the environment are how often.
#[test]
fn nothing_acknowledged_is_lost_by_kills_of_servers_and_database() {
    let (kills, database_kills) = (environment("KILLS", 6), environment("DATABASE_KILLS", 2));
    let Some(mut database) = Database::start() else { return };
    database.wait();
    // Few events between snapshots, and few queries in memory: kills meet both.
    let limits = "[limits]\nsnapshot-events = 500\nqueries = 3";
    let directories = [(); 3].map(|()| configured(&database.url(), limits));
    let start = |place: usize, listen: &str| Server::start_in(directories[place].path(), listen).unwrap();
    let mut servers = [0, 1, 2].map(|place| start(place, "127.0.0.1:0"));
    let addresses = servers.each_ref().map(|server| server.address.clone());
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(5);
    let arguments = ["--connections", "9", "--patience", "90"];
    let mut clients = Clients::start(&addresses, &arguments, directories[0].path());
    for kill in 0..kills.max(database_kills) {
        clients.go_on();
        std::thread::sleep(Duration::from_millis(rng.random_range(1..900)));
        if kill < database_kills {
            database.kill();
            std::thread::sleep(Duration::from_millis(rng.random_range(1..900)));
            database.wait();
        }
        if kill < kills {
            let place = rng.random_range(0..3);
            let address = addresses[place].clone();
            let [one, two, three] = servers;
            let mut running = [Some(one), Some(two), Some(three)];
            running[place].take().unwrap().stop("-KILL");
            // The database may still start again.
            let mut started = Server::start_in(directories[place].path(), &address);
            while started.is_err() {
                std::thread::sleep(Duration::from_millis(100));
                started = Server::start_in(directories[place].path(), &address);
            }
            running[place] = started.ok();
            servers = running.map(Option::unwrap);
        }
    }
    let (pairs, records) = clients.end();
    assert!(pairs > 50, "{pairs}");
    // A second later each server has seen all.
    std::thread::sleep(Duration::from_secs(1));
    let table = table_of_log(&servers[0]);
    for server in &servers {
        for record in &records {
            check(server, record);
        }
        assert_eq!(table_of_queries(server, 6), table);
    }
    let others: Vec<Value> = servers.iter().map(|server| server.get("/v1/log?from=0&limit=10").1).collect();
    assert!(others.iter().all(|log| *log == others[0]));
    println!("{kills} kills, {database_kills} of the database: {pairs} pairs");
}
