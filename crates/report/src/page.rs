//! The page of a reproduction: every figure beside the statement of the paper, the measured values,
//! and the verdicts.

mod alone;
mod claims;
mod instances;
mod method;
mod panels;
mod sources;
mod values;

pub(crate) use self::alone::page as of_one;

use self::claims::write_overview;
use self::instances::write_instances;
use self::method::write_method;
use self::panels::{write_awaiting, write_panel};
use self::sources::write_sources;
use crate::html::Html;
use crate::reproduction_report::Report;

/// The folder beside the page with the models that were fitted to a log.
pub const FITTED: &str = "fitted";

/// The complete page of a reproduction.
pub fn page(report: &Report<'_>) -> String {
    let reproduction = report.reproduction;
    let mut html = Html::new();
    html.element("h1", "", &reproduction.title);
    for paragraph in &reproduction.summary {
        html.paragraph("lead", paragraph);
    }
    if report.quick {
        html.open("div", "card note").open("p", "");
        html.raw("<strong>A quick check</strong>").prose(&format!(
            " with fewer runs than the papers, and smaller instances where a claim says so. At their scale: `click-bandits reproduce {}{}`.",
            reproduction.name, reproduction.option
        ));
        html.close("p").close("div");
    }
    if let Some(measured) = &reproduction.measured {
        html.open("div", "card").paragraph("", measured).close("div");
    }
    write_overview(&mut html, report);
    for (panel, found) in reproduction.panels.iter().zip(&report.panels) {
        write_panel(&mut html, report, panel, found);
    }
    for panel in &reproduction.awaiting {
        write_awaiting(&mut html, report, panel);
    }
    write_instances(&mut html, report);
    write_method(&mut html, report);
    write_sources(&mut html, report);
    html.page(&reproduction.title)
}
