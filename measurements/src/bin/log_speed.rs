//! Speed of reading and counting a log: processor time of all threads, and peak memory.
//!
//! ```text
//! cargo run --release -p measurements --bin log_speed -- generate kdd2012 training.txt 10000000
//! cargo run --release -p measurements --bin log_speed -- count kdd2012 training.txt
//! cargo run --release -p measurements --bin log_speed -- hold-out kdd2012 training.txt
//! ```
//!
//! `hold-out` counts as a fit does: the whole log, a tenth of it, and the rest. `lists` hands
//! complete lists of a delimited log to receivers that add up clicks by group of users; the log has
//! the columns `session`, `user`, `query`, `item`, `position`, `click`, `propensity`,
//! `prefix_propensity` and `list_propensity`.
//!
//! Formats: `kdd2012`, `yandex`, `sessions`, `obd`, `delimited`, `parquet`. A generated file whose
//! name ends in `.gz` is compressed. A number after the lines is the number of queries of
//! `sessions`, `delimited` and `parquet`.

#[path = "../../../crates/log-reader/tests/support/log_generator.rs"]
mod log_generator;

use click_models::PositionBased;
use flate2::Compression;
use flate2::write::GzEncoder;
use log_generator::{Traffic, kdd2012, yandex};
use log_reader::{Error, Format, GROUPS, Ids, Input, ReadReport, Reader, ReceiveLists, ShownList, formats};
use parquet::data_type::Int64Type;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

type Outcome = Result<(), Box<dyn std::error::Error>>;

const COLUMNS: &str = "query=query,item=item,position=position,click=click,impressions=impressions";
const LOGGED: &str = "query=query,item=item,position=position,click=click,session=session,user=user,\
    propensity=propensity,prefix-propensity=prefix_propensity,list-propensity=list_propensity";
const ROWS_OF_A_GROUP: usize = 1_000_000;
/// Queries of a generated log.
const N_QUERIES: u64 = 100_000;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["generate", format, path, lines, ref n_queries @ ..] if n_queries.len() < 2 => {
            let (out, lines) = (File::create(path)?, lines.parse()?);
            let n_queries = n_queries.first().map_or(Ok(N_QUERIES), |number| number.parse())?;
            if format == "parquet" {
                return generate_parquet(out, lines, n_queries);
            }
            let out = BufWriter::new(out);
            if Path::new(path).extension().is_some_and(|extension| extension == "gz") {
                let mut out = GzEncoder::new(out, Compression::default());
                generate(format, lines, n_queries, &mut out)?;
                Ok(out.finish()?.flush()?)
            } else {
                generate(format, lines, n_queries, out)
            }
        }
        [task @ ("count" | "hold-out"), format, path, ref threads @ ..] if threads.len() < 2 => {
            let row = formats::find(format).ok_or_else(|| format!("`{format}` is no format"))?;
            let mut reader = Reader::new(row.format(row.names_columns().then_some(COLUMNS))?);
            if let Some(threads) = threads.first() {
                reader = reader.threads(threads.parse()?);
            }
            let before = seconds();
            let log = reader.read_files(&[path])?;
            if task == "hold-out" {
                let [rest, held_out] = log.counts.split(10, 1);
                println!("{} and {} impressions", rest.impressions(), held_out.impressions());
            }
            println!("{} queries, {} cells", log.counts.n_queries(), log.counts.n_cells());
            print(&log.report, seconds() - before);
            Ok(())
        }
        ["lists", path, ref threads @ ..] if threads.len() < 2 => {
            let mut reader = Reader::new(Format::delimited(LOGGED)?);
            if let Some(threads) = threads.first() {
                reader = reader.threads(threads.parse()?);
            }
            let before = seconds();
            let inputs = |_| Ok::<_, Error>(vec![Input::file(Path::new(path))?]);
            let lists = reader.read_lists(Ids::new(), inputs, Clicks::default)?;
            let mut groups = BTreeMap::new();
            for (group, clicks) in lists.receivers.iter().flat_map(|receiver| &receiver.0) {
                *groups.entry(group).or_insert(0) += clicks;
            }
            println!("clicks by group of users: {groups:?}");
            print(&lists.report, seconds() - before);
            Ok(())
        }
        _ => {
            Err("expected: generate FORMAT FILE LINES [QUERIES] | count|hold-out FORMAT FILE [THREADS] | lists FILE [THREADS]"
                .into())
        }
    }
}

/// Clicks by group of users.
#[derive(Default)]
struct Clicks(BTreeMap<u64, u64>);

impl ReceiveLists for Clicks {
    fn list(&mut self, list: &ShownList<'_>) {
        *self.0.entry(list.unit % GROUPS).or_insert(0) += u64::from(list.clicks.count_ones());
    }
}

fn print(report: &ReadReport, seconds: f64) {
    let gigabytes = report.bytes as f64 / 1e9;
    println!("{report}");
    println!(
        "{gigabytes:.3} GB, {seconds:.2} CPU-seconds: {:.3} GB per CPU-second, {:.0} ns a line",
        gigabytes / seconds,
        seconds * 1e9 / report.lines as f64
    );
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
}

fn generate(format: &str, lines: u64, n_queries: u64, mut out: impl Write) -> Outcome {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    match format {
        "kdd2012" => kdd2012(&traffic(700_000, 3, &[1.0, 0.5, 0.4])?, lines, 1, &mut out)?,
        // Some sessions have clicks, which are separate lines.
        "yandex" => yandex(&traffic(20_000, 10, &[0.5; 10])?, lines * 4 / 5, 1, &mut out)?,
        "sessions" => {
            writeln!(out, "query\tregion\turls\tclicked_mask\tn_clicks_outside_top10")?;
            for _ in 0..lines {
                let query = skewed(&mut rng, n_queries);
                let first = rng.random_range(0..3);
                write!(out, "{query}\t1\t")?;
                for position in 0..10 {
                    let comma = if position == 0 { "" } else { "," };
                    write!(out, "{comma}{}", 50_000_000 + query * 12 + (position + first) % 12)?;
                }
                write!(out, "\t")?;
                for _ in 0..10 {
                    write!(out, "{}", u8::from(rng.random::<f64>() < 0.1))?;
                }
                writeln!(out, "\t0")?;
            }
        }
        "obd" => {
            writeln!(
                out,
                ",timestamp,item_id,position,click,propensity_score,user_feature_0,user_feature_1"
            )?;
            for line in 0..lines {
                let [item, position] = [rng.random_range(0..80), rng.random_range(1..=3)];
                let click = u8::from(rng.random::<f64>() < 0.01);
                let user = "81ce123cbb5bd8ce818f60fb3586bba5,03a5648a76832f83c859d46bc06cb64a";
                writeln!(
                    out,
                    "{line},2019-11-24 00:00:22.{line:06}+00:00,{item},{position},{click},0.0125,{user}"
                )?;
            }
        }
        "delimited" => {
            writeln!(out, "query,item,position,click,impressions")?;
            for _ in 0..lines {
                let [query, item, position, clicks, impressions] = row(&mut rng, n_queries);
                writeln!(out, "{query},{item},{position},{clicks},{impressions}")?;
            }
        }
        other => return Err(format!("`{other}` is no format").into()),
    }
    Ok(out.flush()?)
}

/// Traffic with a few frequent queries and many rare ones.
fn traffic(
    n_queries: u64,
    fewest_items: u64,
    examination: &[f64],
) -> Result<Vec<Traffic<PositionBased>>, Box<dyn std::error::Error>> {
    let of_query = |number: u64| {
        let n_items = fewest_items + number % 8;
        let users = PositionBased::from_values(&vec![0.05; n_items.try_into()?], examination)?;
        // Queries share ads, as in the competition's log.
        let items =
            (0..n_items).map(|item| 3_000_000 + (number * 7919 + item * 104_729) % 20_000_000).collect();
        let weight = 1.0 / (number as f64 + 10.0);
        Ok(Traffic { query: 1000 + number * 37, items, weight, users })
    };
    (0..n_queries).map(of_query).collect()
}

/// A query; half of all draws are one of the first hundred queries.
fn skewed(rng: &mut Xoshiro256PlusPlus, n_queries: u64) -> u64 {
    let largest = if rng.random() { 100 } else { n_queries };
    rng.random_range(0..largest)
}

fn row(rng: &mut Xoshiro256PlusPlus, n_queries: u64) -> [u64; 5] {
    let query = skewed(rng, n_queries);
    let item = 3_000_000 + query * 8 + rng.random_range(0..8);
    let impressions = 1 + u64::from(rng.random::<u64>().trailing_zeros());
    [query, item, rng.random_range(1..=3), rng.random_range(0..=1), impressions]
}

/// Writes counts as engines do: whole numbers, Snappy.
fn generate_parquet(out: File, lines: u64, n_queries: u64) -> Outcome {
    let columns = ["query", "item", "position", "click", "impressions"];
    let schema = columns.map(|name| format!("OPTIONAL INT64 {name};")).concat();
    let schema = Arc::new(parse_message_type(&format!("message log {{ {schema} }}"))?);
    let properties = WriterProperties::builder().set_compression(parquet::basic::Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for start in (0..lines).step_by(ROWS_OF_A_GROUP) {
        let rows: Vec<[u64; 5]> =
            (start..lines.min(start + ROWS_OF_A_GROUP as u64)).map(|_| row(&mut rng, n_queries)).collect();
        let mut group = writer.next_row_group()?;
        for column in 0..columns.len() {
            let values = rows.iter().map(|row| i64::try_from(row[column])).collect::<Result<Vec<_>, _>>()?;
            if let Some(mut out) = group.next_column()? {
                out.typed::<Int64Type>().write_batch(&values, Some(&vec![1; values.len()]), None)?;
                out.close()?;
            }
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

/// Processor time of the process.
fn seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
