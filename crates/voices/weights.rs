//! Reads Resemblyzer's `pretrained.pt`: a file of `PyTorch` from before its ZIP format.
//!
//! Five pickles, of which the last one names the storages that follow: for each a u64 count and so many f32, little endian.
//! Pickles are programs, so none is run: the one file that is accepted has its storages where the constants say.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bands of the spectrum.
pub const BANDS: usize = 40;
/// Values of a state of the network, and of what it gives out.
pub const WIDTH: usize = 256;
/// The size of the file.
const BYTES: usize = 17_090_379;
/// Where the storages begin: behind the pickles.
const STORAGES: usize = 6_667;
/// The storages up to the one with all layers: two scalars of the training, the bias and the weights of the linear layer.
const COUNTS: [usize; 5] = [1, 1, WIDTH, WIDTH * WIDTH, 1_357_824];

/// Why a model can't be used.
#[derive(Debug, thiserror::Error)]
pub enum VoiceModelError {
    #[error("model.bin can't be read: {0}")]
    Io(#[from] std::io::Error),
    #[error("model.bin is not the speaker encoder of Resemblyzer 0.1.4")]
    Other,
}

/// A layer of the network. Its four gates follow each other: input, forget, cell, output.
pub struct Layer {
    pub from_input: Vec<f32>,
    pub from_state: Vec<f32>,
    pub bias: Vec<f32>,
}

/// The weights of the network.
pub struct VoiceWeights {
    pub layers: Vec<Layer>,
    pub linear: Vec<f32>,
    pub linear_bias: Vec<f32>,
}

impl VoiceWeights {
    /// # Errors
    /// It can't be read, or is another one.
    pub fn read(file: &Path) -> Result<Self, VoiceModelError> {
        let mut bytes = Vec::new();
        File::open(file)?.take(BYTES as u64 + 1).read_to_end(&mut bytes)?;
        Self::of(&bytes).ok_or(VoiceModelError::Other)
    }

    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != BYTES {
            return None;
        }
        let mut rest = bytes.get(STORAGES..)?;
        let mut storages = Vec::with_capacity(COUNTS.len());
        for count in COUNTS {
            let (number, values) = rest.split_at_checked(8)?;
            if u64::from_le_bytes(number.try_into().ok()?) != count as u64 {
                return None;
            }
            let (values, behind) = values.split_at_checked(count * 4)?;
            let values: Vec<f32> = values.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value)).collect();
            if values.iter().any(|value| !value.is_finite()) {
                return None;
            }
            storages.push(values);
            rest = behind;
        }
        let [_, _, linear_bias, linear, layers] = storages.try_into().ok()?;
        let gates = 4 * WIDTH;
        let part = |from: usize, count: usize| layers.get(from..from + count).map(<[f32]>::to_vec);
        // The matrices of all layers, then their biases: each gate has two, which are added.
        let (mut at, mut bias_at) = (0, COUNTS[4] - 6 * gates);
        let mut all = Vec::with_capacity(3);
        for inner in [BANDS, WIDTH, WIDTH] {
            let from_input = part(at, gates * inner)?;
            let from_state = part(at + gates * inner, gates * WIDTH)?;
            let (one, other) = (part(bias_at, gates)?, part(bias_at + gates, gates)?);
            let bias = one.iter().zip(&other).map(|(one, other)| one + other).collect();
            all.push(Layer { from_input, from_state, bias });
            at += gates * (inner + WIDTH);
            bias_at += 2 * gates;
        }
        Some(Self { layers: all, linear, linear_bias })
    }
}
