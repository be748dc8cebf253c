//! `manifest.json`: the experiment of a directory, and how, when and where its files were made.
//!
//! Everything that may differ between two runs of one experiment is here or in `timing.json`, never
//! in `result.json`. Paths appear only as they were typed.

use crate::output;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use spec::Canonical;
use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, SystemTime};

/// The project's name: the program in manifests that a caller of the library writes.
const LIBRARY: &str = "click-bandits";

/// The content of `manifest.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of this layout.
    pub schema: u32,
    /// SHA-256 of the canonical form of the experiment.
    pub identity: String,
    /// SHA-256 of everything in it but the number of runs and the policies. Experiments with the
    /// same base may share a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The program that wrote the files.
    pub program: Program,
    /// Command line; its first word is the program's name, not its path.
    pub command: Vec<String>,
    /// When the program started, UTC.
    pub started: String,
    /// When the results were complete, UTC.
    pub finished: String,
    /// Number of threads that simulated.
    pub threads: usize,
    /// The machine.
    pub host: Host,
    /// SHA-256 of every other file.
    pub files: BTreeMap<String, String>,
    /// Canonical form of the experiment.
    pub experiment: serde_json::Value,
}

/// A program, its version, and the commit that it was built from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// Name.
    pub name: String,
    /// Version.
    pub version: String,
    /// Compiler, if the build recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rustc: Option<String>,
    /// Commit of the source, if it was built in a checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<Git>,
    /// Hash of the sources that determine results, if it was built in a workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<String>,
}

impl Program {
    /// This library, called by another program.
    pub fn library() -> Self {
        Self {
            name: LIBRARY.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            rustc: None,
            git: None,
            sources: option_env!("CLICK_BANDITS_SOURCES").map(str::to_owned),
        }
    }

    /// The version of all that results depend on. Only programs of one version continue runs.
    pub fn results(&self) -> String {
        match &self.sources {
            Some(sources) => format!("version {} of sources {sources}", self.version),
            None => format!("version {}", self.version),
        }
    }
}

/// The state of the checkout when the program was built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Git {
    /// Full hash.
    pub commit: String,
    /// Whether tracked sources of the program differed from the commit.
    pub dirty: bool,
}

/// A machine, as far as the operating system describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Network name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Processor model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// Number of processors that this program may use.
    pub cores: usize,
    /// Operating system.
    pub os: String,
    /// Instruction set.
    pub arch: String,
}

impl Manifest {
    /// Version of the layout.
    pub(crate) const SCHEMA: u32 = 1;

    /// The manifest of files with these SHA-256 by their names, which `program` has just made; it
    /// began at `started`. The canonical form has a `name`.
    pub fn of(
        canonical: &Canonical,
        started: Moment,
        threads: usize,
        files: BTreeMap<String, String>,
        program: Program,
    ) -> Self {
        Self {
            schema: Self::SCHEMA,
            identity: canonical.identity.clone(),
            base: Some(canonical.base.clone()),
            command: command_line(&program.name),
            program,
            started: started.to_string(),
            finished: Moment::now().to_string(),
            threads,
            host: Host::this(),
            files,
            experiment: serde_json::from_str(&canonical.json).unwrap_or_default(),
        }
    }

    /// The file's content.
    pub fn to_json(&self) -> Vec<u8> {
        output::to_json(self)
    }
}

/// The experiment that a manifest names. Every version of the layout has these values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// SHA-256 of the canonical form.
    pub identity: String,
    /// SHA-256 of its base; `None` in manifests of earlier versions.
    pub base: Option<String>,
    /// Name; empty if the manifest has none.
    pub name: String,
    /// The names of its files.
    pub files: Vec<String>,
}

impl Owner {
    /// Reads the owner from a manifest; `None` if the bytes are not a manifest.
    pub fn read(manifest: &[u8]) -> Option<Self> {
        let manifest: serde_json::Value = serde_json::from_slice(manifest).ok()?;
        Some(Self {
            identity: manifest["identity"].as_str()?.to_owned(),
            base: manifest["base"].as_str().map(str::to_owned),
            name: manifest["experiment"]["name"].as_str().unwrap_or_default().to_owned(),
            files: manifest["files"]
                .as_object()
                .map_or_else(Vec::new, |files| files.keys().cloned().collect()),
        })
    }
}

impl Host {
    fn this() -> Self {
        let system = line_of("/etc/os-release", |line| {
            Some(line.strip_prefix("PRETTY_NAME=")?.trim_matches('"').to_owned())
        });
        let kernel = line_of("/proc/sys/kernel/osrelease", |line| Some(line.to_owned()));
        let os = match (system, kernel) {
            (Some(system), Some(kernel)) => format!("{system}, {} {kernel}", std::env::consts::OS),
            (Some(one), None) | (None, Some(one)) => format!("{} {one}", std::env::consts::OS),
            (None, None) => std::env::consts::OS.to_owned(),
        };
        Self {
            name: line_of("/proc/sys/kernel/hostname", |line| Some(line.to_owned()))
                .or_else(|| std::env::var("HOSTNAME").or_else(|_| std::env::var("COMPUTERNAME")).ok()),
            cpu: line_of("/proc/cpuinfo", |line| {
                let (key, value) = line.split_once(':')?;
                (key.trim() == "model name").then(|| value.trim().to_owned())
            }),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            os,
            arch: std::env::consts::ARCH.to_owned(),
        }
    }
}

/// The first result of `pick` over the lines of a file, if there is one.
fn line_of(file: &str, pick: impl Fn(&str) -> Option<String>) -> Option<String> {
    let text = String::from_utf8_lossy(&std::fs::read(file).ok()?).into_owned();
    text.lines().find_map(pick).filter(|picked| !picked.is_empty())
}

fn command_line(program: &str) -> Vec<String> {
    let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    std::iter::once(program.to_owned()).chain(arguments).collect()
}

/// A point in time, displayed as `2026-11-20T10:22:59Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Seconds since 1970-01-01T00:00:00Z.
    seconds: u64,
}

impl Moment {
    /// Now, by the machine's clock. A time before 1970 counts as 1970.
    pub fn now() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "the manifest records when a run took place; no result depends on it"
        )]
        let now = SystemTime::now();
        Self { seconds: now.duration_since(SystemTime::UNIX_EPOCH).as_ref().map_or(0, Duration::as_secs) }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = i64::try_from(self.seconds).ok().and_then(|seconds| DateTime::from_timestamp(seconds, 0));
        time.unwrap_or(DateTime::<Utc>::MAX_UTC).format("%Y-%m-%dT%H:%M:%SZ").fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use documents::sha256;
    use documents::toml_reader::Source;
    use spec::Experiment;

    fn experiment() -> Experiment {
        let source =
            Source::from_text("good.toml", include_str!("../../click-bandits/tests/data/bad_spec/good.toml"))
                .unwrap();
        Experiment::from_document(&source.parse().unwrap()).unwrap()
    }

    #[test]
    fn moments_are_displayed_as_utc_dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_210_096, "2024-02-29T12:34:56Z"),
            (1_798_761_599, "2026-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(Moment { seconds }.to_string(), text);
        }
        assert!(Moment::now() > Moment { seconds: 1_700_000_000 });
    }

    #[test]
    fn a_manifest_is_read_back_unchanged_and_names_its_owner() {
        let experiment = experiment();
        let (canonical, now) = (experiment.canonical(), Moment::now());
        let program =
            Program { git: Some(Git { commit: "0".repeat(40), dirty: true }), ..Program::library() };
        let files = BTreeMap::from([("result.json".to_owned(), sha256(b"{}"))]);
        let manifest = Manifest::of(&canonical, now, 2, files, program);
        let json = manifest.to_json();
        assert_eq!(serde_json::from_slice::<Manifest>(&json).unwrap(), manifest);
        let owner = Owner::read(&json).unwrap();
        assert_eq!(
            owner,
            Owner {
                identity: experiment.identity(),
                base: Some(experiment.canonical().base),
                name: "pbm-synthetic".to_owned(),
                files: vec!["result.json".to_owned()],
            }
        );
        // SHA-256 of "{}".
        let digest = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(manifest.files["result.json"], digest);
        assert_eq!(sha256(canonical.json.as_bytes()), manifest.identity);
    }
}
