import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionOpenResult } from '../../src/protocol';
import { apply, INTERRUPTED, merged, newConversation, type Action, type Conversation } from '../src/store';
import { call, done, notice, play, start, STORY, text, turn } from './story';

/** One line for each thing that is shown. */
function lines(c: Conversation): string[] {
  return c.items
    .filter((item) => !item.void)
    .map((item) => {
      if (item.kind === 'call') return `${item.call.status} ${item.call.label}`;
      if (item.kind === 'todo') return item.todo.map(({ status }) => status).join(',');
      return item.kind === 'notice' ? `${item.level}: ${item.text}` : item.text;
    })
    .slice(1);
}

test('streamed text is one thing', () => {
  assert.deepEqual(lines(play(start('q'), ...turn([text('Three in'), text('voices.')]))), ['Three invoices.']);
});

test('a call keeps its place through all its states', () => {
  const c = play(start('q'), ...turn([call('c1', 'pending'), call('c2', 'pending'), call('c1', 'done')]));
  assert.deepEqual(lines(c), ['done git_log', 'pending git_log']);
});

test('a call may be called as it will', () => {
  const c = play(start('q'), ...turn([call('constructor', 'pending'), call('constructor', 'done')]));
  assert.deepEqual(lines(c), ['done git_log']);
});

test('a retry takes back the text since the last call', () => {
  const before = [text('Before.'), call('c1', 'done'), text('Broken ans'), text('w')];
  const c = play(start('q'), ...turn([...before, notice('Asking again.', 'info', true), text('Whole.')]));
  assert.deepEqual(lines(c), ['Before.', 'done git_log', 'info: Asking again.', 'Whole.']);
});

test('what was seen, comes late or belongs elsewhere is not shown', () => {
  const ours = turn([text('ours')]);
  assert.deepEqual(lines(play(start('q'), ...ours, ...ours, ...turn([text('theirs')], 't2'))), ['ours']);
  const first = play(start('q'), ...turn([text('one'), done()]), start('again'), ...turn([text('late')], 't1', 9));
  assert.deepEqual(lines(first), ['one', 'again']);
});

test('late events of a turn that was left do not reach the next conversation', () => {
  const c = play(start('q'), ...turn([text('one')]), { do: 'new' }, start('fresh'), ...turn([text('late')], 't1', 9));
  assert.deepEqual(lines(c), []);
});

test('the end of a turn ends its calls', () => {
  const c = play(start('q'), ...turn([call('c1', 'running'), done('cancelled')]));
  assert.deepEqual(lines(c), ['cancelled git_log', 'info: stopped']);
  assert.equal(c.state, 'idle');
});

test('a server that goes away ends the turn with the reason, once', () => {
  const failed: Action = { do: 'failed', message: 'The server stopped.' };
  assert.deepEqual(lines(play(start('q'), failed, failed)), ['error: The server stopped.']);
  const told = turn([notice('The key was refused.', 'error')]);
  assert.deepEqual(lines(play(start('q'), ...told, { do: 'failed', message: 'The key was refused.' })), [
    'error: The key was refused.',
  ]);
});

test('an error that was explained is not explained again', () => {
  const c = play(start('q'), ...turn([notice('The key was refused.', 'error'), done('error')]));
  assert.deepEqual(lines(c), ['error: The key was refused.']);
});

test('final words that were not streamed are shown', () => {
  assert.deepEqual(lines(play(start('q'), ...turn([done('endTurn', 'All of it.')]))), ['All of it.']);
  assert.deepEqual(lines(play(start('q'), ...turn([text('All of it.'), done('endTurn', 'All of it.')]))), [
    'All of it.',
  ]);
});

test('a to-do list changes where it stands, and a new turn has its own', () => {
  const todo = (status: 'pending' | 'completed') => ({ kind: 'todo' as const, items: [{ content: 'x', status }] });
  const c = play(start('q'), ...turn([todo('pending'), text('a'), todo('completed'), done()]));
  assert.deepEqual(lines(c), ['completed', 'a']);
  assert.deepEqual(lines([start('r'), ...turn([todo('pending')], 't2')].reduce(apply, c)), [
    'completed',
    'a',
    'r',
    'pending',
  ]);
});

test('a stored conversation reads like a live one', () => {
  const opened: SessionOpenResult = {
    session: { sessionId: 's1', title: 'late', created: '', updated: '', turns: 1, mode: 'plan' },
    transcript: [
      { turnId: 't1', kind: 'user', text: 'Which?', attachments: ['a.py'], picks: ['mcp__git__log'] },
      { turnId: 't1', kind: 'toolCall', call: call('c1', 'done') },
      { turnId: 't1', kind: 'assistant', text: 'None.' },
    ],
    todo: [{ content: 'x', status: 'pending' }],
    notices: ['One line was damaged and left out.'],
    interrupted: true,
  };
  const c = play({ do: 'opened', opened });
  const cut = 'info: The turn was interrupted: its window was closed or loaded anew.';
  assert.deepEqual(lines(c), ['Which?', 'done git_log', 'None.', 'pending', cut]);
  assert.equal(c.mode, 'plan');
  const said = c.items.find(({ kind }) => kind === 'user');
  assert.deepEqual(said?.kind === 'user' && [said.attachments, said.picks], [['a.py'], ['mcp__git__log']]);
  const offered = (one: Conversation) => one.items.filter((item) => item.kind === 'notice' && item.code === INTERRUPTED);
  assert.equal(offered(c).length, 1, 'a turn that was interrupted can be gone on with');
  assert.equal(offered(apply(c, start('go on'))).length, 0, 'once');
});

test('going back leaves out a turn and all after it; what is said next is one more', () => {
  const twice = [start('one'), ...turn([text('a'), done()]), start('two'), ...turn([text('b'), done()], 't2')];
  const c = play(...twice, { do: 'returning', at: 1 }, { do: 'rewound', turnId: 't2', title: 'late' });
  assert.deepEqual([lines(c), c.state, c.title], [['a'], 'idle', 'late']);
  const on = [start('three'), ...turn([text('late')], 't2', 9), ...turn([text('c')], 't3')].reduce(apply, c);
  assert.deepEqual(lines(on), ['a', 'three', 'c']);
  assert.deepEqual(
    on.items.filter(({ kind }) => kind === 'user').map(({ turnId }) => turnId),
    ['t1', 't3'],
  );
});

test('a replay of merged pieces, and of a copy that went through JSON, is the same conversation', () => {
  const whole = play(...STORY);
  const short = merged(STORY);
  assert.ok(short.length < STORY.length);
  assert.deepEqual(play(...short), whole);
  const half = JSON.parse(JSON.stringify(play(...STORY.slice(0, 6)))) as Conversation;
  assert.deepEqual(JSON.parse(JSON.stringify(STORY.slice(6).reduce(apply, half))), JSON.parse(JSON.stringify(whole)));
});

test('ten thousand pieces are one text, and what did not change stays the same object', () => {
  const c = play(...STORY);
  const first = c.items[0];
  const pieces = Array.from({ length: 10_000 }, (_, at) => text(`word ${at} `));
  const grown = turn(pieces, 't1', 100).reduce(apply, c);
  assert.equal(grown.items[0], first);
});

test('the words of a fresh conversation are none', () => {
  assert.deepEqual(newConversation().items, []);
});
