//! Bodies without their content coding, piece by piece as they pass, within one budget of memory.

mod brotli;
mod budget;
mod deflate;
mod zstandard;

pub(crate) use budget::{Budget, Share};

/// What a decoder makes at a time: a small input that swells to gigabytes never does so in memory.
const PIECE: usize = 64 << 10;

/// How many codings may lie one above the other.
const MOST_CODINGS: usize = 3;

/// Why decoding ended before the body did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The bytes are not what the coding says.
    Broken,
    /// There was no memory left in the budget.
    Memory,
    /// Whoever takes the decoded bytes wants no more.
    Enough,
}

impl Stop {
    /// What a `gap` calls it.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Broken => "undecodable",
            Self::Memory => "decode_memory",
            Self::Enough => "decode_size",
        }
    }
}

/// What one call of a decoder did.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    consumed: usize,
    produced: usize,
    /// How many of the bytes that were consumed came after all that gave something, as far as that is known.
    idle: usize,
    stop: Option<Stop>,
}

impl Step {
    /// Nothing was done, and nothing will be.
    fn stopped(stop: Stop) -> Self {
        Self { stop: Some(stop), ..Self::default() }
    }
}

/// What feeding a decoder came to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fed {
    /// Up to where the input is done with: it became text, or a coding came to its proper end. Nothing if all of it,
    /// and whatever was waiting before it, waits for more.
    pub(crate) read: Option<usize>,
    /// Why decoding is over.
    pub(crate) stop: Option<Stop>,
}

/// One content coding.
enum Stage {
    Deflate(deflate::Decoder),
    Brotli(brotli::Decoder),
    Zstandard(zstandard::Decoder),
}

impl Stage {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "gzip" | "x-gzip" => Self::Deflate(deflate::Decoder::gzip()),
            "deflate" => Self::Deflate(deflate::Decoder::deflate()),
            "br" => Self::Brotli(brotli::Decoder::default()),
            "zstd" => Self::Zstandard(zstandard::Decoder::default()),
            _ => return None,
        })
    }

    fn step(&mut self, input: &[u8], output: &mut [u8], share: &mut Share, budget: &mut Budget) -> Step {
        match self {
            Self::Deflate(decoder) => decoder.step(input, output, share, budget),
            Self::Brotli(decoder) => decoder.step(input, output, share, budget),
            Self::Zstandard(decoder) => decoder.step(input, output, share, budget),
        }
    }

    fn is_at_rest(&self) -> bool {
        match self {
            Self::Deflate(decoder) => decoder.is_at_rest(),
            Self::Brotli(decoder) => decoder.is_at_rest(),
            Self::Zstandard(decoder) => decoder.is_at_rest(),
        }
    }
}

/// What a `Content-Encoding` says.
pub(crate) enum Coding {
    /// The body is what it is.
    Identity,
    /// The body has to be decoded.
    Coded(Chain),
    /// A coding that is not known, or too many of them.
    Unknown,
}

impl Coding {
    /// Read the names of codings, in the order in which they were applied.
    pub(crate) fn read(names: &str) -> Self {
        let names = names.split(',').map(|name| name.trim().to_ascii_lowercase());
        let mut stages = Vec::new();
        for name in names.filter(|name| !name.is_empty() && name != "identity") {
            match Stage::named(&name) {
                Some(stage) if stages.len() < MOST_CODINGS => stages.push((stage, Share::default())),
                _ => return Self::Unknown,
            }
        }
        if stages.is_empty() {
            return Self::Identity;
        }
        stages.reverse();
        Self::Coded(Chain { stages })
    }
}

/// Codings that are undone one after the other.
pub(crate) struct Chain {
    stages: Vec<(Stage, Share)>,
}

/// What all chains share: the budget, and room for one piece a stage.
pub(crate) struct Decoding {
    pub(crate) budget: Budget,
    pieces: Vec<Box<[u8]>>,
}

impl Decoding {
    pub(crate) fn new(limit: usize) -> Self {
        let pieces = (0..MOST_CODINGS).map(|_| vec![0; PIECE].into_boxed_slice()).collect();
        Self { budget: Budget::new(limit), pieces }
    }

    /// Room for one piece of what is decoded.
    pub(crate) fn piece(&mut self) -> &mut [u8] {
        &mut self.pieces[0]
    }
}

impl Chain {
    /// Decode `input` and hand all that comes of it to `sink`, which may say stop.
    ///
    /// Of an input that makes a decoder or the sink stop, what the last call took counts as not read.
    pub(crate) fn feed(
        &mut self,
        decoding: &mut Decoding,
        input: &[u8],
        sink: &mut dyn FnMut(&[u8]) -> Option<Stop>,
    ) -> Fed {
        feed(&mut self.stages, &mut decoding.pieces, &mut decoding.budget, input, sink)
    }

    /// Whether nothing was begun that has not come to its end.
    pub(crate) fn is_at_rest(&self) -> bool {
        are_at_rest(&self.stages)
    }

    /// Give the memory back.
    pub(crate) fn release(&mut self, budget: &mut Budget) {
        for (_, share) in &mut self.stages {
            share.release(budget);
        }
        self.stages.clear();
    }
}

fn are_at_rest(stages: &[(Stage, Share)]) -> bool {
    stages.iter().all(|(stage, _)| stage.is_at_rest())
}

fn feed(
    stages: &mut [(Stage, Share)],
    pieces: &mut [Box<[u8]>],
    budget: &mut Budget,
    input: &[u8],
    sink: &mut dyn FnMut(&[u8]) -> Option<Stop>,
) -> Fed {
    let (Some(((stage, share), later)), Some((piece, below))) =
        (stages.split_first_mut(), pieces.split_first_mut())
    else {
        return Fed { read: Some(input.len()), stop: sink(input) };
    };
    let (mut consumed, mut read) = (0, None);
    // Where those bytes begin of which the latest output was made.
    let mut from = 0;
    while !input.is_empty() {
        let rest = &input[consumed..];
        let step = stage.step(rest, piece, share, budget);
        from = if step.consumed > 0 { consumed } else { from };
        consumed += step.consumed;
        let mut halt = step.stop;
        if step.produced > 0 {
            let fed = feed(later, below, budget, &piece[..step.produced], sink);
            halt = fed.stop.or(halt);
            read = match fed.read {
                Some(all) if all == step.produced && halt.is_none() => Some(consumed - step.idle),
                Some(_) => Some(from),
                None => read.map(|read| from.min(read)),
            };
        }
        if halt.is_some() {
            return Fed { read, stop: halt };
        }
        if stage.is_at_rest() && are_at_rest(later) {
            read = Some(consumed);
        }
        if consumed == input.len() && step.produced < piece.len() {
            break;
        }
        if step.consumed == 0 && step.produced == 0 {
            return Fed { read, stop: Some(Stop::Broken) };
        }
    }
    Fed { read, stop: None }
}
