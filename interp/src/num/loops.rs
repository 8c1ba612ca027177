//! Loops of one function over slices of its own type; the compiler vectorizes each.

/// A loop of one operand: `None` where the operand is in the result's memory.
pub(crate) type UnaryLoop<T> = Box<dyn Fn(Option<&[T]>, &mut [T]) + Send + Sync>;
/// A loop of two operands, of which at most one is in the result's memory.
pub(crate) type BinaryLoop<T> = Box<dyn Fn([Option<&[T]>; 2], &mut [T]) + Send + Sync>;

/// Returns the loop of a function of one operand.
pub(crate) fn unary_loop<T: Copy>(
    function: impl Fn(T) -> T + Send + Sync + 'static,
) -> UnaryLoop<T> {
    Box::new(move |operand, result| match operand {
        Some(operand) => {
            result.iter_mut().zip(operand).for_each(|(result, &x)| *result = function(x));
        }
        None => result.iter_mut().for_each(|result| *result = function(*result)),
    })
}

/// Returns the loop of a function of two operands.
pub(crate) fn binary_loop<T: Copy>(
    function: impl Fn(T, T) -> T + Send + Sync + 'static,
) -> BinaryLoop<T> {
    Box::new(move |operands, result| match operands {
        [Some(a), Some(b)] => {
            let operands = a.iter().zip(b);
            result.iter_mut().zip(operands).for_each(|(result, (&a, &b))| *result = function(a, b));
        }
        [Some(a), None] => {
            result.iter_mut().zip(a).for_each(|(result, &a)| *result = function(a, *result));
        }
        [None, Some(b)] => {
            result.iter_mut().zip(b).for_each(|(result, &b)| *result = function(*result, b));
        }
        [None, None] => result.iter_mut().for_each(|result| *result = function(*result, *result)),
    })
}
