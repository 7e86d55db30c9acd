//! HTML output.

use crate::model::{Block, BlockKind, Cell, Content, Document, Inline, Item, Table};

/// Writes a document as HTML: one `section` per page, without styles.
#[must_use]
pub fn html(document: &Document) -> String {
    let mut out = String::new();
    for page in &document.pages {
        out.push_str(&format!("<section data-page=\"{}\">\n", page.number));
        for block in page.blocks.iter().filter(|block| !block.repeated) {
            write_block(&mut out, block);
        }
        out.push_str("</section>\n");
    }
    out
}

fn write_block(out: &mut String, block: &Block) {
    match &block.content {
        Content::Heading(level, inline) => {
            let level = (*level).clamp(1, 6);
            out.push_str(&format!("<h{level}>{}</h{level}>\n", inline_html(inline)));
        }
        Content::Paragraph(inline) => {
            let (open, close) = match block.kind {
                BlockKind::Figure => ("<figure>", "</figure>"),
                BlockKind::Caption => ("<p class=\"caption\">", "</p>"),
                BlockKind::PageHeader => ("<header>", "</header>"),
                BlockKind::PageFooter | BlockKind::PageNumber => ("<footer>", "</footer>"),
                _ => ("<p>", "</p>"),
            };
            out.push_str(&format!("{open}{}{close}\n", inline_html(inline).replace('\n', "<br>")));
        }
        Content::Note(note) => {
            out.push_str(&format!("<p><sup>{}</sup> {}</p>\n", escaped(&note.mark), inline_html(&note.text)));
        }
        Content::List(items) => write_list(out, items),
        Content::Code(lines) => out.push_str(&format!("<pre><code>{}</code></pre>\n", escaped(&lines.join("\n")))),
        Content::Table(table) => {
            out.push_str(&table_html(table));
            out.push('\n');
        }
        Content::Picture => {}
    }
}

fn write_list(out: &mut String, items: &[Item]) {
    out.push_str("<ul>\n");
    let mut depth = 0;
    for item in items {
        while depth < item.depth {
            out.push_str("<ul>\n");
            depth += 1;
        }
        while depth > item.depth {
            out.push_str("</ul>\n");
            depth -= 1;
        }
        let mark = item.mark.as_deref().map(|mark| format!("{} ", escaped(mark))).unwrap_or_default();
        out.push_str(&format!("<li>{mark}{}</li>\n", inline_html(&item.text)));
    }
    for _ in 0..=depth {
        out.push_str("</ul>\n");
    }
}

fn inline_html(inline: &Inline) -> String {
    let mut out = String::new();
    for span in inline {
        let mut text = escaped(&span.text);
        if span.code {
            text = format!("<code>{text}</code>");
        }
        if let Some(tag) = span.script.tag() {
            text = format!("<{tag}>{text}</{tag}>");
        }
        match &span.link {
            Some(url) => out.push_str(&format!("<a href=\"{}\">{text}</a>", escaped(url))),
            None => out.push_str(&text),
        }
    }
    out
}

/// Writes a table as HTML, for cells that span rows or columns.
pub(crate) fn table_html(table: &Table) -> String {
    let mut out = String::from("<table>");
    for row in 0..table.rows {
        out.push_str("\n<tr>");
        for column in 0..table.columns {
            let covers = |cell: &&Cell| {
                (cell.row..cell.row + cell.row_span).contains(&row)
                    && (cell.column..cell.column + cell.column_span).contains(&column)
            };
            match table.cells.iter().find(covers) {
                Some(cell) if (cell.row, cell.column) == (row, column) => {
                    out.push_str("<td");
                    if cell.column_span > 1 {
                        out.push_str(&format!(" colspan=\"{}\"", cell.column_span));
                    }
                    if cell.row_span > 1 {
                        out.push_str(&format!(" rowspan=\"{}\"", cell.row_span));
                    }
                    out.push('>');
                    out.push_str(&inline_html(&cell.text));
                    out.push_str("</td>");
                }
                Some(_) => {}
                None => out.push_str("<td></td>"),
            }
        }
        out.push_str("</tr>");
    }
    out.push_str("\n</table>");
    out
}

/// Escapes the special characters of HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
