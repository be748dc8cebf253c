//! What a policy may know of simulated users: keyword arguments of `Policy`.

use click_models::{
    Cascade, CascadeModel, ClickChain, ClickModel, ClicksOnly, Dcm, DependentClick, Dueling, DuelingModel,
    DynamicBayesian, ListShape, Pbm, PositionBased, RandomSemiBandit, RankOne, RankOneModel, SemiBandit,
    UserBrowsing,
};
use policies::catalogue::Catalogued;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Users whose policies are written in Python.
pub(crate) trait Known: ClickModel {
    /// Keyword arguments of `Policy`.
    fn known_in<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>>;
}

/// The model and the sizes of lists.
fn lists<I: Catalogued>(py: Python<'_>, shape: ListShape) -> PyResult<Bound<'_, PyDict>> {
    let known = PyDict::new(py);
    known.set_item("model", I::PROTOCOL.name())?;
    known.set_item("items", shape.n_items())?;
    known.set_item("positions", shape.n_positions())?;
    Ok(known)
}

impl Known for PositionBased {
    fn known_in<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let known = lists::<Pbm>(py, self.shape())?;
        let examination: Vec<f64> = self.examination().iter().map(|p| p.get()).collect();
        known.set_item("examination", examination)?;
        Ok(known)
    }
}

impl Known for DependentClick {
    fn known_in<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let known = lists::<Dcm>(py, self.shape())?;
        known.set_item("order", self.known().places())?;
        Ok(known)
    }
}

/// Users of whom only the sizes of lists are known.
macro_rules! sizes_of_lists {
    ($($Model:ty: $Protocol:ty,)*) => {$(
        impl Known for $Model {
            fn known_in<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                lists::<$Protocol>(py, self.shape())
            }
        }
    )*};
}

sizes_of_lists! {
    RandomSemiBandit: SemiBandit,
    CascadeModel: Cascade,
    DynamicBayesian: ClicksOnly,
    ClickChain: ClicksOnly,
    UserBrowsing: ClicksOnly,
}

impl Known for RankOneModel {
    fn known_in<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let known = PyDict::new(py);
        known.set_item("model", RankOne::PROTOCOL.name())?;
        known.set_item("rows", self.rows().len())?;
        known.set_item("columns", self.columns().len())?;
        Ok(known)
    }
}

impl Known for DuelingModel {
    fn known_in<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let known = PyDict::new(py);
        known.set_item("model", Dueling::PROTOCOL.name())?;
        known.set_item("items", self.known().n_items())?;
        Ok(known)
    }
}
