//! The network itself: an encoder, which sees a whole window, and a decoder, which says one token after another.

#![expect(clippy::indexing_slicing, reason = "every size is checked when the model is opened")]

use half::f16;

use super::errors::ModelError;
use super::kernels::{
    Dims, View, add_bias, bias_gelu, half_products, layer_norm, product, row_products, softmax, weighted_rows,
};
use super::spectrum::FRAMES;
use super::tokens::TIMES;
use super::weights::Weights;

/// Width of an attention head.
const HEAD: usize = 64;
/// Rows of queries whose scores are computed at once, so that they stay in the processor's cache.
const BLOCK: usize = 250;
/// Bounds of what a model may be: four times the largest that there is.
const MAX_WIDTH: usize = 5120;
const MAX_LAYERS: usize = 128;

struct Norm {
    gamma: Vec<f32>,
    beta: Vec<f32>,
}

struct Linear {
    weights: Vec<f32>,
    bias: Vec<f32>,
}

struct HalfLinear {
    weights: Vec<f16>,
    bias: Vec<f32>,
}

struct EncoderLayer {
    before_attention: Norm,
    query_key_value: Linear,
    out: Linear,
    before_step: Norm,
    up: Linear,
    down: Linear,
}

struct DecoderLayer {
    before_attention: Norm,
    query_key_value: HalfLinear,
    out: HalfLinear,
    before_listening: Norm,
    listening_query: HalfLinear,
    listening_key_value: Linear,
    listening_out: HalfLinear,
    before_step: Norm,
    up: HalfLinear,
    down: HalfLinear,
    /// Keys and values of the tokens so far, in rows.
    keys: Vec<f32>,
    values: Vec<f32>,
    /// A key and a value in each row, of the window.
    heard: Vec<f32>,
}

/// A Whisper network with the window that it heard and the tokens that it was given since.
pub struct Network {
    width: usize,
    bands: usize,
    context: usize,
    vocabulary: usize,
    first: Linear,
    second: Linear,
    positions: Vec<f32>,
    encoder: Vec<EncoderLayer>,
    encoder_norm: Norm,
    embeddings: Vec<f16>,
    token_positions: Vec<f32>,
    decoder: Vec<DecoderLayer>,
    decoder_norm: Norm,
    /// Tokens so far.
    at: usize,
}

/// Reads the parts of a network of a certain width.
struct Reading<'a> {
    weights: &'a Weights,
    width: usize,
}

impl Reading<'_> {
    fn norm(&self, name: &str) -> Result<Norm, ModelError> {
        let read = |part: &str| self.weights.full(&format!("{name}/{part}"), &[self.width]);
        Ok(Norm { gamma: read("gamma")?, beta: read("beta")? })
    }

    /// A linear layer from `from` times to `to` times the width.
    fn linear(&self, name: &str, to: usize, from: usize) -> Result<Linear, ModelError> {
        let (to, from) = (to * self.width, from * self.width);
        let weights = self.weights.full(&format!("{name}/weight"), &[to, from])?;
        Ok(Linear { weights, bias: self.weights.full(&format!("{name}/bias"), &[to])? })
    }

    fn half(&self, name: &str, to: usize, from: usize) -> Result<HalfLinear, ModelError> {
        let (to, from) = (to * self.width, from * self.width);
        let weights = self.weights.half(&format!("{name}/weight"), &[to, from])?;
        Ok(HalfLinear { weights, bias: self.weights.full(&format!("{name}/bias"), &[to])? })
    }

    /// A convolution over three frames, its weights in the order in which the frames lie in memory.
    fn convolution(&self, name: &str, channels: usize) -> Result<Linear, ModelError> {
        let stored = self.weights.full(&format!("{name}/weight"), &[self.width, channels, 3])?;
        let mut weights = Vec::with_capacity(stored.len());
        for row in stored.chunks_exact(channels * 3) {
            for tap in 0..3 {
                weights.extend(row.iter().skip(tap).step_by(3));
            }
        }
        Ok(Linear { weights, bias: self.weights.full(&format!("{name}/bias"), &[self.width])? })
    }

    fn encoder_layer(&self, name: &str) -> Result<EncoderLayer, ModelError> {
        Ok(EncoderLayer {
            before_attention: self.norm(&format!("{name}/self_attention/layer_norm"))?,
            query_key_value: self.linear(&format!("{name}/self_attention/linear_0"), 3, 1)?,
            out: self.linear(&format!("{name}/self_attention/linear_1"), 1, 1)?,
            before_step: self.norm(&format!("{name}/ffn/layer_norm"))?,
            up: self.linear(&format!("{name}/ffn/linear_0"), 4, 1)?,
            down: self.linear(&format!("{name}/ffn/linear_1"), 1, 4)?,
        })
    }

    fn decoder_layer(&self, name: &str) -> Result<DecoderLayer, ModelError> {
        Ok(DecoderLayer {
            before_attention: self.norm(&format!("{name}/self_attention/layer_norm"))?,
            query_key_value: self.half(&format!("{name}/self_attention/linear_0"), 3, 1)?,
            out: self.half(&format!("{name}/self_attention/linear_1"), 1, 1)?,
            before_listening: self.norm(&format!("{name}/attention/layer_norm"))?,
            listening_query: self.half(&format!("{name}/attention/linear_0"), 1, 1)?,
            listening_key_value: self.linear(&format!("{name}/attention/linear_1"), 2, 1)?,
            listening_out: self.half(&format!("{name}/attention/linear_2"), 1, 1)?,
            before_step: self.norm(&format!("{name}/ffn/layer_norm"))?,
            up: self.half(&format!("{name}/ffn/linear_0"), 4, 1)?,
            down: self.half(&format!("{name}/ffn/linear_1"), 1, 4)?,
            keys: Vec::new(),
            values: Vec::new(),
            heard: Vec::new(),
        })
    }
}

impl Norm {
    fn apply(&self, x: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; x.len()];
        layer_norm(&mut out, x, &self.gamma, &self.beta);
        out
    }
}

impl Linear {
    /// The product without the bias; with `add`, added to `out`.
    fn multiply(&self, out: &mut [f32], add: bool, x: &[f32]) {
        let columns = self.bias.len();
        let inner = self.weights.len() / columns;
        let dims = Dims { rows: x.len() / inner, columns, inner };
        product(out, columns, add, dims, View::rows(x, inner), View::transposed(&self.weights, inner));
    }

    fn product(&self, x: &[f32]) -> Vec<f32> {
        let inner = self.weights.len() / self.bias.len();
        let mut out = vec![0.0; x.len() / inner * self.bias.len()];
        self.multiply(&mut out, false, x);
        out
    }

    fn apply(&self, x: &[f32]) -> Vec<f32> {
        let mut out = self.product(x);
        add_bias(&mut out, &self.bias);
        out
    }

    fn gelu(&self, x: &[f32]) -> Vec<f32> {
        let mut out = self.product(x);
        bias_gelu(&mut out, &self.bias);
        out
    }

    fn add_to(&self, out: &mut [f32], x: &[f32]) {
        self.multiply(out, true, x);
        add_bias(out, &self.bias);
    }
}

impl HalfLinear {
    fn product(&self, x: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; self.bias.len()];
        half_products(&mut out, &self.weights, x);
        out
    }

    fn apply(&self, x: &[f32]) -> Vec<f32> {
        let mut out = self.product(x);
        add_bias(&mut out, &self.bias);
        out
    }

    fn gelu(&self, x: &[f32]) -> Vec<f32> {
        let mut out = self.product(x);
        bias_gelu(&mut out, &self.bias);
        out
    }

    fn add_to(&self, out: &mut [f32], x: &[f32]) {
        add_bias(out, &self.apply(x));
    }
}

impl Network {
    pub fn of(weights: &Weights) -> Result<Self, ModelError> {
        let [heard, width] = weights.dims("encoder/position_encodings/encodings")?;
        let [context, _] = weights.dims("decoder/position_encodings/encodings")?;
        let [vocabulary, _] = weights.dims("decoder/embeddings/weight")?;
        let [_, bands, _] = weights.dims("encoder/conv1/weight")?;
        let layer = |side: &str, at: usize| format!("{side}/layer_{at}");
        let has_layer = |at: &usize| weights.has(&format!("{}/ffn/linear_0/weight", layer("encoder", *at)));
        let layers = (0..MAX_LAYERS).take_while(has_layer).count();
        let is_known = heard * 2 == FRAMES
            && width.is_multiple_of(HEAD)
            && (HEAD..=MAX_WIDTH).contains(&width)
            && (1..=256).contains(&bands)
            && context >= 448
            && vocabulary > TIMES
            && layers > 0;
        if !is_known {
            return Err(ModelError::Invalid(format!(
                "a width of {width}, {layers} layers and {bands} bands are unknown"
            )));
        }
        let read = Reading { weights, width };
        let encoder = (0..layers).map(|at| read.encoder_layer(&layer("encoder", at)));
        let decoder = (0..layers).map(|at| read.decoder_layer(&layer("decoder", at)));
        Ok(Self {
            width,
            bands,
            context,
            vocabulary,
            first: read.convolution("encoder/conv1", bands)?,
            second: read.convolution("encoder/conv2", width)?,
            positions: weights.full("encoder/position_encodings/encodings", &[heard, width])?,
            encoder: encoder.collect::<Result<_, _>>()?,
            encoder_norm: read.norm("encoder/layer_norm")?,
            embeddings: weights.half("decoder/embeddings/weight", &[vocabulary, width])?,
            token_positions: weights.full("decoder/position_encodings/encodings", &[context, width])?,
            decoder: decoder.collect::<Result<_, _>>()?,
            decoder_norm: read.norm("decoder/layer_norm")?,
            at: 0,
        })
    }

    pub const fn bands(&self) -> usize {
        self.bands
    }

    pub const fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// How many more tokens can be given.
    pub const fn room(&self) -> usize {
        self.context - self.at
    }

    /// Hears a window, and forgets the one before.
    pub fn encode(&mut self, spectrum: &[f32]) {
        let x = convolved(spectrum, self.bands, 1, &self.first);
        let mut x = convolved(&x, self.width, 2, &self.second);
        add_bias(&mut x, &self.positions);
        for layer in &self.encoder {
            let query_key_value = layer.query_key_value.apply(&layer.before_attention.apply(&x));
            layer.out.add_to(&mut x, &self.attention(&query_key_value));
            let up = layer.up.gelu(&layer.before_step.apply(&x));
            layer.down.add_to(&mut x, &up);
        }
        let x = self.encoder_norm.apply(&x);
        for layer in &mut self.decoder {
            layer.heard = layer.listening_key_value.apply(&x);
        }
        self.restart();
    }

    /// Forgets all tokens, but not the window.
    pub fn restart(&mut self) {
        for layer in &mut self.decoder {
            layer.keys.clear();
            layer.values.clear();
        }
        self.at = 0;
    }

    /// Attention of each frame of a window to all of them.
    fn attention(&self, query_key_value: &[f32]) -> Vec<f32> {
        let (width, row) = (self.width, 3 * self.width);
        let frames = query_key_value.len() / row;
        let mut out = vec![0.0; frames * width];
        let mut scores = vec![0.0; BLOCK * frames];
        for head in (0..width).step_by(HEAD) {
            let keys = View::transposed(&query_key_value[width + head..], row);
            let values = View::rows(&query_key_value[2 * width + head..], row);
            for from in (0..frames).step_by(BLOCK) {
                let rows = BLOCK.min(frames - from);
                let scores = &mut scores[..rows * frames];
                let queries = View::rows(&query_key_value[from * row + head..], row);
                product(scores, frames, false, Dims { rows, columns: frames, inner: HEAD }, queries, keys);
                softmax(scores, frames, (HEAD as f32).powf(-0.5));
                let dims = Dims { rows, columns: HEAD, inner: frames };
                product(&mut out[from * width + head..], width, false, dims, View::rows(scores, frames), values);
            }
        }
        out
    }

    /// Gives the next token, and returns the score of each token to come after it. A token that is not in the vocabulary,
    /// or for which there is no room, changes nothing, and no token comes after it.
    pub fn step(&mut self, token: u32) -> Vec<f32> {
        let width = self.width;
        let mut scores = vec![f32::NEG_INFINITY; self.vocabulary];
        if self.room() == 0 || token as usize >= self.vocabulary {
            return scores;
        }
        let embedding = &self.embeddings[token as usize * width..][..width];
        let position = &self.token_positions[self.at * width..][..width];
        let mut x: Vec<f32> = embedding.iter().zip(position).map(|(embedded, at)| embedded.to_f32() + at).collect();
        self.at += 1;
        for layer in &mut self.decoder {
            let query_key_value = layer.query_key_value.apply(&layer.before_attention.apply(&x));
            layer.keys.extend_from_slice(&query_key_value[width..2 * width]);
            layer.values.extend_from_slice(&query_key_value[2 * width..]);
            let attended = attended(&query_key_value[..width], &layer.keys, &layer.values, width, self.at);
            layer.out.add_to(&mut x, &attended);
            let query = layer.listening_query.apply(&layer.before_listening.apply(&x));
            let frames = layer.heard.len() / (2 * width);
            let listened = attended_to(&query, &layer.heard, frames);
            layer.listening_out.add_to(&mut x, &listened);
            let up = layer.up.gelu(&layer.before_step.apply(&x));
            layer.down.add_to(&mut x, &up);
        }
        half_products(&mut scores, &self.embeddings, &self.decoder_norm.apply(&x));
        scores
    }
}

fn attended_to(query: &[f32], heard: &[f32], frames: usize) -> Vec<f32> {
    match frames {
        0 => vec![0.0; query.len()],
        _ => attended(query, heard, &heard[query.len()..], 2 * query.len(), frames),
    }
}

/// Attention of one query to `count` rows of keys and values, which begin `stride` values apart.
fn attended(query: &[f32], keys: &[f32], values: &[f32], stride: usize, count: usize) -> Vec<f32> {
    let mut out = vec![0.0; query.len()];
    let mut shares = vec![0.0; count];
    for head in (0..query.len()).step_by(HEAD) {
        row_products(&mut shares, &keys[head..], stride, &query[head..head + HEAD]);
        softmax(&mut shares, count, (HEAD as f32).powf(-0.5));
        weighted_rows(&mut out[head..head + HEAD], &shares, &values[head..], stride);
    }
    out
}

/// A convolution over three frames, with silence before and behind, then GELU. Neighbouring rows of the product overlap in
/// memory, so that nothing has to be copied.
fn convolved(x: &[f32], channels: usize, step: usize, layer: &Linear) -> Vec<f32> {
    let frames = x.len() / channels;
    let mut padded = vec![0.0; (frames + 2) * channels];
    padded[channels..][..x.len()].copy_from_slice(x);
    let (columns, inner) = (layer.bias.len(), 3 * channels);
    let dims = Dims { rows: frames / step, columns, inner };
    let mut out = vec![0.0; dims.rows * columns];
    let frames = View { values: &padded, row: step * channels, column: 1 };
    product(&mut out, columns, false, dims, frames, View::transposed(&layer.weights, inner));
    bias_gelu(&mut out, &layer.bias);
    out
}
