//! Plugins: loading, clients, programs, buffers and errors.
mod buffer;
mod client;
mod error;
mod executable;
mod options;
mod plugin;

pub use client::Client;
pub use error::{Error, Status};
pub use executable::{Executable, Program};
pub use options::OptionValue;
pub use plugin::Plugin;

type Result<T> = std::result::Result<T, Error>;
