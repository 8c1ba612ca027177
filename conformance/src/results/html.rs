//! Results as a page of HTML that needs no server and no other file.
use super::Results;

const PAGE: &str = include_str!("page.html");

impl Results {
    /// Returns the results as a page of HTML: counts, a map of opcodes and element types, and each
    /// case that is not good with its module, its arguments, both results and the command that
    /// reproduces it.
    pub fn to_html(&self) -> String {
        // `<` is escaped so that no text of a module ends the script.
        let json = self.to_json().replace('<', "\\u003c");
        PAGE.replacen("/*RESULTS*/", &json, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Record, Verdict};
    use super::*;

    #[test]
    fn a_page_holds_its_data_and_nothing_else() {
        let mut results = Results::new("cpu </script><b>");
        results.push(Record::new("abs/f32/nan", Verdict::Differs));
        let page = results.to_html();
        assert!(page.contains("abs/f32/nan") && !page.contains("/*RESULTS*/"));
        assert_eq!(page.matches("</script>").count(), PAGE.matches("</script>").count());
        for other in ["http://", "https://", "src="] {
            assert!(!page.contains(other), "{other}");
        }
        let data = page.split_once("type=\"application/json\">").unwrap().1;
        let data = data.split_once("</script>").unwrap().0;
        assert_eq!(Results::from_json(data).unwrap(), results);
    }

    #[test]
    fn a_page_knows_each_verdict() {
        let names = Verdict::ALL.map(|verdict| format!("\"{}\"", verdict.name()));
        assert!(PAGE.contains(&format!("const order = [{}]", names.join(", "))));
        for verdict in Verdict::ALL {
            assert!(PAGE.contains(&format!("--{}: #", verdict.name())), "{verdict:?}");
        }
    }
}
