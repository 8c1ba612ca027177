//! Concurrent runs of one executable.
use hlo::{Literal, Module};
use interp::{CompileOptions, Engine, Executable, RunOptions};

/// `n` iterations of a loop that updates an array in place, calls a computation, and folds the
/// array.
const TEXT: &str = "HloModule m
add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
step { x = s32[64] parameter(0) one = s32[] constant(1) ones = s32[64] broadcast(one), dimensions={}
  ROOT y = s32[64] add(x, ones) }
round { c = (s32[], s32[], s32[64]) parameter(0)  i = s32[] get-tuple-element(c), index=0
  n = s32[] get-tuple-element(c), index=1  x = s32[64] get-tuple-element(c), index=2
  y = s32[64] call(x), to_apply=step
  one = s32[] constant(1)  j = s32[] add(i, one)
  ROOT t = (s32[], s32[], s32[64]) tuple(j, n, y) }
less { c = (s32[], s32[], s32[64]) parameter(0)  i = s32[] get-tuple-element(c), index=0
  n = s32[] get-tuple-element(c), index=1  ROOT l = pred[] compare(i, n), direction=LT }
ENTRY e { n = s32[] parameter(0)  x = s32[64] parameter(1)  zero = s32[] constant(0)
  c = (s32[], s32[], s32[64]) tuple(zero, n, x)
  w = (s32[], s32[], s32[64]) while(c), condition=less, body=round
  y = s32[64] get-tuple-element(w), index=2
  ROOT r = s32[] reduce(y, zero), dimensions={0}, to_apply=add }";

#[test]
fn eight_threads_execute_one_program() {
    for engine in Engine::ALL {
        let verified = Module::parse(TEXT).unwrap().verify().unwrap();
        let options = CompileOptions::default().engine(engine);
        let executable = Executable::compile(verified, &options).unwrap();
        let threads: Vec<_> = (0..8)
            .map(|thread: i32| {
                let executable = executable.clone();
                std::thread::spawn(move || {
                    for n in 1..10 {
                        let x = Literal::from_slice(&[64], &[thread; 64]);
                        let arguments = [Literal::from_slice(&[], &[n]), x];
                        let result = executable.execute(&arguments, &RunOptions::default());
                        let expected = Literal::from_slice(&[], &[64 * (thread + n)]);
                        assert_eq!(result.unwrap(), expected);
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    }
}
