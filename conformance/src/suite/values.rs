//! The values that a variable of a description takes.
use hlo::op::{Binary, Unary};
use hlo::{Class, ElementType, Opcode};

/// The variables of a case and their values, in the order of the description.
pub(super) type Bindings = Vec<(String, String)>;

/// Returns the values that a word of a list stands for.
///
/// | word | values |
/// |---|---|
/// | `unary`, `binary` | the elementwise ops of the table with one and with two operands |
/// | `functions` | the ops that take the attribute `result_accuracy` |
/// | `all` | the element types |
/// | `signed`, `unsigned`, `floats`, `complexes` | the types of a class |
/// | `integers`, `ordered`, `numbers` | signed and unsigned; all but complex; all but `pred` |
/// | `narrow` | types of at most 8 bits |
/// | `types(OP)` | the types that the table allows for an elementwise op |
/// | `same-width(TYPE)` | the types with as many bits, and complex only if it is |
pub(super) fn words(word: &str) -> Option<Vec<String>> {
    let types = |holds: &dyn Fn(ElementType) -> bool| {
        let kept = ElementType::ALL.iter().filter(|&&ty| holds(ty));
        Some(kept.map(|ty| ty.name().to_owned()).collect())
    };
    let class = |class: Class| types(&move |ty| ty.class() == class);
    if let Some(op) = argument(word, "types") {
        let op = Opcode::from_name(op)?;
        return types(&|ty| allows(op, ty));
    }
    if let Some(of) = argument(word, "same-width") {
        let of = ElementType::from_name(of)?;
        return types(&|ty| ty.bits() == of.bits() && ty.is_complex() == of.is_complex());
    }
    let names = |ops: Vec<Opcode>| Some(ops.iter().map(|op| op.name().to_owned()).collect());
    match word {
        "unary" => names(Unary::ALL.iter().map(|op| op.opcode()).collect()),
        "binary" => names(Binary::ALL.iter().map(|op| op.opcode()).collect()),
        "functions" => {
            names(Opcode::ALL.iter().copied().filter(|op| op.takes_result_accuracy()).collect())
        }
        "all" => types(&|_| true),
        "signed" => class(Class::Signed),
        "unsigned" => class(Class::Unsigned),
        "floats" => class(Class::Float),
        "complexes" => class(Class::Complex),
        "integers" => types(&ElementType::is_integral),
        "ordered" => types(&|ty| !ty.is_complex()),
        "numbers" => types(&|ty| ty.class() != Class::Pred),
        "narrow" => types(&|ty| ty.bits() <= 8),
        _ => None,
    }
}

/// Returns `X` of `name(X)`.
fn argument<'a>(word: &'a str, name: &str) -> Option<&'a str> {
    word.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')
}

/// Returns whether the table allows the type for an elementwise op.
pub(super) fn allows(op: Opcode, ty: ElementType) -> bool {
    op.types().is_some_and(|types| types.contains(ty)) && op.result_type(ty).is_some()
}

/// Replaces `{name}` by the value of the variable. Other text in braces is HLO's.
pub(super) fn substitute(text: &str, bindings: &Bindings) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let named = bindings.iter().find_map(|(name, value)| {
            Some((value, after.strip_prefix(name.as_str())?.strip_prefix('}')?))
        });
        rest = match named {
            Some((value, behind)) => {
                out.push_str(value);
                behind
            }
            None => {
                out.push('{');
                after
            }
        };
    }
    out + rest
}

/// Returns the rows of values of a list of words; a row has a value for each of `width` variables.
///
/// # Errors
/// If a word has another number of parts.
pub(super) fn rows(
    list: &str,
    width: usize,
    bindings: &Bindings,
) -> Result<Vec<Vec<String>>, String> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for word in split(list) {
        let word = arguments(&word, bindings);
        if let Some(removed) = word.strip_prefix('-').filter(|w| w.starts_with(char::is_alphabetic))
        {
            let removed = words(removed).unwrap_or_else(|| vec![removed.to_owned()]);
            rows.retain(|row| !removed.contains(&row[0]));
            continue;
        }
        if let Some(values) = words(&word).filter(|_| width == 1) {
            rows.extend(values.into_iter().map(|value| vec![value]));
            continue;
        }
        let parts: Vec<String> = word.split('|').map(str::to_owned).collect();
        if parts.len() != width {
            return Err(format!("`{word}` has {} parts, expected {width}", parts.len()));
        }
        rows.push(parts);
    }
    Ok(rows)
}

/// Splits a list at spaces, except in double quotes, which are removed.
fn split(list: &str) -> Vec<String> {
    let mut quoted = false;
    let words = list.split(|c: char| {
        quoted ^= c == '"';
        c == ' ' && !quoted
    });
    words.filter(|word| !word.is_empty()).map(|word| word.replace('"', "")).collect()
}

/// Replaces the variable in `types(VARIABLE)` by its value.
fn arguments(word: &str, bindings: &Bindings) -> String {
    let Some((name, rest)) = word.split_once('(') else { return word.to_owned() };
    let value = rest.strip_suffix(')').and_then(|variable| {
        bindings.iter().find_map(|(name, value)| (name == variable).then_some(value))
    });
    value.map_or_else(|| word.to_owned(), |value| format!("{name}({value})"))
}

/// Returns whether a name matches a pattern in which `*` stands for any characters.
pub fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let parts: Vec<&str> = rest.split('*').collect();
    let Some((last, middle)) = parts.split_last() else { return true };
    for part in middle {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(list: &str) -> String {
        let bindings = vec![("op".to_owned(), "erf".to_owned())];
        let rows = rows(list, 1, &bindings).unwrap();
        rows.iter().map(|row| row[0].as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn sets_come_from_the_tables() {
        assert_eq!(row("complexes pred -c64"), "c128 pred");
        assert_eq!(row("types(op) -narrow"), "f16 bf16 f32 f64");
        assert_eq!(row("1 -1"), "1 -1");
        assert_eq!(split("a \"b c\"|d  e"), ["a", "b c|d", "e"]);
        assert_eq!(row("same-width(c128)"), "c128");
        assert!(rows("1|2", 1, &Vec::new()).is_err());
        assert_eq!(words("types(complex)").unwrap(), ["f32", "f64"]);
    }

    #[test]
    fn only_variables_are_replaced() {
        let bindings = vec![("op".to_owned(), "add".to_owned())];
        let text = substitute("{op}(x), groups={{0,1},{op}}, to_apply={ops}", &bindings);
        assert_eq!(text, "add(x), groups={{0,1},add}, to_apply={ops}");
    }

    #[test]
    fn patterns() {
        for (pattern, holds) in
            [("a/*", true), ("*", true), ("a/f32/x[n=1]", true), ("*f32*", true), ("*/*/x*", true)]
        {
            assert_eq!(matches(pattern, "a/f32/x[n=1]"), holds, "{pattern}");
        }
        for pattern in ["a", "*x", "b*", "*f64*", "a/f32/x[n=1]*1"] {
            assert!(!matches(pattern, "a/f32/x[n=1]"), "{pattern}");
        }
    }
}
