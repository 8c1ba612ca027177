//! Twins: instructions that differ in little from one before, on operands that both share.
//!
//! A transformation that takes two instructions for one, or moves one into another, must look at
//! everything that a value depends on: the op, each attribute, the operands, the layouts of their
//! shapes, the shape of the result. A twin differs in one of them, or in nothing.
use super::generator::Generator;
use super::generator::{any, list};
use super::mutate::{is_word, other_word, words};
use super::scope::{ArrayOperand, Scope, Written};
use super::verified;
use hlo::{ArrayShape, ElementType, Shape};
use std::fmt::Write as _;

impl Generator {
    /// Adds a twin of one of the last instructions, or instructions that are each other's twins.
    pub(super) fn twin(&mut self, scope: &mut Scope) -> Option<()> {
        match self.pick(8) {
            0 if !scope.is_scalar => return self.views(scope),
            1 if !scope.is_scalar => return self.products(scope),
            2 if !scope.is_scalar => return self.updates(scope),
            _ => {}
        }
        let last = scope.written.len().checked_sub(1)?;
        let at = last - self.pick(3).min(last);
        let Written { shape, op, mut operands, mut attributes } = scope.written[at].clone();
        match self.pick(8) {
            0 => {}
            1 => self.swap(scope, &mut operands)?,
            2 | 3 => attributes = self.changed(scope, &scope.written[at].clone())?,
            _ => {
                let k = self.pick(operands.len());
                let operand = scope.array(operands.get(k)?)?;
                operands[k] = self.equal_operand(scope, &operand)?;
            }
        }
        for (_, callee) in words(&attributes, is_word) {
            scope.execute(1, self.steps_of(callee));
        }
        self.push(scope, shape, &format!("{op}({}){attributes}", operands.join(", ")));
        Some(())
    }
    /// Swaps two operands of one shape.
    fn swap(&mut self, scope: &Scope, operands: &mut [String]) -> Option<()> {
        let first = self.pick(operands.len().checked_sub(2)? + 1);
        let [a, b] = [first, first + 1].map(|k| scope.array(&operands[k]));
        (a?.shape == b?.shape).then(|| operands.swap(first, first + 1))
    }
    /// Returns the attributes of an instruction with another number or word, with which the
    /// instruction is valid too.
    fn changed(&mut self, scope: &Scope, written: &Written) -> Option<String> {
        let Written { shape, op, operands, attributes } = written;
        // Which devices take part, and what a reduction of no elements is, would change too.
        let calls = attributes.contains("=fn");
        let communicates = ["replica_groups", "source_target_pairs"];
        let is_fixed = communicates.iter().any(|key| attributes.contains(key))
            || (calls && self.config.portable);
        (!is_fixed && !attributes.is_empty()).then_some(())?;
        let mut text = if calls { self.text.clone() } else { String::new() };
        text.push_str("ENTRY e {\n");
        for (number, name) in operands.iter().enumerate() {
            let array = scope.array(name)?.shape;
            // An operand may be there twice.
            if !operands[..number].contains(name) {
                let _ = writeln!(text, "{name} = {array:#} parameter({number})");
            }
        }
        let unused = |number: usize| operands[..number].contains(&operands[number]);
        for number in (0..operands.len()).filter(|&number| unused(number)) {
            let _ = writeln!(text, "unused{number} = pred[] parameter({number})");
        }
        let operands = operands.join(", ");
        let is_valid = |attributes: &String| {
            let root = format!("ROOT r = {shape:#} {op}({operands}){attributes}\n}}");
            attributes != &written.attributes && verified(&format!("{text}{root}")).is_ok()
        };
        (0..6).map(|_| self.other(attributes)).find(is_valid)
    }
    /// Returns attributes with another number or word.
    fn other(&mut self, attributes: &str) -> String {
        if self.chance(3) {
            return other_word(&mut self.rng, attributes);
        }
        let digits = words(attributes, |c| c.is_ascii_digit());
        // Not the number of a computation, or of a type.
        let is_number = |(at, _): &(usize, &str)| {
            let before: Vec<char> = attributes[..*at].chars().rev().take(2).collect();
            match before.as_slice() {
                ['x', digit] => digit.is_ascii_digit(),
                [c, ..] => !c.is_alphabetic(),
                [] => true,
            }
        };
        let numbers: Vec<(usize, &str)> = digits.into_iter().filter(is_number).collect();
        if numbers.is_empty() {
            return attributes.to_owned();
        }
        let (at, old) = numbers[self.pick(numbers.len())];
        let number: i64 = old.parse().unwrap_or(0);
        let new = match self.pick(3) {
            0 => number + 1,
            1 => (number - 1).max(0),
            _ => self.rng.i64(0..4),
        };
        format!("{}{new}{}", &attributes[..at], &attributes[at + old.len()..])
    }

    /// Returns an array of the same shape that has the elements of `x`: itself under another name,
    /// or all of them at other places.
    fn equal_operand(&mut self, scope: &mut Scope, x: &ArrayOperand) -> Option<String> {
        (!scope.is_scalar).then_some(())?;
        let ArrayOperand { name, shape } = x;
        let rank = shape.rank();
        let text = match self.pick(8) {
            0 => format!("opt-barrier({name})"),
            1 => format!("copy({name})"),
            2 => format!("reshape({name})"),
            3 if rank > 0 => format!("reverse({name}), dimensions={}", list(self.some_of(rank))),
            4 if rank > 1 => return Some(self.transposed_operand(scope, x)),
            5 => {
                let dims = self.regrouped(&shape.dims);
                let other = ArrayShape::new(shape.ty, dims.as_slice());
                let other = self.push(scope, other, &format!("reshape({name})"));
                scope.mark(&other);
                format!("reshape({other})")
            }
            _ if rank > 1 && !self.config.portable => {
                let from = if self.chance(3) {
                    name.clone()
                } else {
                    self.copied_to_layout(scope, shape, name)
                };
                let stated = self.in_some_layout(shape);
                return Some(self.push_in(
                    scope,
                    shape.clone(),
                    &stated,
                    &format!("bitcast({from})"),
                ));
            }
            _ => format!("copy({name})"),
        };
        Some(self.push(scope, shape.clone(), &text))
    }
    /// Returns a transposition of an array, with the dimensions that the array has.
    fn transposed_operand(&mut self, scope: &mut Scope, x: &ArrayOperand) -> String {
        let order = self.order(x.shape.rank());
        let dims: Vec<i64> = order.iter().map(|&d| x.shape.dims[d]).collect();
        let text = format!("transpose({}), dimensions={}", x.name, list(order));
        let transposed = self.push(scope, ArrayShape::new(x.shape.ty, dims.as_slice()), &text);
        if dims == x.shape.dims.as_slice() {
            return transposed;
        }
        scope.mark(&transposed);
        self.push(scope, x.shape.clone(), &format!("reshape({transposed})"))
    }
    /// Returns a copy of an array in some layout.
    fn copied_to_layout(&mut self, scope: &mut Scope, shape: &ArrayShape, name: &str) -> String {
        let stated = self.in_some_layout(shape);
        let copy = self.push_in(scope, shape.clone(), &stated, &format!("copy({name})"));
        scope.mark(&copy);
        copy
    }
    /// Adds equal bitcasts of an array and of copies of it in other layouts.
    fn views(&mut self, scope: &mut Scope) -> Option<()> {
        (!self.config.portable).then_some(())?;
        let x = self.operand(scope, any, 2)?;
        let dims = self.regrouped(&x.shape.dims);
        let shape = ArrayShape::new(x.shape.ty, dims.as_slice());
        let stated = self.in_some_layout(&shape);
        for _ in 0..2 + self.pick(2) {
            let from = match self.pick(3) {
                0 => x.name.clone(),
                _ => self.copied_to_layout(scope, &x.shape, &x.name),
            };
            self.push_in(scope, shape.clone(), &stated, &format!("bitcast({from})"));
        }
        Some(())
    }
    /// Adds products of a matrix and of its transpose with the same array, over the same
    /// dimensions.
    fn products(&mut self, scope: &mut Scope) -> Option<()> {
        (!scope.is_fused || !self.config.portable).then_some(())?;
        let ty = self.ty(|ty| ty != ElementType::Pred)?;
        let n = self.size().clamp(2, 24);
        let x = self.array_of(scope, ty, &[n, n]);
        let m = self.size().clamp(1, 8);
        let (dims, result): (&[i64], &[i64]) = match self.pick(3) {
            0 => (&[n], &[n]),
            1 => (&[n, m], &[n, m]),
            _ => (&[n, n], &[n, n]),
        };
        let v = self.array_of(scope, ty, dims).name;
        let transposed = format!("transpose({}), dimensions={{1,0}}", x.name);
        let transposed = self.push(scope, x.shape.clone(), &transposed);
        scope.mark(&transposed);
        let (to, c) = (self.sum_type(ty), self.pick(2));
        let mut names = [x.name, transposed];
        self.rng.shuffle(&mut names);
        for name in &names {
            let text = format!(
                "dot({name}, {v}), lhs_contracting_dims={{{c}}}, rhs_contracting_dims={{0}}"
            );
            self.push(scope, ArrayShape::new(to, result), &text);
        }
        Some(())
    }
    /// Updates a part of an array, and reads the array of before again.
    pub(super) fn updates(&mut self, scope: &mut Scope) -> Option<()> {
        (!scope.is_fused || !self.config.portable).then_some(())?;
        match self.pick(3) {
            0 => self.scatter(scope)?,
            _ => self.dynamic_update_slice(scope)?,
        }
        let Written { operands, .. } = scope.written.last()?.clone();
        let x = scope.array(operands.first()?)?;
        let updated = scope.values.last()?.name.clone();
        let (name, shape) = (&x.name, &x.shape);
        match self.pick(5) {
            0 => {
                let mut dims = shape.dims.to_vec();
                dims[0] *= 2;
                let both = ArrayShape::new(shape.ty, dims.as_slice());
                self.push(
                    scope,
                    both,
                    &format!("concatenate({name}, {updated}), dimensions={{0}}"),
                );
            }
            1 => {
                let all = list(0..shape.rank());
                self.push(scope, shape.clone(), &format!("reverse({name}), dimensions={all}"));
            }
            2 => {
                let equal = shape.with_type(ElementType::Pred);
                self.push(scope, equal, &format!("compare({name}, {updated}), direction=EQ"));
            }
            3 => {
                let parts = [shape.clone(), shape.clone()].map(Shape::from);
                self.push(
                    scope,
                    Shape::Tuple(parts.to_vec()),
                    &format!("tuple({updated}, {name})"),
                );
            }
            // The twin of the update.
            _ => {
                let Written { shape, op, operands, attributes } = scope.written.last()?.clone();
                self.push(scope, shape, &format!("{op}({}){attributes}", operands.join(", ")));
            }
        }
        Some(())
    }
}
