//! Patterns of derived options: checked by the validator of requests, and fitted to the start URL.

use crawl_frontier::{PathFilter, Reason};
use url::{Position, Url};
use wire::DerivedOptions;

/// Returns whether `excludePaths` excludes the start URL.
pub(crate) fn excludes(options: &DerivedOptions, start: &Url) -> bool {
    let patterns = options.exclude_paths.as_deref().unwrap_or_default();
    refuses(&[], patterns, options, start) == Some(Reason::Excluded)
}

/// Adds the start URL to `includePaths` if they leave it out, because its links lead to the other pages. Returns a note
/// about it.
pub(crate) fn add_start(options: &mut DerivedOptions, start: &Url) -> Option<String> {
    let patterns = options.include_paths.as_deref().unwrap_or_default();
    refuses(patterns, &[], options, start)?;
    let own = if options.regex_on_full_url == Some(true) { &start[..Position::AfterQuery] } else { start.path() };
    let own = format!("^{}$", regex_syntax::escape(own));
    options.include_paths.get_or_insert_default().push(own);
    Some("The start URL is crawled too, since its links lead to the pages.".to_owned())
}

/// Removes the patterns that the validator of requests refuses, and those that exclude the start URL; returns a note about
/// each.
pub(crate) fn keep_usable(options: &mut DerivedOptions, start: &Url) -> Vec<String> {
    let full_url = options.regex_on_full_url == Some(true);
    let mut notes = Vec::new();
    if let Some(patterns) = &mut options.include_paths {
        patterns.retain(|pattern| {
            let compiled = PathFilter::new(std::slice::from_ref(pattern), &[], full_url);
            notes.extend(compiled.as_ref().err().map(|error| format!("Left out a pattern of the model: {error}.")));
            compiled.is_ok()
        });
    }
    if let Some(patterns) = &mut options.exclude_paths {
        patterns.retain(|pattern| match PathFilter::new(&[], std::slice::from_ref(pattern), full_url) {
            Ok(filter) if filter.refuses(start).is_none() => true,
            Ok(_) => {
                notes.push(format!("Left out a pattern of the model that excludes the start URL: {pattern}."));
                false
            }
            Err(error) => {
                notes.push(format!("Left out a pattern of the model: {error}."));
                false
            }
        });
    }
    for list in [&mut options.include_paths, &mut options.exclude_paths] {
        list.take_if(|list| list.is_empty());
    }
    notes
}

/// Returns why patterns refuse a URL; `None` also for patterns that do not compile.
fn refuses(include: &[String], exclude: &[String], options: &DerivedOptions, url: &Url) -> Option<Reason> {
    let full_url = options.regex_on_full_url == Some(true);
    PathFilter::new(include, exclude, full_url).ok()?.refuses(url)
}
