//! The files that commands read and write, besides click logs: one row each.

use super::super::page::{Page, plain};
use serde::{Serialize, Serializer};
use spec::experiment::keys::{EXPERIMENT, OF_INSTANCE, OF_POLICY};
use spec::key::{Key, inside};

/// Names with their meanings.
type Fields = &'static [(&'static str, &'static str)];
/// Tables inside a file, with their keys and the meanings of these.
type Tables = Vec<(&'static str, Vec<(String, String)>)>;

#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct FileFormat {
    /// Name in the list: the file's own, or that of its kind.
    pub(crate) name: &'static str,
    pub(crate) sentence: &'static str,
    pub(crate) read_by: &'static [&'static str],
    pub(crate) written_by: &'static [&'static str],
    /// Columns of a table, or keys of a document, with their meanings.
    pub(crate) fields: Fields,
    #[serde(serialize_with = "write_tables")]
    pub(crate) tables: fn() -> Tables,
    pub(crate) example: Option<&'static str>,
}

/// A file that the user writes.
const fn read(name: &'static str, by: &'static [&'static str], sentence: &'static str) -> FileFormat {
    FileFormat { name, sentence, read_by: by, written_by: &[], fields: &[], tables: Vec::new, example: None }
}

/// A file that the program writes.
const fn written(name: &'static str, by: &'static [&'static str], sentence: &'static str) -> FileFormat {
    FileFormat { written_by: by, ..read(name, &[], sentence) }
}

impl FileFormat {
    const fn and_read(self, by: &'static [&'static str]) -> Self {
        Self { read_by: by, ..self }
    }

    const fn with(self, fields: Fields) -> Self {
        Self { fields, ..self }
    }

    const fn and_tables(self, tables: fn() -> Tables) -> Self {
        Self { tables, ..self }
    }

    const fn like(self, example: &'static str) -> Self {
        Self { example: Some(example), ..self }
    }

    /// Returns whether a user writes it, and not the program.
    pub(super) fn is_input(&self) -> bool {
        self.written_by.is_empty()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the serialiser gives a reference")]
fn write_tables<S: Serializer>(tables: &fn() -> Tables, serializer: S) -> Result<S::Ok, S::Error> {
    tables().serialize(serializer)
}

fn tables_of_spec() -> Tables {
    let own = |keys: &[Key]| keys.iter().map(|key| (key.name.to_owned(), key.meaning.to_owned())).collect();
    let tables = EXPERIMENT.iter().map(|key| (key.name, of_table(&(key.kind)())));
    let mut tables: Tables = tables.filter(|(_, keys)| !keys.is_empty()).collect();
    tables.insert(0, ("the top of the file", own(&EXPERIMENT)));
    tables.push(("[[instances]], besides the keys of the model (click-bandits models)", own(&OF_INSTANCE)));
    tables.push(("[[policies]], besides parameters (click-bandits policies)", own(&OF_POLICY)));
    tables
}

fn tables_of_log() -> Tables {
    vec![
        #[cfg(feature = "logs")]
        ("[log]", of_table(&crate::reproduce::schema_of_log())),
    ]
}

/// The keys of a table that a schema accepts.
fn of_table(schema: &serde_json::Value) -> Vec<(String, String)> {
    inside(schema).into_iter().map(|key| (key.name, key.meaning)).collect()
}

const REMARKS: &str = "code, kind, text and of, the level or model, of every refusal, reason of \"not decided\", alarm, warning and note";

/// Lines of an example that are on its page.
const LINES: usize = 60;

/// The commands that write the files of an experiment's result.
const OF_RESULTS: &[&str] = &["simulate", "merge", "reproduce"];

pub(crate) static FILES: &[FileFormat] = &[
    read("experiment.toml", &["reproduce"], "A paper's experiment: panels with what the paper says.")
        .with(&[
            ("name, title, summary", "what the report is about"),
            ("[[papers]]", "key, citation, link"),
            ("[[panels]]", "the keys of spec.toml, and title, paper, place, statement, quick"),
            ("[log]", "how a log is read"),
        ])
        .and_tables(tables_of_log)
        .like(include_str!("examples/experiment.toml")),
    read("claims.toml", &["reproduce"], "A paper's claims as tests, beside experiment.toml.")
        .with(&[
            ("[[claims]]", "name, panel, says, place"),
            ("[claims.test]", "kind, and the keys of that kind"),
            ("[claims.known]", "verdict, evidence"),
        ])
        .like(include_str!("examples/claims.toml")),
    read("queries.json", &["reproduce --data"], "Measured queries: attraction and examination.")
        .with(&[
            ("name", "name of the query"),
            ("theta", "or attraction: one probability for each item"),
            ("kappa", "or examination: one probability for each position"),
        ])
        .like("[{ \"name\": \"7\", \"theta\": [0.05, 0.03], \"kappa\": [1.0, 0.5] }]\n"),
    read("letor", &["preferences --letor"], "Documents with labels and features, in LETOR's format.")
        .with(&[
            ("label", "relevance of the document, an integer"),
            ("qid:Q", "name of the query"),
            ("N:VALUE", "feature N; each feature is a ranker"),
        ])
        .like("1 qid:1 1:0.5 2:0.25\n0 qid:1 1:0.2 2:0.75\n"),
    written(
        "spec.toml",
        &["init", "simulate", "fit", "reproduce"],
        "An experiment: users, policies, rounds, runs.",
    )
    .and_read(&["simulate"])
    .and_tables(tables_of_spec),
    written("preferences.csv", &["preferences"], "A preference matrix: how often item i is preferred to j.")
        .and_read(&["simulate", "preferences --matrix", "reproduce --matrix"])
        .with(&[("a line", "a row of the matrix, separated by commas or white space")])
        .like("0.5,0.6,0.7\n0.4,0.5,0.6\n0.3,0.4,0.5\n"),
    written("result.json", OF_RESULTS, "Results of every policy: means and standard errors.").with(&[
        ("schema", "version of this layout"),
        ("name, task, runs", "of the experiment"),
        ("horizon, max_steps", "rounds of a run, or the largest number of them"),
        ("seed", "of the experiment"),
        ("policies", "for each its label, and regret and clicks at every checkpoint, or its answers"),
        ("paired", "for every two policies the difference over the same runs; of more than 30, with the best and of neighbours"),
        ("bounds", "theoretical bounds"),
        ("optimum", "expected clicks of a best list"),
    ]),
    written("curves.csv", OF_RESULTS, "The results as a table.").with(&[
        ("policy", "label"),
        ("t", "round"),
        ("statistic", "what is measured, such as regret or clicks"),
        ("mean", "over the runs"),
        ("se", "standard error of the mean; empty if there is one observation"),
        ("min, q10, q90, max", "least value, quantiles and largest value over the runs"),
    ]),
    written("runs.csv", &["simulate", "merge"], "Every run, policy and checkpoint (--keep-runs).").with(&[
        ("run", "number of the run"),
        ("instance", "number of the instance that it plays"),
        ("policy", "label"),
        ("t, regret, clicks", "round, and sums up to it (task regret)"),
        ("steps, observations, correct, stopped", "instead of these (tasks identify and budget)"),
    ]),
    written("timing.json", OF_RESULTS, "CPU time and wall-clock time of every policy.").with(&[
        ("threads", "number of threads"),
        ("policies", "for each its label, cpu_seconds, wall_seconds, rounds, rounds_per_cpu_second"),
        ("total", "the same of all policies"),
    ]),
    written(
        "index.html",
        &["simulate", "merge", "reproduce", "fit", "preferences"],
        "A page with the result, which needs no other files.",
    ),
    written(
        "manifest.json",
        &["simulate", "merge", "reproduce", "fit", "preferences"],
        "What was run, by which program, when and where.",
    )
    .with(&[
        ("schema", "version of this layout"),
        ("identity, base", "SHA-256 of the experiment, and of all but its runs and policies"),
        ("program, command", "version, compiler and commit; the command line"),
        ("started, finished", "when"),
        ("threads, host", "where"),
        ("files", "SHA-256 of every other file"),
        ("experiment", "everything that the result depends on"),
    ]),
    written("journal", OF_RESULTS, "A directory with every run, from which a process continues.")
        .and_read(OF_RESULTS)
        .with(&[("a file", "the runs of one policy, in a format of the program")]),
    written("claims.json", &["reproduce"], "Every claim of a paper with its verdict.").with(&[
        ("experiment, quick", "what was run"),
        ("ok", "whether every verdict is as known"),
        ("claims", "for each its name, verdict and comparisons"),
    ]),
    written("parameters.json", &["fit"], "Fitted click models: parameters, errors, 95 % intervals.")
        .and_read(&["simulate"])
        .with(&[
            ("schema", "version of this layout: 1; 2 with a table"),
            ("table", "name of the file with the parameters of queries, if they are not here; then simulate refuses this file"),
            ("log, fitted", "counts of what was read, and of what was fitted"),
            ("scope, level", "whether queries share parameters; confidence level of intervals"),
            ("models", "for each its parameters of all queries together (site) and of each query (queries)"),
            ("identifiability", "what the log does not identify"),
            ("rank_one", "singular values of the click-through rates of each query"),
        ]),
    written("parameters.csv", &["fit"], "The same as a table, one row for each parameter.").with(&[
        ("model, query, kind, item, position, last_click", "which parameter it is"),
        ("estimate, se, lower, upper", "estimate, standard error, 95 % interval"),
        ("clicks, impressions", "what the log has on it"),
    ]),
    written(
        "parameters.parquet",
        &["fit"],
        "The rows of parameters.csv, in its place if parameters.json would exceed 20 MB.",
    )
    .with(&[
        ("model, kind", "text"),
        ("query, item", "text, with names as in the log; null if a parameter has none"),
        ("position, last_click", "INT64 or null"),
        ("estimate, se, lower, upper", "DOUBLE; null if unknown, infinite if unbounded"),
        ("clicks, impressions", "INT64 or null"),
    ]),
    written("comparison.json", &["fit"], "How well each model predicts sessions that no fit has used."),
    written("counts.csv", &["fit"], "Clicks and impressions by query, item and position.")
        .and_read(&["fit --counts"])
        .with(&[
            ("query", "name of the query"),
            ("item", "name of the item"),
            ("position", "from 1, or from 0 with --first-position 0"),
            ("clicks", "number of clicks"),
            ("impressions", "how often the item was shown there"),
        ])
        .like("query,item,position,clicks,impressions\nshoes,a,1,40,100\nshoes,b,2,10,100\n"),
    read("shop.csv", &["fit", "evaluate"], "A synthetic log to try these commands on.")
        .with(&[
            ("day, visit", "a visit is a list: time=day and session=visit of --columns"),
            ("query, product", "what was searched, and one of the products that were shown"),
            ("position, click", "its position, from 1, and whether it was clicked"),
        ])
        .like(include_str!("../../../samples/shop.csv")),
    read(
        "ranking.csv",
        &["evaluate --ranking"],
        "A new ranking: one list of each query, or several with probabilities.",
    )
    .with(&[
        ("query", "name of the query; or session, for personal rankings"),
        ("list, probability", "name of the list and its probability, if a query has several"),
        ("position", "position, from 1"),
        ("item", "name of the item"),
    ])
    .like(include_str!("../../../samples/ranking.csv")),
    read("clicks.csv", &["test --kind interleaving"], "Clicks on interleaved lists, one a row.")
        .with(&[
            ("user", "who clicked"),
            ("team", "the ranker that the clicked item is credited to"),
            ("list, position", "optional: name of the list, and position of the click"),
            ("time", "optional: 2026-03-02T10:00:00Z, a date, or seconds since 1970"),
        ])
        .like("user,team,time\nann,new,2026-03-02\nbob,old,2026-03-02\nann,new,2026-03-03\n"),
    read("visits.csv", &["test --kind ab"], "Sessions of an A/B test, one a row.")
        .with(&[
            ("user", "who searched"),
            ("arm", "the ranker that this user sees"),
            ("clicks", "clicks of the session"),
            ("time", "optional, as in clicks.csv"),
        ])
        .like("user,arm,clicks\nann,A,1\nbob,B,0\nann,A,0\neve,B,2\ndan,A,1\n"),
    written(
        "verdict.json",
        &["test"],
        "Which of two rankers is better: verdict, evidence, interval, split, and every day.",
    )
    .with(&[
        ("sentence, verdict, refused, decided_on", "the better ranker or null, why there is none, since when"),
        ("remarks", REMARKS),
        ("changed_on", "the day whose interval excludes all that an earlier one held, or null"),
        ("users, clicks, arms", "by ranker; ties of an interleaving; rates and errors of arms"),
        ("share or difference, interval", "the other ranker compared with the baseline"),
        ("evidence, ln_evidence, decides_at or abs_z, boundary", "the evidence and what decides"),
        ("split, users_in_both, users_left_out, heaviest_share, times_back", "what may be wrong with the events"),
        ("days", "the same numbers at the end of every day"),
    ]),
    written(
        "answer.json",
        &["fit", "evaluate"],
        "What today's ranking loses, and what a policy would gain; or what another ranking would have earned.",
    )
    .with(&[("remarks", REMARKS)]),
    written("decision.toml", &["fit"], "The experiment behind the answer, for simulate.")
        .and_read(&["simulate"]),
    written(
        "decision.json",
        &["fit"],
        "The parameters of the answer's queries, if parameters.json has none of queries.",
    )
    .and_read(&["simulate"]),
    written("recommended.csv", &["fit"], "The recommended lists, in the form of ranking.csv.")
        .and_read(&["evaluate --ranking"]),
    written("logged.csv", &["fit"], "Today's lists, which the policy logged plays.")
        .and_read(&["simulate"])
        .with(&[
            ("instance", "index of the instance, from 0"),
            ("query", "its name"),
            ("lists", "how often the log shows the list; with of-log, how often its last part does"),
            ("items", "the items from the first position on, by index, separated by spaces"),
            ("clicks", "clicks on the list in the whole log, which may be left out"),
            ("of-log", "how often the whole log shows it, if lists counts a part"),
        ])
        .like("instance,query,lists,items\n0,shoes,120,3 0 1\n0,shoes,40,0 3 1\n"),
];

impl FileFormat {
    pub(super) fn page(&self) -> Page {
        let mut page = Page::about(self.name, self.sentence);
        page.line("");
        page.fact("Read by", &self.read_by.join(", "));
        page.fact("Written by", &self.written_by.join(", "));
        if !self.fields.is_empty() {
            page.heading("Content");
            for (name, meaning) in self.fields {
                page.beside(2, name, 22, meaning);
            }
        }
        for (table, keys) in (self.tables)() {
            page.heading(&format!("Keys of {table}"));
            for (name, meaning) in keys {
                page.beside(2, &name, 22, &plain(&meaning));
            }
        }
        if self.fields.iter().any(|field| field.1 == REMARKS) {
            page.heading("Codes of remarks (.. stands for numbers and names)");
            for [name, kind, of, text] in documents::remark::codes() {
                page.beside(2, name, 24, &format!("{kind} ({of}): {text}"));
            }
        }
        if let Some(example) = self.example {
            let begin = example.split_inclusive('\n').take(LINES).collect::<String>();
            let heading = if begin == example { "Example" } else { "The first lines of the example" };
            page.example(&format!("{heading} (printed by --example)"), &begin);
        }
        if self.name == "spec.toml" {
            page.heading("Example: click-bandits init MODEL");
        }
        page
    }
}
