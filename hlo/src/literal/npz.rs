//! Reading and writing of numpy's `.npz` files.
//!
//! Types that numpy lacks are stored as the unsigned integer of their width: `bf16` as `uint16`, 8-bit floats and narrow
//! integers as one `uint8` per element.
use crate::elem::Class;
use crate::{ArrayShape, Dims, ElementType, Literal};
use std::fmt::Write as _;
use std::io::{Read, Seek, Write};

/// An error of reading or writing a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NpzError {
    /// The file cannot be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// It is not an `.npz` file.
    #[error("not an .npz file: {0}")]
    Zip(#[from] zip::result::ZipError),
    /// An array of the file cannot be used.
    #[error("array `{name}`: {message}")]
    Array {
        /// Its name in the file.
        name: String,
        /// The problem.
        message: String,
    },
}

/// An array as numpy wrote it: little-endian, row-major.
#[derive(Debug, Clone, PartialEq)]
pub struct NpyArray {
    /// Its name in the file.
    pub name: String,
    /// Sizes.
    pub dims: Dims,
    /// numpy's kind: `b`, `i`, `u`, `f`, `c`, `V`.
    pub kind: char,
    /// Bytes per element.
    pub item_bytes: usize,
    /// The elements.
    pub bytes: Vec<u8>,
}

/// Reads all arrays of an `.npz` file, in the order of the file.
///
/// # Errors
/// If it is not an `.npz` file, or an array is not numeric.
pub fn read(file: impl Read + Seek) -> Result<Vec<NpyArray>, NpzError> {
    read_selected(file, |_| true)
}

/// Reads the arrays of an `.npz` file whose names are selected, in the order of the file.
///
/// # Errors
/// As [`read`]; arrays that are not selected are not looked at.
pub fn read_selected(
    file: impl Read + Seek,
    is_selected: impl Fn(&str) -> bool,
) -> Result<Vec<NpyArray>, NpzError> {
    let mut archive = zip::ZipArchive::new(file)?;
    let mut arrays = Vec::new();
    for i in 0..archive.len() {
        let entry = archive.by_index(i)?;
        let name = entry.name()?.trim_end_matches(".npy").to_owned();
        if is_selected(&name) {
            arrays.push(read_array(name, entry)?);
        }
    }
    Ok(arrays)
}

/// Reads a single `.npy` file.
///
/// # Errors
/// As [`read`].
pub fn read_array(name: String, mut file: impl Read) -> Result<NpyArray, NpzError> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let wrong = |message: &str| NpzError::Array { name: name.clone(), message: message.to_owned() };
    let header = Header::parse(&bytes).map_err(wrong)?;
    let Header { kind, item_bytes, big_endian, column_major, dims, length } = header;
    let count = dims.iter().try_fold(item_bytes, |n, &d| n.checked_mul(usize::try_from(d).ok()?));
    let count = count.ok_or_else(|| wrong("its sizes are too large"))?;
    bytes.drain(..length);
    if bytes.len() < count {
        let message = format!("the header states {count} bytes of data, found {}", bytes.len());
        return Err(NpzError::Array { name, message });
    }
    bytes.truncate(count);
    let part = if kind == 'c' { item_bytes / 2 } else { item_bytes };
    if big_endian && part > 1 {
        bytes.chunks_exact_mut(part).for_each(<[u8]>::reverse);
    }
    if column_major {
        bytes = row_major(&dims, item_bytes, &bytes);
    }
    Ok(NpyArray { name, dims, kind, item_bytes, bytes })
}

/// The header of an `.npy` file.
///
/// Parsed by hand: the header is a line of Python, of which numpy writes three entries, and a file may contain
/// arbitrary data. A library that parses Python literals follows nesting and allocates sizes that a damaged file
/// contains.
struct Header {
    kind: char,
    item_bytes: usize,
    big_endian: bool,
    column_major: bool,
    dims: Dims,
    /// Bytes up to the data.
    length: usize,
}

impl Header {
    fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        const NO_FILE: &str = "not an .npy file";
        let version = bytes.strip_prefix(b"\x93NUMPY").and_then(|b| b.first()).ok_or(NO_FILE)?;
        // The first version stores the length in 2 bytes, later ones in 4.
        let (start, text): (usize, usize) = match (version, bytes.get(8..12)) {
            (1, Some(&[a, b, ..])) => (10, usize::from(u16::from_le_bytes([a, b]))),
            (_, Some(&[a, b, c, d])) => {
                (12, usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX))
            }
            _ => return Err(NO_FILE),
        };
        let length = start.checked_add(text).ok_or(NO_FILE)?;
        let text = bytes.get(start..length).ok_or("the file ends inside its header")?;
        let text = std::str::from_utf8(text).map_err(|_| NO_FILE)?;
        let after = |key: &str| {
            let (_, rest) = text.split_once(key)?;
            rest.trim_start().strip_prefix(':').map(str::trim_start)
        };
        let descr = after("'descr'").and_then(|rest| rest.strip_prefix('\'')?.split_once('\''));
        let (descr, _) = descr.ok_or("structured arrays are not supported")?;
        let mut letters = descr.chars();
        let (order, kind) = (letters.next().unwrap_or('?'), letters.next().unwrap_or('?'));
        let item_bytes = letters.as_str().parse().map_err(|_| "its element type is not numeric")?;
        if !"biufcV".contains(kind) || !"<>|=".contains(order) {
            return Err("its element type is not numeric");
        }
        let column_major = after("'fortran_order'").ok_or(NO_FILE)?.starts_with("True");
        let shape = after("'shape'").and_then(|rest| rest.strip_prefix('(')?.split_once(')'));
        let (shape, _) = shape.ok_or(NO_FILE)?;
        let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
        let dims = sizes.map(|size| size.parse::<u32>().map(i64::from)).collect::<Result<_, _>>();
        let dims = dims.map_err(|_| "its sizes are too large")?;
        Ok(Self { kind, item_bytes, big_endian: order == '>', column_major, dims, length })
    }
}

/// Converts column-major elements to row-major order.
fn row_major(dims: &[i64], width: usize, from: &[u8]) -> Vec<u8> {
    let sizes: Vec<usize> = dims.iter().map(|&d| usize::try_from(d).unwrap_or(0)).collect();
    let mut to = Vec::with_capacity(from.len());
    for mut at in 0..from.len() / width.max(1) {
        // `at` is the row-major offset; the column-major offset of the same index differs.
        let mut index = vec![0; sizes.len()];
        for (slot, &size) in index.iter_mut().zip(&sizes).rev() {
            *slot = at % size;
            at /= size;
        }
        let offset =
            index.iter().zip(&sizes).rev().fold(0, |offset, (&i, &size)| offset * size + i);
        to.extend_from_slice(&from[offset * width..(offset + 1) * width]);
    }
    to
}

impl NpyArray {
    /// Converts the array to a literal of this shape: the sizes must agree, and the type must be numpy's for it, or an unsigned
    /// or raw type of the same width.
    ///
    /// # Errors
    /// If sizes or types do not agree.
    pub fn to_literal(&self, shape: &ArrayShape) -> Result<Literal, NpzError> {
        let wrong = |message: String| NpzError::Array { name: self.name.clone(), message };
        // A dynamic dimension may be smaller than its bound.
        let fits = |d: usize| {
            self.dims[d] == shape.dims[d]
                || (shape.is_dynamic(d) && (0..shape.dims[d]).contains(&self.dims[d]))
        };
        if self.dims.len() != shape.rank() || !(0..shape.rank()).all(fits) {
            return Err(wrong(format!(
                "it has sizes {:?}, expected {shape:#}",
                self.dims.as_slice()
            )));
        }
        let width = shape.ty.storage_bytes();
        let kind_fits = match (numpy_kind(shape.ty), self.kind) {
            (_, 'u' | 'V') => true,
            // A signed byte holds a narrow signed integer as is.
            (None, 'i') => shape.ty.class() == Class::Signed,
            (expected, found) => expected == Some(found),
        };
        if self.item_bytes != width || !kind_fits {
            let found = format!("{}{}", self.kind, self.item_bytes);
            return Err(wrong(format!("numpy's type {found} is not {}", shape.ty)));
        }
        let shape = ArrayShape { dims: self.dims.clone(), dynamic: None, ..shape.clone() };
        let literal = Literal::from_bytes(shape, &self.bytes);
        literal.ok_or_else(|| wrong("its data does not fit its sizes".to_owned()))
    }
    /// Returns the element type of numpy's type, if there is one.
    pub fn natural_type(&self) -> Option<ElementType> {
        let types = ElementType::ALL.iter().copied();
        types
            .into_iter()
            .find(|&ty| numpy_kind(ty) == Some(self.kind) && ty.storage_bytes() == self.item_bytes)
    }
}

/// Returns numpy's kind for a type, if numpy has the type.
fn numpy_kind(ty: ElementType) -> Option<char> {
    match ty.class() {
        Class::Pred => Some('b'),
        Class::Signed => (ty.bits() >= 8).then_some('i'),
        Class::Unsigned => (ty.bits() >= 8).then_some('u'),
        Class::Float => (ty.bits() >= 16 && ty != ElementType::Bf16).then_some('f'),
        Class::Complex => Some('c'),
    }
}

/// Writes arrays to an `.npz` file.
///
/// # Errors
/// If the file cannot be written, or a literal is not an array.
pub fn write<'a>(
    file: impl Write + Seek,
    arrays: impl IntoIterator<Item = (String, &'a Literal)>,
) -> Result<(), NpzError> {
    let mut archive = zip::ZipWriter::new(file);
    let written = write_entries(&mut archive, arrays);
    if written.is_err() {
        // Dropped, it would try to finish the archive, and print that this fails.
        std::mem::forget(archive);
        return written;
    }
    archive.finish()?;
    Ok(())
}

fn write_entries<'a>(
    archive: &mut zip::ZipWriter<impl Write + Seek>,
    arrays: impl IntoIterator<Item = (String, &'a Literal)>,
) -> Result<(), NpzError> {
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .large_file(true);
    for (name, literal) in arrays {
        let Some(shape) = literal.array_shape() else {
            return Err(NpzError::Array { name, message: "only arrays can be written".to_owned() });
        };
        archive.start_file(format!("{name}.npy"), options)?;
        archive.write_all(&npy_header(shape))?;
        archive.write_all(literal.bytes())?;
    }
    Ok(())
}

/// Writes an array as an `.npy` file.
///
/// # Errors
/// If the file cannot be written, or the literal is not an array.
pub fn write_array(mut file: impl Write, literal: &Literal) -> Result<(), NpzError> {
    let Some(shape) = literal.array_shape() else {
        let (name, message) = ("the value".to_owned(), "only arrays can be written".to_owned());
        return Err(NpzError::Array { name, message });
    };
    file.write_all(&npy_header(shape))?;
    file.write_all(literal.bytes())?;
    Ok(())
}

/// Returns the header of an `.npy` file.
fn npy_header(shape: &ArrayShape) -> Vec<u8> {
    let kind = numpy_kind(shape.ty).unwrap_or('u');
    let order = if shape.ty.storage_bytes() == 1 { '|' } else { '<' };
    let mut text = format!(
        "{{'descr': '{order}{kind}{}', 'fortran_order': False, 'shape': (",
        shape.ty.storage_bytes()
    );
    for dim in &shape.dims {
        let _ = write!(text, "{dim}, ");
    }
    text.push_str("), }");
    // Magic, version and length take 10 bytes; the whole is padded to a multiple of 64 and ends in a newline.
    let padded = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.push_str(&" ".repeat(padded - text.len() - 1));
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
    header.extend(text.as_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn round_trips() {
        let texts = [
            "f32[2,2] {{1, 2}, {3, -0}}",
            "bf16[3] {1, nan, -inf}",
            "s4[2] {-8, 7}",
            "pred[] true",
            "c64[1] {(1, 2)}",
            "u64[0] {}",
        ];
        let literals: Vec<Literal> = texts.iter().map(|t| t.parse().unwrap()).collect();
        let mut file = Cursor::new(Vec::new());
        write(&mut file, literals.iter().enumerate().map(|(i, l)| (format!("out{i}"), l))).unwrap();
        let arrays = read(file).unwrap();
        for ((array, literal), i) in arrays.iter().zip(&literals).zip(0..) {
            assert_eq!(array.name, format!("out{i}"));
            assert_eq!(&array.to_literal(literal.array_shape().unwrap()).unwrap(), literal);
        }
        let wrong: Literal = "f32[4] {1, 2, 3, 4}".parse().unwrap();
        assert!(arrays[0].to_literal(wrong.array_shape().unwrap()).is_err());
    }

    #[test]
    fn column_major_is_transposed() {
        assert_eq!(row_major(&[2, 3], 1, &[1, 4, 2, 5, 3, 6]), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn corrupt_files_are_errors() {
        assert!(read(Cursor::new(b"PK\x03\x04 nonsense".to_vec())).is_err());
        assert!(read(Cursor::new(Vec::new())).is_err());
        let good =
            [npy_header(&ArrayShape::new(ElementType::F32, Dims::from_slice(&[2]))), vec![0; 8]]
                .concat();
        assert!(read_array("a".to_owned(), good.as_slice()).is_ok());
        for cut in 0..good.len() {
            assert!(read_array("a".to_owned(), &good[..cut]).is_err(), "{cut}");
        }
        for at in 0..good.len() - 8 {
            let mut changed = good.clone();
            changed[at] ^= 0x11;
            // It must not panic.
            let _ = read_array("a".to_owned(), changed.as_slice());
        }
    }
}
