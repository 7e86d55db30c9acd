//! Capabilities of a process on this machine, logged once at startup together with what to install or set for more.

use std::path::PathBuf;
use std::sync::Arc;

use interact::{Language, interpreter};
use outage::disk;
use store::Backend;

use crate::config::{AuthMode, Config, LogFormat};

/// The capabilities that are known without running other programs.
pub(crate) struct Abilities {
    format: LogFormat,
    database: String,
    files: String,
    callers: String,
    operator: &'static str,
    work: &'static str,
    egress: String,
    room: String,
    code: String,
    model: String,
    documents: bool,
    browser: Result<PathBuf, &'static str>,
}

impl Abilities {
    /// Derives the capabilities from the settings and from the files on disk, without starting any program.
    pub(crate) fn of(config: &Config, backend: Backend, files: String) -> Self {
        let database = match backend {
            Backend::Sqlite => {
                "SQLite, for one server on this machine (set store.url to a PostgreSQL database for several)"
            }
            Backend::Postgres => "PostgreSQL",
        };
        let callers = match config.auth.mode {
            AuthMode::Open => "anyone who can reach the port, without a key (auth.mode = keys requires one)",
            AuthMode::Keys => "with an API key (quarry-server keys create)",
        };
        let operator = match config.admin.token.is_empty() {
            true => "disabled (set admin.token to enable it)",
            false => "enabled, under /admin",
        };
        let work = match config.worker.embedded {
            true => "in this process",
            false => "in quarry-worker (worker.embedded is false)",
        };
        let proxies = config.fetch.basic_proxies.0.len() + config.fetch.enhanced_proxies.0.len();
        let egress =
            format!("{proxies} proxies, {} non-public addresses allowed (egress.allow)", config.egress.allow.len());
        let room = disk::room(&config.data.dir).map_or("unknown".to_owned(), |room| room.to_string());
        let (documents, browser) = (config.documents.enabled, browser(&config.browser));
        let code = code(config.sessions.code_processes);
        let model = model(&config.llm);
        let (database, callers) = (database.to_owned(), callers.to_owned());
        let format = config.log.format;
        Self { format, database, files, callers, operator, work, egress, room, code, model, documents, browser }
    }

    /// Queries the external programs and logs all capabilities.
    pub(crate) async fn tell(self, browser: ::browser::Settings, documents: Option<Arc<reader::Pool>>) {
        let chromium = match &self.browser {
            Ok(program) => {
                let version = browser.version().await.unwrap_or_else(|| "unknown version".to_owned());
                format!("{version} ({})", program.display())
            }
            Err(why) => (*why).to_owned(),
        };
        let (reader, ocr) = match &documents {
            Some(pool) => {
                pool.look().await;
                ("PDF, office files, books".to_owned(), ocr(pool))
            }
            None if self.documents => {
                ("none: this program cannot be started as a reader".to_owned(), NO_OCR.to_owned())
            }
            None => ("disabled (documents.enabled)".to_owned(), "disabled with documents".to_owned()),
        };
        let Self { database, files, callers, operator, work, egress, room, code, model, .. } = &self;
        if self.format == LogFormat::Json {
            tracing::info!(
                version = env!("CARGO_PKG_VERSION"),
                database,
                files,
                disk = room,
                callers,
                operator,
                work,
                egress,
                chromium,
                documents = reader,
                ocr,
                code,
                model,
                "capabilities of this process"
            );
            return;
        }
        let lines = [
            ("database", database.as_str()),
            ("files", files.as_str()),
            ("disk", room.as_str()),
            ("callers", callers.as_str()),
            ("operator", *operator),
            ("crawls, batches, webhooks", *work),
            ("egress", egress.as_str()),
            ("browser", chromium.as_str()),
            ("documents", reader.as_str()),
            ("OCR", ocr.as_str()),
            ("callers' code", code.as_str()),
            ("language model", model.as_str()),
        ];
        tracing::info!("capabilities of this process:");
        for (what, state) in lines {
            tracing::info!("  {what}: {state}");
        }
    }
}

const NO_OCR: &str = "none: put the program quarry-reader next to quarry-server (or set documents.reader) and install \
    tesseract-ocr-eng";

/// Returns the browser executable, or advice on how to get one.
fn browser(settings: &::browser::Settings) -> Result<PathBuf, &'static str> {
    match settings.program() {
        Some(program) => Ok(program),
        None if !settings.enabled => Err("disabled (browser.enabled)"),
        None => {
            Err("none, so no screenshots, actions or pages that need scripts: install chromium-headless-shell, or set \
             browser.path")
        }
    }
}

fn ocr(pool: &reader::Pool) -> String {
    let languages = pool.languages();
    if !pool.can_ocr() {
        NO_OCR.to_owned()
    } else if languages.is_empty() {
        "none: quarry-reader has no languages, install tesseract-ocr-eng".to_owned()
    } else {
        format!("{} (install tesseract-ocr-… for more languages)", languages.join(" "))
    }
}

fn code(in_processes: bool) -> String {
    if !in_processes {
        return "JavaScript only (sessions.code_processes is false)".to_owned();
    }
    let found = |name: &str, language: Language, package: &str| match interpreter(language) {
        Some(path) => format!("{name} ({})", path.display()),
        None => format!("no {name} (install {package})"),
    };
    let python = found("Python", Language::Python, "python3");
    format!("JavaScript, {python}, {}", found("Bash", Language::Bash, "bash"))
}

/// Returns the model, or what works without one. Shows neither its key nor the path of its URL.
fn model(settings: &llm::Settings) -> String {
    let Some(url) = &settings.url else {
        let without = if settings.extractive {
            "questions, highlights and summaries are made of the page's own sentences, and the format json is refused"
        } else {
            "questions, highlights, summaries and the format json are refused"
        };
        return format!("none: {without} (set llm.url and llm.model)");
    };
    let private = if settings.zero_retention { "with" } else { "without" };
    format!("{} at {}, {private} pages of zero retention", settings.model, url.host_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn abilities(change: impl FnOnce(&mut Config)) -> Abilities {
        let mut config = Config::default();
        change(&mut config);
        Abilities::of(&config, Backend::Sqlite, "the folder /data/blobs".to_owned())
    }

    #[test]
    fn what_is_missing_names_what_to_install() {
        let found = abilities(|config| config.browser.path = Some("/nowhere/chromium".into()));
        let missing = found.browser.unwrap_err();
        assert!(missing.contains("chromium-headless-shell") && missing.contains("browser.path"), "{missing}");
        let off = abilities(|config| config.browser.enabled = false).browser.unwrap_err();
        assert!(off.contains("browser.enabled"), "{off}");
        let here = abilities(|config| config.browser.path = Some("/bin/sh".into()));
        assert_eq!(here.browser, Ok("/bin/sh".into()));
        assert!(abilities(|config| config.sessions.code_processes = false).code.contains("JavaScript only"));
        assert!(abilities(|config| config.auth.mode = AuthMode::Keys).callers.contains("API key"));
    }
}
