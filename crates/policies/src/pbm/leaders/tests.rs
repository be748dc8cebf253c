use super::*;

/// Without room for all, the list that led longest ago counts from 0, and no other one does.
#[test]
fn the_list_that_led_longest_ago_is_forgotten() {
    let mut leaders = Leaders::default();
    let list = |number: usize| [0, 1].map(|place| u32::try_from(2 * number + place).expect("small"));
    for number in 0..ROOM {
        assert_eq!(leaders.count(&list(number), number as u64), 0);
    }
    assert_eq!(leaders.count(&list(0), 5000), 1);
    assert_eq!(leaders.count(&list(ROOM), 5001), 0);
    assert_eq!(leaders.count(&list(0), 5002), 2);
    assert_eq!(leaders.count(&list(2), 5003), 1);
    assert_eq!(leaders.count(&list(1), 5004), 0);
}
