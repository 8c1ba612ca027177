//! Random convolutions, of few output features in a group: the bits of the definition, in `fast`
//! where all sums are exact.
use crate::windows::{elements, engines_agree};
use crate::{canonical, compiled};
use hlo::{ArrayShape, ElementType, Literal, Scalar};
use interp::{Engine, RunOptions};

/// Pseudorandom numbers, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) % limit
    }
    fn size(&mut self, least: i64, most: i64) -> i64 {
        least + i64::try_from(self.below(u64::try_from(most - least + 1).unwrap())).unwrap()
    }
    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[usize::try_from(self.below(list.len().try_into().unwrap())).unwrap()]
    }
}

/// A convolution: shapes of operands and result, and attributes.
struct Case {
    lhs: Vec<i64>,
    rhs: Vec<i64>,
    to: Vec<i64>,
    attributes: String,
}

fn x(sizes: &[i64]) -> String {
    sizes.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
}

/// Sizes in the order of labels, from those of the two named dimensions and of the spatial ones.
fn sizes(labels: &str, named: [(char, i64); 2], spatial: &[i64]) -> Vec<i64> {
    let size = |label: char| match label.to_digit(10) {
        Some(d) => spatial[usize::try_from(d).unwrap()],
        None => named.iter().find(|(name, _)| *name == label).unwrap().1,
    };
    labels.chars().map(size).collect()
}

fn case(random: &mut Random) -> Case {
    let rank = random.one_of(&[1_usize, 1, 2, 2, 2, 3]);
    let labels = match rank {
        1 => ["b0f_0io->b0f", "bf0_oi0->bf0", "0bf_i0o->f0b", "fb0_o0i->bf0"],
        2 => ["b01f_01io->b01f", "bf01_oi01->bf01", "01bf_o0i1->b0f1", "f10b_1oi0->b10f"],
        _ => {
            ["b012f_012io->b012f", "bf012_oi012->bf012", "0b12f_oi201->bf210", "bf012_oi012->b012f"]
        }
    };
    let labels = random.one_of(&labels);
    let (operands, result) = labels.split_once("->").unwrap();
    let (lhs, rhs) = operands.split_once('_').unwrap();
    let groups = random.one_of(&[1, 2, 3, 5, 16, 33]);
    let (inputs, outputs) =
        random.one_of(&[(1, 1), (1, 1), (1, 2), (1, 5), (2, 1), (3, 2), (4, 4)]);
    let is_batch_group = random.below(5) == 0;
    let batch = random.size(0, 2);
    let most = if rank == 1 { 2500 } else { 13 };
    let mut windows = vec![Vec::new(); 7];
    let (mut from, mut to) = (Vec::new(), Vec::new());
    for _ in 0..rank {
        let (size, window) = (random.size(0, most), random.size(1, 4));
        let (stride, low, high) = (random.size(1, 3), random.size(-1, 3), random.size(-1, 3));
        let (holes, dilation) = (random.one_of(&[1, 1, 1, 2, 4]), random.one_of(&[1, 1, 2]));
        let dilated = if size == 0 { 0 } else { (size - 1) * holes + 1 } + low + high;
        let reach = (window - 1) * dilation + 1;
        to.push(if dilated < reach { 0 } else { (dilated - reach) / stride + 1 });
        from.push(size);
        let values = [window, stride, low, high, holes, dilation, random.size(0, 1)];
        windows.iter_mut().zip(values).for_each(|(list, value)| list.push(value));
    }
    let pads: Vec<String> =
        windows[2].iter().zip(&windows[3]).map(|(low, high)| format!("{low}_{high}")).collect();
    let window = format!(
        "window={{size={} stride={} pad={} lhs_dilate={} rhs_dilate={} rhs_reversal={}}}",
        x(&windows[0]),
        x(&windows[1]),
        pads.join("x"),
        x(&windows[4]),
        x(&windows[5]),
        x(&windows[6])
    );
    let count = if is_batch_group { "batch_group_count" } else { "feature_group_count" };
    let (features, batches) = if is_batch_group { (1, groups) } else { (groups, 1) };
    Case {
        lhs: sizes(lhs, [('b', batch * batches), ('f', inputs * features)], &from),
        rhs: sizes(rhs, [('i', inputs), ('o', outputs * groups)], &windows[0]),
        to: sizes(result, [('b', batch), ('f', outputs * groups)], &to),
        attributes: format!("{window}, dim_labels={labels}, {count}={groups}"),
    }
}

fn text(case: &Case, from: &str, to: &str) -> String {
    let list = |dims: &[i64]| x(dims).replace('x', ",");
    format!(
        "ENTRY e {{ l = {from}[{}] parameter(0) r = {from}[{}] parameter(1)
          ROOT c = {to}[{}] convolution(l, r), {} }}",
        list(&case.lhs),
        list(&case.rhs),
        list(&case.to),
        case.attributes
    )
}

#[test]
fn random_convolutions_have_the_bits_of_the_definition() {
    let mut random = Random(1);
    for seed in 0..300 {
        let case = case(&mut random);
        let types =
            [("f32", "f32"), ("bf16", "bf16"), ("f16", "f16"), ("f16", "f32"), ("s8", "s32")];
        let (from, to) = random.one_of(&types);
        let ty = ElementType::from_name(from).unwrap();
        let special = ty.is_float() && seed % 3 == 0;
        let arguments =
            [elements(ty, &case.lhs, seed, special), elements(ty, &case.rhs, seed + 1, special)];
        engines_agree(&text(&case, from, to), &arguments);
    }
}

/// Small integers of either sign, and a few numbers that are not finite.
fn integers(ty: ElementType, dims: &[i64], random: &mut Random, special: bool) -> Literal {
    let shape = ArrayShape::new(ty, dims);
    let mut bytes = Vec::new();
    for _ in 0..shape.element_count().unwrap() {
        let x = match random.below(90) {
            0 if special => f64::INFINITY,
            1 if special => f64::NAN,
            2 => -0.0,
            n => f64::from(i32::try_from(n % 7).unwrap() - 3),
        };
        let mut element = vec![0; ty.storage_bytes()];
        Scalar::Float(x).convert(ElementType::F64, ty).write(ty, &mut element);
        bytes.append(&mut element);
    }
    Literal::from_bytes(shape, &bytes).unwrap()
}

#[test]
fn random_convolutions_of_integers_are_exact_in_fast() {
    let mut random = Random(2);
    for seed in 0..300 {
        let case = case(&mut random);
        let name = random.one_of(&["f32", "bf16", "f16", "f64", "s32"]);
        let ty = ElementType::from_name(name).unwrap();
        let special = ty.is_float() && seed % 2 == 0;
        let arguments = [&case.lhs, &case.rhs].map(|dims| integers(ty, dims, &mut random, special));
        let text = text(&case, name, name);
        let expected =
            compiled(&text, Engine::Reference).execute(&arguments, &RunOptions::default()).unwrap();
        let fast = compiled(&text, Engine::Fast);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = pool.install(|| fast.execute(&arguments, &RunOptions::default()).unwrap());
            assert_eq!(canonical(&found), canonical(&expected), "{threads} threads\n{text}");
        }
    }
}

/// All sums cancel to zero, are halfway between two neighbors, or are just beside that.
#[test]
fn sums_that_are_hard_to_round() {
    for ty in [ElementType::F32, ElementType::Bf16] {
        let name = ty.name();
        for (labels, lhs, rhs) in [
            ("bf01_oi01->bf01", [1_i64, 9, 6, 40], [9_i64, 1, 1, 3]),
            ("b01f_01io->b01f", [1, 6, 40, 9], [1, 3, 1, 9]),
        ] {
            let case = Case {
                lhs: lhs.to_vec(),
                rhs: rhs.to_vec(),
                to: if labels.starts_with("bf") { vec![1, 9, 6, 38] } else { vec![1, 6, 38, 9] },
                attributes: format!(
                    "window={{size=1x3}}, dim_labels={labels}, feature_group_count=9"
                ),
            };
            let bits = if ty == ElementType::F32 { 24 } else { 8 };
            for seed in 0..6 {
                let mut random = Random(seed);
                let number = |random: &mut Random| match random.below(4) {
                    0 => 2f64.powi(bits),
                    1 => 1.0,
                    2 => -1.0,
                    _ => 2f64.powi(-20) * if seed % 2 == 0 { 0.0 } else { 1.0 },
                };
                let array = |dims: &[i64], random: &mut Random| {
                    let shape = ArrayShape::new(ty, dims);
                    let mut bytes = vec![0; shape.element_count().unwrap() * ty.storage_bytes()];
                    for element in bytes.chunks_exact_mut(ty.storage_bytes()) {
                        let x = Scalar::Float(number(random));
                        x.convert(ElementType::F64, ty).write(ty, element);
                    }
                    Literal::from_bytes(shape, &bytes).unwrap()
                };
                let arguments = [array(&case.lhs, &mut random), array(&case.rhs, &mut random)];
                engines_agree(&text(&case, name, name), &arguments);
            }
        }
    }
}
