//! Stack frames: where in the user's program the instructions come from.
//!
//! Four tables, each referring to rows of the one before by numbers from 1. Instructions refer to frames by
//! `stack_frame_id`.
use crate::text::print::push_int;
use crate::text::strings::print_string;
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// The four tables between the header and the first computation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StackFrames {
    /// Paths of source files.
    pub file_names: Vec<String>,
    /// Names of functions.
    pub function_names: Vec<String>,
    /// Places in files.
    pub locations: Vec<FileLocation>,
    /// Calls, each with the call around it.
    pub frames: Vec<StackFrame>,
}

/// A place in a source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FileLocation {
    /// Row of the file's name, from 1.
    pub file_name_id: i32,
    /// Row of the function's name, from 1.
    pub function_name_id: i32,
    /// First line, from 1.
    pub line: i32,
    /// Last line.
    pub end_line: i32,
    /// First column.
    pub column: i32,
    /// Last column.
    pub end_column: i32,
}

/// A call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct StackFrame {
    /// Row of its place, from 1.
    pub file_location_id: i32,
    /// Row of the frame it was called from, from 1; 0 if it was called from none. The text writes one more.
    pub parent_frame_id: i32,
}

/// The row of number `id`, counted from 1.
fn row<T>(table: &[T], id: i32) -> Option<&T> {
    let index = usize::try_from(id).ok()?.checked_sub(1)?;
    table.get(index)
}

impl StackFrames {
    /// Whether there are no frames.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }
    /// Frame `id` and the frames around it, the innermost first: file, function, place.
    pub fn trace(&self, id: i32) -> impl Iterator<Item = (&str, &str, &FileLocation)> {
        let frame = |id: i32| row(&self.frames, id);
        // Frames that call each other in a circle can be built by hand.
        let chain = std::iter::successors(frame(id), move |f| frame(f.parent_frame_id));
        chain.take(self.frames.len()).map_while(|frame| {
            let place = row(&self.locations, frame.file_location_id)?;
            let file = row(&self.file_names, place.file_name_id)?;
            let function = row(&self.function_names, place.function_name_id)?;
            Some((file.as_str(), function.as_str(), place))
        })
    }

    /// Brings the tables into the form XLA gives them when it reads a text: rows no frame in `uses` needs are
    /// dropped, equal rows are merged, and rows are numbered in the order in which `uses` need them, outer frames
    /// first. An id without a complete frame becomes 0.
    ///
    /// Tables in which nothing is superfluous stay as they are in a text that is `settled`: that stands in the order in
    /// which it is printed. XLA's do not, so that its ids change again when its own output is read.
    pub(crate) fn rebuild<'a>(&mut self, settled: bool, uses: impl Iterator<Item = &'a mut i32>) {
        let mut rebuilt = Rebuild::new(self);
        let mut renamed: Vec<(&mut i32, i32)> = Vec::new();
        for id in uses.filter(|id| **id != 0) {
            let new = rebuilt.frame(*id);
            if new == 0 {
                *id = 0;
            } else {
                renamed.push((id, new));
            }
        }
        let tables = rebuilt.finish();
        if settled && tables.row_counts() == self.row_counts() {
            return;
        }
        for (id, new) in renamed {
            *id = new;
        }
        *self = tables;
    }
    fn row_counts(&self) -> [usize; 4] {
        [self.file_names.len(), self.function_names.len(), self.locations.len(), self.frames.len()]
    }

    /// Prints the tables with the blank line before each and one after the last.
    pub(crate) fn print(&self, out: &mut String) {
        out.push_str("\nFileNames\n");
        names(out, &self.file_names);
        out.push_str("\nFunctionNames\n");
        names(out, &self.function_names);
        out.push_str("\nFileLocations\n");
        for (number, place) in (1..).zip(&self.locations) {
            push_int(out, number);
            let fields = [
                (" {file_name_id=", place.file_name_id),
                (" function_name_id=", place.function_name_id),
                (" line=", place.line),
                (" end_line=", place.end_line),
                (" column=", place.column),
                (" end_column=", place.end_column),
            ];
            close_row(out, &fields);
        }
        out.push_str("\nStackFrames\n");
        for (number, frame) in (1..).zip(&self.frames) {
            push_int(out, number);
            let parent = frame.parent_frame_id.saturating_add(1);
            close_row(
                out,
                &[(" {file_location_id=", frame.file_location_id), (" parent_frame_id=", parent)],
            );
        }
        out.push('\n');
    }
}

fn names(out: &mut String, names: &[String]) {
    for (number, name) in (1..).zip(names) {
        push_int(out, number);
        out.push(' ');
        print_string(out, name);
        out.push('\n');
    }
}

fn close_row(out: &mut String, fields: &[(&str, i32)]) {
    for (name, value) in fields {
        out.push_str(name);
        push_int(out, i64::from(*value));
    }
    out.push_str("}\n");
}

/// A table that is filled row by row, equal rows once.
struct Rows<T>(FxHashMap<T, i32>, Vec<T>);

impl<T: Copy + Eq + Hash> Rows<T> {
    fn new() -> Self {
        Self(FxHashMap::default(), Vec::new())
    }
    /// The number of `row`, which is added if it is new.
    fn id(&mut self, row: T) -> i32 {
        let Self(ids, rows) = self;
        *ids.entry(row).or_insert_with(|| {
            rows.push(row);
            i32::try_from(rows.len()).expect("no more rows than the text's tables, whose ids fit")
        })
    }
}

/// New tables while they are filled from old ones.
struct Rebuild<'a> {
    old: &'a StackFrames,
    /// New number of each old frame that was needed; 0 of one that is not complete.
    moved: FxHashMap<i32, i32>,
    file_names: Rows<&'a str>,
    function_names: Rows<&'a str>,
    locations: Rows<FileLocation>,
    frames: Rows<StackFrame>,
}

impl<'a> Rebuild<'a> {
    fn new(old: &'a StackFrames) -> Self {
        Self {
            old,
            moved: FxHashMap::default(),
            file_names: Rows::new(),
            function_names: Rows::new(),
            locations: Rows::new(),
            frames: Rows::new(),
        }
    }

    /// The new number of old frame `id`.
    fn frame(&mut self, id: i32) -> i32 {
        // From the frame out to one whose number is known.
        let mut chain = Vec::new();
        let (mut parent, mut at) = (0, id);
        while at != 0 {
            if let Some(&known) = self.moved.get(&at) {
                parent = known;
                if known == 0 {
                    // The frames met on the way are marked 0 already.
                    return 0;
                }
                break;
            }
            let place = self.complete(at);
            // Found again on the way out, a frame of a circle counts as incomplete.
            self.moved.insert(at, 0);
            let Some((frame, place)) = place else { return 0 };
            chain.push((at, place));
            at = frame.parent_frame_id;
        }
        for (old, place) in chain.into_iter().rev() {
            let file_location_id = self.location(place);
            parent = self.frames.id(StackFrame { file_location_id, parent_frame_id: parent });
            self.moved.insert(old, parent);
        }
        parent
    }

    /// A frame and its place, if they and their names exist.
    fn complete(&self, id: i32) -> Option<(StackFrame, FileLocation)> {
        let frame = *row(&self.old.frames, id)?;
        let place = *row(&self.old.locations, frame.file_location_id)?;
        row(&self.old.file_names, place.file_name_id)?;
        row(&self.old.function_names, place.function_name_id)?;
        Some((frame, place))
    }

    fn location(&mut self, old: FileLocation) -> i32 {
        let tables = self.old;
        let name = |table: &'a [String], id| row(table, id).map_or("", String::as_str);
        let file_name_id = self.file_names.id(name(&tables.file_names, old.file_name_id));
        let function_name_id =
            self.function_names.id(name(&tables.function_names, old.function_name_id));
        self.locations.id(FileLocation { file_name_id, function_name_id, ..old })
    }

    fn finish(self) -> StackFrames {
        let owned = |rows: Rows<&str>| rows.1.into_iter().map(str::to_owned).collect();
        StackFrames {
            file_names: owned(self.file_names),
            function_names: owned(self.function_names),
            locations: self.locations.1,
            frames: self.frames.1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of three files, three functions, five places (one twice) and these frames.
    fn tables(frames: &[(i32, i32)]) -> StackFrames {
        let place = |file_name_id, function_name_id, line| FileLocation {
            file_name_id,
            function_name_id,
            line,
            ..FileLocation::default()
        };
        let frame = |&(file_location_id, written): &(i32, i32)| StackFrame {
            file_location_id,
            parent_frame_id: written - 1,
        };
        StackFrames {
            file_names: ["A", "B", "C"].map(str::to_owned).to_vec(),
            function_names: ["F", "G", "H"].map(str::to_owned).to_vec(),
            locations: vec![
                place(3, 2, 1),
                place(1, 3, 5),
                place(2, 1, 6),
                place(3, 2, 1),
                place(1, 1, 7),
            ],
            frames: frames.iter().map(frame).collect(),
        }
    }
    const FRAMES: [(i32, i32); 6] = [(5, 1), (4, 2), (3, 3), (2, 2), (1, 4), (1, 5)];

    fn rebuilt(tables: &mut StackFrames, ids: &[i32]) -> Vec<i32> {
        let mut ids = ids.to_vec();
        tables.rebuild(true, ids.iter_mut());
        ids
    }
    fn written(tables: &StackFrames) -> Vec<(i32, i32)> {
        tables.frames.iter().map(|f| (f.file_location_id, f.parent_frame_id + 1)).collect()
    }

    #[test]
    fn numbers_by_first_use_outer_frames_first() {
        let mut t = tables(&FRAMES);
        assert_eq!(rebuilt(&mut t, &[6, 3, 2]), [3, 5, 4]);
        assert_eq!(written(&t), [(1, 1), (2, 2), (3, 3), (3, 2), (4, 5)]);
        assert_eq!(t.file_names, ["A", "C", "B"]);
        assert_eq!(t.function_names, ["F", "H", "G"]);
        let lines: Vec<_> = t.locations.iter().map(|l| l.line).collect();
        assert_eq!(lines, [7, 5, 1, 6]);
        assert_eq!(t.trace(3).map(|(file, ..)| file).collect::<Vec<_>>(), ["C", "A", "A"]);
    }
    #[test]
    fn drops_what_nothing_uses_and_ids_without_a_frame() {
        let mut t = tables(&FRAMES);
        assert_eq!(rebuilt(&mut t, &[3, 0, 9, -1, 7]), [3, 0, 0, 0, 0]);
        assert_eq!(t.row_counts(), [3, 2, 3, 3]);
        assert_eq!(rebuilt(&mut t, &[0]), [0]);
        assert_eq!(t, StackFrames::default());
    }
    #[test]
    fn frames_that_are_not_complete_do_not_count() {
        // A place that is missing, a parent that is missing, a frame that called itself, two that called each other.
        for frames in
            [&[(9, 1)][..], &[(1, 7)], &[(1, 0)], &[(1, 2)], &[(1, 3), (1, 2)], &[(1, 3), (9, 1)]]
        {
            let mut t = tables(frames);
            assert_eq!(rebuilt(&mut t, &[1, 1, 2]), [0, 0, 0], "{frames:?}");
            assert!(t.is_empty());
        }
    }
    #[test]
    fn tables_without_waste_stay() {
        let mut t = tables(&FRAMES);
        rebuilt(&mut t, &[6, 3, 2]);
        let before = t.clone();
        assert_eq!(rebuilt(&mut t, &[4, 5, 3]), [4, 5, 3]);
        assert_eq!(t, before);
    }
    #[test]
    fn equal_rows_are_merged() {
        let mut t = tables(&[(1, 1), (4, 1), (1, 1)]);
        assert_eq!(rebuilt(&mut t, &[1, 2, 3]), [1, 1, 1]);
        assert_eq!(t.row_counts(), [1, 1, 1, 1]);
    }
}
