//! Random modules of the ops that plans treat specially: elementwise ops and data movement, updates
//! in place, tuples, calls, loops, conditionals.
use std::fmt::Write as _;

/// The shape of a value: an array type of [`ARRAYS`], a token, or a tuple.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    Array(usize),
    Token,
    Tuple(Vec<Tree>),
}
use Tree::{Array, Token, Tuple};

/// An array type; several have the same size in bytes, so that they can share memory.
#[derive(Debug, PartialEq)]
struct Type {
    element: &'static str,
    dims: &'static [usize],
}

const ELEMENTS: [&str; 4] = ["f32", "s32", "pred", "u8"];
const DIMS: [&[usize]; 4] = [&[], &[6], &[2, 3], &[3]];
const F32: usize = 0;
const S32: usize = 1;
const PRED: usize = 2;

/// Returns the number of a type: element + 4 * dims.
const TYPES: usize = ELEMENTS.len() * DIMS.len();
const fn ty(element: usize, dims: usize) -> usize {
    element + ELEMENTS.len() * dims
}
const fn element(ty: usize) -> usize {
    ty % ELEMENTS.len()
}
const fn dims(ty: usize) -> usize {
    ty / ELEMENTS.len()
}
fn describe(ty: usize) -> Type {
    Type { element: ELEMENTS[element(ty)], dims: DIMS[dims(ty)] }
}

fn array(ty: usize) -> String {
    let Type { element, dims } = describe(ty);
    let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
    format!("{element}[{}]", dims.join(","))
}

/// Returns the text of a shape.
pub(crate) fn shape(tree: &Tree) -> String {
    match tree {
        Array(ty) => array(*ty),
        Token => "token[]".to_owned(),
        Tuple(elements) => {
            let elements: Vec<String> = elements.iter().map(shape).collect();
            format!("({})", elements.join(", "))
        }
    }
}

/// A computation that further calls may use.
#[derive(Clone)]
struct Signature {
    name: String,
    parameters: Vec<Tree>,
    result: Tree,
}

/// A generator of modules from sequences of choices.
pub(crate) struct Generator<'a> {
    choices: std::slice::Iter<'a, u8>,
    text: String,
    names: usize,
    computations: Vec<Signature>,
    /// The number of instructions that may still be added.
    budget: usize,
}

/// A computation that is being written.
struct Scope {
    lines: String,
    values: Vec<(String, Tree)>,
    depth: usize,
    /// Whether only scalars are computed, as in loops that run on registers.
    is_scalar: bool,
}

const SCATTER: &str =
    "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n";

impl<'a> Generator<'a> {
    /// Returns the text of a module; the entry takes arrays only.
    pub(crate) fn module(choices: &'a [u8]) -> String {
        let text = SCATTER.to_owned();
        let mut generator =
            Self { choices: choices.iter(), text, names: 0, computations: Vec::new(), budget: 90 };
        let parameters: Vec<Tree> = (0..=generator.pick(3)).map(|_| generator.leaf()).collect();
        let result = generator.tree(2);
        generator.computation("ENTRY e", &parameters, &result, 0);
        generator.text
    }

    fn pick(&mut self, count: usize) -> usize {
        usize::from(self.choices.next().copied().unwrap_or(0)) % count
    }
    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }
    /// Returns a random array type.
    fn leaf(&mut self) -> Tree {
        // Arrays of six floats or integers are the most frequent.
        Array(match self.pick(8) {
            0 | 1 => ty(F32, 1),
            2 => ty(F32, 2),
            3 => ty(S32, 1),
            _ => self.pick(TYPES),
        })
    }
    /// Returns a random shape.
    fn tree(&mut self, depth: usize) -> Tree {
        match self.pick(8) {
            0..4 if depth > 0 => {
                let count = self.pick(4);
                Tuple((0..count).map(|_| self.tree(depth - 1)).collect())
            }
            4 if depth < 2 => Token,
            _ => self.leaf(),
        }
    }

    /// Writes a computation.
    fn computation(&mut self, name: &str, parameters: &[Tree], result: &Tree, depth: usize) {
        let mut scope = Scope { lines: String::new(), values: Vec::new(), depth, is_scalar: false };
        for (i, parameter) in parameters.iter().enumerate() {
            self.line(&mut scope, parameter.clone(), &format!("parameter({i})"));
        }
        let count = 2 + self.pick(10);
        for _ in 0..count {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            self.instruction(&mut scope);
        }
        let root = self.value(&mut scope, result);
        let _ = writeln!(scope.lines, "  ROOT r{} = {} copy({root})", self.names, shape(result));
        self.names += 1;
        let _ = write!(self.text, "{name} {{\n{}}}\n", scope.lines);
    }

    /// Adds an instruction, and its value to the scope.
    fn line(&mut self, scope: &mut Scope, tree: Tree, expression: &str) -> String {
        let name = self.name("v");
        let _ = writeln!(scope.lines, "  {name} = {} {expression}", shape(&tree));
        self.open(scope, &name, &tree);
        scope.values.push((name.clone(), tree));
        name
    }
    /// Adds the elements of a tuple to the scope.
    fn open(&mut self, scope: &mut Scope, name: &str, tree: &Tree) {
        if let Tuple(elements) = tree {
            for (i, element) in elements.iter().enumerate() {
                let expression = format!("get-tuple-element({name}), index={i}");
                self.line(scope, element.clone(), &expression);
            }
        }
    }

    /// Returns a value of this shape: one in scope, or a new one.
    fn value(&mut self, scope: &mut Scope, tree: &Tree) -> String {
        let known: Vec<&String> =
            scope.values.iter().filter(|(_, t)| t == tree).map(|(name, _)| name).collect();
        // Later values are more likely.
        if !known.is_empty() {
            let back = self.pick(4).min(self.pick(known.len()));
            return known[known.len() - 1 - back.min(known.len() - 1)].clone();
        }
        match tree {
            Array(ty) => self.constant(scope, *ty),
            Token => self.line(scope, Token, "after-all()"),
            Tuple(elements) => {
                let elements: Vec<String> =
                    elements.iter().map(|element| self.value(scope, element)).collect();
                self.line(scope, tree.clone(), &format!("tuple({})", elements.join(", ")))
            }
        }
    }
    fn constant(&mut self, scope: &mut Scope, ty: usize) -> String {
        let number = self.pick(7);
        let text = match element(ty) {
            PRED => ["false", "true"][number % 2].to_owned(),
            F32 => ["0", "1.5", "-2.25", "-0", "nan", "inf", "3e20"][number].to_owned(),
            S32 => ["0", "1", "-2", "3", "2147483647", "-2147483648", "5"][number].to_owned(),
            _ => number.to_string(),
        };
        let scalar = self.line(scope, Array(ty % ELEMENTS.len()), &format!("constant({text})"));
        if dims(ty) == 0 {
            return scalar;
        }
        self.line(scope, Array(ty), &format!("broadcast({scalar}), dimensions={{}}"))
    }
    fn array(&mut self, scope: &mut Scope, ty: usize) -> String {
        self.value(scope, &Array(ty))
    }

    /// Adds a random instruction.
    fn instruction(&mut self, scope: &mut Scope) {
        if scope.is_scalar {
            return self.scalar_instruction(scope);
        }
        let element = self.pick(ELEMENTS.len());
        let dims = [1, 1, 2, 0, 3][self.pick(5)];
        let ty = ty(element, dims);
        match self.pick(24) {
            0..4 => self.binary(scope, ty),
            4..6 => self.unary(scope, ty),
            6 => self.compare(scope, ty),
            7 => self.select(scope, ty),
            8 => self.clamp(scope, ty),
            9 => self.convert(scope, ty),
            10..14 => self.movement(scope, ty),
            14..16 => self.update(scope, ty),
            16 => self.scatter(scope),
            17 => self.repack(scope),
            18 if scope.depth < 3 => self.call(scope),
            19 | 20 if scope.depth < 2 => self.while_loop(scope),
            21 if scope.depth < 2 => self.counted(scope),
            22 | 23 if scope.depth < 3 => self.conditional(scope),
            _ => self.binary(scope, ty),
        }
    }

    fn scalar_instruction(&mut self, scope: &mut Scope) {
        let ty = ty(self.pick(ELEMENTS.len()), 0);
        match self.pick(6) {
            0 => self.unary(scope, ty),
            1 => self.compare(scope, ty),
            2 => self.select(scope, ty),
            3 => self.clamp(scope, ty),
            4 => self.convert(scope, ty),
            _ => self.binary(scope, ty),
        }
    }

    fn unary(&mut self, scope: &mut Scope, ty: usize) {
        let ops: &[&str] = match element(ty) {
            F32 => &["negate", "abs", "exponential", "tanh", "sqrt", "floor", "sign"],
            S32 => &["negate", "abs", "not", "sign"],
            PRED => &["not"],
            _ => &["not", "popcnt"],
        };
        let op = ops[self.pick(ops.len())];
        let x = self.array(scope, ty);
        self.line(scope, Array(ty), &format!("{op}({x})"));
    }
    fn binary(&mut self, scope: &mut Scope, ty: usize) {
        let ops: &[&str] = match element(ty) {
            F32 => &["add", "subtract", "multiply", "divide", "maximum", "minimum", "atan2"],
            PRED => &["and", "or", "xor"],
            _ => &["add", "subtract", "multiply", "divide", "maximum", "and", "xor", "shift-left"],
        };
        let op = ops[self.pick(ops.len())];
        let (a, b) = (self.array(scope, ty), self.array(scope, ty));
        self.line(scope, Array(ty), &format!("{op}({a}, {b})"));
    }
    fn compare(&mut self, scope: &mut Scope, of: usize) {
        let direction = ["EQ", "NE", "LT", "GE"][self.pick(4)];
        let (a, b) = (self.array(scope, of), self.array(scope, of));
        let result = Array(ty(PRED, dims(of)));
        self.line(scope, result, &format!("compare({a}, {b}), direction={direction}"));
    }
    fn select(&mut self, scope: &mut Scope, of: usize) {
        let which = if self.pick(4) == 0 { 0 } else { dims(of) };
        let pred = self.array(scope, ty(PRED, which));
        let (a, b) = (self.array(scope, of), self.array(scope, of));
        self.line(scope, Array(of), &format!("select({pred}, {a}, {b})"));
    }
    fn clamp(&mut self, scope: &mut Scope, of: usize) {
        if element(of) == PRED {
            return self.binary(scope, of);
        }
        let bound = if self.pick(2) == 0 { of } else { ty(element(of), 0) };
        let low = self.array(scope, bound);
        let x = self.array(scope, of);
        let high = self.array(scope, bound);
        self.line(scope, Array(of), &format!("clamp({low}, {x}, {high})"));
    }
    fn convert(&mut self, scope: &mut Scope, of: usize) {
        let x = self.array(scope, of);
        let to = ty(self.pick(ELEMENTS.len()), dims(of));
        let swapped = match element(of) {
            F32 => Some(ty(S32, dims(of))),
            S32 => Some(ty(F32, dims(of))),
            _ => None,
        };
        match swapped.filter(|_| self.pick(2) == 0) {
            Some(to) => self.line(scope, Array(to), &format!("bitcast-convert({x})")),
            None => self.line(scope, Array(to), &format!("convert({x})")),
        };
    }

    /// An op that moves elements of type `of`.
    fn movement(&mut self, scope: &mut Scope, of: usize) {
        let element = element(of);
        let (scalar, flat) = (ty(element, 0), ty(element, 1));
        let (matrix, row) = (ty(element, 2), ty(element, 3));
        let (from, to, op) = match self.pick(11) {
            0 => (flat, matrix, "reshape(X)".to_owned()),
            1 => (matrix, flat, "reshape(X)".to_owned()),
            2 => (flat, flat, "reverse(X), dimensions={0}".to_owned()),
            3 => (matrix, matrix, "reverse(X), dimensions={1}".to_owned()),
            4 => (flat, row, format!("slice(X), slice={{[{}:6:2]}}", self.pick(2))),
            5 => (row, matrix, "broadcast(X), dimensions={1}".to_owned()),
            6 => (scalar, flat, "broadcast(X), dimensions={}".to_owned()),
            7 => {
                let other = self.array(scope, row);
                (row, flat, format!("concatenate(X, {other}), dimensions={{0}}"))
            }
            8 => {
                let value = self.array(scope, scalar);
                (row, flat, format!("pad(X, {value}), padding=1_2"))
            }
            9 => {
                let start = self.array(scope, ty(S32, 0));
                (flat, row, format!("dynamic-slice(X, {start}), dynamic_slice_sizes={{3}}"))
            }
            _ => (of, of, ["copy(X)", "opt-barrier(X)"][self.pick(2)].to_owned()),
        };
        let x = self.array(scope, from);
        self.line(scope, Array(to), &op.replace('X', &x));
    }
    /// A `dynamic-update-slice`.
    fn update(&mut self, scope: &mut Scope, of: usize) {
        let element = element(of);
        let (whole, part) = match self.pick(4) {
            0 => (ty(element, 1), ty(element, 1)),
            1 => (ty(element, 2), ty(element, 2)),
            _ => (ty(element, 1), ty(element, 3)),
        };
        let (x, update) = (self.array(scope, whole), self.array(scope, part));
        let starts: Vec<String> =
            describe(whole).dims.iter().map(|_| self.array(scope, ty(S32, 0))).collect();
        let starts = starts.join(", ");
        self.line(scope, Array(whole), &format!("dynamic-update-slice({x}, {update}, {starts})"));
    }
    /// A `scatter` of three or six elements into six.
    fn scatter(&mut self, scope: &mut Scope) {
        let of = ty(F32, [1, 3][self.pick(2)]);
        let (x, updates) = (self.array(scope, ty(F32, 1)), self.array(scope, of));
        let indices = self.array(scope, ty(S32, dims(of)));
        let expression = format!(
            "scatter({x}, {indices}, {updates}), to_apply=sum, update_window_dims={{}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1"
        );
        self.line(scope, Array(ty(F32, 1)), &expression);
    }
    /// A new tuple of values in scope.
    fn repack(&mut self, scope: &mut Scope) {
        let count = self.pick(4);
        let elements: Vec<(String, Tree)> =
            (0..count).map(|_| scope.values[self.pick(scope.values.len())].clone()).collect();
        let names: Vec<&str> = elements.iter().map(|(name, _)| name.as_str()).collect();
        let expression = format!("tuple({})", names.join(", "));
        let tree = Tuple(elements.iter().map(|(_, tree)| tree.clone()).collect());
        if shape(&tree).len() < 120 {
            self.line(scope, tree, &expression);
        }
    }

    /// Calls a new computation, or one that was called before.
    fn call(&mut self, scope: &mut Scope) {
        let old = self.pick(2) == 0 && !self.computations.is_empty();
        let callee = if old {
            let i = self.pick(self.computations.len());
            self.computations[i].clone()
        } else {
            let parameters: Vec<Tree> = (0..=self.pick(3)).map(|_| self.tree(1)).collect();
            let result = self.tree(2);
            let name = self.name("f");
            self.computation(&name, &parameters, &result, scope.depth + 1);
            let signature = Signature { name, parameters, result };
            self.computations.push(signature.clone());
            signature
        };
        let arguments: Vec<String> =
            callee.parameters.iter().map(|parameter| self.value(scope, parameter)).collect();
        let expression = format!("call({}), to_apply={}", arguments.join(", "), callee.name);
        self.line(scope, callee.result, &expression);
    }

    /// A loop of up to four iterations that carries a counter and other leaves.
    fn while_loop(&mut self, scope: &mut Scope) {
        let mut carried = vec![Array(ty(S32, 0))];
        for _ in 0..=self.pick(4) {
            // Leaves of one type are swapped and duplicated.
            let tree = match self.pick(4) {
                0 => self.tree(1),
                1 => carried[self.pick(carried.len())].clone(),
                _ => Array(ty(F32, 1)),
            };
            carried.push(tree);
        }
        self.loop_over(scope, &carried, false);
    }
    /// A loop over scalars.
    fn counted(&mut self, scope: &mut Scope) {
        let mut carried = vec![Array(ty(S32, 0))];
        for _ in 0..self.pick(3) {
            carried.push(Array(ty(self.pick(ELEMENTS.len()), 0)));
        }
        self.loop_over(scope, &carried, true);
    }
    fn loop_over(&mut self, scope: &mut Scope, carried: &[Tree], is_scalar: bool) {
        let tree = Tuple(carried.to_vec());
        let condition = self.condition(&tree, scope.depth + 1, is_scalar);
        let body = self.body(&tree, carried, scope.depth + 1, is_scalar);
        let zero = self.line(scope, Array(ty(S32, 0)), "constant(0)");
        let init = self.parts(scope, zero, carried);
        let init = self.line(scope, tree.clone(), &format!("tuple({init})"));
        let expression = format!("while({init}), condition={condition}, body={body}");
        self.line(scope, tree, &expression);
    }
    /// Returns a scope with a parameter of this shape, and the name of the counter in it.
    fn round(&mut self, tree: &Tree, depth: usize) -> (Scope, String) {
        let mut scope = Scope { lines: String::new(), values: Vec::new(), depth, is_scalar: false };
        self.line(&mut scope, tree.clone(), "parameter(0)");
        // The elements of a tuple are named before the tuple.
        let counter = scope.values[0].0.clone();
        (scope, counter)
    }
    /// Returns the leaves of a loop after the counter.
    fn parts(&mut self, scope: &mut Scope, counter: String, carried: &[Tree]) -> String {
        let mut parts = vec![counter];
        for part in &carried[1..] {
            let value = self.value(scope, part);
            parts.push(value);
        }
        parts.join(", ")
    }
    fn condition(&mut self, tree: &Tree, depth: usize, is_scalar: bool) -> String {
        let (mut scope, counter) = self.round(tree, depth);
        scope.is_scalar = is_scalar;
        for _ in 0..self.pick(3) {
            self.instruction(&mut scope);
        }
        let rounds = self.pick(4);
        let limit = self.line(&mut scope, Array(ty(S32, 0)), &format!("constant({rounds})"));
        let (root, name) = (self.name("v"), self.name("c"));
        let root = format!("ROOT {root} = pred[] compare({counter}, {limit}), direction=LT");
        let _ = write!(self.text, "{name} {{\n{}  {root}\n}}\n", scope.lines);
        name
    }
    fn body(&mut self, tree: &Tree, carried: &[Tree], depth: usize, is_scalar: bool) -> String {
        let (mut scope, counter) = self.round(tree, depth);
        scope.is_scalar = is_scalar;
        let count = 1 + self.pick(6);
        for _ in 0..count.min(self.budget) {
            self.budget = self.budget.saturating_sub(1);
            self.instruction(&mut scope);
        }
        let one = self.line(&mut scope, Array(ty(S32, 0)), "constant(1)");
        let next = self.line(&mut scope, Array(ty(S32, 0)), &format!("add({counter}, {one})"));
        let parts = self.parts(&mut scope, next, carried);
        let (root, name) = (self.name("v"), self.name("b"));
        let root = format!("ROOT {root} = {} tuple({parts})", shape(tree));
        let _ = write!(self.text, "{name} {{\n{}  {root}\n}}\n", scope.lines);
        name
    }

    /// A conditional of two or three branches.
    fn conditional(&mut self, scope: &mut Scope) {
        let result = self.tree(2);
        let count = 2 + self.pick(2);
        let mut branches = Vec::new();
        for _ in 0..count {
            let parameter = self.tree(2);
            let name = self.name("g");
            let parameters = std::slice::from_ref(&parameter);
            self.computation(&name, parameters, &result, scope.depth + 1);
            let argument = self.value(scope, &parameter);
            branches.push((name, argument));
        }
        let (names, arguments): (Vec<String>, Vec<String>) = branches.into_iter().unzip();
        let arguments = arguments.join(", ");
        if count == 2 {
            let pred = self.array(scope, ty(PRED, 0));
            let expression = format!(
                "conditional({pred}, {arguments}), true_computation={}, false_computation={}",
                names[0], names[1]
            );
            self.line(scope, result, &expression);
        } else {
            let index = self.array(scope, ty(S32, 0));
            let names = names.join(", ");
            let expression =
                format!("conditional({index}, {arguments}), branch_computations={{{names}}}");
            self.line(scope, result, &expression);
        }
    }
}
