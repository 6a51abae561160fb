// What a browser records, as the browser itself has it.

import { createHash } from 'node:crypto';

/** Notes what the pages of a browser context record: each slice, and for how long. */
export class RecorderProbe {
  slices = [];
  seconds = 0;

  async attach(context) {
    await context.exposeFunction('noteSlice', (index, base64) => { this.slices[index] = Buffer.from(base64, 'base64'); });
    await context.exposeFunction('noteSeconds', (seconds) => { this.seconds += seconds; });
    await context.addInitScript(() => {
      const Recorder = globalThis.MediaRecorder;
      globalThis.MediaRecorder = class extends Recorder {
        constructor(...given) {
          super(...given);
          let [count, since] = [0, 0];
          globalThis.slices = { given: 0, noted: 0, hasStopped: false };
          const begin = () => { since = performance.now(); };
          const end = () => { globalThis.noteSeconds((performance.now() - since) / 1000); };
          this.addEventListener('start', begin);
          this.addEventListener('resume', begin);
          this.addEventListener('pause', end);
          this.addEventListener('stop', end);
          this.addEventListener('dataavailable', async ({ data }) => {
            if (data.size === 0) return;
            const index = count++;
            globalThis.slices.given = count;
            const bytes = new Uint8Array(await data.arrayBuffer());
            await globalThis.noteSlice(index, btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')));
            globalThis.slices.noted += 1;
          });
          this.addEventListener('stop', () => { globalThis.slices.hasStopped = true; });
        }
      };
    });
  }

  /** Waits until the recorder has stopped, all its slices are noted, and the page has stored what it made of them. */
  async settled(page) {
    await page.waitForFunction(async () => {
      const { given, noted, hasStopped } = globalThis.slices;
      if (!hasStopped || noted < given) return false;
      const database = await new Promise((resolve) => {
        const opened = indexedDB.open('colloquy.recordings');
        opened.onsuccess = () => resolve(opened.result);
      });
      const recordings = await new Promise((resolve) => {
        const all = database.transaction('recordings').objectStore('recordings').getAll();
        all.onsuccess = () => resolve(all.result);
      });
      database.close();
      // The length of a recording is stored after its last chunk.
      return recordings.every(({ stoppedAfterSeconds }) => stoppedAfterSeconds !== null);
    }, undefined, { polling: 100 });
  }

  get sizes() {
    return Array.from(this.slices, (slice) => slice?.length ?? null);
  }

  get sha256() {
    return createHash('sha256').update(Buffer.concat(this.slices)).digest('hex');
  }
}
