//! Ranges of `fft`: a linear function, whose rounding errors are spread over all elements.
use super::Stop;
use super::elementwise::magnitudes;
use super::evaluate::{Evaluator, Leaves, arrays};
use super::interval::Interval;
use super::modes::Mode;
use super::products::radii;
use super::range::{Range, floats};
use super::runner::Form;
use super::site::Site;
use crate::error_model::roundoff;
use hlo::op::Fft;
use hlo::op::value::FftType;

/// The error of each element, in unit roundoffs of the norm of the operand, for each level of the
/// transform.
const ERROR_PER_LEVEL: f64 = 7.0;

pub(super) fn fft<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &Fft,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operand = arrays(site, operands)?[0];
    let shape = site.shape()?;
    let from = operand.shape().ok_or_else(|| site.unsupported("a tuple"))?;
    let center = ev.runner.run(ev.module, &site.key(Form::Wide), &[operand.mids()])?;
    // One transform takes the last dimensions, as many as there are lengths.
    let transform = |dims: &[i64]| -> usize {
        let last = dims.iter().rev().take(op.fft_length.len()).product::<i64>();
        usize::try_from(last).unwrap_or(1).max(1)
    };
    let (taken, given) = (transform(&from.dims), transform(&shape.dims));
    // Half of a real transform's result is the conjugate of the other half.
    let size = taken.max(given);
    let count = f64::from(u32::try_from(size).unwrap_or(u32::MAX));
    let scale = match op.fft_type {
        FftType::Fft | FftType::Rfft => 1.0,
        FftType::Ifft | FftType::Irfft => 1.0 / count,
    };
    let (large, errors) = (magnitudes(operand), radii(operand));
    let unit = roundoff(shape.ty) + f64::EPSILON;
    let levels = ERROR_PER_LEVEL * (count.log2() + 1.0) * count.sqrt() * unit;
    let allowed =
        if ev.modes.has(Mode::SummationOrder) { levels } else { 4.0 * f64::EPSILON * count };
    let batches = floats(&large).chunks(taken).zip(floats(&errors).chunks(taken));
    let radii: Vec<f64> = batches
        .map(|(large, errors)| {
            let norm = large.iter().map(|x| x * x).sum::<f64>().sqrt();
            2.0 * scale * (errors.iter().sum::<f64>() + allowed * norm)
        })
        .collect();
    let parts_each = given * if shape.ty.is_complex() { 2 } else { 1 };
    let ty = shape.ty.component();
    let parts = floats(&center).iter().enumerate().map(|(i, &c)| {
        let radius = radii[i / parts_each];
        if !radius.is_finite() {
            return if operand.is_point() && c.is_nan() { Interval::NAN } else { Interval::ANY };
        }
        // The order of its terms decides the sign of a sum of zeros.
        let sum = if c == 0.0 { Interval::ZEROS } else { Interval::rounded(c, false) };
        ev.modes.store(ty, sum.widened(radius), false)
    });
    let parts: Vec<Interval> = parts.collect();
    Ok(vec![Range::of(&shape, &parts).because(operand.cause.clone())])
}
