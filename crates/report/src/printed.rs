//! A table of the instances as the papers print it.

/// A table of the instances as the papers print it.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperTable {
    /// Its heading.
    pub title: String,
    /// Its rows, each with the attractions of its instance.
    pub rows: Vec<PrintedRow>,
}

/// A row of a printed table: an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedRow {
    /// The name of the instance.
    pub name: String,
    /// The attractions of its items.
    pub theta: Vec<f64>,
    /// The printed numbers by column name.
    pub printed: Vec<(String, f64)>,
}
