/** Hints: every way to take one, to be rid of one, and to have one always; the keyboard stays where it was. */
import assert from 'node:assert/strict';
import { conversing } from '../kit/conversing.mjs';
import { gate, said, say } from '../kit/model.mjs';
import { ACME } from '../kit/office.mjs';
import { until } from '../kit/workbench.mjs';

const WAIT = { timeout: 60_000 };
const TOOL = (name) => `mcp__acme__${name}`;
let bench, chat, page, model;
const check = conversing({
  name: 'hints',
  settings: { 'caddie.mcp.servers': { acme: ACME } },
  size: { width: 1400, height: 800 },
}, async (all) => {
  ({ bench, chat, page, model } = all);
  await page.locator('.statusbar-item[aria-label*="office-model"]').waitFor(WAIT);
});

const hints = () => chat.frame.locator('.hint');
const names = () => chat.frame.locator('.hint .hint-name').allInnerTexts();
const hint = (name) => hints().filter({ hasText: name }).first();
const chip = (name) => chat.frame.locator('.composer .chip').filter({ hasText: name });
const typing = () => chat.input.evaluate((field) => field === document.activeElement);
const selected = () => chat.frame.locator('.hint[aria-selected="true"] .hint-name').allInnerTexts();
const heardPolitely = () => chat.frame.locator('[aria-live="polite"]').allTextContents();

/** In the workbench's own document the panel has the focus; in the panel the input has it. */
async function keyboardIsInTheInput() {
  assert.ok(await typing(), 'the input has lost the keyboard');
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'IFRAME');
}

async function hintsFor(words) {
  await chat.input.fill('');
  const isSaid = (one) => one.startsWith('Tools that fit');
  await until('the hints for earlier words are gone', async () => !(await heardPolitely()).some(isSaid));
  await chat.type(words);
  await hints().first().waitFor();
  await keyboardIsInTheInput();
  return names();
}

async function sent(answer = say('Done.')) {
  const before = model.requests.length;
  model.play(answer);
  await page.keyboard.press('Enter');
  await until('the model is asked', () => model.requests.length > before, 30_000);
  await chat.isIdle();
  return model.requests[before];
}

check('while one types, two or three tools are there: name, one line, score, server; said politely, once', async () => {
  const shown = await hintsFor('Find overdue invoices, send a reminder or a credit note');
  assert.ok(shown.length >= 2 && shown.length <= 3, shown.join());
  assert.match(await hint('send_reminder').innerText(), /send_reminder\s+0\.\d\d\s+acme\s+Send a payment reminder for an invoice|send_reminder\s+Send a payment reminder for an invoice\s+0\.\d\d\s+acme/);
  assert.ok(await hint('send_reminder').locator('.hint-what').isVisible());
  assert.ok((await heardPolitely()).includes(`Tools that fit: ${shown.join(', ')}. Tab chooses.`));
  await bench.shot('typed');
});

check('Tab goes round, Esc hides until the next message, and every key else is text', async () => {
  const shown = await names();
  const round = [];
  for (let n = 0; n <= shown.length; n += 1) {
    await page.keyboard.press('Tab');
    round.push(...(await selected()));
    await keyboardIsInTheInput();
  }
  assert.deepEqual(round, [...shown, shown[0]]);
  await bench.shot('selected');
  await page.keyboard.type('!');
  assert.match(await chat.input.inputValue(), /credit note!$/);
  await page.keyboard.press('Escape');
  await hints().first().waitFor({ state: 'detached' });
  await keyboardIsInTheInput();
  await page.keyboard.type(' Find overdue invoices');
  await sent();
  await hintsFor('Export ledger entries as CSV');
});

check('Enter takes the chosen one: a chip that is said, and that the model is told of', async () => {
  await hintsFor('Send a payment reminder for an invoice');
  await page.keyboard.press('Tab');
  const [name] = await selected();
  await page.keyboard.press('Enter');
  await chip(name).waitFor();
  await keyboardIsInTheInput();
  assert.ok((await heardPolitely()).includes(`${name} goes with the message.`));
  await bench.shot('picked');
  const request = await sent();
  assert.match(said(request).text, new RegExp(`<picked-tools>\\n[^<]*${TOOL(name)}`));
  assert.match(JSON.stringify(request.body.messages.at(-1)), new RegExp(`## ${TOOL(name)}`));
  assert.match(await chat.frame.locator('.item-user').last().innerText(), new RegExp(name));
});

check('a click takes it as well, and the keyboard stays; Backspace takes the chip away', async () => {
  await hintsFor('Create a credit note for a paid invoice');
  await hint('create_credit_note').click();
  await chip('create_credit_note').waitFor();
  await keyboardIsInTheInput();
  await page.keyboard.press('Home');
  await page.keyboard.press('Backspace');
  await chip('create_credit_note').waitFor({ state: 'detached' });
  await keyboardIsInTheInput();
});

check('“don’t hint this tool” stands in the settings, holds at once, and can be undone', async () => {
  await hintsFor('Create a credit note for a paid invoice');
  await hint('create_credit_note').hover();
  await bench.shot('hovered');
  await chat.frame.getByRole('button', { name: 'Don’t hint create_credit_note' }).click();
  await hint('create_credit_note').waitFor({ state: 'detached' });
  await keyboardIsInTheInput();
  await until('the settings have it', () => bench.settings('user')['caddie.hints.exclude']?.includes(TOOL('create_credit_note')));
  await bench.notification('is not hinted any more').getByRole('button', { name: 'Undo' }).click();
  await until('the settings have it no more', () => bench.settings('user')['caddie.hints.exclude'] === undefined);
  assert.ok((await hintsFor('Create a credit note for a paid invoice')).includes('create_credit_note'));
});

check('by keyboard: Delete never hints the chosen one, Alt+Enter enables it always', async () => {
  await hintsFor('Delete a customer and all that belongs to it');
  await page.keyboard.press('Tab');
  const [rid] = await selected();
  await page.keyboard.press('Delete');
  await until('the settings have it', () => bench.settings('user')['caddie.hints.exclude']?.includes(TOOL(rid)));
  await keyboardIsInTheInput();
  assert.ok(!(await hintsFor('Delete a customer and all that belongs to it, and export the ledger')).includes(rid));
  await hintsFor('Export ledger entries as CSV or JSON');
  while ((await selected())[0] !== 'export_ledger') await page.keyboard.press('Tab');
  await page.keyboard.press('Alt+Enter');
  await until('the settings have it', () => bench.settings('user')['caddie.tools.enabled']?.includes(TOOL('export_ledger')));
  await chip('export_ledger').waitFor(WAIT);
  await keyboardIsInTheInput();
  const names = ({ body }) => body.tools.map((tool) => tool.function.name);
  const now = await sent();
  assert.match(said(now).text, /<enabled-tools>\n[^<]*mcp__acme__export_ledger/, 'the prefix of a conversation stays as it is');
  assert.ok(!names(now).includes(TOOL('export_ledger')));
  await bench.command('Caddie: New Conversation');
  await chat.isEmpty();
  await chat.type('Export it');
  assert.ok(names(await sent()).includes(TOOL('export_ledger')));
});

check('F07: the switch turns them off and on, and what is typed stays', async () => {
  await hintsFor('Send a payment reminder for an invoice');
  await bench.command('Caddie: Toggle Hints');
  await until('the setting is off', () => bench.settings('user')['caddie.hints.enabled'] === false);
  await chat.input.fill('');
  const drafts = 'Send a payment reminder for an invoice';
  await chat.type(drafts);
  await sent();
  assert.doesNotMatch(said(model.requests.at(-1)).text, /available-tools-hint/);
  assert.equal(await hints().count(), 0);
  await bench.command('Caddie: Toggle Hints');
  await until('the setting is on', () => bench.settings('user')['caddie.hints.enabled'] !== false);
  await hintsFor(drafts);
  await chat.input.fill('');
});

/** A turn that begins while nobody sees the panel: it was queued behind another one. */
async function turnWhileHidden(message) {
  const held = gate();
  const asked = model.requests.length;
  model.play(say('First.', held.promise), say('Second.'));
  await chat.ask('wait a moment');
  await until('the first turn runs', () => model.requests.length > asked, 30_000);
  await chat.ask(message);
  await chat.hide();
  await page.keyboard.press('Control+P');
  await page.locator('.quick-input-widget input').first().fill('invoices.py');
  await bench.quickPick('invoices.py').click();
  await page.locator('.editor-instance .view-lines').filter({ hasText: 'overdue' }).waitFor(WAIT);
  await page.locator('.editor-instance .native-edit-context, .editor-instance textarea').first().focus();
  held.open();
  await until('the second turn ran', () => model.requests.length > asked + 1, 30_000);
}

const focusIsInEditor = () => page.evaluate(() => Boolean(document.activeElement?.closest('.editor-instance')));

check('F07: as a notification while the panel is hidden, nobody is disturbed, and the same choices are there', async () => {
  await hintsFor('Find open invoices by state and date');
  bench.set({ 'caddie.hints.display': 'notification' });
  // The editor watches the file, and tells nobody when it has read it: then the panel has no hints any more.
  await until('the setting holds', async () => {
    await chat.type(' and');
    return hints().first().waitFor({ state: 'detached', timeout: 1000 }).then(() => true, () => false);
  });
  await chat.input.fill('');
  await turnWhileHidden('find open invoices by state and date');
  const news = bench.notification('Tools that fit');
  await news.waitFor(WAIT);
  assert.ok(await focusIsInEditor());
  await page.keyboard.type('# typed on');
  await page.locator('.editor-instance .view-lines').filter({ hasText: '# typed on' }).waitFor();
  await bench.shot('notification');
  await news.getByRole('button', { name: 'More …' }).click();
  await bench.quickPick('Enable find_invoices always').waitFor();
  await bench.quickPick('Turn hints off').waitFor();
  await bench.shot('more');
  await bench.quickPick('Don’t hint find_invoices').click();
  await until('the settings have it', () => bench.settings('user')['caddie.hints.exclude']?.includes(TOOL('find_invoices')));
  await chat.open();
  await turnWhileHidden('send a payment reminder for an invoice');
  await news.waitFor(WAIT);
  assert.doesNotMatch(await news.innerText(), /find_invoices/);
  await news.getByRole('button', { name: 'More …' }).click();
  await bench.quickPick('Enable send_reminder always').click();
  await until('the settings have it', () => bench.settings('user')['caddie.tools.enabled']?.includes(TOOL('send_reminder')));
  await chat.open();
  await turnWhileHidden('create a credit note for a paid invoice');
  await news.waitFor(WAIT);
  await news.getByRole('button', { name: 'create_credit_note' }).click();
  await chat.input.waitFor(WAIT);
  await chip('create_credit_note').waitFor(WAIT);
  await chat.input.click();
  await page.keyboard.press('Home');
  await page.keyboard.press('Backspace');
  await chip('create_credit_note').waitFor({ state: 'detached' });
});

check('with `both` they are above the input as well', async () => {
  await chat.open();
  bench.set({ 'caddie.hints.display': 'both' });
  await hintsFor('Create a credit note for a paid invoice');
  assert.ok((await names()).includes('create_credit_note'));
});
