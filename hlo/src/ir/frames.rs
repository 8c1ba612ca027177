//! The stack-frame tables: where instructions come from in the user's program, each place stored once.

/// Files, functions, places and frames. Every id counts rows from 1; 0 is none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StackFrames {
    /// Paths.
    pub file_names: Vec<String>,
    /// Functions.
    pub function_names: Vec<String>,
    /// Places in files.
    pub locations: Vec<FileLocation>,
    /// Frames.
    pub frames: Vec<StackFrame>,
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FileLocation {
    /// Row of the file's name.
    pub file_name_id: i32,
    /// Row of the function's name.
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

/// A place and the frame that called it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct StackFrame {
    /// Row of the place.
    pub file_location_id: i32,
    /// Row of the calling frame; 0 for none. The text writes it one larger.
    pub parent_frame_id: i32,
}

impl StackFrames {
    /// Whether there is no frame.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Renumbers the rows in the order in which `uses`, the ids in instructions in text order, first need them, and
    /// drops rows that are not needed. Ids out of range become 0.
    ///
    /// This is what XLA does when it reads a text. XLA does it every time, so that ids change again when its own output
    /// is read; here tables without a superfluous row stay as they are in a text that is `settled`: that stands in the
    /// order in which it is printed.
    pub(crate) fn rebuild<'a>(&mut self, settled: bool, uses: impl Iterator<Item = &'a mut i32>) {
        let mut rebuilt = Rebuilt {
            old: self,
            new: Self::default(),
            files: vec![0; self.file_names.len()],
            functions: vec![0; self.function_names.len()],
            locations: vec![0; self.locations.len()],
            frames: vec![0; self.frames.len()],
        };
        let mut changed = Vec::new();
        for id in uses.filter(|id| **id != 0) {
            let new = rebuilt.frame(*id);
            changed.push((id, new));
        }
        let new = rebuilt.new;
        let sizes = |t: &Self| {
            (t.file_names.len(), t.function_names.len(), t.locations.len(), t.frames.len())
        };
        let complete = settled && sizes(&new) == sizes(self);
        for (id, new) in changed {
            if !complete || new == 0 {
                *id = new;
            }
        }
        if !complete {
            *self = new;
        }
    }
}

/// New tables, and for each row of the old ones its new number, 0 while it has none.
struct Rebuilt<'t> {
    old: &'t StackFrames,
    new: StackFrames,
    files: Vec<i32>,
    functions: Vec<i32>,
    locations: Vec<i32>,
    frames: Vec<i32>,
}

/// The position of row `id`.
fn row(id: i32) -> Option<usize> {
    usize::try_from(id).ok()?.checked_sub(1)
}
/// The number of the last row.
fn last<T>(rows: &[T]) -> i32 {
    i32::try_from(rows.len()).unwrap_or(i32::MAX)
}

impl Rebuilt<'_> {
    /// The new number of a frame; its callers get theirs first.
    fn frame(&mut self, id: i32) -> i32 {
        let mut chain = Vec::new();
        let mut at = id;
        // A chain longer than the table runs in a circle; it ends where it is first cut.
        while let Some(i) = row(at).filter(|&i| i < self.old.frames.len() && self.frames[i] == 0) {
            if chain.len() > self.old.frames.len() {
                break;
            }
            chain.push(i);
            at = self.old.frames[i].parent_frame_id;
        }
        let mut parent = row(at).and_then(|i| self.frames.get(i)).copied().unwrap_or(0);
        for i in chain.into_iter().rev() {
            let file_location_id = self.location(self.old.frames[i].file_location_id);
            self.new.frames.push(StackFrame { file_location_id, parent_frame_id: parent });
            parent = last(&self.new.frames);
            self.frames[i] = parent;
        }
        row(id).and_then(|i| self.frames.get(i)).copied().unwrap_or(0)
    }
    fn location(&mut self, id: i32) -> i32 {
        let Some(i) = row(id).filter(|&i| i < self.old.locations.len()) else { return 0 };
        if self.locations[i] == 0 {
            let old = self.old.locations[i];
            let name = |names: &[String], new: &mut Vec<String>, ids: &mut Vec<i32>, id: i32| {
                let Some(i) = row(id).filter(|&i| i < names.len()) else { return 0 };
                if ids[i] == 0 {
                    new.push(names[i].clone());
                    ids[i] = last(new);
                }
                ids[i]
            };
            let files = &mut self.new.file_names;
            let file_name_id = name(&self.old.file_names, files, &mut self.files, old.file_name_id);
            let functions = &mut self.new.function_names;
            let function_name_id = name(
                &self.old.function_names,
                functions,
                &mut self.functions,
                old.function_name_id,
            );
            self.new.locations.push(FileLocation { file_name_id, function_name_id, ..old });
            self.locations[i] = last(&self.new.locations);
        }
        self.locations[i]
    }
}
