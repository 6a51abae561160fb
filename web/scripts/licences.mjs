// The licences of the packages that are in the bundles.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LEGAL = /^(licen[cs]e|notice|copyright|copying|third.?party)/i;

/** Comes with its dependencies inside. */
const BUNDLED = ['livekit-client'];

/** @param {string} root the folder of node_modules @param {string[]} modules the files that are in the bundles */
export function licences(root, modules) {
  const read = (path) => readFileSync(path, 'utf8');
  const manifest = (name) => JSON.parse(read(join(root, name, 'package.json')));
  const packages = new Set();
  const gather = (name, inside) => {
    // Types are gone from the bundle, and with them the packages that hold nothing else.
    if (packages.has(name) || name.startsWith('@types/') || name === 'typed-emitter') return;
    packages.add(name);
    if (inside || BUNDLED.includes(name)) Object.keys(manifest(name).dependencies ?? {}).forEach((one) => gather(one, true));
  };
  for (const module of modules) {
    const [, name] = module.split('\0').join('').match(/.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//) ?? [];
    if (name) gather(name, false);
  }

  /** The notices at the heads of a package's sources, where it has no file with its licence. */
  const heads = (path) => {
    const sources = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((file) => /\.m?js$/.test(file)).sort();
    const notices = sources.map((file) => read(join(path, file)).match(/^(?:(?:\/\/.*\n)+|\/\*[\s\S]*?\*\/)/)?.[0] ?? '');
    const plain = notices.map((notice) => notice.replaceAll(/^\s*(\/\/|\/\*+|\*+\/|\*)\s?/gm, '').trim());
    return [...new Set(plain.filter((notice) => notice.includes('Copyright')))];
  };
  const texts = [...packages].sort().map((name) => {
    const path = join(root, name);
    const { version, license } = manifest(name);
    const files = readdirSync(path).filter((file) => LEGAL.test(file)).sort();
    const found = files.length > 0 ? files.map((file) => read(join(path, file)).replaceAll('\r', '').trim()) : heads(path);
    if (found.length === 0) throw new Error(`${name} says nothing of its licence`);
    return `${name} ${version} (${license})\n\n${found.join('\n\n')}\n`;
  });
  return texts.join(`\n${'='.repeat(72)}\n\n`);
}
