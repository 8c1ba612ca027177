//! Writes MLIR bytecode, of any version, for tests.

/// Returns an integer in its variable-width encoding.
pub(crate) fn varint(value: u64) -> Vec<u8> {
    for bytes in 1..=8u32 {
        if bytes == 8 || value < 1 << (7 * bytes) {
            let encoded = (value << bytes) | 1 << (bytes - 1);
            if bytes < 8 || value < 1 << 56 {
                return encoded.to_le_bytes()[..usize::try_from(bytes).unwrap()].to_vec();
            }
        }
    }
    [vec![0], value.to_le_bytes().to_vec()].concat()
}
fn size(value: usize) -> Vec<u8> {
    varint(u64::try_from(value).unwrap())
}
/// Returns bytes from varints.
pub(crate) fn varints(values: &[usize]) -> Vec<u8> {
    values.iter().flat_map(|value| size(*value)).collect()
}
fn section(id: u8, contents: &[u8]) -> Vec<u8> {
    [vec![id], size(contents.len()), contents.to_vec()].concat()
}
fn flagged(value: usize, flag: bool) -> usize {
    value << 1 | usize::from(flag)
}

/// A file: its dialects are `builtin`, `vhlo` and `stablehlo`.
#[derive(Default)]
pub(crate) struct Writer {
    version: usize,
    strings: Vec<String>,
    /// Dialect, encoding.
    attributes: Vec<(usize, Vec<u8>)>,
    types: Vec<(usize, Vec<u8>)>,
    /// The types that are text.
    texts: Vec<usize>,
    ops: Vec<(usize, String)>,
    properties: Vec<Vec<u8>>,
}
pub(crate) const BUILTIN: usize = 0;
pub(crate) const VHLO: usize = 1;
pub(crate) const STABLEHLO: usize = 2;

fn index_of<T: PartialEq>(all: &mut Vec<T>, item: T) -> usize {
    all.iter().position(|known| *known == item).unwrap_or_else(|| {
        all.push(item);
        all.len() - 1
    })
}

/// An op to be written.
#[derive(Default)]
pub(crate) struct OpToWrite<'a> {
    pub(crate) name: &'a str,
    /// Attributes, sorted by name.
    pub(crate) attributes: Vec<(&'a str, usize)>,
    pub(crate) results: Vec<usize>,
    pub(crate) operands: Vec<usize>,
    pub(crate) regions: Vec<Vec<u8>>,
    pub(crate) isolated: bool,
}

impl Writer {
    pub(crate) fn new(version: usize) -> Self {
        Self { version, ..Self::default() }
    }
    pub(crate) fn string(&mut self, text: &str) -> usize {
        index_of(&mut self.strings, text.to_owned())
    }
    pub(crate) fn attribute(&mut self, dialect: usize, bytes: Vec<u8>) -> usize {
        index_of(&mut self.attributes, (dialect, bytes))
    }
    pub(crate) fn ty(&mut self, code: &[usize]) -> usize {
        self.ty_of(VHLO, code)
    }
    pub(crate) fn ty_of(&mut self, dialect: usize, code: &[usize]) -> usize {
        index_of(&mut self.types, (dialect, varints(code)))
    }
    pub(crate) fn ty_of_text(&mut self, text: &str) -> usize {
        let index = index_of(&mut self.types, (BUILTIN, [text.as_bytes(), &[0]].concat()));
        self.texts.push(index + (1 << 20));
        index
    }
    pub(crate) fn text(&mut self, text: &str) -> usize {
        let string = self.string(text);
        self.attribute(VHLO, varints(&[14, string]))
    }
    /// Returns the bytes of an op.
    pub(crate) fn op(&mut self, op: &OpToWrite<'_>) -> Vec<u8> {
        let dialect = if op.name == "module" { BUILTIN } else { VHLO };
        let index = index_of(&mut self.ops, (dialect, op.name.to_owned()));
        let unknown = self.attribute(BUILTIN, varints(&[15]));
        let mut mask = 0;
        let mut parts = Vec::new();
        if !op.attributes.is_empty() && self.version < 5 {
            mask |= 1;
            let mut dictionary = varints(&[1, op.attributes.len()]);
            for (name, value) in &op.attributes {
                let string = self.string(name);
                let name = self.attribute(BUILTIN, varints(&[2, string]));
                dictionary.extend(varints(&[name, *value]));
            }
            let dictionary = self.attribute(BUILTIN, dictionary);
            parts.extend(size(dictionary));
        } else if !op.attributes.is_empty() {
            mask |= 0x40;
            let values: Vec<usize> = op.attributes.iter().map(|(_, value)| *value).collect();
            parts.extend(size(index_of(&mut self.properties, varints(&values))));
        }
        for (bit, list) in [(2, &op.results), (4, &op.operands)] {
            if !list.is_empty() {
                mask |= bit;
                parts.extend(size(list.len()));
                parts.extend(varints(list));
            }
        }
        if !op.regions.is_empty() {
            mask |= 0x10;
            parts.extend(size(flagged(op.regions.len(), op.isolated)));
            let regions = op.regions.concat();
            parts.extend(if op.isolated && self.version >= 2 {
                section(4, &regions)
            } else {
                regions
            });
        }
        [size(index), vec![mask], size(unknown), parts].concat()
    }
    /// Returns the bytes of a region with this number of values.
    pub(crate) fn region(
        &mut self,
        values: usize,
        arguments: &[usize],
        ops: &[Vec<u8>],
    ) -> Vec<u8> {
        let mut bytes = varints(&[1, values, flagged(ops.len(), !arguments.is_empty())]);
        if !arguments.is_empty() {
            let unknown = self.attribute(BUILTIN, varints(&[15]));
            bytes.extend(size(arguments.len()));
            for ty in arguments {
                bytes.extend(if self.version >= 4 {
                    size(flagged(*ty, false))
                } else {
                    varints(&[*ty, unknown])
                });
            }
            if self.version >= 3 {
                bytes.push(0);
            }
        }
        [bytes, ops.concat()].concat()
    }
    /// Returns the file of a module with this body.
    pub(crate) fn file(mut self, body: Vec<u8>) -> Vec<u8> {
        let module = OpToWrite {
            name: "module",
            regions: vec![body],
            isolated: true,
            ..OpToWrite::default()
        };
        let module = self.op(&module);
        let ir = [size(flagged(1, false)), module].concat();
        let dialects = ["builtin", "vhlo", "stablehlo"].map(|name| self.string(name));
        let mut names = size(dialects.len());
        for dialect in dialects {
            names.extend(size(if self.version >= 1 { flagged(dialect, false) } else { dialect }));
        }
        if self.version >= 4 {
            names.extend(size(self.ops.len()));
        }
        for (dialect, name) in std::mem::take(&mut self.ops) {
            let name = self.string(&name);
            names.extend(varints(&[
                dialect,
                1,
                if self.version >= 5 { flagged(name, true) } else { name },
            ]));
        }
        let mut strings = size(self.strings.len());
        for text in self.strings.iter().rev() {
            strings.extend(size(text.len() + 1));
        }
        for text in &self.strings {
            strings.extend(text.as_bytes());
            strings.push(0);
        }
        let mut offsets = varints(&[self.attributes.len(), self.types.len()]);
        let mut data = Vec::new();
        let numbered = self.attributes.iter().zip(0..).chain(self.types.iter().zip(1 << 20..));
        for ((dialect, bytes), number) in numbered {
            let encoded = !self.texts.contains(&number);
            offsets.extend(varints(&[*dialect, 1, flagged(bytes.len(), encoded)]));
            data.extend(bytes);
        }
        let mut properties = size(self.properties.len());
        for bytes in &self.properties {
            properties.extend(size(bytes.len()));
            properties.extend(bytes);
        }
        let mut file = b"ML\xefR".to_vec();
        file.extend(size(self.version));
        file.extend(b"test\0");
        for (id, contents) in
            [(0, strings), (1, names), (2, data), (3, offsets), (4, ir), (8, properties)]
        {
            if id != 8 || self.version >= 5 {
                file.extend(section(id, &contents));
            }
        }
        file
    }
}
