//! Special functions: error functions, Bessel functions, the gamma and beta families, zeta
//! functions.
mod bessel;
mod beta;
mod erf;
mod gamma;
mod igamma;
mod igamma_gradient;
pub(crate) mod slopes;
#[rustfmt::skip]
mod tables;
mod temme;
mod wide;
mod zeta;
