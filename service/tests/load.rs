//! Asks a server for lists and answers them, and measures. See `click-bandits-load --help`.

use clap::builder::TypedValueParser as _;
use clap::{Parser, value_parser};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Asks a server of click-bandits for lists, answers them as cascade users would, and measures.
#[derive(Parser)]
struct Options {
    /// Servers, such as 127.0.0.1:7300; with several, each request goes to the next
    #[arg(required = true, value_name = "ADDRESS")]
    addresses: Vec<String>,
    /// Connections
    #[arg(long, default_value_t = 32)]
    connections: usize,
    /// How long
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Entries of a request
    #[arg(long, default_value = "1", value_parser = value_parser!(u32).range(1..).map(|n| n as usize))]
    batch: usize,
    /// Pairs of decision and answer a second, in open loop: times count from when a request was
    /// due. Without it, each connection asks as soon as it is answered
    #[arg(long)]
    rate: Option<f64>,
    /// Adds that number of items first
    #[arg(long, default_value_t = 0)]
    items: usize,
    /// Queries, of which one is drawn for each decision
    #[arg(long, default_value = "1", value_parser = value_parser!(u32).range(1..).map(|n| n as usize))]
    queries: usize,
    /// Of users and queries, and part of the names of decisions
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Sent as Authorization: Bearer
    #[arg(long)]
    token: Option<String>,
    /// Also measures that process's CPU time
    #[arg(long = "server-pid")]
    pid: Option<u32>,
    /// Repeats a request that fails for so long, as a careful client does
    #[arg(long, default_value_t = 0.0)]
    patience: f64,
    /// Writes what was acknowledged, a JSON object in each line
    #[arg(long)]
    record: Option<PathBuf>,
    /// Instead asks all of that again: lists must be the same, answers known
    #[arg(long)]
    check: Option<PathBuf>,
}

/// A connection that is opened again when it fails.
///
/// With several servers every request goes to the next one: a click rarely reaches the server of
/// its decision.
struct Client {
    options: Rc<Options>,
    streams: Vec<Option<TcpStream>>,
    turn: usize,
    buffer: Vec<u8>,
}

impl Client {
    fn new(options: &Rc<Options>) -> Self {
        let streams = options.addresses.iter().map(|_| None).collect();
        Self { options: options.clone(), streams, turn: 0, buffer: Vec::new() }
    }

    /// Sends a request until it succeeds or patience ends.
    async fn ask(&mut self, path: &str, body: &Value) -> Result<Value, String> {
        let patience = Instant::now() + Duration::from_secs_f64(self.options.patience);
        loop {
            match self.once(path, body).await {
                Ok((200, answer)) => return Ok(answer),
                Ok((status, answer)) if status != 503 || Instant::now() > patience => {
                    return Err(format!("{path}: {status}: {answer}"));
                }
                Err(error) if Instant::now() > patience => return Err(format!("{path}: {error}")),
                _ => {
                    let server = self.turn % self.streams.len();
                    self.streams[server] = None;
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
    }

    async fn once(&mut self, path: &str, body: &Value) -> Result<(u16, Value), String> {
        let fault = |error: std::io::Error| error.to_string();
        self.turn += 1;
        let server = self.turn % self.streams.len();
        let stream = match &mut self.streams[server] {
            Some(stream) => stream,
            none => {
                let stream = TcpStream::connect(&self.options.addresses[server]).await.map_err(fault)?;
                stream.set_nodelay(true).map_err(fault)?;
                none.insert(stream)
            }
        };
        let body = body.to_string();
        let token = self.options.token.as_ref();
        let token = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
        let length = body.len();
        let request =
            format!("POST {path} HTTP/1.1\r\nhost: load\r\n{token}content-length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).await.map_err(fault)?;
        self.buffer.clear();
        loop {
            if stream.read_buf(&mut self.buffer).await.map_err(fault)? == 0 {
                return Err("the connection was closed".into());
            }
            if let Some(answer) = parsed(&self.buffer) {
                return answer;
            }
        }
    }
}

/// Status and body of a whole answer.
fn parsed(bytes: &[u8]) -> Option<Result<(u16, Value), String>> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let status = head.get(9..12).and_then(|status| status.parse().ok())?;
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let body = &bytes[end + 4..];
    (body.len() >= length.unwrap_or(0))
        .then(|| serde_json::from_slice(body).map(|value| (status, value)).map_err(|error| error.to_string()))
}

/// The state that all connections share.
#[derive(Default)]
struct SharedStore {
    next: u64,
    pairs: u64,
    empty: u64,
    /// Seconds of decisions and of answers.
    times: [Vec<f64>; 2],
    record: Option<BufWriter<File>>,
}

impl SharedStore {
    fn note(&mut self, what: &Value) -> Result<(), String> {
        let Some(record) = &mut self.record else { return Ok(()) };
        writeln!(record, "{what}").map_err(|error| error.to_string())
    }
}

/// The position that a cascade user clicks: item `iK` attracts with probability 1 / (2 + K / 4).
fn click(items: &Value, rng: &mut Xoshiro256PlusPlus) -> Option<usize> {
    items.as_array()?.iter().position(|slot| {
        let number = slot["item"].as_str().and_then(|item| item.trim_start_matches('i').parse().ok());
        rng.random::<f64>() < 1.0 / (2.0 + number.unwrap_or(1e9) / 4.0)
    })
}

async fn work(
    options: Rc<Options>,
    shared: Rc<RefCell<SharedStore>>,
    start: Instant,
    place: usize,
) -> Result<(), String> {
    let mut client = Client::new(&options);
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(options.seed << 20 | place as u64);
    let [decide, answer] = match options.batch {
        1 => ["/v1/decide", "/v1/clicks"],
        _ => ["/v1/decide/batch", "/v1/clicks/batch"],
    };
    // A single entry is no array.
    let whole = |mut entries: Vec<Value>| if options.batch == 1 { entries.remove(0) } else { entries.into() };
    let entries = |value: Value| match value {
        Value::Array(entries) => entries,
        one => vec![one],
    };
    let mut turn = 0_u32;
    loop {
        let mut begin = Instant::now();
        if let Some(rate) = options.rate {
            let period = (options.connections * options.batch) as f64 / rate;
            let offset = place as f64 / options.connections as f64;
            let due = start + Duration::from_secs_f64((f64::from(turn) + offset) * period);
            tokio::time::sleep_until(due.into()).await;
            begin = due;
        }
        turn += 1;
        if start.elapsed().as_secs_f64() >= options.seconds {
            return Ok(());
        }
        let asks = (0..options.batch).map(|_| {
            let number = shared.borrow().next;
            shared.borrow_mut().next += 1;
            let mut ask = json!({ "id": format!("{}-{number}", options.seed) });
            if options.queries > 1 {
                ask["query"] = format!("q{}", rng.random_range(0..options.queries)).into();
            }
            ask
        });
        let asks = whole(asks.collect());
        let lists = entries(client.ask(decide, &asks).await?);
        shared.borrow_mut().times[0].push(begin.elapsed().as_secs_f64());
        let mut answers = Vec::with_capacity(lists.len());
        for (list, ask) in lists.iter().zip(entries(asks)) {
            if let Some(error) = list.get("error") {
                return Err(error.to_string());
            }
            let mut ask = ask;
            ask["items"] = list["items"].clone();
            shared.borrow_mut().note(&ask)?;
            let mut answer = json!({ "id": list["id"], "close": true });
            if let Some(position) = click(&list["items"], rng) {
                answer["clicks"] = json!([position + 1]);
            }
            shared.borrow_mut().empty += u64::from(list["items"] == json!([]));
            answers.push(answer);
        }
        let begin = Instant::now();
        let answers = whole(answers);
        let given = entries(client.ask(answer, &answers).await?);
        let mut shared = shared.borrow_mut();
        shared.times[1].push(begin.elapsed().as_secs_f64());
        for (answer, given) in entries(answers).iter().zip(&given) {
            if let Some(error) = given.get("error") {
                return Err(error.to_string());
            }
            shared.note(answer)?;
        }
        shared.pairs += given.len() as u64;
    }
}

/// Asks again for everything in a record. The number of acknowledged lists that are others now, and
/// of acknowledged answers that are new.
async fn check(options: &Rc<Options>, path: &PathBuf) -> Result<[u64; 3], String> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines: Vec<String> =
        BufReader::new(file).lines().collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let mut client = Client::new(options);
    let [mut checked, mut lists, mut answers] = [0; 3];
    for lines in lines.chunks(1_000) {
        let entries = lines.iter().map(|line| serde_json::from_str(line)).collect::<Result<Vec<Value>, _>>();
        let (asks, clicks): (Vec<Value>, Vec<Value>) = entries
            .map_err(|error| error.to_string())?
            .into_iter()
            .partition(|entry| entry.get("items").is_some());
        checked += (asks.len() + clicks.len()) as u64;
        let mut again = asks.clone();
        for ask in &mut again {
            _ = ask.as_object_mut().and_then(|ask| ask.remove("items"));
        }
        let found = client.ask("/v1/decide/batch", &again.into()).await?;
        let differ = |(ask, found): &(&Value, &Value)| ask["items"] != found["items"];
        lists += asks.iter().zip(found.as_array().into_iter().flatten()).filter(differ).count() as u64;
        let found = client.ask("/v1/clicks/batch", &clicks.into()).await?;
        answers +=
            found.as_array().into_iter().flatten().filter(|given| given["outcome"] != "repeated").count()
                as u64;
    }
    Ok([checked, lists, answers])
}

/// Seconds of CPU that a process has used, of user and system.
fn cpu(pid: u32) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: f64 = fields.get(11..13)?.iter().filter_map(|field| field.parse::<f64>().ok()).sum();
    Some(ticks / 100.0)
}

/// Milliseconds at this share of the sorted times.
fn quantile(times: &[f64], share: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a list")]
    let place = (times.len() as f64 * share) as usize;
    times.get(place.min(times.len().saturating_sub(1))).map_or(0.0, |time| time * 1e3)
}

async fn run(options: Rc<Options>) -> Result<(), String> {
    if let Some(path) = &options.check {
        let [checked, lists, answers] = check(&options, path).await?;
        println!("{}", json!({ "checked": checked, "other_lists": lists, "new_answers": answers }));
        return if lists + answers == 0 { Ok(()) } else { Err("acknowledged events are lost".into()) };
    }
    let items: Vec<Value> = (0..options.items).map(|item| json!({ "item": format!("i{item}") })).collect();
    for items in items.chunks(1_000) {
        Client::new(&options).ask("/v1/items/batch", &items.into()).await?;
    }
    let record = options.record.as_ref().map(File::create).transpose().map_err(|error| error.to_string())?;
    let shared =
        Rc::new(RefCell::new(SharedStore { record: record.map(BufWriter::new), ..SharedStore::default() }));
    let (before, start) = (options.pid.and_then(cpu), Instant::now());
    let local = tokio::task::LocalSet::new();
    let tasks = (0..options.connections)
        .map(|place| local.spawn_local(work(options.clone(), shared.clone(), start, place)));
    let tasks: Vec<_> = tasks.collect();
    local.await;
    let seconds = start.elapsed().as_secs_f64();
    let used = options.pid.and_then(cpu).zip(before).map(|(after, before)| after - before);
    for task in tasks {
        task.await.map_err(|error| error.to_string())??;
    }
    let mut shared = shared.borrow_mut();
    let SharedStore { pairs, empty, times, record, .. } = &mut *shared;
    if let Some(record) = record {
        record.flush().map_err(|error| error.to_string())?;
    }
    let mut result =
        json!({ "pairs": pairs, "empty_lists": empty, "pairs_a_second": *pairs as f64 / seconds });
    for (name, times) in ["decide", "clicks"].iter().zip(times) {
        times.sort_unstable_by(f64::total_cmp);
        let of = [0.5, 0.99, 0.999, 1.0].map(|share| quantile(times, share));
        result[format!("{name}_milliseconds")] =
            json!({ "p50": of[0], "p99": of[1], "p999": of[2], "max": of[3] });
    }
    if let Some(used) = used {
        result["server_microseconds_a_pair"] = (used * 1e6 / *pairs as f64).into();
    }
    println!("{result}");
    Ok(())
}

fn main() -> ExitCode {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let outcome = runtime
        .map_err(|error| error.to_string())
        .and_then(|runtime| runtime.block_on(run(Rc::new(options))));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
