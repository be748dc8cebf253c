//! Prints the table of formats; `cargo xtask tables` writes it.

fn main() {
    print!("<!-- table: formats in crates/log-reader/README.md -->\n{}", log_reader::formats::table());
}
