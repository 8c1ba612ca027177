//! Called computations: calls, fusions, loops, branches, asynchronous computations.
use super::generator::Generator;
use super::generator::any;
use super::repeat;
use super::scope::{Scope, Signature};
use hlo::{ElementType, Shape};

/// A loop that is written.
struct Loop {
    /// The value that it carries; the first element is the counter.
    carried: Vec<Shape>,
    is_scalar: bool,
    /// Whether it runs for thousands of iterations.
    is_long: bool,
}

impl Generator {
    /// Writes a computation.
    pub(super) fn function(
        &mut self,
        parameters: &[Shape],
        result: &Shape,
        depth: usize,
        communicates: bool,
    ) -> String {
        let mut scope = Scope::new(depth, communicates);
        for (i, parameter) in parameters.iter().enumerate() {
            self.push(&mut scope, parameter.clone(), &format!("parameter({i})"));
        }
        self.body(&mut scope);
        // The copy of a tuple would be one of floats of several types.
        let root = match result {
            Shape::Tuple(parts) => format!("tuple({})", self.arguments(&mut scope, parts)),
            Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
                format!("copy({})", self.value(&mut scope, result))
            }
        };
        let (name, last) = (self.name("fn"), self.name("v"));
        self.finish(&name, &scope, &format!("{last} = {result:#} {root}"));
        name
    }
    fn body(&mut self, scope: &mut Scope) {
        let count = 1 + self.pick(5);
        for _ in 0..count.min(self.budget) {
            self.budget = self.budget.saturating_sub(1);
            self.insert_any(scope);
        }
    }
    pub(super) fn may_nest(&self, scope: &Scope) -> Option<()> {
        (!scope.is_scalar && scope.depth < self.config.max_depth).then_some(())
    }
    /// Returns a shape that a computation takes or returns.
    fn any_shape(&mut self, scope: &mut Scope) -> Shape {
        if self.chance(4) { self.tuple_shape(scope) } else { self.shape(scope) }
    }
    fn signature(&mut self, scope: &mut Scope, communicates: bool) -> Signature {
        let parameters: Vec<Shape> = (0..self.pick(4)).map(|_| self.any_shape(scope)).collect();
        let result = self.any_shape(scope);
        let name = self.function(&parameters, &result, scope.depth + 1, communicates);
        Signature { name, parameters, result }
    }
    fn arguments(&mut self, scope: &mut Scope, shapes: &[Shape]) -> String {
        let names: Vec<String> = shapes.iter().map(|shape| self.value(scope, shape)).collect();
        names.join(", ")
    }
    pub(super) fn call(&mut self, scope: &mut Scope) -> Option<()> {
        self.may_nest(scope)?;
        let known = self.functions.len();
        // A function that was called before may communicate only where all devices call it.
        let callee = if known > 0 && scope.communicates && self.rng.bool() {
            self.functions[self.rng.usize(..known)].clone()
        } else {
            self.signature(scope, scope.communicates)
        };
        scope.execute(1, self.steps_of(&callee.name));
        let arguments = self.arguments(scope, &callee.parameters);
        let text = format!("call({arguments}), to_apply={}", callee.name);
        self.push(scope, callee.result.clone(), &text);
        self.functions.push(callee);
        Some(())
    }
    pub(super) fn fusion(&mut self, scope: &mut Scope) -> Option<()> {
        self.may_nest(scope)?;
        let callee = self.fused(scope);
        scope.execute(1, self.steps_of(&callee.name));
        let arguments = self.arguments(scope, &callee.parameters);
        let kinds: &[&str] = match self.config.portable {
            true => &["kLoop"],
            false => &["kLoop", "kInput", "kOutput", "kCustom"],
        };
        let kind = self.choose(kinds);
        let text = format!("fusion({arguments}), kind={kind}, calls={}", callee.name);
        self.push(scope, callee.result, &text);
        Some(())
    }
    /// Writes a computation in which every value is used, or returned.
    fn fused(&mut self, scope: &mut Scope) -> Signature {
        let parameters: Vec<Shape> = (0..self.pick(4)).map(|_| self.shape(scope)).collect();
        let mut scope = Scope { is_fused: true, ..Scope::new(scope.depth + 1, false) };
        for (i, parameter) in parameters.iter().enumerate() {
            self.push(&mut scope, parameter.clone(), &format!("parameter({i})"));
        }
        self.body(&mut scope);
        scope.mark_read();
        if scope.unused().is_empty() {
            let shape = self.shape(&mut scope);
            let name = self.value(&mut scope, &shape);
            self.push(&mut scope, shape, &format!("copy({name})"));
        }
        let unused = scope.unused();
        let names: Vec<&str> = unused.iter().map(|value| value.name.as_str()).collect();
        let (result, root) = match unused.as_slice() {
            [one] => (one.shape.clone(), format!("copy({})", one.name)),
            all => {
                let shapes = all.iter().map(|value| value.shape.clone()).collect();
                (Shape::Tuple(shapes), format!("tuple({})", names.join(", ")))
            }
        };
        let (name, last) = (self.name("fn"), self.name("v"));
        self.finish(&name, &scope, &format!("{last} = {result:#} {root}"));
        Signature { name, parameters, result }
    }

    /// A loop whose first value is the counter.
    pub(super) fn while_loop(&mut self, scope: &mut Scope) -> Option<()> {
        self.may_nest(scope)?;
        let is_long = self.config.repeats && scope.depth == 0 && !self.chance(3);
        let all = self.carried(scope, is_long)?;
        let tuple = Shape::Tuple(all.carried.clone());
        let (is_scalar, communicates) = (all.is_scalar, scope.communicates && !is_long);
        let part =
            |communicates: bool| Scope { is_scalar, ..Scope::new(scope.depth + 1, communicates) };
        let (condition, body) = (part(false), part(communicates));
        let body = match is_long {
            true => self.with_small_arrays(|generator| generator.loop_body(body, &tuple, &all)),
            false => self.loop_body(body, &tuple, &all),
        };
        let steps = self.steps_of(&body);
        let rounds = match self.pick(8) {
            _ if is_long => repeat::rounds(&mut self.rng, steps),
            0 => self.rng.u64(5..=12),
            _ => self.rng.u64(0..=4),
        };
        let condition = self.condition(condition, &tuple, rounds, is_long);
        // The condition runs once more.
        scope.execute(rounds + 1, self.steps_of(&condition) + steps);
        let zero = self.integer(scope, 0);
        let initial = self.next(scope, zero, &all.carried);
        let initial = self.push_hidden(scope, &tuple, &format!("tuple({initial})"));
        let text = format!("while({initial}), condition={condition}, body={body}");
        self.push(scope, tuple, &text);
        Some(())
    }
    /// Draws what a loop carries.
    fn carried(&mut self, scope: &mut Scope, is_long: bool) -> Option<Loop> {
        let mut carried = vec![Shape::scalar(ElementType::S32)];
        let is_scalar = self.chance(if is_long { 2 } else { 4 });
        for _ in 0..self.pick(4).max(usize::from(is_long)) {
            carried.push(match self.pick(4) {
                0 => carried[self.pick(carried.len())].clone(),
                _ if is_long => {
                    self.with_small_arrays(|generator| generator.small_shape(is_scalar))?
                }
                _ if is_scalar => Shape::scalar(self.ty(any)?),
                _ => self.any_shape(scope),
            });
        }
        Some(Loop { carried, is_scalar, is_long })
    }
    /// Adds the parameter of a loop, and returns its counter.
    fn counter(&mut self, scope: &mut Scope, tuple: &Shape) -> String {
        let parameter = self.push(scope, tuple.clone(), "parameter(0)");
        let counter = Shape::scalar(ElementType::S32);
        self.push_hidden(scope, &counter, &format!("get-tuple-element({parameter}), index=0"))
    }
    /// Returns the values of the next round.
    fn next(&mut self, scope: &mut Scope, counter: String, carried: &[Shape]) -> String {
        let mut parts = vec![counter];
        for part in &carried[1..] {
            parts.push(self.value(scope, part));
        }
        parts.join(", ")
    }
    fn condition(&mut self, mut scope: Scope, tuple: &Shape, rounds: u64, is_long: bool) -> String {
        let counter = self.counter(&mut scope, tuple);
        if !is_long && self.chance(3) {
            self.body(&mut scope);
        }
        let limit = self.integer(&mut scope, i64::try_from(rounds).unwrap_or(0));
        let (name, root) = (self.name("fn"), self.name("v"));
        let text = format!("{root} = pred[] compare({counter}, {limit}), direction=LT");
        self.finish(&name, &scope, &text);
        name
    }
    fn loop_body(&mut self, mut scope: Scope, tuple: &Shape, all: &Loop) -> String {
        let counter = self.counter(&mut scope, tuple);
        self.body(&mut scope);
        if all.is_long && !all.is_scalar && self.chance(3) {
            self.attempt(&mut scope, Self::updates);
        }
        let one = self.integer(&mut scope, 1);
        let text = format!("add({counter}, {one})");
        let next = self.push_hidden(&mut scope, &Shape::scalar(ElementType::S32), &text);
        let mut parts = vec![next];
        for part in &all.carried[1..] {
            let value = self.value(&mut scope, part);
            let kept_finite = match all.is_long {
                true => self.kept_finite(&mut scope, &counter, part, value.clone()),
                false => None,
            };
            parts.push(kept_finite.unwrap_or(value));
        }
        let (name, root) = (self.name("fn"), self.name("v"));
        let parts = parts.join(", ");
        self.finish(&name, &scope, &format!("{root} = {tuple:#} tuple({parts})"));
        name
    }

    pub(super) fn conditional(&mut self, scope: &mut Scope) -> Option<()> {
        self.may_nest(scope)?;
        let result = self.any_shape(scope);
        let count = 1 + self.pick(3);
        let by_pred = count == 2 && self.rng.bool();
        let (mut functions, mut arguments) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let parameter = self.any_shape(scope);
            let parameters = std::slice::from_ref(&parameter);
            let function = self.function(parameters, &result, scope.depth + 1, false);
            scope.execute(1, self.steps_of(&function));
            functions.push(function);
            arguments.push(self.value(scope, &parameter));
        }
        let (arguments, names) = (arguments.join(", "), functions.join(", "));
        let text = if by_pred {
            let pred = self.array_of(scope, ElementType::Pred, &[]).name;
            let [on_true, on_false] = [&functions[0], &functions[1]];
            format!(
                "conditional({pred}, {arguments}), true_computation={on_true}, false_computation={on_false}"
            )
        } else {
            // An index out of range selects the last branch.
            let index = self.array_of(scope, ElementType::S32, &[]).name;
            format!("conditional({index}, {arguments}), branch_computations={{{names}}}")
        };
        self.push(scope, result, &text);
        Some(())
    }

    /// Writes a computation of one op, whose operands are the parameters.
    fn wrapped(&mut self) -> Option<Signature> {
        let mut scope = Scope { wraps: true, ..Scope::new(1, false) };
        let op = self.config.ops[self.rng.usize(..self.config.ops.len())].0;
        self.try_insert(&mut scope, op).then_some(())?;
        let lines: Vec<&str> = scope.lines.lines().collect();
        let (last, before) = scope.values.split_last()?;
        let is_one = lines.len() == before.len() + 1
            && before.iter().zip(&lines).all(|(_, line)| line.contains(" parameter("));
        let root = lines.last()?.trim().to_owned();
        (is_one && !before.is_empty() && !root.contains(" parameter(")).then_some(())?;
        let parameters = before.iter().map(|value| value.shape.clone()).collect();
        let result = last.shape.clone();
        let name = self.name("fn");
        scope.lines.truncate(scope.lines.len() - lines.last()?.len() - 1);
        self.finish(&name, &scope, &root);
        Some(Signature { name, parameters, result })
    }
    /// An op that runs until its result is taken; other instructions come between.
    pub(super) fn async_call(&mut self, scope: &mut Scope) -> Option<()> {
        // Passes of XLA add converts and copies to the computation, which its verifier then
        // refuses.
        (scope.depth == 0 && !self.config.portable).then_some(())?;
        let Signature { name: callee, parameters, result } = (0..8).find_map(|_| self.wrapped())?;
        scope.execute(1, self.steps_of(&callee));
        let arguments = self.arguments(scope, &parameters);
        let context = Shape::scalar(ElementType::U32);
        let started = Shape::Tuple(vec![Shape::Tuple(parameters), result.clone(), context]);
        let text = format!("async-start({arguments}), calls={callee}");
        let mut last = self.push_hidden(scope, &started, &text);
        for _ in 0..self.pick(3) {
            last = self.push_hidden(scope, &started, &format!("async-update({last})"));
        }
        self.between(scope);
        self.push(scope, result, &format!("async-done({last})"));
        Some(())
    }
    /// Adds instructions between the start and the end of an operation.
    pub(super) fn between(&mut self, scope: &mut Scope) {
        if self.budget > 0 && self.rng.bool() {
            self.budget -= 1;
            self.insert_any(scope);
        }
    }
}
