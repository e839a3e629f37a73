/** What the model did is looked at, accepted and taken back; what was asked is asked anew. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { callTool, say, startModel } from '../kit/model.mjs';
import { Panel } from '../kit/panel.mjs';
import { openWorkbench, sharing, until } from '../kit/workbench.mjs';

const LINES = Array.from({ length: 30 }, (_, at) => `line_${at + 1} = ${at + 1}`);
let bench, chat, model;
const { check, state } = sharing(() => bench);

before(async () => {
  model = await startModel();
  bench = await openWorkbench({
    name: 'review',
    settings: { ...model.settings, 'caddie.permissions.mode': 'acceptEdits', 'workbench.colorTheme': 'Default Dark Modern' },
    files: { 'numbers.py': `${LINES.join('\n')}\n`, 'old.txt': 'Not needed any more.\n' },
    size: { width: 1280, height: 900 },
  });
  chat = new Panel(bench);
  await chat.open();
}, { timeout: 240_000 });

after(async () => {
  await bench?.close(state.failures > 0);
  await model?.close();
}, { timeout: 60_000 });

const messages = () => model.requests.at(-1).body.messages.filter(({ role }) => role === 'user').map(({ content }) => JSON.stringify(content));
const read = (path) => callTool('Read', { path: `${bench.workspace}/${path}` });
const edit = (path, old_string, new_string) => callTool('Edit', { path: `${bench.workspace}/${path}`, old_string, new_string });
const editing = () => chat.frame.locator('.editing');
const pencil = async (words) => {
  const said = chat.frame.locator('.said').filter({ hasText: words });
  await said.hover();
  await said.getByRole('button', { name: 'Edit and send again' }).click();
};

check('a message that is edited replaces its turn and what followed, with their changes to files', async () => {
  model.play(say('Hello.'), read('numbers.py'), edit('numbers.py', 'line_2 = 2', 'line_2 = "wrong"'), say('The wrong thing.'), say('Not so.'));
  await chat.ask('Greet me');
  await chat.says('Hello.');
  await chat.isIdle();
  await chat.ask('Do the wrong thing');
  await chat.says('The wrong thing.');
  await chat.isIdle();
  await chat.ask('What was that?');
  await chat.says('Not so.');
  await chat.isIdle();
  await chat.type('half a thought');
  await pencil('Do the wrong thing');
  await editing().waitFor();
  assert.equal(await chat.input.inputValue(), 'Do the wrong thing');
  assert.match(await editing().innerText(), /Sending replaces this message[\s\S]*1 file/);
  await bench.shot('editing');
  await chat.input.press('Escape');
  await editing().waitFor({ state: 'detached' });
  assert.equal(await chat.input.inputValue(), 'half a thought');
  await pencil('Do the wrong thing');
  await editing().waitFor();
  model.play(say('The right thing.'));
  await chat.ask('Do the right thing');
  await chat.says('The right thing.');
  await chat.isIdle();
  const text = await chat.text();
  assert.match(text, /Greet me[\s\S]*Do the right thing/);
  assert.doesNotMatch(text, /wrong thing|What was that/);
  assert.match(messages().join(), /Greet me.*Do the right thing/);
  assert.doesNotMatch(JSON.stringify(model.requests.at(-1).body.messages), /wrong thing|What was that/);
  assert.equal(bench.read('numbers.py'), `${LINES.join('\n')}\n`);
  await bench.shot('edited');
});

check('words are not lost when the conversation cannot go back', async () => {
  model.play(say('Notes of all that was said.'));
  await chat.ask('/compact');
  await chat.says('goes on with its notes');
  await pencil('Greet me');
  await editing().waitFor();
  await chat.ask('Greet me in French');
  await chat.says('summarized since');
  await until('the words are in the input', async () => (await chat.input.inputValue()) === 'Greet me in French');
  await bench.shot('refused');
  await chat.input.fill('');
});
