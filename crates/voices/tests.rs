//! The network against figures that numpy computed with the same weights, where COLLOQUY_TEST_MODELS names a folder with the
//! model; and files that are no model.

use std::f32::consts::TAU;
use std::path::PathBuf;

use super::weights::VoiceWeights;
use super::*;

/// The folder of the model; `None`, with a message, where there is none.
fn model() -> Option<PathBuf> {
    let folder = std::env::var_os("COLLOQUY_TEST_MODELS").map(|folder| PathBuf::from(folder).join("speaker-ge2e"));
    let folder = folder.filter(|folder| folder.join("manifest.json").exists());
    if folder.is_none() {
        println!("SKIPPED: COLLOQUY_TEST_MODELS names no folder with speaker-ge2e");
    }
    folder
}

/// A sound with harmonics and a rhythm, as a voice has.
fn tone(hertz: f32) -> Vec<f32> {
    let at = |n: usize| {
        let time = n as f64 / RATE as f64;
        let wave = |hertz: f64| (f64::from(TAU) * hertz * time).sin();
        let tones: f64 =
            (1..=5).map(|harmonic| wave(f64::from(hertz) * f64::from(harmonic)) / f64::from(harmonic)).sum();
        (tones * 0.1 * (0.6 + 0.4 * wave(4.0))) as f32
    };
    (0..SAMPLES).map(at).collect()
}

#[test]
fn the_points_are_those_that_numpy_computed() {
    let Some(folder) = model() else { return };
    let encoder = VoiceEncoder::open(&folder).unwrap();
    let (low, high) = (tone(120.0), tone(210.0));
    let points = encoder.points(&[&low, &high]);
    let near = |found: f32, wanted: f32| assert!((found - wanted).abs() < 2e-3, "{found}, not {wanted}");
    for (at, wanted) in [(0, 0.0), (1, 0.09326), (2, 0.36074), (7, 0.04782), (10, 0.04239), (11, 0.13864)] {
        near(points[0][at], wanted);
    }
    for (at, wanted) in [(2, 0.0), (9, 0.03481), (10, 0.2251), (11, 0.179), (150, 0.25253)] {
        near(points[1][at], wanted);
    }
    near(points[0].iter().zip(&points[1]).map(|(one, other)| one * other).sum(), 0.42179);
    // Each for itself gives the same as both at once.
    assert!(encoder.points(&[&high])[0].iter().zip(&points[1]).all(|(one, both)| (one - both).abs() < 1e-4));
    // Nothing, silence and what is too long are points too.
    let long = vec![0.1; 2 * SAMPLES];
    for sound in [&[][..], &[0.0; 100], &long] {
        let point = &encoder.points(&[sound])[0];
        assert!(point.len() == WIDTH && point.iter().all(|value| value.is_finite()));
    }
    assert!(encoder.points(&[]).is_empty());
}

#[test]
fn another_file_is_refused() {
    assert!(VoiceWeights::of(&[]).is_none());
    assert!(VoiceWeights::of(&[0; 17_090_379]).is_none(), "the counts are wrong");
    let folder = std::env::temp_dir().join(format!("voices-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    assert!(matches!(VoiceEncoder::open(&folder), Err(VoiceModelError::Io(_))));
    std::fs::write(folder.join("model.bin"), "PK").unwrap();
    assert!(matches!(VoiceEncoder::open(&folder), Err(VoiceModelError::Other)));
    std::fs::remove_dir_all(&folder).unwrap();
}
