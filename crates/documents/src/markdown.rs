//! Markdown output, with the position of every block.

use crate::html::table_html;
use crate::model::{Block, Content, Document, Inline, Item, Page, Span, Table};
use crate::sequence::sequence;

/// Options of the markdown output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MarkdownOptions {
    /// Whether page boundaries are marked.
    pub page_markers: bool,
}

/// Markdown and the positions of its blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Markdown {
    /// Markdown text.
    pub text: String,
    /// Position of each block of each page, `[start, end)` in characters; `None` for blocks that are not in the text.
    pub spans: Vec<Vec<Option<[u64; 2]>>>,
}

/// Writes a document as GitHub-flavoured markdown; tables with spans as HTML.
#[must_use]
pub fn markdown(document: &Document, options: &MarkdownOptions) -> Markdown {
    let mut writer = Writer::default();
    let mut spans: Vec<Vec<_>> = document.pages.iter().map(|page| vec![None; page.blocks.len()]).collect();
    let mut marked = 0;
    for (page, block) in sequence(document, options.page_markers) {
        for later in document.pages.iter().take(page + 1).skip(marked + 1).filter(|_| options.page_markers) {
            writer.marker(later.number);
        }
        marked = marked.max(page);
        spans[page][block] = writer.block(&document.pages[page].blocks[block]);
    }
    for later in document.pages.iter().skip(marked + 1).filter(|_| options.page_markers) {
        writer.marker(later.number);
    }
    Markdown { text: writer.out, spans }
}

/// Writes one page as markdown.
#[must_use]
pub fn page_markdown(page: &Page) -> String {
    let mut writer = Writer::default();
    for block in &page.blocks {
        writer.block(block);
    }
    writer.out
}

#[derive(Default)]
struct Writer {
    out: String,
    characters: u64,
    /// Whether a page marker precedes the next block, so that it needs no separator.
    marked: bool,
}

impl Writer {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
        self.characters += text.chars().count() as u64;
    }

    fn marker(&mut self, page: u32) {
        self.push(&format!("\n\n---\n\n<!-- page {page} -->\n\n"));
        self.marked = true;
    }

    fn block(&mut self, block: &Block) -> Option<[u64; 2]> {
        if block.repeated {
            return None;
        }
        let text = block_markdown(block);
        if text.is_empty() {
            return None;
        }
        if !self.out.is_empty() && !self.marked {
            self.push("\n\n");
        }
        self.marked = false;
        let start = self.characters;
        self.push(&text);
        Some([start, self.characters])
    }
}

/// Returns the markdown of one block.
#[must_use]
pub fn block_markdown(block: &Block) -> String {
    match &block.content {
        Content::Heading(level, inline) => {
            let text = inline_markdown(inline).replace('\n', " ");
            format!("{} {}", "#".repeat(usize::from(*level).clamp(1, 6)), text.trim())
        }
        Content::Paragraph(inline) => escaped_start(inline_markdown(inline).trim()),
        Content::Note(note) => {
            format!("[^{}]: {}", note.label, inline_markdown(&note.text).replace('\n', " ").trim())
        }
        Content::List(items) => list_markdown(items),
        Content::Code(lines) => code_markdown(lines),
        Content::Table(table) if table.has_spans() => table_html(table),
        Content::Table(table) => table_markdown(table),
        Content::Picture => String::new(),
    }
}

/// Returns running text as markdown; the spans of one link are one link.
fn inline_markdown(inline: &Inline) -> String {
    let mut out = String::new();
    for run in inline.chunk_by(|one, next| one.link == next.link) {
        let text: String = run.iter().map(span_markdown).collect();
        match run.first().and_then(|span| span.link.as_deref()) {
            Some(url) => push_link(&mut out, &text, url),
            None => out.push_str(&text),
        }
    }
    out
}

fn span_markdown(span: &Span) -> String {
    let text = &span.text;
    let inner = text.trim();
    let (lead, trail) = (text.len() - text.trim_start().len(), text.len() - text.trim_end().len());
    if let Some(label) = &span.note {
        return format!("{}[^{label}]{}", " ".repeat(lead.min(1)), " ".repeat(trail.min(1)));
    }
    let (open, close) = match span.script.tag() {
        Some(tag) if !inner.is_empty() => (format!("<{tag}>"), format!("</{tag}>")),
        _ if span.code && !text.contains('`') => ("`".to_owned(), "`".to_owned()),
        _ => return escaped(text),
    };
    let inner = if span.code { inner.to_owned() } else { escaped(inner) };
    format!("{}{open}{inner}{close}{}", " ".repeat(lead.min(1)), " ".repeat(trail.min(1)))
}

/// Writes a link; an address that is its own text stays as it is.
fn push_link(out: &mut String, text: &str, url: &str) {
    let inner = text.trim();
    let (lead, trail) = (text.len() - text.trim_start().len(), text.len() - text.trim_end().len());
    out.push_str(&" ".repeat(lead.min(1)));
    if inner.is_empty() || is_address(inner, url) {
        out.push_str(inner);
    } else {
        let even = inner.matches('[').count() == inner.matches(']').count();
        let inner = if even { inner.to_owned() } else { inner.replace('[', "\\[").replace(']', "\\]") };
        let url = url.replace('(', "%28").replace(')', "%29").replace('<', "%3C").replace('>', "%3E");
        out.push_str(&format!("[{inner}]({url})"));
    }
    out.push_str(&" ".repeat(trail.min(1)));
}

/// Whether a text is the address itself, with or without its scheme; a break at the end of a line may be in it, and the
/// end of a sentence after it.
fn is_address(text: &str, url: &str) -> bool {
    let bare = |address: &str| -> String {
        let rest = ["mailto:", "https://", "http://"].iter().find_map(|scheme| address.strip_prefix(scheme));
        // The full stop of a sentence may be part of the word that is linked.
        let address = rest.unwrap_or(address).trim_end_matches(['/', '.', ',', ';', ':', ')']);
        address.chars().filter(|letter| !letter.is_whitespace() && !matches!(letter, '\\' | '`')).collect()
    };
    let url = bare(url);
    // The full stop of a sentence may be part of the word that is linked.
    bare(text) == url || bare(text.trim_end_matches(['.', ',', ';', ':', ')'])) == url
}

/// Escapes every `<` that could begin a tag.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let tag = letter == '<'
            && letters.peek().is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?'));
        if tag {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// Escapes the beginning of a paragraph that would be read as another block.
fn escaped_start(text: &str) -> String {
    let heading = text.trim_start_matches('#');
    let hashes = text.len() - heading.len();
    let looks = (1..=6).contains(&hashes) && heading.starts_with(' ')
        || text.starts_with('>')
        || text.starts_with("```")
        || text.starts_with("~~~")
        || text == "---";
    if looks { format!("\\{text}") } else { text.to_owned() }
}

fn list_markdown(items: &[Item]) -> String {
    let mut out = String::new();
    for item in items {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&"    ".repeat(usize::from(item.depth)));
        match &item.mark {
            Some(mark) => out.push_str(mark),
            None => out.push('-'),
        }
        out.push(' ');
        out.push_str(inline_markdown(&item.text).replace('\n', " ").trim());
    }
    out
}

fn code_markdown(lines: &[String]) -> String {
    // Indented rather than fenced, so that nothing in the code can end the block.
    let indented = lines.iter().map(|line| if line.trim().is_empty() { String::new() } else { format!("    {line}") });
    indented.collect::<Vec<_>>().join("\n")
}

fn table_markdown(table: &Table) -> String {
    let mut out = String::new();
    let mut grid = vec![vec![String::new(); table.columns]; table.rows];
    for cell in &table.cells {
        if let Some(place) = grid.get_mut(cell.row).and_then(|row| row.get_mut(cell.column)) {
            *place = inline_markdown(&cell.text);
        }
    }
    for (place, row) in grid.iter().enumerate() {
        if place > 0 {
            out.push('\n');
        }
        for text in row {
            out.push_str("| ");
            out.push_str(&text.replace('|', "\\|").replace('\n', " "));
            out.push(' ');
        }
        out.push('|');
        if place == 0 {
            out.push('\n');
            out.push_str(&"| --- ".repeat(table.columns));
            out.push('|');
        }
    }
    out
}
