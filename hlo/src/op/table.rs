//! The opcode table: one row for each of HLO's 133 opcodes, with every plain fact about it.
//!
//! Elementwise rows: name in the text, element types the operands may have (`P`red, `S`igned, `U`nsigned, `F`loat,
//! `C`omplex), accuracy class. Structured rows: name, number of operands (`*` for any), whether the result shape must
//! be `stated`, may be `inferred`, or is `forced` whatever is stated; accuracy class; `@boxed` if the attributes are large, so
//! that an [`Op`](super::Op) stays small. `was` lists names of older texts,
//! each with the attributes it stands for.

/// Calls `$consume!` with the table.
macro_rules! for_each_op {
    ($consume:ident) => {
        $consume! {
            unary {
                Abs "abs" [S F C] exact;
                Acos "acos" [F C] ulp(4);
                Acosh "acosh" [F C] ulp(4);
                Asin "asin" [F C] ulp(4);
                Asinh "asinh" [F C] ulp(4);
                Atanh "atanh" [F C] ulp(4);
                Cbrt "cbrt" [F] ulp(4);
                Ceil "ceil" [F] exact;
                CountLeadingZeros "count-leading-zeros" [S U] exact;
                Cosine "cosine" [F C] ulp(2);
                Cosh "cosh" [F C] ulp(4);
                Erf "erf" [F] ulp(5);
                Exponential "exponential" [F C] ulp(2);
                ExponentialMinusOne "exponential-minus-one" [F C] ulp(5);
                Floor "floor" [F] exact;
                Imag "imag" [F C] exact;
                IsFinite "is-finite" [F] exact;
                Log "log" [F C] ulp(2);
                LogPlusOne "log-plus-one" [F C] ulp(3);
                Logistic "logistic" [F C] ulp(3);
                Negate "negate" [S U F C] exact;
                Not "not" [P S U] exact;
                Popcnt "popcnt" [S U] exact;
                Real "real" [F C] exact;
                RoundNearestAfz "round-nearest-afz" [F] exact;
                RoundNearestEven "round-nearest-even" [F] exact;
                Rsqrt "rsqrt" [F C] ulp(2);
                Sign "sign" [S F C] ulp(2);
                Sine "sine" [F C] ulp(2);
                Sinh "sinh" [F C] ulp(4);
                Sqrt "sqrt" [F C] ulp(1);
                Tan "tan" [F C] ulp(2);
                Tanh "tanh" [F C] ulp(5);
            }
            binary {
                Add "add" [P S U F C] exact;
                And "and" [P S U] exact;
                Atan2 "atan2" [F C] ulp(3);
                Complex "complex" [F] exact;
                Divide "divide" [S U F C] exact;
                Maximum "maximum" [P S U F C] exact;
                Minimum "minimum" [P S U F C] exact;
                Mulhi "mulhi" [S U] exact;
                Multiply "multiply" [P S U F C] exact;
                Or "or" [P S U] exact;
                Power "power" [S U F C] ulp(2);
                Remainder "remainder" [S U F] exact;
                ShiftLeft "shift-left" [S U] exact;
                ShiftRightArithmetic "shift-right-arithmetic" [S U] exact;
                ShiftRightLogical "shift-right-logical" [S U] exact;
                Subtract "subtract" [S U F C] exact;
                Xor "xor" [P S U] exact;
            }
            structured {
                AddDependency "add-dependency" 2 forced exact;
                AfterAll "after-all" * forced exact was { "generate-token" => "" };
                AllGather "all-gather" * stated exact @boxed;
                AllGatherDone "all-gather-done" 1 stated exact;
                AllGatherStart "all-gather-start" * stated exact @boxed;
                AllReduce "all-reduce" * stated order @boxed was { "cross-replica-sum" => "" };
                AllReduceDone "all-reduce-done" 1 stated exact;
                AllReduceStart "all-reduce-start" * stated order @boxed;
                AllToAll "all-to-all" * stated exact @boxed;
                AsyncDone "async-done" * stated exact;
                AsyncStart "async-start" * stated exact @boxed;
                AsyncUpdate "async-update" * stated exact @boxed;
                BatchNormGrad "batch-norm-grad" 5 inferred order;
                BatchNormInference "batch-norm-inference" 5 inferred order;
                BatchNormTraining "batch-norm-training" 3 inferred order;
                Bitcast "bitcast" 1 stated exact;
                BitcastConvert "bitcast-convert" 1 stated exact;
                Broadcast "broadcast" 1 inferred exact;
                Call "call" * inferred exact;
                Cholesky "cholesky" 1 inferred order;
                Clamp "clamp" 3 inferred exact;
                CollectiveBroadcast "collective-broadcast" * stated exact @boxed;
                CollectivePermute "collective-permute" * stated exact @boxed;
                CollectivePermuteDone "collective-permute-done" 1 stated exact;
                CollectivePermuteStart "collective-permute-start" * stated exact @boxed;
                Compare "compare" 2 inferred exact was {
                    "equal-to" => "direction=EQ", "not-equal-to" => "direction=NE",
                    "greater-than" => "direction=GT", "greater-than-or-equal-to" => "direction=GE",
                    "less-than" => "direction=LT", "less-than-or-equal-to" => "direction=LE",
                };
                Concatenate "concatenate" * inferred exact;
                Conditional "conditional" * inferred exact;
                Constant "constant" 0 stated exact;
                Convert "convert" 1 stated exact;
                Convolution "convolution" * inferred order @boxed;
                Copy "copy" 1 inferred exact;
                CopyDone "copy-done" 1 stated exact;
                CopyStart "copy-start" 1 stated exact;
                CustomCall "custom-call" * stated order @boxed was {
                    "host-compute" => "custom_call_target=\"host-compute\"",
                };
                Domain "domain" 1 inferred exact @boxed;
                Dot "dot" 2 inferred order @boxed;
                DynamicReshape "dynamic-reshape" * stated exact;
                DynamicSlice "dynamic-slice" * stated exact;
                DynamicUpdateSlice "dynamic-update-slice" * stated exact;
                Fft "fft" 1 inferred order @boxed;
                Fusion "fusion" * stated exact @boxed;
                Gather "gather" 2 inferred exact @boxed;
                GetDimensionSize "get-dimension-size" 1 inferred exact;
                GetTupleElement "get-tuple-element" 1 inferred exact;
                Infeed "infeed" * forced exact;
                Iota "iota" 0 stated exact;
                Map "map" * inferred exact;
                OptBarrier "opt-barrier" 1 inferred exact;
                Outfeed "outfeed" * forced exact @boxed;
                Pad "pad" 2 inferred exact;
                Parameter "parameter" 0 stated exact;
                PartitionId "partition-id" 0 inferred exact;
                RaggedAllToAll "ragged-all-to-all" * stated exact @boxed;
                RaggedDot "ragged-dot" 3 inferred order @boxed;
                Recv "recv" * forced exact;
                RecvDone "recv-done" 1 forced exact;
                Reduce "reduce" * inferred order;
                ReducePrecision "reduce-precision" 1 stated exact;
                ReduceScatter "reduce-scatter" * stated order @boxed;
                ReduceWindow "reduce-window" * inferred order;
                ReplicaId "replica-id" 0 inferred exact;
                Reshape "reshape" 1 stated exact;
                Reverse "reverse" 1 inferred exact;
                Rng "rng" * stated random;
                RngBitGenerator "rng-bit-generator" 1 stated exact;
                RngGetAndUpdateState "rng-get-and-update-state" 0 stated exact;
                ScaledDot "scaled-dot" 4 inferred order @boxed;
                Scan "scan" * inferred order @boxed;
                Scatter "scatter" * inferred order @boxed;
                Select "select" 3 inferred exact was { "tuple-select" => "" };
                SelectAndScatter "select-and-scatter" 3 inferred order @boxed;
                Send "send" * forced exact;
                SendDone "send-done" 1 forced exact;
                SetDimensionSize "set-dimension-size" 2 inferred exact;
                Slice "slice" 1 stated exact;
                Sort "sort" * inferred exact @boxed;
                StochasticConvert "stochastic-convert" 2 stated exact;
                TopK "topk" 1 inferred exact;
                Transpose "transpose" 1 inferred exact;
                TriangularSolve "triangular-solve" 2 inferred order;
                Tuple "tuple" * inferred exact;
                While "while" 1 inferred exact;
            }
        }
    };
}
