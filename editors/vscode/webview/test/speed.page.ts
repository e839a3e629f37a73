// Long streams, long conversations and long results stay smooth. Limits are far above what this takes on two cores.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import type { Action } from '../src/store';
import { launch, Panel } from './browser';
import { call, done, play, start, text, turn } from './story';

let browser: Browser;
before(async () => void (browser = await launch()));
after(() => browser.close());

/** Runs the page's work in small bites as the extension would send them; gives the longest pause between two frames. */
async function longestPause(panel: Panel, batches: Action[][]): Promise<number> {
  return panel.tab.evaluate(async (all) => {
    let longest = 0;
    let last = performance.now();
    let goesOn = true;
    const watch = (now: number) => {
      longest = Math.max(longest, now - last);
      last = now;
      if (goesOn) requestAnimationFrame(watch);
    };
    requestAnimationFrame(watch);
    for (const actions of all) {
      window.postMessage({ type: 'actions', actions }, '*');
      await new Promise((resolve) => setTimeout(resolve, 4));
    }
    await new Promise((resolve) => requestAnimationFrame(resolve));
    goesOn = false;
    return longest;
  }, batches);
}

test('a stream of 10,000 pieces never holds the page for long', { timeout: 120_000 }, async () => {
  const panel = await Panel.open(browser);
  await panel.start(play(start('q')));
  const pieces = Array.from({ length: 10_000 }, (_, at) =>
    text(at % 25 === 24 ? '.\n\n' : at % 400 === 399 ? '\n```js\nlet x;\n```\n' : `word${at} `),
  );
  const actions = turn(pieces);
  const batches = Array.from({ length: 500 }, (_, at) => actions.slice(at * 20, at * 20 + 20));
  const pause = await longestPause(panel, batches);
  assert.match(await panel.tab.locator('.item-text').innerText(), /word9998/);
  console.log(`longest pause between frames: ${Math.round(pause)} ms`);
  assert.ok(pause < 1500, `${pause} ms`);
  assert.deepEqual(panel.troubles, []);
  await panel.close();
});

test('of 10,000 messages only those near are drawn, from the first to the last', { timeout: 120_000 }, async () => {
  const panel = await Panel.open(browser);
  const conversation = play();
  for (let at = 0; at < 5000; at++) {
    const id = at * 2;
    conversation.items.push({ kind: 'user', id, text: `question ${at}`, picks: [], attachments: [] });
    conversation.items.push({ kind: 'text', id: id + 1, text: `answer **${at}**\n\n- one\n- two` });
  }
  conversation.nextId = 10_000;
  const began = Date.now();
  await panel.start(conversation);
  const shown = Date.now() - began;
  const count = () => panel.tab.locator('.item').count();
  assert.ok((await count()) < 400, `${await count()} drawn`);
  assert.match(await panel.tab.locator('.item').last().innerText(), /answer 4999/);
  const box = panel.tab.locator('.transcript');
  await box.evaluate((one) => (one.scrollTop = 0));
  await panel.tab.getByText('question 0', { exact: true }).waitFor();
  await box.evaluate((one) => (one.scrollTop = one.scrollHeight / 2));
  await panel.tab.waitForTimeout(300);
  assert.ok((await count()) < 400, `${await count()} drawn`);
  const pause = await longestPause(panel, [
    [start('next')],
    ...turn([text('a'), text('b'), done()]).map((one) => [one]),
  ]);
  console.log(`10,000 messages: in sight after ${shown} ms, longest pause for a new one ${Math.round(pause)} ms`);
  assert.ok(shown < 15_000 && pause < 1500, `${shown} ms, ${pause} ms`);
  assert.deepEqual(panel.troubles, []);
  await panel.close();
});

test('a result of 1 MB is folded, and goes to the editor as a whole', { timeout: 60_000 }, async () => {
  const panel = await Panel.open(browser);
  const result = 'the quick brown fox pays late\n'.repeat(35_000);
  await panel.start(play(start('q'), ...turn([call('c1', 'done', { result }), done()])));
  await panel.tab.locator('.call .row').click();
  assert.ok((await panel.tab.locator('.call-body').innerText()).length < 5000);
  await panel.tab.getByRole('button', { name: /Show all in the editor \(34970 more lines\)/ }).click();
  const [sent] = await panel.sent('showWhole');
  assert.equal(sent?.text.length, result.length);
  assert.deepEqual(panel.troubles, []);
  await panel.close();
});
