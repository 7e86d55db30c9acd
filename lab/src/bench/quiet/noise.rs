//! Parts of a made page that rotate, and that no reader of changes wants to hear of.

use crate::random::Random;

/// Kinds of rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Time of the visit, to the second.
    Clock,
    /// Today's date; each check is a day later.
    Date,
    /// Number of visitors so far, which sometimes stands still.
    Visitors,
    /// Number of people who look at the page now.
    Watching,
    /// Row of a table whose number grows.
    Row,
    /// One of a few adverts, at random.
    Advert,
    /// The next of a few adverts.
    NextAdvert,
    /// One to three adverts of a few, each of several blocks.
    Adverts,
    /// Notice that is there at every other visit on average.
    Notice,
    /// Three of eight links, at random.
    Related,
    /// List of the same five entries in random order.
    Shuffled,
    /// Quotation out of many.
    Quote,
    /// Link with a token of the session.
    Session,
}

/// All kinds, with their names.
pub(crate) const KINDS: [(Kind, &str); 13] = [
    (Kind::Clock, "clock"),
    (Kind::Date, "date"),
    (Kind::Visitors, "visitors"),
    (Kind::Watching, "watching"),
    (Kind::Row, "row"),
    (Kind::Advert, "advert"),
    (Kind::NextAdvert, "next advert"),
    (Kind::Adverts, "adverts"),
    (Kind::Notice, "notice"),
    (Kind::Related, "related"),
    (Kind::Shuffled, "shuffled"),
    (Kind::Quote, "quote"),
    (Kind::Session, "session"),
];

/// Rotating part.
pub(crate) struct Noise {
    pub(crate) kind: Kind,
    /// Number that tells it from other parts of the kind.
    id: u64,
    /// Number of texts that it has.
    pool: u64,
    count: u64,
}

const OFFERS: [&str; 12] = [
    "Fly to Rome from 39 euros",
    "A boat of your own: ask us how",
    "New shoes for long walks, now with laces",
    "Figs, dates and nuts in one box",
    "Learn the cello in twelve evenings",
    "Insure your bicycle with one signature",
    "Ski in May, return in June",
    "Your garden deserves a better rake",
    "The quiet dishwasher is back",
    "Read the harbour gazette for a month",
    "A loan for the roof over your head",
    "Soap like the one your aunt made",
];

impl Noise {
    pub(crate) fn new(kind: Kind, random: &mut Random) -> Self {
        let pool = 4 + random.high() % 7;
        Self { kind, id: random.high() % 1000, pool, count: 10_000 + random.high() % 90_000 }
    }

    fn offer(&self, at: u64) -> String {
        format!("{} at no. {}", OFFERS[((self.id + at) % 12) as usize], self.id)
    }

    /// Returns the part as HTML, at the next visit.
    pub(crate) fn next(&mut self, check: u64, random: &mut Random) -> String {
        let id = self.id;
        match self.kind {
            Kind::Clock => {
                let (hour, minute, second) = (random.high() % 24, random.high() % 60, random.high() % 60);
                format!("<p class=t>Retrieved at {hour:02}:{minute:02}:{second:02} for desk {id}</p>")
            }
            Kind::Date => format!("<p>Today is day {} of the harbour calendar, desk {id}</p>", 100 + check),
            Kind::Visitors => {
                self.count += random.high() % 12;
                format!("<div>You are visitor number <b>{}</b> of counter {id}</div>", grouped(self.count))
            }
            Kind::Watching => format!("<p>{} people look at lot {id} right now</p>", 2 + random.high() % 40),
            Kind::Row => {
                self.count += 1 + random.high() % 90;
                let count = grouped(self.count);
                format!(
                    "<table><tr><th>Figure</th><th>Value</th></tr><tr><td>Berths</td><td>{id}</td></tr><tr><td>Downloads so far</td><td>{count}</td></tr></table>"
                )
            }
            Kind::Advert => {
                let offer = self.offer(random.high() % self.pool);
                format!("<div class=box><p>{offer}</p></div>")
            }
            Kind::NextAdvert => format!("<section><p>{}</p></section>", self.offer(check % self.pool)),
            Kind::Adverts => {
                let number = 1 + random.high() % 3;
                let one = |at: u64| {
                    let offer = self.offer(at);
                    format!("<h4>{offer}</h4><p>Only this week: {}.</p>", offer.to_lowercase())
                };
                (0..number).map(|_| one(random.high() % 4)).collect()
            }
            Kind::Notice => match random.high() % 2 {
                0 => String::new(),
                _ => format!("<p class=n>We use {id} cookies to remember your berth.</p>"),
            },
            Kind::Related => {
                let mut all: Vec<u64> = (0..8).collect();
                shuffle(&mut all, random);
                let links = all[..3]
                    .iter()
                    .map(|at| format!("<li><a href=/more/{id}-{at}>More about {}</a></li>", self.offer(*at)));
                format!("<ul>{}</ul>", links.collect::<String>())
            }
            Kind::Shuffled => {
                let mut all: Vec<u64> = (0..5).collect();
                shuffle(&mut all, random);
                let entries = all.iter().map(|at| format!("<li>Partner: {}</li>", self.offer(*at)));
                format!("<ul>{}</ul>", entries.collect::<String>())
            }
            Kind::Quote => {
                let (one, other) = (random.high() % 12, random.high() % 12);
                format!(
                    "<blockquote><p>{}, said number {one} to number {other}.</p></blockquote>",
                    self.offer(one * other)
                )
            }
            Kind::Session => {
                format!(
                    "<p>Keep this <a href=\"/again?berth={id}&token={:x}\">link to your visit</a></p>",
                    random.next()
                )
            }
        }
    }
}

/// Returns a number with commas between its thousands.
fn grouped(number: u64) -> String {
    format!("{},{:03}", number / 1000, number % 1000)
}

/// Shuffles numbers (Fisher and Yates).
fn shuffle(all: &mut [u64], random: &mut Random) {
    for at in (1..all.len()).rev() {
        all.swap(at, (random.high() % (at as u64 + 1)) as usize);
    }
}
