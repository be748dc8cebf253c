//! Feedback: what each protocol reads from clicks.

use click_models::{
    Cascade, CascadeFeedback, Clicks, Dcm, Error, ListFeedback as _, ListProtocol as _, ObservedPrefix as _,
    Pbm, SemiBandit,
};
use quickcheck::quickcheck;

fn seen(bits: u64, length: u8) -> Clicks {
    let length = usize::from(length % 65);
    let inside = if length == 64 { u64::MAX } else { (1 << length) - 1 };
    Clicks::from_bits(bits & inside, length).expect("inside")
}

quickcheck! {
    fn a_cascade_is_read_down_to_its_click(bits: u64, length: u8) -> bool {
        let clicks = seen(bits, length);
        let first = (0..clicks.len()).find(|&position| clicks.get(position));
        let read = Cascade::read(clicks, clicks.len());
        let prefix = read.observed_clicks();
        read.click() == first
            && read.n_positions() == clicks.len()
            && prefix.len() == first.map_or(clicks.len(), |position| position + 1)
            && prefix.count() == u32::from(first.is_some())
    }

    fn dependent_clicks_are_read_down_to_the_last(bits: u64, length: u8) -> bool {
        let clicks = seen(bits, length);
        let last = (0..clicks.len()).rev().find(|&position| clicks.get(position));
        let prefix = Dcm::read(clicks, clicks.len()).observed_clicks();
        prefix.bits() == clicks.bits() && prefix.len() == last.map_or(clicks.len(), |position| position + 1)
    }

    /// Clicks are extended to a longer list and cut to a shorter one, without a panic.
    fn any_length_is_read(bits: u64, length: u8, n_positions: u8) -> bool {
        let clicks = seen(bits, length);
        let n_positions = usize::from(n_positions % 65);
        let read = SemiBandit::read(clicks, n_positions).observed_clicks();
        let cut = Cascade::read(clicks, n_positions);
        Pbm::read(clicks, n_positions).list_clicks() == read
            && cut.n_positions() == n_positions
            && read.len() == n_positions
            && (0..n_positions).all(|position| read.get(position) == clicks.get(position))
    }

    fn a_saved_cascade_round_is_read_back(click: Option<u8>, length: u8) -> bool {
        let length = usize::from(length % 65);
        match CascadeFeedback::new(click.map(usize::from), length) {
            Ok(round) => {
                let saved = serde_json::to_string(&round).expect("plain numbers");
                serde_json::from_str::<CascadeFeedback>(&saved).expect("as written") == round
            }
            Err(error) => click.is_some_and(|click| usize::from(click) >= length)
                && error == Error::ClickBeyondList { len: length },
        }
    }
}

#[test]
fn a_cascade_round_that_cannot_be() {
    assert_eq!(CascadeFeedback::new(None, 65), Err(Error::TooManyPositions(65)));
    assert_eq!(CascadeFeedback::new(Some(3), 3), Err(Error::ClickBeyondList { len: 3 }));
    assert!(serde_json::from_str::<CascadeFeedback>(r#"{"click":3,"n_positions":3}"#).is_err());
}
