//! Logs that leave out positions, such as the place of an advertisement, or begin later.

use click_logs::fit::{Model, Options, Scope, fit};
use evaluation::{Evaluation, Question, Ranking};
use log_reader::{Error, Format, Ids, Input, Reader};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;
use std::fmt::Write as _;

/// The positions of lists of five items in each log; the first one has no gaps.
const POSITIONS: [[usize; 5]; 4] = [[1, 2, 3, 4, 5], [1, 2, 3, 5, 6], [3, 4, 5, 6, 7], [2, 4, 9, 63, 64]];
const COLUMNS: &str = "user=user,query=query,item=item,position=position,click=click,propensity=p";
const VALUES: [f64; 7] = [1.0, 0.8, 0.6, 0.5, 0.3, 0.2, 0.1];

/// Lists of five of seven items in random order, at positions by query, whose users are
/// position-based.
fn log(positions: [[usize; 5]; 3], with_sessions: bool) -> String {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    // Users make the groups of rows, which else depend on the places of lines.
    let mut text =
        format!("{}user,query,item,position,click,p\n", if with_sessions { "session," } else { "" });
    for session in 0..2000 {
        let mut items: Vec<usize> = (0..7).collect();
        for place in 0..5 {
            items.swap(place, random.random_range(place..7));
            let probability = (0.1 + 0.1 * items[place] as f64) / (1.0 + 0.5 * place as f64);
            let click = u8::from(random.random::<f64>() < probability);
            if with_sessions {
                write!(text, "s{session},").unwrap();
            }
            let (user, query, item) = (session % 90, session % 3, items[place]);
            let position = positions[query][place];
            writeln!(text, "u{user},q{query},i{item},{position},{click},{}", 1.0 / 7.0).unwrap();
        }
    }
    text
}

/// The evaluation of lists of `n` items.
fn evaluated(log: &str, with_sessions: bool, models: &[Model], n: usize) -> Value {
    let session = if with_sessions { ",session=session" } else { "" };
    let reader = Reader::new(Format::delimited(&format!("{COLUMNS}{session}")).unwrap());
    let reader = if models.is_empty() { reader } else { reader.keep_sessions() };
    let lists =
        (0..3).flat_map(|q| (0..n).map(move |place| format!("q{q},{},i{}\n", place + 1, (place + q) % 7)));
    let ranking = format!("query,position,item\n{}", lists.collect::<String>());
    let ranking = Ranking::read("ranking", ranking.as_bytes()).unwrap();
    let ids = Ids::new();
    let question = Question::new(ranking, reader.format(), Some(&VALUES[..n]), &ids).unwrap();
    let inputs = |_| Ok::<_, Error>(vec![Input::stream("log.csv", log.as_bytes())]);
    let read = reader.read_lists(ids, inputs, || question.tally()).unwrap();
    Evaluation::new(&question, read, models, |_| true).unwrap().to_json()
}

/// The evaluation is that of the same lists without gaps: by rows, by lists, and by models.
#[test]
fn positions_that_no_list_has_are_none() {
    let models = &[Model::Pbm, Model::Cascade][..];
    // Lists of seven items are longer than those of the log.
    for (with_sessions, models, n) in
        [(false, &[][..], 5), (true, &[], 5), (true, models, 5), (true, models, 7)]
    {
        let [expected, others @ ..] = POSITIONS
            .map(|positions| evaluated(&log([positions; 3], with_sessions), with_sessions, models, n));
        assert!(expected["lists"].as_u64() >= Some(2000), "{expected}");
        for other in others {
            assert_eq!(other, expected);
        }
    }
}

/// Queries whose lists stand elsewhere: an item is compared at its position of the log, if its
/// query has one there.
#[test]
fn each_query_has_its_own_positions() {
    let positions = [[1, 2, 3, 4, 5], [1, 2, 3, 5, 6], [3, 4, 5, 6, 7]];
    let text = log(positions, true);
    let found = evaluated(&text, true, &[Model::Pbm], 6);
    let reader =
        Reader::new(Format::delimited(&format!("{COLUMNS},session=session")).unwrap()).keep_sessions();
    let log = reader.read("log.csv", text.as_bytes()).unwrap();
    let options = Options { prior_strength: Some(0.0), scope: Scope::Site, ..Options::default() };
    let fit = fit(Model::Pbm, &log.counts, &log.sessions, &options).unwrap();
    let id = |name: String| log.counts.names().find(&name).unwrap();
    let mut value = 0.0;
    for (query, positions) in positions.iter().enumerate() {
        for position in positions.iter().map(|position| position - 1).filter(|&position| position < 6) {
            let [of_query, item] = [id(format!("q{query}")), id(format!("i{}", (position + query) % 7))];
            let click = fit.click_probability(of_query, item, position).unwrap();
            let lists = log.sessions.query(of_query).unwrap().n_sessions();
            value += VALUES[position] * lists as f64 * click / 2000.0;
        }
    }
    let number = |path: &str| found.pointer(path).and_then(Value::as_f64).unwrap();
    assert!((number("/models/pbm/value") - value).abs() < 1e-4, "{value} {found:#}");
    assert!((number("/models/pbm/today/value") - number("/today/value")).abs() < 1e-9, "{found:#}");
    // The weights of items at their positions need no fit.
    assert!((number("/estimators/position/value") - value).abs() < 0.02, "{value} {found:#}");
}

/// The second page of a list is no beginning of another one: its items stand where they stand.
#[test]
fn a_later_part_of_a_list_stands_below() {
    let log = "session,query,item,position,click\na,q,x,1,1\na,q,y,2,0\nb,q,z,3,1\nb,q,w,5,0\n";
    let columns = "session=session,query=query,item=item,position=position,click=click";
    let reader = Reader::new(Format::delimited(columns).unwrap());
    let ranking = Ranking::read("r", b"query,position,item\nq,1,x\nq,2,y\nq,3,z\nq,4,w\n").unwrap();
    let ids = Ids::new();
    let question = Question::new(ranking, reader.format(), None, &ids).unwrap();
    let inputs = |_| Ok::<_, Error>(vec![Input::stream("log.csv", log.as_bytes())]);
    let read = reader.read_lists(ids, inputs, || question.tally()).unwrap();
    let levels = question.levels(read.receivers, false).unwrap();
    assert_eq!((levels.about.as_shown, levels.about.shorter, levels.today.value), (2, 1, 1.0));
}
