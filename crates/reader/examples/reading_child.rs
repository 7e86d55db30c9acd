//! A child process whose text recognition does what the image says, for tests: `3 2=crash` is an image of three pages,
//! of which the second crashes the child.

use std::fs::File;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use documents::{Kind, Recognise, RecogniseError, RecognisedPage, RecognisedWord, Rect};
use reader::Eyes;

fn main() -> ExitCode {
    children::run([reader::role(Some(|_| Ok(Box::new(Obedient))))]).unwrap_or(ExitCode::FAILURE)
}

struct Obedient;

struct Orders<'a>(&'a str);

impl Eyes for Obedient {
    fn languages(&self) -> Vec<String> {
        vec!["eng".to_owned()]
    }

    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn count(&mut self, file: &[u8], _: Kind) -> Result<u32, RecogniseError> {
        let orders = text(file);
        match orders.split(' ').next().unwrap_or_default().parse() {
            Ok(count) => Ok(count),
            Err(_) => obey(orders).map(|_| 1),
        }
    }

    fn open<'a>(&'a mut self, file: &'a [u8], kind: Kind) -> Result<Box<dyn Recognise + 'a>, RecogniseError> {
        Ok(Box::new(Orders(if kind == Kind::Pdf { "" } else { text(file) })))
    }
}

impl Recognise for Orders<'_> {
    fn page(&mut self, number: u32) -> Result<RecognisedPage, RecogniseError> {
        let mark = format!("{number}=");
        let order = self.0.split(' ').find_map(|order| order.strip_prefix(&mark));
        let words = match order {
            Some(order) => obey(order)?,
            // Later pages are ready before the first ones.
            None => {
                std::thread::sleep(Duration::from_millis(40 / u64::from(number)));
                format!("page{number}")
            }
        };
        Ok(page(&words))
    }
}

fn text(file: &[u8]) -> &str {
    std::str::from_utf8(file).unwrap_or_default().trim()
}

fn obey(order: &str) -> Result<String, RecogniseError> {
    match order {
        "hang" => loop {
            std::hint::spin_loop();
        },
        "crash" => std::process::abort(),
        "eat" => {
            let mut eaten = Vec::new();
            loop {
                eaten.push(vec![1_u8; 1 << 20]);
            }
        }
        "panic" => std::panic::panic_any("words of the document"),
        "try" => Ok(try_everything().join("-")),
        _ => Err(RecogniseError::Failed("it is no picture".to_owned())),
    }
}

/// Tries what the sandbox must prevent, after one thing that works.
fn try_everything() -> Vec<&'static str> {
    let listening = ["127.0.0.1:1", "127.0.0.1:22"];
    let tries: [(&str, bool); 8] = [
        ("tried", true),
        ("passwd", File::open("/etc/passwd").is_ok()),
        ("proc", std::fs::read_dir("/proc").is_ok()),
        ("file", File::create("/tmp/quarry-reader-was-here").is_ok()),
        ("program", Command::new("/bin/true").spawn().is_ok()),
        ("listen", TcpListener::bind("127.0.0.1:0").is_ok()),
        ("connect", listening.iter().any(|address| is_let_out(address))),
        ("datagram", UdpSocket::bind("127.0.0.1:0").is_ok()),
    ];
    tries.into_iter().filter(|(_, worked)| *worked).map(|(name, _)| name).collect()
}

/// Whether a connection left the sandbox; one refused by the other side did.
fn is_let_out(address: &str) -> bool {
    let error = TcpStream::connect(address).err();
    error.is_none_or(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
}

fn page(words: &str) -> RecognisedPage {
    let place = |x0: f32| Rect { x0, y0: 100.0, x1: x0 + 60.0, y1: 110.0 };
    let word = |(text, x0): (&str, f32)| RecognisedWord {
        text: text.to_owned(),
        rect: place(x0),
        baseline: 110.0,
        size: 10.0,
        weight: 0.0,
        confidence: 0.9,
        line: 0,
        block: 0,
    };
    let words = [(words, 72.0), ("stands", 140.0), ("here", 208.0)].map(word);
    RecognisedPage { width: 612.0, height: 792.0, words: words.into(), ..RecognisedPage::default() }
}
