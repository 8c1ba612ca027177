//! The gradients, JVPs and VJPs of values.
use super::rules::rule_of;
use super::sweep::{self, Inputs};
use super::tangent::{Tangent, varies};
use super::zero;
use crate::{Builder, Error, Result, Value};
use hlo::diag::quantity;

/// Options of a derivative; see [`Builder::grad_with`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GradOptions {
    /// The derivative with respect to an input that the output does not depend on.
    pub disconnected: Disconnected,
}

/// The derivative with respect to an input that the output does not depend on, or only through ops
/// whose derivative is zero wherever it exists: comparisons, roundings, conversions to integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Disconnected {
    /// An error that says why: such a derivative is rarely intended.
    #[default]
    Refuse,
    /// Zeros.
    Zero,
}

impl Builder {
    /// Returns the gradients of a scalar with respect to each of `wrt`, shaped like them: reverse
    /// mode.
    ///
    /// `wrt` may hold any value that the output depends on. Derivatives flow through it to the
    /// others.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[3]", "x");
    /// let loss = (x * x).reduce(0.0, |a, c| a + c, &[0]);
    /// let gradient = b.grad(loss, &[x]);
    /// let result = interp::run(&b.build(gradient[0])?, &["f32[3] {1, 2, 3}".parse()?])?;
    /// assert_eq!(result.to_string(), "f32[3]{0} {2, 4, 6}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if the output is no real scalar; as [`Builder::vjp`].
    #[track_caller]
    pub fn grad<'b>(&'b self, output: Value<'b>, wrt: &[Value<'b>]) -> Vec<Value<'b>> {
        self.grad_with(output, wrt, GradOptions::default())
    }
    /// As [`Builder::grad`], with options.
    ///
    /// ```
    /// use builder::{Builder, Disconnected, GradOptions};
    /// let b = Builder::new("m");
    /// let (x, y) = (b.parameter(0, "f32[]", "x"), b.parameter(1, "f32[2]", "y"));
    /// let options = GradOptions { disconnected: Disconnected::Zero };
    /// let gradients = b.grad_with(x * x, &[x, y], options);
    /// let module = b.build(gradients[1])?;
    /// let args = ["f32[] 3".parse()?, "f32[2] {1, 2}".parse()?];
    /// assert_eq!(interp::run(&module, &args)?.to_string(), "f32[2]{0} {0, 0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn grad_with<'b>(
        &'b self,
        output: Value<'b>,
        wrt: &[Value<'b>],
        options: GradOptions,
    ) -> Vec<Value<'b>> {
        derive(self, vec![Value::invalid(self); wrt.len()], |b| gradients(b, output, wrt, options))
    }
    /// Returns the cotangents of `wrt` from that of `output`: the vector-Jacobian product, reverse
    /// mode.
    ///
    /// A cotangent has the shape of its value; that of a tuple is a tuple.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let (x, c) = (b.parameter(0, "f32[2]", "x"), b.parameter(1, "f32[2]", "c"));
    /// let pulled = b.vjp(x * x, &[x], c);
    /// let module = b.build(pulled[0])?;
    /// let args = ["f32[2] {3, 4}".parse()?, "f32[2] {1, 10}".parse()?];
    /// assert_eq!(interp::run(&module, &args)?.to_string(), "f32[2]{0} {6, 80}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if the cotangent's shape is not the output's, or one of `wrt`
    /// has no float elements; `E0808` if an op on the path has no derivative rule, the trip count
    /// of a loop is unknown (forward mode does not need it), or only ops of zero derivative connect
    /// one of `wrt` to the output; `E0809` if nothing does.
    #[track_caller]
    pub fn vjp<'b>(
        &'b self,
        output: Value<'b>,
        wrt: &[Value<'b>],
        cotangent: Value<'b>,
    ) -> Vec<Value<'b>> {
        self.vjp_with(output, wrt, cotangent, GradOptions::default())
    }
    /// As [`Builder::vjp`], with options.
    #[track_caller]
    pub fn vjp_with<'b>(
        &'b self,
        output: Value<'b>,
        wrt: &[Value<'b>],
        cotangent: Value<'b>,
        options: GradOptions,
    ) -> Vec<Value<'b>> {
        derive(self, vec![Value::invalid(self); wrt.len()], |b| {
            let cotangent = seed(b, output, cotangent)?;
            pulled(b, output, wrt, cotangent, options)
        })
    }
    /// Returns the tangent of `output` from those of `wrt`: the Jacobian-vector product, forward
    /// mode.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let (x, t) = (b.parameter(0, "f32[2]", "x"), b.parameter(1, "f32[2]", "t"));
    /// let module = b.build(b.jvp(x * x, &[x], &[t]))?;
    /// let args = ["f32[2] {3, 4}".parse()?, "f32[2] {1, 10}".parse()?];
    /// assert_eq!(interp::run(&module, &args)?.to_string(), "f32[2]{0} {6, 80}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Builder::vjp`], where the output depends on none of `wrt`.
    #[track_caller]
    pub fn jvp<'b>(
        &'b self,
        output: Value<'b>,
        wrt: &[Value<'b>],
        tangents: &[Value<'b>],
    ) -> Value<'b> {
        self.jvp_with(output, wrt, tangents, GradOptions::default())
    }
    /// As [`Builder::jvp`], with options.
    #[track_caller]
    pub fn jvp_with<'b>(
        &'b self,
        output: Value<'b>,
        wrt: &[Value<'b>],
        tangents: &[Value<'b>],
        options: GradOptions,
    ) -> Value<'b> {
        derive(self, Value::invalid(self), |b| pushed(b, output, wrt, tangents, options))
    }
}

/// Runs a call of the user. It counts as two, the second of them the library's, so that the
/// computations made on the way record the line of the user and not one of the library.
#[track_caller]
pub(super) fn derive<'b, T: Clone>(
    b: &'b Builder,
    otherwise: T,
    make: impl FnOnce(&'b Builder) -> Result<T>,
) -> T {
    b.record_or(otherwise.clone(), |b| Ok(b.record_or(otherwise, make)))
}

pub(super) fn gradients<'b>(
    b: &'b Builder,
    output: Value<'b>,
    wrt: &[Value<'b>],
    options: GradOptions,
) -> Result<Vec<Value<'b>>> {
    b.owns(output)?;
    let shape = output.shape()?;
    let scalar = shape.array().filter(|shape| shape.rank() == 0 && shape.ty.is_float());
    let Some(scalar) = scalar else {
        let message = format!("`grad` differentiates a real scalar, found {shape:#}");
        return Err(Error::argument(message)
            .with_help("reduce it to a scalar, or use `vjp` with a cotangent"));
    };
    let one = b.one(scalar.ty);
    pulled(b, output, wrt, Tangent::Array(one), options)
}

pub(super) fn pulled<'b>(
    b: &'b Builder,
    output: Value<'b>,
    wrt: &[Value<'b>],
    cotangent: Tangent<'b>,
    options: GradOptions,
) -> Result<Vec<Value<'b>>> {
    variable(b, wrt)?;
    let cotangents = sweep::reverse(b, rule_of, output, wrt, cotangent, Inputs::Dependent)?;
    let filled = |(cotangent, &value): (&Tangent<'b>, &Value<'b>)| {
        refuse_zero(cotangent, output, value, options)?;
        cotangent.filled(value)
    };
    cotangents.iter().zip(wrt).map(filled).collect()
}

pub(super) fn pushed<'b>(
    b: &'b Builder,
    output: Value<'b>,
    wrt: &[Value<'b>],
    tangents: &[Value<'b>],
    options: GradOptions,
) -> Result<Value<'b>> {
    if wrt.len() != tangents.len() {
        let message = format!(
            "found {} for {}",
            quantity(tangents.len(), "tangent"),
            quantity(wrt.len(), "value")
        );
        return Err(Error::argument(message).with_help("one tangent for each value"));
    }
    variable(b, wrt)?;
    let pairs = wrt.iter().zip(tangents);
    let seeds: Result<Vec<_>> = pairs.map(|(&v, &t)| seed(b, v, t)).collect();
    let tangent = sweep::forward(b, rule_of, output, wrt, &seeds?, Inputs::Dependent)?;
    refuse_zero(&tangent, output, wrt.first().copied().unwrap_or(output), options)?;
    tangent.filled(output)
}

/// Returns a tangent given by the user, which must be shaped like its value.
pub(super) fn seed<'b>(
    b: &'b Builder,
    value: Value<'b>,
    tangent: Value<'b>,
) -> Result<Tangent<'b>> {
    b.owns(value)?;
    b.owns(tangent)?;
    let (expected, found) = (value.shape()?, tangent.shape()?);
    if !expected.compatible(&found) {
        let message = format!("expected a tangent of shape {expected:#}, found {found:#}");
        return Err(Error::argument(message).with_help("a tangent has the shape of its value"));
    }
    Tangent::of(tangent)
}

/// Fails for an input that no derivative can be taken by.
fn variable(b: &Builder, wrt: &[Value<'_>]) -> Result<()> {
    for &value in wrt {
        b.owns(value)?;
        let shape = value.shape()?;
        if !varies(&shape) {
            let name = value.name()?;
            let message = format!("`{name}` is {shape:#}, which has no derivative");
            return Err(Error::argument(message)
                .with_help("only floats and complex numbers have derivatives: convert it"));
        }
    }
    Ok(())
}

/// Fails for a derivative that is zero because nothing connects output and input.
fn refuse_zero<'b>(
    derivative: &Tangent<'b>,
    output: Value<'b>,
    input: Value<'b>,
    options: GradOptions,
) -> Result<()> {
    match options.disconnected {
        Disconnected::Refuse if derivative.is_zero() => Err(zero::error(output, input)?),
        Disconnected::Refuse | Disconnected::Zero => Ok(()),
    }
}
