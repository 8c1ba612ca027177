//! Loops of thousands of iterations, which engines run as machine code. What they compute stays
//! cheap, finite, and different in each iteration.
use super::generator::Generator;
use super::generator::any;
use super::scope::Scope;
use hlo::{ArrayShape, Class, ElementType, Opcode, Shape};

/// The iterations of a long loop: engines count a thousand or two, and the steps of each, until
/// they generate code.
const ROUNDS: [u64; 6] = [300, 999, 1001, 2100, 4500, 21_000];
/// The most steps of a long loop in all its iterations, about.
const MAX_STEPS: u64 = 250_000;

/// Returns the number of iterations of a loop whose body takes this many steps.
pub(super) fn rounds(rng: &mut fastrand::Rng, steps: u64) -> u64 {
    let some = ROUNDS[rng.usize(..ROUNDS.len())] + rng.u64(..5);
    some.min(MAX_STEPS / steps.max(1)).max(1)
}

impl Generator {
    /// Returns what `write` writes for a long loop: arrays are small there.
    pub(super) fn with_small_arrays<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        let before = (self.config.max_size, self.config.max_elements, self.config.is_large);
        (self.config.max_size, self.config.max_elements, self.config.is_large) = (5, 16, false);
        let written = write(self);
        (self.config.max_size, self.config.max_elements, self.config.is_large) = before;
        written
    }
    /// Returns the shape of an array that a long loop carries.
    pub(super) fn small_shape(&mut self, is_scalar: bool) -> Option<Shape> {
        let ty = self.ty(any)?;
        let dims = if is_scalar { Vec::new() } else { self.dims(0) };
        Some(ArrayShape::new(ty, dims.as_slice()).into())
    }
    /// Returns the next value of what a long loop carries: after thousands of iterations most
    /// values would be infinite, NaN, or no longer change.
    pub(super) fn kept_finite(
        &mut self,
        scope: &mut Scope,
        counter: &str,
        shape: &Shape,
        value: String,
    ) -> Option<String> {
        let array = shape.array()?.clone();
        let of = |ty: ElementType| Shape::from(array.with_type(ty));
        let ty = array.ty;
        if ty == ElementType::Pred {
            return Some(value);
        }
        let period = self.rng.i64(2..=7);
        let period = self.integer(scope, period);
        let scalar = Shape::scalar(ElementType::S32);
        let small = self.push_hidden(scope, &scalar, &format!("remainder({counter}, {period})"));
        let mut small = self.push_hidden(scope, &Shape::scalar(ty), &format!("convert({small})"));
        if array.rank() > 0 {
            small = self.push_hidden(scope, shape, &format!("broadcast({small}), dimensions={{}}"));
        }
        let finite = match ty.class() {
            Class::Pred | Class::Signed | Class::Unsigned => {
                let op = self.choose(&["add", "xor", "subtract"]);
                return Some(self.push_hidden(scope, shape, &format!("{op}({value}, {small})")));
            }
            Class::Float => value.clone(),
            Class::Complex => {
                self.push_hidden(scope, &of(ty.component()), &format!("abs({value})"))
            }
        };
        let is_finite =
            Opcode::IsFinite.types()?.contains(ty.component()).then_some("is-finite")?;
        let text = format!("{is_finite}({finite})");
        let finite = self.push_hidden(scope, &of(ElementType::Pred), &text);
        let text = format!("select({finite}, {value}, {small})");
        let value = self.push_hidden(scope, shape, &text);
        match self.pick(3) {
            0 => Some(value),
            1 => Some(self.push_hidden(scope, shape, &format!("add({value}, {small})"))),
            _ => {
                let value = self.push_hidden(scope, shape, &format!("subtract({small}, {value})"));
                Some(value)
            }
        }
    }
}
