//! tmp
#![allow(clippy::all, clippy::pedantic, clippy::restriction, missing_docs)]
fn main() {
    for f in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&f).unwrap();
        let reps = (20_000_000 / text.len()).clamp(3, 400);
        let mut best = [f64::MAX; 3];
        for _ in 0..reps {
            let t = std::time::Instant::now(); let m = hlo::Module::parse(&text).unwrap(); best[0] = best[0].min(t.elapsed().as_secs_f64());
            let t = std::time::Instant::now(); let p = m.to_string(); best[2] = best[2].min(t.elapsed().as_secs_f64()); assert!(!p.is_empty());
            let t = std::time::Instant::now(); let v = m.verify().unwrap(); best[1] = best[1].min(t.elapsed().as_secs_f64()); drop(v);
        }
        let mb = text.len() as f64 / 1e6;
        println!("{f}: {:.2} MB parse {:.0} MB/s verify {:.0} MB/s print {:.0} MB/s", mb, mb / best[0], mb / best[1], mb / best[2]);
    }
}
