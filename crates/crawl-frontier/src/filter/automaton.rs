//! Patterns as lazy DFAs, whose states are built on demand and counted as steps.

use regex_automata::Input;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, Compiler, NFA, State, WhichCaptures};
use regex_syntax::hir::Hir;

use super::PatternFault;
use crate::Steps;

/// Memory limit of one compiled pattern in bytes. Counted repeats of large classes reach it; 2000 letters take 80 KiB.
const MAX_SIZE_OF_ONE: usize = 128 << 10;
/// Bytes per character of a pattern that do not count towards the budget: letters need no more, repeats and classes do.
const FREE: usize = 32;
/// Size in bytes of the patterns that share an automaton. The cost of a new state grows with the size of the automaton.
const SHARED: usize = 32 << 10;
/// Memory limit of the cached states of an automaton in bytes.
const MAX_STATES: usize = 1 << 20;
/// Steps per edge of an automaton for building a state, which may follow all edges.
const STEPS_PER_EDGE: u64 = 16;
/// Steps per byte of a text when all states exist.
const STEPS_PER_BYTE: u64 = 2;

/// Compiler of patterns, one by one within a memory budget, which combines them into automata.
pub(super) struct Builder {
    compiler: Compiler,
    left: usize,
    shared: Vec<Hir>,
    shared_size: usize,
    done: Vec<Automaton>,
}

/// An automaton that matches any of several patterns.
#[derive(Debug, Clone)]
pub(super) struct Automaton {
    dfa: DFA,
    edges: u64,
    size: usize,
}

impl Builder {
    /// Creates a builder for patterns of at most `budget` bytes together, in addition to [`FREE`] bytes per character.
    pub(super) fn new(budget: usize) -> Self {
        Self { compiler: Compiler::new(), left: budget, shared: Vec::new(), shared_size: 0, done: Vec::new() }
    }

    /// Adds a pattern of `length` bytes of text.
    pub(super) fn add(&mut self, pattern: Hir, length: usize) -> Result<(), PatternFault> {
        let size = self.compile(&[&pattern], MAX_SIZE_OF_ONE)?.memory_usage();
        let left = self.left.checked_sub(size.saturating_sub(length * FREE));
        self.left = left.ok_or(PatternFault::TooLargeTogether)?;
        if self.shared_size + size > SHARED {
            self.close()?;
        }
        self.shared.push(pattern);
        self.shared_size += size;
        Ok(())
    }

    /// Returns the automata of the patterns added since the last call.
    pub(super) fn finish(&mut self) -> Result<Vec<Automaton>, PatternFault> {
        self.close()?;
        Ok(std::mem::take(&mut self.done))
    }

    fn close(&mut self) -> Result<(), PatternFault> {
        let patterns = std::mem::take(&mut self.shared);
        self.shared_size = 0;
        if patterns.is_empty() {
            return Ok(());
        }
        // Together they take little more than the sum of their sizes.
        let nfa = self.compile(&patterns, 2 * (SHARED + MAX_SIZE_OF_ONE))?;
        self.done.push(Automaton::of(nfa)?);
        Ok(())
    }

    /// Returns the automaton of a single pattern, which may use the whole budget.
    pub(super) fn alone(mut self, pattern: &Hir) -> Result<Automaton, PatternFault> {
        let limit = self.left;
        Automaton::of(self.compile(&[pattern], limit)?)
    }

    fn compile<H: std::borrow::Borrow<Hir>>(&mut self, patterns: &[H], limit: usize) -> Result<NFA, PatternFault> {
        let config = thompson::Config::new().utf8(false).which_captures(WhichCaptures::None);
        self.compiler.configure(config.nfa_size_limit(Some(limit)));
        self.compiler.build_many_from_hir(patterns).map_err(|error| match error.size_limit() {
            Some(_) => PatternFault::TooLarge,
            None => PatternFault::Syntax(error.to_string()),
        })
    }
}

fn edges(state: &State) -> u64 {
    match state {
        State::Sparse(sparse) => sparse.transitions.len() as u64,
        State::Union { alternates } => alternates.len() as u64,
        State::BinaryUnion { .. } => 2,
        State::ByteRange { .. }
        | State::Dense(_)
        | State::Look { .. }
        | State::Capture { .. }
        | State::Fail
        | State::Match { .. } => 1,
    }
}

impl Automaton {
    fn of(nfa: NFA) -> Result<Self, PatternFault> {
        let (edges, size) = (nfa.states().iter().map(edges).sum(), nfa.memory_usage());
        let config = DFA::config().cache_capacity(MAX_STATES).skip_cache_capacity_check(true);
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa);
        let dfa = dfa.map_err(|error| PatternFault::Syntax(error.to_string()))?;
        Ok(Self { dfa, edges, size })
    }

    /// Returns the memory in bytes, without the states.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Returns whether one of the patterns matches anywhere in a text; `None` when the steps are used up. The cache keeps
    /// the states between texts.
    pub(super) fn find(&self, text: &[u8], cache: &mut Option<Cache>, steps: &mut Steps) -> Option<bool> {
        let new_state = self.edges * STEPS_PER_EDGE;
        if cache.is_none() && !steps.take(new_state) {
            return None;
        }
        let cache = cache.get_or_insert_with(|| self.dfa.create_cache());
        if !steps.take(text.len() as u64 * STEPS_PER_BYTE) {
            return None;
        }
        let mut state = self.dfa.start_state_forward(cache, &Input::new(text)).ok()?;
        if state.is_dead() {
            return Some(false);
        }
        for &byte in text {
            let mut next = self.dfa.next_state_untagged(cache, state, byte);
            if next.is_unknown() {
                if !steps.take(new_state) {
                    return None;
                }
                next = self.dfa.next_state(cache, state, byte).ok()?;
            }
            if next.is_tagged() {
                if next.is_match() {
                    return Some(true);
                }
                return next.is_dead().then_some(false);
            }
            state = next;
        }
        // The DFA reports matches one byte late, so the end of the text needs one more transition. Its cost is included in
        // that of building the state.
        self.dfa.next_eoi_state(cache, state).ok().map(|last| last.is_match())
    }
}
