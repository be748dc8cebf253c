//! Tables of rows and columns, and their cells.

use crate::Error;
use crate::parameters::parameters;
use serde::{Deserialize, Serialize};

/// A row and a column of a table, counted from 0 (the papers count from 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Cell {
    /// The row: an item, in the reading of the papers.
    pub row: u32,
    /// The column: a position.
    pub column: u32,
}

impl Cell {
    /// The cell in this row and column.
    pub const fn new(row: u32, column: u32) -> Self {
        Self { row, column }
    }
}

/// The numbers of rows and columns: at least one of each, and at most `u32::MAX` cells.
///
/// # Examples
///
/// ```
/// use click_models::{Cell, TableShape};
///
/// let shape = TableShape::new(3, 4)?;
/// assert_eq!(shape.number(Cell::new(1, 2)), Some(6));
/// assert_eq!(shape.cell(6), Cell::new(1, 2));
/// assert_eq!(shape.number(Cell::new(3, 0)), None);
/// assert!(TableShape::new(3, 0).is_err());
/// # Ok::<(), click_models::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Parameters", into = "Parameters")]
pub struct TableShape {
    n_rows: u32,
    n_columns: u32,
}

parameters! {
    TableShape as shape {
        n_rows: usize = shape.n_rows(),
        n_columns: usize = shape.n_columns(),
    } by Self::new(n_rows, n_columns)
}

impl TableShape {
    /// A table of this size.
    ///
    /// # Errors
    ///
    /// [`Error::NoCells`], [`Error::TooManyCells`].
    pub fn new(n_rows: usize, n_columns: usize) -> Result<Self, Error> {
        if n_rows == 0 || n_columns == 0 {
            return Err(Error::NoCells { n_rows, n_columns });
        }
        let too_many = Error::TooManyCells { n_rows, n_columns };
        let (Ok(rows), Ok(columns)) = (u32::try_from(n_rows), u32::try_from(n_columns)) else {
            return Err(too_many);
        };
        if rows.checked_mul(columns).is_none() {
            return Err(too_many);
        }
        Ok(Self { n_rows: rows, n_columns: columns })
    }

    /// Number of rows (K).
    pub const fn n_rows(self) -> usize {
        self.n_rows as usize
    }

    /// Number of columns (L).
    pub const fn n_columns(self) -> usize {
        self.n_columns as usize
    }

    /// Number of cells.
    pub const fn n_cells(self) -> usize {
        self.n_rows as usize * self.n_columns as usize
    }

    /// Returns whether the table has this cell.
    pub const fn contains(self, cell: Cell) -> bool {
        cell.row < self.n_rows && cell.column < self.n_columns
    }

    /// The index of a cell in row-major order, from 0; `None` if the table does not have it.
    #[inline]
    pub const fn number(self, cell: Cell) -> Option<usize> {
        if self.contains(cell) {
            Some(cell.row as usize * self.n_columns as usize + cell.column as usize)
        } else {
            None
        }
    }

    /// The cell with this row-major index.
    #[expect(clippy::cast_possible_truncation, reason = "cells are numbered by 32 bits")]
    pub const fn cell(self, number: usize) -> Cell {
        let number = number as u32;
        Cell { row: number / self.n_columns, column: number % self.n_columns }
    }
}
