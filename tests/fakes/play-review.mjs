// Plays the scenes of stakeholders against review-server.mjs, and prints what was wrong and how long the work took.
//
// usage: PAGES=web/dist [PICTURES=folder] [ITEMS=200] node play-review.mjs [approver|commenter|viewer]...

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const started = [];
async function part(name) {
  const child = spawn(process.execPath, [fileURLToPath(new URL(`${name}.mjs`, import.meta.url))], { stdio: ['pipe', 'pipe', 'inherit'] });
  started.push(child);
  const [line] = await once(child.stdout, 'data');
  return JSON.parse(line);
}

const [server, browser] = await Promise.all([part('review-server'), part('browser')]);
const { feedback, authorization } = server;
const scenes = {
  approver: { link: server.approver.link, team: { feedback, authorization } },
  commenter: { ...server.commenter, authorization },
  viewer: { link: server.viewer.link, ended: [server.expired.link, server.revoked.link] },
};
const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(scenes);
for (const scene of wanted) {
  const answer = await fetch(`http://127.0.0.1:${browser.port}/`, { method: 'POST', body: JSON.stringify({ scene, ...scenes[scene] }) });
  const { faults, found } = await answer.json();
  console.log(scene, found ?? '', faults.length === 0 ? 'no faults' : faults.join('\n'));
  if (faults.length > 0) process.exitCode = 1;
}
for (const child of started) child.stdin.end();
