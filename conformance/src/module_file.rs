//! The bytes of a module's file, within bounds: a file may be endless, or unpack to a thousand times its size.
use flate2::read::MultiGzDecoder;
use std::io::Read;

/// The most bytes of a module.
const MOST: u64 = 1 << 32;
/// The most bytes of a module that is compressed: these, or so many for each byte of the file. Texts of modules shrink to a tenth or
/// a twentieth.
const MOST_UNPACKED: u64 = 1 << 26;
const MOST_RATIO: u64 = 24;

const GZIP: &[u8] = b"\x1f\x8b";

/// The reason why a file is not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
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

/// Reads a file; what is compressed by gzip is decompressed. Reading ends where the data is neither text nor a message.
///
/// # Errors
/// If the file cannot be read or decompressed, or has more bytes than a module may have.
pub fn read(from: impl Read) -> Result<Vec<u8>, ReadError> {
    read_within(from, MOST)
}

/// Reads a file as [`read`] does, of which no more than `most` bytes are kept.
///
/// # Errors
/// If the file cannot be read or decompressed, or has more bytes.
pub fn read_within(mut from: impl Read, most: u64) -> Result<Vec<u8>, ReadError> {
    let most = most.min(MOST);
    match read_up_to(&mut from, most)? {
        Some(bytes) => decompressed_within(bytes, most),
        None => Err(ReadError::TooLong { most }),
    }
}

/// Returns the bytes, decompressed if they are compressed by gzip.
///
/// # Errors
/// If they cannot be decompressed, or unpack to more bytes than a compressed module may have.
pub fn decompressed(bytes: Vec<u8>) -> Result<Vec<u8>, ReadError> {
    decompressed_within(bytes, MOST)
}

fn decompressed_within(bytes: Vec<u8>, most: u64) -> Result<Vec<u8>, ReadError> {
    if !bytes.starts_with(GZIP) {
        return Ok(bytes);
    }
    let packed = bytes.len();
    let of_ratio = u64::try_from(packed).unwrap_or(MOST).saturating_mul(MOST_RATIO);
    let of_file = of_ratio.clamp(MOST_UNPACKED, MOST);
    let unpacked = read_up_to(&mut MultiGzDecoder::new(bytes.as_slice()), of_file.min(most));
    unpacked.map_err(ReadError::Damaged)?.ok_or(match of_file > most {
        true => ReadError::TooLong { most },
        false => ReadError::Unpacked { packed, most: of_file },
    })
}

/// Reads to the end, or to the first part that is neither text nor a message: the file may be endless. None if there are more than
/// `most` bytes.
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

    #[test]
    fn what_is_compressed_is_unpacked_within_bounds() {
        let text = b"HloModule m".as_slice();
        assert_eq!(read(text).unwrap(), text);
        assert_eq!(read(packed(text).as_slice()).unwrap(), text);
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
        assert_eq!(read(std::io::repeat(0)).unwrap().len(), 1 << 12);
        assert!(read_up_to(&mut std::io::repeat(1), 1 << 20).unwrap().is_none());
        assert!(read_up_to(&mut std::io::repeat(1).take(1 << 20), 1 << 20).unwrap().is_some());
        let blanks = || std::io::repeat(b' ').take(1 << 20);
        for text in
            [read_within(blanks(), 1 << 19), read_within(packed(blanks()).as_slice(), 1 << 19)]
        {
            assert!(matches!(text, Err(ReadError::TooLong { most: 524_288 })), "{text:?}");
        }
        assert!(read_within(packed(blanks()).as_slice(), 1 << 20).is_ok());
    }
}
