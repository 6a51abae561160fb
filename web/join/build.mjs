// Bundles the page's modules, and livekit-client with the licences of what is in it, into the folder named.
//
// dist is in the repository, so that building the server needs neither npm nor a network; check.sh shows that it is what
// this script gives from the sources and the lock file.

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const folder = process.argv[2];
const read = (path) => readFileSync(path, 'utf8');
const packed = (path) => JSON.parse(read(join(path, 'package.json')));
const { version } = packed('node_modules/livekit-client');

/** @param {string} entry @param {string} [banner] */
const bundled = async (entry, banner = '') => {
  const built = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: 'esm',
    // What plays live sound and picture: Safari 15.4, Firefox 100, Chromium 100.
    target: 'es2021',
    charset: 'utf8',
    legalComments: 'none',
    banner: { js: banner },
    write: false,
  });
  return built.outputFiles[0].contents;
};
const page = await bundled('page.js');
const livekit = await bundled('livekit.js', `/* livekit-client ${version}; licences: livekit-client.licences.txt */`);

// livekit-client comes with what it depends on inside: the licences are those of all of it.
const packages = new Set();
const gather = (name) => {
  if (packages.has(name)) return;
  packages.add(name);
  Object.keys(packed(join('node_modules', name)).dependencies ?? {}).forEach(gather);
};
gather('livekit-client');
// Types are gone from the bundle, and with them the packages that hold nothing else.
for (const name of packages) if (name.startsWith('@types/') || name === 'typed-emitter') packages.delete(name);

const legal = /^(licen[cs]e|notice|copyright|copying|third.?party)/i;
const licences = [...packages].sort().map((name) => {
  const path = join('node_modules', name);
  const { version, license } = packed(path);
  const files = readdirSync(path).filter((file) => legal.test(file)).sort();
  const texts = files.length > 0 ? files.map((file) => read(join(path, file)).replaceAll('\r', '').trim()) : heads(path);
  if (texts.length === 0) throw new Error(`${name} says nothing of its licence`);
  return `${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`;
});

/** The notices at the heads of a package's sources, where it has no file with its licence. */
function heads(path) {
  const sources = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((file) => /\.m?js$/.test(file)).sort();
  const notices = sources.map((file) => read(join(path, file)).match(/^(?:(?:\/\/.*\n)+|\/\*[\s\S]*?\*\/)/)?.[0] ?? '');
  const plain = notices.map((notice) => notice.replaceAll(/^\s*(\/\/|\/\*+|\*+\/|\*)\s?/gm, '').trim());
  return [...new Set(plain.filter((notice) => notice.includes('Copyright')))];
}

mkdirSync(folder, { recursive: true });
const rule = `\n${'='.repeat(72)}\n\n`;
writeFileSync(join(folder, 'page.js'), page);
writeFileSync(join(folder, 'livekit-client.js'), livekit);
writeFileSync(join(folder, 'livekit-client.licences.txt'), licences.join(rule));
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
writeFileSync(join(folder, 'SHA256SUMS'), `${sha256(livekit)}  livekit-client.js\n${sha256(page)}  page.js\n`);
console.log(`page: ${page.length} bytes; livekit-client ${version}: ${livekit.length} bytes, ${packages.size} packages`);
