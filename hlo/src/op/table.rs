//! The op table: one row for each of HLO's 133 opcodes, with its properties.
//!
//! A row of `unary` or `binary`: the op, its name in the text, the function of `interp::num` that
//! defines it, the classes of element types it is defined on (`P`red, `S`igned, `U`nsigned,
//! `F`loat, `C`omplex), accuracy, flags.
//!
//! A row of `structured`: the op, its name in the text, number of operands (`*`: any), result shape
//! in the text, accuracy, kind, dynamic rule, flags.
//!
//! | column | words |
//! |---|---|
//! | result shape | `stated` in the text, or may be `inferred`, or is `forced` whatever is stated |
//! | accuracy | `exact`, a number of units in the last place, sums in any `order`, `random` |
//! | kind | the part of a system that executes it: see [`Kind`](crate::op::Kind) |
//! | dynamic rule | arrays smaller than their bounds: see [`DynamicRule`](crate::op::DynamicRule) |
//!
//! | flag | the op |
//! |---|---|
//! | `pred`, `component`, `complex` | the result has this type; without the flag the type of the operands |
//! | `result_accuracy` | takes the attribute `result_accuracy` |
//! | `associates(S)` | the result has the same bits in any order of several operands: integers and booleans, with `F` floats too |
//! | `boxed` | has large attributes, which `Op` stores in a box; must be the first flag |
//! | `moves` | copies, compares or selects elements and rounds nothing, not counting computations it calls |
//! | `roundings(n)` | rounds an element n times in sequence, not counting sums; without the flag once, or never if it `moves` |
//! | `aliases` | returns the unchanged value of operand 0, in the same memory |
//! | `resizes` | the sizes of the result are values of operands, also if its shape is static |
//! | `shares` | takes no memory for its result: operands or computations it calls own it (`aliases` implies it) |
//! | `carries` | may return a value of any kind that another instruction computed, such as a tuple or a started op (`aliases` implies it) |
//! | `starts(X)` | starts X, which runs until the result is consumed; `*`: the computation it calls |
//! | `continues(X)`, `ends(X)` | takes the result of X, which is a start; `ends` returns the result of the started op |
//! | `holds` | as a start returns `(operands, result, ..)`, not only the result |
//!
//! `was` lists names in older texts, each with the attributes that the name implies.

/// Passes the op table to the macro `$consume`, after its other arguments.
///
/// It has the sections `unary`, `binary`, `structured` and `was`. Each column is one token tree, so
/// that a macro can skip those it does not need:
///
/// ```
/// macro_rules! count {
///     (
///         unary { $($unary:ident $u0:tt $u1:tt $u2:tt $u3:tt $u4:tt;)* }
///         binary { $($binary:ident $b0:tt $b1:tt $b2:tt $b3:tt $b4:tt;)* }
///         structured { $($op:ident $s0:tt $s1:tt $s2:tt $s3:tt $s4:tt $s5:tt $s6:tt;)* }
///         was $was:tt
///     ) => {
///         [$(stringify!($unary),)* $(stringify!($binary),)* $(stringify!($op),)*].len()
///     };
/// }
/// assert_eq!(hlo::for_each_op!(count), hlo::Opcode::ALL.len());
/// ```
#[macro_export]
macro_rules! for_each_op {
    ($consume:ident $($arguments:tt)*) => {
        $consume! {
            $($arguments)*
            unary {
                Abs                 "abs"                   abs             [S F C]   exact [component];
                Acos                "acos"                  acos            [F C]     4     [result_accuracy];
                Acosh               "acosh"                 acosh           [F C]     4     [result_accuracy];
                Asin                "asin"                  asin            [F C]     4     [result_accuracy];
                Asinh               "asinh"                 asinh           [F C]     4     [result_accuracy];
                Atanh               "atanh"                 atanh           [F C]     4     [result_accuracy];
                Cbrt                "cbrt"                  cbrt            [F]       4     [result_accuracy];
                Ceil                "ceil"                  ceil            [F]       exact [];
                CountLeadingZeros   "count-leading-zeros"   leading_zeros   [S U]     exact [];
                Cosine              "cosine"                cos             [F C]     2     [result_accuracy];
                Cosh                "cosh"                  cosh            [F C]     4     [result_accuracy];
                Erf                 "erf"                   erf             [F]       5     [result_accuracy];
                Exponential         "exponential"           exp             [F C]     2     [result_accuracy];
                ExponentialMinusOne "exponential-minus-one" expm1           [F C]     5     [result_accuracy];
                Floor               "floor"                 floor           [F]       exact [];
                Imag                "imag"                  imag            [F C]     exact [component moves];
                IsFinite            "is-finite"             is_finite       [F]       exact [pred moves];
                Log                 "log"                   log             [F C]     2     [result_accuracy];
                LogPlusOne          "log-plus-one"          log1p           [F C]     3     [result_accuracy];
                Logistic            "logistic"              logistic        [F C]     3     [result_accuracy];
                Negate              "negate"                neg             [S U F C] exact [moves];
                Not                 "not"                   not             [P S U]   exact [];
                Popcnt              "popcnt"                popcnt          [S U]     exact [];
                Real                "real"                  real            [F C]     exact [component moves];
                RoundNearestAfz     "round-nearest-afz"     round           [F]       exact [];
                RoundNearestEven    "round-nearest-even"    round_ties_even [F]       exact [];
                Rsqrt               "rsqrt"                 rsqrt           [F C]     2     [result_accuracy];
                Sign                "sign"                  sign            [S F C]   2     [];
                Sine                "sine"                  sin             [F C]     2     [result_accuracy];
                Sinh                "sinh"                  sinh            [F C]     4     [result_accuracy];
                Sqrt                "sqrt"                  sqrt            [F C]     1     [result_accuracy];
                Tan                 "tan"                   tan             [F C]     2     [result_accuracy];
                Tanh                "tanh"                  tanh            [F C]     5     [result_accuracy];
            }
            binary {
                Add                  "add"                    add                    [P S U F C] exact [associates(S)];
                And                  "and"                    and                    [P S U]     exact [associates(S)];
                Atan2                "atan2"                  atan2                  [F C]       3     [];
                Complex              "complex"                complex                [F]         exact [complex moves];
                Divide               "divide"                 div                    [S U F C]   exact [];
                Maximum              "maximum"                max                    [P S U F C] exact [associates(F)];
                Minimum              "minimum"                min                    [P S U F C] exact [associates(F)];
                Mulhi                "mulhi"                  mulhi                  [S U]       exact [];
                Multiply             "multiply"               mul                    [P S U F C] exact [associates(S)];
                Or                   "or"                     or                     [P S U]     exact [associates(S)];
                Power                "power"                  pow                    [S U F C]   2     [];
                Remainder            "remainder"              rem                    [S U F]     exact [];
                ShiftLeft            "shift-left"             shift_left             [S U]       exact [];
                ShiftRightArithmetic "shift-right-arithmetic" shift_right_arithmetic [S U]       exact [];
                ShiftRightLogical    "shift-right-logical"    shift_right_logical    [S U]       exact [];
                Subtract             "subtract"               sub                    [S U F C]   exact [];
                Xor                  "xor"                    xor                    [P S U]     exact [associates(S)];
            }
            structured {
                AddDependency          "add-dependency"           2 forced   exact  value        forward     [moves aliases];
                AfterAll               "after-all"                * forced   exact  value        forward     [moves];
                AllGather              "all-gather"               * stated   exact  collective   refuse      [boxed moves];
                AllGatherDone          "all-gather-done"          1 stated   exact  collective   refuse      [moves ends(AllGatherStart)];
                AllGatherStart         "all-gather-start"         * stated   exact  collective   refuse      [boxed moves starts(AllGather) holds];
                AllReduce              "all-reduce"               * stated   order  collective   refuse      [boxed];
                AllReduceDone          "all-reduce-done"          1 stated   exact  collective   refuse      [moves ends(AllReduceStart)];
                AllReduceStart         "all-reduce-start"         * stated   order  collective   refuse      [boxed starts(AllReduce)];
                AllToAll               "all-to-all"               * stated   exact  collective   refuse      [boxed moves];
                AsyncDone              "async-done"               * stated   exact  asynchronous forward     [moves ends(AsyncStart)];
                AsyncStart             "async-start"              * stated   exact  asynchronous forward     [boxed moves starts(*) holds];
                AsyncUpdate            "async-update"             * stated   exact  asynchronous forward     [boxed moves continues(AsyncStart)];
                BatchNormGrad          "batch-norm-grad"          5 inferred order  array        trim        [roundings(11)];
                BatchNormInference     "batch-norm-inference"     5 inferred order  array        trim        [roundings(7)];
                BatchNormTraining      "batch-norm-training"      3 inferred order  array        trim        [roundings(9)];
                Bitcast                "bitcast"                  1 stated   exact  array        refuse      [moves];
                BitcastConvert         "bitcast-convert"          1 stated   exact  array        remap       [moves];
                Broadcast              "broadcast"                1 inferred exact  array        remap       [moves];
                Call                   "call"                     * inferred exact  control      forward     [moves shares carries];
                Cholesky               "cholesky"                 1 inferred order  array        trim        [];
                Clamp                  "clamp"                    3 inferred exact  array        elementwise [];
                CollectiveBroadcast    "collective-broadcast"     * stated   exact  collective   refuse      [boxed moves];
                CollectivePermute      "collective-permute"       * stated   exact  collective   refuse      [boxed moves];
                CollectivePermuteDone  "collective-permute-done"  1 stated   exact  collective   refuse      [moves ends(CollectivePermuteStart)];
                CollectivePermuteStart "collective-permute-start" * stated   exact  collective   refuse      [boxed moves starts(CollectivePermute) holds];
                Compare                "compare"                  2 inferred exact  array        elementwise [moves];
                Concatenate            "concatenate"              * inferred exact  array        trim        [moves];
                Conditional            "conditional"              * inferred exact  control      forward     [moves shares carries];
                Constant               "constant"                 0 stated   exact  value        forward     [moves shares];
                Convert                "convert"                  1 stated   exact  array        elementwise [];
                Convolution            "convolution"              * inferred order  array        trim        [boxed];
                Copy                   "copy"                     1 inferred exact  value        forward     [moves aliases];
                CopyDone               "copy-done"                1 stated   exact  value        forward     [moves ends(CopyStart)];
                CopyStart              "copy-start"               1 stated   exact  value        forward     [moves starts(Copy)];
                CustomCall             "custom-call"              * stated   order  custom       refuse      [boxed];
                Domain                 "domain"                   1 inferred exact  value        forward     [boxed moves aliases];
                Dot                    "dot"                      2 inferred order  array        trim        [boxed];
                DynamicReshape         "dynamic-reshape"          * stated   exact  value        forward     [moves resizes];
                DynamicSlice           "dynamic-slice"            * stated   exact  array        remap       [moves];
                DynamicUpdateSlice     "dynamic-update-slice"     * stated   exact  array        update      [moves];
                Fft                    "fft"                      1 inferred order  array        trim        [boxed];
                Fusion                 "fusion"                   * stated   exact  control      forward     [boxed moves shares];
                Gather                 "gather"                   2 inferred exact  array        remap       [boxed moves];
                GetDimensionSize       "get-dimension-size"       1 inferred exact  value        forward     [moves];
                GetTupleElement        "get-tuple-element"        1 inferred exact  value        forward     [moves shares carries];
                Infeed                 "infeed"                   * forced   exact  host         refuse      [];
                Iota                   "iota"                     0 stated   exact  array        refuse      [moves];
                Map                    "map"                      * inferred exact  array        trim        [moves];
                OptBarrier             "opt-barrier"              1 inferred exact  value        forward     [moves aliases];
                Outfeed                "outfeed"                  * forced   exact  host         forward     [boxed];
                Pad                    "pad"                      2 inferred exact  array        trim        [moves];
                Parameter              "parameter"                0 stated   exact  value        forward     [moves shares carries];
                PartitionId            "partition-id"             0 inferred exact  device       refuse      [];
                RaggedAllToAll         "ragged-all-to-all"        * stated   exact  collective   refuse      [boxed moves];
                RaggedDot              "ragged-dot"               3 inferred order  array        trim        [boxed];
                Recv                   "recv"                     * forced   exact  transfer     refuse      [moves starts(Recv)];
                RecvDone               "recv-done"                1 forced   exact  transfer     refuse      [moves ends(Recv)];
                Reduce                 "reduce"                   * inferred order  array        trim        [];
                ReducePrecision        "reduce-precision"         1 stated   exact  array        elementwise [];
                ReduceScatter          "reduce-scatter"           * stated   order  collective   refuse      [boxed];
                ReduceWindow           "reduce-window"            * inferred order  array        trim        [];
                ReplicaId              "replica-id"               0 inferred exact  device       refuse      [];
                Reshape                "reshape"                  1 stated   exact  array        reshape     [moves shares];
                Reverse                "reverse"                  1 inferred exact  array        trim        [moves];
                Rng                    "rng"                      * stated   random random       refuse      [];
                RngBitGenerator        "rng-bit-generator"        1 stated   exact  array        refuse      [];
                RngGetAndUpdateState   "rng-get-and-update-state" 0 stated   exact  random       refuse      [];
                ScaledDot              "scaled-dot"               4 inferred order  array        trim        [boxed];
                Scan                   "scan"                     * inferred order  control      forward     [boxed];
                Scatter                "scatter"                  * inferred order  array        scatter     [boxed];
                Select                 "select"                   3 inferred exact  array        elementwise [moves];
                SelectAndScatter       "select-and-scatter"       3 inferred order  array        trim        [boxed];
                Send                   "send"                     * forced   exact  transfer     forward     [moves starts(Send)];
                SendDone               "send-done"                1 forced   exact  transfer     refuse      [moves ends(Send)];
                SetDimensionSize       "set-dimension-size"       2 inferred exact  value        forward     [moves resizes];
                Slice                  "slice"                    1 stated   exact  array        remap       [moves];
                Sort                   "sort"                     * inferred exact  array        trim        [boxed moves];
                StochasticConvert      "stochastic-convert"       2 stated   exact  array        elementwise [];
                TopK                   "topk"                     1 inferred exact  array        trim        [moves];
                Transpose              "transpose"                1 inferred exact  array        remap       [moves];
                TriangularSolve        "triangular-solve"         2 inferred order  array        trim        [];
                Tuple                  "tuple"                    * inferred exact  value        forward     [moves shares carries];
                While                  "while"                    1 inferred exact  control      forward     [moves shares carries];
            }
            was {
                "generate-token"           => AfterAll   "";
                "cross-replica-sum"        => AllReduce  "";
                "equal-to"                 => Compare    "direction=EQ";
                "not-equal-to"             => Compare    "direction=NE";
                "greater-than"             => Compare    "direction=GT";
                "greater-than-or-equal-to" => Compare    "direction=GE";
                "less-than"                => Compare    "direction=LT";
                "less-than-or-equal-to"    => Compare    "direction=LE";
                "host-compute"             => CustomCall "custom_call_target=\"host-compute\"";
                "tuple-select"             => Select     "";
            }
        }
    };
}
