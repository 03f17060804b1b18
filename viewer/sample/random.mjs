// SPDX-License-Identifier: Apache-2.0
// @ts-check
/**
 * Numbers that look random and are the same in every run (a linear congruential generator's high bits).
 * @param {number} seed
 * @returns {(limit: number) => number} a whole number below the limit
 */
export function makeRandom(seed) {
  let state = (seed * 2654435761 + 12345) >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * limit);
  };
}
