// SPDX-License-Identifier: Apache-2.0
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { viteSingleFile } from 'vite-plugin-singlefile';
import { defineConfig } from 'vitest/config';

// One file: scripts and styles stand in the page itself. The placeholder for the data comes through
// untouched, because Vite leaves scripts of other types alone.
export default defineConfig({
  plugins: [svelte(), viteSingleFile({ removeViteModuleLoader: true })],
  build: { target: 'es2022', outDir: 'dist', modulePreload: false, reportCompressedSize: false },
  test: { include: ['tests/unit/**/*.test.ts'], environment: 'node' },
});
