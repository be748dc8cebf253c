use super::*;
use click_models::CascadeModel;
use documents::sha256;

fn instances() -> Instances {
    let users = |n_positions| CascadeModel::from_values(&[0.5, 0.4, 0.2], n_positions).unwrap();
    Instances::named([("shoes".to_owned(), users(2)), ("hats".to_owned(), users(1))])
}

const GOOD: &str = "instance,query,lists,items,names\n0,shoes,3,2 0,c a\n0,,1,0 2,a c\n1,hats,9,1,b\n";

#[test]
fn every_instance_has_its_lists() {
    let lists = logged_lists("lists.csv", GOOD.as_bytes(), &instances()).unwrap();
    let found: Vec<Vec<(Vec<usize>, u64)>> = lists
        .of_instances
        .iter()
        .map(|logged| {
            logged.lists().map(|(list, count)| (list.iter().map(ItemId::index).collect(), count)).collect()
        })
        .collect();
    assert_eq!(found, [vec![(vec![2, 0], 3), (vec![0, 2], 1)], vec![(vec![1], 9)]]);
    assert_eq!((lists.file.name.as_str(), lists.file.sha256), ("lists.csv", sha256(GOOD.as_bytes())));
}

#[test]
fn a_fault_has_its_line() {
    for (from, to, message) in [
        (
            "instance,",
            "number,",
            "1:1: instance: no such column: expected columns instance, query, lists, items",
        ),
        ("0,shoes", "2,shoes", "2:1: instance: \"2\" found: expected an index below 2"),
        ("0,shoes", "0,hats", "2:1: query: \"hats\" found, but instances[0] is \"shoes\""),
        ("3,2 0", "-3,2 0", "2:1: lists: \"-3\" found: expected how often the list was shown"),
        ("0 2", "0 3", "3:1: items: \"3\" found: expected an item below 3"),
        ("0 2", "0 0", "3:1: items: item 0 is shown twice"),
        ("0 2", "0", "3:1: items: 1 item found, but the instance has 2 positions"),
    ] {
        let text = GOOD.replacen(from, to, 1);
        for text in [text.replace('\n', "\r\n"), text] {
            let error = logged_lists("lists.csv", text.as_bytes(), &instances()).unwrap_err();
            assert_eq!(error.to_string(), format!("lists.csv:{message}"));
        }
    }
    let error = logged_lists("lists.csv", GOOD.replace("1,hats,9,1,b\n", "").as_bytes(), &instances());
    assert!(
        error.unwrap_err().to_string().starts_with("lists.csv: lists of instances[1]: expected at least one")
    );
}
