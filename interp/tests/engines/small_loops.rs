//! Loops over small arrays: random bodies over values that are permuted, duplicated, sliced and
//! updated.
use super::{agree, canonical, compiled, ramp, run};
use hlo::{ArrayShape, Class, ElementType, Literal};
use interp::{Engine, RunOptions};
use proptest::prelude::*;
use std::fmt::Write;

/// The values that all loops carry, in order; `L` and `M` are large.
const CARRIED: [(&str, &str); 13] = [
    ("s32[]", "i"),
    ("s32[]", "j"),
    ("f32[]", "x"),
    ("pred[]", "p"),
    ("f32[3]", "a"),
    ("f32[3]", "b"),
    ("s32[4]", "c"),
    ("bf16[5]", "d"),
    ("f32[2,3]", "e"),
    ("f32[9,5]", "g"),
    ("s32[19]", "k"),
    ("f32[1200]", "L"),
    ("f32[1200]", "M"),
];

/// Computations that bodies use.
const COMMON: &str = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
  most { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }
  second { a = s32[] parameter(0) ROOT b = s32[] parameter(1) }
  top { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
    g = pred[] compare(a, b), direction=GT n = pred[] compare(a, a), direction=NE p = pred[] or(g, n)
    e = pred[] compare(a, b), direction=EQ l = pred[] compare(i, j), direction=LT t = pred[] and(e, l) q = pred[] or(p, t)
    x = f32[] select(p, a, b) y = s32[] select(q, i, j) ROOT r = (f32[], s32[]) tuple(x, y) }
  minus { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] subtract(a, b) }
  shift { x = f32[3] parameter(0) y = f32[] parameter(1) n = f32[] constant(9) t = f32[3] negate(x)
    z = f32[3] broadcast(y), dimensions={} ROOT r = (f32[3], f32[3]) tuple(t, z) }
  left { t = (f32[3], f32[1200]) parameter(0) v = f32[3] get-tuple-element(t), index=0 w = f32[1200] get-tuple-element(t), index=1
    n = f32[3] negate(v) ROOT r = (f32[3], f32[1200]) tuple(n, w) }
  right { t = (f32[3], f32[1200]) parameter(0) v = f32[3] get-tuple-element(t), index=0 w = f32[1200] get-tuple-element(t), index=1
    k = s32[] constant(7) u = f32[1200] dynamic-update-slice(w, v, k) ROOT r = (f32[3], f32[1200]) tuple(v, u) }
  less { t = (s32[], f32[3], f32[1200]) parameter(0) k = s32[] get-tuple-element(t), index=0 n = s32[] constant(3)
    ROOT l = pred[] compare(k, n), direction=LT }
  inner { t = (s32[], f32[3], f32[1200]) parameter(0) k = s32[] get-tuple-element(t), index=0 one = s32[] constant(1)
    v = f32[3] get-tuple-element(t), index=1 w = f32[1200] get-tuple-element(t), index=2 n = s32[] add(k, one)
    s = f32[3] dynamic-slice(w, k), dynamic_slice_sizes={3} q = f32[3] multiply(s, v)
    u = f32[1200] dynamic-update-slice(w, q, n) ROOT r = (s32[], f32[3], f32[1200]) tuple(n, q, u) }
  flip { t = (f32[9,5], f32[9,5]) parameter(0) g = f32[9,5] get-tuple-element(t), index=0 h = f32[9,5] get-tuple-element(t), index=1
    n = f32[9,5] negate(g) m = f32[9,5] add(n, h) ROOT r = (f32[9,5], f32[9,5]) tuple(m, n) }
  keep { t = (f32[9,5], f32[9,5]) parameter(0) g = f32[9,5] get-tuple-element(t), index=0 h = f32[9,5] get-tuple-element(t), index=1
    ROOT r = (f32[9,5], f32[9,5]) tuple(h, g) }
  few { t = (s32[], f32[9,5], f32[9,5]) parameter(0) k = s32[] get-tuple-element(t), index=0 n = s32[] constant(2)
    ROOT l = pred[] compare(k, n), direction=LT }
  turn { t = (s32[], f32[9,5], f32[9,5]) parameter(0) k = s32[] get-tuple-element(t), index=0 one = s32[] constant(1) n = s32[] add(k, one)
    g = f32[9,5] get-tuple-element(t), index=1 h = f32[9,5] get-tuple-element(t), index=2 m = f32[9,5] negate(g)
    s = f32[9,5] add(m, h) u = f32[9,5] multiply(s, m) ROOT r = (s32[], f32[9,5], f32[9,5]) tuple(n, u, s) } ";

/// Values of a computation that is written.
struct Body<'a> {
    choices: std::slice::Iter<'a, u8>,
    text: String,
    /// The values so far, by shape.
    values: Vec<(&'static str, String)>,
    count: usize,
}

impl Body<'_> {
    fn choose(&mut self, of: usize) -> usize {
        usize::from(self.choices.next().copied().unwrap_or(0)) % of
    }
    fn pick(&mut self, shape: &str) -> String {
        let found: Vec<String> = (self.values.iter())
            .filter(|(of, _)| *of == shape)
            .map(|(_, name)| name.clone())
            .collect();
        let i = self.choose(found.len());
        found[i].clone()
    }
    /// The large array that may be updated is read in its last version.
    fn last(&self, shape: &str) -> String {
        let found = self.values.iter().rev().find(|(of, name)| *of == shape && name != "M");
        found.unwrap().1.clone()
    }
    fn add(&mut self, shape: &'static str, value: &str) -> String {
        self.count += 1;
        let name = format!("v{}", self.count);
        let _ = writeln!(self.text, "  {name} = {shape} {value}");
        self.values.push((shape, name.clone()));
        name
    }
    fn temporary(&mut self, shape: &str, value: &str) -> String {
        self.count += 1;
        let _ = writeln!(self.text, "  v{} = {shape} {value}", self.count);
        format!("v{}", self.count)
    }

    fn step(&mut self) {
        match self.choose(55) {
            n @ 0..16 => self.floats(n),
            n @ 34..36 => self.element(n),
            n @ 36..48 => self.longer(n),
            n @ 48..50 => self.control(n),
            n @ 50..54 => self.moved(n),
            54.. => self.extremes(),
            n => self.others(n),
        }
    }
    fn floats(&mut self, n: usize) {
        let (a, b, x) = (self.pick("f32[3]"), self.pick("f32[3]"), self.pick("f32[]"));
        let (i, p) = (self.pick("s32[]"), self.pick("pred[]"));
        let large = self.last("f32[1200]");
        let _ = match n {
            0 => self.add("f32[3]", &format!("add({a}, {b})")),
            1 => self.add("f32[3]", &format!("tanh({a})")),
            2 => self.add("f32[3]", &format!("clamp({x}, {a}, {x})")),
            3 => self.add("f32[3]", &format!("reverse({a}), dimensions={{0}}")),
            4 => self.add("f32[3]", &format!("broadcast({x}), dimensions={{}}")),
            5 => self.add("f32[3]", &format!("select({p}, {a}, {b})")),
            6 => self.add("f32[3]", &format!("pad({a}, {x}), padding=1_-1")),
            7 => {
                let s = self.temporary("f32[1]", &format!("slice({a}), slice={{[1:2]}}"));
                let t = self.temporary("f32[2]", &format!("slice({b}), slice={{[0:2]}}"));
                self.add("f32[3]", &format!("concatenate({t}, {s}), dimensions={{0}}"))
            }
            8 => self
                .add("f32[3]", &format!("dynamic-slice({large}, {i}), dynamic_slice_sizes={{3}}")),
            9 => self.add("f32[3]", &format!("dynamic-slice(M, {i}), dynamic_slice_sizes={{3}}")),
            10 => self.add("f32[1200]", &format!("dynamic-update-slice({large}, {a}, {i})")),
            11 => self.add("f32[]", &format!("reduce({a}, {x}), dimensions={{0}}, to_apply=sum")),
            12 => self.add(
                "f32[]",
                &format!("dot({a}, {b}), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}"),
            ),
            13 => self.add("f32[]", &format!("cosine({x})")),
            14 => self.add("f32[]", &format!("convert({i})")),
            _ => self.add("f32[]", &format!("select({p}, {x}, {x})")),
        };
    }
    /// Updates one element.
    fn element(&mut self, n: usize) {
        let (x, i, j) = (self.pick("f32[]"), self.pick("s32[]"), self.pick("s32[]"));
        if n == 34 {
            let (a, part) =
                (self.pick("f32[3]"), self.temporary("f32[1]", &format!("reshape({x})")));
            self.add("f32[3]", &format!("dynamic-update-slice({a}, {part}, {i})"));
        } else {
            let (e, part) =
                (self.pick("f32[2,3]"), self.temporary("f32[1,1]", &format!("reshape({x})")));
            self.add("f32[2,3]", &format!("dynamic-update-slice({e}, {part}, {i}, {j})"));
        }
    }
    /// Arrays that do not fill the last word, and are moved element by element.
    fn longer(&mut self, n: usize) {
        let (g, h, x) = (self.pick("f32[9,5]"), self.pick("f32[9,5]"), self.pick("f32[]"));
        let (i, j, k) = (self.pick("s32[]"), self.pick("s32[]"), self.pick("s32[19]"));
        let _ = match n {
            36 => {
                let op = ["add", "divide", "maximum", "minimum"][self.choose(4)];
                self.add("f32[9,5]", &format!("{op}({g}, {h})"))
            }
            37 => self.add("f32[9,5]", &format!("broadcast({x}), dimensions={{}}")),
            38 => {
                let s = self.temporary("f32[9,2]", &format!("slice({g}), slice={{[0:9],[1:3]}}"));
                let t = self.temporary("f32[9,1]", &format!("slice({h}), slice={{[0:9],[4:5]}}"));
                self.add("f32[9,5]", &format!("concatenate({s}, {t}, {s}), dimensions={{1}}"))
            }
            39 => {
                let t = self.temporary("f32[5,9]", &format!("transpose({g}), dimensions={{1,0}}"));
                self.add("f32[9,5]", &format!("reshape({t})"))
            }
            40 => {
                let dims = "lhs_contracting_dims={0}, rhs_contracting_dims={0}";
                let m = self.temporary("f32[5,5]", &format!("dot({g}, {h}), {dims}"));
                let dims = "lhs_contracting_dims={1}, rhs_contracting_dims={1}";
                self.add("f32[9,5]", &format!("dot({h}, {m}), {dims}"))
            }
            41 => {
                let op = ["sum", "most"][self.choose(2)];
                self.add("f32[]", &format!("reduce({g}, {x}), dimensions={{0,1}}, to_apply={op}"))
            }
            42 => {
                let (op, dim) = (["sum", "most"][self.choose(2)], self.choose(2));
                let of = ["f32[5]", "f32[9]"][dim];
                let reduce = format!("reduce({h}, {x}), dimensions={{{dim}}}, to_apply={op}");
                let r = self.temporary(of, &reduce);
                self.add("f32[9,5]", &format!("broadcast({r}), dimensions={{{}}}", 1 - dim))
            }
            43 => {
                let slice = format!("dynamic-slice({g}, {i}, {j}), dynamic_slice_sizes={{9,1}}");
                let s = self.temporary("f32[9,1]", &slice);
                self.add("f32[9,5]", &format!("dynamic-update-slice({h}, {s}, {j}, {i})"))
            }
            44 => {
                let one = self.temporary("f32[1]", &format!("reshape({x})"));
                let first = self.temporary("f32[]", "constant(-0)");
                let reduce = format!("reduce({one}, {first}), dimensions={{0}}, to_apply=sum");
                self.add("f32[]", &reduce)
            }
            45 => self.add("s32[19]", &format!("broadcast({i}), dimensions={{}}")),
            46 => {
                let op = ["negate", "not", "popcnt"][self.choose(3)];
                self.add("s32[19]", &format!("{op}({k})"))
            }
            _ => {
                let op = ["add", "subtract", "multiply", "and", "or", "xor", "maximum"];
                let (op, l) = (op[self.choose(7)], self.pick("s32[19]"));
                self.add("s32[19]", &format!("{op}({k}, {l})"))
            }
        };
    }
    /// Branches and loops that compute longer arrays.
    fn control(&mut self, n: usize) {
        let (g, h) = (self.pick("f32[9,5]"), self.pick("f32[9,5]"));
        let p = self.pick("pred[]");
        let (first, result) = if n == 48 {
            let of = "(f32[9,5], f32[9,5])";
            let t = self.temporary(of, &format!("tuple({g}, {h})"));
            let branches = "true_computation=flip, false_computation=keep";
            (0, self.temporary(of, &format!("conditional({p}, {t}, {t}), {branches}")))
        } else {
            let (of, i) = ("(s32[], f32[9,5], f32[9,5])", self.temporary("s32[]", "constant(0)"));
            let t = self.temporary(of, &format!("tuple({i}, {g}, {h})"));
            (1, self.temporary(of, &format!("while({t}), condition=few, body=turn")))
        };
        for k in [first, first + 1] {
            self.add("f32[9,5]", &format!("get-tuple-element({result}), index={k}"));
        }
    }
    /// Products of transposed arrays, columns, and padding.
    fn moved(&mut self, n: usize) {
        let (g, h, x) = (self.pick("f32[9,5]"), self.pick("f32[9,5]"), self.pick("f32[]"));
        let dims = "lhs_contracting_dims={1}, rhs_contracting_dims={0}";
        let _ = match n {
            50 => {
                let t = self.temporary("f32[5,9]", &format!("transpose({g}), dimensions={{1,0}}"));
                let m = self.temporary("f32[5,5]", &format!("dot({t}, {h}), {dims}"));
                let m = self.temporary("f32[5,5]", &format!("transpose({m}), dimensions={{1,0}}"));
                self.add("f32[9,5]", &format!("dot({h}, {m}), {dims}"))
            }
            51 => {
                let c = self.temporary("f32[9,2]", &format!("slice({g}), slice={{[0:9],[0:5:3]}}"));
                let r = self.temporary("f32[9,2]", &format!("reverse({c}), dimensions={{1}}"));
                let first =
                    self.temporary("f32[9,1]", &format!("slice({h}), slice={{[0:9],[2:3]}}"));
                self.add("f32[9,5]", &format!("concatenate({r}, {first}, {c}), dimensions={{1}}"))
            }
            52 => {
                let c = self.temporary("f32[9,1]", &format!("slice({g}), slice={{[0:9],[3:4]}}"));
                self.add("f32[9,5]", &format!("pad({c}, {x}), padding=0_0x1_3"))
            }
            _ => {
                let y = self.temporary("f32[]", &format!("multiply({x}, {x})"));
                let d = self.temporary("f32[9,5]", &format!("dot({y}, {g})"));
                self.add("f32[9,5]", &format!("add({d}, {h})"))
            }
        };
    }
    /// The largest numbers of rows or columns, and their indices.
    fn extremes(&mut self) {
        let (g, x, i) = (self.pick("f32[9,5]"), self.pick("f32[]"), self.pick("s32[]"));
        let dim = self.choose(2);
        let size = [5, 9][dim];
        let indices = self.temporary("s32[9,5]", &format!("iota(), iota_dimension={dim}"));
        let of = format!("(f32[{size}], s32[{size}])");
        let reduce =
            format!("reduce({g}, {indices}, {x}, {i}), dimensions={{{dim}}}, to_apply=top");
        let t = self.temporary(&of, &reduce);
        for k in 0..2 {
            let part = self.temporary(
                &format!("{}[{size}]", ["f32", "s32"][k]),
                &format!("get-tuple-element({t}), index={k}"),
            );
            let part = self.temporary(&format!("f32[{size}]"), &format!("convert({part})"));
            self.add("f32[9,5]", &format!("broadcast({part}), dimensions={{{}}}", 1 - dim));
        }
    }
    fn others(&mut self, n: usize) {
        let (a, b, x) = (self.pick("f32[3]"), self.pick("f32[3]"), self.pick("f32[]"));
        let (i, j) = (self.pick("s32[]"), self.pick("s32[]"));
        let (p, c) = (self.pick("pred[]"), self.pick("s32[4]"));
        let large = self.last("f32[1200]");
        let _ = match n {
            16 => self.add("s32[]", &format!("multiply({i}, {j})")),
            17 => self.add("s32[]", &format!("subtract({i}, {j})")),
            18 => {
                let s = self.temporary(
                    "s32[1]",
                    &format!("dynamic-slice({c}, {j}), dynamic_slice_sizes={{1}}"),
                );
                self.add("s32[]", &format!("reshape({s})"))
            }
            19 => self.add("pred[]", &format!("compare({i}, {j}), direction=LT")),
            20 => self.add("pred[]", &format!("not({p})")),
            21 => {
                let computation = ["second", "minus"][self.choose(2)];
                let at = self.temporary("s32[1]", &format!("reshape({j})"));
                self.add("s32[4]", &format!("scatter({c}, {at}, {i}), update_window_dims={{}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=0, to_apply={computation}"))
            }
            22 => {
                let at = self.temporary("s32[1]", &format!("reshape({j})"));
                self.add("s32[]", &format!("gather({c}, {at}), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=0, slice_sizes={{1}}"))
            }
            23 => self.add("s32[4]", &format!("dynamic-update-slice({c}, {c}, {i})")),
            24 => self.add("s32[4]", "iota(), iota_dimension=0"),
            25 => {
                let d = self.pick("bf16[5]");
                self.add("bf16[5]", &format!("multiply({d}, {d})"))
            }
            26 => {
                let e = self.pick("f32[2,3]");
                let t = self.temporary("f32[3,2]", &format!("transpose({e}), dimensions={{1,0}}"));
                self.add("f32[2,3]", &format!("reshape({t})"))
            }
            27 => {
                let e = self.pick("f32[2,3]");
                let s = self.temporary("f32[1,3]", &format!("reshape({a})"));
                self.add("f32[2,3]", &format!("dynamic-update-slice({e}, {s}, {i}, {j})"))
            }
            28 => {
                let t =
                    self.temporary("(f32[3], f32[3])", &format!("call({a}, {x}), to_apply=shift"));
                self.add("f32[3]", &format!("get-tuple-element({t}), index={}", i.len() % 2))
            }
            29 => {
                let t = self.temporary("(f32[3], f32[1200])", &format!("tuple({a}, {large})"));
                let r = self.temporary(
                    "(f32[3], f32[1200])",
                    &format!(
                        "conditional({p}, {t}, {t}), true_computation=left, false_computation=right"
                    ),
                );
                self.add("f32[1200]", &format!("get-tuple-element({r}), index=1"));
                self.add("f32[3]", &format!("get-tuple-element({r}), index=0"))
            }
            30 => {
                // A few rounds, whatever the number; some of them below 0.
                let eight = self.temporary("s32[]", "constant(8)");
                let first = self.temporary("s32[]", &format!("remainder({i}, {eight})"));
                let of = "(s32[], f32[3], f32[1200])";
                let t = self.temporary(of, &format!("tuple({first}, {a}, {large})"));
                let r = self.temporary(
                    "(s32[], f32[3], f32[1200])",
                    &format!("while({t}), condition=less, body=inner"),
                );
                self.add("f32[1200]", &format!("get-tuple-element({r}), index=2"));
                self.add("f32[3]", &format!("get-tuple-element({r}), index=1"))
            }
            31 => self.add("f32[3]", "constant({1.5, -0, inf})"),
            32 => self.add("f32[2,3]", &format!("broadcast({a}), dimensions={{1}}")),
            _ => self.add("f32[3]", &format!("divide({a}, {b})")),
        };
    }
}

/// A module with one loop.
pub(super) fn module(choices: &[u8]) -> String {
    let shapes: Vec<&str> = CARRIED.iter().map(|(shape, _)| *shape).collect();
    let shape = format!("({})", shapes.join(", "));
    let mut body =
        Body { choices: choices.iter(), text: String::new(), values: Vec::new(), count: 0 };
    for (k, (of, name)) in CARRIED.iter().enumerate() {
        let _ = writeln!(body.text, "  {name} = {of} get-tuple-element(t), index={k}");
        body.values.push((of, (*name).to_owned()));
    }
    let steps = 1 + body.choose(24);
    for _ in 0..steps {
        body.step();
    }
    let one = body.temporary("s32[]", "constant(1)");
    let next = body.temporary("s32[]", &format!("add(i, {one})"));
    let mut results = vec![next];
    for (of, name) in &CARRIED[1..] {
        results.push(match *name {
            "L" => body.last("f32[1200]"),
            "M" => "M".to_owned(),
            _ => body.pick(of),
        });
    }
    let (text, results, rounds) = (body.text.clone(), results.join(", "), 1 + body.choose(5));
    let parameters = "a = f32[3] parameter(0) c = s32[4] parameter(1) L = f32[1200] parameter(2) e = f32[2,3] parameter(3) g = f32[9,5] parameter(4) k = s32[19] parameter(5)";
    format!(
        "{COMMON}
        condition {{ t = {shape} parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant({rounds})
          ROOT l = pred[] compare(i, n), direction=LT }}
        body {{ t = {shape} parameter(0)
        {text}  ROOT r = {shape} tuple({results}) }}
        ENTRY main {{ {parameters} i = s32[] constant(0) j = s32[] constant(2) x = f32[] constant(0.5) p = pred[] constant(true)
          d = bf16[5] constant({{1, -2, 3, 4, 0.5}}) t = {shape} tuple(i, j, x, p, a, a, c, d, e, g, k, L, L)
          ROOT w = {shape} while(t), condition=condition, body=body }}"
    )
}

/// Returns the module with more elements in the arrays of `longer`: operations on them are fused.
pub(super) fn wide(module: &str) -> String {
    [
        ("f32[9", "f32[139"),
        ("s32[9", "s32[139"),
        ("[5,9]", "[5,139]"),
        ("[0:9]", "[0:139]"),
        ("={9,", "={139,"),
    ]
    .iter()
    .fold(module.replace("s32[19]", "s32[600]"), |text, (from, to)| text.replace(from, to))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_bodies(choices in prop::collection::vec(any::<u8>(), 20..300)) {
        let text = module(&choices);
        agree(&text);
        agree(&wide(&text));
    }
}

/// Runs until the loop has become machine code have the result of the first one, and so has the run
/// after that. That of `exact` is the result of the specification.
pub(super) fn agree_with_code(text: &str, engine: Engine) {
    let program = compiled(text, engine);
    let parameters = program.module().entry().program_shape().parameters;
    let arguments: Vec<Literal> =
        (parameters.iter().zip(1..)).map(|(p, i)| ramp(p.array().unwrap(), i)).collect();
    let options = RunOptions::default();
    let first = run(&program, &arguments, &options);
    let expected = canonical(&first.result);
    if engine == Engine::Exact {
        let reference = run(&compiled(text, Engine::Reference), &arguments, &options);
        assert_eq!(expected, canonical(&reference.result), "{text}");
    }
    // A loop becomes code after 1,000 executions of each instruction, if these are more than 20: a
    // run has at least one.
    for i in 1..2005 {
        let found = run(&program, &arguments, &options);
        if i > 1990 {
            assert_eq!(canonical(&found.result), expected, "run {i}\n{text}");
            assert_eq!(found.steps, first.steps, "run {i}\n{text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_bodies_as_code(choices in prop::collection::vec(any::<u8>(), 20..300)) {
        for text in [module(&choices), wide(&module(&choices))] {
            agree_with_code(&text, Engine::Exact);
            agree_with_code(&text, Engine::Fast);
        }
    }
}

/// All of these loops run on one block of memory, those too that read an array after its update.
#[test]
fn plans_say_so() {
    let is_small = |k: u8| {
        let choices: Vec<u8> = (0..120u8).map(|i| i.wrapping_mul(37).wrapping_add(k)).collect();
        compiled(&module(&choices), Engine::Exact)
            .plan()
            .to_string()
            .contains("while (small arrays)")
    };
    let count = (0..60).filter(|&k| is_small(k)).count();
    assert_eq!(count, 60);
}

/// Each branch may have large constants of its own, and update a large array that was there before.
#[test]
fn branches_with_large_constants() {
    let numbers = |k: usize| {
        let all: Vec<String> = (0..1100).map(|i| (i * k % 17).to_string()).collect();
        format!("f32[1100] constant({{{}}})", all.join(", "))
    };
    let branch = |name: &str, k: usize| {
        format!(
            "{name} {{ t = (s32[], f32[1100]) parameter(0) i = s32[] get-tuple-element(t), index=0
               L = f32[1100] get-tuple-element(t), index=1 c = {} d = {}
               u = f32[2] dynamic-slice(c, i), dynamic_slice_sizes={{2}} w = f32[2] dynamic-slice(d, i), dynamic_slice_sizes={{2}}
               v = f32[2] add(u, w) M = f32[1100] dynamic-update-slice(L, v, i)
               ROOT r = (s32[], f32[1100]) tuple(i, M) }}",
            numbers(k),
            numbers(k + 1)
        )
    };
    let call =
        |name: &str, branches: &str| format!("{name} = (s32[], f32[1100]) conditional({branches}");
    let (b, one) = (
        call("b", "p, t, t), true_computation=f, false_computation=g"),
        call("k", "z, b), branch_computations={f}"),
    );
    let last = call("m", "i, k, k, k), branch_computations={g, h, f}");
    let text = format!(
        "{} {} {}
         condition {{ t = (s32[], f32[1100]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(4)
           ROOT l = pred[] compare(i, n), direction=LT }}
         body {{ t = (s32[], f32[1100]) parameter(0) i = s32[] get-tuple-element(t), index=0 o = s32[] constant(1) z = s32[] constant(0)
           p = pred[] compare(i, o), direction=EQ {b} {one} {last}
           L = f32[1100] get-tuple-element(m), index=1 j = s32[] add(i, o) ROOT r = (s32[], f32[1100]) tuple(j, L) }}
         ENTRY main {{ i = s32[] constant(0) L = f32[1100] parameter(0) t = (s32[], f32[1100]) tuple(i, L)
           ROOT w = (s32[], f32[1100]) while(t), condition=condition, body=body }}",
        branch("f", 3), branch("g", 5), branch("h", 7)
    );
    assert!(compiled(&text, Engine::Exact).plan().to_string().contains("while (small arrays)"));
    agree_with_code(&text, Engine::Exact);
}

/// A loop of any number of instructions is a program, unless computations that are called make it
/// longer than the module.
#[test]
fn long_loops() {
    let loop_of = |head: &str, body: &str| {
        format!(
            "{head} less {{ t = (s32[], f32[]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(3)
               ROOT l = pred[] compare(i, n), direction=LT }}
             next {{ t = (s32[], f32[]) parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1) j = s32[] add(i, one)
               x0 = f32[] get-tuple-element(t), index=1 {body} ROOT r = (s32[], f32[]) tuple(j, y) }}
             ENTRY main {{ i = s32[] constant(0) x = f32[] parameter(0) t = (s32[], f32[]) tuple(i, x)
               ROOT w = (s32[], f32[]) while(t), condition=less, body=next }}"
        )
    };
    let is_small = |text: &str| {
        compiled(text, Engine::Exact).plan().to_string().contains("while (small arrays)")
    };
    let steps = (0..9000)
        .map(|i| format!("x{} = f32[] {}(x{i}, x{})\n", i + 1, ["add", "subtract"][i % 2], i / 2));
    let steps = steps.collect::<Vec<_>>().concat();
    let long = loop_of("", &format!("{steps} y = f32[] tanh(x9000)"));
    assert!(is_small(&long));
    agree(&long);
    let head = (1..14).map(|i| {
        let last = i - 1;
        format!("f{i} {{ a = f32[] parameter(0) b = f32[] call(a), to_apply=f{last} ROOT c = f32[] call(b), to_apply=f{last} }}\n")
    });
    let head = head.collect::<Vec<_>>().concat();
    let head = format!("f0 {{ a = f32[] parameter(0) ROOT c = f32[] cosine(a) }} {head}");
    let doubled = loop_of(&head, "y = f32[] call(x0), to_apply=f13");
    assert!(!is_small(&doubled));
    agree(&doubled);
}

/// Loops of scalars of each type, which change places: in a frame, as program, and as code, with
/// the same bits and steps.
#[test]
fn scalars_of_every_type() {
    for &ty in ElementType::ALL {
        let sum = match ty.class() {
            Class::Pred => "xor(a, b)",
            Class::Signed | Class::Unsigned => "multiply(a, b)",
            Class::Float | Class::Complex => "add(a, b)",
        };
        let shape = format!("(s32[], {ty}[], {ty}[], {ty}[])");
        let text = format!(
            "less {{ t = {shape} parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(2500)
               ROOT l = pred[] compare(i, n), direction=LT }}
             next {{ t = {shape} parameter(0) i = s32[] get-tuple-element(t), index=0 a = {ty}[] get-tuple-element(t), index=1
               b = {ty}[] get-tuple-element(t), index=2 c = {ty}[] get-tuple-element(t), index=3 one = s32[] constant(1)
               j = s32[] add(i, one) k = {ty}[] convert(j) x = {ty}[] {sum} p = pred[] compare(x, c), direction=EQ
               y = {ty}[] select(p, k, x) q = s32[] constant(700) z = pred[] compare(j, q), direction=EQ
               w = {ty}[] select(z, k, c) ROOT r = {shape} tuple(j, b, y, w) }}
             ENTRY main {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) c = {ty}[] parameter(2) i = s32[] constant(0)
               t = {shape} tuple(i, a, b, c) ROOT w = {shape} while(t), condition=less, body=next }}"
        );
        let (reference, exact) =
            (compiled(&text, Engine::Reference), compiled(&text, Engine::Exact));
        let scalar = ArrayShape::new(ty, [].as_slice());
        let arguments: Vec<Literal> = (1..4).map(|seed| ramp(&scalar, 4 + seed)).collect();
        let options = RunOptions::default();
        let expected = run(&reference, &arguments, &options);
        for i in 0..3 {
            let found = run(&exact, &arguments, &options);
            assert_eq!(canonical(&found.result), canonical(&expected.result), "run {i} of {ty}");
            assert_eq!(found.steps, expected.steps, "run {i} of {ty}");
        }
    }
}

/// Loops as programs, with and without a branch in the condition, and a loop of frames whose
/// condition is a program: where the fuel ends, the error names the instruction that frames name.
#[test]
fn fuel_ends_at_the_same_instruction() {
    let text = |shape: &str, next: &str| {
        format!(
            "yes {{ i = s32[] parameter(0) n = s32[] constant(4) ROOT l = pred[] compare(i, n), direction=LT }}
             no {{ i = s32[] parameter(0) ROOT f = pred[] constant(true) }}
             less {{ t = (s32[], {shape}) parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1)
               b = pred[] compare(i, one), direction=GE ROOT r = pred[] conditional(b, i, i), true_computation=yes, false_computation=no }}
             next {{ t = (s32[], {shape}) parameter(0) i = s32[] get-tuple-element(t), index=0 x = {shape} get-tuple-element(t), index=1
               one = s32[] constant(1) j = s32[] add(i, one) y = {shape} {next} ROOT r = (s32[], {shape}) tuple(j, y) }}
             ENTRY main {{ i = s32[] constant(0) x = {shape} parameter(0) t = (s32[], {shape}) tuple(i, x)
               ROOT w = (s32[], {shape}) while(t), condition=less, body=next }}"
        )
    };
    for (shape, next) in [
        ("f32[]", "negate(x)"),
        ("f32[3]", "negate(x)"),
        ("f32[20000]", "sort(x), dimensions={0}, to_apply=before"),
    ] {
        let before = "before { a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT } ";
        let exact = compiled(&format!("{before}{}", text(shape, next)), Engine::Exact);
        let arguments =
            [ramp(exact.module().entry().program_shape().parameters[0].array().unwrap(), 1)];
        for fuel in 0..90 {
            let [program, frames] = [false, true].map(|nan| {
                let options = RunOptions::default().fuel(fuel).check_nan(nan);
                exact.execute(&arguments, &options).map_err(|error| error.to_string())
            });
            assert_eq!(program, frames, "{fuel} steps, {shape}");
        }
    }
}
