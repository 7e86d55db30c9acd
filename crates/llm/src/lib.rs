//! Language models behind one method: [`Model::ask`]. It speaks the protocols of OpenAI-compatible servers, Anthropic and
//! Ollama, keeps budgets, and treats page text as data ([`page_text`]). Nothing above this crate knows a vendor.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use llm::{Ask, Content, Model, Role, Settings, Source, TeamLimit, Want, prompt, schema::Schema};
//! use tokio::time::Instant;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let server = testkit::ModelServer::start(|_| r#"{"price": 12.5}"#.to_owned()).await;
//! let settings = Settings { url: Some(server.url("/v1")), model: "small".to_owned(), ..Settings::default() };
//! let model = Model::new(&settings, Arc::new(base::SystemClock)).unwrap().unwrap();
//! let schema = Schema::read(serde_json::json!({
//!     "type": "object", "properties": { "price": { "type": "number" } }, "required": ["price"],
//! }))?;
//! let answer = model
//!     .ask(&Ask {
//!         role: Role::Extract,
//!         prompt: &prompt::EXTRACT,
//!         instruction: "",
//!         sources: &[Source { label: "page text", text: "Price: 12.50 EUR" }],
//!         want: Want::Json(&schema),
//!         correction: None,
//!         owner: &base::Owner::of_team("team"),
//!         budget: &model.budget("team", TeamLimit::default()),
//!         deadline: Instant::now() + Duration::from_secs(10),
//!     })
//!     .await
//!     .unwrap();
//! let Content::Json(value) = answer.content else { panic!("not JSON") };
//! assert_eq!(schema.accept(value).unwrap().value, serde_json::json!({ "price": 12.5 }));
//! # Ok::<(), llm::schema::SchemaError>(())
//! # })?;
//! # Ok::<(), llm::schema::SchemaError>(())
//! ```

mod ask;
mod breaker;
mod budget;
pub mod cache;
mod endpoint;
mod error;
pub mod extract;
mod features;
pub mod json_text;
pub mod judge;
mod metrics;
mod model;
pub mod page_text;
pub mod pages;
pub mod prompt;
pub mod schema;
mod settings;
pub mod tokens;
mod wire;

pub use ask::{Answer, Ask, Content, Correction, Role, Source, Usage, Want};
pub use budget::{Budget, Limit, Limits, Micros, OverBudget, Scope, Spent, TeamLimit};
pub use error::{AskError, ErrorCode};
pub use model::{Model, SettingsError, Window};
pub use settings::{Kind, Override, Roles, Settings};
