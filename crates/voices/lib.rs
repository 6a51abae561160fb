//! Tells voices apart: 1.6 s of 16 kHz mono sound in, a point of a space out in which the same voice is near itself.
//!
//! ```text
//! samples (1.6 s) ─► Spectrum, 40 bands ─► three LSTM layers ─► linear, ReLU ─► length 1
//! ```
//! The network is the GE2E speaker encoder of Resemblyzer (`model.bin` is its `pretrained.pt`). What it gives out
//! identifies people as a fingerprint does: keep it no longer than it takes to compare.

#![expect(clippy::indexing_slicing, reason = "lengths are those of constants, or asserted at the entry of a function")]

mod weights;

#[cfg(test)]
mod tests;

use std::path::Path;

use whisper::{Dims, RATE, Spectrum, View, product};

pub use weights::VoiceModelError;
use weights::{BANDS, Layer, VoiceWeights, WIDTH};

/// Frames of what is given to the network, one for each hundredth of a second.
const FRAMES: usize = 160;
/// Samples of what is given to the network: 1.6 s.
pub const SAMPLES: usize = FRAMES * RATE / 100;
/// A quieter sound is made so loud: -30 dB of full scale.
const LOUDNESS: f32 = 0.031_622_776;

/// A point that a voice has. Its length is 1, so that the cosine of two is their product.
pub type VoicePoint = Vec<f32>;

/// The speaker encoder.
pub struct VoiceEncoder {
    weights: VoiceWeights,
    spectrum: Spectrum,
}

impl VoiceEncoder {
    /// Reads the model in a folder.
    ///
    /// # Errors
    /// It can't be read, or is another one.
    pub fn open(folder: &Path) -> Result<Self, VoiceModelError> {
        Ok(Self { weights: VoiceWeights::read(&folder.join("model.bin"))?, spectrum: Spectrum::new(BANDS) })
    }

    /// Returns the points of some sounds; each is cut, or filled with silence, to [`SAMPLES`].
    #[must_use]
    pub fn points(&self, sounds: &[&[f32]]) -> Vec<VoicePoint> {
        if sounds.is_empty() {
            return Vec::new();
        }
        // The frames of all sounds follow each other by time, so that one product does a step for all of them.
        let count = sounds.len();
        let mut values = vec![0.0; FRAMES * count * BANDS];
        for (at, sound) in sounds.iter().enumerate() {
            let energies = self.spectrum.energies(&loud(sound), FRAMES);
            for (frame, energies) in energies.chunks_exact(BANDS).enumerate() {
                values[(frame * count + at) * BANDS..][..BANDS].copy_from_slice(energies);
            }
        }
        for layer in &self.weights.layers {
            values = passed(layer, &values, count);
        }
        let last = &values[(FRAMES - 1) * count * WIDTH..];
        let mut points = vec![0.0; count * WIDTH];
        let dims = Dims { rows: count, columns: WIDTH, inner: WIDTH };
        let linear = View::transposed(&self.weights.linear, WIDTH);
        product(&mut points, WIDTH, false, dims, View::rows(last, WIDTH), linear);
        points.chunks_exact(WIDTH).map(|point| unit(point, &self.weights.linear_bias)).collect()
    }
}

/// Returns a sound of the length and at least the loudness that the network knows.
fn loud(sound: &[f32]) -> Vec<f32> {
    let mut samples = sound[..sound.len().min(SAMPLES)].to_vec();
    let energy = samples.iter().map(|sample| sample * sample).sum::<f32>() / samples.len().max(1) as f32;
    let factor = (LOUDNESS / energy.sqrt().max(1e-6)).max(1.0);
    samples.iter_mut().for_each(|sample| *sample *= factor);
    samples.resize(SAMPLES, 0.0);
    samples
}

/// Passes a layer: returns its states, frame by frame, for `count` sounds each.
fn passed(layer: &Layer, values: &[f32], count: usize) -> Vec<f32> {
    let inner = layer.from_input.len() / (4 * WIDTH);
    let mut gates = vec![0.0; FRAMES * count * 4 * WIDTH];
    let dims = Dims { rows: FRAMES * count, columns: 4 * WIDTH, inner };
    let from_input = View::transposed(&layer.from_input, inner);
    product(&mut gates, 4 * WIDTH, false, dims, View::rows(values, inner), from_input);
    let mut states = vec![0.0; FRAMES * count * WIDTH];
    let mut cells = vec![0.0; count * WIDTH];
    let dims = Dims { rows: count, columns: 4 * WIDTH, inner: WIDTH };
    for (frame, gates) in gates.chunks_exact_mut(count * 4 * WIDTH).enumerate() {
        let (before, now) = states.split_at_mut(frame * count * WIDTH);
        if frame > 0 {
            let before = View::rows(&before[(frame - 1) * count * WIDTH..], WIDTH);
            product(gates, 4 * WIDTH, true, dims, before, View::transposed(&layer.from_state, WIDTH));
        }
        let cells = cells.chunks_exact_mut(WIDTH);
        let rows = gates.chunks_exact(4 * WIDTH).zip(cells).zip(now.chunks_exact_mut(WIDTH));
        for ((gates, cells), states) in rows {
            step(gates, &layer.bias, cells, states);
        }
    }
    states
}

/// One step of a layer for one sound.
fn step(gates: &[f32], bias: &[f32], cells: &mut [f32], states: &mut [f32]) {
    let gate = |which: usize, at: usize| gates[which * WIDTH + at] + bias[which * WIDTH + at];
    for at in 0..WIDTH {
        let (input, forget, output) = (sigmoid(gate(0, at)), sigmoid(gate(1, at)), sigmoid(gate(3, at)));
        cells[at] = forget * cells[at] + input * gate(2, at).tanh();
        states[at] = output * cells[at].tanh();
    }
}

fn sigmoid(value: f32) -> f32 {
    1.0 / (1.0 + (-value).exp())
}

fn unit(point: &[f32], bias: &[f32]) -> VoicePoint {
    let point: Vec<f32> = point.iter().zip(bias).map(|(value, bias)| (value + bias).max(0.0)).collect();
    let length = point.iter().map(|value| value * value).sum::<f32>().sqrt().max(1e-12);
    point.into_iter().map(|value| value / length).collect()
}
