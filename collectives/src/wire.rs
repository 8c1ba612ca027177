//! The encoding of messages between ranks: an envelope, followed by the raw bytes of its arrays.
//!
//! ```text
//! 8 bytes   length of the envelope, little-endian
//! envelope  a `RankReport` in postcard's format; with the shape of each value as text
//! the rest  the arrays of all values, in order
//! ```
//! The encoding is specific to a build: ranks compare their versions first. A malformed message is an error.
use crate::Error;
use crate::rank_exchange::Stage;
use hlo::{ArrayShape, Literal, Shape};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The reason why bytes cannot be decoded.
pub(crate) type DecodeError = String;

/// The report of a rank after a round of steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RankReport<V> {
    /// The number of earlier messages, which must be the same on all ranks.
    pub(crate) round: u64,
    /// The error of the sender while it handled the last round, and the stage.
    pub(crate) failure: Option<(Stage, Error)>,
    /// The step of each of its tasks.
    pub(crate) steps: Vec<(usize, Result<StepReport<V>, Error>)>,
}

/// The step of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum StepReport<V> {
    /// The task finished; with the result if other ranks need it.
    Finished(Option<V>),
    /// The task is suspended.
    Suspended(SuspensionReport<V>),
}

/// The instruction at which a task is suspended. Computations and instructions are identified by their indices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SuspensionReport<V> {
    pub(crate) computation: usize,
    pub(crate) instruction: usize,
    pub(crate) depth: usize,
    /// Computation, instruction and loop iterations of each active computation, the outermost first.
    pub(crate) trail: Vec<(usize, usize, u64)>,
    /// The started operation that is the first operand.
    pub(crate) async_id: Option<u64>,
    /// The operands, if other ranks need them.
    pub(crate) operands: Option<Vec<V>>,
}

/// A value without its bytes: its shape as text, and the sizes of arrays with dynamic dimensions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ValueHeader {
    shape: String,
    sizes: Vec<Option<Vec<i64>>>,
}

impl<V> RankReport<V> {
    /// Converts the values of the report.
    fn map<W>(
        self,
        mut f: impl FnMut(V) -> Result<W, DecodeError>,
    ) -> Result<RankReport<W>, DecodeError> {
        let Self { round, failure, steps } = self;
        let mut mapped = Vec::with_capacity(steps.len());
        for (task, step) in steps {
            let step = match step {
                Ok(report) => Ok(report.map(&mut f)?),
                Err(error) => Err(error),
            };
            mapped.push((task, step));
        }
        Ok(RankReport { round, failure, steps: mapped })
    }
}

impl<V> StepReport<V> {
    fn map<W>(
        self,
        mut f: impl FnMut(V) -> Result<W, DecodeError>,
    ) -> Result<StepReport<W>, DecodeError> {
        Ok(match self {
            Self::Finished(value) => StepReport::Finished(value.map(f).transpose()?),
            Self::Suspended(SuspensionReport {
                computation,
                instruction,
                depth,
                trail,
                async_id,
                operands,
            }) => {
                let operands = match operands {
                    Some(values) => Some(values.into_iter().map(&mut f).collect::<Result<_, _>>()?),
                    None => None,
                };
                StepReport::Suspended(SuspensionReport {
                    computation,
                    instruction,
                    depth,
                    trail,
                    async_id,
                    operands,
                })
            }
        })
    }
}

/// Encodes a report.
pub(crate) fn encode(message: RankReport<Literal>) -> Result<Vec<u8>, DecodeError> {
    let mut values = Vec::new();
    let message = message.map(|value| {
        let head = ValueHeader::of(&value);
        values.push(value);
        Ok(head)
    })?;
    pack(&message, &values)
}
/// Decodes a report from exactly its bytes.
pub(crate) fn decode(bytes: &[u8]) -> Result<RankReport<Literal>, DecodeError> {
    let (message, mut arrays): (RankReport<ValueHeader>, _) = unpack(bytes)?;
    let message = message.map(|head| head.value(&mut arrays))?;
    check_end(arrays).map(|()| message)
}

/// Encodes values.
pub(crate) fn encode_values(values: &[Literal]) -> Result<Vec<u8>, DecodeError> {
    pack(&values.iter().map(ValueHeader::of).collect::<Vec<_>>(), values)
}
/// Decodes values.
pub(crate) fn decode_values(bytes: &[u8]) -> Result<Vec<Literal>, DecodeError> {
    let (heads, mut arrays): (Vec<ValueHeader>, _) = unpack(bytes)?;
    let values = heads.into_iter().map(|head| head.value(&mut arrays)).collect::<Result<_, _>>()?;
    check_end(arrays).map(|()| values)
}

/// The size of the length prefix.
const PREFIX: usize = size_of::<u64>();

fn pack(message: &impl Serialize, values: &[Literal]) -> Result<Vec<u8>, DecodeError> {
    let envelope = encode_envelope(message)?;
    let length = u64::try_from(envelope.len()).map_err(|e| e.to_string())?;
    let arrays = || values.iter().flat_map(Literal::leaves).map(Literal::bytes);
    let all = PREFIX + envelope.len() + arrays().map(<[u8]>::len).sum::<usize>();
    let mut bytes = Vec::with_capacity(all);
    bytes.extend(length.to_le_bytes());
    bytes.extend(envelope);
    arrays().for_each(|array| bytes.extend_from_slice(array));
    Ok(bytes)
}
fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), DecodeError> {
    let short = || format!("{} bytes are too few", bytes.len());
    let (length, rest) = bytes.split_first_chunk::<PREFIX>().ok_or_else(short)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|e| e.to_string())?;
    let (envelope, arrays) = rest.split_at_checked(length).ok_or_else(short)?;
    Ok((decode_envelope(envelope)?, arrays))
}
fn check_end(rest: &[u8]) -> Result<(), DecodeError> {
    match rest.len() {
        0 => Ok(()),
        left => Err(format!("{left} bytes are left over")),
    }
}

/// Encodes an envelope.
pub(crate) fn encode_envelope(value: &impl Serialize) -> Result<Vec<u8>, DecodeError> {
    postcard::to_stdvec(value).map_err(|e| e.to_string())
}
/// Decodes an envelope from the first of these bytes, and returns the others.
pub(crate) fn decode_envelope_prefix<T: DeserializeOwned>(
    bytes: &[u8],
) -> Result<(T, &[u8]), DecodeError> {
    postcard::take_from_bytes(bytes).map_err(|e| e.to_string())
}
/// Decodes an envelope from all of these bytes.
pub(crate) fn decode_envelope<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DecodeError> {
    let (value, rest) = decode_envelope_prefix(bytes)?;
    check_end(rest).map(|()| value)
}

impl ValueHeader {
    fn of(value: &Literal) -> Self {
        let sizes = |array: &Literal| array.dynamic_sizes().map(<[i64]>::to_vec);
        let sizes = value.leaves().into_iter().map(sizes).collect();
        Self { shape: value.shape().to_string(), sizes }
    }
    /// Decodes the value, and removes the bytes of its arrays from `arrays`.
    fn value(self, arrays: &mut &[u8]) -> Result<Literal, DecodeError> {
        let shape: Shape = self.shape.parse().map_err(|e: hlo::Error| e.to_string())?;
        let mut sizes = self.sizes.into_iter();
        let value = value(&shape, &mut sizes, arrays)?;
        match sizes.next() {
            None => Ok(value),
            Some(_) => Err(format!("there are more sizes than arrays in {shape}")),
        }
    }
}

fn value(
    shape: &Shape,
    sizes: &mut impl Iterator<Item = Option<Vec<i64>>>,
    arrays: &mut &[u8],
) -> Result<Literal, DecodeError> {
    let elements = match shape {
        Shape::Tuple(elements) => elements,
        leaf => {
            let sizes = sizes.next().ok_or_else(|| format!("sizes of {leaf} are missing"))?;
            return match (leaf, sizes) {
                (Shape::Array(shape), sizes) => array(shape, sizes, arrays),
                (Shape::Token, None) => Ok(Literal::token()),
                _ => Err(format!("{leaf} has no values")),
            };
        }
    };
    // The parser of shapes limits the depth.
    let elements: Result<_, _> = elements.iter().map(|s| value(s, sizes, arrays)).collect();
    elements.map(Literal::tuple)
}

fn array(
    shape: &ArrayShape,
    sizes: Option<Vec<i64>>,
    arrays: &mut &[u8],
) -> Result<Literal, DecodeError> {
    // Checked before anything is allocated.
    let found = shape.byte_count().and_then(|count| arrays.split_at_checked(count));
    let (bytes, rest) = found.ok_or_else(|| format!("bytes of {shape} are missing"))?;
    *arrays = rest;
    let literal = Literal::from_bytes(shape.clone(), bytes);
    let literal = literal.ok_or_else(|| format!("{shape} has other bytes"))?;
    let Some(sizes) = sizes else { return Ok(literal) };
    let within = |(size, bound): (&i64, &i64)| (0..=*bound).contains(size);
    if sizes.len() != shape.rank() || !sizes.iter().zip(&shape.dims).all(within) {
        return Err(format!("sizes {sizes:?} do not fit in {shape}"));
    }
    Ok(literal.with_sizes(&sizes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;
    use proptest::prelude::*;

    fn literal(text: &str) -> Literal {
        text.parse().unwrap()
    }
    fn message(operands: Vec<Literal>) -> RankReport<Literal> {
        let error = Error::from(Code::Groups { message: "two".to_owned() }).with_help("one");
        let suspension = SuspensionReport {
            computation: 1,
            instruction: 300,
            depth: 2,
            trail: vec![(0, 7, 3), (1, 300, 0)],
            async_id: Some(9),
            operands: Some(operands),
        };
        let steps = vec![
            (0, Ok(StepReport::Suspended(suspension))),
            (1, Ok(StepReport::Finished(None))),
            (2, Err(error.clone())),
            (3, Ok(StepReport::Finished(Some(literal("u8[3] {1, 2, 3}"))))),
        ];
        RankReport { round: 70_000, failure: Some((Stage::Group(5), error)), steps }
    }
    fn values() -> Vec<Literal> {
        [
            "f32[2,2]{0,1} {{1, -0}, {nan, inf}}",
            "s4[3] {-8, 7, 0}",
            "pred[] true",
            "c64[1] {(1, -2)}",
            "bf16[0,5] {}",
            "( s32[] 1, ( f64[1] {0.1}, u64[] 18446744073709551615 ), () )",
        ]
        .map(literal)
        .into_iter()
        .chain([
            Literal::tuple(vec![literal("s8[1] {3}"), Literal::token()]),
            Literal::from_slice(&[2, 2], &[1_i32, 2, 3, 4]).with_sizes(&[2, 1]),
        ])
        .collect()
    }
    /// Returns types, layouts, sizes and bits, some of which the comparison of literals ignores.
    fn all(value: &Literal) -> Vec<(String, Option<Vec<i64>>, Vec<u8>)> {
        let leaf = |leaf: &Literal| {
            let sizes = leaf.dynamic_sizes().map(<[i64]>::to_vec);
            (leaf.shape().to_string(), sizes, leaf.bytes().to_vec())
        };
        value.leaves().into_iter().map(leaf).collect()
    }

    #[test]
    fn decoding_inverts_encoding() {
        let sent = message(values());
        let arrived = decode(&encode(sent.clone()).unwrap()).unwrap();
        assert_eq!(arrived, sent);
        let Ok(StepReport::Suspended(SuspensionReport { operands: Some(operands), .. })) =
            &arrived.steps[0].1
        else {
            panic!("{arrived:?}")
        };
        for (arrived, sent) in operands.iter().zip(values()) {
            assert_eq!(arrived.shape().to_string(), sent.shape().to_string());
            assert_eq!(all(arrived), all(&sent));
        }
    }

    #[test]
    fn arrays_are_encoded_as_raw_bytes() {
        let steps = vec![(0, Ok(StepReport::Finished(Some(literal("u16[2] {258, 3}")))))];
        let bytes = encode(RankReport { round: 0, failure: None, steps }).unwrap();
        assert_eq!(bytes[bytes.len() - 4..], [2, 1, 3, 0]);
    }

    #[test]
    fn truncated_and_longer_messages_are_errors() {
        let bytes = encode(message(values())).unwrap();
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_err(), "{length} bytes");
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert_eq!(decode(&longer), Err("1 bytes are left over".to_owned()));
    }

    #[test]
    fn wrong_shapes_are_errors() {
        for (shape, sizes, expected) in [
            ("f32[4611686018427387904]", vec![None], "bytes of f32[4611686018427387904]"),
            ("f32[1099511627776,1099511627776]", vec![None], "bytes of"),
            ("f32[2", vec![None], "error["),
            ("(f32[], f32[])", vec![None], "sizes of f32[] are missing"),
            ("f32[]", vec![None, None], "more sizes than arrays"),
            ("f32[2]", vec![Some(vec![3])], "sizes [3] do not fit in f32[2]"),
            ("f32[2]", vec![Some(vec![-1])], "sizes [-1] do not fit in f32[2]"),
            ("f32[2]", vec![Some(vec![1, 1])], "sizes [1, 1] do not fit in f32[2]"),
            ("token[]", vec![Some(vec![])], "has no values"),
            ("opaque[]", vec![None], "has no values"),
        ] {
            let head = ValueHeader { shape: shape.to_owned(), sizes };
            let error = head.value(&mut [0; 8].as_slice()).unwrap_err();
            assert!(error.contains(expected), "{shape}: {error}");
        }
    }

    proptest! {
        #[test]
        fn changed_bytes_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
            let mut bytes = encode(message(values())).unwrap();
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let _ = decode(&bytes);
        }
        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes);
        }
    }
}
