//! Derivatives of `Elemwise`.
use super::cotangent::{Cotangent, finished, seed};
use super::tensor::{stretch, stretched};
use super::{Elemwise, Tensor, scalar};
use builder::{Error, Result, Value};

impl Elemwise {
    /// Returns the cotangents of the inputs from that of the output, the vector-Jacobian product:
    /// where an input was stretched its cotangent is summed.
    ///
    /// Cotangents of discrete inputs are floats; those of floats have the type of the input. An
    /// operation whose output is discrete, or is a step function, gives zeros (of `floatX` for
    /// discrete inputs). Of two equal operands `maximum` and `minimum` give all to the first, as
    /// PyTensor does.
    ///
    /// ```
    /// use builder::Builder;
    /// use builder_compat::pytensor::{Elemwise, ScalarOp};
    /// let b = Builder::new("m");
    /// let (x, y) = (b.parameter(0, "f32[2,2]", "x"), b.parameter(1, "f32[2]", "y"));
    /// let mul = Elemwise::new(ScalarOp::Mul);
    /// let z = mul.apply(&b, &[x, y]);
    /// let cotangents = mul.pullback(&[x, y], z, b.constant([[1f32, 1.0], [1.0, 1.0]]));
    /// let by_y = cotangents[1].value().ok_or("it is connected")?;
    /// let args = ["f32[2,2] {{1, 2}, {3, 4}}".parse()?, "f32[2] {5, 6}".parse()?];
    /// assert_eq!(interp::run(&b.build(by_y)?, &args)?.to_string(), "f32[2]{0} {4, 6}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: as [`Elemwise::get_output_info`]; `E0801` for a cotangent of another
    /// shape than the output's.
    #[track_caller]
    pub fn pullback<'b>(
        &self,
        inputs: &[Value<'b>],
        output: Value<'b>,
        cotangent: impl Into<Cotangent<'b>>,
    ) -> Vec<Cotangent<'b>> {
        let b = output.builder();
        let invalid = vec![Cotangent::Value(Value::invalid(b)); inputs.len()];
        b.record_or(invalid, |_| self.pulled(inputs, output, &cotangent.into()))
    }
    fn pulled<'b>(
        &self,
        inputs: &[Value<'b>],
        output: Value<'b>,
        cotangent: &Cotangent<'b>,
    ) -> Result<Vec<Cotangent<'b>>> {
        let Some(cotangent) = cotangent.value() else {
            return Ok(vec![cotangent.clone(); inputs.len()]);
        };
        let stretched = self.checked(inputs, output)?;
        let cotangent = seed(output, cotangent)?;
        let partials = scalar::pull(self.scalar_op, &stretched, output, cotangent)?;
        partials
            .into_iter()
            .zip(inputs)
            .map(|(partial, &input)| finished(partial, input, self.float_x))
            .collect()
    }
    /// Returns the tangent of the output from those of the inputs, the Jacobian-vector product.
    ///
    /// It is disconnected if no input that the output depends on has a tangent.
    ///
    /// # Errors
    /// Kept by the builder: as [`Elemwise::pullback`].
    #[track_caller]
    pub fn pushforward<'b>(
        &self,
        inputs: &[Value<'b>],
        output: Value<'b>,
        tangents: &[Cotangent<'b>],
    ) -> Cotangent<'b> {
        let b = output.builder();
        let invalid = Cotangent::Value(Value::invalid(b));
        b.record_or(invalid, |_| self.pushed(inputs, output, tangents))
    }
    fn pushed<'b>(
        &self,
        inputs: &[Value<'b>],
        output: Value<'b>,
        tangents: &[Cotangent<'b>],
    ) -> Result<Cotangent<'b>> {
        if inputs.len() != tangents.len() {
            let message = format!("{} inputs have {} tangents", inputs.len(), tangents.len());
            return Err(Error::argument(message));
        }
        let unknown = tangents.iter().find(|t| matches!(t, Cotangent::NotImplemented { .. }));
        if let Some(unknown) = unknown {
            return Ok(unknown.clone());
        }
        let stretched = self.checked(inputs, output)?;
        let dims = output.dims()?;
        let tangents: Result<Vec<Option<Value<'b>>>> = (inputs.iter().zip(tangents))
            .map(|(&input, tangent)| {
                let Some(tangent) = tangent.value() else { return Ok(None) };
                let tangent = Tensor::from(seed(input, tangent)?);
                stretch(&tangent.left_completed(dims.len())?, &dims).map(Some)
            })
            .collect();
        let pushed = scalar::push(self.scalar_op, &stretched, output, &tangents?)?;
        finished(pushed, output, self.float_x)
    }
    /// Returns the inputs, stretched to the output, which they give.
    fn checked<'b>(&self, inputs: &[Value<'b>], output: Value<'b>) -> Result<Vec<Value<'b>>> {
        if inputs.is_empty() {
            return Err(self.no_inputs());
        }
        let inputs: Vec<Tensor<'b>> = inputs.iter().map(|&x| x.into()).collect();
        let info = self.output_info(&inputs)?;
        let found = output.array()?;
        if found.ty != info.dtype || found.dims.as_slice() != info.dims {
            let message = format!("{found:#} is not the output of `{self}` on these inputs");
            return Err(Error::argument(message));
        }
        stretched(&info.inputs, &info.dims)
    }
}
