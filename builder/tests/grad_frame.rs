//! Differentiation: what connects, what does not, and derivatives of derivatives.
mod support;
use support::gradient::{check, inputs};

#[test]
fn products_and_sines() {
    check("products_and_sines", &inputs(&["f64[3]", "f64[3]"], -1.0, 1.0), |_, x| {
        x[0] * x[1].sin()
    });
    check("complex_product", &inputs(&["c128[3]", "c128[3]"], -1.0, 1.0), |_, x| x[0] * x[1].sin());
}
