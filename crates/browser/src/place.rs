//! Countries that a visitor can appear to be in.

use std::sync::LazyLock;

/// Table of all countries; its first lines tell where the columns come from.
const TABLE: &str = include_str!("place.tsv");

/// All countries, sorted by code.
static PLACES: LazyLock<Vec<Place>> = LazyLock::new(|| rows().filter_map(Place::read).collect());

/// Country for unknown codes.
const US: Place =
    Place { code: "US", timezone: "America/New_York", latitude: 38.90, longitude: -77.04, languages: "en-US" };

/// Time zone, coordinates and languages of a country.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Place {
    /// ISO 3166-1 alpha-2 code.
    code: &'static str,
    /// IANA name of the time zone of the capital.
    pub(crate) timezone: &'static str,
    /// Latitude of the capital, in degrees.
    pub(crate) latitude: f64,
    /// Longitude of the capital, in degrees.
    pub(crate) longitude: f64,
    /// BCP 47 tags, most used first, separated by spaces.
    languages: &'static str,
}

impl Place {
    /// Returns the country with an ISO 3166-1 alpha-2 code; the United States if the code is unknown.
    pub(crate) fn of(country: &str) -> Self {
        let found = PLACES.binary_search_by(|place| place.code.cmp(country));
        found.ok().and_then(|at| PLACES.get(at)).copied().unwrap_or(US)
    }

    /// Returns the languages that a browser there requests: those of the country, then English.
    pub(crate) fn languages(&self) -> impl Iterator<Item = &'static str> {
        self.languages.split(' ').chain(["en-US"])
    }

    /// Parses a row of the table.
    fn read(row: &'static str) -> Option<Self> {
        let mut cells = row.split('\t');
        let (code, timezone) = (cells.next()?, cells.next()?);
        let (latitude, longitude) = (cells.next()?.parse().ok()?, cells.next()?.parse().ok()?);
        let languages = cells.next()?;
        cells.next().is_none().then_some(Self { code, timezone, latitude, longitude, languages })
    }
}

/// Returns the rows of the table, without its comments.
fn rows() -> impl Iterator<Item = &'static str> {
    TABLE.lines().filter(|line| !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_language(tag: &str) -> bool {
        tag.split_once('-').is_some_and(|(language, region)| {
            matches!(language.len(), 2 | 3)
                && language.bytes().all(|byte| byte.is_ascii_lowercase())
                && region.len() == 2
                && region.bytes().all(|byte| byte.is_ascii_uppercase())
        })
    }

    #[test]
    fn each_row_is_a_plausible_country() {
        for row in rows() {
            let place = Place::read(row).unwrap_or_else(|| panic!("{row:?}"));
            assert!(place.code.len() == 2 && place.code.bytes().all(|byte| byte.is_ascii_uppercase()), "{row}");
            assert!(place.timezone.contains('/') && !place.timezone.contains(' '), "{row}");
            assert!(place.latitude.abs() <= 90.0 && place.longitude.abs() <= 180.0, "{row}");
            assert!(place.languages.split(' ').all(is_language), "{row}");
            assert_eq!(Place::of(place.code), place, "{row}");
        }
        assert!(PLACES.windows(2).all(|pair| pair[0].code < pair[1].code));
        assert_eq!(PLACES.len(), 250);
    }

    #[test]
    fn unknown_countries_are_the_united_states() {
        assert_eq!((Place::of("ZZ"), Place::of("US"), Place::of("")), (US, US, US));
        let germany = Place::of("DE");
        assert_eq!(
            (germany.timezone, germany.languages().collect::<Vec<_>>()),
            ("Europe/Berlin", vec!["de-DE", "en-US"])
        );
    }
}
