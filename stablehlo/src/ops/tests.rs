//! The rows beside the programs of the tests.
use super::*;

#[test]
fn no_op_has_two_rows() {
    assert!(SORTED.is_sorted_by(|a, b| a.name < b.name));
}

/// The file of tests has every pretty form, and beside it the generic form of the same op.
#[test]
fn every_form_is_read() {
    let file = include_str!("../../tests/forms.mlir");
    for OpRow { name, .. } in all().filter(|row| row.is_pretty() && row.name != "builtin.module") {
        let short = name.strip_prefix("func.").unwrap_or(name);
        let pretty = [format!(" {name}"), format!(" {short} ")];
        assert!(pretty.iter().any(|pretty| file.contains(pretty)), "{name} in its pretty form");
        assert!(file.contains(&format!("\"{name}\"")), "{name} in the generic form");
    }
}

/// The files of tests have every op of VHLO, in some version.
#[test]
fn every_op_is_read() {
    let files = [include_str!("../../tests/forms.mlir"), include_str!("../../tests/generic.mlir")];
    let files = files.concat();
    for row in all() {
        let name = row.name;
        for attributes in (1..).map_while(|version| row.vhlo(version)) {
            assert!(attributes.split(' ').is_sorted(), "{name}: the attributes are not sorted");
            let found = [format!("\"{name}\""), format!(" {name} "), format!(" {name}(")];
            let is_function = name.starts_with("func.");
            assert!(is_function || found.iter().any(|found| files.contains(found)), "{name}");
        }
    }
}

/// Every field of an attribute that VHLO splits is an attribute of the op there.
#[test]
fn split_attributes_are_those_of_the_op() {
    for row in all() {
        let versions: Vec<_> = (1..).map_while(|version| row.vhlo(version)).collect();
        for field in row.split().iter().flat_map(|attribute| attribute.fields) {
            let is_there = |version: &&str| version.split(' ').any(|name| name == *field);
            assert!(versions.iter().any(is_there), "{}: {field}", row.name);
        }
    }
}
