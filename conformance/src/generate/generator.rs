//! Writes modules, instruction by instruction.
use super::config::{Config, Options};
use super::data::Domain;
use super::scope::{Operand, Scope, Signature, Value};
use hlo::{ArrayShape, ElementType, Opcode, Shape};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Writes a module.
#[derive(Debug)]
pub(super) struct Generator {
    pub(super) rng: fastrand::Rng,
    pub(super) config: Config,
    /// The finished computations.
    pub(super) text: String,
    names: usize,
    pub(super) channels: usize,
    pub(super) functions: Vec<Signature>,
    /// The steps of the finished computations.
    steps: BTreeMap<String, u64>,
    /// Instructions that may still be inserted.
    pub(super) budget: usize,
    /// The nesting of operands that are derived for each other.
    pub(super) derivations: usize,
    /// The domains of the parameters of the entry.
    parameters: Vec<Domain>,
}

/// The most arrays that a module returns.
const MAX_RESULTS: usize = 24;
const MAX_PARAMETERS: usize = 8;
/// The most elements of an array, as a multiple of those of a random shape.
const GROWTH: usize = 4;
/// The most steps of a computation, about: a tenth of the fuel of `etalon fuzz`.
const MAX_STEPS: u64 = 1_000_000;

/// Returns the steps of an instruction: one for each element.
fn steps(shape: &Shape) -> u64 {
    let count = |shape: &Shape| shape.array().and_then(ArrayShape::element_count).unwrap_or(0);
    let elements: usize = shape.leaves().into_iter().map(count).sum();
    u64::try_from(elements).unwrap_or(u64::MAX).saturating_add(1)
}

/// Whether backends that store the type store it alike: elements of 1, 2 and 6 bits fill bytes in different ways.
fn is_portable(ty: ElementType) -> bool {
    ty.bits() == 4 || ty.bits() >= 8 || ty == ElementType::Pred
}

impl Generator {
    /// Returns the text of a module, and the domains of its parameters.
    pub(super) fn module(seed: u64, options: &Options) -> (String, Vec<Domain>) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let config = Config::draw(&mut rng, options);
        let budget = config.instructions;
        let mut generator = Self {
            rng,
            config,
            text: String::new(),
            names: 0,
            channels: 0,
            functions: Vec::new(),
            steps: BTreeMap::new(),
            budget,
            derivations: 0,
            parameters: Vec::new(),
        };
        let entry = generator.entry();
        let Config { replicas, partitions, .. } = generator.config;
        let devices = match (replicas, partitions) {
            (1, 1) => String::new(),
            _ => format!(", replica_count={replicas}, num_partitions={partitions}"),
        };
        let text = format!("HloModule m{seed}{devices}\n{}{entry}", generator.text);
        (text, generator.parameters)
    }

    /// Writes the entry, which returns all values that no instruction uses.
    fn entry(&mut self) -> String {
        let mut scope = Scope::new(0, true);
        while self.budget > 0 {
            self.budget -= 1;
            self.insert_any(&mut scope);
        }
        let unused = scope.unused();
        let skipped = unused.len().saturating_sub(MAX_RESULTS);
        let results: Vec<Value> = unused.into_iter().skip(skipped).collect();
        let names: Vec<&str> = results.iter().map(|value| value.name.as_str()).collect();
        let shape = Shape::Tuple(results.iter().map(|value| value.shape.clone()).collect());
        let root = match results.as_slice() {
            [one] => format!("{:#} copy({})", one.shape, one.name),
            _ => format!("{shape:#} tuple({})", names.join(", ")),
        };
        format!("ENTRY entry {{\n{}  ROOT result = {root}\n}}\n", scope.lines)
    }

    pub(super) fn pick(&mut self, count: usize) -> usize {
        self.rng.usize(..count.max(1))
    }
    /// Returns true once in `n` calls.
    pub(super) fn chance(&mut self, n: usize) -> bool {
        self.rng.usize(..n) == 0
    }
    pub(super) fn choose<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.rng.usize(..all.len())]
    }
    pub(super) fn size(&mut self) -> i64 {
        match self.pick(12) {
            0 => 1,
            1 if self.chance(4) => 0,
            _ => self.rng.i64(1..=self.config.max_size),
        }
    }
    /// Returns random dimensions.
    pub(super) fn dims(&mut self, min_rank: usize) -> Vec<i64> {
        let rank = self.rng.usize(min_rank..=self.config.max_rank.max(min_rank));
        let mut left = self.config.max_elements;
        let mut dims: Vec<i64> = Vec::new();
        for _ in 0..rank {
            let size = self.size().min(left);
            left /= size.max(1);
            dims.push(size);
        }
        self.rng.shuffle(&mut dims);
        dims
    }
    /// Returns an element type of the module that fits, else any that fits.
    pub(super) fn ty(&mut self, fits: impl Fn(ElementType) -> bool) -> Option<ElementType> {
        let portable = self.config.portable;
        let of = |all: &[ElementType]| -> Vec<ElementType> {
            let fits = |&ty: &ElementType| fits(ty) && (!portable || is_portable(ty));
            all.iter().copied().filter(fits).collect()
        };
        let mut types = of(&self.config.types);
        if types.is_empty() {
            types = of(ElementType::ALL);
        }
        (!types.is_empty()).then(|| types[self.rng.usize(..types.len())])
    }

    pub(super) fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }
    /// Adds an instruction, and the elements of its tuple.
    pub(super) fn push(
        &mut self,
        scope: &mut Scope,
        shape: impl Into<Shape>,
        text: &str,
    ) -> String {
        let (shape, name) = (shape.into(), self.name("v"));
        let _ = writeln!(scope.lines, "  {name} = {shape:#} {text}");
        scope.execute(1, steps(&shape));
        let parts = shape.tuple().map(<[Shape]>::to_vec).unwrap_or_default();
        let is_used = !parts.is_empty();
        scope.values.push(Value { name: name.clone(), shape, is_used, is_closed: false });
        for (i, part) in parts.into_iter().enumerate() {
            self.push(scope, part, &format!("get-tuple-element({name}), index={i}"));
        }
        name
    }
    /// Adds an instruction that is only used by others of the same inserter.
    pub(super) fn push_hidden(&mut self, scope: &mut Scope, shape: &Shape, text: &str) -> String {
        let name = self.name("v");
        let _ = writeln!(scope.lines, "  {name} = {shape:#} {text}");
        scope.execute(1, steps(shape));
        name
    }
    /// Adds an instruction whose result, an array, is only returned.
    pub(super) fn push_closed(&mut self, scope: &mut Scope, shape: impl Into<Shape>, text: &str) {
        let first = scope.values.len();
        self.push(scope, shape, text);
        for value in &mut scope.values[first..] {
            value.is_closed = true;
        }
    }

    /// Returns an existing array.
    pub(super) fn existing(
        &mut self,
        scope: &mut Scope,
        fits: impl Fn(&ArrayShape) -> bool,
    ) -> Option<Operand> {
        let is_static = |array: &ArrayShape| array.dynamic.is_none();
        let open = scope.open(|shape| shape.array().is_some_and(|a| is_static(a) && fits(a)));
        let i = self.recent(&open)?;
        let shape = scope.values[i].shape.array().cloned()?;
        Some(Operand { name: scope.use_value(i), shape })
    }
    /// Returns one of these; the last ones are the most likely.
    fn recent(&mut self, all: &[usize]) -> Option<usize> {
        let last = all.len().checked_sub(1)?;
        let back = self.pick(4).min(self.pick(all.len()));
        Some(all[last - back.min(last)])
    }
    /// Returns an array of one of these types: an existing one, or one of a random shape.
    pub(super) fn operand(
        &mut self,
        scope: &mut Scope,
        fits: impl Fn(ElementType) -> bool,
        min_rank: usize,
    ) -> Option<Operand> {
        if !self.chance(4) {
            let found = self.existing(scope, |a| fits(a.ty) && a.rank() >= min_rank);
            if found.is_some() {
                return found;
            }
        }
        let ty = self.ty(fits)?;
        let dims = if scope.is_scalar { Vec::new() } else { self.dims(min_rank) };
        Some(self.array_of(scope, ty, &dims))
    }
    pub(super) fn array_of(&mut self, scope: &mut Scope, ty: ElementType, dims: &[i64]) -> Operand {
        let shape = ArrayShape::new(ty, dims);
        Operand { name: self.array(scope, &shape), shape }
    }
    /// Returns the name of an array of this shape: an existing one, one derived from others, or a leaf.
    pub(super) fn array(&mut self, scope: &mut Scope, shape: &ArrayShape) -> String {
        if !self.chance(6)
            && let Some(found) = self.existing(scope, |other| other == shape)
        {
            return found.name;
        }
        if self.derivations < 2 && !scope.wraps && self.chance(2) {
            self.derivations += 1;
            let derived = self.derive(scope, shape);
            self.derivations -= 1;
            if let Some(name) = derived {
                scope.mark(&name);
                return name;
            }
        }
        let name = self.leaf(scope, shape, &Domain::Any);
        scope.mark(&name);
        name
    }
    /// Returns a value of this shape.
    pub(super) fn value(&mut self, scope: &mut Scope, shape: &Shape) -> String {
        match shape {
            Shape::Array(array) => self.array(scope, array),
            Shape::Tuple(parts) => {
                let found = scope.open(|other| other == shape);
                if let Some(i) = self.recent(&found).filter(|_| self.rng.bool()) {
                    return scope.use_value(i);
                }
                let parts: Vec<String> = parts.iter().map(|part| self.value(scope, part)).collect();
                self.push_hidden(scope, shape, &format!("tuple({})", parts.join(", ")))
            }
            Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
                let found = scope.open(|other| *other == Shape::Token);
                match self.recent(&found) {
                    Some(i) => scope.use_value(i),
                    None => self.push(scope, Shape::Token, "after-all()"),
                }
            }
        }
    }
    /// Returns a parameter of the entry, or a constant.
    pub(super) fn leaf(
        &mut self,
        scope: &mut Scope,
        shape: &ArrayShape,
        domain: &Domain,
    ) -> String {
        if scope.wraps {
            let number = scope.values.len();
            return self.push(scope, shape.clone(), &format!("parameter({number})"));
        }
        let number = self.parameters.len();
        let may = scope.depth == 0 && !scope.is_scalar && number < MAX_PARAMETERS;
        if may && !self.chance(4) {
            self.parameters.push(domain.clone());
            let name = self.push(scope, shape.clone(), &format!("parameter({number})"));
            if *domain != Domain::Any {
                scope.close(&name);
            }
            return name;
        }
        self.constant(scope, shape, domain)
    }
    /// Returns a constant; a large one is a scalar that is broadcast.
    pub(super) fn constant(
        &mut self,
        scope: &mut Scope,
        shape: &ArrayShape,
        domain: &Domain,
    ) -> String {
        let regime = self.config.regime;
        let is_small = shape.element_count().is_some_and(|count| count <= 32);
        if is_small || *domain != Domain::Any {
            let literal = domain.array(&mut self.rng, shape, regime).to_string();
            let (_, elements) = literal.split_once(' ').unwrap_or_default();
            let text = format!("constant({elements})");
            if *domain == Domain::Any {
                return self.push(scope, shape.clone(), &text);
            }
            return self.push_hidden(scope, &shape.clone().into(), &text);
        }
        let scalar = self.constant(scope, &ArrayShape::new(shape.ty, [].as_slice()), domain);
        scope.mark(&scalar);
        self.push(scope, shape.clone(), &format!("broadcast({scalar}), dimensions={{}}"))
    }
    /// Returns indices below `limits`, which are repeated.
    pub(super) fn indices(
        &mut self,
        scope: &mut Scope,
        shape: &ArrayShape,
        limits: &[i64],
    ) -> String {
        let wild = self.chance(4);
        self.leaf(scope, shape, &Domain::Index { limits: limits.to_vec(), wild })
    }

    /// Adds a random instruction; ops that do not fit here are drawn again.
    pub(super) fn insert_any(&mut self, scope: &mut Scope) {
        let total: u32 = self.config.ops.iter().map(|(_, weight)| weight).sum();
        for _ in 0..20 {
            let mut at = self.rng.u32(..total.max(1));
            let drawn = self.config.ops.iter().find(|(_, weight)| {
                let found = at < *weight;
                at = at.saturating_sub(*weight);
                found
            });
            let op = drawn.map_or(Opcode::Add, |&(op, _)| op);
            if self.try_insert(scope, op) {
                return;
            }
        }
    }
    /// Adds an instruction of this op, and what it needs, or nothing: sizes multiply in chains of ops, and loops of loops run
    /// long.
    pub(super) fn try_insert(&mut self, scope: &mut Scope, op: Opcode) -> bool {
        let before = (scope.clone(), self.parameters.len(), self.text.len(), self.functions.len());
        let largest = usize::try_from(self.config.max_elements).unwrap_or(0) * GROWTH;
        let is_small = |value: &Value| {
            let count = |shape: &Shape| shape.array().map_or(Some(0), ArrayShape::element_count);
            value.shape.leaves().into_iter().all(|s| count(s).is_some_and(|n| n <= largest))
        };
        let inserted = self.insert(scope, op).is_some()
            && scope.values[before.0.values.len()..].iter().all(is_small)
            && scope.steps <= MAX_STEPS;
        if !inserted {
            *scope = before.0;
            self.parameters.truncate(before.1);
            self.text.truncate(before.2);
            self.functions.truncate(before.3);
        }
        inserted
    }
    /// Keeps the steps of a finished computation.
    pub(super) fn keep_steps(&mut self, name: &str, steps: u64) {
        self.steps.insert(name.to_owned(), steps);
    }
    /// Returns the steps of one execution of a finished computation.
    pub(super) fn steps_of(&self, name: &str) -> u64 {
        self.steps.get(name).copied().unwrap_or(0)
    }
}
