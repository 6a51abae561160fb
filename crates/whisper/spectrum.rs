//! The spectrum of a sound: the energy in bands of the mel scale, for each hundredth of a second.

#![expect(clippy::indexing_slicing, reason = "all sizes are constants of this file")]

use std::f64::consts::PI;

use super::kernels::{Dims, View, product};
use super::sound::{RATE, WINDOW};

/// Samples between two frames.
const HOP: usize = 160;
/// Frames of a window.
pub(crate) const FRAMES: usize = WINDOW / HOP;
/// Samples that a frame is computed of.
const SPAN: usize = 400;
const BINS: usize = SPAN / 2 + 1;

/// Computes spectra. The transform is a product of two dense matrices, which costs less than a hundredth of the encoder.
pub struct Spectrum {
    bands: usize,
    transform: Vec<f32>,
    bank: Vec<f32>,
}

impl Spectrum {
    #[must_use]
    pub fn new(bands: usize) -> Self {
        let mut transform = vec![0.0; SPAN * 2 * BINS];
        for n in 0..SPAN {
            let hann = 0.5 - 0.5 * (2.0 * PI * n as f64 / SPAN as f64).cos();
            for k in 0..BINS {
                let angle = 2.0 * PI * ((n * k) % SPAN) as f64 / SPAN as f64;
                transform[n * 2 * BINS + k] = (hann * angle.cos()) as f32;
                transform[n * 2 * BINS + BINS + k] = (hann * angle.sin()) as f32;
            }
        }
        Self { bands, transform, bank: bank(bands) }
    }

    /// Returns the logarithms of the energies of a window as Whisper knows them, frame by frame.
    pub(crate) fn of(&self, samples: &[f32]) -> Vec<f32> {
        let mut out = self.energies(samples, FRAMES);
        let mut most = f32::MIN;
        for value in &mut out {
            *value = value.max(1e-10).log10();
            most = most.max(*value);
        }
        for value in &mut out {
            *value = (value.max(most - 8.0) + 4.0) / 4.0;
        }
        out
    }

    /// Returns the energies of at least one frame, frame by frame. The sound is mirrored before its first sample, and silent
    /// after its last one.
    #[must_use]
    pub fn energies(&self, samples: &[f32], count: usize) -> Vec<f32> {
        let mut frames = vec![0.0_f32; count * SPAN];
        for (frame, row) in frames.chunks_exact_mut(SPAN).enumerate() {
            let first = (frame * HOP) as isize - (SPAN / 2) as isize;
            for (n, value) in row.iter_mut().enumerate() {
                *value = samples.get((first + n as isize).unsigned_abs()).copied().unwrap_or_default();
            }
        }
        let mut waves = vec![0.0; count * 2 * BINS];
        let dims = Dims { rows: count, columns: 2 * BINS, inner: SPAN };
        product(&mut waves, 2 * BINS, false, dims, View::rows(&frames, SPAN), View::rows(&self.transform, 2 * BINS));
        let mut power = vec![0.0; count * BINS];
        for (power, waves) in power.chunks_exact_mut(BINS).zip(waves.chunks_exact(2 * BINS)) {
            for (k, power) in power.iter_mut().enumerate() {
                *power = waves[k] * waves[k] + waves[BINS + k] * waves[BINS + k];
            }
        }
        let mut out = vec![0.0; count * self.bands];
        let dims = Dims { rows: count, columns: self.bands, inner: BINS };
        product(&mut out, self.bands, false, dims, View::rows(&power, BINS), View::transposed(&self.bank, BINS));
        out
    }
}

/// Triangular filters on Slaney's mel scale, each with the same area.
fn bank(bands: usize) -> Vec<f32> {
    let step = 6.4_f64.ln() / 27.0;
    let hertz = |mel: f64| if mel < 15.0 { mel * 200.0 / 3.0 } else { 1000.0 * ((mel - 15.0) * step).exp() };
    let last = 15.0 + (RATE as f64 / 2.0 / 1000.0).ln() / step;
    let edges: Vec<f64> = (0..bands + 2).map(|edge| hertz(last * edge as f64 / (bands + 1) as f64)).collect();
    let mut bank = vec![0.0; bands * BINS];
    for (band, filter) in bank.chunks_exact_mut(BINS).enumerate() {
        let (low, middle, high) = (edges[band], edges[band + 1], edges[band + 2]);
        for (k, weight) in filter.iter_mut().enumerate() {
            let hertz = (k * RATE) as f64 / SPAN as f64;
            let height = ((hertz - low) / (middle - low)).min((high - hertz) / (high - middle)).max(0.0);
            *weight = (height * 2.0 / (high - low)) as f32;
        }
    }
    bank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tone_is_loudest_in_its_own_band() {
        let tone = |hertz: f64| -> Vec<f32> {
            (0..RATE).map(|n| (2.0 * PI * hertz * n as f64 / RATE as f64).sin() as f32 * 0.3).collect()
        };
        let spectrum = Spectrum::new(80);
        let loudest = |hertz: f64| {
            let frames = spectrum.of(&tone(hertz));
            let frame = &frames[50 * 80..][..80];
            (0..80).max_by(|a, b| frame[*a].total_cmp(&frame[*b])).unwrap()
        };
        let bands = [200.0, 400.0, 1000.0, 3000.0, 7000.0].map(loudest);
        assert!(bands.is_sorted() && bands[0] > 2 && bands[4] < 80, "{bands:?}");
        // Silence behind the end of the sound is as quiet as can be.
        let frames = spectrum.of(&tone(400.0));
        assert!(frames[2000 * 80..].iter().all(|value| (*value - frames[2999 * 80]).abs() < 1e-6));
    }
}
