/** What is seen of a turn besides its words: thinking, steps, cost, long results; stopped, interrupted, gone on with. */
import assert from 'node:assert/strict';
import { conversing } from '../kit/conversing.mjs';
import { callTool, gate, goOn, said, say, think } from '../kit/model.mjs';
import { ACME } from '../kit/office.mjs';
import { until } from '../kit/workbench.mjs';

const WAIT = { timeout: 60_000 };
let bench, chat, page, model;
const check = conversing({
  name: 'turns',
  settings: {
    ...{ 'caddie.mcp.servers': { acme: ACME }, 'caddie.tools.profile': 'lean' },
    'caddie.permissions.allow': ['mcp__acme__big_report'],
  },
  size: { width: 1280, height: 900 },
}, (all) => ({ bench, chat, page, model } = all));

const todo = (content, status, active_form) => ({ content, status, active_form });

check('thinking is one folded line that opens, by mouse and by keyboard', async () => {
  const thought = 'Invoices are overdue when nobody paid.\nI will look for the largest.';
  model.play(think(thought, 'INV-1042 is the largest.'));
  await chat.ask('Which is the largest?');
  await chat.says('INV-1042 is the largest.');
  const row = chat.frame.locator('.thought .row');
  assert.equal(await row.getAttribute('aria-expanded'), 'false');
  assert.match(await row.innerText(), /thought\s+I will look for the largest\./);
  assert.doesNotMatch(await chat.text(), /when nobody paid/);
  await bench.shot('thought');
  await row.click();
  await chat.says('when nobody paid');
  await row.press('Enter');
  assert.equal(await row.getAttribute('aria-expanded'), 'false');
});

check('the to-do list changes where it stands, and says each state in words', async () => {
  const held = gate();
  const call = (...todos) => callTool('TodoWrite', { todos });
  model.play(
    call(todo('Find invoices', 'in_progress', 'Finding invoices'), todo('Write reminders', 'pending')),
    { ...call(todo('Find invoices', 'completed'), todo('Write reminders', 'in_progress', 'Writing reminders')), gate: held.promise },
    say('Half of it is done.'),
  );
  await chat.ask('Remind them');
  const list = chat.frame.getByRole('list', { name: 'To-do list' });
  const card = chat.frame.locator('.ask');
  if (await list.or(card).first().waitFor(WAIT).then(() => card.isVisible())) await card.getByRole('button', { name: 'Allow' }).first().click();
  await list.waitFor(WAIT);
  assert.deepEqual(await list.getByRole('listitem').allTextContents(), ['in progress: Finding invoices', 'to do: Write reminders']);
  await bench.shot('todo');
  held.open();
  await chat.says('Half of it is done.');
  assert.deepEqual(await list.getByRole('listitem').allTextContents(), ['done: Find invoices', 'in progress: Writing reminders']);
  assert.equal(await list.count(), 1);
});

check('the usage line says tokens, the cached share and what deferral saves', async () => {
  await chat.isIdle();
  const usage = { prompt_tokens: 12_000, completion_tokens: 340, prompt_tokens_details: { cached_tokens: 9_000 } };
  model.play({ ...say('Cheap.'), usage });
  await chat.ask('What does it cost?');
  await chat.says('Cheap.');
  const cost = chat.frame.locator('.foot-cost');
  await cost.filter({ hasText: '12.3k' }).waitFor(WAIT);
  await cost.filter({ hasText: 'saved' }).waitFor(WAIT);
  const told = await cost.getAttribute('aria-label');
  assert.match(told, /12000 tokens read, 9000 of them from the cache \(75 %\); 340 tokens written; Deferring tools saves about \d+ tokens/);
  assert.equal(await cost.locator('.meter-cached').getAttribute('width'), '75');
  for (const part of [cost.locator('.meter'), cost.locator('.foot-saved')]) assert.ok(await part.isVisible());
  await bench.shot('usage');
});

check('of a result of 1 MB a part is shown, and all of it opens in the editor', async () => {
  model.play(callTool('ExecuteTool', { tool_name: 'mcp__acme__big_report', params: { kilobytes: 1024 } }), say('It is long.'));
  await chat.ask('Write the yearly report');
  await chat.says('It is long.');
  await chat.isIdle();
  const card = chat.frame.locator('.call').filter({ hasText: 'big_report' }).last();
  await card.locator('.row').click();
  assert.ok((await card.locator('.long pre').last().innerText()).length < 20_000);
  await bench.shot('long');
  await card.getByRole('button', { name: /Show all in the editor \(1048576 characters\)/ }).click();
  await page.locator('.tab.active').filter({ hasText: 'big_report' }).waitFor(WAIT);
  await page.locator('.editor-instance .view-lines').filter({ hasText: 'pays its invoices late' }).first().waitFor(WAIT);
  await page.locator('.editor-instance .native-edit-context, .editor-instance textarea').first().focus();
  await page.keyboard.press('Control+End');
  await page.locator('.part.statusbar').getByText(/Ln 16,?\d{3}/).waitFor();
  await bench.shot('whole');
  await bench.command('View: Close All Editors');
});

check('the stop button ends the turn at once, and the next message works', async () => {
  const held = gate();
  model.play(goOn('I am counting', held.promise), say('Stopped counting.'));
  await chat.ask('Count all invoices');
  await chat.says('I am counting');
  await chat.button('Stop').click();
  await chat.says('stopped');
  await chat.isIdle();
  held.open();
  await chat.ask('Did you stop?');
  await chat.says('Stopped counting.');
  assert.match(JSON.stringify(model.requests.at(-1).body.messages), /I am counting/);
});

check('a window that is loaded anew amid a turn shows what was said, and the turn can be gone on with', async () => {
  const held = gate();
  model.play(goOn('Three invoices are overdue. The largest', held.promise), say('The largest is INV-1042.'));
  await chat.ask('Which are overdue?');
  await chat.says('The largest');
  await chat.ask('and what then?');
  await chat.frame.locator('.queue').filter({ hasText: 'and what then?' }).waitFor(WAIT);
  await chat.type('half a thought');
  await until('the draft is kept', async () => (await chat.input.inputValue()) === 'half a thought');
  await page.waitForTimeout(400); // the page hands its state to the workbench every 200 ms, and nothing tells when
  await chat.reloadWindow();
  const text = await chat.says('The turn was interrupted');
  assert.match(text, /Which are overdue\?[\s\S]*Three invoices are overdue\. The largest[\s\S]*The turn was interrupted[^\n]*\s+Go on$/);
  assert.doesNotMatch(text, /\[/);
  assert.equal(await chat.input.inputValue(), 'and what then?\nhalf a thought');
  await bench.shot('interrupted');
  held.open();
  const before = model.requests.length;
  await chat.button('Go on').click();
  await chat.says('The largest is INV-1042.');
  assert.equal(await chat.button('Go on').count(), 0);
  assert.equal(await chat.input.inputValue(), 'and what then?\nhalf a thought');
  const { messages } = model.requests[before].body;
  assert.match(JSON.stringify(messages), /Which are overdue\?.*Three invoices are overdue\. The largest.*Go on where you were interrupted\./);
  assert.ok(said(model.requests[before]).text.endsWith('Go on where you were interrupted.'));
});

check('a permission that waited when the window went away is given by nobody', async () => {
  await chat.isIdle();
  await chat.input.fill('');
  model.play(callTool('Bash', { command: 'touch ran', description: 'Leave a mark' }), say('I did nothing.'));
  await chat.ask('Leave a mark');
  await chat.card.waitFor(WAIT);
  await page.waitForTimeout(400); // as above
  await chat.reloadWindow();
  await chat.says('The turn was interrupted');
  assert.equal(await chat.frame.locator('.ask').count(), 0);
  await bench.shot('interrupted-permission');
  await chat.button('Go on').click();
  await chat.says('I did nothing.');
  assert.throws(() => bench.read('ran'));
});
