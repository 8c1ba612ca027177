//! Scans along a dimension and maps over elements.
use super::reduce::scalars;
use super::shapes::sizes;
use crate::arguments::{all_counted, first, size};
use crate::{Builder, Error, Result, Value, implicit};
use hlo::diag::quantity;
use hlo::ir::ComputationId;
use hlo::op::{Map, Scan};
use hlo::{ArrayShape, Shape};

/// Options of a scan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanOptions {
    /// The number of steps; needed if there is no input.
    pub scan_dimension_size: Option<i64>,
    /// Scans from the end to the start; the output of a step has the index of its inputs.
    pub is_reverse: bool,
    /// A promise that changes no value.
    pub is_associative: bool,
}

impl Value<'_> {
    /// Returns the computation of each element: XLA's `Map` of one array.
    #[track_caller]
    pub fn map(self, computation: impl FnOnce(Self) -> Self) -> Self {
        self.record(|b| map(b, &[self], |p| computation(p[0]), &first(self.rank()?)))
    }
}

impl Builder {
    /// Returns the computation of the elements at each place: XLA's `Map`.
    ///
    /// `computation` takes a scalar of each array and returns a scalar, of any type. The arrays
    /// have the same dimensions; scalars among them stretch. `dimensions` are all dimensions in
    /// order.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let (x, y) = (b.constant([1i32, 2, 3]), b.constant([10i32, 20, 30]));
    /// let result = interp::run(&b.build(b.map(&[x, y], |p| p[0] * p[0] + p[1], &[0]))?, &[])?;
    /// assert_eq!(result.to_string(), "s32[3]{0} {11, 24, 39}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` for no array, and for other dimensions than all in order;
    /// `E0301` if the computation returns no scalar.
    #[track_caller]
    pub fn map<'b>(
        &'b self,
        operands: &[Value<'b>],
        computation: impl FnOnce(&[Value<'b>]) -> Value<'b>,
        dimensions: &[i64],
    ) -> Value<'b> {
        self.record(|b| map(b, operands, computation, dimensions))
    }
    /// Returns a computation carried along a dimension: XLA's `Scan`.
    ///
    /// `step` takes a slice of each input, without the dimension, then the carries, which start as
    /// `inits`; it returns a tuple of a slice of each output, then the next carries. The result is
    /// a tuple of the outputs, put together along the dimension, and the last carries.
    ///
    /// ```
    /// use builder::options::ScanOptions;
    /// let b = builder::Builder::new("sums");
    /// let (x, zero) = (b.constant([1i32, 2, 3]), b.constant(0i32));
    /// let sums = b.scan(
    ///     &[x],
    ///     &[zero],
    ///     |p| {
    ///         let sum = p[0] + p[1];
    ///         sum.builder().tuple(&[sum, sum])
    ///     },
    ///     0,
    ///     &ScanOptions::default(),
    /// );
    /// assert_eq!(interp::run(&b.build(sums)?, &[])?.to_string(), "( s32[3]{0} {1, 3, 6}, s32[] 6 )");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` for an input without the dimension, for sizes that differ, and
    /// if nothing determines how many steps there are; `E0301` for a step that returns other
    /// carries than it takes.
    #[track_caller]
    pub fn scan<'b>(
        &'b self,
        inputs: &[Value<'b>],
        inits: &[Value<'b>],
        step: impl FnOnce(&[Value<'b>]) -> Value<'b>,
        scan_dimension: i64,
        options: &ScanOptions,
    ) -> Value<'b> {
        self.record(|b| {
            let mut steps = options.scan_dimension_size;
            let mut parameters: Vec<Shape> = Vec::with_capacity(inputs.len() + inits.len());
            for &input in inputs {
                let (shape, at) = (input.array()?, input.axis(scan_dimension)?);
                let found = shape.dim(at).unwrap_or(0);
                let all = *steps.get_or_insert(found);
                if found != all {
                    let message =
                        format!("{shape:#} has {}, expected {all}", quantity(found, "step"));
                    return Err(Error::argument(message)
                        .with_help("all inputs have one size along the dimension"));
                }
                parameters.push(without(&shape, at).into());
            }
            let Some(steps) = steps else {
                return Err(Error::argument("the number of steps of the scan is unknown")
                    .with_help("without inputs, give `scan_dimension_size`"));
            };
            let steps = sizes(&[steps])?[0];
            for init in inits {
                parameters.push(init.array()?.into());
            }
            let to_apply = b.trace("step", &parameters, step)?;
            let dim = match inputs.first() {
                Some(input) => input.axis(scan_dimension)?,
                None => scan_dimension,
            };
            let op = Scan {
                dimensions: vec![dim],
                num_carries: size(inits.len()),
                is_reverse: options.is_reverse,
                is_associative: options.is_associative,
                to_apply,
            };
            let stated = match inputs.is_empty() {
                true => Some(outputs(b, to_apply, inits.len(), dim, steps)?),
                false => None,
            };
            b.emit(op, &[inputs, inits].concat(), stated)
        })
    }
}

fn map<'b>(
    b: &'b Builder,
    operands: &[Value<'b>],
    computation: impl FnOnce(&[Value<'b>]) -> Value<'b>,
    dimensions: &[i64],
) -> Result<Value<'b>> {
    let shapes: Result<Vec<ArrayShape>> = operands.iter().map(|v| v.array()).collect();
    let widest = shapes?.into_iter().max_by_key(ArrayShape::rank).ok_or_else(|| {
        Error::argument("`map` of an empty list").with_help("give one array or more")
    })?;
    let all = first(widest.rank());
    if all_counted(dimensions, widest.rank()) != all {
        let message = format!("`map` goes over {dimensions:?} of {widest:#}");
        return Err(Error::argument(message)
            .with_help(format!("only a map over all dimensions, {all:?}, is defined")));
    }
    let to_apply = b.trace("map", &scalars(operands)?, computation)?;
    let stretched: Result<Vec<Value<'b>>> = (operands.iter())
        .map(|&v| match v.rank()? == 0 && widest.rank() > 0 {
            true => implicit::splat(v, &widest),
            false => Ok(v),
        })
        .collect();
    b.emit(Map { dimensions: all, to_apply }, &stretched?, None)
}

/// Returns the shape without one dimension.
fn without(shape: &ArrayShape, dim: i64) -> ArrayShape {
    let kept = (0..shape.rank()).filter(|&d| i64::try_from(d) != Ok(dim));
    let (sizes, flags): (Vec<i64>, Vec<bool>) =
        kept.map(|d| (shape.dims[d], shape.is_dynamic(d))).unzip();
    let dynamic = flags.contains(&true).then(|| flags.into());
    ArrayShape { dynamic, ..ArrayShape::new(shape.ty, sizes.as_slice()) }
}

/// Returns the shape of the result of a scan: outputs with the scanned dimension, then carries.
fn outputs(
    b: &Builder,
    step: ComputationId,
    carries: usize,
    dim: i64,
    steps: i64,
) -> Result<Shape> {
    let (_, given) = b.signature(step)?;
    let slices = match given {
        Shape::Tuple(elements) => elements,
        other => vec![other],
    };
    let count = slices.len().saturating_sub(carries);
    let stacked = slices.into_iter().enumerate().map(|(i, slice)| {
        let Some(array) = slice.array().filter(|_| i < count) else { return Ok(slice) };
        let mut dims = array.dims.clone();
        let at = usize::try_from(dim).ok().filter(|&at| at <= dims.len()).ok_or_else(|| {
            let message = format!("slices {slice:#} cannot be put together along dimension {dim}");
            Error::argument(message)
        })?;
        dims.insert(at, steps);
        Ok(ArrayShape::new(array.ty, dims).into())
    });
    Ok(Shape::Tuple(stacked.collect::<Result<_>>()?))
}
