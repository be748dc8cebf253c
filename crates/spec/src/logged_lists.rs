//! The lists of a log, for the policy `logged`: a CSV file beside the experiment, with the columns
//! of `click-bandits formats logged.csv`. Further columns are not read. Every instance has at least
//! one list, and a list as many items as there are positions.

use crate::models::Instances;
use click_models::{ItemId, ListShape, Ranking};
use contenders::LoggedLists;
use documents::number::counted;
use documents::toml_reader::{Error, Field, Location};
use documents::{InputFile, RecordLines, without_byte_order_mark};
use policies::Logged;

/// The columns that are read.
const COLUMNS: [&str; 4] = ["instance", "query", "lists", "items"];
/// The column that is read if there is one.
const CLICKS: &str = "clicks";
/// The column with the number of the whole log, if there is one.
const OF_LOG: &str = "of-log";

/// Reads the file that a field of an experiment names.
///
/// # Errors
///
/// The file cannot be read; the first fault in it; an instance without a list.
pub(crate) fn read(field: &Field<'_>, instances: &Instances) -> Result<LoggedLists, Error> {
    let file: String = field.get()?;
    let bytes = field.read_beside(&file, "a CSV file of lists")?;
    parse(&field.folder().join(&file).display().to_string(), &file, &bytes, instances)
}

/// Reads the content of a file, which an experiment names `file`, for these instances.
///
/// # Errors
///
/// The first fault in the content; an instance without a list.
pub fn logged_lists(file: &str, content: &[u8], instances: &Instances) -> Result<LoggedLists, Error> {
    parse(file, file, content, instances)
}

fn parse(path: &str, file: &str, bytes: &[u8], instances: &Instances) -> Result<LoggedLists, Error> {
    let (shapes, parameters) = (instances.shapes(), instances.parameters());
    let lines = RecordLines::new(without_byte_order_mark(bytes));
    let mut rows = csv::Reader::from_reader(&lines);
    let fault = |line: u64, field: &str, message: String| {
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        Location::new(path, line, 1, field).error(message)
    };
    let unreadable = |error: &csv::Error| {
        let line = lines.line(error.position().map(csv::Position::byte));
        fault(line, "", format!("{error}: expected columns {}", COLUMNS.join(", ")))
    };
    let head = rows.headers().map_err(|error| unreadable(&error))?.clone();
    let mut places = [0; 4];
    for (place, name) in places.iter_mut().zip(COLUMNS) {
        *place = head.iter().position(|column| column.trim() == name).ok_or_else(|| {
            fault(1, name, format!("no such column: expected columns {}", COLUMNS.join(", ")))
        })?;
    }
    let [clicks_at, of_log_at] =
        [CLICKS, OF_LOG].map(|name| head.iter().position(|column| column.trim() == name));
    let mut of_log: Vec<Vec<(Ranking, u64)>> = vec![Vec::new(); shapes.len()];
    let mut clicks = clicks_at.map(|_| vec![0_u64; shapes.len()]);
    let mut counted_lists: Vec<Vec<(Ranking, u64)>> = vec![Vec::new(); shapes.len()];
    for row in rows.records() {
        let row = row.map_err(|error| unreadable(&error))?;
        let line = lines.line(row.position().map(csv::Position::byte));
        let [instance, query, lists, items] = places.map(|place| row.get(place).unwrap_or("").trim());
        let in_field = |field: &str, message: String| fault(line, field, message);
        let index = instance.parse().ok().filter(|&index: &usize| index < shapes.len()).ok_or_else(|| {
            in_field("instance", format!("{instance:?} found: expected an index below {}", shapes.len()))
        })?;
        if let Some(name) =
            parameters[index].name.as_deref().filter(|name| !query.is_empty() && *name != query)
        {
            return Err(in_field("query", format!("{query:?} found, but instances[{index}] is {name:?}")));
        }
        let count = lists.parse().map_err(|_| {
            in_field("lists", format!("{lists:?} found: expected how often the list was shown"))
        })?;
        let list = read_items(items, shapes[index]).map_err(|message| in_field("items", message))?;
        if let Some((clicks, place)) = clicks.as_mut().zip(clicks_at) {
            let found = row.get(place).unwrap_or("").trim();
            let of_list: u64 = found.parse().map_err(|_| {
                in_field(CLICKS, format!("{found:?} found: expected the number of clicks on the list"))
            })?;
            clicks[index] = clicks[index].saturating_add(of_list);
        }
        if let Some(found) = of_log_at.map(|place| row.get(place).unwrap_or("").trim()) {
            let of_list = found.parse().ok().filter(|all| *all >= count);
            let all = of_list.ok_or_else(|| {
                in_field(OF_LOG, format!("{found:?} found: expected how often the whole log shows the list"))
            })?;
            of_log[index].push((list.clone(), all));
        }
        counted_lists[index].push((list, count));
    }
    let logged = |lists: Vec<Vec<(Ranking, u64)>>| -> Result<Vec<Logged>, Error> {
        let of_instance = |(index, lists): (usize, Vec<(Ranking, u64)>)| {
            let lists = Logged::new(lists);
            lists.map_err(|error| Error::whole_file(path, format!("lists of instances[{index}]: {error}")))
        };
        lists.into_iter().enumerate().map(of_instance).collect()
    };
    Ok(LoggedLists {
        file: InputFile::new(file, bytes.to_vec()),
        of_instances: logged(counted_lists)?,
        clicks,
        of_log: of_log_at.map(|_| logged(of_log)).transpose()?,
    })
}

fn read_items(text: &str, shape: ListShape) -> Result<Ranking, String> {
    let mut list = Ranking::default();
    for word in text.split_whitespace() {
        let item = word.parse().ok().filter(|&item: &usize| item < shape.n_items());
        let Some(item) = item.map(ItemId::from_index) else {
            return Err(format!("{word:?} found: expected an item below {}", shape.n_items()));
        };
        if list.contains(item) {
            return Err(format!("item {word} is shown twice"));
        }
        list.push(item);
    }
    if list.fits(shape) {
        return Ok(list);
    }
    let (found, n_positions) = (counted(list.len() as u64, "item"), shape.n_positions() as u64);
    Err(format!("{found} found, but the instance has {}", counted(n_positions, "position")))
}

#[cfg(test)]
mod tests;
