// A browser, as people have it. It plays the scenes of scenes/ by keyboard alone, looks at each view with axe in both
// languages, and says what went wrong where something did.
//
// A scene is asked for by POST with {"scene": …, …}; the answer is {"faults": […], "found": …}. A scene returns its faults, or
// {faults, found} where the story goes on with what it found. With "speech", a file, the microphone hears that; else it beeps.

import { createServer } from 'node:http';
import { access } from 'node:fs/promises';
import { chromium } from 'playwright-core';
import { listen, tell } from './beginning.mjs';
import { spoken } from './microphone.mjs';
import { call } from './scenes/call.mjs';
import { consolePage } from './scenes/console.mjs';
import { decisions } from './scenes/decisions.mjs';
import { exportScenes } from './scenes/exports.mjs';
import { feedbackScenes } from './scenes/feedback.mjs';
import { join } from './scenes/join.mjs';
import { meetings } from './scenes/meetings.mjs';
import { newcomerScenes } from './scenes/newcomer.mjs';
import { operator } from './scenes/operator.mjs';
import { people } from './scenes/people.mjs';
import { results } from './scenes/results.mjs';
import { review } from './scenes/review.mjs';
import { sources } from './scenes/sources.mjs';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const scenes = { ...join, ...consolePage, ...call, ...review, ...people, ...results, ...sources, ...decisions, ...feedbackScenes, ...exportScenes, ...meetings, ...operator, ...newcomerScenes };

async function play({ scene, ...asked }) {
  const args = [
    '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream', '--allow-loopback-in-peer-connection',
  ];
  const launch = (more = []) => chromium.launch({ executablePath: CHROMIUM, headless: true, args: [...args, ...more] });
  const microphone = asked.speech ? await spoken(launch, asked.speech) : null;
  const browser = await launch(microphone?.args);
  try {
    const outcome = await scenes[scene](browser, asked);
    return Array.isArray(outcome) ? { faults: outcome } : outcome;
  } catch (error) {
    const pages = browser.contexts().flatMap((context) => context.pages());
    const shown = await Promise.all(pages.map((page) => page.locator('body').innerText().catch(() => '')));
    return { faults: [`${error.stack ?? error}`, ...shown] };
  } finally {
    await browser.close();
    await microphone?.remove();
  }
}

const there = await access(CHROMIUM).then(() => true, () => false);
const server = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(await play(JSON.parse(body))));
});
tell({ port: await listen(server), chromium: there });
