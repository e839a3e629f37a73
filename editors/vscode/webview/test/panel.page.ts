// The page in a real browser: what the person sees and does, against an extension that plays back and writes down.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import type { FileChanges } from '../../src/protocol';
import type { Desk } from '../src/bridge';
import { launch, Panel, type Options } from './browser';
import { BASH, call, CHANGED, CHOICES, done, EDIT, hint, notice, play, REMINDER, start, STORY, text, turn } from './story';

let browser: Browser;
before(async () => void (browser = await launch()));
after(() => browser.close());

/** Each test has a page of its own; nothing may be wrong on it at the end. */
function check(name: string, run: (panel: Panel) => Promise<void>, options: Options = {}): void {
  test(name, { timeout: 60_000 }, async () => {
    const panel = await Panel.open(browser, options);
    try {
      await run(panel);
      assert.deepEqual([panel.troubles, panel.requests], [[], []]);
    } finally {
      await panel.close();
    }
  });
}

const HINTS = [
  hint('create_credit_note', 0.83, 'Create a credit note'),
  hint('export_ledger', 0.41, 'Export the ledger'),
];
const ask = (...asks: (typeof REMINDER)[]): Partial<Desk> => ({
  asks: asks.map((one) => ({ kind: 'permission', ask: one })),
});
const EDITED = { turnId: 't1', item: 1, files: 2, takeBack: true, missing: ['a.py:1-3'], earlier: 'second words' };
const input = (panel: Panel) => panel.tab.locator('.composer-text');
/** Longer than the guard against keys that were meant for something else. */
const seen = (panel: Panel) => panel.tab.waitForTimeout(350);

check(
  'a turn streams into one answer with coloured code, and its calls are rows with the real names',
  async (panel) => {
    await panel.start();
    for (const action of STORY) await panel.act(action);
    const { tab } = panel;
    assert.equal(
      await tab.locator('.said-text').innerText(),
      'Which invoices are overdue since the last release? Send a reminder to the biggest one.',
    );
    assert.deepEqual(await tab.locator('.call .row-name').allInnerTexts(), [
      'Looked for tools',
      'git_log',
      'find_invoices',
      'send_reminder',
    ]);
    assert.equal(await tab.locator('.markdown strong').innerText(), 'INV-1042');
    assert.equal(await tab.locator('.markdown .code .hljs-keyword').first().innerText(), 'def');
    assert.equal(await tab.locator('.markdown td.align-right').innerText(), '8400');
    assert.match(await tab.locator('.status').innerText(), /working/);
    await panel.act(...turn([done()], 't1', 50));
    assert.equal(await tab.locator('.status').count(), 0);
  },
);

check('a call unfolds to its arguments and its output, by mouse and by keyboard', async (panel) => {
  const long = Array.from({ length: 200 }, (_, at) => `line ${at}`).join('\n');
  await panel.start(play(start('q'), ...turn([call('c1', 'done', { result: long, elapsedMs: 412 }), done()])));
  const row = panel.tab.locator('.call .row');
  assert.match(await row.innerText(), /git_log\s+git · 10\s+0\.4 s/);
  await row.click();
  assert.equal(await row.getAttribute('aria-expanded'), 'true');
  assert.match(
    await panel.tab.locator('.call-body').innerText(),
    /mcp__git__git_log[\s\S]*max_count\s+10[\s\S]*line 29\n/,
  );
  assert.equal(await panel.tab.getByText('line 199').count(), 0);
  await panel.tab.getByRole('button', { name: 'Show all (170 more lines)' }).click();
  assert.match(await panel.tab.locator('.call-body').innerText(), /line 199/);
  await row.focus();
  await panel.tab.keyboard.press('Enter');
  assert.equal(await panel.tab.locator('.call-body').count(), 0);
});

check('a running call shows its newest output and its time; one that failed shows why', async (panel) => {
  await panel.start(play(start('q'), ...turn([call('c1', 'running', { progress: '1 of 9\n5 of 9\n' })])));
  assert.match(await panel.tab.locator('.call-live').innerText(), /5 of 9/);
  await panel.act(
    ...turn([call('c1', 'failed', { result: 'exited with 1\nJIRA_TOKEN is not set', isError: true })], 't1', 9),
  );
  assert.match(await panel.tab.locator('.call-failed').innerText(), /failed[\s\S]*JIRA_TOKEN is not set/);
});

check('thinking is one folded line', async (panel) => {
  await panel.start(
    play(start('q'), ...turn([{ kind: 'thinking', text: 'First.\n\nThen **second**.' }, text('Done.'), done()])),
  );
  const row = panel.tab.locator('.thought .row');
  assert.match(await row.innerText(), /thought\s+Then \*\*second\*\*\./);
  await row.click();
  assert.equal(await panel.tab.locator('.thought-text strong').innerText(), 'second');
});

check('code is copied and inserted by the extension', async (panel) => {
  await panel.start(play(start('q'), ...turn([text('```js\nlet x = 1;\n```'), done()])));
  await panel.tab.getByRole('button', { name: 'Insert at the cursor' }).click();
  await panel.tab.locator('.code').getByRole('button', { name: 'Copy' }).click();
  assert.deepEqual(await panel.sent('insert'), [{ type: 'insert', code: 'let x = 1;', language: 'js' }]);
  assert.deepEqual(await panel.sent('copy'), [{ type: 'copy', text: 'let x = 1;' }]);
});

check('Enter sends, Shift+Enter begins a line, an input method’s Enter does neither', async (panel) => {
  await panel.start();
  await input(panel).click();
  await panel.tab.keyboard.type('one');
  await panel.tab.keyboard.press('Shift+Enter');
  await panel.tab.keyboard.type('two');
  await input(panel).dispatchEvent('keydown', { key: 'Enter', isComposing: true });
  assert.deepEqual(await panel.sent('send'), []);
  await panel.tab.keyboard.press('Enter');
  assert.deepEqual(await panel.sent('send'), [{ type: 'send', text: 'one\ntwo' }]);
  assert.equal(await input(panel).inputValue(), '');
});

check('Esc stops a turn; what is typed meanwhile waits, and can be taken back', async (panel) => {
  await panel.start(play(start('q'), ...turn([text('so far')])), {
    queue: [{ id: '7', text: 'and then this', picks: [], attachments: [] }],
  });
  await input(panel).click();
  await panel.tab.keyboard.type('more');
  await panel.tab.keyboard.press('Enter');
  assert.deepEqual(await panel.sent('send'), [{ type: 'send', text: 'more' }]);
  assert.match(await panel.tab.locator('.queue').innerText(), /and then this/);
  await panel.tab.getByRole('button', { name: 'Remove the waiting message' }).click();
  assert.deepEqual(await panel.sent('unqueue'), [{ type: 'unqueue', id: '7', edit: false }]);
  await input(panel).click();
  await panel.tab.keyboard.press('Escape');
  assert.equal((await panel.sent('stop')).length, 1);
});

check('Tab goes through the hints, Enter takes one, Esc hides them, and the focus stays', async (panel) => {
  await panel.start();
  await input(panel).click();
  await panel.tab.keyboard.type('give the money back');
  await panel.desk({ hints: HINTS });
  const rows = panel.tab.locator('.hint');
  assert.match(await rows.first().innerText(), /create_credit_note\s+Create a credit note\s+0\.83\s+acme/);
  assert.match(
    await panel.tab.locator('[aria-live=polite]').first().innerText(),
    /Tools that fit: create_credit_note, export_ledger/,
  );
  await panel.tab.keyboard.press('Tab');
  await panel.tab.keyboard.press('Tab');
  assert.equal(await rows.nth(1).getAttribute('aria-selected'), 'true');
  assert.equal(await panel.focused(), 'composer-text');
  await panel.tab.keyboard.press('Enter');
  assert.deepEqual(await panel.sent('pick'), [{ type: 'pick', tool: 'mcp__acme__export_ledger' }]);
  assert.deepEqual(await panel.sent('send'), []);
  await panel.desk({ hints: [HINTS[0]!], picks: [HINTS[1]!] });
  assert.match(await panel.tab.locator('.composer .chip').innerText(), /export_ledger/);
  await panel.tab.keyboard.press('Escape');
  assert.equal((await panel.sent('dismissHints')).length, 1);
  await panel.tab.getByRole('button', { name: 'Remove export_ledger' }).click();
  assert.deepEqual(await panel.sent('unpick'), [{ type: 'unpick', tool: 'mcp__acme__export_ledger' }]);
});

check('F07: hints that come while the person types never take the focus or a letter', async (panel) => {
  await panel.start();
  await input(panel).click();
  for (let at = 0; at < 20; at++) {
    await panel.tab.keyboard.type('word ');
    await panel.desk({ hints: at % 2 ? HINTS : [] });
  }
  assert.equal(await input(panel).inputValue(), 'word '.repeat(20));
  assert.equal(await panel.focused(), 'composer-text');
});

check('a hint is never shown again, or its tool is enabled always, by keyboard and mouse', async (panel) => {
  await panel.start();
  await input(panel).click();
  await panel.tab.keyboard.type('give');
  await panel.desk({ hints: HINTS });
  await panel.tab.keyboard.press('Tab');
  await panel.tab.keyboard.press('Delete');
  assert.deepEqual(await panel.sent('neverHint'), [{ type: 'neverHint', tool: 'mcp__acme__create_credit_note' }]);
  await panel.tab.keyboard.press('Alt+Enter');
  assert.equal((await panel.sent('enableAlways')).length, 1);
  await panel.tab.locator('.hint').nth(1).hover();
  await panel.tab.getByRole('button', { name: 'Don’t hint export_ledger' }).click();
  assert.equal((await panel.sent('neverHint')).length, 2);
  assert.deepEqual(await panel.sent('pick'), []);
});

for (const [key, choice] of [
  ['a', 'once'],
  ['s', 'session'],
  ['w', 'always'],
] as const) {
  check(`D17: ${key} answers a permission once its card has the focus, which it never takes`, async (panel) => {
    await panel.start(play(...STORY), ask(REMINDER));
    const card = panel.tab.locator('.ask');
    assert.match(
      await card.innerText(),
      /Run this tool\?\s+send_reminder · acme\s+mcp__acme__send_reminder[\s\S]*invoice\s+INV-1042/,
    );
    await input(panel).click();
    await panel.tab.keyboard.type(key);
    assert.deepEqual(await panel.sent('permission'), []);
    await seen(panel);
    await card.focus();
    await panel.tab.keyboard.press(key);
    assert.deepEqual(await panel.sent('permission'), [{ type: 'permission', requestId: 'p1', choice }]);
    assert.equal(await panel.focused(), 'composer-text');
  });
}

check('a rejection may say why', async (panel) => {
  await panel.start(play(...STORY), ask(REMINDER));
  await seen(panel);
  await panel.tab.locator('.ask').focus();
  await panel.tab.keyboard.press('r');
  await panel.tab.keyboard.type('as wished');
  await panel.tab.keyboard.press('Escape');
  await panel.tab.keyboard.press('r');
  await panel.tab.keyboard.type('Only to the bigger ones.');
  await panel.tab.keyboard.press('Enter');
  assert.deepEqual(await panel.sent('permission'), [
    { type: 'permission', requestId: 'p1', choice: 'reject', feedback: 'Only to the bigger ones.' },
  ]);
});

check('a card where one says why not keeps the focus only once', async (panel) => {
  await panel.start(play(...STORY), ask(REMINDER));
  await seen(panel);
  await panel.tab.locator('.ask').focus();
  await panel.tab.keyboard.press('r');
  await panel.tab.locator('.ask-reject textarea').waitFor();
  await input(panel).click();
  await panel.desk({ ...ask(REMINDER), model: 'another' });
  await panel.tab.getByText('another').waitFor();
  assert.equal(await panel.focused(), 'composer-text');
});

check('Esc stops a turn wherever the focus is, but not while one writes why not', async (panel) => {
  await panel.start(play(start('q'), ...turn([text('so far')])), ask(REMINDER));
  await panel.tab.locator('.transcript').focus();
  await panel.tab.keyboard.press('Escape');
  assert.equal((await panel.sent('stop')).length, 1);
  await seen(panel);
  await panel.tab.locator('.ask').focus();
  await panel.tab.keyboard.press('r');
  await panel.tab.keyboard.press('Escape');
  assert.equal((await panel.sent('stop')).length, 1);
  await panel.tab.keyboard.press('Escape');
  assert.equal((await panel.sent('stop')).length, 2);
});

check('a key that is held down answers one card, not those behind it', async (panel) => {
  await panel.start(play(...STORY), ask(REMINDER, EDIT));
  await seen(panel);
  await panel.tab.locator('.ask').first().focus();
  await panel.tab.keyboard.down('a');
  await panel.tab.keyboard.down('a');
  await panel.tab.keyboard.up('a');
  assert.deepEqual((await panel.sent('permission')).map(({ requestId }) => requestId), ['p1']);
});

check('words behind a command that takes none stay in the input', async (panel) => {
  await panel.start();
  await input(panel).fill('/new and then pay it');
  await input(panel).press('Enter');
  assert.deepEqual(await panel.sent('command'), [{ type: 'command', name: 'new', argument: '' }]);
  assert.equal(await input(panel).inputValue(), 'and then pay it');
  await input(panel).fill('/rename late');
  await input(panel).press('Enter');
  assert.deepEqual((await panel.sent('command')).at(-1), { type: 'command', name: 'rename', argument: 'late' });
  assert.equal(await input(panel).inputValue(), '');
});

check('a key struck before the card was in sight answers nothing', async (panel) => {
  await panel.start(play(...STORY), ask(REMINDER));
  await panel.tab.locator('.ask').focus();
  await panel.tab.keyboard.press('a');
  assert.deepEqual(await panel.sent('permission'), []);
});

check('several permissions are cards of their own; the next one has the focus after the first', async (panel) => {
  await panel.start(play(...STORY), ask(REMINDER, EDIT, BASH));
  assert.match(await panel.tab.locator('.status').innerText(), /3 wait for you\s*then: Edit, Bash/);
  await seen(panel);
  await panel.tab.locator('.status .row').click();
  await panel.tab.keyboard.press('a');
  await panel.tab.keyboard.press('s');
  assert.deepEqual(
    (await panel.sent('permission')).map(({ requestId, choice }) => [requestId, choice]),
    [
      ['p1', 'once'],
      ['p2', 'session'],
    ],
  );
});

check('an edit shows its diff and leads to the real one; a command shows itself and where it runs', async (panel) => {
  await panel.start(play(...STORY), ask(EDIT, BASH));
  const edit = panel.tab.locator('.ask').first();
  assert.deepEqual(await edit.locator('.diff .removed').allInnerTexts(), [
    '-    return [i for i in invoices',
    '-            if i.due < today]',
  ]);
  assert.equal(await edit.locator('.diff .added').count(), 3);
  await edit.getByRole('button', { name: 'Open diff' }).click();
  assert.deepEqual(await panel.sent('openDiff'), [{ type: 'openDiff', requestId: 'p2' }]);
  const bash = await panel.tab.locator('.ask').nth(1).innerText();
  assert.match(bash, /pytest -q tests\/test_invoices\.py[\s\S]*in \/home\/me\/shop[\s\S]*timeout\s+60/);
  assert.equal(bash.split('pytest -q').length, 2);
});

check('what would hide in an argument is shown by name, and a changed definition is told', async (panel) => {
  const evil = {
    ...BASH,
    preview: undefined,
    params: { path: 'safe\u202etxt.exe\u001b[2K' },
    definitionChanged: '+ bcc',
  };
  await panel.start(play(...STORY), ask(evil));
  assert.match(
    await panel.tab.locator('.ask').innerText(),
    /has changed since[\s\S]*\+ bcc[\s\S]*safe⟨U\+202E⟩txt\.exe␛\[2K/,
  );
});

check('a server’s own tool asks for the whole server only by its name', async (panel) => {
  const choices = [...CHOICES.slice(0, 3), { id: 'srv', label: '', kind: 'allowServerSession' as const }, CHOICES[3]!];
  await panel.start(play(...STORY), ask({ ...REMINDER, choices }));
  await seen(panel);
  await panel.tab.getByRole('button', { name: 'Every tool of acme this session' }).click();
  assert.equal((await panel.sent('permission'))[0]?.choice, 'srv');
});

check('questions are answered all at once, with options and own words, or declined', async (panel) => {
  const questions = [
    { id: 'db', question: 'Which?', multiple: false, options: [{ label: 'SQLite' }, { label: 'PostgreSQL' }] },
    { id: 'what', question: 'What with it?', multiple: true, options: [{ label: 'a' }, { label: 'b' }] },
    { id: 'why', question: 'Why?', multiple: false, options: [] },
  ];
  await panel.start(play(...STORY), {
    asks: [{ kind: 'question', ask: { requestId: 'q', title: 'Database', questions } }],
  });
  const card = panel.tab.locator('.question');
  await card.focus();
  await panel.tab.keyboard.press('2');
  await panel.tab.keyboard.press('1');
  await panel.tab.getByLabel('b', { exact: false }).last().check();
  assert.ok(await card.getByRole('button', { name: 'Answer', exact: true }).isDisabled());
  await card.locator('.own').nth(2).fill('Speed');
  await panel.tab.keyboard.press('Enter');
  assert.deepEqual(await panel.sent('question'), [
    { type: 'question', requestId: 'q', answers: { db: 'PostgreSQL', what: 'a, b', why: 'Speed' } },
  ]);
});

check('a slash completes to a command, a hash to a file', async (panel) => {
  await panel.start();
  await input(panel).click();
  await panel.tab.keyboard.type('/se');
  assert.deepEqual(await panel.tab.locator('.completion-name').allInnerTexts(), ['/sessions', '/selection']);
  await panel.tab.keyboard.press('ArrowDown');
  await panel.tab.keyboard.press('Tab');
  assert.deepEqual(await panel.sent('command'), [{ type: 'command', name: 'selection', argument: '' }]);
  await panel.tab.keyboard.type('look at #inv');
  await panel.tab.waitForFunction(() =>
    (window as unknown as { kept: { sent: { type: string }[] } }).kept.sent.some(({ type }) => type === 'files'),
  );
  const asked = (await panel.sent('files')).at(-1)!;
  assert.equal(asked.query, 'inv');
  await panel.tell({
    type: 'files',
    id: asked.id,
    files: [{ path: 'file:///x/invoices.py', name: 'invoices.py', folder: 'src' }],
  });
  await panel.tab.keyboard.press('Enter');
  assert.deepEqual(await panel.sent('attachFiles'), [{ type: 'attachFiles', uris: ['file:///x/invoices.py'] }]);
  assert.equal(await input(panel).inputValue(), 'look at ');
  await panel.tab.keyboard.type('@a');
  await panel.tab.keyboard.press('Tab');
  assert.equal(await input(panel).inputValue(), 'look at @acme ');
  await panel.tab.keyboard.press('Control+A');
  await panel.tab.keyboard.type('/rename late invoices');
  await panel.tab.keyboard.press('Enter');
  assert.deepEqual((await panel.sent('command')).at(-1), {
    type: 'command',
    name: 'rename',
    argument: 'late invoices',
  });
});

check('the prompts of MCP servers are commands, found by any part of their name', async (panel) => {
  await panel.start(undefined, { prompts: [{ name: 'acme:Yearly_report', does: 'A report\u202e of\nthe year' }] });
  await input(panel).click();
  await panel.tab.keyboard.type('/report');
  assert.match(await panel.tab.locator('.completion').innerText(), /\/acme:Yearly_report\s+A report of the year/);
  await panel.tab.keyboard.press('Enter');
  await panel.tab.keyboard.type('/acme:yearly_report 2026');
  await panel.tab.keyboard.press('Escape');
  await panel.tab.keyboard.press('Enter');
  assert.deepEqual(await panel.sent('command'), [
    { type: 'command', name: 'acme:Yearly_report', argument: '' },
    { type: 'command', name: 'acme:Yearly_report', argument: '2026' },
  ]);
});

check('a pasted picture and dropped files go with the message', async (panel) => {
  await panel.start();
  await input(panel).click();
  await panel.tab.evaluate(() => {
    const field = document.querySelector('.composer-text')!;
    const pasted = new DataTransfer();
    pasted.items.add(new File([new Uint8Array([137, 80, 78, 71])], 'shot.png', { type: 'image/png' }));
    field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: pasted, bubbles: true, cancelable: true }));
    const dropped = new DataTransfer();
    dropped.setData('text/uri-list', 'file:///x/a.py\r\nfile:///x/b.py');
    field.dispatchEvent(new DragEvent('drop', { dataTransfer: dropped, bubbles: true, cancelable: true }));
  });
  await panel.tab.waitForFunction(() =>
    (window as unknown as { kept: { sent: { type: string }[] } }).kept.sent.some(
      ({ type }) => type === 'attachPicture',
    ),
  );
  assert.deepEqual(await panel.sent('attachPicture'), [
    { type: 'attachPicture', name: 'shot.png', dataUrl: 'data:image/png;base64,iVBORw==' },
  ]);
  assert.deepEqual(await panel.sent('attachFiles'), [
    { type: 'attachFiles', uris: ['file:///x/a.py', 'file:///x/b.py'] },
  ]);
});

check('an earlier message is edited in the place of what followed; ↑ brings back the last one', async (panel) => {
  await panel.start(
    play(
      start('first words'),
      ...turn([text('ok'), done()]),
      start('second words'),
      ...turn([text('ok'), done()], 't2'),
    ),
  );
  await input(panel).click();
  await panel.tab.keyboard.press('ArrowUp');
  assert.equal(await input(panel).inputValue(), 'second words');
  await panel.tab.locator('.said').first().hover();
  await panel.tab.getByRole('button', { name: 'Edit and send again' }).first().click();
  assert.deepEqual(await panel.sent('edit'), [{ type: 'edit', turnId: 't1', draft: 'second words' }]);
  await panel.tell({ type: 'compose', text: 'first words', how: 'replace', focus: true });
  await panel.desk({ editing: EDITED });
  assert.equal(await input(panel).inputValue(), 'first words');
  assert.equal(await panel.focused(), 'composer-text');
  assert.match(
    await panel.tab.locator('.editing').innerText(),
    /Sending replaces this message and what follows\s+Cancel\s+Also take back their changes to 2 files\s+Not kept, so attach it again: a\.py:1-3/,
  );
  assert.equal(await panel.tab.locator('.leaves').count(), 4);
  await panel.tab.getByRole('checkbox').uncheck();
  assert.deepEqual(await panel.sent('takeBack'), [{ type: 'takeBack', on: false }]);
  await panel.tab.waitForTimeout(250);
  assert.deepEqual((await panel.saved())?.editing, { turnId: 't1', earlier: 'second words' });
  await input(panel).press('Escape');
  assert.equal((await panel.sent('cancelEdit')).length, 1);
});

check('a message that is edited while a turn runs waits for its end, or stops it', async (panel) => {
  await panel.start(play(start('one'), ...turn([text('ok'), done()]), start('two'), ...turn([text('so')], 't2')));
  await panel.tab.locator('.said').first().hover();
  await panel.tab.getByRole('button', { name: 'Edit and send again' }).first().click();
  assert.deepEqual(await panel.sent('edit'), []);
  assert.match(await panel.tab.locator('.editing').innerText(), /once the turn is over/);
  await panel.tab.getByRole('button', { name: 'Stop and edit' }).click();
  assert.equal((await panel.sent('stop')).length, 1);
  await panel.act(...turn([done('cancelled')], 't2', 9));
  assert.deepEqual(await panel.sent('edit'), [{ type: 'edit', turnId: 't1', draft: '' }]);
});

check('where the conversation goes back, what is said next is in sight', async (panel) => {
  const many = Array.from({ length: 40 }, (_, at) => [
    start(`question ${at}`),
    ...turn([text('answer\n\nmore\n\nand more'), done()], `t${at}`),
  ]).flat();
  await panel.start(play(...many));
  const box = panel.tab.locator('.transcript');
  await box.evaluate((one) => (one.scrollTop = one.scrollHeight / 3));
  await panel.tab.waitForTimeout(100);
  await panel.act({ do: 'rewound', turnId: 't30', title: 'x' }, start('better'), ...turn([text('yes')], 'tx'));
  await panel.tab.waitForTimeout(100);
  assert.deepEqual(await panel.tab.locator('.said-text').last().innerText(), 'better');
  assert.ok((await box.evaluate((one) => one.scrollHeight - one.clientHeight - one.scrollTop)) < 2);
});

check('changed files are looked at, kept and taken back, whole and by hunk', async (panel) => {
  await panel.start(play(start('q'), ...turn([done()])), {}, '', CHANGED);
  const list = panel.tab.locator('.changes');
  assert.match(
    await list.innerText(),
    /3 files changed[\s\S]*invoices\.py\s*src\/billing\s*\+4\s*−2[\s\S]*late\.py\s*\+12[\s\S]*Cannot be taken back: it was changed since/,
  );
  await panel.tab.getByRole('button', { name: 'changed: invoices.py src/billing' }).click();
  assert.deepEqual(await panel.sent('openChange'), [{ type: 'openChange', path: 'src/billing/invoices.py' }]);
  await panel.tab.getByRole('button', { name: 'Changes in src/billing/invoices.py' }).click();
  const first = panel.tab.getByRole('group', { name: 'lines 12–14' });
  assert.deepEqual(await first.locator('.removed').allInnerTexts(), [
    '-    return [i for i in invoices',
    '-            if i.due < today]',
  ]);
  await first.getByRole('button', { name: 'Keep lines 12–14' }).click();
  await panel.tab.getByRole('button', { name: 'Take back line 32' }).click();
  await panel.tab.getByRole('button', { name: 'Show all (20 more lines)' }).click();
  await panel.tab.getByRole('button', { name: 'Take back late.py' }).click();
  assert.ok(await panel.tab.getByRole('button', { name: 'Take back notes.md' }).isDisabled());
  await panel.tab.getByRole('button', { name: 'Keep all' }).click();
  await panel.tab.getByRole('button', { name: 'Take back all' }).click();
  const path = 'src/billing/invoices.py';
  assert.deepEqual(await panel.sent('keepChanges'), [
    { type: 'keepChanges', files: [{ path, hunks: ['h1'] }] },
    { type: 'keepChanges' },
  ]);
  assert.deepEqual(await panel.sent('takeBackChanges'), [
    { type: 'takeBackChanges', files: [{ path, hunks: ['h2'] }] },
    { type: 'takeBackChanges', files: [{ path: 'late.py' }] },
    { type: 'takeBackChanges' },
  ]);
  assert.equal((await panel.sent('openChange')).length, 2);
});

check('by keyboard, the next change has the focus once one is kept; in the end the input has it', async (panel) => {
  await panel.start(play(start('q'), ...turn([done()])), {}, '', CHANGED);
  await panel.tab.getByRole('button', { name: 'Changes in src/billing/invoices.py' }).press('Enter');
  await panel.tab.getByRole('button', { name: 'Keep lines 12–14' }).press('Enter');
  const [file, ...others] = CHANGED as [FileChanges, ...FileChanges[]];
  await panel.changes([{ ...file, hunks: file.hunks.slice(1) }, ...others]);
  const focused = () => panel.tab.evaluate(() => document.activeElement?.getAttribute('aria-label'));
  assert.equal(await focused(), 'Keep line 32');
  await panel.changes([]);
  assert.equal(await panel.focused(), 'composer-text');
});

check('an undo is undone, and while a turn runs nothing is taken back', async (panel) => {
  await panel.start(play(start('q'), ...turn([text('so')])), { canRedo: true }, '', CHANGED);
  for (const name of ['Undo the undo', 'Take back all', 'Take back late.py'])
    assert.ok(await panel.tab.getByRole('button', { name }).isDisabled(), name);
  await panel.act(...turn([done()], 't1', 9));
  await panel.tab.getByRole('button', { name: 'Undo the undo' }).click();
  assert.equal((await panel.sent('redo')).length, 1);
});

check('draft, place and what was unfolded survive a reload in the middle of a turn', async (panel) => {
  const many = Array.from({ length: 60 }, (_, at) => [
    start(`question ${at}`),
    ...turn([text(`answer ${at}\n\n- a\n- b`), done()], `t${at}`),
  ]).flat();
  const running = [...many, start('last'), ...turn([text('so far')], 'tx')];
  await panel.start(play(...running));
  await panel.tab.locator('.transcript').evaluate((box) => (box.scrollTop = box.scrollHeight / 2));
  await input(panel).fill('half a thought');
  await panel.tab.waitForTimeout(400);
  const saved = await panel.saved();
  assert.equal(saved?.draft, 'half a thought');
  const top = () =>
    panel.tab
      .locator(`[data-item="${saved?.scroll?.item}"]`)
      .evaluate((item) => Math.round(item.getBoundingClientRect().top));
  const before = await top();
  const again = await Panel.open(browser, { saved });
  await again.start(play(...running), {}, 'what the extension remembers');
  await again.act(...turn([text(' and on')], 'tx', 9));
  await again.tab.waitForTimeout(300);
  assert.equal(await input(again).inputValue(), 'half a thought');
  const after = await again.tab
    .locator(`[data-item="${saved?.scroll?.item}"]`)
    .evaluate((item) => Math.round(item.getBoundingClientRect().top));
  assert.ok(Math.abs(after - before) < 4, `${before} -> ${after}`);
  await again.tab.getByRole('button', { name: 'Go to the end' }).click();
  assert.match(await again.tab.locator('.item-text').last().innerText(), /so far and on/);
  await again.close();
});

check('reading above is not disturbed; at the end the newest stays in sight', async (panel) => {
  const many = Array.from({ length: 40 }, (_, at) => [
    start(`question ${at}`),
    ...turn([text('answer\n\nmore'), done()], `t${at}`),
  ]).flat();
  await panel.start(play(...many, start('go'), ...turn([text('x')], 'tx')));
  const box = panel.tab.locator('.transcript');
  const place = () =>
    box.evaluate((one) => [one.scrollTop, one.scrollHeight - one.clientHeight - one.scrollTop] as const);
  await panel.act(...turn([text('\n\nline'.repeat(30))], 'tx', 5));
  assert.ok((await place())[1] < 2);
  await box.evaluate((one) => (one.scrollTop -= 600));
  await panel.tab.waitForTimeout(100);
  const [before] = await place();
  await panel.act(...turn([text('\n\nline'.repeat(30))], 'tx', 50));
  assert.equal((await place())[0], before);
});

check('a server that does not run is told with its reason and the ways out', async (panel) => {
  await panel.start(undefined, { server: { state: 'failed', reason: 'It exited with 1: no module named caddie' } });
  assert.match(await panel.tab.locator('.trouble').innerText(), /It exited with 1/);
  await panel.tab.getByRole('button', { name: 'Restart' }).click();
  await panel.tab.getByRole('button', { name: 'Log' }).click();
  assert.equal((await panel.sent('restart')).length, 1);
  assert.equal((await panel.sent('log')).length, 1);
});

check('what the conversation costs is shown, and told on hover', async (panel) => {
  await panel.start(play(...STORY), { savings: { saved: 41_000, total: 61_000 } });
  assert.match(await panel.tab.locator('.foot-cost').innerText(), /18\.2k[\s\S]*41k saved/);
  assert.match(
    (await panel.tab.locator('.foot-cost').getAttribute('aria-label')) ?? '',
    /14760 of them from the cache \(82 %\)/,
  );
  await panel.tab.getByRole('button', { name: 'Agent' }).click();
  assert.deepEqual(await panel.sent('mode'), [{ type: 'mode', mode: 'plan' }]);
});

check(
  'the page speaks the person’s language',
  async (panel) => {
    await panel.start(play(start('q'), ...turn([notice('words of the server'), done('cancelled')])));
    assert.equal(await input(panel).getAttribute('placeholder'), '问我');
    assert.deepEqual(await panel.tab.locator('.notice-text').allInnerTexts(), ['words of the server', '已停止']);
  },
  { words: { 'Ask, or say what to do': '问我', stopped: '已停止' } },
);

check('everything is reached by keyboard and has a name', async (panel) => {
  await panel.start(play(...STORY), {
    ...ask(REMINDER),
    editing: EDITED,
  });
  await panel.changes(CHANGED);
  await panel.tab.getByRole('button', { name: 'Changes in src/billing/invoices.py' }).click();
  const nameless = await panel.tab.evaluate(() =>
    [...document.querySelectorAll('button, [tabindex="0"], textarea, input')]
      .filter(
        (one) =>
          !(one.getAttribute('aria-label') ?? (one.textContent || one.closest('label')?.textContent) ?? '').trim() &&
          !one.hasAttribute('placeholder'),
      )
      .map((one) => one.outerHTML.slice(0, 80)),
  );
  assert.deepEqual(nameless, []);
  await input(panel).focus();
  const reached = new Set<string>();
  for (let at = 0; at < 60; at++) {
    await panel.tab.keyboard.press('Shift+Tab');
    reached.add(await panel.focused());
  }
  for (const one of ['ask', 'primary', 'row', 'link', 'transcript'])
    assert.ok(reached.has(one), `${one} in ${[...reached].join()}`);
});
