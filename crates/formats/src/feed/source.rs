//! A lenient reader for the elements of an XML document.

use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

/// Start or end of an element.
pub(super) enum Tag<'x> {
    Start(BytesStart<'x>),
    /// End tag, by its name without prefix.
    End(Vec<u8>),
}

/// Content of an element.
pub(super) struct Inner<'x> {
    /// Text with XML escapes decoded, that of nested elements included.
    pub(super) text: String,
    /// Source, if it contains elements.
    pub(super) markup: Option<&'x str>,
}

/// Reader for a document. A syntax error ends it; everything read before is kept.
pub(super) struct FeedReader<'x> {
    xml: &'x str,
    reader: Reader<&'x [u8]>,
    /// End tag of a container, found while an unclosed element in it was read.
    pending: Option<Vec<u8>>,
}

impl<'x> FeedReader<'x> {
    pub(super) fn new(xml: &'x str) -> Self {
        let mut reader = Reader::from_str(xml);
        let config = reader.config_mut();
        (config.check_end_names, config.allow_unmatched_ends) = (false, true);
        (config.allow_dangling_amp, config.expand_empty_elements) = (true, true);
        Self { xml, reader, pending: None }
    }

    /// Returns the next tag.
    pub(super) fn next(&mut self) -> Option<Tag<'x>> {
        if let Some(name) = self.pending.take() {
            return Some(Tag::End(name));
        }
        loop {
            match self.reader.read_event().ok()? {
                Event::Start(start) => return Some(Tag::Start(start)),
                Event::End(end) => return Some(Tag::End(end.local_name().as_ref().to_vec())),
                Event::Eof => return None,
                _ => {}
            }
        }
    }

    /// Reads the element that was started last up to its end tag, or to that of a container in `around` if it is
    /// unclosed.
    pub(super) fn inner(&mut self, start: &BytesStart<'_>, around: &[&[u8]]) -> Inner<'x> {
        let begin = self.position();
        let (mut text, mut open, mut has_elements) = (String::new(), 0_usize, false);
        let end = loop {
            let end = self.position();
            match self.reader.read_event() {
                Ok(Event::Text(piece)) => text.push_str(&piece.decode().unwrap_or_default()),
                Ok(Event::CData(piece)) => text.push_str(&piece.decode().unwrap_or_default()),
                Ok(Event::GeneralRef(reference)) => push_reference(&mut text, &reference),
                Ok(Event::Start(child)) => {
                    has_elements = true;
                    open += usize::from(child.name() == start.name());
                }
                Ok(Event::End(closed)) if closed.name() == start.name() => {
                    if open == 0 {
                        break end;
                    }
                    open -= 1;
                }
                Ok(Event::End(closed)) if around.contains(&closed.local_name().as_ref()) => {
                    self.pending = Some(closed.local_name().as_ref().to_vec());
                    break end;
                }
                Ok(Event::Eof) | Err(_) => break end,
                Ok(_) => {}
            }
        };
        Inner { text, markup: self.xml.get(begin..end).filter(|_| has_elements) }
    }

    fn position(&self) -> usize {
        usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX)
    }
}

/// Returns the value of an attribute by its name without prefix.
pub(super) fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = start.attributes();
    let found = attributes
        .with_checks(false)
        .flatten()
        .find(|attribute| attribute.key.local_name().as_ref() == name.as_bytes())?;
    let value = found.decoded_and_normalized_value(XmlVersion::Implicit1_0, start.decoder());
    // A value with a bare ampersand cannot be decoded; it is used as written.
    Some(value.map_or_else(|_| String::from_utf8_lossy(&found.value).into_owned(), std::borrow::Cow::into_owned))
}

/// Appends the character of a reference. HTML references unknown to XML are kept as written.
fn push_reference(text: &mut String, reference: &BytesRef<'_>) {
    if let Ok(Some(c)) = reference.resolve_char_ref() {
        text.push(c);
        return;
    }
    let name = reference.decode().unwrap_or_default();
    match &*name {
        "lt" => text.push('<'),
        "gt" => text.push('>'),
        "amp" => text.push('&'),
        "quot" => text.push('"'),
        "apos" => text.push('\''),
        other => text.extend(["&", other, ";"]),
    }
}
