//! Versions of StableHLO, and the window of those that portable bytecode is written for.
use crate::error::{Code, Error};
use std::fmt;
use std::str::FromStr;

/// A version of StableHLO, which is that of VHLO.
///
/// ```
/// use stablehlo::Version;
///
/// let version: Version = "1.9.0".parse()?;
/// assert!(Version::MINIMUM < version && version < Version::CURRENT);
/// assert_eq!(version.to_string(), "1.9.0");
/// # Ok::<(), stablehlo::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Breaks with programs of before.
    pub major: u16,
    /// New ops, attributes and types.
    pub minor: u16,
    /// Of the implementation; programs of all of them are the same.
    pub patch: u16,
}

impl Version {
    /// The first version whose programs later ones read.
    pub const MINIMUM: Self = Self::new(0, 9, 0);
    /// The newest version that is known.
    pub const CURRENT: Self = Self::new(1, 20, 0);

    /// Makes a version of its three numbers.
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self { major, minor, patch }
    }
    /// Returns the version of MLIR's bytecode that programs of this one are in.
    pub(crate) fn bytecode(self) -> u64 {
        match (self.major, self.minor) {
            (0, ..=9) => 0,
            (0, 10 | 11) => 1,
            (0, 12 | 13) => 3,
            (0, 14) => 4,
            _ => 6,
        }
    }
    /// Checks that programs of this version can be written.
    pub(crate) fn check(self) -> Result<Self, Error> {
        let (oldest, newest) = (Self::MINIMUM, Self::CURRENT);
        let newer = (self.major, self.minor) > (newest.major, newest.minor);
        if self >= oldest && !newer {
            return Ok(self);
        }
        let message = format!("StableHLO {self} cannot be written; {oldest} to {newest} can");
        Err(Code::Target { message }.into())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for Version {
    type Err = Error;

    /// Parses `1.9.0`, or `1.9` for the same.
    fn from_str(text: &str) -> Result<Self, Error> {
        let numbers: Option<Vec<u16>> = text.split('.').map(|number| number.parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[major, minor]) => Ok(Self::new(major, minor, 0)),
            Some(&[major, minor, patch]) => Ok(Self::new(major, minor, patch)),
            _ => {
                let message = format!("`{text}` is not a version of StableHLO, such as 1.9.0");
                Err(Code::Target { message }.into())
            }
        }
    }
}
