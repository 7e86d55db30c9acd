//! Phase 6: removes what is left of the page's frame from the markdown, where `onlyCleanContent` asks for it.
//!
//! It follows the comparison, which compares pages as they are: otherwise another answer of a model would be a change.

use answers::clean::{Cleaned, WITHOUT_MODEL, ZERO_RETENTION, without_model};
use answers::{Answers, CacheUse, Context};

use crate::ask::time_for;
use crate::derive::{Draft, on_thread};
use crate::{ScrapeError, Target, Tools};

/// Cleans the markdown of a draft, if it is a requested format.
///
/// # Errors
/// Those of [`on_thread`].
pub(crate) async fn clean(tools: &Tools, target: &Target, mut draft: Box<Draft>) -> Result<Box<Draft>, ScrapeError> {
    let Some(answers) = tools.answers.as_ref().filter(|_| target.options.only_clean_content) else { return Ok(draft) };
    let Some(markdown) = draft.document.markdown.take() else { return Ok(draft) };
    if target.private {
        draft.warnings.push(ZERO_RETENTION.to_owned());
        draft.document.markdown = Some(markdown);
        return Ok(draft);
    }
    let Cleaned { markdown, warning, .. } = cleaned(tools, target, answers, markdown).await?;
    draft.warnings.extend(warning);
    draft.document.markdown = Some(markdown);
    Ok(draft)
}

/// Cleans with the model, or by rules if there is none or it fails.
async fn cleaned(tools: &Tools, target: &Target, answers: &Answers, markdown: String) -> Result<Cleaned, ScrapeError> {
    let (owner, private, deadline) = (&target.owner, target.private, time_for(target));
    // Cleaned markdown is not cached.
    let (cache, cpu, limit) = (CacheUse::default(), &tools.cpu, target.model_limit);
    let context = Context { owner, private, deadline, cache, cpu, limit };
    let failure = match answers.asking(context) {
        None => None,
        Some(asking) => match asking.clean(&markdown).await {
            Ok(cleaned) => return Ok(cleaned),
            Err(error) => Some(error),
        },
    };
    if !answers.is_extractive() {
        let warning = failure.map(|error| format!("onlyCleanContent was skipped: {error}"));
        return Ok(Cleaned { markdown, removed: 0, warning });
    }
    let mut cleaned = on_thread(tools, target, move |_| without_model(&markdown)).await?;
    cleaned.warning = Some(match failure {
        None => WITHOUT_MODEL.to_owned(),
        Some(error) => format!("{WITHOUT_MODEL} The model was not used: {error}."),
    });
    Ok(cleaned)
}
