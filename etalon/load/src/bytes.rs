//! The bytes of a module's file, within bounds: a file may be endless, or unpack to a thousand
//! times its size.
use crate::Input;
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read;

/// The most bytes of a module.
const MOST: u64 = 1 << 32;
/// The most bytes of a module that is compressed: these, or so many for each byte of the file.
/// Texts of modules shrink to a tenth or a twentieth.
const MOST_UNPACKED: u64 = 1 << 26;
const MOST_RATIO: u64 = 24;

const GZIP: &[u8] = b"\x1f\x8b";

/// The reason why a file is not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    /// The system does not read it.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// Its compressed data is damaged.
    #[error("is compressed by gzip, and damaged: {0}")]
    Damaged(std::io::Error),
    /// It has more bytes than a module may have.
    #[error("has more than {most} bytes, the most of a module")]
    TooLong {
        /// The bound.
        most: u64,
    },
    /// It unpacks to more bytes than a compressed module may have.
    #[error(
        "has {packed} bytes and unpacks to more than {most}, the most of a compressed module of this size"
    )]
    Unpacked {
        /// The bytes of the file.
        packed: usize,
        /// The bound.
        most: u64,
    },
}

/// Reads an input of at most `most` bytes; what is compressed by gzip is decompressed. Reading ends
/// where the data is neither text nor a message.
pub(crate) fn read(input: Input<'_>, most: Option<usize>) -> Result<Cow<'_, [u8]>, ReadError> {
    let most = most.and_then(|most| u64::try_from(most).ok()).unwrap_or(MOST).min(MOST);
    let bytes = match input {
        Input::Bytes(_, bytes) => Some(bytes),
        Input::Path(path) => read_up_to(&mut std::fs::File::open(path)?, most)?.map(Cow::Owned),
        Input::Stream(_, mut stream) => read_up_to(&mut stream, most)?.map(Cow::Owned),
    };
    decompressed(bytes.ok_or(ReadError::TooLong { most })?, most)
}

/// Returns the bytes, decompressed if they are compressed by gzip.
fn decompressed(bytes: Cow<'_, [u8]>, most: u64) -> Result<Cow<'_, [u8]>, ReadError> {
    if !bytes.starts_with(GZIP) {
        return Ok(bytes);
    }
    let packed = bytes.len();
    let of_ratio = u64::try_from(packed).unwrap_or(MOST).saturating_mul(MOST_RATIO);
    let of_file = of_ratio.clamp(MOST_UNPACKED, MOST);
    let unpacked = read_up_to(&mut MultiGzDecoder::new(&*bytes), of_file.min(most));
    let unpacked = unpacked.map_err(ReadError::Damaged)?.ok_or(match of_file > most {
        true => ReadError::TooLong { most },
        false => ReadError::Unpacked { packed, most: of_file },
    })?;
    Ok(unpacked.into())
}

/// Reads to the end, or to the first part that is neither text nor a message: the file may be
/// endless. None if there are more than `most` bytes.
fn read_up_to(from: &mut impl Read, most: u64) -> std::io::Result<Option<Vec<u8>>> {
    const START: u64 = 1 << 12;
    let mut bytes = Vec::new();
    from.by_ref().take(START).read_to_end(&mut bytes)?;
    // Neither HLO text nor a message begins with a zero.
    if bytes.first() != Some(&0) {
        from.take(most.saturating_sub(START) + 1).read_to_end(&mut bytes)?;
    }
    let is_within = u64::try_from(bytes.len()).is_ok_and(|count| count <= most);
    Ok(is_within.then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::read::GzEncoder;

    fn packed(text: impl Read) -> Vec<u8> {
        let mut bytes = Vec::new();
        GzEncoder::new(text, Compression::best()).read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn of(mut from: impl Read, most: Option<usize>) -> Result<Vec<u8>, ReadError> {
        read(Input::Stream("f", &mut from), most).map(Cow::into_owned)
    }

    #[test]
    fn what_is_compressed_is_unpacked_within_bounds() {
        let text = b"HloModule m".as_slice();
        assert_eq!(of(text, None).unwrap(), text);
        assert_eq!(of(packed(text).as_slice(), None).unwrap(), text);
        let decompressed =
            |bytes: Vec<u8>| read(Input::Bytes("b", bytes.into()), None).map(Cow::into_owned);
        let large = packed(std::io::repeat(b'\n').take(MOST_UNPACKED));
        assert_eq!(decompressed(large).unwrap().len(), 1 << 26);
        let larger = packed(std::io::repeat(b'\n').take(MOST_UNPACKED + 1));
        let error = decompressed(larger).unwrap_err().to_string();
        assert!(error.contains("unpacks to more than 67108864"), "{error}");
        let cut = packed(text)[..20].to_vec();
        assert!(matches!(decompressed(cut), Err(ReadError::Damaged(_))));
    }

    #[test]
    fn an_endless_file_of_no_module_ends() {
        assert_eq!(of(std::io::repeat(0), None).unwrap().len(), 1 << 12);
        assert!(read_up_to(&mut std::io::repeat(1), 1 << 20).unwrap().is_none());
        assert!(read_up_to(&mut std::io::repeat(1).take(1 << 20), 1 << 20).unwrap().is_some());
        let blanks = || std::io::repeat(b' ').take(1 << 20);
        let half = Some(1 << 19);
        for text in [of(blanks(), half), of(packed(blanks()).as_slice(), half)] {
            assert!(matches!(text, Err(ReadError::TooLong { most: 524_288 })), "{text:?}");
        }
        assert!(of(packed(blanks()).as_slice(), Some(1 << 20)).is_ok());
    }
}
