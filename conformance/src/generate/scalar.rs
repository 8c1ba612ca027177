//! Computations of scalars: reducers, comparators, what `map` applies.
use super::generator::Generator;
use super::scope::Scope;
use hlo::{ArrayShape, Class, ElementType, Literal, Opcode, Scalar, Shape};
use std::fmt::Write as _;

/// A reducer and the value that it leaves others as they are with.
#[derive(Debug)]
pub(super) struct Reducer {
    pub(super) name: String,
    pub(super) identity: Option<Scalar>,
}

/// An identity of a reducer, for each type.
#[derive(Debug, Clone, Copy)]
enum Identity {
    Zero,
    One,
    AllOnes,
    Least,
    Greatest,
}

const REDUCERS: [(Opcode, Identity); 7] = [
    (Opcode::Add, Identity::Zero),
    (Opcode::Multiply, Identity::One),
    (Opcode::Maximum, Identity::Least),
    (Opcode::Minimum, Identity::Greatest),
    (Opcode::And, Identity::AllOnes),
    (Opcode::Or, Identity::Zero),
    (Opcode::Xor, Identity::Zero),
];

/// Returns the identity of `maximum`.
pub(super) fn least(ty: ElementType) -> Scalar {
    Identity::Least.of(ty)
}

impl Identity {
    fn of(self, ty: ElementType) -> Scalar {
        let infinite = |x: f64| Scalar::Float(x).round_to(ty);
        match (self, ty.class()) {
            (Self::Zero, _) => Scalar::zero(ty),
            (Self::One, _) => Scalar::Signed(1).convert(ElementType::S64, ty),
            (Self::AllOnes | Self::Greatest, Class::Pred) => Scalar::Pred(true),
            (Self::Least, Class::Pred | Class::Unsigned) => Scalar::zero(ty),
            (Self::AllOnes, Class::Signed) => Scalar::Signed(-1),
            (Self::AllOnes | Self::Greatest, Class::Unsigned) => {
                Scalar::Unsigned(u64::MAX >> (64 - ty.bits()))
            }
            (Self::Least, Class::Signed) => Scalar::Signed(i64::MIN >> (64 - ty.bits())),
            (Self::Greatest, Class::Signed) => Scalar::Signed(i64::MAX >> (64 - ty.bits())),
            (Self::Least, Class::Float | Class::Complex) => infinite(f64::NEG_INFINITY),
            (Self::AllOnes | Self::Greatest, Class::Float | Class::Complex) => {
                infinite(f64::INFINITY)
            }
        }
    }
}

/// Returns the number of elements, and 1 if there are none.
fn elements(dims: &[i64]) -> u64 {
    u64::try_from(dims.iter().product::<i64>().max(1)).unwrap_or(u64::MAX)
}

fn scalar(ty: ElementType) -> ArrayShape {
    ArrayShape::new(ty, [].as_slice())
}

impl Generator {
    /// Whether an op on both types would mix floats, which XLA's verifier forbids for most ops, at
    /// the request of the backend.
    pub(super) fn mixes(&self, one: ElementType, other: ElementType) -> bool {
        self.config.portable && one.is_float() && other.is_float() && one != other
    }
    /// Adds the text of a computation; the root is the last line of the scope.
    pub(super) fn finish(&mut self, name: &str, scope: &Scope, root: &str) {
        let _ = write!(self.text, "{name} {{\n{}  ROOT {root}\n}}\n", scope.lines);
        self.keep_steps(name, scope.steps);
    }
    /// Writes a computation of scalars.
    pub(super) fn scalar_function(
        &mut self,
        parameters: &[ElementType],
        result: ElementType,
    ) -> String {
        let mut scope = Scope::of_scalars(1);
        for (i, &ty) in parameters.iter().enumerate() {
            self.push(&mut scope, Shape::scalar(ty), &format!("parameter({i})"));
        }
        for _ in 0..=self.pick(4) {
            self.insert_any(&mut scope);
        }
        let last = self.array(&mut scope, &scalar(result));
        let (name, root) = (self.name("fn"), self.name("v"));
        self.finish(&name, &scope, &format!("{root} = {result}[] copy({last})"));
        name
    }
    /// Writes a function of two scalars that a reduction may apply in any order, or one of any
    /// kind.
    pub(super) fn reducer(&mut self, ty: ElementType) -> Reducer {
        if !self.config.portable && self.chance(5) {
            return Reducer { name: self.scalar_function(&[ty, ty], ty), identity: None };
        }
        let fits = |(op, _): &&(Opcode, Identity)| {
            let ordered = op.associates(ElementType::F32);
            op.types().is_some_and(|types| types.contains(ty)) && !(ordered && ty.is_complex())
        };
        let all: Vec<&(Opcode, Identity)> = REDUCERS.iter().filter(fits).collect();
        let (op, identity) = *all[self.pick(all.len())];
        let [name, a, b, c] = ["fn", "a", "b", "z"].map(|prefix| self.name(prefix));
        let order = if self.rng.bool() { format!("{a}, {b}") } else { format!("{b}, {a}") };
        let _ = writeln!(
            self.text,
            "{name} {{ {a} = {ty}[] parameter(0) {b} = {ty}[] parameter(1) ROOT {c} = {ty}[] {op}({order}) }}"
        );
        Reducer { name, identity: Some(identity.of(ty)) }
    }
    /// Returns an initial value for a reducer.
    pub(super) fn initial(
        &mut self,
        scope: &mut Scope,
        reducer: &Reducer,
        ty: ElementType,
    ) -> String {
        let identity = reducer.identity.filter(|_| self.config.portable || self.rng.bool());
        match identity {
            Some(value) => self.number(scope, ty, value),
            None => self.array(scope, &scalar(ty)),
        }
    }
    /// Returns a constant.
    pub(super) fn number(&mut self, scope: &mut Scope, ty: ElementType, value: Scalar) -> String {
        let literal = Literal::scalar(ty, value).to_string();
        let (_, text) = literal.split_once(' ').unwrap_or_default();
        self.push_hidden(scope, &Shape::scalar(ty), &format!("constant({text})"))
    }
    pub(super) fn integer(&mut self, scope: &mut Scope, value: i64) -> String {
        self.number(scope, ElementType::S32, Scalar::Signed(value))
    }
    /// Writes a comparison of the first two of these scalars, each of which is there twice.
    pub(super) fn comparator(&mut self, types: &[ElementType], directions: &[&str]) -> String {
        let name = self.name("fn");
        let mut scope = Scope::of_scalars(1);
        let mut names = Vec::new();
        for (i, &ty) in types.iter().flat_map(|ty| [ty, ty]).enumerate() {
            names.push(self.push(&mut scope, Shape::scalar(ty), &format!("parameter({i})")));
        }
        let direction = self.choose(directions);
        let total = types[0].is_float() && (self.config.portable || self.rng.bool());
        let order = if total { ", type=TOTALORDER" } else { "" };
        let root = self.name("v");
        let [a, b] = [&names[0], &names[1]];
        let text = format!("{root} = pred[] compare({a}, {b}), direction={direction}{order}");
        self.finish(&name, &scope, &text);
        name
    }
    pub(super) fn map(&mut self, scope: &mut Scope) -> Option<()> {
        let first = self.operand(scope, |_| true, 0)?;
        let dims = first.shape.dims.to_vec();
        let (mut types, mut names) = (vec![first.shape.ty], vec![first.name]);
        for _ in 0..self.pick(3) {
            let ty = self.ty(|_| true)?;
            let other = types.iter().copied().find(|&other| self.mixes(other, ty));
            let ty = other.unwrap_or(ty);
            names.push(self.array_of(scope, ty, &dims).name);
            types.push(ty);
        }
        let result = self.ty(|_| true)?;
        let function = self.scalar_function(&types, result);
        scope.execute(elements(&dims), self.steps_of(&function));
        let all = super::generator::list(0..dims.len());
        let text = format!("map({}), dimensions={all}, to_apply={function}", names.join(", "));
        self.push(scope, ArrayShape::new(result, dims.as_slice()), &text);
        Some(())
    }
}
