//! Lexical features of a block: stock phrases of the web, similarity to the page's title and description, repetitions.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use base::Fnv;
use page::Page;

use super::facts::Facts;
use super::outline::Outline;

/// Lexical features of a block. Shares are of its first words, from 0 to 1.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wording {
    /// Share of stock words: share, subscribe, cookies, related, sign in …
    pub(crate) stock: f32,
    /// Share of words that are also in the page's title.
    pub(crate) like_title: f32,
    /// Share of words that are also in the page's description.
    pub(crate) like_description: f32,
    /// Number of earlier blocks with the same words.
    pub(crate) repeats: u8,
    /// Whether the block is at least a sentence, and an earlier block has the same text.
    pub(crate) is_copy: bool,
    pub(crate) topic: Topic,
}

/// Topic that a few words announce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Topic {
    #[default]
    Other,
    /// `12 comments`
    Comments,
    /// `Read more`
    Related,
    /// `Reply`
    Reply,
}

/// Number of words of a block that are read.
const COMPARED: usize = 14;
/// Limit on the words of a block that can announce a topic.
const FEW: u32 = 7;
/// Least words of a block that equals another one not by chance.
const SENTENCE: u32 = 6;
/// Limit on the words of a block that is compared with stock phrases, the title and other blocks.
const SHORT: u32 = 30;

/// Returns the lexical features of all blocks.
pub(crate) fn wordings(page: &Page, outline: &Outline, facts: &Facts) -> Vec<Wording> {
    let (title, description) = (hashes(&facts.title), hashes(&facts.description));
    let mut seen: HashMap<u64, u8> = HashMap::new();
    let mut sentences: HashSet<(u64, u32, u32)> = HashSet::new();
    let mut reader = Reader::default();
    let mut found = Vec::with_capacity(outline.blocks.len());
    for block in &outline.blocks {
        let short = block.text.words <= SHORT;
        reader.read(page, &outline.texts[block.texts.clone()]);
        let part = |hits: usize| hits as f32 / reader.words.len().max(1) as f32;
        let hits = |list: &[u64]| part(reader.words.iter().filter(|word| list.binary_search(word).is_ok()).count());
        let mut wording = Wording { like_description: hits(&description), ..Wording::default() };
        let (words, letters) = (block.text.words, block.text.letters);
        wording.is_copy = words >= SENTENCE && !sentences.insert((reader.hash, words, letters));
        if short {
            let times = seen.entry(reader.hash).or_default();
            wording.repeats = *times;
            *times = times.saturating_add(1);
            wording.stock = part(reader.stock);
            wording.like_title = hits(&title);
            wording.topic = if block.text.words <= FEW { reader.topic } else { Topic::Other };
        }
        found.push(wording);
    }
    found
}

/// Reader for the first words of a block; its buffers are reused for all blocks.
#[derive(Default)]
struct Reader {
    text: String,
    lower: String,
    words: Vec<u64>,
    hash: u64,
    stock: usize,
    topic: Topic,
}

impl Reader {
    fn read(&mut self, page: &Page, texts: &[usize]) {
        self.words.clear();
        (self.hash, self.stock, self.topic) = (0, 0, Topic::Other);
        self.text.clear();
        for text in texts.iter().filter_map(|&index| page.text(index)) {
            self.text.push_str(text);
            if self.text.len() > ENOUGH {
                break;
            }
        }
        for word in split(&self.text).take(COMPARED) {
            self.lower.clear();
            if word.is_ascii() {
                self.lower.push_str(word);
                self.lower.make_ascii_lowercase();
            } else {
                self.lower.extend(word.chars().flat_map(char::to_lowercase));
            }
            let hash = hash(&self.lower);
            if let Some(mark) = MARKS.get(&hash) {
                self.stock += usize::from(mark.is_stock);
                self.topic = mark.topic.unwrap_or(self.topic);
            }
            self.words.push(hash);
            // The rotation makes the hash depend on the order of the words.
            self.hash = self.hash.rotate_left(7) ^ hash;
        }
    }
}

/// Bytes of text that practically always contain [`COMPARED`] words.
const ENOUGH: usize = 400;

/// Returns the hashes of all words, sorted for binary search.
fn hashes(text: &str) -> Vec<u64> {
    let mut hashes: Vec<u64> = split(text).map(|word| hash(&word.to_lowercase())).collect();
    hashes.sort_unstable();
    hashes
}

fn hash(word: &str) -> u64 {
    Fnv::default().with(word.as_bytes()).value()
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Meaning of a single word.
#[derive(Default)]
struct Mark {
    is_stock: bool,
    topic: Option<Topic>,
}

/// A hasher for keys that are hashes already. Not safe against collisions by untrusted input, so only for a table with
/// constant keys.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = Fnv::default().with(bytes).value();
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

type Marks = HashMap<u64, Mark, BuildHasherDefault<IdentityHasher>>;

/// [`STOCK`] and [`TOPICS`] by the hash of the word, which the reader computes anyway.
static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    let mut marks = Marks::default();
    for word in STOCK {
        marks.entry(hash(word)).or_default().is_stock = true;
    }
    for (word, topic) in TOPICS {
        marks.entry(hash(word)).or_default().topic = Some(topic);
    }
    marks
});

/// Words of phrases common to all kinds of pages, in the most frequent languages of the web; sorted.
#[rustfmt::skip]
const STOCK: [&str; 297] = [
    "abo", "abonner", "abonnieren", "about", "account", "accueil", "acheter", "ad", "add", "ads", "advertisement",
    "agb", "ago", "all", "alle", "am", "anmelden", "antworten", "anzeige", "apr", "april", "articles", "articoli",
    "auch", "aug", "august", "aussi", "author", "aviso", "back", "basket", "bild", "buscar", "buy", "by", "carrito",
    "cart", "categories", "category", "checkout", "click", "close", "comentar", "comentarios", "comment",
    "commentaire", "commentaires", "commenti", "comments", "compare", "compartir", "comprar", "conditions",
    "condividi", "connexion", "contact", "continue", "cookie", "cookies", "copy", "copyright", "credit",
    "datenschutz", "days", "dec", "december", "delivery", "deutsch", "dezember", "disclaimer", "discover", "disqus",
    "donate", "downvote", "drucken", "editor", "email", "english", "eur", "explore", "facebook", "faq", "featured",
    "feb", "februar", "february", "feed", "filed", "filter", "flag", "folgen", "follow", "followers", "foto", "free",
    "gdpr", "gesponsert", "getty", "gmbh", "help", "here", "home", "hours", "images", "impressum", "imprimer",
    "imprint", "inc", "inicio", "inscrire", "instagram", "iscriviti", "jan", "januar", "january", "jul", "juli",
    "july", "jun", "june", "juni", "kaufen", "kommentar", "kommentare", "kontakt", "language", "latest", "learn",
    "leave", "legal", "lesen", "lesetipps", "like", "likes", "link", "linkedin", "lire", "livraison", "llc", "load",
    "log", "login", "ltd", "légales", "mai", "main", "mar", "march", "mehr", "meistgelesen", "mentions", "menu",
    "min", "minutes", "moderator", "more", "más", "märz", "nachrichten", "navigation", "newer", "newsletter", "next",
    "noticias", "nov", "november", "oct", "october", "off", "oktober", "older", "open", "page", "pages", "panier",
    "par", "partager", "password", "photo", "pinterest", "plus", "policy", "popular", "por", "posted", "posts",
    "preis", "prev", "previous", "price", "print", "privacidad", "privacy", "publicidad", "publicité", "published",
    "qty", "quantity", "quelle", "rating", "ratings", "read", "recent", "recherche", "recommended", "reddit",
    "register", "registrieren", "regular", "relacionados", "related", "replies", "reply", "report", "reporter",
    "reserved", "respond", "reviews", "rights", "rss", "répondre", "sale", "says_byline", "says_comment",
    "says_legal", "says_more", "says_navigate", "says_related", "says_share", "says_shop", "says_signup", "schreiben",
    "search", "see", "seguir", "sep", "september", "share", "shipping", "show", "sign", "signup", "similar",
    "sitemap", "skip", "sku", "sort", "source", "sponsored", "staff", "stars", "startseite", "stock", "stories",
    "subscribe", "suche", "suggested", "suite", "suivre", "suscribirse", "tag", "tags", "teilen", "telegram", "terms",
    "tiktok", "toggle", "top", "trademark", "trademarks", "trending", "trial", "tutti", "tweet", "twitter", "uhr",
    "under", "unlock", "updated", "upvote", "usd", "username", "versand", "view", "von", "warenkorb", "weiter",
    "weitere", "weiterlesen", "werbung", "whatsapp", "wishlist", "written", "youtube", "zeigen", "zurück", "ähnliche",
];

/// Words that announce comments, related pages, or a reply to a comment; sorted.
#[rustfmt::skip]
const TOPICS: [(&str, Topic); 101] = [
    ("also", Topic::Related), ("antworten", Topic::Reply), ("articles", Topic::Related), ("articoli", Topic::Related),
    ("artikel", Topic::Related), ("auch", Topic::Related), ("aussi", Topic::Related), ("beantwoorden", Topic::Reply),
    ("comentario", Topic::Comments), ("comentarios", Topic::Comments), ("comment", Topic::Comments),
    ("commentaire", Topic::Comments), ("commentaires", Topic::Comments), ("commenti", Topic::Comments),
    ("commento", Topic::Comments), ("comments", Topic::Comments), ("continue", Topic::Related),
    ("correlati", Topic::Related), ("debate", Topic::Comments), ("discusión", Topic::Comments),
    ("discuss", Topic::Comments), ("discussion", Topic::Comments), ("diskussion", Topic::Comments),
    ("downvote", Topic::Reply), ("flag", Topic::Reply), ("gefällt", Topic::Reply), ("komentarze", Topic::Comments),
    ("kommentar", Topic::Comments), ("kommentare", Topic::Comments), ("kommentarer", Topic::Comments),
    ("latest", Topic::Related), ("lees", Topic::Related), ("leggi", Topic::Related), ("leia", Topic::Related),
    ("leserbriefe", Topic::Comments), ("leserkommentare", Topic::Comments), ("like", Topic::Reply),
    ("likes", Topic::Reply), ("lire", Topic::Related), ("mais", Topic::Related), ("mehr", Topic::Related),
    ("meinungen", Topic::Comments), ("meistgelesen", Topic::Related), ("melden", Topic::Reply),
    ("more", Topic::Related), ("más", Topic::Related), ("newer", Topic::Related), ("next", Topic::Related),
    ("noticias", Topic::Related), ("odpowiedz", Topic::Reply), ("older", Topic::Related), ("opinie", Topic::Comments),
    ("permalink", Topic::Reply), ("plus", Topic::Related), ("popular", Topic::Related), ("previous", Topic::Related),
    ("quote", Topic::Reply), ("reacties", Topic::Comments), ("reactions", Topic::Comments), ("read", Topic::Related),
    ("recent", Topic::Related), ("recommend", Topic::Related), ("recommended", Topic::Related),
    ("relacionadas", Topic::Related), ("relacionados", Topic::Related), ("related", Topic::Related),
    ("replies", Topic::Comments), ("reply", Topic::Reply), ("report", Topic::Reply), ("responder", Topic::Reply),
    ("responses", Topic::Comments), ("rispondi", Topic::Reply), ("répondre", Topic::Reply),
    ("similar", Topic::Related), ("stories", Topic::Related), ("suite", Topic::Related),
    ("thoughts", Topic::Comments), ("trending", Topic::Related), ("upvote", Topic::Reply),
    ("verwandte", Topic::Related), ("weitere", Topic::Related), ("weiterlesen", Topic::Related),
    ("yanıtla", Topic::Reply), ("yorum", Topic::Comments), ("yorumlar", Topic::Comments),
    ("yorumlari", Topic::Comments), ("zitieren", Topic::Reply), ("zobacz", Topic::Related),
    ("ähnliche", Topic::Related), ("également", Topic::Related), ("ещё", Topic::Related),
    ("комментариев", Topic::Comments), ("комментарии", Topic::Comments), ("комментария", Topic::Comments),
    ("ответить", Topic::Reply), ("читайте", Topic::Related), ("コメント", Topic::Comments), ("回复", Topic::Reply),
    ("留言", Topic::Comments), ("评论", Topic::Comments), ("返信", Topic::Reply),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stock_words_are_sorted() {
        assert!(STOCK.is_sorted());
        assert_eq!(STOCK.map(str::to_lowercase), STOCK);
        assert!(TOPICS.is_sorted_by(|a, b| a.0 < b.0));
        let topics = TOPICS.iter().filter(|(word, _)| !STOCK.contains(word)).count();
        assert_eq!(MARKS.len(), STOCK.len() + topics, "no two words have the same hash");
    }
}
