//! A description: an HLO template whose comments say which cases it stands for.
use super::values::{Bindings, rows, substitute};

/// A case of a description file, with variables.
#[derive(Debug)]
pub(super) struct Template {
    /// The file's name.
    pub(super) file: &'static str,
    /// The line of `// case`.
    pub(super) line: usize,
    /// The name, with variables.
    name: String,
    /// The rule that it tests: the other comments above the module.
    pub(super) rule: String,
    variables: Vec<List>,
    conditions: Vec<List>,
    /// The conditions of the smoke set; `None`: no case is in it.
    smoke: Option<Vec<List>>,
    /// The arguments of the parameters, in order; the last one counts for all further parameters.
    pub(super) inputs: Vec<String>,
    /// The module.
    text: String,
}

/// `VARIABLES in VALUES`
#[derive(Debug)]
struct List {
    names: Vec<String>,
    values: String,
}

impl List {
    fn parse(text: &str) -> Result<Self, String> {
        let (names, values) = text.split_once(" in ").ok_or("expected `VARIABLES in VALUES`")?;
        let names = names.split_whitespace().map(str::to_owned).collect();
        Ok(Self { names, values: values.to_owned() })
    }
    fn rows(&self, bindings: &Bindings) -> Result<Vec<Vec<String>>, String> {
        rows(&self.values, self.names.len(), bindings)
    }
    /// Returns whether the variables have one of these values.
    fn holds(&self, bindings: &Bindings) -> Result<bool, String> {
        let value = |name: &String| {
            let found = bindings.iter().find(|(bound, _)| bound == name);
            found.map(|(_, value)| value.clone()).ok_or_else(|| format!("no variable `{name}`"))
        };
        let row: Vec<String> = self.names.iter().map(value).collect::<Result<_, _>>()?;
        Ok(self.rows(bindings)?.contains(&row))
    }
}

fn all_hold(conditions: &[List], bindings: &Bindings) -> Result<bool, String> {
    conditions.iter().try_fold(true, |all, list| Ok(all && list.holds(bindings)?))
}

/// Parses the cases of a description file.
///
/// # Errors
/// With the place of a malformed comment.
pub(super) fn parse(file: &'static str, text: &str) -> Result<Vec<Template>, String> {
    let mut templates = Vec::new();
    let mut line = 0;
    for part in text.split("// -----\n") {
        let template = Template::parse(file, line, part);
        templates.push(template.map_err(|(at, message)| format!("{file}:{at}: {message}"))?);
        line += part.lines().count() + 1;
    }
    Ok(templates)
}

impl Template {
    fn parse(file: &'static str, start: usize, part: &str) -> Result<Self, (usize, String)> {
        let mut template = Self {
            file,
            line: start + 1,
            name: String::new(),
            rule: String::new(),
            variables: Vec::new(),
            conditions: Vec::new(),
            smoke: None,
            inputs: Vec::new(),
            text: String::new(),
        };
        for (i, line) in part.lines().enumerate() {
            let number = start + i + 1;
            let Some(comment) = line.strip_prefix("//") else {
                template.text.extend([line, "\n"]);
                continue;
            };
            template.comment(number, comment.trim()).map_err(|message| (number, message))?;
        }
        if template.name.is_empty() {
            return Err((start + 1, "expected `// case NAME`".to_owned()));
        }
        Ok(template)
    }

    fn comment(&mut self, number: usize, comment: &str) -> Result<(), String> {
        if let Some(name) = comment.strip_prefix("case ") {
            (self.name, self.line) = (name.to_owned(), number);
        } else if let Some(list) = comment.strip_prefix("for ") {
            self.variables.push(List::parse(list)?);
        } else if let Some(list) = comment.strip_prefix("where ") {
            self.conditions.push(List::parse(list)?);
        } else if comment == "smoke" {
            self.smoke.get_or_insert_default();
        } else if let Some(list) = comment.strip_prefix("smoke ") {
            self.smoke.get_or_insert_default().push(List::parse(list)?);
        } else if let Some(input) = comment.strip_prefix("in: ") {
            self.inputs.push(input.trim().to_owned());
        } else if self.text.is_empty() {
            self.rule.extend([if self.rule.is_empty() { "" } else { " " }, comment]);
        }
        Ok(())
    }

    /// Returns the values of the variables of each case.
    ///
    /// # Errors
    /// If a list is malformed.
    pub(super) fn expand(&self) -> Result<Vec<Bindings>, String> {
        let mut all: Vec<Bindings> = vec![Vec::new()];
        for list in &self.variables {
            let mut next = Vec::new();
            for bindings in &all {
                for row in list.rows(bindings)? {
                    let mut bindings = bindings.clone();
                    bindings.extend(list.names.iter().cloned().zip(row));
                    next.push(bindings);
                }
            }
            all = next;
        }
        let mut kept = Vec::new();
        for bindings in all {
            if all_hold(&self.conditions, &bindings)? {
                kept.push(bindings);
            }
        }
        Ok(kept)
    }

    /// Returns whether the smoke set has the case.
    ///
    /// # Errors
    /// If a list is malformed.
    pub(super) fn is_smoke(&self, bindings: &Bindings) -> Result<bool, String> {
        self.smoke.as_ref().map_or(Ok(false), |conditions| all_hold(conditions, bindings))
    }

    /// Returns the name of a case. Variables that the name does not mention follow in brackets.
    pub(super) fn name(&self, bindings: &Bindings) -> String {
        let mut name = substitute(&self.name, bindings);
        let hidden = |variable: &str| {
            variable.starts_with('_') || self.name.contains(&format!("{{{variable}}}"))
        };
        let shown = bindings.iter().filter(|(variable, _)| !hidden(variable));
        let shown: Vec<String> =
            shown.map(|(name, value)| format!("{name}={}", value.replace(' ', ","))).collect();
        if !shown.is_empty() {
            name.extend(["[", &shown.join(";"), "]"]);
        }
        name
    }

    /// Returns the module of a case.
    pub(super) fn text(&self, bindings: &Bindings) -> String {
        substitute(&self.text, bindings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// Adds.\n// case {op}/{type}/sum\n// for op in add subtract\n// for type _n in f32|1 s8|2\n\
        // for k in 1 2\n// where op k in add|1 add|2 subtract|1\n// smoke k in 1\n// smoke type in f32\n\
        HloModule m\nENTRY e { x = {type}[{_n}] parameter(0) ROOT r = {op}(x, x) }\n// in: special\n";

    #[test]
    fn variables_are_expanded() {
        let templates = parse("t.hlo", &format!("{TEXT}// -----\n{TEXT}")).unwrap();
        assert_eq!((templates.len(), templates[1].line), (2, 14));
        let template = &templates[0];
        let cases = template.expand().unwrap();
        let names: Vec<String> = cases.iter().map(|b| template.name(b)).collect();
        let expected = [
            "add/f32/sum[k=1]",
            "add/f32/sum[k=2]",
            "add/s8/sum[k=1]",
            "add/s8/sum[k=2]",
            "subtract/f32/sum[k=1]",
            "subtract/s8/sum[k=1]",
        ];
        assert_eq!(names, expected);
        let smoke: Vec<bool> = cases.iter().map(|b| template.is_smoke(b).unwrap()).collect();
        assert_eq!(smoke, [true, false, false, false, true, false]);
        assert!(template.text(&cases[2]).contains("x = s8[2] parameter(0) ROOT r = add(x, x)"));
        assert_eq!(
            (template.rule.as_str(), template.inputs.as_slice()),
            ("Adds.", &["special".to_owned()][..])
        );
    }

    #[test]
    fn errors_have_a_place() {
        let error = |text: &str| parse("t.hlo", text).unwrap_err();
        assert_eq!(error("// case a\n// for x\n"), "t.hlo:2: expected `VARIABLES in VALUES`");
        assert_eq!(error("HloModule m\n"), "t.hlo:1: expected `// case NAME`");
        let template = &parse("t.hlo", "// case a\n// for x y in 1\n").unwrap()[0];
        assert_eq!(template.expand().unwrap_err(), "`1` has 1 parts, expected 2");
        let template = &parse("t.hlo", "// case a\n// where x in 1\n").unwrap()[0];
        assert_eq!(template.expand().unwrap_err(), "no variable `x`");
    }
}
