//! Writes modules, instruction by instruction.
use super::config::{Config, Options};
use super::data::Domain;
use super::scope::{ArrayOperand, Scope, ScopeValue, Signature};
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
    /// Whether an instruction was added that needs what is left out.
    is_excluded: bool,
    /// The domains and the shapes of the parameters of the entry.
    parameters: Vec<(Domain, ArrayShape)>,
}

/// The most arrays that a module returns.
const MAX_RESULTS: usize = 24;
const MAX_PARAMETERS: usize = 8;
/// Sizes at which kernels change from vectors and tiles to what is left.
const TILES: [i64; 7] = [8, 16, 32, 48, 64, 128, 256];
/// Sizes at which arrays are divided into parts, for caches or for threads; some are near primes.
const PARTS: [i64; 10] = [512, 1024, 2048, 4096, 8191, 16_384, 32_768, 65_536, 131_071, 262_144];
/// The most elements of an array, as a multiple of those of a random shape.
const GROWTH: usize = 4;
/// The most steps of a computation, about: a tenth of the fuel of `etalon fuzz`. An instruction with which it has more is taken back.
const MAX_STEPS: u64 = 1_000_000;

/// Returns the steps of an instruction: one for each element.
fn steps(shape: &Shape) -> u64 {
    let count = |shape: &Shape| shape.array().and_then(ArrayShape::element_count).unwrap_or(0);
    let elements: usize = shape.leaves().into_iter().map(count).sum();
    u64::try_from(elements).unwrap_or(u64::MAX).saturating_add(1)
}

/// Whether backends that store the type store it alike: elements of 1, 2 and 6 bits fill bytes in
/// different ways.
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
            is_excluded: false,
            parameters: Vec::new(),
        };
        let (entry, results) = generator.entry();
        let Config { replicas, partitions, .. } = generator.config;
        let devices = match (replicas, partitions) {
            (1, 1) => String::new(),
            _ => format!(", replica_count={replicas}, num_partitions={partitions}"),
        };
        let donated =
            if generator.config.donates { generator.donated(&results) } else { String::new() };
        let text = format!("HloModule m{seed}{devices}{donated}\n{}{entry}", generator.text);
        (text, generator.parameters.into_iter().map(|(domain, _)| domain).collect())
    }
    /// Returns the parameters whose memory results may take, as a part of the header.
    fn donated(&mut self, results: &[Shape]) -> String {
        let (mut aliases, mut donors, mut taken) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..self.parameters.len() {
            let shape = Shape::from(self.parameters[number].1.clone());
            let fits = |&k: &usize| results[k] == shape && !taken.contains(&k);
            match (self.pick(3), (0..results.len()).find(fits)) {
                (0, _) => {}
                (1, Some(k)) => {
                    taken.push(k);
                    let index = if results.len() == 1 { String::new() } else { k.to_string() };
                    aliases.push(format!("{{{index}}}: ({number}, {{}}, may-alias)"));
                }
                _ => donors.push(format!("({number}, {{}})")),
            }
        }
        let part = |name: &str, all: &[String]| match all {
            [] => String::new(),
            all => format!(", {name}={{ {} }}", all.join(", ")),
        };
        part("input_output_alias", &aliases) + &part("buffer_donor", &donors)
    }

    /// Writes the entry, which returns all values that no instruction uses; returns their shapes,
    /// too.
    fn entry(&mut self) -> (String, Vec<Shape>) {
        let mut scope = Scope::new(0, true);
        while self.budget > 0 {
            self.budget -= 1;
            self.insert_any(&mut scope);
        }
        let unused = scope.unused();
        let skipped = unused.len().saturating_sub(MAX_RESULTS);
        let results: Vec<ScopeValue> = unused.into_iter().skip(skipped).collect();
        let names: Vec<&str> = results.iter().map(|value| value.name.as_str()).collect();
        let shapes: Vec<Shape> = results.iter().map(|value| value.shape.clone()).collect();
        let shape = Shape::Tuple(shapes.clone());
        let root = match results.as_slice() {
            [one] => format!("{:#} copy({})", one.shape, one.name),
            _ => format!("{shape:#} tuple({})", names.join(", ")),
        };
        (format!("ENTRY entry {{\n{}  ROOT result = {root}\n}}\n", scope.lines), shapes)
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
            2 | 3 if self.config.max_size >= 20 => self.odd_size(&TILES),
            4..=6 if self.config.is_large => self.odd_size(&PARTS),
            _ => self.rng.i64(1..=self.config.max_size.min(70)),
        }
    }
    /// Returns one of these sizes, or a neighbor of it, that is allowed.
    fn odd_size(&mut self, sizes: &[i64]) -> i64 {
        let size = sizes[self.pick(sizes.len())] + self.rng.i64(-1..=1);
        size.min(self.config.max_size)
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
        let Config { portable, ref excluded, .. } = self.config;
        let of = |all: &[ElementType]| -> Vec<ElementType> {
            let allowed = |ty| (!portable || is_portable(ty)) && !excluded.contains(&ty);
            let fits = |&ty: &ElementType| fits(ty) && allowed(ty);
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
        let shape = shape.into();
        scope.note(&shape, text);
        self.push_apart(scope, shape, text)
    }
    /// Adds an instruction as [`push`](Self::push) does, but one that has no twin.
    fn push_apart(&mut self, scope: &mut Scope, shape: Shape, text: &str) -> String {
        let array = shape.array().filter(|_| self.config.layouts);
        let stated = match array {
            Some(array) if self.rng.u8(..3) == 0 => self.in_some_layout(array),
            Some(_) | None => format!("{shape:#}"),
        };
        self.push_in(scope, shape, &stated, text)
    }
    /// Returns the text of a shape in some layout.
    pub(super) fn in_some_layout(&mut self, shape: &ArrayShape) -> String {
        match (&shape.dynamic, shape.rank()) {
            (Some(_), _) | (_, 0 | 1) => format!("{shape:#}"),
            (None, rank) => format!("{shape:#}{}", list(self.order(rank))),
        }
    }
    /// Adds an instruction whose shape is stated in a layout, and the elements of its tuple.
    pub(super) fn push_in(
        &mut self,
        scope: &mut Scope,
        shape: impl Into<Shape>,
        stated: &str,
        text: &str,
    ) -> String {
        let (shape, name) = (shape.into(), self.name("v"));
        self.is_excluded |= self.excludes(scope, &shape, text);
        let _ = writeln!(scope.lines, "  {name} = {stated} {text}");
        scope.execute(1, steps(&shape));
        let parts = shape.tuple().map(<[Shape]>::to_vec).unwrap_or_default();
        let is_used = !parts.is_empty();
        scope.values.push(ScopeValue { name: name.clone(), shape, is_used, is_closed: false });
        for (i, part) in parts.into_iter().enumerate() {
            self.push(scope, part, &format!("get-tuple-element({name}), index={i}"));
        }
        name
    }
    /// Adds an instruction that is only used by others of the same inserter.
    pub(super) fn push_hidden(&mut self, scope: &mut Scope, shape: &Shape, text: &str) -> String {
        let name = self.name("v");
        self.is_excluded |= self.excludes(scope, shape, text);
        let _ = writeln!(scope.lines, "  {name} = {shape:#} {text}");
        scope.execute(1, steps(shape));
        name
    }
    /// Returns whether an instruction needs what is left out.
    fn excludes(&self, scope: &Scope, shape: &Shape, text: &str) -> bool {
        if self.config.excluded.is_empty() && self.config.capabilities.is_empty() {
            return false;
        }
        let (op, rest) = text.split_once('(').unwrap_or((text, ""));
        let (operands, _) = rest.split_once(')').unwrap_or_default();
        let shape_of = |name: &str| scope.values.iter().find(|value| value.name == name);
        let operands: Vec<&Shape> =
            operands.split(", ").filter_map(shape_of).map(|value| &value.shape).collect();
        self.config.excludes(op, shape, &operands)
    }
    /// Adds an instruction whose result, an array, is only returned.
    pub(super) fn push_closed(&mut self, scope: &mut Scope, shape: impl Into<Shape>, text: &str) {
        let first = scope.values.len();
        self.push_apart(scope, shape.into(), text);
        for value in &mut scope.values[first..] {
            value.is_closed = true;
        }
    }

    /// Returns an existing array.
    pub(super) fn existing(
        &mut self,
        scope: &mut Scope,
        fits: impl Fn(&ArrayShape) -> bool,
    ) -> Option<ArrayOperand> {
        let is_static = |array: &ArrayShape| array.dynamic.is_none();
        let open = scope.open(|shape| shape.array().is_some_and(|a| is_static(a) && fits(a)));
        let i = self.recent(&open)?;
        let shape = scope.values[i].shape.array().cloned()?;
        Some(ArrayOperand { name: scope.use_value(i), shape })
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
    ) -> Option<ArrayOperand> {
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
    pub(super) fn array_of(
        &mut self,
        scope: &mut Scope,
        ty: ElementType,
        dims: &[i64],
    ) -> ArrayOperand {
        let shape = ArrayShape::new(ty, dims);
        ArrayOperand { name: self.array(scope, &shape), shape }
    }
    /// Returns the name of an array of this shape: an existing one, one derived from others, or a
    /// leaf.
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
            self.parameters.push((domain.clone(), shape.clone()));
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
                if self.config.twins > 0 && self.chance(self.config.twins) {
                    self.attempt(scope, Self::twin);
                }
                return;
            }
        }
    }
    /// Adds an instruction of this op, and what it needs, or nothing.
    pub(super) fn try_insert(&mut self, scope: &mut Scope, op: Opcode) -> bool {
        self.attempt(scope, |generator, scope| generator.insert(scope, op))
    }
    /// Adds what `insert` adds, or nothing: sizes multiply in chains of ops, and loops of loops run
    /// long.
    pub(super) fn attempt(
        &mut self,
        scope: &mut Scope,
        insert: impl FnOnce(&mut Self, &mut Scope) -> Option<()>,
    ) -> bool {
        let before = (scope.clone(), self.parameters.len(), self.text.len(), self.functions.len());
        let largest = usize::try_from(self.config.max_elements).unwrap_or(0) * GROWTH;
        let is_small = |value: &ScopeValue| {
            let count = |shape: &Shape| shape.array().map_or(Some(0), ArrayShape::element_count);
            value.shape.leaves().into_iter().all(|s| count(s).is_some_and(|n| n <= largest))
        };
        let outer = std::mem::take(&mut self.is_excluded);
        let inserted = insert(self, scope).is_some()
            && !self.is_excluded
            && scope.values[before.0.values.len()..].iter().all(is_small)
            && scope.steps <= MAX_STEPS;
        self.is_excluded = outer;
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

/// Returns numbers as the list of an attribute.
pub(super) fn list<T: ToString>(numbers: impl IntoIterator<Item = T>) -> String {
    let numbers: Vec<String> = numbers.into_iter().map(|n| n.to_string()).collect();
    format!("{{{}}}", numbers.join(","))
}

/// Takes every type.
pub(super) fn any(_: ElementType) -> bool {
    true
}
