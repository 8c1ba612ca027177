//! What ranks send each other, as bytes: an envelope, and after it the bytes of its arrays as they are.
//!
//! ```text
//! 8 bytes   length of the envelope, little-endian
//! envelope  a `Message` in postcard's format; of each value its shape as text
//! the rest  the arrays of all values, in order
//! ```
//! The form is that of one build: ranks compare their versions before anything else. What arrives damaged is an error.
use crate::Error;
use crate::share::Stage;
use hlo::{ArrayShape, Literal, Shape};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What bytes could not be read as, in words.
pub(crate) type Damage = String;

/// What a rank tells the others after its strands were stepped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Message<V> {
    /// How many messages came before: ranks that count differently have lost each other.
    pub(crate) round: u64,
    /// Why the sender could not answer what it had heard of in the round before, and how far it came.
    pub(crate) failure: Option<(Stage, Error)>,
    /// What each of its strands came to.
    pub(crate) steps: Vec<(usize, Result<Came<V>, Error>)>,
}

/// What a strand came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Came<V> {
    /// It has ended; the result is there if others need it.
    Done(Option<V>),
    /// It stands at an op.
    Wait(Stand<V>),
}

/// An op that a strand stands at. Computations and instructions go by their numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stand<V> {
    pub(crate) computation: usize,
    pub(crate) instruction: usize,
    pub(crate) depth: usize,
    /// Where it stands: computation, instruction and rounds of each open computation, the outermost first.
    pub(crate) trail: Vec<(usize, usize, u64)>,
    /// The operands' values, if others need them.
    pub(crate) operands: Option<Vec<V>>,
}

/// A value without its bytes: its shape as text, and of each array in it the sizes that count where they are smaller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    shape: String,
    sizes: Vec<Option<Vec<i64>>>,
}

impl<V> Message<V> {
    /// The same message with other values.
    fn map<W>(self, mut f: impl FnMut(V) -> Result<W, Damage>) -> Result<Message<W>, Damage> {
        let Self { round, failure, steps } = self;
        let mut mapped = Vec::with_capacity(steps.len());
        for (strand, step) in steps {
            let step = match step {
                Ok(came) => Ok(came.map(&mut f)?),
                Err(error) => Err(error),
            };
            mapped.push((strand, step));
        }
        Ok(Message { round, failure, steps: mapped })
    }
}

impl<V> Came<V> {
    fn map<W>(self, mut f: impl FnMut(V) -> Result<W, Damage>) -> Result<Came<W>, Damage> {
        Ok(match self {
            Self::Done(value) => Came::Done(value.map(f).transpose()?),
            Self::Wait(Stand { computation, instruction, depth, trail, operands }) => {
                let operands = match operands {
                    Some(values) => Some(values.into_iter().map(&mut f).collect::<Result<_, _>>()?),
                    None => None,
                };
                Came::Wait(Stand { computation, instruction, depth, trail, operands })
            }
        })
    }
}

/// A message as bytes.
pub(crate) fn encode(message: Message<Literal>) -> Result<Vec<u8>, Damage> {
    let mut values = Vec::new();
    let message = message.map(|value| {
        let head = Head::of(&value);
        values.push(value);
        Ok(head)
    })?;
    packed(&message, &values)
}
/// A message from its bytes, which must be exactly one.
pub(crate) fn decode(bytes: &[u8]) -> Result<Message<Literal>, Damage> {
    let (message, mut arrays): (Message<Head>, _) = unpacked(bytes)?;
    let message = message.map(|head| head.value(&mut arrays))?;
    ended(arrays).map(|()| message)
}

/// Values as bytes.
pub(crate) fn encode_values(values: &[Literal]) -> Result<Vec<u8>, Damage> {
    packed(&values.iter().map(Head::of).collect::<Vec<_>>(), values)
}
/// Values from their bytes.
pub(crate) fn decode_values(bytes: &[u8]) -> Result<Vec<Literal>, Damage> {
    let (heads, mut arrays): (Vec<Head>, _) = unpacked(bytes)?;
    let values = heads.into_iter().map(|head| head.value(&mut arrays)).collect::<Result<_, _>>()?;
    ended(arrays).map(|()| values)
}

/// Bytes of the length in front.
const PREFIX: usize = size_of::<u64>();

fn packed(message: &impl Serialize, values: &[Literal]) -> Result<Vec<u8>, Damage> {
    let envelope = envelope(message)?;
    let length = u64::try_from(envelope.len()).map_err(|e| e.to_string())?;
    let arrays = || values.iter().flat_map(Literal::leaves).map(Literal::bytes);
    let all = PREFIX + envelope.len() + arrays().map(<[u8]>::len).sum::<usize>();
    let mut bytes = Vec::with_capacity(all);
    bytes.extend(length.to_le_bytes());
    bytes.extend(envelope);
    arrays().for_each(|array| bytes.extend_from_slice(array));
    Ok(bytes)
}
fn unpacked<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), Damage> {
    let short = || format!("{} bytes are too few", bytes.len());
    let (length, rest) = bytes.split_first_chunk::<PREFIX>().ok_or_else(short)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|e| e.to_string())?;
    let (envelope, arrays) = rest.split_at_checked(length).ok_or_else(short)?;
    Ok((opened(envelope)?, arrays))
}
fn ended(rest: &[u8]) -> Result<(), Damage> {
    match rest.len() {
        0 => Ok(()),
        left => Err(format!("{left} bytes are left over")),
    }
}

/// A value in the envelope's format.
pub(crate) fn envelope(value: &impl Serialize) -> Result<Vec<u8>, Damage> {
    postcard::to_stdvec(value).map_err(|e| e.to_string())
}
/// A value from the first of these bytes, and the others.
pub(crate) fn opened_first<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), Damage> {
    postcard::take_from_bytes(bytes).map_err(|e| e.to_string())
}
/// A value from all of these bytes.
pub(crate) fn opened<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Damage> {
    let (value, rest) = opened_first(bytes)?;
    ended(rest).map(|()| value)
}

impl Head {
    fn of(value: &Literal) -> Self {
        let sizes = |array: &Literal| array.dynamic_sizes().map(<[i64]>::to_vec);
        let sizes = value.leaves().into_iter().map(sizes).collect();
        Self { shape: value.shape().to_string(), sizes }
    }
    /// The value, whose arrays are cut off the front of `arrays`.
    fn value(self, arrays: &mut &[u8]) -> Result<Literal, Damage> {
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
) -> Result<Literal, Damage> {
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
    // Not deeper than the reader of shapes allows.
    let elements: Result<_, _> = elements.iter().map(|s| value(s, sizes, arrays)).collect();
    elements.map(Literal::tuple)
}

fn array(
    shape: &ArrayShape,
    sizes: Option<Vec<i64>>,
    arrays: &mut &[u8],
) -> Result<Literal, Damage> {
    // Looked for before anything is allocated.
    let found = shape.byte_count().and_then(|count| arrays.split_at_checked(count));
    let (bytes, rest) = found.ok_or_else(|| format!("bytes of {shape} are missing"))?;
    *arrays = rest;
    let literal = Literal::from_bytes(shape.clone(), bytes);
    let literal = literal.ok_or_else(|| format!("{shape} has other bytes"))?;
    let Some(sizes) = sizes else { return Ok(literal) };
    let within = |(size, bound): (&i64, &i64)| (0..=*bound).contains(size);
    if sizes.len() != shape.rank() || !sizes.iter().zip(&shape.dims).all(within) {
        return Err(format!("sizes {sizes:?} do not lie in {shape}"));
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
    fn message(operands: Vec<Literal>) -> Message<Literal> {
        let error = Error::from(Code::Groups { message: "two".to_owned() }).with_help("one");
        let stand = Stand {
            computation: 1,
            instruction: 300,
            depth: 2,
            trail: vec![(0, 7, 3), (1, 300, 0)],
            operands: Some(operands),
        };
        let steps = vec![
            (0, Ok(Came::Wait(stand))),
            (1, Ok(Came::Done(None))),
            (2, Err(error.clone())),
            (3, Ok(Came::Done(Some(literal("u8[3] {1, 2, 3}"))))),
        ];
        Message { round: 70_000, failure: Some((Stage::Group(5), error)), steps }
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
    /// Types, layouts, sizes and bits, which comparing literals leaves out in part.
    fn all(value: &Literal) -> Vec<(String, Option<Vec<i64>>, Vec<u8>)> {
        let leaf = |leaf: &Literal| {
            let sizes = leaf.dynamic_sizes().map(<[i64]>::to_vec);
            (leaf.shape().to_string(), sizes, leaf.bytes().to_vec())
        };
        value.leaves().into_iter().map(leaf).collect()
    }

    #[test]
    fn what_is_sent_arrives() {
        let sent = message(values());
        let arrived = decode(&encode(sent.clone()).unwrap()).unwrap();
        assert_eq!(arrived, sent);
        let Ok(Came::Wait(Stand { operands: Some(operands), .. })) = &arrived.steps[0].1 else {
            panic!("{arrived:?}")
        };
        for (arrived, sent) in operands.iter().zip(values()) {
            assert_eq!(arrived.shape().to_string(), sent.shape().to_string());
            assert_eq!(all(arrived), all(&sent));
        }
    }

    #[test]
    fn bytes_stand_as_they_are() {
        let steps = vec![(0, Ok(Came::Done(Some(literal("u16[2] {258, 3}")))))];
        let bytes = encode(Message { round: 0, failure: None, steps }).unwrap();
        assert_eq!(bytes[bytes.len() - 4..], [2, 1, 3, 0]);
    }

    #[test]
    fn what_is_cut_off_or_too_long_is_an_error() {
        let bytes = encode(message(values())).unwrap();
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_err(), "{length} bytes");
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert_eq!(decode(&longer), Err("1 bytes are left over".to_owned()));
    }

    #[test]
    fn shapes_that_lie_are_errors() {
        for (shape, sizes, wanted) in [
            ("f32[4611686018427387904]", vec![None], "bytes of f32[4611686018427387904]"),
            ("f32[1099511627776,1099511627776]", vec![None], "bytes of"),
            ("f32[2", vec![None], "error["),
            ("(f32[], f32[])", vec![None], "sizes of f32[] are missing"),
            ("f32[]", vec![None, None], "more sizes than arrays"),
            ("f32[2]", vec![Some(vec![3])], "sizes [3] do not lie in f32[2]"),
            ("f32[2]", vec![Some(vec![-1])], "sizes [-1] do not lie in f32[2]"),
            ("f32[2]", vec![Some(vec![1, 1])], "sizes [1, 1] do not lie in f32[2]"),
            ("token[]", vec![Some(vec![])], "has no values"),
            ("opaque[]", vec![None], "has no values"),
        ] {
            let head = Head { shape: shape.to_owned(), sizes };
            let damage = head.value(&mut [0; 8].as_slice()).unwrap_err();
            assert!(damage.contains(wanted), "{shape}: {damage}");
        }
    }

    proptest! {
        #[test]
        fn damage_never_panics(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
            let mut bytes = encode(message(values())).unwrap();
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let _ = decode(&bytes);
        }
        #[test]
        fn noise_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes);
        }
    }
}
