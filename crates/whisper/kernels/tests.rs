//! Each kernel against its definition in double precision, on lengths that fill no vector.

use half::f16;

use super::*;

fn values(count: usize, seed: f32) -> Vec<f32> {
    (0..count).map(|i| ((i as f32 + seed) * 12.9898).sin() * 3.0).collect()
}

fn are_close(found: &[f32], wanted: &[f64], by: f64) {
    assert_eq!(found.len(), wanted.len());
    for (at, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        assert!((f64::from(*found) - wanted).abs() <= by * wanted.abs().max(1.0), "{at}: {found} for {wanted}");
    }
}

fn double(values: &[f32]) -> Vec<f64> {
    values.iter().map(|value| f64::from(*value)).collect()
}

#[test]
fn exp_is_right_far_out_too() {
    for i in -400..=400 {
        let x = i as f32 * 0.21;
        assert!((f64::from(exp(x)) / f64::from(x).exp() - 1.0).abs() < 2e-5, "{x}");
    }
}

#[test]
fn softmax_of_rows() {
    for n in [1, 7, 16, 37, 1500] {
        let x = values(3 * n, 0.5);
        let mut found = x.clone();
        softmax(&mut found, n, 0.5);
        let wanted = x.chunks(n).flat_map(|row| {
            let powers: Vec<f64> = row.iter().map(|value| (f64::from(*value) * 0.5).exp()).collect();
            let total: f64 = powers.iter().sum();
            powers.into_iter().map(move |power| power / total)
        });
        are_close(&found, &wanted.collect::<Vec<_>>(), 1e-6);
    }
}

#[test]
fn gelu_has_its_known_values() {
    let mut x = [-3.5, -1.5, -0.5, 0.0, 1.5];
    bias_gelu(&mut x, &[0.5; 5]);
    are_close(&x, &[-0.004_049_7, -0.158_655_26, 0.0, 0.345_731_23, 1.954_499_7], 1e-6);
}

#[test]
fn a_bias_is_added_to_each_row() {
    let mut x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    add_bias(&mut x, &[0.5, 1.0, 2.0]);
    assert_eq!(x, [1.5, 3.0, 5.0, 4.5, 6.0, 8.0]);
}

#[test]
fn products_with_strides() {
    let (rows, columns, inner) = (5, 7, 19);
    let (left, right) = (values(rows * inner, 1.0), values(columns * inner, 2.0));
    let dims = Dims { rows, columns, inner };
    for add in [false, true] {
        let mut found = vec![1.0; rows * 9];
        product(&mut found, 9, add, dims, View::rows(&left, inner), View::transposed(&right, inner));
        for row in 0..rows {
            let wanted: Vec<f64> = (0..9)
                .map(|column| match column < columns {
                    true => {
                        let (left, right) = (&left[row * inner..][..inner], &right[column * inner..][..inner]);
                        let sum: f64 = double(left).iter().zip(double(right)).map(|(a, b)| a * b).sum();
                        sum + f64::from(u8::from(add))
                    }
                    false => 1.0,
                })
                .collect();
            are_close(&found[row * 9..][..9], &wanted, 1e-5);
        }
    }
}

#[test]
#[should_panic(expected = "assertion failed")]
fn a_product_reads_nothing_outside_of_its_input() {
    let dims = Dims { rows: 2, columns: 2, inner: 3 };
    product(&mut [0.0; 4], 2, false, dims, View::rows(&[0.0; 6], 3), View::rows(&[0.0; 5], 2));
}

#[test]
fn rows_are_normalised() {
    for n in [4, 33, 384] {
        let (x, gamma, beta) = (values(2 * n, 3.0), values(n, 4.0), values(n, 5.0));
        let mut found = vec![0.0; 2 * n];
        layer_norm(&mut found, &x, &gamma, &beta);
        let wanted = x.chunks(n).flat_map(|row| {
            let row = double(row);
            let mean = row.iter().sum::<f64>() / n as f64;
            let variance = row.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n as f64;
            let scaled = row.into_iter().zip(double(&gamma)).zip(double(&beta));
            scaled
                .map(|((value, gamma), beta)| (value - mean) / (variance + 1e-5).sqrt() * gamma + beta)
                .collect::<Vec<_>>()
        });
        are_close(&found, &wanted.collect::<Vec<_>>(), 1e-5);
    }
}

#[test]
fn rows_times_a_vector_and_back() {
    let (rows, n, stride) = (11, 37, 50);
    let (weights, x) = (values(rows * stride, 6.0), values(n, 7.0));
    let mut found = vec![0.0; rows];
    row_products(&mut found, &weights, stride, &x);
    let row = |row: usize| double(&weights[row * stride..][..n]);
    let wanted: Vec<f64> = (0..rows).map(|at| row(at).iter().zip(double(&x)).map(|(a, b)| a * b).sum()).collect();
    are_close(&found, &wanted, 1e-5);
    let shares = values(rows, 8.0);
    let mut found = vec![9.0; n];
    weighted_rows(&mut found, &shares, &weights, stride);
    let wanted: Vec<f64> =
        (0..n).map(|at| (0..rows).map(|from| f64::from(shares[from]) * row(from)[at]).sum()).collect();
    are_close(&found, &wanted, 1e-5);
}

#[test]
fn half_precision_rows_with_and_without_instructions_for_them() {
    for n in [1, 16, 32, 37, 384] {
        let rows = 5;
        let weights: Vec<f16> = values(rows * n, 9.0).into_iter().map(f16::from_f32).collect();
        let x = values(n, 10.0);
        let wanted: Vec<f64> = weights
            .chunks(n)
            .map(|row| row.iter().zip(double(&x)).map(|(weight, x)| weight.to_f64() * x).sum())
            .collect();
        for products in [half_products, plain_half_products] {
            let mut found = vec![0.0; rows];
            products(&mut found, &weights, &x);
            are_close(&found, &wanted, 1e-5);
        }
    }
}

#[test]
fn every_finite_half_is_widened_exactly() {
    for bits in 0..=u16::MAX {
        let half = f16::from_bits(bits);
        assert!(!half.is_finite() || wide(half).to_bits() == half.to_f32().to_bits(), "{half}");
    }
}
