//! Drawn text is recognised in any orientation.

use ocr::{Frame, Grey, Renderer};

use crate::paper::{drawn, engine, pdf, prose, text, words};

const BEGIN: &str = "The committee met on the first day of the month to discuss";

#[test]
fn words_stand_where_they_are_drawn() {
    let page = engine().page(&drawn(&prose(700.0))).expect("a page");
    assert!(words(&page).starts_with(BEGIN), "{}", words(&page));
    assert_eq!((page.width.round(), page.height.round(), page.turned), (612.0, 792.0, 0));
    let first = &page.words[0];
    assert!((first.area.x0 - 72.0).abs() < 1.5 && (first.baseline - 92.0).abs() < 1.0, "{first:?}");
    assert!((first.size - 11.0).abs() < 0.8 && first.confidence > 0.8, "{first:?}");
    let second = page.words.iter().find(|word| word.text == "results").expect("the second line");
    assert!((second.baseline - 106.0).abs() < 1.0 && second.line == first.line + 1, "{second:?}");
}

#[test]
fn sizes_and_weights_are_measured() {
    let content = text("F1", 20.0, 72.0, 740.0, "Large heading")
        + &prose(700.0)
        + &text("F2", 11.0, 72.0, 600.0, "Bold heading of the next part");
    let page = engine().page(&drawn(&content)).expect("a page");
    let find = |word: &str| page.words.iter().find(|found| found.text == word).expect("the word");
    let (large, plain, bold) = (find("Large"), find("committee"), find("Bold"));
    assert!((large.size / plain.size - 20.0 / 11.0).abs() < 0.12, "{} {}", large.size, plain.size);
    assert!((large.weight / plain.weight - 1.0).abs() < 0.25, "{} {}", large.weight, plain.weight);
    assert!(bold.weight > 1.35 * plain.weight, "{} {}", bold.weight, plain.weight);
}

#[test]
fn pages_on_their_side_are_turned() {
    let mut engine = engine();
    let upright = drawn(&prose(700.0));
    for quarters in 1..4 {
        let grey = upright.grey.turned(quarters);
        let page = engine.page(&Frame { grey, dpi: upright.dpi }).expect("a page");
        assert_eq!((page.turned + quarters) % 4, 0);
        assert!(words(&page).starts_with(BEGIN), "{quarters}: {}", words(&page));
        assert_eq!((page.width.round(), page.height.round()), (612.0, 792.0));
    }
}

#[test]
fn crooked_pages_are_put_straight() {
    let straight = drawn(&(prose(700.0) + &prose(560.0)));
    let crooked = Frame { grey: straight.grey.levelled(-0.04), dpi: straight.dpi };
    let page = engine().page(&crooked).expect("a page");
    assert!(words(&page).starts_with(BEGIN), "{}", words(&page));
    let baselines: Vec<f32> = page.words[..8].iter().map(|word| word.baseline).collect();
    assert!(baselines.iter().all(|baseline| (baseline - baselines[0]).abs() < 1.0), "{baselines:?}");
}

#[test]
fn lines_and_shades_are_seen() {
    let content = prose(700.0)
        + "1 w 72 500 m 400 500 l S 72 460 m 400 460 l S 72 460 m 72 500 l S 400 460 m 400 500 l S\n"
        + "0.9 g 72 300 328 30 re f 0 g\n"
        + &text("F1", 11.0, 80.0, 310.0, "Shaded row");
    let page = engine().page(&drawn(&content)).expect("a page");
    let near = |a: f32, b: f32| (a - b).abs() < 2.0;
    let rule = |x0, y0, x1, y1| {
        page.rules.iter().any(|rule| near(rule.x0, x0) && near(rule.y0, y0) && near(rule.x1, x1) && near(rule.y1, y1))
    };
    assert!(rule(72.0, 292.0, 400.0, 292.0) && rule(72.0, 332.0, 400.0, 332.0), "{:?}", page.rules);
    assert!(rule(72.0, 292.0, 72.0, 332.0) && rule(400.0, 292.0, 400.0, 332.0), "{:?}", page.rules);
    let [shade] = &page.shades[..] else { panic!("one shaded box: {:?}", page.shades) };
    assert!((shade.y0 - 462.0).abs() < 4.0 && (shade.y1 - 492.0).abs() < 4.0 && (shade.x1 - 400.0).abs() < 4.0);
}

#[test]
fn leaders_are_dots() {
    let contents: String = (0..)
        .zip(["Introduction", "Materials and methods", "Discussion of results"])
        .map(|(place, title)| {
            let y = 600.0 - 16.0 * place as f32;
            let x = 76.0 + 5.6 * title.len() as f32;
            let dots = ".".repeat(((500.0 - x) / 3.1) as usize);
            text("F1", 11.0, 72.0, y, title) + &text("F1", 11.0, x, y, &dots) + &text("F1", 11.0, 510.0, y, "17")
        })
        .collect();
    let page = engine().page(&drawn(&(prose(700.0) + &contents))).expect("a page");
    let leaders: Vec<_> = page.words.iter().filter(|word| word.text.starts_with("......")).collect();
    assert_eq!(leaders.len(), 3, "{}", words(&page));
    assert!(leaders.iter().all(|leader| leader.text.bytes().all(|byte| byte == b'.') && leader.text.len() > 90));
    assert_eq!(page.words.iter().filter(|word| word.text == "17").count(), 3, "{}", words(&page));
}

#[test]
fn an_empty_page_has_no_words() {
    let page = engine().page(&drawn("")).expect("a page");
    assert!(page.words.is_empty() && page.rules.is_empty() && page.shades.is_empty() && page.turned == 0);
}

#[test]
fn the_picture_of_a_scan_is_taken_as_it_was_scanned() {
    let scan = drawn(&prose(700.0));
    let smaller = scan.grey.scaled(0.75).expect("a picture");
    let (width, height) = (smaller.width(), smaller.height());
    let render = |content: &str| {
        let file = pdf(content, Some((width, height, smaller.pixels().to_vec())));
        Renderer::new(file).expect("a document").render(1).expect("a page")
    };
    let whole = render("q 612 0 0 792 0 0 cm /Im Do Q");
    assert_eq!(whole.grey, smaller);
    assert!((whole.dpi - 150.0).abs() < 0.5, "{}", whole.dpi);
    // Rotated by the page content.
    let upside_down = render("q -612 0 0 -792 612 792 cm /Im Do Q");
    assert_eq!(upside_down.grey, smaller.turned(2));
    // With something drawn over it, or covering only a part of the page, it must be rendered.
    for content in ["q 612 0 0 792 0 0 cm /Im Do Q 10 10 100 50 re f", "q 300 0 0 388 100 100 cm /Im Do Q"] {
        assert!((render(content).dpi - 200.0).abs() < 0.5);
    }
}

#[test]
fn large_pages_are_drawn_less_finely() {
    let file = pdf("", None);
    let large = String::from_utf8(file)
        .expect("text")
        .replace("/MediaBox [0 0 612 792] /Contents", "/MediaBox[0 0 9000 9000]/Contents");
    let frame = Renderer::new(large.into_bytes()).expect("a document").render(1).expect("a page");
    assert!((frame.grey.width() * frame.grey.height()) as u64 <= ocr::MAX_PIXELS && frame.dpi < 60.0);
    assert!(Grey::new(1, 1, vec![0]).is_some());
}
