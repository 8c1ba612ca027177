//! The aliases of locations: `#loc1 = loc("f.py":1:2)`.
use super::TextStyle;
use super::form::reducer;
use super::names::Names;
use crate::ir::{Location, LocationId, Op, Program};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// The locations of a program, each once, in the order of their aliases: those of which others
/// consist before these, and else as the ops have them. The first is the unknown one.
#[derive(Default)]
pub(super) struct Locations<'p> {
    all: &'p [Location],
    style: TextStyle,
    /// The place of each location in `texts`.
    places: Vec<Option<usize>>,
    by_text: FxHashMap<String, usize>,
    /// Each location's text with the places of others, and how deeply it is nested.
    texts: Vec<(String, usize)>,
    /// The number of each alias.
    numbers: Vec<usize>,
    /// Whether an argument is printed with a location: its alias stands before the program.
    has_arguments: bool,
}

impl<'p> Locations<'p> {
    pub(super) fn of(program: &'p Program, names: &Names, style: TextStyle) -> Self {
        let all = program.locations.as_slice();
        let places = vec![None; all.len()];
        let mut locations = Self { all, style, places, ..Self::default() };
        if all.is_empty() {
            return locations;
        }
        locations.insert("unknown".to_owned(), 0);
        locations.ops(names, &program.ops);
        let mut order: Vec<usize> = (0..locations.texts.len()).collect();
        order.sort_by_key(|&place| (place > 0, locations.texts[place].1, place));
        locations.numbers = vec![0; order.len()];
        for (number, place) in order.into_iter().enumerate() {
            locations.numbers[place] = number;
        }
        locations
    }
    /// Returns whether the program has any.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
    /// Returns the number of the alias of a location.
    pub(super) fn number(&self, id: Option<LocationId>) -> usize {
        let place = id.and_then(|id| self.places.get(index(id)).copied().flatten());
        place.and_then(|place| self.numbers.get(place)).copied().unwrap_or(0)
    }
    /// Returns the lines that stand before the program, and after it.
    pub(super) fn lines(&self) -> [String; 2] {
        let mut lines = [String::new(), String::new()];
        let mut order: Vec<usize> = (0..self.texts.len()).collect();
        order.sort_by_key(|&place| self.numbers[place]);
        for place in order {
            let to = usize::from(place > 0 || !self.has_arguments);
            let text = &self.texts[place].0;
            // Other locations are named by their place between marks.
            let mut line = String::new();
            for (i, part) in text.split(MARK).enumerate() {
                match part.parse::<usize>() {
                    Ok(other) if i % 2 == 1 => line += &alias(self.numbers[other]),
                    Ok(_) | Err(_) => line += part,
                }
            }
            let number = alias(self.numbers[place]);
            writeln!(lines[to], "{number} = loc({line})").expect("a string grows");
        }
        lines
    }

    fn ops(&mut self, names: &Names, ops: &[Op]) {
        for op in ops {
            if let Some(id) = op.location {
                self.visit(id);
            }
            let is_pretty = self.style == TextStyle::Pretty;
            // These print their region as a word, and their arguments without types.
            if is_pretty && op.name == "stablehlo.reduce" && reducer(names, op).is_some() {
                continue;
            }
            let has_types = !is_pretty || op.name != "stablehlo.while";
            for region in &op.regions {
                self.has_arguments |= has_types && !region.arguments.is_empty();
                self.ops(names, &region.ops);
            }
        }
    }
    /// Notes a location after those of which it consists.
    fn visit(&mut self, id: LocationId) {
        let mut open = vec![id];
        while let Some(&id) = open.last() {
            let Some(location) = self.all.get(index(id)) else { break };
            let parts = parts(location);
            let known = |id: &LocationId| self.places.get(index(*id)).copied().flatten();
            match parts.iter().rfind(|id| known(id).is_none()) {
                Some(_) if open.len() > self.all.len() => break,
                Some(_) => open.extend(parts.iter().rev().filter(|id| known(id).is_none())),
                None => {
                    open.pop();
                    let places: Vec<usize> = parts.iter().filter_map(known).collect();
                    let depth = places.iter().map(|&place| self.texts[place].1 + 1).max();
                    let text = text(location, &places);
                    let place = self.insert(text, depth.unwrap_or(0));
                    self.places[index(id)] = Some(place);
                }
            }
        }
    }
    /// Returns the place of a location with this text.
    fn insert(&mut self, text: String, depth: usize) -> usize {
        let next = self.texts.len();
        *self.by_text.entry(text).or_insert_with_key(|text| {
            self.texts.push((text.clone(), depth));
            next
        })
    }
}

/// A character that no text of a location has: others are escaped.
const MARK: char = '\0';

fn index(id: LocationId) -> usize {
    usize::try_from(id.0).unwrap_or(usize::MAX)
}
/// Returns the name of an alias.
pub(super) fn alias(number: usize) -> String {
    match number {
        0 => "#loc".to_owned(),
        number => format!("#loc{number}"),
    }
}
/// Returns the locations of which one consists.
fn parts(location: &Location) -> Vec<LocationId> {
    match location {
        Location::File { .. } => Vec::new(),
        Location::Name(_, child) => child.iter().copied().collect(),
        Location::Call(callee, caller) => vec![*callee, *caller],
        Location::Fused(parts) => parts.clone(),
    }
}
/// Returns the text of a location that consists of others.
fn text(location: &Location, places: &[usize]) -> String {
    let string = super::attribute::quoted;
    let named: Vec<_> = places.iter().map(|place| format!("{MARK}{place}{MARK}")).collect();
    match (location, named.as_slice()) {
        (Location::File { file, line, column }, _) => format!("{}:{line}:{column}", string(file)),
        (Location::Name(name, _), []) => string(name),
        (Location::Name(name, _), [child, ..]) => format!("{}({child})", string(name)),
        (Location::Call(..), [callee, caller, ..]) => format!("callsite({callee} at {caller})"),
        (Location::Call(..) | Location::Fused(_), all) => format!("fused[{}]", all.join(", ")),
    }
}
