//! The encoding of messages between ranks.
//!
//! A report is a `RankReport` in postcard's format. It describes values by their [`ValueHeader`]s;
//! the values themselves follow in [transfers](crate::transfers) between the ranks that have a use
//! for them.
//!
//! The encoding is specific to a build: ranks compare their versions first. A malformed message is
//! an error.
use crate::Error;
use crate::values::{DecodeError, ValueHeader};
use hlo::diag::quantity;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The stage at which the handling of a round stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// The steps of tasks are handled in order; this is an index into it.
    Task(usize),
    /// Then the complete groups are exchanged.
    Group(usize),
}

/// The report of a rank after a round of steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RankReport {
    /// The number of earlier reports, which must be the same on all ranks.
    pub(crate) round: u64,
    /// The error of the sender while it handled the last round, and the stage.
    pub(crate) failure: Option<(Stage, Error)>,
    /// The step of each of its tasks.
    pub(crate) steps: Vec<(usize, Result<StepReport, Error>)>,
}

/// The step of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum StepReport {
    /// The task finished; its rank keeps the result.
    Finished,
    /// The task is suspended.
    Suspended(SuspensionReport),
    /// The task has run ahead, and waits for a part of it.
    Waiting(SuspensionReport),
    /// The task was a part of another one, and has ended.
    PartDone,
}

/// The instruction at which a task is suspended. Computations and instructions are identified by
/// their indices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SuspensionReport {
    pub(crate) computation: usize,
    pub(crate) instruction: usize,
    pub(crate) depth: usize,
    /// Computation, instruction and loop iterations of each active computation, the outermost
    /// first.
    pub(crate) trail: Vec<(usize, usize, u64)>,
    /// Whether the task may be split.
    pub(crate) can_split: bool,
    /// The started operation that is the first operand.
    pub(crate) async_id: Option<u64>,
    /// The headers of the values that it sends, if another rank may receive them.
    pub(crate) values: Option<Vec<ValueHeader>>,
}

fn check_end(rest: &[u8]) -> Result<(), DecodeError> {
    match rest.len() {
        0 => Ok(()),
        left => Err(format!("{} after the end", quantity(left, "byte"))),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;
    use hlo::Literal;
    use proptest::prelude::*;

    fn message() -> RankReport {
        let error = Error::from(Code::Groups { message: "two".to_owned() }).with_help("one");
        let suspension = SuspensionReport {
            computation: 1,
            instruction: 300,
            depth: 2,
            trail: vec![(0, 7, 3), (1, 300, 0)],
            can_split: true,
            async_id: Some(9),
            values: Some(values().iter().map(ValueHeader::of).collect()),
        };
        let steps = vec![
            (0, Ok(StepReport::Suspended(suspension))),
            (1, Ok(StepReport::Finished)),
            (2, Err(error.clone())),
        ];
        RankReport { round: 70_000, failure: Some((Stage::Group(5), error)), steps }
    }
    fn values() -> Vec<Literal> {
        let texts = ["f32[2,2]{0,1} {{1, -0}, {nan, inf}}", "( s32[] 1, ( f64[1] {0.1} ), () )"];
        let dynamic = Literal::from_slice(&[2, 2], &[1_i32, 2, 3, 4]).with_sizes(&[2, 1]);
        texts.map(|text| text.parse().unwrap()).into_iter().chain([dynamic]).collect()
    }

    #[test]
    fn decoding_inverts_encoding() {
        let sent = message();
        let arrived: RankReport = decode_envelope(&encode_envelope(&sent).unwrap()).unwrap();
        assert_eq!(arrived, sent);
    }

    #[test]
    fn truncated_and_longer_messages_are_errors() {
        let bytes = encode_envelope(&message()).unwrap();
        for length in 0..bytes.len() {
            assert!(decode_envelope::<RankReport>(&bytes[..length]).is_err(), "{length} bytes");
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        let error = decode_envelope::<RankReport>(&longer).unwrap_err();
        assert_eq!(error, "1 byte after the end");
    }

    proptest! {
        #[test]
        fn changed_bytes_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
            let mut bytes = encode_envelope(&message()).unwrap();
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let _ = decode_envelope::<RankReport>(&bytes);
        }
        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode_envelope::<RankReport>(&bytes);
        }
    }
}
