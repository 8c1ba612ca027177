//! Activations: functions of each element.
use crate::Value;
use crate::arguments::inexact;

impl Value<'_> {
    /// Returns `max(x, 0)`, with derivative 0 at 0 as in `jax.nn.relu`; NaN stays NaN.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// assert_eq!(interp::run(&b.build(b.constant([-1f32, 2.]).relu())?, &[])?.to_string(), "f32[2]{0} {0, 2}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn relu(self) -> Self {
        // The derivative of `max` at equal operands is 1/2.
        self.le(0).select(0, self)
    }
    /// Returns `min(max(x, 0), 6)`, with derivative 0 at 0 and 6 as in `jax.nn.relu6`.
    #[track_caller]
    pub fn relu6(self) -> Self {
        self.record(|_| Ok(self.ge(6).select(self.full_like(6), self.relu())))
    }
    /// Returns `x` where it is not negative, `slope * x` elsewhere.
    #[track_caller]
    pub fn leaky_relu(self, slope: f64) -> Self {
        self.ge(0).select(self, self * slope)
    }
    /// Returns `x` where it is positive, `alpha * (exp(x) - 1)` elsewhere.
    #[track_caller]
    pub fn elu(self, alpha: f64) -> Self {
        self.record(|b| {
            let shape = self.array()?;
            inexact(&shape, "`elu`")?;
            // Where x is large its exponential, which is not used, would be infinite and spoil
            // derivatives.
            let positive = self.gt(0);
            let below = positive.select(b.zero(shape.ty), self);
            Ok(positive.select(self, below.expm1() * alpha))
        })
    }
    /// Returns `scale * elu(x, alpha)` with the constants that keep mean 0 and variance 1:
    /// `scale = 1.0507..`, `alpha = 1.6733..`.
    #[track_caller]
    pub fn selu(self) -> Self {
        self.elu(1.673_263_242_354_377_2) * 1.050_700_987_355_480_5
    }
    /// Returns `1 / (1 + exp(-x))`: the op `logistic`.
    #[track_caller]
    pub fn sigmoid(self) -> Self {
        self.logistic()
    }
    /// Returns `log(sigmoid(x))`, exact where the sigmoid is near 0 or 1.
    #[track_caller]
    pub fn log_sigmoid(self) -> Self {
        self.neg().softplus().neg()
    }
    /// Returns `log(1 - exp(-x))` for `x >= 0`, as `jax.nn.log1mexp` does: of a probability the log
    /// of its complement, `x.neg().log1mexp()` if `x` is the log of the probability.
    ///
    /// Computed as `log(-expm1(-x))` up to `log(2)` and `log1p(-exp(-x))` beyond, so that neither
    /// end loses digits. `-inf` at 0, NaN below.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.constant([0f32, 1e-10, 40.]).log1mexp())?, &[])?;
    /// assert_eq!(result.to_string(), "f32[3]{0} {-inf, -23.0258503, -4.24835413e-18}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn log1mexp(self) -> Self {
        self.record(|_| {
            // Each side takes `log(2)` where the other is chosen, so that its derivative is finite.
            let middle = std::f64::consts::LN_2;
            let beyond = self.gt(middle);
            let near = beyond.select(self.full_like(middle), self);
            let far = beyond.select(self, self.full_like(middle));
            Ok(beyond.select(far.neg().exp().neg().log1p(), near.neg().expm1().neg().log()))
        })
    }
    /// Returns `log(1 + exp(x))`, computed as `max(x, 0) + log1p(exp(-|x|))`, which does not
    /// overflow.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.constant([0f32, 1000.]).softplus())?, &[])?;
    /// assert_eq!(result.to_string(), "f32[2]{0} {0.693147182, 1000}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn softplus(self) -> Self {
        self.record(|b| {
            let zero = b.zero(self.element_type()?);
            // Chosen, since `max` and `abs` have corners at 0, whose derivatives do not add up to
            // those of the sum.
            let above = self.gt(0);
            let below = above.select(self.neg(), self);
            Ok(above.select(self, zero) + below.exp().log1p())
        })
    }
    /// Returns `x / (1 + |x|)`.
    #[track_caller]
    pub fn soft_sign(self) -> Self {
        self / (self.abs() + 1)
    }
    /// Returns `x * sigmoid(x)`, also called swish.
    #[track_caller]
    pub fn silu(self) -> Self {
        self * self.logistic()
    }
    /// Returns `x * tanh(softplus(x))`.
    #[track_caller]
    pub fn mish(self) -> Self {
        self * self.softplus().tanh()
    }
    /// Returns `min(max(x + 3, 0), 6) / 6`.
    #[track_caller]
    pub fn hard_sigmoid(self) -> Self {
        (self + 3).relu6() / 6
    }
    /// Returns `x * hard_sigmoid(x)`, 0 up to -3 and `x` from 3 on, with these derivatives at both
    /// as in `jax.nn.hard_swish`.
    #[track_caller]
    pub fn hard_swish(self) -> Self {
        self.record(|_| {
            // Bounded, so that the branch that is not chosen is finite, and so are its derivatives.
            let inside = self.max(-3).min(3);
            let curve = inside * (inside + 3) / 6;
            Ok(self.le(-3).select(0, self.ge(3).select(self, curve)))
        })
    }
    /// Returns `x / 2 * (1 + erf(x / sqrt 2))`: the exact Gaussian error linear unit, the default
    /// of PyTorch and ONNX. [`Value::gelu_tanh`] is the default of `jax.nn.gelu`.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.constant([0f32, 1.]).gelu())?, &[])?;
    /// assert!((result.get(1).as_f64() - 0.841_344_75).abs() < 1e-7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn gelu(self) -> Self {
        self * 0.5 * ((self * std::f64::consts::FRAC_1_SQRT_2).erf() + 1)
    }
    /// Returns `x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))`: the approximation of
    /// [`Value::gelu`] that `jax.nn.gelu` computes by default.
    #[track_caller]
    pub fn gelu_tanh(self) -> Self {
        let scale = (2.0 / std::f64::consts::PI).sqrt();
        let inner = self + self * self * self * 0.044_715;
        self * 0.5 * ((inner * scale).tanh() + 1)
    }
}
