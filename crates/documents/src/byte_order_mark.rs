//! The byte order mark with which some editors begin a file.

/// The byte order mark of UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The content of a file after its byte order mark, if it has one.
pub fn without_byte_order_mark(content: &[u8]) -> &[u8] {
    content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(content)
}
