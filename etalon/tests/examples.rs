//! The examples do what they say.
#![expect(unreachable_pub, reason = "the examples are programs of their own")]
#[path = "../examples/covariance.rs"]
mod covariance;
#[path = "../examples/data_parallel.rs"]
mod data_parallel;
#[path = "../examples/linear_regression.rs"]
mod linear_regression;
#[path = "../examples/mandelbrot.rs"]
mod mandelbrot;
#[path = "../examples/mlp.rs"]
mod mlp;
#[path = "../examples/transformer_block.rs"]
mod transformer_block;

#[test]
fn the_covariance_is_that_of_ndarray() {
    let (covariance, difference) = covariance::run().unwrap();
    assert!((covariance[[0, 0]] - 0.025).abs() < 1e-12 && difference < 1e-15, "{covariance}");
    assert!((covariance[[1, 2]] - 0.00135).abs() < 1e-12, "{covariance}");
}

#[test]
fn the_line_is_found() {
    let [slope, intercept, error] = linear_regression::run().unwrap();
    assert!((slope - 3.0).abs() < 0.1 && (intercept + 1.0).abs() < 0.1, "{slope} {intercept}");
    assert!(error < 0.03, "{error}");
}

#[test]
fn the_spirals_are_told_apart() {
    let share = mlp::run(|_, _, _| ()).unwrap();
    assert!(share >= 0.95, "{share}");
}

#[test]
fn the_set_has_its_area() {
    // 1.5066 of the plane, in cells of 0.033 by 0.075; the border is not sharp on so coarse a grid.
    let inside = mandelbrot::run().unwrap();
    assert!((560..=660).contains(&inside), "{inside}");
}

#[test]
fn gradients_promise_what_steps_keep() {
    let mut seen = std::cell::RefCell::new(Vec::new());
    let share =
        transformer_block::run(|name, norm| seen.borrow_mut().push((name.to_owned(), norm)));
    let share = share.unwrap();
    assert!((share - 1.0).abs() < 1e-3, "{share}");
    assert!(seen.get_mut().iter().all(|(_, norm)| *norm > 0.0), "{seen:?}");
}

#[test]
fn replicas_train_as_one_device_does() {
    let data_parallel::Outcome { losses: [before, after], agree, apart } =
        data_parallel::run().unwrap();
    assert!(agree);
    // A wave of height 1 has mean square 0.5; a twentieth of that is left at most.
    assert!(before > 0.3 && after < 0.025, "{before} {after}");
    // Means of means are rounded otherwise than the mean of all.
    assert!(apart < 1e-3, "{apart}");
}
