//! The sections of a file beside its ops: strings, names of ops, attributes and types, properties.
use super::bytes::Bytes;
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::rc::Rc;

/// Things that are written once and referred to by their numbers, in the order of their first use.
#[derive(Debug)]
struct Numbered<T> {
    numbers: FxHashMap<Rc<T>, usize>,
    items: Vec<Rc<T>>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { numbers: FxHashMap::default(), items: Vec::new() }
    }
}
impl<T: Hash + Eq> Numbered<T> {
    fn number(&mut self, item: T) -> usize {
        if let Some(number) = self.numbers.get(&item) {
            return *number;
        }
        let (number, item) = (self.items.len(), Rc::new(item));
        self.items.push(Rc::clone(&item));
        self.numbers.insert(item, number);
        number
    }
}

/// A dialect whose ops, attributes or types a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Dialect {
    Builtin,
    Vhlo,
    Sdy,
    Stablehlo,
}

impl Dialect {
    fn name(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Vhlo => "vhlo",
            Self::Sdy => "sdy",
            Self::Stablehlo => "stablehlo",
        }
    }
}

/// The tables of a file.
#[derive(Debug, Default)]
pub(super) struct Tables {
    strings: Numbered<Vec<u8>>,
    dialects: Numbered<Dialect>,
    op_names: Numbered<(usize, String)>,
    attributes: Numbered<(usize, Vec<u8>)>,
    types: Numbered<(usize, Vec<u8>)>,
    properties: Numbered<Vec<u8>>,
}

impl Tables {
    pub(super) fn string(&mut self, text: &[u8]) -> usize {
        self.strings.number(text.to_vec())
    }
    fn dialect(&mut self, dialect: Dialect) -> usize {
        self.dialects.number(dialect)
    }
    /// Returns the number of an op's name, which is without the dialect here.
    pub(super) fn op_name(&mut self, dialect: Dialect, name: String) -> usize {
        let dialect = self.dialect(dialect);
        self.op_names.number((dialect, name))
    }
    pub(super) fn attribute(&mut self, dialect: Dialect, encoding: Bytes) -> usize {
        let dialect = self.dialect(dialect);
        self.attributes.number((dialect, encoding.0))
    }
    pub(super) fn ty(&mut self, dialect: Dialect, encoding: Bytes) -> usize {
        let dialect = self.dialect(dialect);
        self.types.number((dialect, encoding.0))
    }
    pub(super) fn properties(&mut self, encoding: Bytes) -> usize {
        self.properties.number(encoding.0)
    }

    /// Writes the sections of a file of this version of bytecode, in MLIR's order.
    pub(super) fn write(mut self, file: &mut Bytes, version: u64, ir: &[u8]) {
        let dialects = self.dialect_section(version);
        file.section(1, &dialects.0);
        self.attribute_sections(file);
        file.section(4, ir);
        // There are no resources: constants are attributes.
        file.section(6, &[1]);
        file.section(5, &[]);
        file.section(0, &self.string_section().0);
        if version >= 5 {
            let mut properties = Bytes::default();
            properties.size(self.properties.items.len());
            for encoding in &self.properties.items {
                properties.blob(encoding);
            }
            file.section(8, &properties.0);
        }
    }
    /// Returns the names of dialects, and of ops by runs of the same dialect.
    fn dialect_section(&mut self, version: u64) -> Bytes {
        let mut section = Bytes::default();
        let name = |section: &mut Bytes, string: usize, since: u64, flag: bool| match version {
            version if version >= since => section.size_and_flag(string, flag),
            _ => section.size(string),
        };
        section.size(self.dialects.items.len());
        for dialect in &self.dialects.items {
            let string = self.strings.number(dialect.name().into());
            name(&mut section, string, 1, false);
        }
        if version >= 4 {
            section.size(self.op_names.items.len());
        }
        for run in self.op_names.items.chunk_by(|a, b| a.0 == b.0) {
            section.size(run[0].0);
            section.size(run.len());
            for op in run {
                let string = self.strings.number(op.1.clone().into_bytes());
                name(&mut section, string, 5, true);
            }
        }
        section
    }
    /// Writes attributes and types one after another, and their sizes by runs of the same dialect.
    fn attribute_sections(&self, file: &mut Bytes) {
        let groups = [&self.attributes.items, &self.types.items];
        file.0.push(2);
        file.size(groups.iter().flat_map(|group| group.iter()).map(|entry| entry.1.len()).sum());
        let mut offsets = Bytes::default();
        for group in groups {
            offsets.size(group.len());
        }
        for run in groups.iter().flat_map(|group| group.chunk_by(|a, b| a.0 == b.0)) {
            offsets.size(run[0].0);
            offsets.size(run.len());
            for entry in run {
                offsets.size_and_flag(entry.1.len(), true);
                file.0.extend_from_slice(&entry.1);
            }
        }
        file.section(3, &offsets.0);
    }
    /// Returns strings, each with a zero at its end, after their lengths from the last to the first.
    fn string_section(&self) -> Bytes {
        let mut section = Bytes::default();
        section.size(self.strings.items.len());
        for text in self.strings.items.iter().rev() {
            section.size(text.len() + 1);
        }
        for text in &self.strings.items {
            section.0.extend_from_slice(text);
            section.0.push(0);
        }
        section
    }
}
