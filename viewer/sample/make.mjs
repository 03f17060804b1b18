// SPDX-License-Identifier: Apache-2.0
// @ts-check
// node sample/make.mjs VALUES|hostile|two|index PAGE OUT: a page with made-up data, to look at.
import { readFileSync, writeFileSync } from 'node:fs';
import { indexOf, oneModule, twoModules } from './bundles.mjs';
import { fillPage } from './encode.mjs';

const [what = '100', page = '../src/view/page.html', out = '/dev/stdout'] = process.argv.slice(2);
const bundle =
  what === 'index'
    ? indexOf()
    : what === 'hostile'
      ? oneModule({ hostile: true, budget: 2 ** 27 })
      : what === 'two'
        ? twoModules({ values: 400 })
        : oneModule({ values: Number(what), budget: Number(what) * 400000 });
writeFileSync(out, fillPage(readFileSync(page, 'utf-8'), bundle));
