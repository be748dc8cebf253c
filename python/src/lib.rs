//! The extension module `click_bandits._native` of the Python package.
//!
//! Policies and users are the library's own; this crate converts arguments, results and errors.
//! `play` puts all protocols behind one trait object, `clicks` reads users' answers, and `policy`,
//! `decision`, `batch` and `live` are the classes that Python sees.

mod arrays;
mod batch;
mod bounds;
mod catalogue;
mod clicks;
mod confidence;
mod context;
mod decision;
mod elementwise;
mod fit;
mod interrupt;
mod json;
mod live;
mod message;
mod models;
mod name;
mod names;
mod options;
mod play;
mod policy;
mod prior;
mod reduced;
mod sequence;
mod simulate;
mod table;
mod task;
mod watch;

use pyo3::prelude::*;

/// The extension module of the package `click_bandits`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::batch::Batch;
    #[pymodule_export]
    use crate::bounds::bounds;
    #[pymodule_export]
    use crate::catalogue::entries;
    #[pymodule_export]
    use crate::confidence::confidence;
    #[pymodule_export]
    use crate::decision::Decision;
    #[pymodule_export]
    use crate::fit::{
        ContextFit, Evaluation, Fitted, ab_test, evaluate, fit, interleaving_test, judgments, test_plan,
    };
    #[pymodule_export]
    use crate::live::LivePolicy;
    #[pymodule_export]
    use crate::models::models;
    #[pymodule_export]
    use crate::options::_options;
    #[pymodule_export]
    use crate::policy::Policy;
    #[pymodule_export]
    use crate::simulate::{Simulation, check_out, merge, program_of_results, simulate, spec_files};
    #[pymodule_export]
    use crate::table::Table;
}
