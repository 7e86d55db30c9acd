//! Blocks that change again and again.

use base::Stop;
use change_diff::{History, Status, canonical, compare, unified};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

/// Page that is checked again and again.
struct Checked {
    history: History,
    last: String,
}

impl Checked {
    fn new(first: &str) -> Self {
        Self { history: History::default(), last: first.to_owned() }
    }

    /// Returns the diff that a check shows; empty if the page is the same.
    fn check(&mut self, page: &str) -> String {
        let review = self.history.review(&self.last, page, &Stop::new()).unwrap();
        // What a database keeps of it.
        let kept = serde_json::to_string(&review.history).unwrap();
        assert!(kept.len() < 60_000, "{}", kept.len());
        self.history = serde_json::from_str(&kept).unwrap();
        assert_eq!(self.history, review.history);
        page.clone_into(&mut self.last);
        let diff = unified(&review.previous, &review.current, &Stop::new()).unwrap();
        assert_eq!(diff.is_empty(), compare(&review.previous, &review.current) == Status::Same);
        diff
    }

    /// Returns which of the pages are told, as `!`, and which are not, as `.`.
    fn told(&mut self, pages: impl IntoIterator<Item = String>) -> String {
        pages.into_iter().map(|page| if self.check(&page).is_empty() { '.' } else { '!' }).collect()
    }
}

/// Returns a page with an advert between two parts.
fn page(advert: &str, price: u32) -> String {
    let advert = if advert.is_empty() { String::new() } else { format!("{advert}\n\n") };
    format!(
        "# Tea\n\nLeaves from the hills, sold by weight.\n\n{advert}| Sort | Price |\n| --- | --- |\n| Assam | {price} |\n| Ceylon | 9 |\n"
    )
}

#[test]
fn an_advert_tells_twice_and_a_price_always() {
    let mut checked = Checked::new(&page("Fly to Rome", 12));
    let adverts = ["Buy a boat", "New shoes", "Fly to Rome", "Eat more figs", "Buy a boat"];
    assert_eq!(checked.told(adverts.map(|advert| page(advert, 12))), "!!...");
    assert_eq!(checked.history.volatile().collect::<Vec<_>>(), ["Buy a boat"]);
    let diff = checked.check(&page("Ski in May", 13));
    assert!(diff.contains("+| Assam | 13 |") && !diff.contains("Ski") && !diff.contains("boat"), "{diff}");
}

#[test]
fn an_advert_that_comes_and_goes_is_learnt_too() {
    let mut checked = Checked::new(&page("Fly to Rome", 12));
    let adverts = ["", "Fly to Rome", "", "Fly to Rome", "", "Fly to Rome"];
    assert_eq!(checked.told(adverts.map(|advert| page(advert, 12))), "!!....");
    let diff = checked.check(&page("We close in June.", 12));
    assert!(diff.is_empty(), "in the place of the advert: {diff}");
    let mut gone = Checked::new(&page("Fly to Rome", 12));
    gone.told(["", "Fly to Rome", "", "Fly to Rome", ""].map(|advert| page(advert, 12)));
    assert!(
        gone.check(&page("We close in June.", 12)).contains("+We close in June."),
        "no advert that was there before"
    );
}

#[test]
fn a_block_that_is_quiet_again_tells_again() {
    let mut checked = Checked::new(&page("1", 12));
    assert_eq!(checked.told(["2", "3", "4", "5"].map(|count| page(count, 12))), "!!..");
    for rests in 0..7 {
        assert!(checked.history.volatile().next().is_some(), "{rests}");
        checked.history = checked.history.rest();
    }
    checked.history = checked.history.rest();
    assert!(checked.history.is_empty());
    assert_eq!(checked.told([page("6", 12)]), "!");
}

#[test]
fn content_that_never_came_counts_in_a_place_that_always_has_the_same() {
    let mut checked = Checked::new(&page("We use cookies.", 12));
    let notice = |check: u32| page(if check.is_multiple_of(2) { "We use cookies." } else { "" }, 12);
    assert_eq!(checked.told((1..41).map(notice)), format!("!!{}", ".".repeat(38)));
    assert!(checked.check(&page("We close in June.", 12)).contains("+We close in June."));
}

#[test]
fn one_of_several_adverts_is_no_news_and_another_block_beside_them_is() {
    let adverts =
        ["- Fly to Rome now", "- Buy a boat now", "- New shoes now", "- Ski in May now", "- Eat more figs now"];
    let three = |check: usize| page(&[check * 2, check * 3 + 1, check + 4].map(|at| adverts[at % 5]).join("\n"), 12);
    let mut checked = Checked::new(&three(0));
    let told = checked.told((1..30).map(three));
    assert!(told.ends_with(&".".repeat(20)), "{told}");
    let beside = format!("{}\n\nWe close in June.", [1, 3, 2].map(|at| adverts[at]).join("\n"));
    assert!(checked.check(&page(&beside, 12)).contains("+We close in June."));
    // What was told as another block is no advert later either.
    assert_eq!(checked.told([page(&beside.replace("close in June", "open in July"), 12)]), "!");
}

#[test]
fn a_new_block_beside_a_volatile_one_is_shown() {
    let mut checked = Checked::new(&page("Fly to Rome", 12));
    checked.told(["Buy a boat", "New shoes", "Eat more figs"].map(|advert| page(advert, 12)));
    for new in ["We close in June.\n\nSki in May", "Ski in May\n\nWe close in June."] {
        let mut beside = Checked { history: checked.history.clone(), last: checked.last.clone() };
        assert!(beside.check(&page(new, 12)).contains("+We close in June."), "{new}");
    }
}

#[test]
fn a_list_in_random_order_still_tells_other_content() {
    let list = |items: [&str; 4]| format!("# Shops\n\n- {}\n", items.join("\n- "));
    let mut checked = Checked::new(&list(["Rome", "Oslo", "Bern", "Kyiv"]));
    let orders = [
        ["Bern", "Rome", "Kyiv", "Oslo"],
        ["Kyiv", "Oslo", "Rome", "Bern"],
        ["Rome", "Bern", "Oslo", "Kyiv"],
        ["Oslo", "Kyiv", "Bern", "Rome"],
        ["Bern", "Oslo", "Kyiv", "Rome"],
        ["Rome", "Kyiv", "Oslo", "Bern"],
        ["Kyiv", "Bern", "Rome", "Oslo"],
        ["Oslo", "Rome", "Kyiv", "Bern"],
        ["Bern", "Kyiv", "Oslo", "Rome"],
        ["Rome", "Oslo", "Bern", "Kyiv"],
    ];
    let told = checked.told(orders.map(list));
    assert!(told.ends_with("...."), "{told}");
}

#[test]
fn news_that_come_in_at_the_top_are_told_each_time() {
    let news = |last: u32| {
        let items: Vec<String> = (last..last + 5).rev().map(|number| format!("- Report {}", word(number))).collect();
        format!("# News\n\n{}\n", items.join("\n"))
    };
    let mut checked = Checked::new(&news(0));
    assert_eq!(checked.told((1..12).map(news)), "!!!!!!!!!!!");
}

/// Returns a word without digits for a number.
fn word(number: u32) -> String {
    format!("{number:b}").replace('0', "ba").replace('1', "do")
}

#[test]
fn a_history_survives_other_options() {
    let mut checked = Checked::new(&page("Fly to Rome", 12));
    checked.told(["Buy a boat", "New shoes", "Eat more figs"].map(|advert| page(advert, 12)));
    // The same version, made with other options.
    checked.last = format!("Home\n\nShop\n\n{}", checked.last);
    assert_eq!(checked.told([format!("Home\n\nShop\n\n{}", page("Ski in May", 12))]), ".");
    assert_eq!(checked.told([format!("Home\n\nCart\n\n{}", page("Ski in May", 12))]), "!");
}

#[test]
fn a_long_page_is_bounded() {
    let long =
        |seed: u32| (0..3000).map(|line| format!("Line {line} of {}\n\n", word(seed * line))).collect::<String>();
    let mut checked = Checked::new(&long(1));
    assert_eq!(checked.told((2..6).map(long)).len(), 4);
    let stopped = Stop::new();
    stopped.set();
    assert!(checked.history.review(&long(1), &long(7), &stopped).is_err());
}

/// Contents of volatile blocks.
const NOISE: [&str; 8] =
    ["Fly to Rome", "Buy a boat", "- New shoes", "| Figs |", "## Sale", "12:30", "> Quote", "Ski in May"];

/// Page of paragraphs that stay, with other blocks between them.
fn noisy(stays: &[String], noise: &[&str]) -> String {
    let noise = noise.iter().copied().chain(std::iter::repeat(""));
    stays.iter().zip(noise).map(|(stay, noise)| format!("{stay}\n\n{noise}\n\n")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn without_a_history_nothing_is_left_out(one in prop::collection::vec(select(&NOISE[..]), 0..9), other in prop::collection::vec(select(&NOISE[..]), 0..9)) {
        let (one, other) = (one.join("\n\n"), other.join("\n\n"));
        let review = History::default().review(&one, &other, &Stop::new()).unwrap();
        prop_assert_eq!(review.previous, canonical(&one));
        prop_assert_eq!(review.current, canonical(&other));
    }

    #[test]
    fn a_block_that_has_never_changed_is_always_told(
        rounds in prop::collection::vec(prop::collection::vec(select(&NOISE[..]), 0..5), 1..12),
        at in 0..5_usize,
        kind in 0..3_u8,
    ) {
        let mut stays: Vec<String> = (0..5).map(|number| format!("Paragraph {} that stays as it is.", word(number))).collect();
        let mut checked = Checked::new(&noisy(&stays, &[]));
        for noise in &rounds {
            checked.check(&noisy(&stays, noise));
        }
        let expect = match kind {
            0 => {
                stays[at] = stays[at].replace("stays", "leaves");
                format!("+{}", stays[at])
            }
            1 => {
                stays[at] = "Something else altogether".to_owned();
                format!("+{}", stays[at])
            }
            _ => format!("-{}", stays.remove(at)),
        };
        let noise = rounds.last().unwrap();
        let diff = checked.check(&noisy(&stays, noise));
        prop_assert!(diff.contains(&expect), "{}\n{}", expect, diff);
    }
}
