//! Parsing goes on after the error of an instruction: each mistake is one error, and nothing that
//! follows from it is.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
use hlo::Module;

/// Returns the line and the number of each error of a module with these lines.
fn errors(body: &str) -> Vec<(usize, &'static str)> {
    let text = format!(
        "HloModule m\nr {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}\nENTRY e {{\n{body}\n}}\n"
    );
    let Err(errors) = Module::parse(&text) else { return Vec::new() };
    let line = |at: u32| text[..usize::try_from(at).unwrap()].matches('\n').count() - 2;
    errors.0.iter().map(|error| (line(error.span().unwrap().start), error.number())).collect()
}

#[test]
fn each_mistake_is_an_error() {
    let body = "\
s8 = f32[2] parameter(0)
a = f32[2] nagate(s8)
b = f32[2] negate(a), dimension={0}
c = pred[2] compare(b, b), direction=GTT
d = f32[2] add(b, z)
a = f32[2] negate(d)
e = f33[2] negate(d)
f = f32[2 negate(d)
g = f32[2] add(d d)
z = f32[] constant(0)
h = f32[] reduce(d, z), to_apply=r
i = f32[2] negate(d), metadata={op_nam=\"x\"}
j = f32[2] constant({1, 2, 3})
k = f32[2] negate(d d), control-predecessors={q}
%l =f32[2] negate(%d) l2=f32[2] negate(d)
m = f32[] call(d), to_apply=nothing
ROOT n = f32[2] negate(d)
ROOT o = f32[2] negate(d)";
    assert_eq!(
        errors(body),
        [
            (1, "E0118"),
            (2, "E0103"),
            (3, "E0104"),
            (4, "E0107"),
            (5, "E0108"),
            (6, "E0110"),
            (7, "E0113"),
            (8, "E0101"),
        ]
    );
    // The bracket of line 8 is open: what follows cannot be told apart.
    let body = body.replace("f32[2 negate", "f32[2;] negate");
    let numbers = [
        (9, "E0101"),
        (11, "E0106"),
        (12, "E0104"),
        (13, "E0111"),
        (14, "E0101"),
        (15, "E0101"),
        (16, "E0109"),
        (18, "E0201"),
    ];
    assert_eq!(errors(&body)[8..], numbers);
}

#[test]
fn consequences_are_not_reported() {
    for (body, expected) in [
        // The shape of `a` is not known.
        (
            "a = negat(f32[] x)\nb = add(a, a)\nROOT c = f32[] negat(b), control-predecessors={a}",
            &[(1, "E0103"), (3, "E0103")][..],
        ),
        (
            "a = f33[2] parameter(0)\nb = f32[] negate(a)\nROOT c = f32[] negate(b), x=1",
            &[(1, "E0113"), (3, "E0104")],
        ),
        ("ROOT a = f32[] negat()", &[(1, "E0103")]),
        ("ROOT a = negat()", &[(1, "E0103")]),
        ("ROOT %a = f32[] negat()", &[(1, "E0103")]),
        (
            "a = f32[] constant(1),\n%b = f32[] negate(a),\nROOT c = f32[] negat(b)",
            &[(2, "E0101"), (3, "E0101"), (3, "E0103")],
        ),
        ("ROOT %a = f32[] constant(1)\nROOT %b = f32[] negate(a)", &[(2, "E0201")]),
        ("= f32[] parameter(0)\nROOT c = f32[] negate(b)", &[(1, "E0101")]),
        (
            "p = f32[2] parameter(0)\ns = ((f32[2]), f32[2], s32[]) custom-cal-start(p)\nROOT d = f32[2] custom-call-done(s)",
            &[(2, "E0103")],
        ),
        // The body of a loop has errors of its own.
        (
            "p = s32[] parameter(0)\nw = s32[] while(p), condition={ q = s32[] parameter(0) ROOT t = pred[] constnt(1) }, body={ q = s32[] paramter(0) ROOT n = s32[] add(q, q) }, x=1\nROOT r = s32[] negate(w)",
            &[(2, "E0103"), (2, "E0103"), (2, "E0104")],
        ),
        // Unmatched brackets, strings and comments change how the rest is read.
        (
            "a = f32[] negat()\nb = f32[] add(a, a\nROOT c = f32[] negat(b)",
            &[(1, "E0103"), (3, "E0101")],
        ),
        (
            "a = f32[] negat()\nb = f32[] add(a, a), x=\"\nROOT c = f32[] negat(b)",
            &[(1, "E0103"), (2, "E0104")],
        ),
        (
            "a = f32[] negat() /* b = f32[] negat() */\n// c = f32[] negat()\nROOT d = f32[] negate(a)",
            &[(1, "E0103")],
        ),
    ] {
        assert_eq!(errors(body), expected, "{body}");
    }
}

#[test]
fn their_number_is_bounded() {
    let body = "x = f32[] negat()\n".repeat(1000);
    assert_eq!(errors(&body).len(), 100);
}
