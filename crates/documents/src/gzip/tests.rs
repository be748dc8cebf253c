use super::*;
use std::io::Write as _;

fn packed(text: &[u8], times: usize) -> Vec<u8> {
    let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    (0..times).for_each(|_| member.write_all(text).unwrap());
    member.finish().unwrap()
}

/// Members, zero bytes between and after them, and no more text than a file may have.
#[test]
fn members_are_unpacked_within_the_limit_of_a_file() {
    let text = |content: &[u8]| unpack(content).map(Cow::into_owned).map_err(|error| error.to_string());
    let padded = [packed(b"one\n", 1), vec![0; 512], packed(b"two\n", 1), vec![0; 7]].concat();
    assert_eq!(text(&padded), Ok(b"one\ntwo\n".to_vec()));
    let error = "something other than gzip follows their end";
    assert_eq!(text(&[&padded[..], b"x"].concat()), Err(error.to_owned()));
    let half = packed(&vec![b'x'; 1 << 20], 33);
    assert_eq!(text(&[&half[..], &half].concat()), Err("more than 64 MiB of text".to_owned()));
}
