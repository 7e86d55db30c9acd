//! Execution of plain instructions, on the page's accessibility tree.

use browser::{Failure, Hands, Line};
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep};

use super::grammar::{Order, Way, What};
use super::target::{FIELDS, Target};

/// Time limit for an element to appear.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum length of text that is read, in characters.
const MAX_READ: usize = 50_000;
/// Number of names that an error lists.
const MAX_OFFERED: usize = 8;

/// Runs one instruction; returns what was done or read.
pub(super) async fn carry_out(hands: &Hands, order: &Order, by: Instant) -> Result<String, Failure> {
    let hand = Hand { hands, by };
    match order {
        Order::Click(target) => hand.click(target, 1).await,
        Order::DoubleClick(target) => hand.click(target, 2).await,
        Order::Hover(target) => hand.act(target, "hover", json!({}), "moved the mouse over").await,
        Order::Check(target, on) => {
            hand.act(target, "check", json!({ "checked": on }), if *on { "checked" } else { "unchecked" }).await
        }
        Order::Fill(text, target) => hand.fill(text, target.as_ref()).await,
        Order::Search(text) => hand.search(text).await,
        Order::Select(option, target) => hand.select(option, target.as_ref()).await,
        Order::Press(key) => {
            hand.call("keyboard", json!({ "op": "press", "text": key.replace(' ', "") })).await?;
            Ok(hand.and_where(&format!("pressed {key}")))
        }
        Order::Scroll(way) => hand.scroll(way).await,
        Order::GoTo(url) => {
            hand.call("goto", json!({ "url": url })).await?;
            Ok(format!("went to {}", hands.url()))
        }
        Order::Back => hand.step("back").await,
        Order::Forward => hand.step("forward").await,
        Order::Reload => hand.step("reload").await,
        Order::Wait(ms) => {
            hand.call("sleep", json!({ "ms": ms, "timeout": 0 })).await?;
            Ok(format!("waited {} seconds", ms / 1000.0))
        }
        Order::WaitFor(text) => {
            let aim = json!({ "steps": [{ "text": text }], "op": "wait", "arg": "visible" });
            hand.call("element", aim).await?;
            Ok(format!("\"{text}\" is there"))
        }
        Order::Read(what) => hand.read(what).await,
        Order::Screenshot => {
            let picture = hand.call("screenshot", json!({ "type": "jpeg", "quality": 60 })).await?;
            Ok(format!("data:image/jpeg;base64,{}", picture.as_str().unwrap_or_default()))
        }
    }
}

struct Hand<'a> {
    hands: &'a Hands,
    by: Instant,
}

impl Hand<'_> {
    async fn call(&self, verb: &str, args: Value) -> Result<Value, Failure> {
        self.hands.call(verb, &args, self.by).await
    }

    async fn element(&self, reference: &str, op: &str, arg: Value) -> Result<Value, Failure> {
        self.call("element", json!({ "ref": reference, "op": op, "arg": arg, "timeout": 10_000 })).await
    }

    fn and_where(&self, done: &str) -> String {
        format!("{done}; the page is {}", self.hands.url())
    }

    async fn click(&self, target: &Target, count: u64) -> Result<String, Failure> {
        match self.find(target, &[]).await {
            Ok((line, which)) => {
                let reference = line.reference.as_deref().unwrap_or_default();
                self.element(reference, "click", json!({ "count": count })).await?;
                Ok(self.and_where(&format!("clicked {}{which}", told(&line))))
            }
            // Elements that are clickable only by script may have no role, so the text itself is clicked.
            Err(missing) => {
                let (Some(name), None) = (&target.name, target.kind) else { return Err(missing) };
                let mut steps = vec![json!({ "text": name })];
                steps.extend(target.place.map(|place| json!({ "nth": place })));
                let aim = json!({ "steps": steps, "op": "click", "arg": { "count": count }, "timeout": 2000 });
                self.call("element", aim).await.map_err(|_| missing)?;
                Ok(self.and_where(&format!("clicked \"{name}\"")))
            }
        }
    }

    async fn act(&self, target: &Target, op: &str, arg: Value, done: &str) -> Result<String, Failure> {
        let (line, which) = self.find(target, &[]).await?;
        self.element(line.reference.as_deref().unwrap_or_default(), op, arg).await?;
        Ok(format!("{done} {}{which}", told(&line)))
    }

    async fn fill(&self, text: &str, target: Option<&Target>) -> Result<String, Failure> {
        let any = Target { roles: FIELDS.to_vec(), kind: Some("field"), ..Target::default() };
        let focused = "() => /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName) || document.activeElement?.isContentEditable === true";
        if target.is_none() && self.call("evaluate", json!({ "code": focused, "function": true })).await? == true {
            self.call("keyboard", json!({ "op": "type", "text": text })).await?;
            return Ok(format!("typed \"{text}\""));
        }
        let (line, which) = self.find(target.unwrap_or(&any), FIELDS).await?;
        self.element(line.reference.as_deref().unwrap_or_default(), "fill", text.into()).await?;
        Ok(format!("typed \"{text}\" into {}{which}", told(&line)))
    }

    async fn search(&self, text: &str) -> Result<String, Failure> {
        let roles = [&["searchbox"][..], FIELDS];
        let mut found = Err(Failure::new("there is no search box"));
        for roles in roles {
            let target = Target { roles: roles.to_vec(), kind: Some("search box"), ..Target::default() };
            found = self.find(&target, roles).await;
            if found.is_ok() {
                break;
            }
        }
        let (line, _) = found?;
        let reference = line.reference.as_deref().unwrap_or_default();
        self.element(reference, "fill", text.into()).await?;
        self.element(reference, "press", "Enter".into()).await?;
        Ok(self.and_where(&format!("searched for \"{text}\" in {}", told(&line))))
    }

    async fn select(&self, option: &str, target: Option<&Target>) -> Result<String, Failure> {
        let lists = ["combobox", "listbox"];
        let any = Target { roles: lists.to_vec(), kind: Some("list"), ..Target::default() };
        match self.find(target.unwrap_or(&any), &lists).await {
            Ok((line, which)) => {
                let reference = line.reference.as_deref().unwrap_or_default();
                self.element(reference, "select", json!([option])).await?;
                Ok(format!("selected \"{option}\" in {}{which}", told(&line)))
            }
            // Custom lists, radio buttons and tabs are clicked.
            Err(_) if target.is_none() => {
                self.click(&Target { name: Some(option.to_owned()), ..Target::default() }, 1).await
            }
            Err(missing) => Err(missing),
        }
    }

    async fn scroll(&self, way: &Way) -> Result<String, Failure> {
        let (told, by) = match way {
            Way::Up => ("scrolled up", "-innerHeight * 0.8"),
            Way::Down => ("scrolled down", "innerHeight * 0.8"),
            Way::Top => ("scrolled to the top", "-1e7"),
            Way::Bottom => ("scrolled to the bottom", "1e7"),
            Way::To(target) => return self.act(target, "scroll", Value::Null, "scrolled to").await,
        };
        let code = format!("() => {{ scrollBy({{ top: {by}, behavior: 'instant' }}); }}");
        self.call("evaluate", json!({ "code": code, "function": true })).await?;
        Ok(told.to_owned())
    }

    async fn step(&self, verb: &str) -> Result<String, Failure> {
        match self.call(verb, json!({})).await? {
            Value::Null => Err(Failure::new(format!("there is no page to go {verb} to"))),
            _ => Ok(format!("went {verb} to {}", self.hands.url()).replace("went reload to", "reloaded")),
        }
    }

    async fn read(&self, what: &What) -> Result<String, Failure> {
        let text = match what {
            What::Title => self.call("title", json!({})).await?,
            What::Url => self.hands.url().into(),
            What::Text => self.call("element", json!({ "steps": [{ "css": "body" }], "op": "inner_text" })).await?,
            What::Count(target) => self.matching(target, &[]).await?.len().to_string().into(),
            What::All(target) => {
                let lines = self.matching(target, &[]).await?;
                let names = lines.iter().map(|line| format!("- {}", line.name)).collect::<Vec<_>>();
                names.join("\n").into()
            }
            What::One(target) => {
                let (line, _) = self.find(target, &[]).await?;
                let op = if FIELDS.contains(&line.role.as_str()) { "value" } else { "inner_text" };
                self.element(line.reference.as_deref().unwrap_or_default(), op, Value::Null).await?
            }
        };
        Ok(text.as_str().unwrap_or_default().chars().take(MAX_READ).collect())
    }

    /// Returns the target element, and a note if it is the first of several. Waits for it to appear.
    async fn find(&self, target: &Target, roles: &[&str]) -> Result<(Line, String), Failure> {
        let until = self.by.min(Instant::now() + PATIENCE);
        loop {
            let lines = self.matching(target, roles).await?;
            let count = lines.len();
            let place = target.place.unwrap_or(0);
            let at = if place < 0 { count.checked_sub(place.unsigned_abs()) } else { Some(place.unsigned_abs()) };
            if let Some(line) = at.and_then(|at| lines.into_iter().nth(at)) {
                let which = if count > 1 && target.place.is_none() {
                    format!(" (the first of {count})")
                } else {
                    String::new()
                };
                return Ok((line, which));
            }
            if Instant::now() + Duration::from_millis(250) > until {
                return Err(self.missing(target).await);
            }
            sleep(Duration::from_millis(250)).await;
        }
    }

    /// Returns the best matches in page order. `roles` apply if the description names none.
    async fn matching(&self, target: &Target, roles: &[&str]) -> Result<Vec<Line>, Failure> {
        let lines = self.hands.snapshot(self.by).await?.lines;
        let will_do = |line: &Line| match (target.roles.as_slice(), roles) {
            ([], []) => line.is_active(),
            ([], roles) => roles.contains(&line.role.as_str()),
            (roles, _) => roles.contains(&line.role.as_str()),
        };
        let lines = lines.into_iter().filter(|line| line.reference.is_some() && will_do(line));
        let Some(name) = &target.name else { return Ok(lines.collect()) };
        let graded: Vec<_> =
            lines.map(|line| (grade(&line.name, name), line)).filter(|(grade, _)| *grade > 0).collect();
        let best = graded.iter().map(|(grade, _)| *grade).max().unwrap_or_default();
        Ok(graded.into_iter().filter(|(grade, _)| *grade == best).map(|(_, line)| line).collect())
    }

    async fn missing(&self, target: &Target) -> Failure {
        let same_kind = Target { name: None, place: None, ..target.clone() };
        let there = self.matching(&same_kind, &[]).await.unwrap_or_default();
        let names: Vec<_> = there.iter().filter(|line| !line.name.is_empty()).take(MAX_OFFERED).map(told).collect();
        let there = if names.is_empty() {
            "it has none of this kind".to_owned()
        } else {
            format!("it has: {}", names.join(", "))
        };
        Failure::new(format!("the page has no {}; {there}", target.told()))
    }
}

fn told(line: &Line) -> String {
    if line.name.is_empty() { format!("the {}", line.role) } else { format!("{} \"{}\"", line.role, line.name) }
}

/// Grades how well a name matches; 0 means no match.
fn grade(name: &str, wanted: &str) -> u8 {
    let plain = |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let (name, wanted) = (plain(name), plain(wanted));
    match () {
        () if wanted.is_empty() || name.is_empty() => 0,
        () if name == wanted => 4,
        () if name.starts_with(&wanted) => 3,
        () if name.contains(&wanted) => 2,
        () if wanted.split(' ').all(|word| name.contains(word)) => 1,
        () => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_graded() {
        let grades =
            ["Sign in", "Sign in now", "Please sign in", "in or sign", "other"].map(|name| grade(name, "sign IN"));
        assert_eq!(grades, [4, 3, 2, 1, 0]);
    }
}
