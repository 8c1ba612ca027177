//! Derivatives of collectives, on several devices.
use builder::{Builder, CollectiveOptions, Value};
use collectives::Session;
use hlo::Literal;
use interp::{CompileOptions, RunOptions};

type Combine = for<'b> fn(Value<'b>, Value<'b>) -> Value<'b>;

/// Of a maximum over three replicas the equal ones share the derivative: the function is the same
/// on every device, and the cotangents of all devices count.
#[test]
fn the_largest_of_several_devices() {
    let extrema: [(Combine, f64); 2] = [(|x, y| x.max(y), 1.0), (|x, y| x.min(y), -1.0)];
    for (combine, sign) in extrema {
        let b = Builder::new("extremum");
        b.set_replica_count(3);
        let (x, t) = (b.parameter(0, "f64[3]", "x"), b.parameter(1, "f64[3]", "t"));
        let y = x.all_reduce(combine, &CollectiveOptions::default());
        let root = b.tuple(&[b.jvp(y, &[x], &[t]), b.vjp(y, &[x], t)[0]]);
        let module = b.build(root).unwrap();
        let session = Session::compile(module, &CompileOptions::default()).unwrap();
        let literal = |numbers: [f64; 3]| -> Literal {
            let [x, y, z] = numbers.map(|number| number * sign);
            format!("f64[3] {{{x:?}, {y:?}, {z:?}}}").parse().unwrap()
        };
        // One is the largest; two are; all are.
        let x = [[1.0, 5.0, 2.0], [3.0, 5.0, 2.0], [2.0, 4.0, 2.0]].map(literal);
        let t = [[10.0, 20.0, 30.0], [1.0, 2.0, 3.0], [100.0, 200.0, 300.0]].map(literal);
        let inputs: Vec<Vec<Literal>> = x.into_iter().zip(t).map(|(x, t)| vec![x, t]).collect();
        let output = session.run(&inputs, &RunOptions::default()).unwrap();
        let pulled = [[0.0, 111.0, 111.0], [111.0, 111.0, 111.0], [0.0, 0.0, 111.0]];
        for (result, pulled) in output.results.iter().zip(pulled) {
            let [_, two, three] = [111.0, 222.0, 333.0];
            let shared =
                [pulled[0], pulled[1] / 111.0 * two / 2.0, pulled[2] / 111.0 * three / 3.0];
            let expected = Literal::tuple(vec![literal([1.0, 11.0, 111.0]), literal(shared)]);
            assert_eq!(
                result.to_string().replace("-0", "0"),
                expected.to_string().replace("-0", "0")
            );
        }
    }
}
