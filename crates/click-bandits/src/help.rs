//! The end of every command's `--help`: examples that run one after another in an empty directory,
//! what is read and written, where to go next, and the exit status. A test runs the examples.

/// The end of the help of a command, or of the program.
pub(crate) fn end(command: &str) -> String {
    let sections = || ENDS.split("\n## ").filter_map(|section| section.split_once('\n'));
    let text = sections().find(|(name, _)| *name == command).map_or("", |(_, text)| text.trim_end());
    if text.contains("Exit status") { text.to_owned() } else { format!("{text}\n\n{EXIT_STATUS}") }
}

/// The exit status of every command but `reproduce` and `compare`.
const EXIT_STATUS: &str = "\
Exit status: 0 success; 1 an error, which is printed on standard error;
2 an invalid command line; 130 and 143 ended by Ctrl-C or SIGTERM.";

/// A section for each command.
const ENDS: &str = "
## click-bandits
From your own log, here a synthetic one:
  $ click-bandits formats shop.csv --example > shop.csv
  $ click-bandits fit shop.csv --format delimited --out fitted --columns \\
    query=query,item=product,position=position,click=click,session=visit,time=day

An experiment:
  $ click-bandits models
  $ click-bandits init pbm --out spec.toml
  $ click-bandits simulate spec.toml --out results

Find out what there is: `policies`, `models`, `formats` and `experiments` list
names; with a name they show everything about it. `init` writes an experiment
to start from. `COMMAND --help` has examples of a command.

## simulate
Examples:
  $ click-bandits init pbm --out spec.toml
  $ click-bandits simulate spec.toml --out results
  $ click-bandits simulate spec.toml --out results --runs 40

The last one plays only the runs that are missing. After an interruption the
same command resumes where it stopped.

Reads: an experiment, `click-bandits formats spec.toml`.
Writes to DIR: index.html, a page with the result; result.json, curves.csv,
timing.json, manifest.json, spec.toml, figures (SVG) and journal, which
`click-bandits formats NAME` describes. A file that the program has not written
is never overwritten.

Next: click-bandits policies, click-bandits models, docs/getting-started.md.

## serve
Examples:
  $ click-bandits serve -- --help
  $ click-bandits serve serve.toml --data lists

Reads: a configuration; `click-bandits serve --init` prints one with every key.
Writes: the directory of --data, with all decisions and answers.

Next: docs/service.md in the source of the program.

## check
Examples:
  $ click-bandits init pbm --out spec.toml
  $ click-bandits check spec.toml
  $ click-bandits check spec.toml --runs 10000

Reads: an experiment, `click-bandits formats spec.toml`; or a directory with
experiment.toml and claims.toml.
Writes: nothing.

Next: click-bandits simulate spec.toml --out results.

## schema
Examples:
  $ click-bandits schema > spec.schema.json
  $ click-bandits schema claims > claims.schema.json

An editor with the schema completes keys and names, and marks what is wrong.
For Even Better TOML and Taplo, the first line of spec.toml is
  #:schema ./spec.schema.json

Next: click-bandits check finds the errors that a schema cannot know.

## merge
Examples:
  $ click-bandits init pbm --out spec.toml
  $ click-bandits simulate spec.toml --out part-1 --shard 1/2
  $ click-bandits simulate spec.toml --out part-2 --shard 2/2
  $ click-bandits merge part-1 part-2 --out results

Reads: directories of simulate or reproduce with --shard.
Writes to DIR: what one process would have written, the same bytes.

Next: docs/at-scale.md runs shards with Slurm, Kubernetes and GNU parallel.

## export
Examples:
  $ click-bandits init pbm --out spec.toml
  $ click-bandits simulate spec.toml --out results
  $ click-bandits export results --out curves.csv
  $ click-bandits export results --table runs --format json --out runs.json

Reads: a directory of simulate, or of a whole reproduction.
Writes: one table. Values are those of result.json and the journal, without
rounding.

Next: click-bandits formats curves.csv has the meaning of the columns.

## compare
Examples:
  $ click-bandits init pbm --out spec.toml
  $ click-bandits simulate spec.toml --out first
  $ click-bandits simulate spec.toml --out second
  $ click-bandits compare first second

Reads: two directories of simulate with the same experiment. Their seeds,
numbers of runs and policies may differ.
Writes: nothing.

Exit status: 0 nothing differs beyond chance; 1 something does; 2 an error, or
an invalid command line.

Next: click-bandits export writes the numbers of both.

## preferences
Examples:
  $ click-bandits formats preferences.csv --example > matrix.csv
  $ click-bandits preferences --matrix matrix.csv
  $ click-bandits preferences --matrix matrix.csv --out report

Reads: a preference matrix or documents in LETOR format, `click-bandits formats
preferences.csv` and `letor`.
Writes to DIR: report.json, index.html and manifest.json; and, if the matrix is
estimated, preferences.csv and counts.csv.

Next: users for `simulate` from the matrix, `click-bandits models dueling`;
docs/dueling.md.

## fit
Examples:
  $ click-bandits formats counts.csv --example > counts.csv
  $ click-bandits fit --counts counts.csv --out from-counts
  $ click-bandits formats shop.csv --example > shop.csv
  $ click-bandits fit shop.csv --format delimited --out fitted --columns \\
    query=query,item=product,position=position,click=click,session=visit,time=day

The counts have no lists, so they have no answer. The second log, a synthetic
one, has an answer: the lines of a session are a list.

Reads: click logs, `click-bandits formats`; or counts.
Writes to DIR: parameters.json, parameters.csv, comparison.json, comparison.csv,
counts.csv, figures (SVG), spec.toml and manifest.json; with sessions also
index.html, answer.json, decision.toml and logged.csv, and recommended.csv, the
better lists, which `evaluate --ranking` reads; parameters.parquet in the place
of parameters.csv if parameters.json would exceed 20 MB.

Next: click-bandits simulate DIR/spec.toml --out results; docs/click-logs.md.

## evaluate
Examples:
  $ click-bandits formats shop.csv --example > shop.csv
  $ click-bandits formats ranking.csv --example > new.csv
  $ click-bandits evaluate shop.csv --format delimited --ranking new.csv \\
      --out answer --columns \\
      query=query,item=product,position=position,click=click,session=visit

The log is synthetic. It has no propensities, so click models value the ranking.

Reads: click logs, `click-bandits formats`; and a ranking, `click-bandits formats
ranking.csv`.
Writes to DIR: answer.json, index.html, manifest.json; with --ranking learned
also learned.csv, lists learned from all users, which --ranking reads.

Next: docs/evaluation.md.

## test
Examples:
  $ click-bandits formats clicks.csv --example > clicks.csv
  $ click-bandits test clicks.csv --kind interleaving --out verdict
  $ click-bandits formats visits.csv --example > visits.csv
  $ click-bandits test visits.csv --kind ab --out daily/2026-11-09
  $ click-bandits test visits.csv --kind ab --plan --per-day 500
  $ click-bandits test --kind interleaving --plan --effect 0.02

Reads: the events of a test, `click-bandits formats clicks.csv` and `visits.csv`.
Writes to DIR: verdict.json, index.html and manifest.json. A directory belongs to
the content of EVENTS, so the look of each day has one of its own. The exit
status does not depend on the verdict.

Next: docs/test.md.

## judgments
Examples:
  $ click-bandits formats counts.csv --example > counts.csv
  $ click-bandits fit --counts counts.csv --out fitted
  $ click-bandits judgments fitted --as csv
  $ click-bandits judgments fitted --as quepid --scale 0-3 --out ratings.csv
  $ click-bandits judgments fitted --as workbench --by coec --out request.json

Reads: a directory of fit: parameters.json, comparison.json and counts.csv.
Writes: one file, or standard output.

Next: docs/click-logs.md.

## reproduce
Examples:
  $ click-bandits experiments
  $ click-bandits reproduce cascade-synthetic --quick
  $ click-bandits reproduce kdd2012 --quick --panel rsf-figure-3

The first report is then in reproduced/cascade-synthetic-quick/index.html.

Reads: nothing, or experiment.toml and claims.toml of a directory.
Writes to DIR: index.html and claims.json, and for every panel a directory with
the files of simulate.

Exit status: 0 every verdict is as known (with --quick nine tenths of them are
decided; with --panel, --seed, --runs or data as well, any number may be open);
1 a verdict is not as known, or an error; 2 an invalid command line; 130 and 143
ended by Ctrl-C or SIGTERM.

Next: click-bandits experiments NAME; docs/reproductions.md.

## policies
Examples:
  $ click-bandits policies
  $ click-bandits policies pbm-pie
  $ click-bandits policies pbm-pie --example > spec.toml
  $ click-bandits simulate spec.toml --out results

JSON: an array of policies, or one: name, sentence, group, models,
models_with_read_as, tasks, told, needs_horizon, late_clicks, live, limit, cost,
guarantee, dominated_by (names of policies), source, parameters (name, values,
default, meaning) and example (null if it needs a file).

Next: click-bandits models; docs/which-policy.md.

## models
Examples:
  $ click-bandits models
  $ click-bandits models cascade
  $ click-bandits models cascade --example > spec.toml
  $ click-bandits simulate spec.toml --out results

JSON: an array of models, or one: name, sentence, shows (list, cell or pair),
regret_in, feedback, tasks, keys (name, values, required, in_place_of, meaning,
example and, for a table, keys), policies (task, policies) and example.

Next: click-bandits init NAME; docs/getting-started.md.

## formats
Examples:
  $ click-bandits formats
  $ click-bandits formats sessions
  $ click-bandits formats result.json

JSON: logs (name, holds, description, line, query, propensities, sessions,
names_columns, fits, command, example) and files (name, sentence, read_by, written_by, fields,
example); with a name the one of them.

Next: click-bandits fit --help; docs/click-logs.md.

## experiments
Examples:
  $ click-bandits experiments
  $ click-bandits experiments kdd2012
  $ click-bandits experiments kdd2012 --readme > README.md
  $ click-bandits experiments rank1-needle --files mine
  $ click-bandits check mine

JSON: an array of experiments, or one: name, title, summary, papers (citation,
link), models, panels (name, title, place, statement, models, task, variants,
runs, rounds, policies, needs_data), n_claims, takes and command.

Next: click-bandits reproduce NAME --quick; docs/reproductions.md.

## init
Examples:
  $ click-bandits init cascade
  $ click-bandits init cascade --out cascade.toml
  $ click-bandits simulate cascade.toml --out results

Next: click-bandits models NAME; click-bandits policies.

## completions
Examples:
  $ click-bandits completions bash > click-bandits.bash
  $ click-bandits completions zsh > _click-bandits
  $ click-bandits completions fish > click-bandits.fish

bash: put `source <(click-bandits completions bash)` into ~/.bashrc.
zsh: put _click-bandits into a directory of $fpath, before `compinit`.
fish: put click-bandits.fish into ~/.config/fish/completions.

## man
Examples:
  $ click-bandits man > click-bandits.1
  $ click-bandits man man1

Read a page: man -l man1/click-bandits-simulate.1. For all users, the directory
is /usr/local/share/man/man1.
";
