import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { svelteTesting } from '@testing-library/svelte/vite';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { licences } from './scripts/licences.mjs';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The licences of what is in the bundles, beside them. */
function licenceFile(): Plugin {
  return {
    name: 'licences',
    apply: 'build',
    generateBundle(_, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
      this.emitFile({ type: 'asset', fileName: 'assets/licences.txt', source: licences(here('./node_modules'), modules) });
    },
  };
}

/** While developing: the pages at the addresses that the server gives them. */
function addresses(): Plugin {
  const pages: [RegExp, string][] = [
    [/^\/(login\/callback|projects\/[^?]*|profile|operator|invitations\/project)?(\?.*)?$/, '/console/index.html'], [/^\/review(?=\?|$)/, '/review/index.html'], [/^\/meetings\/[^/]+\/join(?=\?|$)/, '/join/index.html'],
  ];
  return {
    name: 'addresses',
    configureServer({ middlewares }) {
      middlewares.use((request, _, next) => {
        const page = pages.find(([address]) => address.test(request.url ?? ''));
        if (page) request.url = page[1] + (request.url?.match(/\?.*$/)?.[0] ?? '');
        next();
      });
    },
  };
}

export default defineConfig({
  // The pages are reached at several depths, and the server may be below a path: it writes where the files are.
  base: './',
  plugins: [svelte(), svelteTesting(), licenceFile(), addresses()],
  resolve: { alias: { $shared: here('./shared') } },
  build: {
    // What plays live sound and picture: Safari 15.4, Firefox 100, Chromium 100.
    target: 'es2022',
    // Nothing as a data: address, no polyfill: the policy of the pages stays short.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // livekit-client, which is loaded when a meeting is held.
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      input: { join: here('./join/index.html'), review: here('./review/index.html'), console: here('./console/index.html') },
    },
  },
  server: { proxy: { '/api': { target: process.env.COLLOQUY ?? 'http://127.0.0.1:8080', ws: true } } },
  // A busy machine is no fault: what never comes fails all the same.
  test: { environment: 'happy-dom', include: ['tests/**/*.test.ts'], restoreMocks: true, testTimeout: 30_000, hookTimeout: 30_000 },
});
