//! Messages between a process and its child.
//!
//! ```text
//! 4 bytes   "PJRT", which tells a message from text that a program prints
//! 8 bytes   the length of the rest, little-endian
//! the rest  a request or a reply in postcard's format
//! ```
use hlo::{Literal, Shape};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Error, ErrorKind, Read, Result, Write};

const MAGIC: &[u8; 4] = b"PJRT";

/// The form of messages.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wire {
    /// That of this page.
    Binary,
    /// Lines of JSON objects. Other lines of the child are output that is for nobody.
    Json,
}

impl Wire {
    pub(crate) fn encode(self, message: &impl Serialize) -> Result<Vec<u8>> {
        match self {
            Self::Binary => encode(message),
            Self::Json => {
                let mut line = serde_json::to_vec(message)?;
                line.push(b'\n');
                Ok(line)
            }
        }
    }
    pub(crate) fn read<M: DeserializeOwned>(self, from: &mut impl BufRead) -> Result<M> {
        match self {
            Self::Binary => read(from),
            Self::Json => read_line(from),
        }
    }
}

/// Reads the next line that is an object.
fn read_line<M: DeserializeOwned>(from: &mut impl BufRead) -> Result<M> {
    /// The longest line: results are in files.
    const MOST_BYTES: u64 = 1 << 20;
    loop {
        let mut line = Vec::new();
        let read = from.by_ref().take(MOST_BYTES).read_until(b'\n', &mut line)?;
        let Some(b'\n') = line.last() else {
            let is_long = u64::try_from(read) == Ok(MOST_BYTES);
            return Err(if is_long {
                malformed("the line is too long")
            } else {
                ErrorKind::UnexpectedEof.into()
            });
        };
        if line.trim_ascii_start().starts_with(b"{") {
            return serde_json::from_slice(&line).map_err(|e| {
                let line = String::from_utf8_lossy(line.trim_ascii());
                malformed(&format!("{e}, in the line {line}"))
            });
        }
    }
}

/// An array or a token: its shape as text, and its bytes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Tensor {
    shape: String,
    #[serde(with = "serde_bytes")]
    bytes: Vec<u8>,
}

impl From<&Literal> for Tensor {
    fn from(literal: &Literal) -> Self {
        Self { shape: format!("{:#}", literal.shape()), bytes: literal.bytes().to_vec() }
    }
}

impl Tensor {
    /// Returns the value; `None` if the bytes do not fit the shape.
    fn literal(&self) -> Option<Literal> {
        match self.shape.parse().ok()? {
            Shape::Array(shape) => Literal::from_bytes(shape, &self.bytes),
            Shape::Token => Some(Literal::token()),
            Shape::Tuple(_) | Shape::Opaque | Shape::Buffer(_) => None,
        }
    }
}

/// Converts lists of literals.
pub(crate) fn tensors(lists: &[Vec<Literal>]) -> Vec<Vec<Tensor>> {
    lists.iter().map(|list| list.iter().map(Tensor::from).collect()).collect()
}

/// Converts lists of tensors.
pub(crate) fn literals(lists: &[Vec<Tensor>]) -> Result<Vec<Vec<Literal>>> {
    let literal = |tensor: &Tensor| {
        tensor.literal().ok_or_else(|| malformed("its bytes do not fit its shape"))
    };
    lists.iter().map(|list| list.iter().map(literal).collect()).collect()
}

fn malformed(message: &str) -> Error {
    Error::new(ErrorKind::InvalidData, message)
}

/// Encodes a message with its length.
pub(crate) fn encode(message: &impl Serialize) -> Result<Vec<u8>> {
    let header = [MAGIC.as_slice(), &[0; 8]].concat();
    let start = header.len();
    let mut bytes = postcard::to_extend(message, header).map_err(|e| malformed(&e.to_string()))?;
    let length = u64::try_from(bytes.len() - start).unwrap_or(u64::MAX);
    bytes[start - 8..start].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// Writes a message.
pub(crate) fn write(to: &mut impl Write, message: &impl Serialize) -> Result<()> {
    to.write_all(&encode(message)?)?;
    to.flush()
}

/// Reads a message. The end of the stream before a message is `UnexpectedEof`, as is the end inside
/// of one.
pub(crate) fn read<M: DeserializeOwned>(from: &mut impl Read) -> Result<M> {
    let (mut magic, mut length) = ([0; 4], [0; 8]);
    from.read_exact(&mut magic)?;
    if magic != *MAGIC {
        return Err(malformed("a message was expected, found other output"));
    }
    from.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    let mut bytes = Vec::new();
    // The length may be wrong: memory is taken as the bytes come.
    let found = from.by_ref().take(length).read_to_end(&mut bytes)?;
    if u64::try_from(found) != Ok(length) {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    postcard::from_bytes(&bytes).map_err(|e| malformed(&e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_wire() {
        let literal: Literal = "s4[3] {-8, 0, 7}".parse().unwrap();
        let sent = vec![vec![literal, Literal::token()]];
        let mut bytes = Vec::new();
        write(&mut bytes, &tensors(&sent)).unwrap();
        let found: Vec<Vec<Tensor>> = read(&mut bytes.as_slice()).unwrap();
        assert_eq!(literals(&found).unwrap(), sent);
    }

    #[test]
    fn malformed_messages_are_errors() {
        let mut whole = encode(&(true, "no")).unwrap();
        let kind = |mut bytes: &[u8]| read::<(bool, String)>(&mut bytes).unwrap_err().kind();
        assert_eq!(kind(b""), ErrorKind::UnexpectedEof);
        assert_eq!(kind(b"starting up\n"), ErrorKind::InvalidData);
        for length in 0..whole.len() {
            assert_eq!(kind(&whole[..length]), ErrorKind::UnexpectedEof);
        }
        let line = |mut text: &[u8]| read_line::<(bool,)>(&mut text).map_err(|e| e.kind());
        assert_eq!(line(b"loading\n[true]\n"), Err(ErrorKind::UnexpectedEof));
        assert_eq!(line(b"{}\n"), Err(ErrorKind::InvalidData));
        assert_eq!(line(&vec![b'x'; 2 << 20]), Err(ErrorKind::InvalidData));
        whole[12] = 77;
        assert_eq!(kind(&whole), ErrorKind::InvalidData);
        let tensor = Tensor { shape: "f32[2]".to_owned(), bytes: vec![0; 3] };
        assert!(literals(&[vec![tensor]]).is_err());
    }
}
