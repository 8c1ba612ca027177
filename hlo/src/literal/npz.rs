//! Reading and writing of numpy's `.npz` files.
//!
//! Types that numpy lacks are stored as the unsigned integer of their width: `bf16` as `uint16`,
//! 8-bit floats and narrow integers as one `uint8` per element.
use crate::diag::quantity;
use crate::elem::Class;
use crate::{Array, ArrayShape, Dims, ElementType, IndexSpace, Literal};
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
    Zip(zip::result::ZipError),
    /// An array of the file cannot be used.
    #[error("array `{name}`: {message}")]
    Array {
        /// Its name in the file.
        name: String,
        /// The problem.
        message: String,
    },
}

impl From<zip::result::ZipError> for NpzError {
    fn from(error: zip::result::ZipError) -> Self {
        if let zip::result::ZipError::Io(error) = error {
            Self::Io(error)
        } else {
            Self::Zip(error)
        }
    }
}

/// An array as numpy wrote it: little-endian, row-major.
#[derive(Debug, Clone, PartialEq)]
pub struct NpyArray {
    /// Its name in the file.
    pub name: String,
    /// Sizes.
    pub dims: Dims,
    /// numpy's kind: `b`, `i`, `u`, `f`, `c`, `V`; a blank for an array that was [not
    /// read](read_some).
    pub kind: char,
    /// Bytes per element.
    pub item_bytes: usize,
    /// The element type, if it is known: numpy's types do not tell those that it lacks.
    pub ty: Option<ElementType>,
    /// The bytes of the elements.
    elements: Array,
}

/// Reads all arrays of an `.npz` file, in the order of the file.
///
/// # Errors
/// If it is not an `.npz` file, or an array is not numeric.
pub fn read(file: impl Read + Seek) -> Result<Vec<NpyArray>, NpzError> {
    read_some(file, |_| Some(usize::MAX))
}

/// Reads the arrays of an `.npz` file for which `most` returns the most bytes that their elements
/// may have, in the order of the file. The others are not decompressed: they have no elements and
/// the kind ` `.
///
/// # Errors
/// As [`read`], and if an array has more elements: those are not read.
pub fn read_some(
    file: impl Read + Seek,
    most: impl Fn(&str) -> Option<usize>,
) -> Result<Vec<NpyArray>, NpzError> {
    let mut archive = zip::ZipArchive::new(file)?;
    let mut arrays = Vec::new();
    for i in 0..archive.len() {
        let entry = archive.by_index_raw(i)?;
        let name = entry.name()?.trim_end_matches(".npy").to_owned();
        drop(entry);
        arrays.push(match most(&name) {
            Some(most) => {
                let entry = archive.by_index(i)?;
                let stated = usize::try_from(entry.size()).unwrap_or(usize::MAX);
                read_up_to(name, entry, most.min(stated))?
            }
            None => NpyArray::unread(name),
        });
    }
    Ok(arrays)
}

/// Reads a single `.npy` file.
///
/// # Errors
/// As [`read`].
pub fn read_array(name: String, file: impl Read) -> Result<NpyArray, NpzError> {
    read_up_to(name, file, usize::MAX)
}

/// Reads a single `.npy` file whose elements may have `most` bytes.
///
/// # Errors
/// As [`read`], and if there are more: those are not read.
pub fn read_up_to(name: String, mut file: impl Read, most: usize) -> Result<NpyArray, NpzError> {
    let wrong = |message: String| NpzError::Array { name: name.clone(), message };
    let text = header_text(&mut file)?.map_err(|message| wrong(message.to_owned()))?;
    let header = Header::parse(&text).map_err(|message| wrong(message.to_owned()))?;
    let Header { kind, item_bytes, big_endian, column_major, dims } = header;
    let count = dims.iter().try_fold(item_bytes, |n, &d| n.checked_mul(usize::try_from(d).ok()?));
    let count = count.ok_or_else(|| wrong("its sizes are too large".to_owned()))?;
    if count > most {
        let sizes = dims.as_slice();
        let ty = match of_numpy(kind, item_bytes) {
            Some(ty) => ty.to_string(),
            None => format!("numpy's type {kind}{item_bytes}"),
        };
        return Err(wrong(format!(
            "it has sizes {sizes:?} of {ty}, that is {}; at most {most} bytes are expected",
            quantity(count, "byte")
        )));
    }
    let mut elements = read_elements(&mut file, count)?.map_err(|found| {
        wrong(format!("the header states {} of data, found {found}", quantity(count, "byte")))
    })?;
    // An entry compares its checksum where it ends.
    std::io::copy(&mut file.take(1), &mut std::io::sink())?;
    let part = if kind == 'c' { item_bytes / 2 } else { item_bytes };
    if big_endian && part > 1 {
        elements.bytes_mut().chunks_exact_mut(part).for_each(<[u8]>::reverse);
    }
    if column_major {
        elements = row_major(&dims, item_bytes, &elements);
    }
    Ok(NpyArray { name, dims, kind, item_bytes, ty: None, elements })
}

/// Returns an array of bytes.
fn bytes_of(count: usize) -> Array {
    let count = i64::try_from(count).expect("the array fits the memory");
    Array::zeros(ArrayShape::new(ElementType::U8, [count].as_slice()))
}

/// Reads `count` bytes into the memory of an array. The inner error is the number of bytes, if
/// there are fewer.
fn read_elements(file: &mut impl Read, count: usize) -> std::io::Result<Result<Array, usize>> {
    let mut start = Vec::new();
    let probed = count.min(PROBED);
    file.by_ref().take(u64::try_from(probed).unwrap_or(u64::MAX)).read_to_end(&mut start)?;
    if start.len() < probed {
        return Ok(Err(start.len()));
    }
    // A failed allocation would end the process.
    if Vec::<u8>::new().try_reserve_exact(count).is_err() {
        let message =
            format!("it takes {}, more than the system can allocate", quantity(count, "byte"));
        return Err(std::io::Error::new(std::io::ErrorKind::OutOfMemory, message));
    }
    let mut elements = bytes_of(count);
    let (read, rest) = elements.bytes_mut().split_at_mut(probed);
    read.copy_from_slice(&start);
    let missing = fill(file, rest)?;
    Ok(if missing == 0 { Ok(elements) } else { Err(count - missing) })
}

/// Reads until the buffer is full or the file ends; returns the number of bytes that are missing.
fn fill(file: &mut impl Read, mut buffer: &mut [u8]) -> std::io::Result<usize> {
    while !buffer.is_empty() {
        match file.read(buffer) {
            Ok(0) => break,
            Ok(count) => buffer = &mut buffer[count..],
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(buffer.len())
}

/// The bytes that are read before memory for all is allocated: a header may state more than a file
/// has.
const PROBED: usize = 1 << 20;
/// The most bytes of the text of a header: numpy writes about a hundred.
const HEADER_BYTES: usize = 1 << 16;

/// Reads the text of the header of an `.npy` file.
fn header_text(file: &mut impl Read) -> std::io::Result<Result<String, &'static str>> {
    let mut read = |count: usize| {
        let mut bytes = Vec::new();
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        file.by_ref().take(count).read_to_end(&mut bytes).map(|_| bytes)
    };
    let start = read(8)?;
    let Some(&version) = start.strip_prefix(b"\x93NUMPY").and_then(|rest| rest.first()) else {
        return Ok(Err(NO_FILE));
    };
    // The first version stores the length in 2 bytes, later ones in 4.
    let length = read(if version == 1 { 2 } else { 4 })?;
    let length = match *length.as_slice() {
        [a, b] => usize::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] => usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX),
        _ => return Ok(Err(NO_FILE)),
    };
    if length > HEADER_BYTES {
        return Ok(Err(NO_FILE));
    }
    let text = read(length)?;
    if text.len() < length {
        return Ok(Err("the file ends inside its header"));
    }
    Ok(String::from_utf8(text).map_err(|_| NO_FILE))
}

const NO_FILE: &str = "not an .npy file";

/// The header of an `.npy` file.
///
/// Parsed by hand: the header is a line of Python, of which numpy writes three entries, and a file
/// may contain arbitrary data. A library that parses Python literals follows nesting and allocates
/// sizes that a damaged file contains.
struct Header {
    kind: char,
    item_bytes: usize,
    big_endian: bool,
    column_major: bool,
    dims: Dims,
}

impl Header {
    fn parse(text: &str) -> Result<Self, &'static str> {
        let after = |key: &str| {
            let (_, rest) = text.split_once(key)?;
            rest.trim_start().strip_prefix(':').map(str::trim_start)
        };
        let descr = after("'descr'").and_then(|rest| rest.strip_prefix('\'')?.split_once('\''));
        let (descr, _) = descr.ok_or("structured arrays are not supported")?;
        // Types that numpy knows from other packages have no order: `f1`, `V1`.
        let (order, letters) = match descr.chars().next() {
            Some(order @ ('<' | '>' | '|' | '=')) => (order, &descr[1..]),
            Some(_) | None => ('|', descr),
        };
        let kind = letters.chars().next().unwrap_or('?');
        if !"biufcV".contains(kind) {
            return Err("its element type is not numeric");
        }
        let item_bytes = letters[1..].parse().map_err(|_| "its element type is not numeric")?;
        let column_major = after("'fortran_order'").ok_or(NO_FILE)?.starts_with("True");
        let shape = after("'shape'").and_then(|rest| rest.strip_prefix('(')?.split_once(')'));
        let (shape, _) = shape.ok_or(NO_FILE)?;
        let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
        let dims = sizes.map(|size| size.parse::<u32>().map(i64::from)).collect::<Result<_, _>>();
        let dims = dims.map_err(|_| "its sizes are too large")?;
        Ok(Self { kind, item_bytes, big_endian: order == '>', column_major, dims })
    }
}

/// Converts column-major elements to row-major order.
fn row_major(dims: &[i64], width: usize, from: &Array) -> Array {
    let mut strides = dims.iter().rev().copied().collect::<Dims>().strides();
    strides.reverse();
    let (mut to, from) = (bytes_of(from.bytes().len()), from.bytes());
    let mut elements = to.bytes_mut().chunks_exact_mut(width.max(1));
    dims.offsets(0, &strides, |at| {
        let at = usize::try_from(at).unwrap_or(0) * width;
        if let Some(element) = elements.next() {
            element.copy_from_slice(&from[at..at + width]);
        }
    });
    to
}

impl NpyArray {
    /// Returns an array that was not read, of which only the name is known.
    pub fn unread(name: String) -> Self {
        let dims = Dims::new();
        Self { name, dims, kind: ' ', item_bytes: 0, ty: None, elements: bytes_of(0) }
    }
    fn new(name: String, ty: ElementType, dims: Dims, elements: Array) -> Self {
        let kind = numpy_kind(ty).unwrap_or('u');
        Self { name, dims, kind, item_bytes: ty.storage_bytes(), ty: Some(ty), elements }
    }
    /// Reads the elements of an array, which are row-major and little-endian.
    ///
    /// # Errors
    /// If there are too few, or the file cannot be read.
    pub fn read(
        name: String,
        ty: ElementType,
        dims: Dims,
        file: &mut impl Read,
    ) -> Result<Self, NpzError> {
        let wrong = |message: String| NpzError::Array { name: name.clone(), message };
        let count = ArrayShape::new(ty, dims.clone()).byte_count();
        let count = count.ok_or_else(|| wrong("its sizes are too large".to_owned()))?;
        let elements = read_elements(file, count)?
            .map_err(|found| wrong(format!("the file ends after {found} of {count} bytes")))?;
        Ok(Self::new(name, ty, dims, elements))
    }
    /// Returns the bytes of the elements.
    pub fn bytes(&self) -> &[u8] {
        self.elements.bytes()
    }
    /// Returns the elements of a literal; `None` if it is no array.
    pub fn of_literal(name: String, literal: &Literal) -> Option<Self> {
        let (array, shape) = (literal.array()?, literal.array_shape()?);
        let count = i64::try_from(array.bytes().len()).ok()?;
        let bytes = ArrayShape::new(ElementType::U8, [count].as_slice());
        Some(Self::new(name, shape.ty, shape.dims.clone(), array.with_shape(bytes)))
    }
    /// Returns the array as a literal of this shape, which shares its memory: the sizes must agree,
    /// and the type must be numpy's for it, or an unsigned or raw type of the same width.
    ///
    /// numpy writes arrays of the types of `ml_dtypes` as raw bytes (`V1`, `V2`, also with an
    /// order: `<V1`), and some of their 8-bit floats as `f1`. The file does not say which type it
    /// was, so each is accepted for every type of that width: `bf16`, the 8-bit floats, and the
    /// types of fewer than 8 bits, of which each element is a byte.
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
            // Bits, of a type that numpy lacks.
            (_, 'V') | (None, 'u') => true,
            (None, 'f') => shape.ty.is_float() && self.item_bytes == 1,
            // A signed byte holds a narrow signed integer as is.
            (None, 'i') => shape.ty.class() == Class::Signed,
            (expected, found) => expected == Some(found),
        };
        if self.kind == ' ' {
            return Err(wrong("it was not read".to_owned()));
        }
        if let Some(ty) = self.ty.filter(|&ty| ty != shape.ty) {
            return Err(wrong(format!("its type is {ty}, expected {shape:#}")));
        }
        if self.item_bytes != width || !kind_fits {
            return Err(wrong(match self.natural_type() {
                Some(ty) => format!("its type is {ty}, expected {shape:#}"),
                None => {
                    let found = format!("{}{}", self.kind, self.item_bytes);
                    format!("its type is numpy's {found}, expected {shape:#}")
                }
            }));
        }
        let shape = ArrayShape { dims: self.dims.clone(), dynamic: None, ..shape.clone() };
        match shape.byte_count() {
            Some(bytes) if bytes == self.bytes().len() => {
                Ok(self.elements.with_shape(shape).into())
            }
            Some(_) | None => Err(wrong("its data does not fit its sizes".to_owned())),
        }
    }
    /// Returns the element type, if it is known, or that of numpy's type, if there is one.
    pub fn natural_type(&self) -> Option<ElementType> {
        self.ty.or_else(|| of_numpy(self.kind, self.item_bytes))
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
    let mut writer = Writer::new(file);
    for (name, literal) in arrays {
        writer.add(name, literal)?;
    }
    writer.finish().map(drop)
}

/// An `.npz` file to which arrays are added one after another.
pub struct Writer<W: Write + Seek>(Option<zip::ZipWriter<W>>);

impl<W: Write + Seek> Writer<W> {
    /// Starts a file.
    pub fn new(file: W) -> Self {
        Self(Some(zip::ZipWriter::new(file)))
    }
    /// Adds an array.
    ///
    /// # Errors
    /// If the file cannot be written, now or earlier, or the literal is not an array.
    pub fn add(&mut self, name: String, literal: &Literal) -> Result<(), NpzError> {
        let archive = self.0.as_mut().ok_or_else(ended)?;
        write_entry(archive, name, literal)
    }
    /// Writes the end of the file, and returns it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self) -> Result<W, NpzError> {
        let mut file = self.0.take().ok_or_else(ended)?.finish()?;
        // A writer with a buffer that is dropped loses its errors.
        file.flush()?;
        Ok(file)
    }
}

impl<W: Write + Seek> Drop for Writer<W> {
    fn drop(&mut self) {
        // Dropped, an archive without its end would try to write that, and print that this fails.
        std::mem::forget(self.0.take());
    }
}

fn ended() -> NpzError {
    NpzError::Io(std::io::Error::other("the file has ended"))
}

fn write_entry(
    archive: &mut zip::ZipWriter<impl Write + Seek>,
    name: String,
    literal: &Literal,
) -> Result<(), NpzError> {
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .large_file(true);
    let Some(shape) = literal.array_shape() else {
        return Err(NpzError::Array { name, message: "only arrays can be written".to_owned() });
    };
    archive.start_file(format!("{name}.npy"), options)?;
    archive.write_all(&npy_header(shape))?;
    archive.write_all(literal.bytes())?;
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
    // A writer with a buffer that is dropped loses its errors.
    file.flush()?;
    Ok(())
}

/// Returns the element type that is numpy's type of this kind and width, if there is one.
fn of_numpy(kind: char, bytes: usize) -> Option<ElementType> {
    let mut types = ElementType::ALL.iter().copied();
    types.find(|&ty| numpy_kind(ty) == Some(kind) && ty.storage_bytes() == bytes)
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
    // Magic, version and length take 10 bytes; the whole is padded to a multiple of 64 and ends in
    // a newline.
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
        let columns = Array::from_slice(&[6], &[1u8, 4, 2, 5, 3, 6]);
        assert_eq!(row_major(&[2, 3], 1, &columns).bytes(), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn what_is_not_wanted_is_not_read() {
        let (small, large) = (Literal::from_slice(&[2], &[1i32, 2]), vec![0u8; 1 << 20]);
        let large = Literal::from_slice(&[1 << 20], &large);
        let mut file = Cursor::new(Vec::new());
        write(&mut file, [("in0".to_owned(), &small), ("in1".to_owned(), &large)]).unwrap();
        let bytes = file.into_inner();
        let most = |limit| move |name: &str| (name == "in0").then_some(limit);
        let found = read_some(Cursor::new(&bytes), most(8)).unwrap();
        assert_eq!(found[0].to_literal(small.array_shape().unwrap()).unwrap(), small);
        assert_eq!(
            (found[1].name.as_str(), found[1].kind, found[1].bytes().len()),
            ("in1", ' ', 0)
        );
        assert!(found[1].to_literal(large.array_shape().unwrap()).is_err());
        let error = read_some(Cursor::new(&bytes), most(7)).unwrap_err().to_string();
        assert!(error.contains("8 bytes; at most 7"), "{error}");
        // The data of an array that is not read may be damaged.
        let mut damaged = bytes.clone();
        damaged[bytes.len() / 2] ^= 0xff;
        assert!(read(Cursor::new(&damaged)).is_err());
        assert!(read_some(Cursor::new(&damaged), most(8)).is_ok());
    }

    /// Returns a header with this type and one size, before `data`.
    fn npy(descr: &str, size: &str, data: &[u8]) -> Vec<u8> {
        let text =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({size},), }}\n");
        let length = u16::try_from(text.len()).unwrap().to_le_bytes();
        [b"\x93NUMPY\x01\x00".as_slice(), &length, text.as_bytes(), data].concat()
    }

    #[test]
    fn types_of_other_packages_are_taken_by_width() {
        let shape = |ty| ArrayShape::new(ty, [2].as_slice());
        for (descr, ty, data) in [
            ("f1", ElementType::F8E5M2, &[1, 2][..]),
            ("<f1", ElementType::F8E4M3Fn, &[1, 2]),
            ("<V1", ElementType::F8E5M2, &[1, 2]),
            ("|V1", ElementType::S4, &[1, 2]),
            ("V1", ElementType::F4E2M1Fn, &[1, 2]),
            ("<V2", ElementType::Bf16, &[1, 2, 3, 4]),
            ("|V2", ElementType::Bf16, &[1, 2, 3, 4]),
        ] {
            let array = read_array("a".to_owned(), npy(descr, "2", data).as_slice()).unwrap();
            let literal = array.to_literal(&shape(ty)).unwrap();
            assert_eq!(literal.bytes(), data, "{descr}");
            assert!(array.to_literal(&shape(ElementType::F32)).is_err(), "{descr}");
        }
        let half = read_array("a".to_owned(), npy("<f2", "2", &[0; 4]).as_slice()).unwrap();
        assert!(half.to_literal(&shape(ElementType::Bf16)).is_err());
        let half = read_array("a".to_owned(), npy("<f2", "2", &[0; 4]).as_slice()).unwrap();
        assert!(half.to_literal(&shape(ElementType::F16)).is_ok());
        let one = read_array("a".to_owned(), npy("f1", "2", &[0; 2]).as_slice()).unwrap();
        assert!(one.to_literal(&shape(ElementType::S8)).is_err());
    }

    #[test]
    fn stated_sizes_take_no_memory() {
        let huge = npy("<f4", "4294967295", &[0; 64]);
        let error = read_array("a".to_owned(), huge.as_slice()).unwrap_err().to_string();
        assert!(error.contains("found 64"), "{error}");
        let error = read_up_to("a".to_owned(), huge.as_slice(), 8).unwrap_err().to_string();
        assert!(error.contains("at most 8 bytes"), "{error}");
        // A file without an end.
        assert!(read_array("a".to_owned(), std::io::repeat(0)).is_err());
        let endless = npy("|u1", "2", &[1, 2]);
        let endless = endless.as_slice().chain(std::io::repeat(0));
        assert_eq!(read_array("a".to_owned(), endless).unwrap().bytes(), [1, 2]);
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
