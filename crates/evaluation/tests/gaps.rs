//! Logs that leave out positions, such as the place of an advertisement, or begin later.

use click_logs::fit::Model;
use click_logs::{Error, Format, Ids, Input, Reader};
use evaluation::{Evaluation, Question, Ranking};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

/// The positions of lists of five items in each log; the first one has no gaps.
const POSITIONS: [[usize; 5]; 4] = [[1, 2, 3, 4, 5], [1, 2, 3, 5, 6], [3, 4, 5, 6, 7], [2, 4, 9, 63, 64]];

/// Lists of five of seven items in random order, whose users are position-based.
fn log(positions: [usize; 5], with_sessions: bool) -> String {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    // Users make the groups of rows, which else depend on the places of lines.
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
                text += &format!("s{session},");
            }
            let (user, query, item, position) = (session % 90, session % 3, items[place], positions[place]);
            text += &format!("u{user},q{query},i{item},{position},{click},{}\n", 1.0 / 7.0);
        }
    }
    text
}

fn evaluated(log: &str, with_sessions: bool, models: &[Model]) -> Value {
    let columns = "user=user,query=query,item=item,position=position,click=click,propensity=p";
    let session = if with_sessions { ",session=session" } else { "" };
    let reader = Reader::new(Format::delimited(&format!("{columns}{session}")).unwrap());
    let reader = if models.is_empty() { reader } else { reader.keep_sessions() };
    let lists =
        (0..3).flat_map(|q| (0..5).map(move |place| format!("q{q},{},i{}\n", place + 1, (place + q) % 7)));
    let ranking = format!("query,position,item\n{}", lists.collect::<String>());
    let ranking = Ranking::read("ranking", ranking.as_bytes()).unwrap();
    let ids = Ids::new();
    let question = Question::new(ranking, reader.format(), Some(&[1.0, 0.8, 0.6, 0.5, 0.3]), &ids).unwrap();
    let inputs = |_| Ok::<_, Error>(vec![Input::stream("log.csv", log.as_bytes())]);
    let read = reader.read_lists(ids, inputs, || question.tally()).unwrap();
    Evaluation::new(&question, read, models, |_| true).unwrap().to_json()
}

/// The evaluation is that of the same lists without gaps: by rows, by lists, and by models.
#[test]
fn positions_that_no_list_has_are_none() {
    for (with_sessions, models) in [(false, &[][..]), (true, &[]), (true, &[Model::Pbm, Model::Cascade])] {
        let [expected, others @ ..] =
            POSITIONS.map(|positions| evaluated(&log(positions, with_sessions), with_sessions, models));
        assert!(expected["lists"].as_u64() >= Some(2000), "{expected}");
        for other in others {
            assert_eq!(other, expected);
        }
    }
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
