//! `cargo xtask sizes`: limits on the lengths of files and functions, so that they stay readable, and no parameter without
//! a name.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::functions::function_lines;
use crate::{parameters, say, sh};

/// Length in lines that at most one file in twenty may exceed.
const FILE_LINES: usize = 450;
/// Length in lines that at most one function in twenty may exceed.
const FUNCTION_LINES: usize = 45;
/// Maximum length of a function in lines.
const MAX_FUNCTION_LINES: usize = 90;

/// Checks every shipped Rust file of the workspace.
pub(crate) fn check_workspace() -> Result<()> {
    let mut files = Vec::new();
    for folder in ["crates", "bins", "xtask", "lab"] {
        rust_files(&sh::root().join(folder), &mut files)?;
    }
    let mut long_files = Vec::new();
    let mut functions = Vec::new();
    let mut faults = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file)?;
        let shipped = without_tests(&text);
        if shipped.lines().count() > FILE_LINES {
            long_files.push(file.display().to_string());
        }
        functions.extend(function_lines(&shipped).into_iter().map(|(name, lines)| (lines, name, file)));
        let tuples = parameters::tuples(&shipped).into_iter();
        faults.extend(tuples.map(|(name, parameter)| {
            format!("{}: fn {name} takes a tuple, give it a struct: {parameter}", file.display())
        }));
    }
    let long = functions.iter().filter(|(lines, ..)| *lines > FUNCTION_LINES).count();
    say!(
        "    {} files, {} over {FILE_LINES} lines; {} functions, {long} over {FUNCTION_LINES} lines",
        files.len(),
        long_files.len(),
        functions.len()
    );
    let too_long = functions.iter().filter(|(lines, ..)| *lines > MAX_FUNCTION_LINES);
    faults.extend(too_long.map(|(lines, name, file)| {
        format!("{}: fn {name} has {lines} lines, at most {MAX_FUNCTION_LINES} are allowed", file.display())
    }));
    if long_files.len() * 20 > files.len() {
        faults.push(format!("more than 5 % of the files are over {FILE_LINES} lines: {}", long_files.join(", ")));
    }
    if long * 20 > functions.len() {
        faults.push(format!("more than 5 % of the functions are over {FUNCTION_LINES} lines"));
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    Ok(())
}

fn rust_files(folder: &Path, into: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_test = ["tests", "cases", "tests.rs"].iter().any(|name| path.ends_with(name));
        if path.is_dir() && !is_test {
            rust_files(&path, into)?;
        } else if !is_test && path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
    Ok(())
}

/// Removes all items under `#[cfg(test)]` from a formatted source.
fn without_tests(source: &str) -> String {
    let mut kept = String::with_capacity(source.len());
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        if line.trim_start() != "#[cfg(test)]" {
            kept.extend([line, "\n"]);
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let ends = ["}", "};", ");"].map(|end| format!("{indent}{end}"));
        // Other attributes and comments may come between; a one-line item has no separate end.
        let item = lines.find(|line| !line.trim_start().starts_with(['#', '/'])).unwrap_or_default();
        if !item.ends_with([';', '}', ',']) {
            let _ = lines.find(|line| ends.iter().any(|end| end == line));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_tests_is_measured() {
        let source = "#[cfg(test)]\nmod a;\n#[cfg(test)]\n#[expect(x)]\nmod tests {\n    fn b() {\n        c();\n    }\n}\n\
                      fn d() {\n    #[cfg(test)]\n    e();\n    f();\n}\n#[cfg(test)]\nuse g::{\n    h,\n};\nfn i() {}\n";
        assert_eq!(without_tests(source), "fn d() {\n    f();\n}\nfn i() {}\n");
    }
}
