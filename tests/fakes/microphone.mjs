// A microphone that hears a file: the browser takes it as WAV, and makes that itself from whatever it can decode.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const RATE = 48_000;
/** Between the opening of the microphone and the beginning of a recording: nothing is to be lost. */
const SILENCE_BEFORE_S = 2;
/** Longer than any scene, so that nothing is heard twice. */
const SILENCE_AFTER_S = 60;

/** The arguments of a browser whose microphone hears the file once from when it is opened, and what removes the WAV. */
export async function spoken(launch, file) {
  const samples = await decoded(launch, await readFile(file));
  const folder = await mkdtemp(join(tmpdir(), 'microphone-'));
  const path = join(folder, 'speech.wav');
  await writeFile(path, wav(samples));
  return { args: [`--use-file-for-fake-audio-capture=${path}%noloop`], remove: () => rm(folder, { recursive: true }) };
}

/** The samples of a file, 16 bits each. */
async function decoded(launch, content) {
  const browser = await launch();
  try {
    const page = await browser.newPage();
    const base64 = await page.evaluate(async ([encoded, rate]) => {
      const bytes = Uint8Array.from(atob(encoded), (sign) => sign.charCodeAt(0));
      const sound = await new OfflineAudioContext(1, 1, rate).decodeAudioData(bytes.buffer);
      const samples = Int16Array.from(sound.getChannelData(0), (sample) => Math.max(-1, Math.min(1, sample)) * 0x7fff);
      return btoa(Array.from(new Uint8Array(samples.buffer), (byte) => String.fromCharCode(byte)).join(''));
    }, [content.toString('base64'), RATE]);
    return Buffer.from(base64, 'base64');
  } finally {
    await browser.close();
  }
}

function wav(samples) {
  const silence = (seconds) => Buffer.alloc(seconds * RATE * 2);
  const sound = Buffer.concat([silence(SILENCE_BEFORE_S), samples, silence(SILENCE_AFTER_S)]);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + sound.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(RATE, 24);
  head.writeUInt32LE(RATE * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(sound.length, 40);
  return Buffer.concat([head, sound]);
}
