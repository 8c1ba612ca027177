//! The native part of the Python package `etalon`.
//!
//! ```text
//! etalon/*.py ──> Program: read, verify, run, trace, check ──> hlo, interp, conformance
//!      │                                                               │
//!      └──────> Value: NumPy's memory as a literal, and back <─────────┘
//! ```
//!
//! Python code converts arrays and draws reports; everything that computes is here, without the lock of the interpreter.
extern crate etalon_pjrt_plugin as _;

mod backend;
mod callback;
mod check;
mod command;
mod error;
mod interrupt;
mod program;
mod source;
mod trace;
mod value;

/// The module `etalon._etalon`.
#[pyo3::pymodule]
mod _etalon {
    #[pymodule_export]
    use crate::check::check;
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::error::explain;
    #[pymodule_export]
    use crate::program::Program;
    #[pymodule_export]
    use crate::source::Source;
    #[pymodule_export]
    use crate::trace::{Event, check_nan, trace};
    #[pymodule_export]
    use crate::value::Value;
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name of it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
