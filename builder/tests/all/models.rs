//! Gradients of whole models against values that JAX computed.
//!
//! `ETALON_CORPUS=folder` names a folder with `model/NAME.hlo` and `model/NAME.npz`: a program that
//! JAX lowered, its inputs `in0`, `in1`, ... and its results `out0`, `out1`, ... The model is
//! written again here; only the numbers are taken.
#![expect(clippy::unwrap_used, reason = "tests")]
use crate::support::{evaluate_on, reals};
use builder::options::{ConvOptions, DotDimensionNumbers, DotOptions, Padding};
use builder::{Builder, Value, nn};
use hlo::{ElementType, Literal, Module, Shape, literal::npz};
use std::path::PathBuf;

/// Arguments and results of a model; nothing if there is no corpus.
fn case(name: &str) -> Option<(Vec<Literal>, Vec<Literal>)> {
    let folder = PathBuf::from(std::env::var_os("ETALON_CORPUS")?).join("model");
    let text = std::fs::read_to_string(folder.join(format!("{name}.hlo"))).unwrap();
    let module = Module::parse(&text).unwrap();
    let program = module.entry().program_shape();
    let file = std::fs::File::open(folder.join(format!("{name}.npz"))).unwrap();
    let arrays = npz::read(file).unwrap();
    let literal = |name: String, shape: &Shape| {
        let array = arrays.iter().find(|array| array.name == name).unwrap();
        array.to_literal(shape.array().unwrap()).unwrap()
    };
    let inputs = program.parameters.iter().enumerate();
    let inputs = inputs.map(|(i, shape)| literal(format!("in{i}"), shape)).collect();
    let results = program.result.tuple().unwrap().iter().enumerate();
    let results = results.map(|(i, shape)| literal(format!("out{i}"), shape)).collect();
    Some((inputs, results))
}

/// Parameters of the shapes of these arrays.
fn inputs<'b>(b: &'b Builder, arrays: &[Literal]) -> Vec<Value<'b>> {
    arrays.iter().map(|array| b.input("x", array.shape())).collect()
}

/// Fails unless each part of the result is as near to what is expected as this share of its largest
/// element.
#[track_caller]
fn agree(b: &Builder, root: Value<'_>, arguments: &[Literal], expected: &[Literal], share: f64) {
    let result = evaluate_on(b, root, arguments);
    let found = result.elements().unwrap();
    assert_eq!(found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            found.shape().compatible(&expected.shape()),
            "{} {}",
            found.shape(),
            expected.shape()
        );
        let (found, expected) = (reals(found), reals(expected));
        let scale = expected.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        let worst = found.iter().zip(&expected).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(worst <= share * scale, "result {i}: {worst:e} apart, its scale is {scale:e}");
    }
}

/// The mean over the rows of minus the logarithm of the share that the row's label gets.
fn loss_of<'b>(logits: Value<'b>, labels: Value<'b>) -> Value<'b> {
    let classes = *logits.dims().unwrap().last().unwrap();
    let chosen = nn::one_hot(labels, classes, ElementType::F32);
    let dims: Vec<i64> = (0..).take(labels.rank().unwrap()).collect();
    -(logits.log_softmax(-1) * chosen).reduce_sum(&[-1]).mean(&dims)
}

#[test]
fn a_step_of_adam() {
    let Some((arguments, expected)) = case("mlp_adam_step") else { return };
    let b = Builder::new("mlp_adam_step");
    let x = inputs(&b, &arguments);
    let (p, m, v) = (&x[0..6], &x[6..12], &x[12..18]);
    let hidden = nn::dense(x[18], p[0], Some(p[1])).relu();
    let hidden = nn::dense(hidden, p[2], Some(p[3])).relu();
    let loss = loss_of(nn::dense(hidden, p[4], Some(p[5])), x[19]);
    let g = b.grad(loss, p);
    let m: Vec<Value<'_>> = m.iter().zip(&g).map(|(m, g)| *m * 0.9 + *g * 0.1).collect();
    let v: Vec<Value<'_>> = v.iter().zip(&g).map(|(v, g)| *v * 0.99 + *g * *g * 0.01).collect();
    let moved = |i: usize| p[i] - m[i] * 1e-2 / (v[i].sqrt() + 1e-8);
    let p: Vec<Value<'_>> = (0..6).map(moved).collect();
    let root = b.tuple(&[vec![loss], p, m, v].concat());
    agree(&b, root, &arguments, &expected, 1e-5);
}

fn conv<'b>(x: Value<'b>, w: Value<'b>) -> Value<'b> {
    let dims = "b01f_01io->b01f".parse().unwrap();
    x.conv_with_general_dimensions(w, &[1, 1], Padding::Same, &dims, &ConvOptions::default())
}

#[test]
fn a_step_of_lenet() {
    let Some((arguments, expected)) = case("lenet_train_step") else { return };
    let b = Builder::new("lenet_train_step");
    let x = inputs(&b, &arguments);
    let weights = &x[0..3];
    let mut image = x[3];
    for kernel in &weights[..2] {
        let lowest = f64::NEG_INFINITY;
        let window = [1, 2, 2, 1];
        image = conv(image, *kernel).relu();
        image = image.reduce_window(lowest, Value::max, &window, &window, Padding::Valid);
    }
    let loss = loss_of(image.reshape(&[4, 7 * 7 * 8]).dot(weights[2]), x[4]);
    let g = b.grad(loss, weights);
    let moved: Vec<Value<'_>> = weights.iter().zip(&g).map(|(w, g)| *w - *g * 0.1).collect();
    agree(&b, b.tuple(&[vec![loss], moved].concat()), &arguments, &expected, 1e-5);
}

fn channels_normed<'b>(y: Value<'b>, scale: Value<'b>, offset: Value<'b>) -> Value<'b> {
    let centered = y - y.mean(&[0, 1, 2]).along(&[3]);
    let variance = (centered * centered).mean(&[0, 1, 2]);
    centered * (variance + 1e-5).rsqrt().along(&[3]) * scale.along(&[3]) + offset.along(&[3])
}

#[test]
fn a_block_with_batch_norm() {
    let Some((arguments, expected)) = case("batch_norm_resnet_block") else { return };
    let b = Builder::new("batch_norm_resnet_block");
    let x = inputs(&b, &arguments);
    let inner = channels_normed(conv(x[0], x[1]), x[3], x[4]).relu();
    let y = (x[0] + channels_normed(conv(inner, x[2]), x[3], x[4])).relu();
    let loss = (y * y).reduce_sum(&[0, 1, 2, 3]);
    let g = b.grad(loss, &x[1..]);
    agree(&b, b.tuple(&[vec![loss], g].concat()), &arguments, &expected, 1e-5);
}

#[test]
fn a_loop_of_lstm_cells() {
    let Some((arguments, expected)) = case("lstm_scan_grad") else { return };
    let b = Builder::new("lstm_scan_grad");
    let x = inputs(&b, &arguments);
    let (w, u, bias, xs) = (x[0], x[1], x[2], x[3]);
    // The state is f64, as JAX makes it; what is learnt is f32.
    let [recurrent, offset] = [u, bias].map(|x| x.convert_element_type(ElementType::F64));
    let zeros = b.constant(0f64).broadcast(&[3, 8]);
    let (mut h, mut c) = (zeros, zeros);
    let mut squares = b.constant(0f64);
    for t in 0..15 {
        let step = xs.slice_in_dim(t, t + 1, 1, 0).reshape(&[3, 6]);
        let given = step.dot(w).convert_element_type(ElementType::F64);
        let gates = given + h.dot(recurrent) + offset.along(&[1]);
        let gate = |i: i64| gates.slice_in_dim(8 * i, 8 * (i + 1), 1, 1);
        c = gate(1).logistic() * c + gate(0).logistic() * gate(2).tanh();
        h = gate(3).logistic() * c.tanh();
        squares = squares + (h * h).reduce_sum(&[0, 1]);
    }
    let loss = squares / (15 * 3 * 8);
    let g = b.grad(loss, &[w, u, bias]);
    agree(&b, b.tuple(&[vec![loss], g].concat()), &arguments, &expected, 1e-5);
}

/// `x[.., k] w[k, n]`
fn times<'b>(x: Value<'b>, w: Value<'b>) -> Value<'b> {
    let last = i64::try_from(x.rank().unwrap()).unwrap() - 1;
    let numbers = DotDimensionNumbers {
        lhs_contracting_dimensions: vec![last],
        rhs_contracting_dimensions: vec![0],
        ..DotDimensionNumbers::default()
    };
    x.dot_general(w, &numbers, &DotOptions::default())
}

fn norm(x: Value<'_>, ty: ElementType) -> Value<'_> {
    let wide = x.convert_element_type(ElementType::F32);
    nn::layer_norm(wide, None, None, 1e-5).convert_element_type(ty)
}
fn heads(x: Value<'_>) -> Value<'_> {
    x.reshape(&[2, 12, 4, 8]).transpose(&[0, 2, 1, 3])
}

/// Two layers of a transformer over 2 sentences of 12 words, and the loss of the word that follows.
fn transformer(name: &str, share: f64) {
    let Some((arguments, expected)) = case(name) else { return };
    let b = Builder::new(name);
    let x = inputs(&b, &arguments);
    let (weights, words, tokens) = (&x[..12], x[12], x[13]);
    let ty = words.element_type().unwrap();
    let mut y = words.torch_index_select(tokens.reshape(&[24]), 0, 0).reshape(&[2, 12, 32]);
    for layer in weights.chunks(6) {
        // In the order of their names: down, keys, output, queries, up, values.
        let [down, keys, output, queries, up, values] = layer.try_into().unwrap();
        let normed = norm(y, ty);
        let [q, k, v] = [queries, keys, values].map(|w| heads(times(normed, w)));
        let scores = q.batch_dot_transposed(false, k, true);
        let scores = scores.convert_element_type(ElementType::F32) / 8f64.sqrt();
        let scores = nn::causal_mask(&b, 12, 12).broadcast(&[2, 4]).select(scores, -1e9);
        let mixed = scores.softmax(-1).convert_element_type(ty).batch_dot(v);
        y = y + times(mixed.transpose(&[0, 2, 1, 3]).reshape(&[2, 12, 32]), output);
        y = y + times(times(norm(y, ty), up).gelu_tanh(), down);
    }
    let logits =
        times(norm(y, ty), words.transpose(&[1, 0])).convert_element_type(ElementType::F32);
    let loss = loss_of(logits.slice_in_dim(0, 11, 1, 1), tokens.slice_in_dim(1, 12, 1, 1));
    let g = b.grad(loss, &x[..13]);
    agree(&b, b.tuple(&[vec![loss], g].concat()), &arguments, &expected, share);
}

#[test]
fn a_transformer() {
    transformer("transformer_grad_f32", 1e-5);
}

/// In 8 binary digits: the layers round some twenty times one after another, in another order here
/// than there.
#[test]
fn a_transformer_in_bf16() {
    transformer("transformer_grad_bf16", 0.03);
}
