//! Derivatives of whole computations, as computations.
use super::api::{GradOptions, derive, gradients, pulled, pushed, seed};
use super::tangent::varies;
use crate::{Computation, Error, Result, Value};
use hlo::Shape;

impl<'b> Computation<'b> {
    /// Returns the Jacobian-vector product: a computation of the parameters followed by a tangent
    /// for each parameter with float elements. It returns the tuple of the result and its tangent.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let square = b.computation("square", &["f32[]"], |p| p[0] * p[0]);
    /// let (x, t) = (b.constant(3f32), b.constant(10f32));
    /// assert_eq!(interp::run(&b.build(b.call(square.jvp(), &[x, t]))?, &[])?.to_string(), "( f32[] 9, f32[] 60 )");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: as [`Builder::jvp`](crate::Builder::jvp).
    #[track_caller]
    pub fn jvp(self) -> Self {
        self.jvp_with(GradOptions::default())
    }
    /// As [`Computation::jvp`], with options.
    #[track_caller]
    pub fn jvp_with(self, options: GradOptions) -> Self {
        self.derived(
            "jvp",
            |parameters, _| tangents(parameters),
            move |result, x, t| {
                let b = result.builder();
                let tangent = pushed(b, result, &varying(x)?, t, options)?;
                Ok(b.tuple(&[result, tangent]))
            },
        )
    }
    /// Returns the vector-Jacobian product: a computation of the parameters and the cotangent of
    /// the result. It returns the tuple of the cotangents of all parameters with float elements.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let product = b.computation("product", &["f32[]", "f32[]"], |p| p[0] * p[1]);
    /// let (x, y, c) = (b.constant(3f32), b.constant(4f32), b.constant(10f32));
    /// let result = interp::run(&b.build(b.call(product.vjp(), &[x, y, c]))?, &[])?;
    /// assert_eq!(result.to_string(), "( f32[] 40, f32[] 30 )");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: as [`Builder::vjp`](crate::Builder::vjp).
    #[track_caller]
    pub fn vjp(self) -> Self {
        self.vjp_with(GradOptions::default())
    }
    /// As [`Computation::vjp`], with options.
    #[track_caller]
    pub fn vjp_with(self, options: GradOptions) -> Self {
        self.derived(
            "vjp",
            |_, result| vec![result.clone()],
            move |result, x, c| {
                let b = result.builder();
                let cotangent = c.first().copied().unwrap_or(Value::invalid(b));
                let cotangent = seed(b, result, cotangent)?;
                Ok(b.tuple(&pulled(b, result, &varying(x)?, cotangent, options)?))
            },
        )
    }
    /// Returns the gradient of a computation whose result is a real scalar: a computation of the
    /// same parameters. It returns the tuple of the gradients with respect to all parameters with
    /// float elements.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let cube = b.computation("cube", &["f32[]"], |p| p[0] * p[0] * p[0]);
    /// let second = b.computation("second", &["f32[]"], |p| {
    ///     let slope = cube.grad().inline(p).get_tuple_element(0);
    ///     b.grad(slope, p)[0]
    /// });
    /// assert_eq!(interp::run(&b.build(b.call(second, &[b.constant(5f32)]))?, &[])?.to_string(), "f32[] 30");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: as [`Builder::grad`](crate::Builder::grad).
    #[track_caller]
    pub fn grad(self) -> Self {
        self.grad_with(GradOptions::default())
    }
    /// As [`Computation::grad`], with options.
    #[track_caller]
    pub fn grad_with(self, options: GradOptions) -> Self {
        self.derived(
            "grad",
            |_, _| Vec::new(),
            move |result, x, _| {
                let b = result.builder();
                Ok(b.tuple(&gradients(b, result, &varying(x)?, options)?))
            },
        )
    }

    /// Returns a computation of the parameters of this one and others; `body` receives the result,
    /// the parameters and the others.
    #[track_caller]
    fn derived(
        self,
        what: &str,
        others: impl FnOnce(&[Shape], &Shape) -> Vec<Shape>,
        body: impl FnOnce(Value<'b>, &[Value<'b>], &[Value<'b>]) -> Result<Value<'b>>,
    ) -> Self {
        let b = self.builder();
        let id = derive(b, None, |b| {
            let id = self.id_in(b)?;
            let name = format!("{what}_{}", b.state.borrow().finished[id].name);
            let (mut shapes, result) = b.signature(id)?;
            let count = shapes.len();
            shapes.extend(others(&shapes, &result));
            if count == 0 {
                let message = format!("`{name}` has no parameter to differentiate by");
                return Err(Error::argument(message));
            }
            let derived = b.trace(&name, &shapes, |p| {
                let (x, others) = p.split_at(count);
                b.record(|_| body(self.inline(x), x, others))
            })?;
            Ok(Some(derived))
        });
        match id {
            Some(id) => Self::from_id(b, id),
            None => Self::invalid(b),
        }
    }
}

/// Shapes of the tangents of parameters.
fn tangents(parameters: &[Shape]) -> Vec<Shape> {
    parameters.iter().filter(|shape| varies(shape)).cloned().collect()
}
/// Returns the parameters that have tangents.
fn varying<'b>(parameters: &[Value<'b>]) -> Result<Vec<Value<'b>>> {
    let mut kept = Vec::new();
    for &parameter in parameters {
        if varies(&parameter.shape()?) {
            kept.push(parameter);
        }
    }
    Ok(kept)
}
