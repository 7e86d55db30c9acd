//! Tables of every kind of evidence, and false tables.

use documents::{BlockKind, Content};

use crate::paper::{Paper, lines, rule, text};

/// Returns cells at columns 140 points wide, rows 20 points high.
fn cells(rows: &[&[&str]]) -> String {
    let mut content = String::new();
    for (row, cells) in rows.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            content += &text("F1", 10.0, 80.0 + 140.0 * column as f32, 700.0 - 20.0 * row as f32, cell);
        }
    }
    content
}

const ROWS: [&[&str]; 4] =
    [&["Name", "Count", "Share"], &["Alpha", "12", "40%"], &["Beta", "9", "30%"], &["Gamma", "9", "30%"]];
const MARKDOWN: &str =
    "| Name | Count | Share |\n| --- | --- | --- |\n| Alpha | 12 | 40% |\n| Beta | 9 | 30% |\n| Gamma | 9 | 30% |";

fn grid(xs: &[f32], ys: &[f32]) -> String {
    let (left, right, top, bottom) = (xs[0], xs[xs.len() - 1], ys[0], ys[ys.len() - 1]);
    let down: String = xs.iter().map(|x| rule(*x, top, *x, bottom)).collect();
    ys.iter().map(|y| rule(left, *y, right, *y)).collect::<String>() + &down
}

#[test]
fn tables_are_read_whatever_they_are_drawn_with() {
    let ys = [714.0, 694.0, 674.0, 654.0, 634.0];
    let lined = grid(&[72.0, 212.0, 352.0, 492.0], &ys);
    let across: String = ys.iter().map(|y| rule(72.0, *y, 492.0, *y)).collect();
    let book = [714.0, 694.0, 634.0].iter().map(|y| rule(72.0, *y, 492.0, *y)).collect();
    let boxes: String =
        (0..12).map(|cell| format!("{} {} 140 20 re S\n", 72 + cell % 3 * 140, 634 + cell / 3 * 20)).collect();
    let shade = "0.9 g 72 694 420 20 re f 72 654 420 20 re f 0 g\n".to_owned();
    for (name, drawn) in [
        ("grid", lined),
        ("boxes", boxes),
        ("across", across),
        ("book", book),
        ("shade", shade),
        ("nothing", String::new()),
    ] {
        assert_eq!(Paper::default().page(drawn + &cells(&ROWS)).markdown(), MARKDOWN, "{name}");
    }
}

#[test]
fn cells_that_reach_over_others_are_kept_in_html() {
    // The first row is one cell, and so is the first column of the other two.
    let drawn = rule(72.0, 714.0, 352.0, 714.0)
        + &rule(72.0, 694.0, 352.0, 694.0)
        + &rule(212.0, 674.0, 352.0, 674.0)
        + &rule(72.0, 654.0, 352.0, 654.0)
        + &rule(72.0, 714.0, 72.0, 654.0)
        + &rule(212.0, 694.0, 212.0, 654.0)
        + &rule(352.0, 714.0, 352.0, 654.0);
    let content = text("F1", 10.0, 160.0, 700.0, "Over both")
        + &text("F1", 10.0, 80.0, 670.0, "Side")
        + &text("F1", 10.0, 220.0, 680.0, "one")
        + &text("F1", 10.0, 220.0, 660.0, "two <b>");
    assert_eq!(
        Paper::default().page(drawn + &content).markdown(),
        "<table>\n<tr><td colspan=\"2\">Over both</td></tr>\n<tr><td rowspan=\"2\">Side</td><td>one</td></tr>\n\
         <tr><td>two &lt;b&gt;</td></tr>\n</table>",
    );
}

#[test]
fn cells_of_several_lines_are_one_cell() {
    let ys = [714.0, 694.0, 660.0, 640.0];
    let drawn: String = ys.iter().map(|y| rule(72.0, *y, 492.0, *y)).collect();
    let content = cells(&[&["Name", "Meaning"]])
        + &lines(80.0, 682.0, &["Alpha"])
        + &lines(220.0, 682.0, &["the first letter of", "the alphabet"])
        + &lines(80.0, 646.0, &["Beta"])
        + &lines(220.0, 646.0, &["the second"]);
    assert_eq!(
        Paper::default().page(drawn + &content).markdown(),
        "| Name | Meaning |\n| --- | --- |\n| Alpha | the first letter of the alphabet |\n| Beta | the second |",
    );
}

#[test]
fn what_only_looks_like_columns_is_no_table() {
    let prose = |x: f32| {
        lines(
            x,
            700.0,
            &[
                "Two columns of running text have lines",
                "at one height, one after the other, and",
                "they make no table however well they do",
                "stand beside each other on the page.",
            ],
        )
    };
    let contents: String = (0..4)
        .map(|row| {
            let y = 700.0 - 14.0 * row as f32;
            text("F1", 10.0, 72.0, y, ["Begin", "Middle", "More", "End"][row])
                + &text("F1", 10.0, 500.0, y, ["1", "14", "27", "90"][row])
        })
        .collect();
    let frame = grid(&[60.0, 560.0], &[720.0, 640.0])
        + &lines(72.0, 700.0, &["A frame around some text", "makes no table of it."]);
    let marks: String = (0..4)
        .map(|row| {
            let y = 700.0 - 14.0 * row as f32;
            text("F1", 10.0, 72.0, y, &format!("{}.", row + 1)) + &text("F1", 10.0, 130.0, y, "an item of a list")
        })
        .collect();
    for (name, content) in
        [("prose", prose(72.0) + &prose(320.0)), ("contents", contents), ("frame", frame), ("list", marks)]
    {
        let document = Paper::default().page(content).read();
        let tables = document.pages[0].blocks.iter().filter(|block| block.kind == BlockKind::Table).count();
        assert_eq!(tables, 0, "{name}");
    }
}

#[test]
fn two_tables_of_one_width_stay_two() {
    let table = |top: f32| -> String {
        let drawn: String = [0.0, 20.0, 60.0].iter().map(|down| rule(72.0, top - down, 492.0, top - down)).collect();
        drawn
            + &cells(&ROWS[..3])
                .replace("700", &(top - 14.0).to_string())
                .replace("680", &(top - 34.0).to_string())
                .replace("660", &(top - 54.0).to_string())
    };
    let between = lines(
        72.0,
        610.0,
        &["Some running text stands between the two tables, and is as wide as they are, or nearly."],
    );
    let document = Paper::default().page(table(714.0) + &between + &table(580.0)).read();
    let rows: Vec<usize> = document.pages[0]
        .blocks
        .iter()
        .filter_map(|block| match &block.content {
            Content::Table(table) => Some(table.rows),
            _ => None,
        })
        .collect();
    assert_eq!(rows, [3, 3]);
}
