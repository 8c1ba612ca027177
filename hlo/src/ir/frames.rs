//! Stack frames: the source locations of instructions in a frontend's program.
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// The tables between a module's header and its computations.
///
/// Ids are indices into a table, counted from 1; 0 means none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StackFrames {
    /// Files of the frontend's program.
    pub file_names: Vec<String>,
    /// Its functions.
    pub function_names: Vec<String>,
    /// Locations in the files.
    pub locations: Vec<FileLocation>,
    /// Calls.
    pub frames: Vec<StackFrame>,
}

/// A location in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FileLocation {
    /// Id in [`StackFrames::file_names`].
    pub file_name_id: i32,
    /// Id in [`StackFrames::function_names`].
    pub function_name_id: i32,
    /// First line.
    pub line: i32,
    /// Last line.
    pub end_line: i32,
    /// First column.
    pub column: i32,
    /// Last column.
    pub end_column: i32,
}

/// A stack frame: its location and its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct StackFrame {
    /// Id in [`StackFrames::locations`].
    pub file_location_id: i32,
    /// Id in [`StackFrames::frames`] of the caller's frame, 0 for the outermost. The text has one
    /// more.
    pub parent_frame_id: i32,
}

/// A place in the program of a frontend: a call, or the op itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SourcePlace<'m> {
    /// The file.
    pub file: &'m str,
    /// The line, from 1; 0 if it is unknown.
    pub line: usize,
    /// The column, as the frontend counts it: JAX counts from 0.
    pub column: usize,
    /// The function; empty if it is unknown.
    pub function: &'m str,
}

impl SourcePlace<'_> {
    /// Returns a line or a column of the tables, which are never negative.
    pub(super) fn number(n: i32) -> usize {
        usize::try_from(n).unwrap_or(0)
    }
}

impl StackFrames {
    /// Returns the place of a frame and those of its callers, the innermost first. They end where a
    /// row is missing.
    pub fn places(&self, id: i32) -> impl Iterator<Item = SourcePlace<'_>> {
        let frame = |id: i32| row(&self.frames, id);
        let chain = std::iter::successors(frame(id), move |at| frame(at.parent_frame_id));
        // Callers that form a cycle are no more than all frames.
        chain.take(self.frames.len()).map_while(|frame| self.place(frame.file_location_id))
    }

    fn place(&self, id: i32) -> Option<SourcePlace<'_>> {
        let location = row(&self.locations, id)?;
        Some(SourcePlace {
            file: row(&self.file_names, location.file_name_id)?,
            line: SourcePlace::number(location.line),
            column: SourcePlace::number(location.column),
            function: row(&self.function_names, location.function_name_id).map_or("", |name| name),
        })
    }

    /// Returns whether there is nothing to print.
    pub fn is_empty(&self) -> bool {
        let Self { file_names, function_names, locations, frames } = self;
        file_names.is_empty()
            && function_names.is_empty()
            && locations.is_empty()
            && frames.is_empty()
    }

    /// Keeps only the rows that `uses` need, in order of first use, and writes the new ids into
    /// `uses`; an id that is out of range becomes 0.
    ///
    /// XLA renumbers the rows each time it reads its own text. Here tables that lose no row stay
    /// unchanged in a text that is `in_printing_order`: it is then printed as it was read.
    pub(crate) fn rebuild<'a>(
        &mut self,
        in_printing_order: bool,
        uses: impl Iterator<Item = &'a mut i32>,
    ) {
        let mut rebuild = Rebuild::new(self);
        let changed: Vec<_> = uses.map(|id| (rebuild.frame(*id), id)).collect();
        let tables = rebuild.new;
        let keep = in_printing_order && tables.same_sizes(self);
        for (new, id) in changed {
            if !keep || new == 0 {
                *id = new;
            }
        }
        if !keep {
            *self = tables;
        }
    }

    fn same_sizes(&self, other: &Self) -> bool {
        self.file_names.len() == other.file_names.len()
            && self.function_names.len() == other.function_names.len()
            && self.locations.len() == other.locations.len()
            && self.frames.len() == other.frames.len()
    }
}

/// Returns the index of the row with this id.
fn row_index(id: i32) -> Option<usize> {
    usize::try_from(id).ok()?.checked_sub(1)
}
fn row<T>(table: &[T], id: i32) -> Option<&T> {
    table.get(row_index(id)?)
}
fn row_mut<T>(table: &mut [T], id: i32) -> Option<&mut T> {
    table.get_mut(row_index(id)?)
}

/// Returns the id of `value` in `table`, adding it if it is new.
fn intern<T: Clone + Eq + Hash>(table: &mut Vec<T>, ids: &mut FxHashMap<T, i32>, value: T) -> i32 {
    let next = i32::try_from(table.len() + 1).unwrap_or(0);
    *ids.entry(value).or_insert_with_key(|value| {
        table.push(value.clone());
        next
    })
}

/// Tables being rebuilt from others; equal rows become one.
struct Rebuild<'t> {
    old: &'t StackFrames,
    new: StackFrames,
    files: FxHashMap<String, i32>,
    functions: FxHashMap<String, i32>,
    locations: FxHashMap<FileLocation, i32>,
    frames: FxHashMap<StackFrame, i32>,
    /// New id of each old frame seen so far, 0 for an invalid one.
    moved: Vec<Option<i32>>,
}

impl<'t> Rebuild<'t> {
    fn new(old: &'t StackFrames) -> Self {
        Self {
            old,
            new: StackFrames::default(),
            files: FxHashMap::default(),
            functions: FxHashMap::default(),
            locations: FxHashMap::default(),
            frames: FxHashMap::default(),
            moved: vec![None; old.frames.len()],
        }
    }

    /// Returns the new id of a frame. Its callers come first, starting with the outermost; if one
    /// of them is invalid, so are the frames it calls.
    fn frame(&mut self, id: i32) -> i32 {
        let (mut chain, mut at) = (Vec::new(), id);
        let mut parent = loop {
            if at == 0 {
                break Some(0);
            }
            let Some(&frame) = row(&self.old.frames, at) else { break None };
            if let Some(moved) = row(&self.moved, at).copied().flatten() {
                break Some(moved).filter(|&moved| moved != 0);
            }
            if chain.len() > self.old.frames.len() {
                // A cycle.
                break None;
            }
            chain.push((at, frame.file_location_id));
            at = frame.parent_frame_id;
        };
        for (old, location) in chain.into_iter().rev() {
            parent = parent.and_then(|parent_frame_id| {
                let file_location_id = self.location(location)?;
                let frame = StackFrame { file_location_id, parent_frame_id };
                Some(intern(&mut self.new.frames, &mut self.frames, frame))
            });
            if let Some(moved) = row_mut(&mut self.moved, old) {
                *moved = Some(parent.unwrap_or(0));
            }
        }
        parent.unwrap_or(0)
    }

    fn location(&mut self, id: i32) -> Option<i32> {
        let old = self.old;
        let location = row(&old.locations, id)?;
        let file = row(&old.file_names, location.file_name_id)?;
        let function = row(&old.function_names, location.function_name_id)?;
        let file_name_id = intern(&mut self.new.file_names, &mut self.files, file.clone());
        let function_name_id =
            intern(&mut self.new.function_names, &mut self.functions, function.clone());
        let location = FileLocation { file_name_id, function_name_id, ..*location };
        Some(intern(&mut self.new.locations, &mut self.locations, location))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(locations: &[(i32, i32, i32)], frames: &[(i32, i32)]) -> StackFrames {
        let location = |&(file_name_id, function_name_id, line): &(i32, i32, i32)| FileLocation {
            file_name_id,
            function_name_id,
            line,
            ..FileLocation::default()
        };
        let frame = |&(file_location_id, parent_frame_id): &(i32, i32)| StackFrame {
            file_location_id,
            parent_frame_id,
        };
        StackFrames {
            file_names: ["a", "b", "unused", "c"].map(str::to_owned).into(),
            function_names: ["f", "g", "h"].map(str::to_owned).into(),
            locations: locations.iter().map(location).collect(),
            frames: frames.iter().map(frame).collect(),
        }
    }
    fn rebuilt(tables: &mut StackFrames, in_printing_order: bool, uses: &[i32]) -> Vec<i32> {
        let mut uses = uses.to_vec();
        tables.rebuild(in_printing_order, uses.iter_mut());
        uses
    }

    #[test]
    fn places_are_those_of_the_frame_and_its_callers() {
        let locations = [(1, 1, 7), (2, 3, -2), (9, 1, 1), (4, 9, 5)];
        let places = |frames: &[(i32, i32)], id: i32| {
            let tables = tables(&locations, frames);
            let place = |at: SourcePlace<'_>| format!("{}:{} {}", at.file, at.line, at.function);
            tables.places(id).map(place).collect::<Vec<_>>()
        };
        let frames = [(1, 0), (2, 1), (3, 1), (4, 3)];
        assert_eq!(places(&frames, 2), ["b:0 h", "a:7 f"]);
        assert_eq!(places(&frames, 4), ["c:5 "]);
        assert!(places(&frames, 0).is_empty() && places(&frames, -1).is_empty());
        assert_eq!(places(&[(1, 2), (2, 1)], 1), ["a:7 f", "b:0 h"]);
    }

    #[test]
    fn rows_are_numbered_by_first_use_and_equal_ones_become_one() {
        let locations = [(1, 1, 1), (2, 3, 2), (4, 2, 3), (3, 1, 4), (2, 3, 2)];
        let mut t = tables(&locations, &[(1, 0), (2, 1), (3, 2), (4, 1), (5, 1)]);
        assert_eq!(rebuilt(&mut t, true, &[3, 2, 5, 77, -1, 0, 1]), [3, 2, 2, 0, 0, 0, 1]);
        let mut expected = tables(&[(1, 1, 1), (2, 2, 2), (3, 3, 3)], &[(1, 0), (2, 1), (3, 2)]);
        expected.file_names = ["a", "b", "c"].map(str::to_owned).into();
        expected.function_names = ["f", "h", "g"].map(str::to_owned).into();
        assert_eq!(t, expected);
    }
    #[test]
    fn frames_with_invalid_callers_are_removed() {
        let locations = [(1, 1, 1), (9, 1, 1), (1, 9, 1)];
        let frames = [(2, 0), (3, 0), (1, 1), (9, 0), (0, 0), (1, 9), (1, 8), (1, 7), (1, -1)];
        let uses = [1, 2, 3, 4, 5, 6, 7, 8, 9, 8];
        let mut t = tables(&locations, &frames);
        assert_eq!(rebuilt(&mut t, true, &uses), [0; 10]);
        assert!(t.is_empty());
    }
    #[test]
    fn callers_of_invalid_frames_are_kept() {
        let mut t = tables(&[(1, 1, 1)], &[(1, 0), (9, 1)]);
        assert_eq!(rebuilt(&mut t, true, &[2]), [0]);
        assert_eq!(t.frames.len(), 1);
    }
    #[test]
    fn tables_without_unused_rows_are_unchanged() {
        let mut t = tables(
            &[(1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 3, 3)],
            &[(4, 0), (3, 1), (2, 0), (1, 0)],
        );
        let before = t.clone();
        assert_eq!(rebuilt(&mut t, true, &[4, 3, 2, 9]), [4, 3, 2, 0]);
        assert_eq!(t, before);
        assert_eq!(rebuilt(&mut t, false, &[4, 3, 2]), [1, 2, 4]);
        assert_eq!(t.file_names, ["a", "b", "c", "unused"]);
    }
}
