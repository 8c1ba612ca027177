//! Derivatives of decompositions: against JAX's, and against differences.
#![expect(clippy::unwrap_used, reason = "tests")]
use crate::support::gradient::{check, inputs, pulled, twice};
use crate::support::near;
use builder::{Builder, IntoLiteral, Value};
use hlo::Literal;

/// `x x^H` and something on the diagonal.
fn positive(x: Value<'_>) -> Value<'_> {
    let square = x.batch_dot(x.transpose_in_minor_dims().conj());
    let dims = square.dims().unwrap();
    let n = *dims.last().unwrap();
    let ty = square.element_type().unwrap();
    square + x.builder().identity_matrix(ty, n, n).broadcast_to(&dims)
}
/// `m diag(d) n^H` of columns and numbers.
fn joined<'b>(m: Value<'b>, d: Value<'b>, n: Value<'b>) -> Value<'b> {
    let mut along: Vec<i64> = (0..i64::try_from(m.rank().unwrap()).unwrap()).collect();
    along.remove(along.len() - 2);
    let scales = d.convert_element_type(m.element_type().unwrap());
    let scaled = m * scales.broadcast_in_dim(&m.dims().unwrap(), &along);
    scaled.batch_dot(n.transpose_in_minor_dims().conj())
}
type Function = for<'b> fn(Value<'b>) -> Vec<Value<'b>>;

#[test]
fn decompositions_as_in_jax() {
    let functions: &[(&str, Function)] = &[
        ("lu", |a| vec![a.lu_decomposition().lu]),
        ("qr", |a| <[Value<'_>; 2]>::from(a.qr_explicit(false)).to_vec()),
        ("qr_full", |a| <[Value<'_>; 2]>::from(a.qr_explicit(true)).to_vec()),
        ("eigh", |a| {
            let parts = ((a + a.transpose(&[1, 0])) * 0.5).self_adjoint_eig(true);
            // The signs of the vectors are free.
            vec![parts.v.square(), parts.w]
        }),
        ("svd", |a| {
            let parts = a.svd(false);
            vec![parts.u.square(), parts.d, parts.v.square()]
        }),
        ("singular_values", |a| vec![a.singular_values()]),
        ("det", |a| vec![a.det()]),
        ("inv", |a| vec![a.inv()]),
    ];
    for line in include_str!("../data/decompositions.txt").lines() {
        let mut words = line.split(' ');
        let name = words.next().unwrap();
        let numbers: Vec<f64> = words.map(|word| word.parse().unwrap()).collect();
        let (_, f) = functions.iter().find(|(known, _)| *known == name).unwrap();
        let b = Builder::new(name);
        let element = |i: f64, j: f64| (1.7 * i * i + 2.3 * j + i * j).cos();
        let count = |x: f64| (0..32).map(f64::from).take_while(move |&i| i < x);
        let rows: Vec<Vec<f64>> =
            count(numbers[0]).map(|i| count(numbers[1]).map(|j| element(i, j)).collect()).collect();
        let a = b.constant(rows);
        let parts = f(a);
        let mut next = 0.0;
        let cotangents: Vec<Value<'_>> = (parts.iter())
            .map(|part| {
                let dims = part.dims().unwrap();
                let size: i64 = dims.iter().product();
                let sines: Vec<f64> = (0..size)
                    .map(|_| {
                        next += 1.0;
                        f64::sin(next)
                    })
                    .collect();
                b.constant(sines).reshape(&dims)
            })
            .collect();
        let pulled = b.vjp(b.tuple(&parts), &[a], b.tuple(&cotangents))[0];
        let found = crate::support::evaluate_on(&b, pulled, &[]);
        near(&found, &numbers[2..], 1e-9, 1e-9);
    }
}

#[test]
fn lu() {
    for shape in ["f64[2,3,3]", "c128[3,3]", "f64[4,2]", "c128[2,4]", "f64[1,1]"] {
        let x = inputs(&[shape], -1.0, 1.0);
        check(&format!("lu_{shape}"), &x, |_, x| x[0].lu_decomposition().lu);
    }
    let x = inputs(&["f64[2,3,3]"], -1.0, 1.0);
    check("det", &x, |_, x| x[0].det());
    check("slog_det", &x, |_, x| x[0].slog_det().1);
    check("solve", &inputs(&["c128[3,3]", "c128[3,2]"], -1.0, 1.0), |_, x| x[0].solve(x[1]));
    twice("lu_2", &inputs(&["f64[3,3]"], -1.0, 1.0), |_, x| {
        x[0].lu_decomposition().lu.sin().reduce_sum(&[0, 1])
    });
}

#[test]
fn qr() {
    for shape in ["f64[2,3,3]", "c128[3,3]", "f64[4,2]", "c128[4,2]", "c128[2,4]", "f64[2,4]"] {
        let x = inputs(&[shape], -1.0, 1.0);
        for full in [false, true] {
            check(&format!("qr_{full}_{shape}"), &x, |b, x| {
                let (q, r) = x[0].qr_explicit(full);
                b.tuple(&[q, r])
            });
        }
    }
    twice("qr_2", &inputs(&["f64[3,2]"], -1.0, 1.0), |_, x| {
        let (q, r) = x[0].qr_explicit(false);
        q.sin().reduce_sum(&[0, 1]) + r.exp().reduce_sum(&[0, 1])
    });
}

#[test]
fn eigenvalues() {
    for lower in [true, false] {
        for shape in ["f64[2,3,3]", "f64[1,1]"] {
            check(&format!("eigh_{lower}"), &inputs(&[shape], -1.0, 1.0), |b, x| {
                let parts = positive(x[0]).self_adjoint_eig(lower);
                b.tuple(&[parts.v, parts.w])
            });
        }
        // One triangle is read, and only that has a derivative.
        check("eigh_read", &inputs(&["f64[3,3]"], -1.0, 1.0), |b, x| {
            let parts = x[0].self_adjoint_eig(lower);
            b.tuple(&[parts.v, parts.w])
        });
        // The phases of complex vectors are free: a function that does not depend on them.
        check(&format!("eigh_complex_{lower}"), &inputs(&["c128[2,3,3]"], -1.0, 1.0), |b, x| {
            let parts = positive(x[0]).self_adjoint_eig(lower);
            b.tuple(&[joined(parts.v, parts.w.log(), parts.v), parts.w])
        });
    }
    twice("eigh_2", &inputs(&["f64[3,3]"], -1.0, 1.0), |_, x| {
        let parts = positive(x[0]).self_adjoint_eig(true);
        parts.w.log().reduce_sum(&[0]) + parts.v.sin().reduce_sum(&[0, 1])
    });
}

#[test]
fn singular_values() {
    for shape in ["f64[2,3,3]", "f64[4,2]", "f64[2,4]"] {
        let x = inputs(&[shape], -1.0, 1.0);
        check(&format!("svd_{shape}"), &x, |b, x| {
            let parts = x[0].svd(false);
            b.tuple(&[parts.u, parts.d, parts.v])
        });
        check("singular_values", &x, |_, x| x[0].singular_values());
    }
    for shape in ["c128[3,3]", "c128[4,2]", "c128[2,4]"] {
        check(&format!("svd_{shape}"), &inputs(&[shape], -1.0, 1.0), |b, x| {
            let parts = x[0].svd(false);
            b.tuple(&[joined(parts.u, parts.d.exp(), parts.v), parts.d])
        });
    }
    check("svd_square", &inputs(&["f64[3,3]"], -1.0, 1.0), |b, x| {
        let parts = x[0].svd(true);
        b.tuple(&[parts.u, parts.v])
    });
    twice("svd_2", &inputs(&["f64[3,2]"], -1.0, 1.0), |_, x| {
        let parts = x[0].svd(false);
        parts.d.log().reduce_sum(&[0]) + parts.u.sin().reduce_sum(&[0, 1])
    });
    let b = Builder::new("full");
    let x = b.parameter(0, "f64[4,2]", "x");
    let error = b.build(b.vjp(x.svd(true).d, &[x], b.constant([1f64, 1.0]))[0]).unwrap_err();
    assert!(error.to_string().contains("a matrix that is not square"), "{error}");
    assert!(error.to_string().contains("svd(false)"), "{error}");
}

/// Equal eigenvalues have derivatives where their vectors are not used.
#[test]
fn equal_eigenvalues() {
    let ones: Literal = vec![vec![1f64, 0.0], vec![0.0, 1.0]].into_literal().unwrap();
    let c: Literal = [2f64, 3.0].into_literal().unwrap();
    let of = pulled("equal", &[ones], &c, &|_, x| x[0].self_adjoint_eig(true).w);
    assert_eq!(of.to_string(), "( f64[2,2]{1,0} { { 2, 0 }, { 0, 3 } } )");
}

#[test]
fn inside_of_loops_branches_and_calls() {
    let x = inputs(&["f64[3,3]"], -1.0, 1.0);
    check("loop", &x, |b, x| {
        b.for_each_index(3, hlo::ElementType::S32, &[x[0]], |_, v| {
            let parts = positive(v[0]).self_adjoint_eig(true);
            vec![joined(parts.v, parts.w.log(), parts.v) * 0.5]
        })[0]
    });
    check("call", &x, |b, x| {
        let f = b.computation("f", &["f64[3,3]"], |p| p[0].qr_explicit(false).1);
        b.call(f, &[x[0]])
    });
    check("branch", &x, |b, x| {
        b.constant(true).conditional(x[0], |x| x.inv(), x[0], |x| x.lu_decomposition().lu)
    });
}
