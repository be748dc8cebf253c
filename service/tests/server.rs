//! The program, started for a test, and a client.

use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A configuration with five items.
pub(crate) fn one_item_config(settings: &str) -> String {
    let (before, after) = settings.split_at(settings.find('[').unwrap_or(settings.len()));
    format!(
        "{before}\nitems = ['a', 'b', 'c', 'd', 'e']\n[policy]\nusers = 'cascade'\npolicy = 'cascade-ts'\npositions = 3\n{after}"
    )
}

pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) address: String,
    directory: Option<tempfile::TempDir>,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn start(settings: &str) -> Self {
        Self::start_with(&one_item_config(settings), &[])
    }

    pub(crate) fn start_with(config: &str, files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(directory.path().join(name), text).unwrap();
        }
        std::fs::write(directory.path().join("config.toml"), config).unwrap();
        let mut server = Self::start_in(directory.path(), "127.0.0.1:0").unwrap();
        server.directory = Some(directory);
        server
    }

    /// Starts the program with `config.toml` of a directory; the error is what it says.
    pub(crate) fn start_in(directory: &Path, listen: &str) -> Result<Self, String> {
        let program = PathBuf::from(env!("CARGO_BIN_EXE_click-bandits-serve"));
        let mut command = Command::new(program);
        command.arg(directory.join("config.toml")).args(["--listen", listen]);
        Self::run(command)
    }

    pub(crate) fn run(mut command: Command) -> Result<Self, String> {
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut errors = BufReader::new(process.stderr.take().unwrap());
        let (mut text, mut line) = (String::new(), String::new());
        let address = loop {
            line.clear();
            if errors.read_line(&mut line).unwrap() == 0 {
                _ = process.wait();
                return Err(text);
            }
            text.push_str(&line);
            let event: Value = serde_json::from_str(&line).unwrap_or_default();
            if event["event"] == "listening" {
                break event["address"].as_str().unwrap().to_owned();
            }
        };
        let lines = Arc::new(Mutex::new(text.lines().map(str::to_owned).collect::<Vec<_>>()));
        let more = lines.clone();
        std::thread::spawn(move || {
            errors.lines().map_while(Result::ok).for_each(|line| more.lock().unwrap().push(line));
        });
        Ok(Self { process, address, directory: None, lines })
    }

    /// Lines of its log so far.
    pub(crate) fn log(&self) -> String {
        self.lines.lock().unwrap().join("\n")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.send("POST", path, "", body.to_string().as_bytes())
    }

    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        self.send("GET", path, "", b"")
    }

    /// Status and body: JSON, or text.
    pub(crate) fn send(&self, method: &str, path: &str, head: &str, body: &[u8]) -> (u16, Value) {
        let answer = self.send_raw(method, path, head, body);
        let (head, body) =
            answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{method} {path}: {answer}"));
        (head[9..12].parse().unwrap(), serde_json::from_str(body).unwrap_or_else(|_| body.into()))
    }

    /// The whole answer.
    pub(crate) fn send_raw(&self, method: &str, path: &str, head: &str, body: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n{head}content-length: {length}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        // A body that is too large is refused before it is read.
        _ = stream.write_all(body);
        let mut answer = Vec::new();
        _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Ends it with a signal, and waits. Whether it succeeded.
    pub(crate) fn stop(mut self, signal: &str) -> bool {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        self.process.wait().unwrap().success()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// A log that nobody can write stops nothing: requests are answered, and it ends when it is told.
#[test]
fn a_log_without_room_stops_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let launch = "[policy]\nusers = 'cascade'\npolicy = 'cascade-ts'\npositions = 3\n\
                  [launch]\nname = 'autumn'\nsteps = [0.3]\n";
    std::fs::write(directory.path().join("config.toml"), launch).unwrap();
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
    command.arg(directory.path().join("config.toml")).args(["--listen", &address]);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let process = command.stderr(full).spawn().unwrap();
    let server = Server { process, address, directory: Some(directory), lines: Arc::default() };
    for _ in 0..600 {
        if TcpStream::connect(&server.address).is_ok() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    // It is logged.
    assert_eq!(server.post("/v1/launch", &serde_json::json!({ "share": 0.5 })).0, 200);
    assert!(server.stop("-TERM"));
}
