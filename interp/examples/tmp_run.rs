//! tmp
#![allow(clippy::all, clippy::pedantic, clippy::restriction, missing_docs)]
use hlo::*;
fn main() {
    let (mut n, mut ok) = (0, 0);
    for f in std::env::args().skip(1) {
        n += 1;
        let text = std::fs::read_to_string(&f).unwrap();
        let v = Module::parse(&text).unwrap().verify().unwrap();
        let npz = hlo::literal::npz::read(std::fs::File::open(f.replace(".opt.hlo", ".npz").replace(".hlo", ".npz")).unwrap()).unwrap();
        let get = |name: &str, s: &Shape| npz.iter().find(|a| a.name == name).unwrap().to_literal(s.array().unwrap());
        let m = v.module();
        let mut k = 0;
        let ins: Vec<Literal> = m.entry().program_shape().parameters.iter().map(|s| { k += 1; get(&format!("in{}", k-1), s).unwrap() }).collect();
        let t = std::time::Instant::now();
        match interp::Interpreter::new(&v).run(&ins) {
            Err(e) => println!("ERR {f} {e}"),
            Ok(r) => {
                let mut worst = 0f64; let mut bad = String::new();
                for (i, l) in r.leaves().iter().enumerate() {
                    let w = get(&format!("out{i}"), &l.shape()).unwrap();
                    let ty = l.array_shape().unwrap().ty;
                    let parts = |s: Scalar| match s { Scalar::Complex(a,b) => vec![a,b], o => vec![o.as_f64()] };
                    let scale = (0..w.len()).flat_map(|j| parts(w.get(j))).filter(|x| x.is_finite()).fold(1e-300f64, |a,b| a.max(b.abs()));
                    for j in 0..l.len() {
                        if !(ty.is_float()||ty.is_complex()) { if l.get(j) != w.get(j) { bad = format!("out{i}[{j}] {:?} want {:?}", l.get(j), w.get(j)); worst = 9e9 } continue }
                        for (a,b) in parts(l.get(j)).into_iter().zip(parts(w.get(j))) {
                            if a == b || a.is_nan() && b.is_nan() { continue }
                            let e = (a-b).abs()/scale; let e = if e.is_nan() { 1e9 } else { e };
                            if e > worst { worst = e; bad = format!("out{i}[{j}] {ty} {a} want {b} scale {scale}"); }
                        }
                    }
                }
                if worst < 1e-5 { ok += 1 } else { println!("BAD {f} {worst:e} {bad}") }
            }
        }
        if t.elapsed().as_secs_f64() > 1.0 { println!("SLOW {f} {:?}", t.elapsed()) }
    }
    println!("{n} run, {ok} within 1e-5");
}
