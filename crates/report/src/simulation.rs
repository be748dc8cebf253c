//! Runs an experiment into its directory, with figures: what the command `simulate` writes.

use crate::figure::{self, Figure, PolicyStyles};
use crate::reproduction_report::PanelRun;
use anyhow::Result;
use experiment::{Measured, ResultDir, Runner};

/// The result of an experiment, and whether its files were written now.
#[derive(Debug)]
pub struct Simulation {
    /// The result, its figures and its manifest.
    pub ran: PanelRun,
    /// Whether files were written. Otherwise the directory had them all.
    pub is_new: bool,
}

/// Plays the runs that are missing in a directory, and writes its files and `figures`. `styles` are the styles of the policies. The claim on
/// the directory has to name the figures ([`figure::file_names`]).
///
/// # Errors
///
/// The errors of [`Runner::run_in`]; a figure cannot be drawn; a file cannot be written.
pub fn simulate_into(
    runner: &Runner<'_>,
    claimed: ResultDir<'_>,
    figures: &[Figure],
    styles: &PolicyStyles,
) -> Result<Simulation> {
    let measured = runner.run_in(&claimed)?;
    write_simulation(claimed, measured, figures, styles)
}

/// Writes the files of a result, and `figures`, to its directory.
///
/// # Errors
///
/// A figure cannot be drawn; a file cannot be written.
pub fn write_simulation(
    claimed: ResultDir<'_>,
    measured: Measured,
    figures: &[Figure],
    styles: &PolicyStyles,
) -> Result<Simulation> {
    let figures = figure::draw(figures, &measured.result, styles)?;
    let files = figures.iter().map(|(name, drawing)| (name.clone(), drawing.clone().into_bytes())).collect();
    let written = claimed.write(&measured, files)?;
    let ran = PanelRun { measured, figures, manifest: written.manifest };
    Ok(Simulation { ran, is_new: written.is_new })
}
