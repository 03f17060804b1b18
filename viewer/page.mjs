// SPDX-License-Identifier: Apache-2.0
// @ts-check
// The built page goes to src/view/page.html, where the command line takes it from.
// node page.mjs          copies dist/index.html there
// node page.mjs --check  says whether it is the same
import { copyFileSync, readFileSync } from 'node:fs';

const built = new URL('dist/index.html', import.meta.url);
const committed = new URL('../src/view/page.html', import.meta.url);

if (process.argv.includes('--check')) {
  if (readFileSync(built, 'utf-8') !== readFileSync(committed, 'utf-8')) {
    console.error(
      'src/view/page.html is not what viewer/ builds: run `npm run build` in viewer/ and commit it',
    );
    process.exit(1);
  }
} else {
  copyFileSync(built, committed);
}
