/** A workbench with the chat open before a model double, which the tests of a file share. */
import { after, before } from 'node:test';
import { startModel } from './model.mjs';
import { FILES } from './office.mjs';
import { Panel } from './panel.mjs';
import { openWorkbench, sharing } from './workbench.mjs';

/**
 * @param {object} options those of `openWorkbench`; its `settings` come to those of the model
 * @param {(all: { bench: object, chat: Panel, page: object, model: object }) => void | Promise<void>} use is given them before the first test
 * @returns the `check` of `sharing`
 */
export function conversing(options, use) {
  let bench, model;
  const { check, state } = sharing(() => bench);

  before(async () => {
    model = await startModel();
    bench = await openWorkbench({ files: FILES, ...options, settings: { ...model.settings, ...options.settings } });
    const chat = new Panel(bench);
    await chat.open();
    await use({ bench, chat, page: bench.page, model });
  }, { timeout: 240_000 });

  after(async () => {
    await bench?.close(state.failures > 0);
    await model?.close();
  }, { timeout: 60_000 });

  return check;
}
