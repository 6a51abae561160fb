//! Model files that are not what they should be: each is an error that says what is wrong, and takes no more memory than the
//! file has.

use super::*;
use crate::network::Network;

const WIDTH: usize = 64;
const VOCABULARY: usize = 1600;

/// A model of one layer, with every tensor that a network has: names, dimensions, half-precision values.
fn tensors() -> Vec<(String, Vec<usize>, Vec<u8>)> {
    let mut all = Vec::new();
    let mut add = |name: &str, dims: &[usize]| {
        let count = dims.iter().product::<usize>();
        let values = (0..count).flat_map(|n| f16::from_f32((n % 7) as f32 * 0.01 - 0.03).to_le_bytes());
        all.push((name.to_owned(), dims.to_vec(), values.collect()));
    };
    add("encoder/conv1/weight", &[WIDTH, 80, 3]);
    add("encoder/conv1/bias", &[WIDTH]);
    add("encoder/conv2/weight", &[WIDTH, WIDTH, 3]);
    add("encoder/conv2/bias", &[WIDTH]);
    add("encoder/position_encodings/encodings", &[1500, WIDTH]);
    add("decoder/position_encodings/encodings", &[448, WIDTH]);
    add("decoder/embeddings/weight", &[VOCABULARY, WIDTH]);
    let norms = [
        "encoder/layer_norm",
        "decoder/layer_norm",
        "encoder/layer_0/self_attention/layer_norm",
        "encoder/layer_0/ffn/layer_norm",
        "decoder/layer_0/self_attention/layer_norm",
        "decoder/layer_0/attention/layer_norm",
        "decoder/layer_0/ffn/layer_norm",
    ];
    for norm in norms {
        add(&format!("{norm}/gamma"), &[WIDTH]);
        add(&format!("{norm}/beta"), &[WIDTH]);
    }
    let linears = [
        ("encoder/layer_0/self_attention/linear_0", 3, 1),
        ("encoder/layer_0/self_attention/linear_1", 1, 1),
        ("encoder/layer_0/ffn/linear_0", 4, 1),
        ("encoder/layer_0/ffn/linear_1", 1, 4),
        ("decoder/layer_0/self_attention/linear_0", 3, 1),
        ("decoder/layer_0/self_attention/linear_1", 1, 1),
        ("decoder/layer_0/attention/linear_0", 1, 1),
        ("decoder/layer_0/attention/linear_1", 2, 1),
        ("decoder/layer_0/attention/linear_2", 1, 1),
        ("decoder/layer_0/ffn/linear_0", 4, 1),
        ("decoder/layer_0/ffn/linear_1", 1, 4),
    ];
    for (linear, to, from) in linears {
        add(&format!("{linear}/weight"), &[to * WIDTH, from * WIDTH]);
        add(&format!("{linear}/bias"), &[to * WIDTH]);
    }
    all
}

fn string(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len() + 1).unwrap().to_le_bytes();
    [&length[..], text.as_bytes(), b"\0"].concat()
}

fn number(value: usize) -> [u8; 4] {
    u32::try_from(value).unwrap().to_le_bytes()
}

fn header(tensors: usize) -> Vec<u8> {
    [&number(6)[..], &string("WhisperSpec"), &number(3), &number(tensors)].concat()
}

fn file(tensors: &[(String, Vec<usize>, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = header(tensors.len());
    for (name, dims, values) in tensors {
        bytes.extend(string(name));
        bytes.push(u8::try_from(dims.len()).unwrap());
        bytes.extend(dims.iter().flat_map(|dim| number(*dim)));
        bytes.push(F16);
        bytes.extend(number(values.len()));
        bytes.extend(values);
    }
    bytes.extend(number(0));
    bytes
}

/// Why the model is refused; empty if it is not.
fn refused(bytes: Vec<u8>) -> String {
    match Weights::of(bytes).and_then(|weights| Network::of(&weights)) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

/// The model after a change of one tensor.
fn changed(name: &str, change: impl FnOnce(&mut Vec<usize>, &mut Vec<u8>)) -> Vec<u8> {
    let mut all = tensors();
    let (_, dims, values) = all.iter_mut().find(|(one, _, _)| one == name).unwrap();
    change(dims, values);
    file(&all)
}

#[test]
fn a_whole_model_is_read_and_a_truncated_one_is_not() {
    let whole = file(&tensors());
    assert_eq!(refused(whole.clone()), "");
    let places = [0, 1, 4, 6, 20, 22, 26, 30, 100, whole.len() / 2, whole.len() - 5, whole.len() - 1];
    for length in places.into_iter().chain((0..whole.len()).step_by(40_007)) {
        let why = refused(whole[..length].to_vec());
        assert!(why.contains("ends too early") || why.contains("no Whisper model"), "{length}: {why}");
    }
}

#[test]
fn dimensions_that_do_not_fit_are_refused_before_memory_is_taken() {
    let embeddings = "decoder/embeddings/weight";
    for (name, dims) in [
        (embeddings, vec![u32::MAX as usize, WIDTH]),
        (embeddings, vec![VOCABULARY, u32::MAX as usize]),
        (embeddings, vec![0, 0]),
        (embeddings, vec![VOCABULARY * WIDTH]),
        (embeddings, vec![1, 1, 1, 1, 1]),
        ("encoder/position_encodings/encodings", vec![1500, u32::MAX as usize / 64 * 64]),
        ("encoder/position_encodings/encodings", vec![1500, 0]),
        ("encoder/conv1/weight", vec![WIDTH, 1 << 31, 3]),
        ("encoder/conv1/weight", vec![WIDTH, 0, 3]),
        ("decoder/position_encodings/encodings", vec![0, WIDTH]),
        ("encoder/layer_0/ffn/linear_0/weight", vec![WIDTH, 4 * WIDTH]),
    ] {
        let why = refused(changed(name, |of, _| *of = dims.clone()));
        assert!(!why.is_empty(), "{name} {dims:?}");
    }
    let why = refused(changed(embeddings, |_, values| values.truncate(100)));
    assert_eq!(why, "the model is invalid: decoder/embeddings/weight is [1600, 64], not [1600, 64]");
}

#[test]
fn values_that_are_no_numbers_are_refused() {
    for name in ["encoder/layer_norm/gamma", "decoder/embeddings/weight", "decoder/layer_0/ffn/linear_1/bias"] {
        for value in [f16::NAN, f16::INFINITY, f16::NEG_INFINITY] {
            let why = refused(changed(name, |_, values| values[10..12].copy_from_slice(&value.to_le_bytes())));
            assert_eq!(why, format!("the model is invalid: {name} has values that are no numbers"));
        }
    }
}

#[test]
fn missing_tensors_and_other_types_are_named() {
    for missing in tensors().into_iter().map(|(name, _, _)| name) {
        let all: Vec<_> = tensors().into_iter().filter(|(name, _, _)| *name != missing).collect();
        assert!(!refused(file(&all)).is_empty(), "{missing}");
    }
    let mut bytes = header(1);
    bytes.extend([&string("encoder/conv1/bias")[..], &[1], &number(1), &[1], &number(1), &[7], &number(0)].concat());
    let weights = Weights::of(bytes).unwrap();
    assert!(weights.full("encoder/conv1/bias", &[1]).unwrap_err().to_string().contains("elements of type 1"));
}

#[test]
fn a_small_file_never_takes_much_memory() {
    // Counts that the file does not hold, more entries than any model has, and dimensions without end.
    assert!(refused(header(u32::MAX as usize)).contains("4294967295 tensors"));
    assert!(refused(header(MAX_TENSORS)).contains("ends too early"));
    let mut aliases = [header(1), string("a"), vec![1], number(1).to_vec(), vec![F16], number(0).to_vec()].concat();
    aliases.extend(number(100_000_000));
    assert!(refused(aliases).contains("100000000 tensors"));
    let wide = [header(1), string("a"), vec![255], vec![0; 4 * 255 + 5], number(0).to_vec()].concat();
    assert_eq!(refused(wide), "the model is invalid: a has 255 dimensions");
    assert!(read_bounded(Path::new("/dev/zero"), 1000).is_ok_and(|bytes| bytes.len() == 1000));
}

#[test]
fn no_file_of_noise_makes_it_panic() {
    let whole = file(&tensors());
    let mut random = 7_u64;
    for _ in 0..60 {
        let mut bytes = whole.clone();
        for _ in 0..20 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (random >> 33) as usize % bytes.len().min(if random & 1 == 0 { 400 } else { usize::MAX });
            bytes[at] = (random >> 20) as u8;
        }
        let _ = refused(bytes);
    }
}
