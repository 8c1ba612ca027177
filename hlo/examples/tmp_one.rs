//! tmp
#![allow(clippy::all, clippy::pedantic, clippy::restriction, missing_docs)]
fn main() {
    let mut args = std::env::args().skip(1);
    let style = match args.next().unwrap().as_str() { "short" => hlo::Style::Short, "canonical" => hlo::Style::Canonical, _ => hlo::Style::Default };
    let (mut n, mut same, mut fix, mut ver) = (0, 0, 0, 0);
    for f in args { let text = std::fs::read_to_string(&f).unwrap(); print!("{}", hlo::Module::parse(&text).unwrap().print(style)); } return; for f in std::env::args() {
        n += 1;
        let text = std::fs::read_to_string(&f).unwrap();
        let m = match hlo::Module::parse(&text) { Ok(m) => m, Err(e) => {
            println!("PARSE {}", hlo::diag::render(&e.diagnostic(), Some(hlo::diag::Source{name:&f,text:&text}), false)); continue } };
        let p = m.print(style);
        let want = std::fs::read_to_string(f.replace("/work/shared", &format!("/tmp/xla/{}", match style {hlo::Style::Short=>"short",hlo::Style::Canonical=>"canonical",_=>"default"}))).unwrap_or_default();
        if p == want { same += 1 } else {
            let d = p.lines().zip(want.lines()).find(|(a,b)| a!=b);
            println!("DIFF {f}\n  ours {:?}\n  want {:?}", d.map(|d| d.0.chars().take(300).collect::<String>()), d.map(|d| d.1.chars().take(300).collect::<String>()));
        }
        if style != hlo::Style::Canonical { match hlo::Module::parse(&p) { Ok(m2) => if m2.print(style) == p { fix += 1 } else { println!("NOFIX {f}") }, Err(e) => println!("REPARSE {f} {}", hlo::diag::render(&e.diagnostic(), Some(hlo::diag::Source{name:&f,text:&p}), false)) } }
        match m.verify() { Ok(_) => ver += 1, Err(es) => for e in es.0.iter().take(3) { println!("VERIFY {}", hlo::diag::render(&e.diagnostic(), Some(hlo::diag::Source{name:&f,text:&text}), false)) } }
    }
    println!("{n} files, same {same}, fixpoint {fix}, verified {ver}");
}
