//! The arguments of `diff`.
use super::shared::DeviceArgs;
use super::words::number;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The expected arrays: an .npz, .npy or .safetensors file; `-` for standard input.
    pub(crate) expected: PathBuf,
    /// The arrays to compare with them; `-` for standard input.
    pub(crate) actual: PathBuf,
    /// The module that both are results of: it states the types of the arrays, and the bounds within which correct results may
    /// differ.
    #[arg(long, value_name = "M.hlo")]
    pub(crate) module: Option<PathBuf>,
    /// Allow an error of R times the expected element.
    #[arg(long, value_name = "R", value_parser = bound, allow_hyphen_values = true)]
    pub(crate) rtol: Option<f64>,
    /// Allow an error of A, in addition to --rtol.
    #[arg(long, value_name = "A", value_parser = bound, allow_hyphen_values = true)]
    pub(crate) atol: Option<f64>,
    /// Allow a distance of N units in the last place of the element type, in place of --rtol and --atol where it is wider.
    #[arg(long, value_name = "N", value_parser = number::<u64>)]
    pub(crate) ulp: Option<u64>,
    /// Print JSON: each array, whether it agrees, and the worst element.
    #[arg(long)]
    pub(crate) json: bool,
    /// Accept and keep unknown attributes.
    #[arg(long)]
    pub(crate) lenient: bool,
    #[command(flatten)]
    pub(crate) devices: DeviceArgs,
}

/// Parses a number that is not negative.
fn bound(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0);
    number.ok_or_else(|| "expected a number such as 1e-5".to_owned())
}
