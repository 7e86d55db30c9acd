//! Checks common to all kinds of request, done before the ledger or the page is touched.

use kernel::AppError;
use kernel::auth::Caller;
use wire::{Format, Invalid, Need, ScrapeOptions};

use crate::Scraper;

/// Refuses requests that cannot be carried out: formats that the key may not use, invalid selectors, zero data
/// retention for a team without it, features that this server lacks, and JSON Schemas that no answer can be checked by.
///
/// # Errors
/// [`AppError::KeyNotAllowed`], [`AppError::Invalid`], [`AppError::Forbidden`] and [`AppError::Unsupported`], in this
/// order; a schema is [`AppError::Invalid`] as well, and checked last.
pub fn check(
    scraper: &Scraper,
    caller: &Caller,
    options: &ScrapeOptions,
    zero_data_retention: bool,
    needs: Vec<Need>,
) -> Result<(), AppError> {
    caller.rules.check_formats(options)?;
    check_selectors(options)?;
    if zero_data_retention && !caller.team.zero_data_retention {
        return Err(AppError::Forbidden("zero data retention is not enabled for this team"));
    }
    // Lockdown leaves no trace either.
    let available = scraper.capabilities_for(zero_data_retention || options.lockdown);
    let lacking: Vec<Need> = needs.into_iter().filter(|need| !available.has(need.capability)).collect();
    if lacking.is_empty() { Ok(check_schemas(options)?) } else { Err(AppError::Unsupported(lacking)) }
}

/// Checks the JSON Schemas that models answer by.
fn check_schemas(options: &ScrapeOptions) -> Result<(), Invalid> {
    for (index, format) in options.formats.iter().enumerate() {
        let schema = match format {
            Format::Json(json) => json.schema.as_ref(),
            Format::ChangeTracking(tracking) if tracking.extracts() => tracking.schema.as_ref(),
            _ => None,
        };
        schema.map_or(Ok(()), answers::check_schema).map_err(|error| {
            Invalid::at(format!("formats[{index}].schema{}", error.path), format!("is not usable: {}", error.reason))
        })?;
    }
    Ok(())
}

/// Checks a CSS selector, and names its path if it is refused.
///
/// # Errors
/// [`Invalid`] with the reason.
pub fn check_selector(text: &str, path: &dyn Fn() -> String) -> Result<(), Invalid> {
    page::check_selector(text).map_err(|error| Invalid::at(path(), format!("is not a usable selector: {error}")))
}

fn check_selectors(options: &ScrapeOptions) -> Result<(), Invalid> {
    // Counted before parsing: a request can have hundreds of long selectors.
    let mut parts = 0;
    let mut check = |text: &str, path: &dyn Fn() -> String| {
        parts += page::selector_parts(text);
        if parts > page::MAX_SELECTOR_PARTS {
            let most = page::MAX_SELECTOR_PARTS;
            let why =
                format!("makes more than {most} names and combinators in all selectors of the request; use fewer");
            return Err(Invalid::at(path(), why));
        }
        check_selector(text, path)
    };
    for (name, tags) in [("includeTags", &options.include_tags), ("excludeTags", &options.exclude_tags)] {
        for (index, tag) in tags.iter().enumerate() {
            check(tag, &|| format!("{name}[{index}]"))?;
        }
    }
    for (at, format) in options.formats.iter().enumerate() {
        let Format::Attributes(wanted) = format else { continue };
        for (index, one) in wanted.selectors.iter().enumerate() {
            check(&one.selector, &|| format!("formats[{at}].selectors[{index}].selector"))?;
        }
    }
    Ok(())
}
