//! The arithmetic under the network. The only file with `unsafe` code: calls of compiled variants of a function after the
//! processor was asked for their instructions, and the matrix product's pointers after their bounds were checked.
//!
//! Each loop is written once as plain Rust and compiled twice: for every processor of the kind, and for AVX2 with FMA and
//! F16C, chosen while running.

#![expect(unsafe_code, reason = "see above; each block says why it is sound")]
#![expect(clippy::indexing_slicing, reason = "lengths are asserted at the entry of each kernel")]

use half::f16;

/// A matrix inside a slice: where it begins, and the distance between its rows and its columns.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub values: &'a [f32],
    pub row: usize,
    pub column: usize,
}

impl<'a> View<'a> {
    /// A matrix whose rows of `row` values follow each other.
    pub const fn rows(values: &'a [f32], row: usize) -> Self {
        Self { values, row, column: 1 }
    }

    /// As [`Self::rows`], but transposed.
    pub const fn transposed(values: &'a [f32], row: usize) -> Self {
        Self { values, row: 1, column: row }
    }

    fn has(&self, rows: usize, columns: usize) -> bool {
        (rows - 1) * self.row + (columns - 1) * self.column < self.values.len()
    }
}

/// The dimensions of a product: `rows` × `inner` times `inner` × `columns`.
#[derive(Clone, Copy)]
pub struct Dims {
    pub rows: usize,
    pub columns: usize,
    pub inner: usize,
}

/// Writes the product of two matrices into `out`, whose rows are `out_row` apart; with `add`, adds it to what is there.
pub fn product(out: &mut [f32], out_row: usize, add: bool, dims: Dims, left: View<'_>, right: View<'_>) {
    let Dims { rows, columns, inner } = dims;
    assert!(rows > 0 && columns > 0 && inner > 0 && columns <= out_row);
    assert!((rows - 1) * out_row + columns <= out.len());
    assert!(left.has(rows, inner) && right.has(inner, columns));
    let beta = if add { 1.0 } else { 0.0 };
    // SAFETY: the strides reach no element outside of the slices, as asserted, and `out` is borrowed mutably, so that it
    // overlaps neither input. No slice is longer than `isize::MAX` bytes, so the strides fit too.
    unsafe {
        matrixmultiply::sgemm(
            rows,
            inner,
            columns,
            1.0,
            left.values.as_ptr(),
            left.row as isize,
            left.column as isize,
            right.values.as_ptr(),
            right.row as isize,
            right.column as isize,
            beta,
            out.as_mut_ptr(),
            out_row as isize,
            1,
        );
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    // To measure what a processor without these instructions needs: RUSTFLAGS="--cfg whisper_plain".
    !cfg!(whisper_plain)
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
}

/// Defines a function that is compiled twice.
macro_rules! compiled_twice {
    ($(#[$doc:meta])* $name:ident ( $($arg:ident : $ty:ty),* ) $body:block) => {
        $(#[$doc])*
        pub fn $name($($arg: $ty),*) {
            #[inline(always)]
            fn plain($($arg: $ty),*) $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma,f16c")]
                fn with_avx2($($arg: $ty),*) { plain($($arg),*) }
                if has_avx2() {
                    // SAFETY: the processor has these instructions.
                    return unsafe { with_avx2($($arg),*) };
                }
            }
            plain($($arg),*)
        }
    };
}

/// Sums that are kept apart in a loop, so that the compiler uses vector instructions.
const LANES: usize = 16;

#[inline(always)]
fn exp(x: f32) -> f32 {
    // 2^n · 2^f with f in -0.5..=0.5; the relative error is about 1e-7.
    const ROUND: f32 = 12_582_912.0;
    let y = (x * std::f32::consts::LOG2_E).clamp(-126.0, 126.0);
    let shifted = y + ROUND;
    let f = y - (shifted - ROUND);
    let n = shifted.to_bits().wrapping_sub(ROUND.to_bits());
    let p = 1.535_336e-4_f32;
    let p = p * f + 1.339_887e-3;
    let p = p * f + 9.618_437e-3;
    let p = p * f + 5.550_332e-2;
    let p = p * f + 2.402_264_8e-1;
    let p = p * f + std::f32::consts::LN_2;
    let p = p * f + 1.0;
    p * f32::from_bits(n.wrapping_add(127) << 23)
}

#[inline(always)]
fn sum(x: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let (body, tail) = x.as_chunks::<LANES>();
    for chunk in body {
        for i in 0..LANES {
            lanes[i] += chunk[i];
        }
    }
    lanes.iter().sum::<f32>() + tail.iter().sum::<f32>()
}

#[inline(always)]
fn greatest(x: &[f32]) -> f32 {
    let mut lanes = [f32::MIN; LANES];
    let (body, tail) = x.as_chunks::<LANES>();
    for chunk in body {
        for i in 0..LANES {
            lanes[i] = if chunk[i] > lanes[i] { chunk[i] } else { lanes[i] };
        }
    }
    lanes.iter().chain(tail).fold(f32::MIN, |most, value| most.max(*value))
}

#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 2 * LANES];
    let ((a, a_tail), (b, b_tail)) = (a.as_chunks::<{ 2 * LANES }>(), b.as_chunks::<{ 2 * LANES }>());
    for (a, b) in a.iter().zip(b) {
        for i in 0..2 * LANES {
            lanes[i] += a[i] * b[i];
        }
    }
    lanes.iter().sum::<f32>() + a_tail.iter().zip(b_tail).map(|(a, b)| a * b).sum::<f32>()
}

/// The value of a half-precision number, but for infinities and NaN, without a branch: the exponent is moved to its place,
/// and a product with a power of two corrects its bias, for subnormal numbers too.
#[inline(always)]
fn wide(half: f16) -> f32 {
    let bits = u32::from(half.to_bits());
    let magnitude = f32::from_bits((bits & 0x7fff) << 13) * f32::from_bits((254 - 15) << 23);
    f32::from_bits(magnitude.to_bits() | (bits & 0x8000) << 16)
}

compiled_twice! {
    /// Softmax of each row of `n` values times `scale`, in place.
    softmax(x: &mut [f32], n: usize, scale: f32) {
        for row in x.chunks_exact_mut(n) {
            let most = greatest(row);
            for value in row.iter_mut() {
                *value = exp((*value - most) * scale);
            }
            let inverse = 1.0 / sum(row);
            for value in row.iter_mut() {
                *value *= inverse;
            }
        }
    }
}

compiled_twice! {
    /// Adds `bias` to each row, then applies GELU in its exact form (with erf, to about 1e-7).
    bias_gelu(x: &mut [f32], bias: &[f32]) {
        for row in x.chunks_exact_mut(bias.len()) {
            for (value, bias) in row.iter_mut().zip(bias) {
                let x = *value + bias;
                let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
                let t = 1.0 / (1.0 + 0.327_591_1 * z);
                let p = ((((1.061_405_4 * t - 1.453_152) * t + 1.421_413_7) * t - 0.284_496_74) * t + 0.254_829_6) * t;
                let erf = 1.0 - p * exp(-z * z);
                *value = 0.5 * (x + x.abs() * erf);
            }
        }
    }
}

compiled_twice! {
    /// Adds `bias` to each row.
    add_bias(x: &mut [f32], bias: &[f32]) {
        for row in x.chunks_exact_mut(bias.len()) {
            for (value, bias) in row.iter_mut().zip(bias) {
                *value += bias;
            }
        }
    }
}

compiled_twice! {
    /// Normalises each row to mean 0 and variance 1, then scales and shifts it.
    layer_norm(out: &mut [f32], x: &[f32], gamma: &[f32], beta: &[f32]) {
        let n = gamma.len();
        assert!(n == beta.len() && out.len() == x.len());
        for (out, x) in out.chunks_exact_mut(n).zip(x.chunks_exact(n)) {
            let mean = sum(x) / n as f32;
            for i in 0..n {
                out[i] = x[i] - mean;
            }
            let inverse = 1.0 / (dot(out, out) / n as f32 + 1e-5).sqrt();
            for i in 0..n {
                out[i] = out[i] * inverse * gamma[i] + beta[i];
            }
        }
    }
}

compiled_twice! {
    /// Writes the scalar product of `x` with each row of `weights`; rows begin `stride` values apart.
    row_products(out: &mut [f32], weights: &[f32], stride: usize, x: &[f32]) {
        for (row, out) in out.iter_mut().enumerate() {
            *out = dot(&weights[row * stride..][..x.len()], x);
        }
    }
}

compiled_twice! {
    /// Writes the sum of the rows of `values`, each times its share; rows begin `stride` values apart.
    weighted_rows(out: &mut [f32], shares: &[f32], values: &[f32], stride: usize) {
        out.fill(0.0);
        for (row, share) in shares.iter().enumerate() {
            for (out, value) in out.iter_mut().zip(&values[row * stride..]) {
                *out += share * value;
            }
        }
    }
}

compiled_twice! {
    /// As [`row_products`], with half-precision rows that follow each other, but without the instructions for them.
    plain_half_products(out: &mut [f32], weights: &[f16], x: &[f32]) {
        assert_eq!(weights.len(), out.len() * x.len());
        for (out, weights) in out.iter_mut().zip(weights.chunks_exact(x.len())) {
            let mut lanes = [0.0_f32; LANES];
            let ((weights, weights_tail), (x, x_tail)) = (weights.as_chunks::<LANES>(), x.as_chunks::<LANES>());
            for (weights, x) in weights.iter().zip(x) {
                for i in 0..LANES {
                    lanes[i] += wide(weights[i]) * x[i];
                }
            }
            let tail = weights_tail.iter().zip(x_tail).map(|(weight, x)| wide(*weight) * x);
            *out = lanes.iter().sum::<f32>() + tail.sum::<f32>();
        }
    }
}

/// Writes the scalar product of `x` with each half-precision row of `weights`.
pub fn half_products(out: &mut [f32], weights: &[f16], x: &[f32]) {
    assert_eq!(weights.len(), out.len() * x.len());
    #[cfg(target_arch = "x86_64")]
    if x.len().is_multiple_of(32) && has_avx2() {
        // SAFETY: the processor has these instructions, and the lengths are as it needs them.
        return unsafe { half_products_avx2(out, weights, x) };
    }
    plain_half_products(out, weights, x);
}

/// # Safety
/// The processor has AVX2, FMA and F16C; `x.len()` is a multiple of 32, and `weights.len()` is `out.len() * x.len()`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn half_products_avx2(out: &mut [f32], weights: &[f16], x: &[f32]) {
    use std::arch::x86_64::{
        _mm_loadu_si128, _mm256_add_ps, _mm256_cvtph_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_setzero_ps,
        _mm256_storeu_ps,
    };
    for (out, weights) in out.iter_mut().zip(weights.chunks_exact(x.len())) {
        let mut sums = [_mm256_setzero_ps(); 4];
        for (weights, x) in weights.chunks_exact(32).zip(x.chunks_exact(32)) {
            for (i, sum) in sums.iter_mut().enumerate() {
                // SAFETY: eight values from offset 8 · i of chunks of 32 values.
                let (weights, x) = unsafe {
                    (_mm_loadu_si128(weights.as_ptr().add(8 * i).cast()), _mm256_loadu_ps(x.as_ptr().add(8 * i)))
                };
                *sum = _mm256_fmadd_ps(_mm256_cvtph_ps(weights), x, *sum);
            }
        }
        let sum = _mm256_add_ps(_mm256_add_ps(sums[0], sums[1]), _mm256_add_ps(sums[2], sums[3]));
        let mut lanes = [0.0_f32; 8];
        // SAFETY: `lanes` has room for eight values.
        unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), sum) };
        *out = lanes.iter().sum();
    }
}

#[cfg(test)]
mod tests;
