//! Locations as metadata and stack frames.
use crate::ir::{Location, LocationId, Program};
use hlo::ir::{FileLocation, Metadata, StackFrame, StackFrames};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::hash::Hash;

/// The metadata of the locations seen so far, and the tables of the frames.
pub(super) struct Locations<'p> {
    program: &'p Program,
    known: FxHashMap<LocationId, Metadata>,
    tables: StackFrames,
    files: FxHashMap<SmolStr, i32>,
    functions: FxHashMap<SmolStr, i32>,
    places: FxHashMap<FileLocation, i32>,
    frames: FxHashMap<StackFrame, i32>,
}

/// The most locations that one location is followed through; those of real programs nest a few
/// dozen deep.
const MOST: usize = 1 << 12;

/// Returns the id of a row, counted from 1, adding it if it is new.
fn intern<K: Eq + Hash, T>(table: &mut Vec<T>, ids: &mut FxHashMap<K, i32>, key: K, row: T) -> i32 {
    let next = i32::try_from(table.len() + 1).unwrap_or(0);
    *ids.entry(key).or_insert_with(|| {
        table.push(row);
        next
    })
}

impl<'p> Locations<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        Self {
            program,
            known: FxHashMap::default(),
            tables: StackFrames::default(),
            files: FxHashMap::default(),
            functions: FxHashMap::default(),
            places: FxHashMap::default(),
            frames: FxHashMap::default(),
        }
    }
    /// Returns the tables of all frames that metadata names.
    pub(super) fn into_frames(self) -> StackFrames {
        self.tables
    }

    fn get(&self, id: LocationId) -> Option<&'p Location> {
        self.program.locations.get(usize::try_from(id.0).ok()?)
    }

    /// Returns the metadata of a location.
    pub(super) fn metadata(&mut self, id: LocationId) -> Metadata {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let (op_name, op_type) = self.names(id);
        let mut metadata = Metadata { op_name, op_type, ..Metadata::default() };
        metadata.stack_frame_id = self.stack(id);
        if metadata.stack_frame_id == 0
            && let Some((file, line, column)) = self.file(id)
        {
            metadata.source_file = file.clone();
            metadata.source_line = line;
            metadata.source_column = column;
        }
        self.known.insert(id, metadata.clone());
        metadata
    }

    /// Returns the names on the way to the callee, and the op types, which are the names that end
    /// in a colon.
    fn names(&self, id: LocationId) -> (SmolStr, SmolStr) {
        let (mut names, mut types, mut open) = (Vec::new(), Vec::new(), vec![id]);
        for _ in 0..MOST {
            let Some(at) = open.pop() else { break };
            match self.get(at) {
                Some(Location::Name(name, child)) => {
                    let name = name.split('@').next().unwrap_or_default();
                    match name.strip_suffix(':') {
                        Some(ty) => {
                            types.push(ty);
                            open.extend(*child);
                        }
                        None => names.push(name),
                    }
                }
                Some(Location::Call(callee, _)) => open.push(*callee),
                Some(Location::Fused(parts)) => open.extend(parts.iter().rev()),
                Some(Location::File { .. }) | None => {}
            }
        }
        (names.join(";").into(), types.join(";").into())
    }

    /// Returns the function, file, line and column of a frame.
    fn frame(&self, id: LocationId) -> Option<(&'p SmolStr, LocationId)> {
        let Some(Location::Name(function, Some(child))) = self.get(id) else { return None };
        matches!(self.get(*child), Some(Location::File { .. })).then_some((function, *child))
    }

    /// Returns the id of the innermost frame; 0 if there is none.
    fn stack(&mut self, id: LocationId) -> i32 {
        let mut start = id;
        for _ in 0..MOST {
            let Some(Location::Name(_, Some(child))) = self.get(start) else { break };
            if self.frame(start).is_some() {
                break;
            }
            start = *child;
        }
        let (mut frames, mut open) = (Vec::new(), vec![start]);
        for _ in 0..MOST {
            let Some(at) = open.pop() else { break };
            if let Some(Location::Call(callee, caller)) = self.get(at) {
                open.extend([*caller, *callee]);
            } else if let Some(frame) = self.frame(at) {
                frames.push(frame);
            }
        }
        frames
            .into_iter()
            .rev()
            .fold(0, |parent, (function, file)| self.add(function, file, parent))
    }

    fn add(&mut self, function: &SmolStr, file: LocationId, parent_frame_id: i32) -> i32 {
        let Some((file, line, column)) = self.file(file) else { return parent_frame_id };
        let tables = &mut self.tables;
        let file_name_id =
            intern(&mut tables.file_names, &mut self.files, file.clone(), file.to_string());
        let function_name_id = intern(
            &mut tables.function_names,
            &mut self.functions,
            function.clone(),
            function.to_string(),
        );
        let place = FileLocation {
            file_name_id,
            function_name_id,
            line,
            column,
            ..FileLocation::default()
        };
        let file_location_id = intern(&mut tables.locations, &mut self.places, place, place);
        let frame = StackFrame { file_location_id, parent_frame_id };
        intern(&mut tables.frames, &mut self.frames, frame, frame)
    }

    /// Returns the first file in a location, with its line and column.
    pub(super) fn file(&self, id: LocationId) -> Option<(&'p SmolStr, i32, i32)> {
        let mut open = vec![id];
        for _ in 0..MOST {
            match self.get(open.pop()?)? {
                Location::File { file, line, column } => {
                    let number = |n: &u32| i32::try_from(*n).unwrap_or(0);
                    return Some((file, number(line), number(column)));
                }
                Location::Name(_, child) => open.extend(*child),
                Location::Call(callee, caller) => open.extend([*caller, *callee]),
                Location::Fused(parts) => open.extend(parts.iter().rev()),
            }
        }
        None
    }
}
