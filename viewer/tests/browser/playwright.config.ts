// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from '@playwright/test';

// Debian's Chromium; CHROMIUM= names another.
export default defineConfig({
  testDir: '.',
  workers: 1,
  timeout: 120_000,
  // What is waited for may take long on a busy machine; what fails twice is wrong.
  expect: { timeout: 20_000 },
  retries: 1,
  reporter: 'list',
  use: {
    viewport: { width: 1280, height: 720 },
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox'],
    },
  },
});
