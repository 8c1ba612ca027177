//! Names of instructions and computations.
use smol_str::SmolStr;

/// Returns the name of the instructions of an op with this path of scopes: `jit(f)/while/body/add`
/// gives `add`.
pub(super) fn of_path(path: &str) -> SmolStr {
    let last = path.rsplit(['/', ';']).find(|part| !part.is_empty());
    last.map_or_else(SmolStr::default, clean)
}

/// Returns a name in the letters that HLO allows: others become `_`, and a digit is not the first.
pub(super) fn clean(name: &str) -> SmolStr {
    let letter = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let clean: String = name.chars().map(letter).collect();
    match clean.chars().next() {
        Some(first) if first.is_ascii_alphabetic() || first == '_' => clean.into(),
        Some(_) => format!("_{clean}").into(),
        None => clean.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_scope_is_the_name() {
        assert_eq!(of_path("jit(f)/while/body/add"), "add");
        assert_eq!(of_path("jit(f)/jit(clip)"), "jit_clip_");
        assert_eq!(of_path("x[0]/"), "x_0_");
        assert_eq!(of_path("2d"), "_2d");
        assert_eq!(of_path(""), "");
    }
}
