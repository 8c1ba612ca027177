//! Errors of runs.
use crate::{Code, Error};
use hlo::diag::Diagnostic;

/// The reason why a run has no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The run of a program for one device failed.
    #[error("{0}")]
    OneDevice(#[from] interp::Error),
    /// The run of a program for several devices failed.
    #[error("{0}")]
    ManyDevices(#[from] Error),
}

impl RunError {
    /// Returns the number of the error.
    pub fn number(&self) -> &'static str {
        match self {
            Self::OneDevice(error) => error.number(),
            Self::ManyDevices(error) => error.number(),
        }
    }
    /// Returns the error in the form that the renderer takes.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            Self::OneDevice(error) => error.diagnostic(),
            Self::ManyDevices(error) => error.diagnostic(),
        }
    }
    /// Returns the error of a single device, unless the devices failed together.
    pub fn device_error(&self) -> Option<&interp::Error> {
        match self {
            Self::OneDevice(error) => Some(error),
            Self::ManyDevices(error) => {
                if let Code::Device { error, .. } | Code::Outside { error } = error.code() {
                    Some(error)
                } else {
                    None
                }
            }
        }
    }
    /// Returns whether the module needs something that is not implemented.
    pub fn is_unsupported(&self) -> bool {
        if let Some(error) = self.device_error() {
            return matches!(
                error.code(),
                interp::Code::Unsupported { .. } | interp::Code::Elided { .. }
            );
        }
        match self {
            Self::OneDevice(_) => false,
            Self::ManyDevices(error) => matches!(error.code(), Code::Unsupported { .. }),
        }
    }
}
