// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from '@playwright/test';

// Debian's Chromium; CHROMIUM= names another.
export default defineConfig({
  testDir: '.',
  workers: 1,
  timeout: 120_000,
  reporter: 'list',
  use: {
    viewport: { width: 1280, height: 720 },
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox'],
    },
  },
});
