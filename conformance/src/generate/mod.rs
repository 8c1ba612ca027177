//! Random modules, valid by construction.
//!
//! ```text
//! seed ─> Config ─> Generator ── one inserter for each form of op ──> text ─parse, verify─> Generated ─> arguments
//!         (ops, types, sizes, depth, devices: drawn for each module)
//! ```
//!
//! Inserters grow a computation forwards, from values that exist, and backwards: an operand that no
//! value fits is derived from others, or becomes a parameter or a constant. Shapes follow by
//! construction, so no module is rejected and tried again. An elementwise op needs no inserter: its
//! row in the op table has the types that it takes.
mod collective;
mod config;
mod contraction;
mod control;
mod data;
mod dynamic;
mod elementwise;
mod generator;
mod indexing;
mod insert;
mod linear;
mod movement;
mod mutate;
mod order;
mod reduction;
mod repeat;
mod scalar;
mod scope;
mod twins;
mod windows;

pub use config::Options;
pub use data::Regime;
pub use mutate::mutated;

use data::Domain;
use generator::Generator;
use hlo::{Literal, Module, Shape, Verified};
use interp::DeviceGrid;
use std::sync::Arc;

/// A random module and the values that its parameters take.
#[derive(Debug, Clone)]
pub struct Generated {
    /// The text of the module.
    pub text: String,
    /// The module.
    pub module: Arc<Verified>,
    seed: u64,
    domains: Vec<Domain>,
}

/// A module that breaks a rule: an error of the generator.
#[derive(Debug, Clone, thiserror::Error)]
#[error("seed {seed}: the generator made an invalid module: {message}\n{text}")]
pub struct Invalid {
    /// The seed of the module.
    pub seed: u64,
    /// The first rule that it breaks.
    pub message: String,
    /// Its text.
    pub text: String,
}

/// Returns the module of a seed.
///
/// ```
/// use conformance::generate::{Options, Regime, generate};
/// let generated = generate(7, &Options::default())?;
/// assert_eq!(generated.text, generate(7, &Options::default())?.text);
/// let arguments = generated.arguments(Regime::Integers);
/// assert!(!arguments.is_empty());
/// # Ok::<(), conformance::generate::Invalid>(())
/// ```
///
/// # Errors
/// If the module does not parse or breaks a rule.
pub fn generate(seed: u64, options: &Options) -> Result<Generated, Invalid> {
    let (text, domains) = Generator::module(seed, options);
    match verified(&text) {
        Ok(module) => Ok(Generated { text, module: Arc::new(module), seed, domains }),
        Err(message) => Err(Invalid { seed, message, text }),
    }
}

fn verified(text: &str) -> Result<Verified, String> {
    let module = Module::parse(text).map_err(|error| error.to_string())?;
    module.verify().map_err(|errors| errors.0.first().map_or_else(String::new, ToString::to_string))
}

impl Generated {
    /// Returns arguments for each device of the module.
    pub fn arguments(&self, regime: Regime) -> Vec<Vec<Literal>> {
        drawn(self.module.module(), &self.domains, regime, self.seed)
    }
}

/// Returns arguments for each device of a module of which nothing else is known.
pub fn arguments(module: &Module, regime: Regime, seed: u64) -> Vec<Vec<Literal>> {
    drawn(module, &[], regime, seed)
}

/// Returns a value of a shape.
pub(crate) fn value(rng: &mut fastrand::Rng, shape: &Shape, regime: Regime) -> Literal {
    Domain::Any.draw(rng, shape, regime)
}

fn drawn(module: &Module, domains: &[Domain], regime: Regime, seed: u64) -> Vec<Vec<Literal>> {
    let shapes = module.entry().program_shape().parameters;
    let mut rng = fastrand::Rng::with_seed(seed ^ regime.salt());
    let devices = DeviceGrid::of(&module.config).len();
    let any = Domain::Any;
    let draw = |rng: &mut fastrand::Rng| {
        let domains = domains.iter().chain(std::iter::repeat(&any));
        shapes.iter().zip(domains).map(|(shape, domain)| domain.draw(rng, shape, regime)).collect()
    };
    (0..devices).map(|_| draw(&mut rng)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo::ir::{Computation, Instruction, InstructionId};
    use hlo::layout::Layout;
    use hlo::{ArrayShape, Op, Opcode};
    use std::collections::BTreeSet;

    /// Ops that no module has: what the host gives and takes is no part of a case.
    const WITHOUT: [Opcode; 2] = [Opcode::Infeed, Opcode::Outfeed];

    #[test]
    fn modules_are_valid_and_have_every_op() {
        let mut found = BTreeSet::new();
        for portable in [false, true] {
            let options = Options { portable, ..Options::default() };
            for seed in 0..600 {
                let module = generate(seed, &options).unwrap_or_else(|invalid| panic!("{invalid}"));
                found.extend(module.module.module().instructions().map(Instruction::opcode));
            }
        }
        let missing = Opcode::ALL.iter().filter(|op| !found.contains(op) && !WITHOUT.contains(op));
        assert_eq!(missing.collect::<Vec<_>>(), Vec::<&Opcode>::new());
    }

    #[test]
    fn no_op_has_millions_of_products() {
        let ops = vec![Opcode::Convolution, Opcode::ReduceWindow];
        let options = Options { ops, ..Options::default() };
        let mut most = 0;
        for seed in 0..1000 {
            let module = generate(seed, &options).unwrap_or_else(|invalid| panic!("{invalid}"));
            for (_, computation) in module.module.module().computations.iter() {
                for (_, one) in computation.instructions.iter() {
                    let (window, inputs) = if let Op::Convolution(op) = &one.op {
                        let kernel = computation.instructions[one.operands[1]].shape.array();
                        let inputs = usize::try_from(op.dim_labels.rhs_input_feature).unwrap();
                        (&op.window, kernel.unwrap().dims[inputs])
                    } else if let Op::ReduceWindow(op) = &one.op {
                        (&op.window, 1)
                    } else {
                        continue;
                    };
                    let results = one.shape.array().map_or(&[][..], |shape| &shape.dims);
                    let sizes = window.dims.iter().map(|dim| dim.size);
                    most = most.max(sizes.chain(results.iter().copied()).product::<i64>() * inputs);
                }
            }
        }
        assert!((200_000..=1_000_000).contains(&most), "{most}");
    }

    #[test]
    fn what_is_left_out_is_in_no_module() {
        use crate::results::{Record, Results, Verdict};
        let mut results = Results::new("chip");
        for name in ["add/f32/x", "sort/f32/x", "sort/s32/x", "dot/f16/x", "add/f16/x", "abs/f16/x"]
        {
            results.push(Record::new(name, Verdict::Unsupported));
        }
        let capabilities = Arc::new(crate::CapabilityMap::of(&results));
        let types = [hlo::ElementType::F32, hlo::ElementType::S32, hlo::ElementType::Pred];
        let asked = Options { types: types.to_vec(), ops: vec![Opcode::Dot], ..Options::default() };
        let (mut counts, mut dots) = ([0; 2], 0);
        for (seed, is_asked) in (0..300).flat_map(|seed| [(seed, false), (seed, true)]) {
            let options = if is_asked { asked.clone() } else { Options::default() };
            let options = Options { capabilities: Arc::clone(&capabilities), ..options };
            let module = generate(seed, &options).unwrap_or_else(|invalid| panic!("{invalid}"));
            for (_, computation) in module.module.module().computations.iter() {
                for (_, one) in computation.instructions.iter() {
                    let ty = one.shape.element_type();
                    assert_ne!(ty, Some(hlo::ElementType::F16), "{}", module.text);
                    assert_ne!(one.opcode(), Opcode::Sort, "{}", module.text);
                    assert!(
                        !is_asked || ty.is_none_or(|ty| types.contains(&ty)),
                        "{}",
                        module.text
                    );
                    counts[usize::from(is_asked)] += 1;
                    dots += usize::from(is_asked && one.opcode() == Opcode::Dot);
                }
            }
        }
        assert!(counts.iter().all(|&count| count > 3000) && dots > 600, "{counts:?} {dots}");
    }

    /// Returns whether a pair of the instructions of a computation, in their order, is as `fits`
    /// says.
    fn has_pair(
        module: &Module,
        fits: impl Fn(&Computation, InstructionId, InstructionId) -> bool,
    ) -> bool {
        module.computations.iter().any(|(_, computation)| {
            let ids: Vec<InstructionId> = computation.instructions.ids().collect();
            (0..ids.len()).any(|i| ids[i + 1..].iter().any(|&b| fits(computation, ids[i], b)))
        })
    }
    fn has_instruction(module: &Module, fits: impl Fn(&Instruction) -> bool) -> bool {
        module.instructions().any(fits)
    }
    fn rounds(module: &Module) -> u64 {
        let loops = module.computations.iter().flat_map(|(_, computation)| {
            let all = computation.instructions.iter();
            all.filter_map(move |(_, one)| interp::trip_count(module, computation, one))
        });
        loops.max().unwrap_or(0)
    }

    /// The kinds of modules that show wrong transformations of a plan, each with how many of 400
    /// have it at least.
    #[test]
    fn modules_have_what_wrong_transformations_change() {
        type Kind = (&'static str, usize, fn(&Module) -> bool);
        let kinds: [Kind; 9] = [
            ("equal bitcasts of operands in different layouts", 4, |module| {
                has_pair(module, |c, a, b| {
                    let [a, b] = [a, b].map(|id| &c.instructions[id]);
                    let of = |one: &Instruction| &c.instructions[one.operands[0]].shape;
                    a.opcode() == Opcode::Bitcast
                        && a.op == b.op
                        && a.shape == b.shape
                        && of(a).compatible(of(b))
                        && of(a) != of(b)
                })
            }),
            ("products of an array and of its transpose", 2, |module| {
                has_pair(module, |c, a, b| {
                    let [a, b] = [a, b].map(|id| &c.instructions[id]);
                    let of = |one: &Instruction, other: &Instruction| {
                        let from = &c.instructions[one.operands[0]];
                        from.opcode() == Opcode::Transpose && from.operands[0] == other.operands[0]
                    };
                    a.opcode() == Opcode::Dot
                        && a.op == b.op
                        && a.operands[1] == b.operands[1]
                        && (of(a, b) || of(b, a))
                })
            }),
            ("instructions that differ in attributes alone", 4, |module| {
                has_pair(module, |c, a, b| {
                    let [a, b] = [a, b].map(|id| &c.instructions[id]);
                    a.opcode() == b.opcode()
                        && !a.operands.is_empty()
                        && a.operands == b.operands
                        && a.shape == b.shape
                        && a.op != b.op
                })
            }),
            ("equal instructions", 4, |module| {
                has_pair(module, |c, a, b| {
                    let [a, b] = [a, b].map(|id| &c.instructions[id]);
                    !a.operands.is_empty()
                        && a.op == b.op
                        && a.operands == b.operands
                        && a.shape == b.shape
                })
            }),
            ("a value that is read after an update of it", 4, |module| {
                has_pair(module, |c, a, b| {
                    let [a, b] = [a, b].map(|id| &c.instructions[id]);
                    [Opcode::DynamicUpdateSlice, Opcode::Scatter].contains(&a.opcode())
                        && b.operands.contains(&a.operands[0])
                })
            }),
            ("results in layouts of their own", 20, |module| {
                has_instruction(module, |one| {
                    let array = one.shape.array();
                    array.is_some_and(|array| array.layout != Layout::descending(array.rank()))
                })
            }),
            ("donated arguments", 10, |module| {
                (0..8).any(|number| module.config.is_donated(number))
            }),
            ("a loop of a thousand rounds", 2, |module| rounds(module) >= 999),
            ("arrays of thousands of elements", 1, |module| {
                has_instruction(module, |one| {
                    let count = one.shape.array().and_then(ArrayShape::element_count);
                    count.is_some_and(|count| count > 4096)
                })
            }),
        ];
        let mut found = [0; 9];
        for seed in 0..400 {
            let generated = generate(seed, &Options::default());
            let generated = generated.unwrap_or_else(|invalid| panic!("{invalid}"));
            for (count, (_, _, has)) in found.iter_mut().zip(&kinds) {
                *count += usize::from(has(generated.module.module()));
            }
        }
        let names = kinds.iter().map(|(name, least, _)| (*name, *least));
        let rare: Vec<_> = names.zip(found).filter(|((_, least), count)| count < least).collect();
        assert!(rare.is_empty(), "{rare:?}");
    }

    #[test]
    fn weights_choose_ops() {
        let weights = Opcode::ALL.iter().map(|&op| (op, u32::from(op == Opcode::Sort))).collect();
        let options = Options { weights, ..Options::default() };
        let text = generate(3, &options).unwrap().text;
        assert!(text.contains("sort("), "{text}");
        assert!(!text.contains("gather("), "{text}");
    }

    #[test]
    fn variants_are_valid_and_differ() {
        let text = "HloModule m
ENTRY e { x = f32[4] parameter(0) s = f32[4] sine(x) r = f32[2] slice(s), slice={[0:2]} ROOT t = f32[2] add(r, r) }";
        let module = Module::parse(text).unwrap();
        let variants: BTreeSet<String> =
            (0..40).filter_map(|seed| Some(mutated(seed, &module)?.text)).collect();
        assert!(variants.len() > 20, "{}", variants.len());
        assert!(!variants.contains(&module.print(hlo::text::Style::Short)));
    }

    #[test]
    fn each_device_and_each_regime_has_its_arguments() {
        let many = |seed: u64| {
            let module = generate(seed, &Options::default()).unwrap();
            let devices = module.arguments(Regime::Benign).len();
            (devices > 1 && !module.arguments(Regime::Benign)[0].is_empty()).then_some(module)
        };
        let module = (0..200).find_map(many).unwrap();
        let benign = module.arguments(Regime::Benign);
        assert_eq!(benign, module.arguments(Regime::Benign));
        assert_ne!(benign, module.arguments(Regime::Integers));
    }
}
