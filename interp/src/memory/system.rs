//! What the system says of its memory.

/// Memory of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemMemory {
    /// What processes can have before others must give theirs back.
    Available,
    /// All of it.
    Total,
}

impl SystemMemory {
    /// Returns the number of bytes, if the system tells: Linux does.
    pub fn bytes(self) -> Option<usize> {
        let name = match self {
            Self::Available => "MemAvailable:",
            Self::Total => "MemTotal:",
        };
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse::<usize>().ok()?.checked_mul(1 << 10)
    }
}
