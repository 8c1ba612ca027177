//! Shardings as XLA prints them.
use super::*;
use crate::Result;

fn read(text: &str) -> Result<Sharding> {
    text.parse()
}
fn printed(sharding: &Sharding) -> String {
    let mut out = String::new();
    sharding.print(&mut out, true);
    out
}
/// Both texts print as the second.
fn check(cases: &[(&str, &str)]) {
    for &(text, expected) in cases {
        for text in [text, expected] {
            let sharding = read(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(printed(&sharding), expected, "{text}");
        }
    }
}
fn check_unchanged(cases: &[&str]) {
    for &text in cases {
        check(&[(text, text)]);
    }
}
fn check_refused(cases: &[&str]) {
    for text in cases {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn whole_values() {
    check_unchanged(&[
        "{replicated}",
        "{manual}",
        "{unknown}",
        "{unreduced}",
        "{unreduced=max}",
        "{maximal device=3}",
        "{maximal device=-1}",
        "{replicated shard_as 1}",
        "{maximal device=1 shard_like 3 metadata={op_name=\"x\"}}",
    ]);
    check(&[
        ("{device=3 maximal}", "{maximal device=3}"),
        ("{maximal devices=[1]0}", "{maximal device=0}"),
        ("{replicated manual}", "{replicated}"),
        ("{manual maximal device=1}", "{maximal device=1}"),
        ("{replicated devices=[2]<=[2]}", "{replicated}"),
    ]);
    check_refused(&[
        "replicated",
        "{maximal}",
        "{replicated device=1}",
        "{manual device=1}",
        "{unknown devices=[2]0,1}",
        "{device=3}",
        "{shard_as 1}",
        "{replicated,}",
        "{replicate}",
        "{replicated=1}",
    ]);
}

#[test]
fn tiles() {
    check_unchanged(&[
        "{devices=[2,2]0,1,2,3}",
        "{devices=[2,1]0,0}",
        "{devices=[2,2]<=[4]}",
        "{devices=[1]<=[1]}",
        "{devices=[2,2]<=[2,2]T(1,0)}",
        "{devices=[2,4]<=[2,2,2]T(0,2,1)}",
        "{devices=[2,2,2]<=[8] last_tile_dim_replicate}",
        "{devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}",
        "{devices=[2,2,2]<=[8] last_tile_dims={maximal}}",
        "{devices=[2,2]<=[4] shard_like 2}",
    ]);
    check(&[
        ("{devices=[2,2] <= [4]}", "{devices=[2,2]<=[4]}"),
        ("{devices=[2,2]<= [2,2]T(1, 0)}", "{devices=[2,2]<=[2,2]T(1,0)}"),
        ("{devices=[2,2]<=[4] last_tile_dims={}}", "{devices=[2,2]<=[4]}"),
        (
            "{shard_as 1 last_tile_dims={manual} devices=[4,2]<=[8]}",
            "{devices=[4,2]<=[8] last_tile_dims={manual} shard_as 1}",
        ),
        // Fewer dimensions in an iota that does the same.
        ("{devices=[2,2]<=[2,2]T(0,1)}", "{devices=[2,2]<=[4]}"),
        ("{devices=[2,2]<=[1,4]T(1,0)}", "{devices=[2,2]<=[4]}"),
        ("{devices=[2,4]<=[2,2,2]T(2,0,1)}", "{devices=[2,4]<=[4,2]T(1,0)}"),
        ("{devices=[8]<=[2,1,4]T(2,1,0)}", "{devices=[8]<=[2,4]T(1,0)}"),
    ]);
    check_refused(&[
        "{devices=[1]0}",
        "{devices=[2,2]<=[2,2]}",
        "{devices=[2,2]<=[4]T(0)}",
        "{devices=[2,2]0,1,2}",
        "{devices=[2,2]0,1,2,3,}",
        "{devices=[2,4]<=[6]}",
        "{devices=[2,-2]<=[4]}",
        "{devices=[]0}",
        "{devices =[2]<=[2]}",
        "{devices=[2,2]0,1,2,3 devices=[2,2]<=[4]}",
        "{devices=[2,2]<=[4] last_tile_dims={foo}}",
        "{devices=[2,2,2]<=[8] last_tile_dim_replicate last_tile_dims={manual}}",
        "{devices=[2,2]<=[4] last_tile_dims={manual,manual,manual}}",
    ]);
}

#[test]
fn subgroups_take_the_form_xla_keeps() {
    check(&[
        ("{devices=[1,1,4]<=[4] last_tile_dim_replicate}", "{replicated}"),
        ("{devices=[2]<=[2] last_tile_dim_replicate}", "{replicated}"),
        ("{devices=[1,1,4]<=[4] last_tile_dims={manual}}", "{manual}"),
        ("{devices=[1,2,2]<=[4] last_tile_dims={unreduced, unreduced}}", "{unreduced}"),
        ("{devices=[1,2,1]<=[2] last_tile_dims={manual, replicated}}", "{manual}"),
        // The devices of a tile are sorted.
        (
            "{devices=[3,2]<=[2,3]T(1,0) last_tile_dim_replicate}",
            "{devices=[3,2]<=[2,3]T(1,0) last_tile_dim_replicate}",
        ),
        (
            "{devices=[2,6]<=[2,6]T(1,0) last_tile_dim_replicate}",
            "{devices=[2,6]<=[2,2,3]T(1,0,2) last_tile_dim_replicate}",
        ),
        (
            "{devices=[5,1,4]<=[2,2,5]T(2,1,0) last_tile_dim_replicate}",
            "{devices=[5,1,4]<=[4,5]T(1,0) last_tile_dim_replicate}",
        ),
        (
            "{devices=[4,3]<=[6,2]T(1,0) last_tile_dim_replicate}",
            "{devices=[4,3]<=[6,2]T(1,0) last_tile_dim_replicate}",
        ),
        ("{devices=[2,2,1]<=[4] last_tile_dim_replicate}", "{devices=[2,2]<=[4]}"),
        ("{devices=[2,2,1]0,1,2,3 last_tile_dims={manual}}", "{devices=[2,2]0,1,2,3}"),
        (
            "{devices=[2,1,2]<=[4] last_tile_dims={replicated} shard_as 2}",
            "{devices=[2,1,2]<=[4] last_tile_dim_replicate shard_as 2}",
        ),
        (
            "{devices=[2,1,1,2]<=[4] last_tile_dims={replicated,manual}}",
            "{devices=[2,1,2]<=[4] last_tile_dims={manual}}",
        ),
        (
            "{devices=[2,1,2,2]<=[8] last_tile_dims={replicated,manual}}",
            "{devices=[2,1,2,2]<=[2,2,2]T(0,2,1) last_tile_dims={manual, replicated}}",
        ),
        (
            "{devices=[2,1,2,2]<=[8] last_tile_dims={manual,manual}}",
            "{devices=[2,1,4]<=[8] last_tile_dims={manual}}",
        ),
        (
            "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={replicated, manual}}",
            "{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}",
        ),
        (
            "{devices=[2,2,3]<=[3,4]T(1,0) last_tile_dims={replicated, manual}}",
            "{devices=[2,3,2]<=[3,2,2]T(1,0,2) last_tile_dims={manual, replicated}}",
        ),
        (
            "{devices=[1,6,4]<=[3,8]T(1,0) last_tile_dims={replicated, manual}}",
            "{devices=[1,4,6]0,4,9,13,18,22,3,7,8,12,17,21,2,6,11,15,16,20,1,5,10,14,19,23 last_tile_dims={manual, replicated}}",
        ),
        (
            "{devices=[2,2]3,1,2,0 last_tile_dim_replicate}",
            "{devices=[2,2]1,3,0,2 last_tile_dim_replicate}",
        ),
        (
            "{devices=[2,2,2]7,6,5,4,3,2,1,0 last_tile_dims={replicated,manual}}",
            "{devices=[2,2,2]5,7,4,6,1,3,0,2 last_tile_dims={manual, replicated}}",
        ),
    ]);
}

#[test]
fn metadata() {
    check_unchanged(&[
        "{replicated metadata={op_name=\"a\"}}",
        "{replicated metadata={{op_name=\"a\"}, {op_name=\"b\"}}}",
        "{replicated metadata={}}",
        "{devices=[2,2]<=[4] shard_as 1 metadata={op_name=\"x\" source_line=3}}",
    ]);
    check(&[("{replicated metadata={{op_name=\"a\"}}}", "{replicated metadata={op_name=\"a\"}}")]);
    let mut out = String::new();
    read("{replicated metadata={op_name=\"a\"}}").unwrap().print(&mut out, false);
    assert_eq!(out, "{replicated}");
}

#[test]
fn tuples() {
    let twelve = |sep: &str| {
        let parts: Vec<_> = (0..12).map(|_| "{replicated}").collect();
        format!("{{{}}}", parts.join(sep))
    };
    let printed_twelve = printed(&read(&twelve(",")).unwrap());
    assert!(printed_twelve.contains("{replicated}, /*index=5*/{replicated}, "));
    assert!(printed_twelve.contains("{replicated}, /*index=10*/{replicated}, "));
    assert_eq!(read(&printed_twelve).unwrap(), read(&twelve(", ")).unwrap());
    check(&[("{{replicated},{maximal device=0}}", "{{replicated}, {maximal device=0}}")]);
    check_unchanged(&["{}", "{{replicated}}"]);
    check_refused(&["{{}}", "{{{replicated}}}", "{{replicated}", "{{replicated},}"]);

    let expanded = |text: &str, leaves| printed(&read(text).unwrap().expand_to_leaves(leaves));
    assert_eq!(expanded("{replicated}", 2), "{{replicated}, {replicated}}");
    assert_eq!(expanded("{replicated}", 0), "{{replicated}}");
    assert_eq!(expanded("{{manual}}", 3), "{{manual}}");
    assert_eq!(expanded("{}", 3), "{}");
}

#[test]
fn texts_of_2018_have_a_tile_shape() {
    check(&[
        ("{s32[5,6] devices=[2,2]1,2,3,4}", "{devices=[2,2]1,2,3,4}"),
        ("{s32[5,6] devices=[2,3]1,2,3,4}", "{devices=[2,3]1,2,3,4,0,0}"),
    ]);
}

#[test]
fn meshes() {
    check_unchanged(&[
        "{mesh['a'=2,'b'=4], [{'a'}, {'b', ?}]}",
        "{mesh['a'=2,'b'=4], [{'a', 'b'}, {?}]}",
        "{mesh['a'=2,'b'=4,'c'=2,'d'=2], [{'a'}, {}], replicated={'d'}, unreduced={'c'}, manual={'b'}}",
        "{mesh['a'=2,'b'=2], [{'a'}], unreduced=max{'b'}}",
        "{mesh['a'=2], replicated}",
        "{mesh['a'=2], manual}",
        "{mesh['a'=2], unreduced}",
        "{mesh['a'=2], unreduced=min}",
        "{mesh[], replicated}",
        "{mesh[], [{}, {}]}",
        "{mesh['a'=2], [], replicated={'a'}}",
        "{mesh['a'=8,'b'=4], [{'a':(2)2}, {'a':(1)2}]}",
        "{mesh['a'=2,'b'=4], device_ids=(7,6,5,4,3,2,1,0), [{'a'}, {}]}",
        "{mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)), [{'a'}, {}]}",
        "{maximal_mesh[device_id=5]}",
        "{maximal_mesh[device_id=5], metadata={{op_name=\"x\"}}}",
        "{{mesh['a'=2], [{'a'}]}, {replicated}}",
        "{mesh['a b'=2], [{'a b'}, {}]}",
    ]);
    check(&[
        ("{mesh[\"a\"=2] [{\"a\"},{}]}", "{mesh['a'=2], [{'a'}, {}]}"),
        (
            "{mesh['a'=2,'b'=2], [{'a'}], manual={}, replicated={'b'}, metadata={op_name=\"x\"}}",
            "{mesh['a'=2,'b'=2], [{'a'}], replicated={'b'}, metadata={{op_name=\"x\"}}}",
        ),
        ("{mesh['a'=2,'b'=4], device_ids=([8]), [{'a'}]}", "{mesh['a'=2,'b'=4], [{'a'}]}"),
        (
            "{mesh['a'=2,'b'=2,'c'=2], device_ids=([2,2,2]T(2,0,1)), [{'a'}]}",
            "{mesh['a'=2,'b'=2,'c'=2], device_ids=([4,2]T(1,0)), [{'a'}]}",
        ),
        ("{mesh['a'=2,'b'=2], [], manual={'a','b'}}", "{mesh['a'=2,'b'=2], manual}"),
        ("{mesh['a'=8], [], unreduced={'a'}}", "{mesh['a'=8], unreduced}"),
        ("{mesh['a'=2,'b'=2], [{'1'}]}", "{mesh['a'=2,'b'=2], [{'b'}]}"),
        ("{mesh['a'=2], []}", "{mesh['a'=2], replicated}"),
    ]);
    check_refused(&[
        "{mesh['a'=2]}",
        "{mesh[], manual}",
        "{mesh['a'=2], [{'a'}, {}] shard_as 1}",
        "{mesh['a'=2], [{?, 'a'}]}",
        "{mesh['a'=2], [{'b'}]}",
        "{mesh['a'=2,'a'=2], [{'a'}]}",
        "{mesh['a'=2,'b'=2], [{'a'}, {'a'}]}",
        "{mesh['a'=2], [{'a'}], manual={'a'}}",
        "{mesh['a'=2], [{}], manual={'a'}, manual={}}",
        "{mesh['a'=2], replicated, replicated={'a'}}",
        "{mesh['a'=2], [{'a'}], foo={}}",
        "{mesh['a'=2,'b'=2], [{'a'}], unreduced=foo{'b'}}",
        "{mesh['a'=4], [{'a':(1)4}]}",
        "{mesh['a'=8], [{'a':(3)2}]}",
        "{mesh['a'=8], [{'a':(1)4}, {'a':(2)4}]}",
        "{mesh['a'=2], device_ids=(0,1,2), [{'a'}]}",
        "{mesh['a'=2,'b'=2], device_ids=(3,2,1,3), [{'a'}]}",
        "{maximal_mesh[device_id=5], [{}]}",
        "{maximal_mesh[device_id=5], replicated}",
        "{maximal_mesh[device_id=5] metadata={op_name=\"x\"}}",
    ]);
}
