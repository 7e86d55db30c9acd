//! Parsing of one pattern into its syntax tree, in bounded time.
//!
//! The parser itself is linear. The translation after it is not: named classes have hundreds of ranges, case-insensitive
//! classes are expanded character by character, and every item of a class is merged into the previous ones. The work is
//! therefore estimated on the AST, which has no expanded classes yet, and taken from a budget before the translation.

use regex_syntax::ast::{self, Ast, ClassBracketed, ClassSet, ClassSetItem, Flag, Flags, FlagsItemKind, GroupKind};
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{self, Hir, HirKind, Look};

use super::PatternFault;
use crate::Steps;

/// Maximum nesting of groups, classes, repeats and alternatives.
const MAX_NESTING: u32 = 100;
/// Number of ranges of the largest named classes.
const NAMED_RANGES: u64 = 800;
/// Number of characters of all named classes except those of whole writing systems.
const NAMED_CHARACTERS: u64 = 150_000;

/// Parses a pattern. `\w`, `\d`, `\s` and `\b` are ASCII-only as in RE2, but `\w`, `\d` and `\s` are Unicode in patterns
/// that contain other characters.
pub(super) fn parse(pattern: &str, work: &mut Steps) -> Result<Hir, PatternFault> {
    let ast = ast::parse::ParserBuilder::new().nest_limit(MAX_NESTING).build().parse(pattern);
    let ast = ast.map_err(|error| fault(error.kind()))?;
    let unicode = needs_unicode(pattern);
    let mut estimate = Estimate { unicode, folds: false, work: 0 };
    estimate.ranges(&ast);
    if !work.take(estimate.work) {
        return Err(PatternFault::TooLarge);
    }
    let mut translator = TranslatorBuilder::new().unicode(unicode).utf8(false).build();
    let hir = translator.translate(pattern, &ast);
    hir.map(with_ascii_boundaries).map_err(|error| unknown(error.kind()))
}

/// Returns whether a pattern needs Unicode classes. ASCII classes are small, which keeps counted repeats small.
fn needs_unicode(pattern: &str) -> bool {
    !pattern.is_ascii() || [r"\p", r"\P", r"\x", r"\u", r"\U", "(?u"].iter().any(|mark| pattern.contains(mark))
}

fn fault(error: &ast::ErrorKind) -> PatternFault {
    match error {
        ast::ErrorKind::UnsupportedLookAround => PatternFault::LookAround,
        ast::ErrorKind::UnsupportedBackreference => PatternFault::BackReference,
        ast::ErrorKind::NestLimitExceeded(_) | ast::ErrorKind::CaptureLimitExceeded => PatternFault::TooLarge,
        other => PatternFault::Syntax(other.to_string()),
    }
}

fn unknown(error: &hir::ErrorKind) -> PatternFault {
    PatternFault::Syntax(error.to_string())
}

/// Upper bound of the cost of the translation.
struct Estimate {
    unicode: bool,
    /// Whether any part so far is case-insensitive.
    folds: bool,
    work: u64,
}

impl Estimate {
    /// Returns the number of character ranges of a part that is a class or becomes one.
    fn ranges(&mut self, ast: &Ast) -> u64 {
        self.work += 16;
        match ast {
            Ast::Empty(_) | Ast::Assertion(_) => 0,
            Ast::Literal(_) => 1,
            Ast::Dot(_) => 4,
            Ast::Flags(set) => {
                self.flags(&set.flags);
                0
            }
            Ast::ClassUnicode(_) => self.named(),
            Ast::ClassPerl(_) => self.perl(),
            Ast::ClassBracketed(class) => self.bracketed(class),
            Ast::Repetition(repetition) => {
                self.ranges(&repetition.ast);
                0
            }
            Ast::Group(group) => {
                if let GroupKind::NonCapturing(flags) = &group.kind {
                    self.flags(flags);
                }
                self.ranges(&group.ast)
            }
            // Alternatives of single characters become one class.
            Ast::Alternation(either) => {
                let ranges = either.asts.iter().map(|one| self.ranges(one)).sum();
                self.merged(either.asts.len() as u64, ranges)
            }
            Ast::Concat(parts) => {
                for part in &parts.asts {
                    self.ranges(part);
                }
                0
            }
        }
    }

    fn flags(&mut self, flags: &Flags) {
        for item in &flags.items {
            match item.kind {
                FlagsItemKind::Flag(Flag::CaseInsensitive) => self.folds = true,
                FlagsItemKind::Flag(Flag::Unicode) => self.unicode = true,
                FlagsItemKind::Flag(_) | FlagsItemKind::Negation => {}
            }
        }
    }

    fn named(&mut self) -> u64 {
        self.work += NAMED_RANGES * 8 + if self.folds { NAMED_CHARACTERS } else { 0 };
        NAMED_RANGES
    }

    fn perl(&mut self) -> u64 {
        if self.unicode { self.named() } else { 4 }
    }

    fn bracketed(&mut self, class: &ClassBracketed) -> u64 {
        self.set(&class.kind)
    }

    fn set(&mut self, set: &ClassSet) -> u64 {
        match set {
            ClassSet::Item(item) => self.item(item),
            ClassSet::BinaryOp(operation) => {
                let ranges = self.set(&operation.lhs) + self.set(&operation.rhs);
                self.merged(2, ranges)
            }
        }
    }

    fn item(&mut self, item: &ClassSetItem) -> u64 {
        self.work += 16;
        match item {
            ClassSetItem::Empty(_) => 0,
            ClassSetItem::Literal(_) => 1,
            ClassSetItem::Range(range) => {
                if self.folds {
                    self.work += u64::from(u32::from(range.end.c).saturating_sub(u32::from(range.start.c)));
                }
                1
            }
            ClassSetItem::Ascii(_) => 4,
            ClassSetItem::Unicode(_) => self.named(),
            ClassSetItem::Perl(_) => self.perl(),
            ClassSetItem::Bracketed(class) => self.bracketed(class),
            ClassSetItem::Union(union) => {
                let ranges = union.items.iter().map(|item| self.item(item)).sum();
                self.merged(union.items.len() as u64, ranges)
            }
        }
    }

    /// Counts the work for merging `parts` parts, each into the previous ones.
    fn merged(&mut self, parts: u64, ranges: u64) -> u64 {
        // Case folding adds ranges.
        let ranges = if self.folds { ranges * 3 } else { ranges };
        self.work += parts.saturating_mul(ranges).saturating_mul(4);
        ranges
    }
}

/// Replaces Unicode word boundaries by ASCII ones, as in RE2; the automata support no others.
fn with_ascii_boundaries(hir: Hir) -> Hir {
    if !hir.properties().look_set().contains_word_unicode() {
        return hir;
    }
    match hir.into_kind() {
        HirKind::Look(look) => Hir::look(match look {
            Look::WordUnicode => Look::WordAscii,
            Look::WordUnicodeNegate => Look::WordAsciiNegate,
            Look::WordStartUnicode => Look::WordStartAscii,
            Look::WordEndUnicode => Look::WordEndAscii,
            Look::WordStartHalfUnicode => Look::WordStartHalfAscii,
            Look::WordEndHalfUnicode => Look::WordEndHalfAscii,
            other => other,
        }),
        HirKind::Repetition(mut repetition) => {
            repetition.sub = Box::new(with_ascii_boundaries(*repetition.sub));
            Hir::repetition(repetition)
        }
        HirKind::Capture(mut capture) => {
            capture.sub = Box::new(with_ascii_boundaries(*capture.sub));
            Hir::capture(capture)
        }
        HirKind::Concat(parts) => Hir::concat(parts.into_iter().map(with_ascii_boundaries).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.into_iter().map(with_ascii_boundaries).collect()),
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(class) => Hir::class(class),
    }
}
