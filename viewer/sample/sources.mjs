// SPDX-License-Identifier: Apache-2.0
// @ts-check
// The files that the made-up program says it comes from.
export const kSources = [
  {
    file: 'train.py',
    text: `import jax\nfrom model import Model\n\ndef main():\n    for batch in batches():\n        state, loss = train_step(state, batch)\n\n@jax.jit\ndef train_step(state, batch):\n    loss, grads = jax.value_and_grad(loss_of)(state.params, batch)\n    return state.apply(grads), loss\n`,
  },
  {
    file: 'model.py',
    text:
      Array.from({ length: 30 }, (_, i) =>
        i === 11 ? 'class Model:  # <b>not bold</b>' : `    x = layer_${i}(x)  # line ${i + 1}`,
      ).join('\n') + '\n',
  },
];
