//! Energy of a dish.

/// Kilojoules of one kilocalorie.
const KJ: f64 = 4.184;

/// Finds the energy in a text, in kilocalories, and returns the text without it.
pub(super) fn calories(text: &str) -> Option<(f64, String)> {
    let (kcal, kj) = (
        find(text, &["kcal", "calories", "kalorien", "calorías", "calorie", "cals", "cal"]),
        find(text, &["kj", "kilojoules"]),
    );
    let amount = kcal.as_ref().map(|found| found.0).or(kj.as_ref().map(|found| (found.0 / KJ).round()))?;
    let mut rest = text.to_owned();
    let mut places: Vec<_> = [kcal, kj].into_iter().flatten().map(|found| found.1).collect();
    places.sort_by_key(|place| std::cmp::Reverse(place.start));
    places.into_iter().for_each(|place| rest.replace_range(place, ""));
    let is_rest = |c: char| c.is_whitespace() || matches!(c, '/' | '(' | ')' | '|' | ',' | '-' | '–' | '•' | '·' | '~');
    let is_empty = rest.trim_matches(is_rest).is_empty();
    Some((
        amount,
        if is_empty {
            String::new()
        } else {
            rest.replace("()", "").replace("(/)", "").trim_matches(['/', '|', ' ', '-', '–', '•', '·', ',']).to_owned()
        },
    ))
}

/// The first number with one of `units` behind it, and its place.
fn find(text: &str, units: &[&str]) -> Option<(f64, std::ops::Range<usize>)> {
    let mut from = 0;
    while let Some(number) = crate::money::next_number(text, from) {
        from = number.end;
        let after = text[number.end..].trim_start();
        let gap = text.len() - number.end - after.len();
        let word: String = after.chars().take_while(|c| c.is_alphabetic()).collect();
        let is_unit = units.contains(&word.to_lowercase().as_str());
        if let Some(amount) = Some(number.clone()).filter(|_| is_unit).and_then(|number| amount(&text[number])) {
            let dot = usize::from(after[word.len()..].starts_with('.'));
            return Some((amount, number.start..number.end + gap + word.len() + dot));
        }
    }
    None
}

fn amount(number: &str) -> Option<f64> {
    crate::money::amount(number, crate::money::Style::default(), None)
        .filter(|amount| (0.0..100_000.0).contains(amount))
}

/// Reads the energy of structured data: `540 kcal`, `540 calories`, `2260 kJ`, `540`.
pub(super) fn energy(text: &str) -> Option<f64> {
    let number = || text.trim().parse().ok().filter(|amount: &f64| (0.0..100_000.0).contains(amount));
    calories(text).map(|(amount, _)| amount).or_else(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energy_is_in_kilocalories() {
        let check =
            |text: &str, amount: f64, rest: &str| assert_eq!(calories(text), Some((amount, rest.to_owned())), "{text}");
        check("540 kcal", 540.0, "");
        check("(1,250 kcal)", 1250.0, "");
        check("Tomato, basil 540 Cal", 540.0, "Tomato, basil");
        check("2260 kJ", 540.0, "");
        check("2259 kJ / 540 kcal", 540.0, "");
        assert_eq!(calories("4 calamari"), None);
        assert_eq!(energy("540"), Some(540.0));
        assert_eq!(energy("2260 kJ"), Some(540.0));
    }
}
