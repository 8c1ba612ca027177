//! Rust source for `tidy`: without comments and inline tests; its lines and functions.

/// A function and its number of code lines.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// The first line, from 1.
    pub(crate) line: usize,
    pub(crate) lines: usize,
}

/// Returns the text without comments and inline tests. The contents of strings are replaced by `_`; lines keep their
/// numbers.
pub(crate) fn code(text: &str) -> String {
    without_tests(&without_comments(text))
}

/// Returns the number of lines that are not blank.
pub(crate) fn code_lines(code: &str) -> usize {
    code.lines().filter(|line| !line.trim().is_empty()).count()
}

/// Returns the functions in the result of [`code`]. The lines of nested functions count for both.
pub(crate) fn functions(code: &str) -> Vec<Function> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let starts_word = code[..at].chars().next_back().is_none_or(|c| !is_word(c));
        let rest = &code[at + 3..];
        let name: String = rest.chars().take_while(|&c| is_word(c) || c == '$').collect();
        let Some(body) = body(rest).filter(|_| starts_word && !name.is_empty()) else { continue };
        let line = code[..at].matches('\n').count() + 1;
        found.push(Function { name, line, lines: code_lines(&rest[..body]) });
    }
    found
}

pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the end of the body after a function's name; `None` if there is no body.
fn body(text: &str) -> Option<usize> {
    let mut depth = 0i32;
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ';' if depth == 0 => return None,
            '{' if depth == 0 => return Some(i + block(&text[i..])),
            _ => {}
        }
    }
    None
}

/// Returns the length of the block that `text` starts with.
pub(crate) fn block(text: &str) -> usize {
    let mut depth = 0i32;
    for (i, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return i + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

fn without_tests(code: &str) -> String {
    let mut rest = code;
    let mut out = String::with_capacity(code.len());
    while let Some(at) = rest.find("#[cfg(test)]") {
        out.push_str(&rest[..at]);
        let tests = &rest[at..];
        let end = match tests.find(['{', ';']) {
            Some(i) if tests[i..].starts_with('{') => i + block(&tests[i..]),
            Some(i) => i + 1,
            None => tests.len(),
        };
        out.extend(tests[..end].chars().filter(|&c| c == '\n'));
        rest = &tests[end..];
    }
    out.push_str(rest);
    out
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after_word = out.chars().next_back().is_some_and(is_word);
        let (length, kept) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), false)
        } else if rest.starts_with("/*") {
            (comment(rest), false)
        } else if let Some(length) = raw_string(rest).filter(|_| !after_word) {
            (length, true)
        } else if c == '"' {
            (quoted(rest, '"'), true)
        } else if c == '\'' && is_character(rest) {
            (quoted(rest, '\''), true)
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        for line in rest[..length].split_inclusive('\n') {
            let (blank, end) = (line.trim().is_empty(), line.ends_with('\n'));
            out.push_str(if kept && !blank { "_" } else { "" });
            out.push_str(if end { "\n" } else { "" });
        }
        rest = &rest[length..];
    }
    out
}

/// Returns the length of a `/* comment */`, which may be nested.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    loop {
        let rest = &text[at..];
        let Some(step) = rest.find("/*").into_iter().chain(rest.find("*/")).min() else {
            return text.len();
        };
        depth += if rest[step..].starts_with("/*") { 1 } else { -1 };
        at += step + 2;
        if depth == 0 {
            return at;
        }
    }
}

/// Returns the length of a raw string, if `text` starts with one.
fn raw_string(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    let start = text.len() - rest.len() + hashes;
    let inside = text[start..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(inside.find(&end).map_or(text.len(), |i| start + 1 + i + end.len()))
}

/// Returns whether the quote starts a character and not a lifetime.
fn is_character(text: &str) -> bool {
    let mut after = text.chars().skip(1);
    match after.next() {
        Some('\\') => true,
        Some(_) => after.next() == Some('\''),
        None => false,
    }
}

/// Returns the length of a quoted text, including the quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = true;
    for (i, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return i + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_and_tests_are_no_code() {
        let text = "//! first\nfn a<'a>() { /* x /* y */\n */ let c = '{'; let s = \"a // b }\";\n\n}\n\
                    #[cfg(test)]\nmod tests {\n  fn b() {}\n}\nfn c() -> &str { r#\"}\"{\"# }\n";
        let code = code(text);
        assert_eq!(code.lines().count(), text.lines().count());
        assert_eq!(code_lines(&code), 4, "{code}");
        let names: Vec<_> =
            functions(&code).into_iter().map(|f| (f.name, f.line, f.lines)).collect();
        assert_eq!(names, [("a".into(), 2, 3), ("c".into(), 10, 1)]);
    }

    #[test]
    fn functions_without_body_do_not_count() {
        assert_eq!(functions("trait T { fn a(&self) -> [u8; 3]; } type F = fn (u8);"), []);
    }

    #[test]
    fn test_modules_in_files_of_their_own_end_at_the_semicolon() {
        assert_eq!(code_lines(&code("#[cfg(test)]\nmod tests;\nstruct A;\n")), 1);
    }
}
