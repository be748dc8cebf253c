//! Numbers of cells and pairs.

use click_models::{Cell, DuelShape, Error, ItemId, Pair, TableShape};

#[test]
fn sizes_of_duels_are_checked() {
    assert_eq!(DuelShape::new(0), Err(Error::TooFewToCompare(0)));
    assert_eq!(DuelShape::new(1), Err(Error::TooFewToCompare(1)));
    assert!(DuelShape::new(2).is_ok() && DuelShape::new(65_535).is_ok());
    assert_eq!(DuelShape::new(65_536), Err(Error::TooManyToCompare(65_536)));
    assert!(serde_json::from_str::<DuelShape>(r#"{ "n_items": 1 }"#).is_err());
}

#[test]
fn pairs_are_numbered_row_by_row() {
    let shape = DuelShape::new(3).unwrap();
    let numbers: Vec<_> =
        shape.items().flat_map(|first| shape.items().map(move |second| Pair::new(first, second))).collect();
    assert!(numbers.iter().enumerate().all(|(number, &pair)| shape.number(pair) == Some(number)));
    assert_eq!(numbers.len(), shape.n_pairs());
    assert_eq!(shape.number(Pair::new(ItemId::new(0), ItemId::new(3))), None);
}

#[test]
fn sizes_of_tables_are_checked() {
    assert_eq!(TableShape::new(0, 3), Err(Error::NoCells { n_rows: 0, n_columns: 3 }));
    assert!(TableShape::new(65_535, 65_537).is_ok());
    assert!(matches!(TableShape::new(65_536, 65_536), Err(Error::TooManyCells { .. })));
    assert!(matches!(TableShape::new(usize::MAX, 1), Err(Error::TooManyCells { .. })));
    assert!(serde_json::from_str::<TableShape>(r#"{ "n_rows": 2, "n_columns": 0 }"#).is_err());
    let shape = TableShape::new(65_535, 65_537).unwrap();
    let last = Cell::new(65_534, 65_536);
    assert_eq!(shape.cell(shape.number(last).unwrap()), last);
    assert_eq!(shape.number(Cell::new(0, 65_537)), None);
}

#[test]
fn cells_are_numbered_row_by_row() {
    let shape = TableShape::new(2, 3).unwrap();
    let cells: Vec<Cell> = (0..shape.n_cells()).map(|number| shape.cell(number)).collect();
    assert!(cells.is_sorted() && cells.len() == 6);
    assert!(cells.iter().enumerate().all(|(number, &cell)| shape.number(cell) == Some(number)));
}
