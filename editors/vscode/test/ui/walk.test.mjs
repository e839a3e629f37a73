/** The panel by keyboard alone, and as axe sees it, in each state and theme, inside the real workbench. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { conversing } from '../kit/conversing.mjs';
import { callTool, gate, goOn, say, think } from '../kit/model.mjs';
import { ACME } from '../kit/office.mjs';
import { until } from '../kit/workbench.mjs';

const WAIT = { timeout: 60_000 };
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');
/** The panel is a part of the workbench, which has the headings and landmarks. */
const RULES = Object.fromEntries(['page-has-heading-one', 'region', 'landmark-one-main'].map((rule) => [rule, { enabled: false }]));
let bench, chat, page, model;
const check = conversing({
  name: 'walk',
  settings: { 'caddie.mcp.servers': { acme: ACME }, 'workbench.colorTheme': 'Default Dark Modern' },
  size: { width: 1280, height: 900 },
}, async (all) => {
  ({ bench, chat, page, model } = all);
  await page.locator('.statusbar-item[aria-label*="office-model"]').waitFor(WAIT);
});

async function faults() {
  const inside = await (await chat.input.elementHandle()).ownerFrame();
  // Evaluated from outside, as a debugger does: the panel's own policy lets no foreign script in.
  await inside.evaluate(AXE);
  const { violations } = await inside.evaluate((rules) => {
    // A view is drawn upon the side bar, which is in another document: axe would take it for white.
    const root = document.documentElement;
    root.style.background = getComputedStyle(root).getPropertyValue('--vscode-sideBar-background');
    return globalThis.axe.run({ rules }).finally(() => (root.style.background = ''));
  }, RULES);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
}

/** What has the keyboard: its name, and whether that can be seen. */
function focused() {
  return chat.frame.locator('body').evaluate(() => {
    const one = document.activeElement;
    if (!one || one === document.body) return { name: '', isSeen: true };
    const name = one.getAttribute('aria-label') || one.title || one.textContent.trim().slice(0, 40) || one.tagName;
    const [own, parent] = [getComputedStyle(one), getComputedStyle(one.closest('.composer') ?? one)];
    const isSeen = own.outlineStyle !== 'none' || own.boxShadow !== 'none' || parent.borderColor !== getComputedStyle(document.body).borderColor;
    return { name: name.replace(/\s+/g, ' '), isSeen, tag: one.className };
  });
}

async function walk(key, most = 60) {
  const way = [];
  for (let n = 0; n < most; n += 1) {
    await page.keyboard.press(key);
    if (!(await page.evaluate(() => document.activeElement?.tagName === 'IFRAME'))) return way; // out of the panel: no trap
    const one = await focused();
    assert.ok(one.isSeen, `${one.name} (${one.tag}) has the keyboard, and nobody sees it`);
    if (one.name) way.push(one.name);
  }
  throw new Error(`${key} does not lead out of the panel: ${way.join(' → ')}`);
}

const held = gate();

check('a conversation with everything in it has no fault that axe knows, in no theme', async () => {
  model.play(
    think('I need the list.', 'I look.'),
    callTool('TodoWrite', { todos: [{ content: 'Find invoices', status: 'in_progress', active_form: 'Finding invoices' }] }),
    callTool('Read', { path: 'nothing.py' }),
    say('A **list**:\n\n| invoice | amount |\n|---|---:|\n| INV-1042 | 8400 |\n\n```python\nprint("paid")\n```\n\nand [a link](https://example.com).'),
    callTool('Bash', { command: 'echo hello', description: 'Say hello' }),
    goOn('Working on it', held.promise),
  );
  await chat.ask('Think');
  await chat.says('I look.');
  await chat.isIdle();
  await chat.ask('List the invoices');
  await chat.says('and a link');
  await chat.isIdle();
  await chat.ask('Say hello');
  await chat.card.waitFor(WAIT);
  await chat.ask('and what then?');
  await chat.input.fill('Create a credit note for a paid invoice');
  await chat.frame.locator('.hint').first().waitFor(WAIT);
  const told = {};
  for (const [theme, mark] of [['Default Dark Modern', 'vscode-dark'], ['Default Light Modern', 'vscode-light'], ['Default High Contrast', 'vscode-high-contrast'], ['Default High Contrast Light', 'vscode-high-contrast-light']]) {
    bench.set({ 'workbench.colorTheme': theme });
    await chat.frame.locator(`body.${mark}`).waitFor({ ...WAIT, state: 'attached' });
    await bench.shot(mark);
    const found = await faults();
    if (found.length > 0) told[theme] = found;
  }
  assert.deepEqual(told, {});
});

check('Tab leads through the panel and out of it, Shift+Tab back; what has the keyboard is seen', async () => {
  await chat.input.fill('');
  await chat.card.focus();
  const forth = await walk('Tab');
  for (const name of [/Allow once/, /This session/, /Reject/, /Edit the waiting message/, /Remove the waiting message/, /Message/, /Attach files/, /Agent|Plan/, /Choose the model/, /Stop/])
    assert.ok(forth.some((one) => name.test(one)), `${name} is not on the way: ${forth.join(' → ')}`);
  const order = [/Allow once/, /Edit the waiting message/, /Message;/, /Attach files/].map((name) => forth.findIndex((one) => name.test(one)));
  assert.deepEqual(order, [...order].sort((a, b) => a - b), forth.join(' → '));
  await chat.input.focus();
  const back = await walk('Shift+Tab');
  for (const name of [/Allow once/, /thought/, /Copy/, /Conversation/])
    assert.ok(back.some((one) => name.test(one)), `${name} is not on the way back: ${back.join(' → ')}`);
});

check('the whole of a turn goes by keyboard: answer the card, open what is folded, stop', async () => {
  await chat.card.focus();
  await page.waitForTimeout(350); // keys struck before the card was in sight answer nothing
  await page.keyboard.press('a');
  await chat.says('Working on it');
  await until('the input has the keyboard', () => chat.input.evaluate((field) => field === document.activeElement));
  const call = chat.frame.locator('.call .row').last();
  await call.focus();
  await page.keyboard.press('Enter');
  await until('it is unfolded', async () => (await call.getAttribute('aria-expanded')) === 'true');
  await bench.shot('unfolded');
  assert.deepEqual(await faults(), []);
  await chat.input.focus();
  await page.keyboard.press('Escape');
  await chat.says('stopped');
  await chat.isIdle();
  held.open();
});

check('an empty panel has no fault either', async () => {
  await chat.input.fill('/new');
  await chat.input.press('Enter');
  await chat.isEmpty();
  await bench.shot('empty');
  assert.deepEqual(await faults(), []);
});
