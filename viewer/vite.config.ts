// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import type { Plugin } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';
import { defineConfig } from 'vitest/config';

// The page runs its own script and style, known by their hashes, and nothing else: even if a name from
// a dump came to stand in the document as markup, the browser would not run it.
function allowOnlyOwn(): Plugin {
  const hashes = (html: string, tag: RegExp) =>
    [...html.matchAll(tag)]
      .map(([, text]) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`)
      .join(' ');
  return {
    name: 'allow-only-own',
    enforce: 'post',
    // After the scripts have come into the page.
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        for (const file of Object.values(bundle)) {
          if (file.type !== 'asset' || !file.fileName.endsWith('.html')) continue;
          const html = String(file.source);
          const scripts = hashes(html, /<script type="module"[^>]*>([\s\S]*?)<\/script>/g);
          const styles = hashes(html, /<style[^>]*>([\s\S]*?)<\/style>/g);
          file.source = html
            .replace("script-src 'unsafe-inline'", `script-src ${scripts}`)
            .replace("style-src 'unsafe-inline'", `style-src ${styles}`);
        }
      },
    },
  };
}

// One file: scripts and styles stand in the page itself. The placeholder for the data comes through
// untouched, because Vite leaves scripts of other types alone.
export default defineConfig({
  plugins: [svelte(), viteSingleFile({ removeViteModuleLoader: true }), allowOnlyOwn()],
  build: { target: 'es2022', outDir: 'dist', modulePreload: false, reportCompressedSize: false },
  test: { include: ['tests/unit/**/*.test.ts'], environment: 'node' },
});
