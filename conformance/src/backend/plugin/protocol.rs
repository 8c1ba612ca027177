//! The messages between a process and the child that runs a plugin.
//!
//! ```text
//! 4 bytes   "PJRT", which tells a message from text that a program prints
//! 8 bytes   the length of the rest, little-endian
//! the rest  a `Request` or a `Reply` in postcard's format
//! ```
use hlo::{Literal, Shape};
use pjrt::{OptionValue, Program};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{Error, ErrorKind, Read, Result, Write};

const MAGIC: &[u8; 4] = b"PJRT";

/// What the parent asks for.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// Load the plugin and create a client. The first request.
    Start { path: String, options: Vec<(String, OptionValue)> },
    /// Compile a program under a number.
    Compile { number: u64, program: Program },
    /// Execute a program.
    Execute { number: u64, arguments: Vec<Vec<Tensor>> },
    /// Forget a program. There is no reply.
    Release { number: u64 },
}

/// What the child replies.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// The platform and the number of devices of the client.
    Started { platform: String, devices: usize },
    /// The program is compiled.
    Compiled,
    /// The leaves of the result of each device.
    Results(Vec<Vec<Tensor>>),
    /// There is no result.
    Failed { unsupported: bool, message: String },
}

/// An array or a token: its shape as text, and its bytes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Tensor {
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
pub(super) fn tensors(lists: &[Vec<Literal>]) -> Vec<Vec<Tensor>> {
    lists.iter().map(|list| list.iter().map(Tensor::from).collect()).collect()
}

/// Converts lists of tensors.
pub(super) fn literals(lists: &[Vec<Tensor>]) -> Result<Vec<Vec<Literal>>> {
    let literal = |tensor: &Tensor| {
        tensor.literal().ok_or_else(|| malformed("its bytes do not fit its shape"))
    };
    lists.iter().map(|list| list.iter().map(literal).collect()).collect()
}

fn malformed(message: &str) -> Error {
    Error::new(ErrorKind::InvalidData, message)
}

/// Encodes a message with its length.
pub(super) fn encode(message: &impl Serialize) -> Result<Vec<u8>> {
    let header = [MAGIC.as_slice(), &[0; 8]].concat();
    let start = header.len();
    let mut bytes = postcard::to_extend(message, header).map_err(|e| malformed(&e.to_string()))?;
    let length = u64::try_from(bytes.len() - start).unwrap_or(u64::MAX);
    bytes[start - 8..start].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// Writes a message.
pub(super) fn write(to: &mut impl Write, message: &impl Serialize) -> Result<()> {
    to.write_all(&encode(message)?)?;
    to.flush()
}

/// Reads a message. The end of the stream before a message is `UnexpectedEof`, as is the end inside of one.
pub(super) fn read<M: DeserializeOwned>(from: &mut impl Read) -> Result<M> {
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
        write(&mut bytes, &Reply::Results(tensors(&sent))).unwrap();
        let Reply::Results(found) = read(&mut bytes.as_slice()).unwrap() else { panic!("results") };
        assert_eq!(literals(&found).unwrap(), sent);
    }

    #[test]
    fn malformed_messages_are_errors() {
        let mut whole =
            encode(&Reply::Failed { unsupported: true, message: "no".to_owned() }).unwrap();
        let kind = |mut bytes: &[u8]| read::<Reply>(&mut bytes).unwrap_err().kind();
        assert_eq!(kind(b""), ErrorKind::UnexpectedEof);
        assert_eq!(kind(b"starting up\n"), ErrorKind::InvalidData);
        for length in 0..whole.len() {
            assert_eq!(kind(&whole[..length]), ErrorKind::UnexpectedEof);
        }
        whole[12] = 77;
        assert_eq!(kind(&whole), ErrorKind::InvalidData);
        let tensor = Tensor { shape: "f32[2]".to_owned(), bytes: vec![0; 3] };
        assert!(literals(&[vec![tensor]]).is_err());
    }
}
