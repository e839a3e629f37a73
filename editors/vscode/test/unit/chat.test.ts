import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChatDesk, type Server } from '../../src/chat/desk';
import { pageHtml } from '../../src/chat/html';
import { Stopped } from '../../src/chat/said';
import { Withdrawn } from '../../src/chat/waiting';
import type {
  ChangesResult,
  DraftParams,
  FileChanges,
  FileChoice,
  HintInfo,
  TurnParams,
  TurnResult,
  UsageResult,
} from '../../src/protocol';
import type { Desk, ToPage } from '../../webview/src/bridge';
import { apply, newConversation } from '../../webview/src/store';
import { BASH, call, done, EDIT, text, turn } from '../../webview/test/story';

interface Turn {
  params: TurnParams;
  signal: AbortSignal;
  answer: (result: Partial<TurnResult>) => void;
  refuse: (error: Error) => void;
}

/** A desk whose server answers when the test says so. */
function office(never: string[] = []) {
  const wants = { on: true };
  const turns: Turn[] = [];
  const posted: ToPage[] = [];
  const drafts: DraftParams[] = [];
  const asked: string[] = [];
  const refusals: Record<string, string> = {};
  const conflicts: string[] = [];
  /** What `caddie/session/changes` answers. */
  const listed: FileChanges[] = [];
  const slowness: { answered: Promise<ChangesResult> }[] = [];
  const told = (files: FileChoice[]) => files.map(({ path, hunks = [] }) => [path, ...(hunks ?? [])].join(' ')).join();
  const done = async <Result>(what: string, result: Result): Promise<Result> => {
    asked.push(what);
    if (refusals[what]) throw new Error(refusals[what]);
    return result;
  };
  const unknown = (): never => {
    throw new Error('No such conversation.');
  };
  const session = (sessionId: string) => ({ sessionId, title: 'late', created: '', updated: '', turns: 1, mode: 'plan' as const });
  const link: Server = {
    turn: (params, signal) =>
      new Promise((resolve, reject) => {
        const usage = { inputTokens: 100, cachedTokens: 50, outputTokens: 10 };
        const whole = {
          sessionId: 's1',
          turnId: `t${turns.length + 1}`,
          stopReason: 'endTurn' as const,
          text: '',
          usage,
        };
        const answer = (result: Partial<TurnResult>) =>
          resolve({ ...whole, mode: params.mode ?? 'agent', model: 'm', changedFiles: [], ...result });
        turns.push({ params, signal, answer, refuse: reject });
        signal.addEventListener('abort', () => reject(new Stopped()));
      }),
    draft: (params) => void drafts.push(params),
    open: async (sessionId) => ({
      session: sessionId === 'none' ? unknown() : session(sessionId),
      transcript: [
        { turnId: 't0', kind: 'user', text: 'Which?', picks: ['mcp__acme__pay'], attachments: ['a.py', 'a.py:1-3'] },
      ],
      todo: [],
      notices: [],
      interrupted: false,
    }),
    rewind: (sessionId, turnId) =>
      done(`rewind ${turnId}`, { session: session(sessionId), transcript: [], todo: [], notices: [], interrupted: false }),
    undo: (_, { turnId = '', files = [] }) => {
      const conflict = files.some(({ path }) => conflicts.includes(path));
      const outcome = conflict ? ('conflict' as const) : ('restored' as const);
      return done(`undo ${turnId || told(files)}`, {
        ...{ turnId, message: conflict ? 'Left as it is: a.py.' : 'Taken back.' },
        ...(conflict ? {} : { undoId: `u${asked.filter((what) => what.startsWith('undo')).length + 1}` }),
        files: [{ path: 'a.py', outcome }],
      });
    },
    changes: async () => {
      const wait = slowness.pop();
      return wait ? wait.answered : { files: [...listed] };
    },
    keep: async (_, files = []) => {
      await done(`keep ${told(files)}`, undefined);
      listed.splice(0, listed.length, ...listed.filter(({ path }) => !files.some((file) => file.path === path)));
      return { files: [...listed] };
    },
    compact: async () => ({ notes: '', tokensBefore: 900, tokensAfter: 90 }),
    usage: async () => ({ total: { saved: 41_000, tokens: 61_000 } }) as UsageResult,
  };
  const later: (() => void)[] = [];
  const desk = new ChatDesk(link, {
    post: (message) => void posted.push(message),
    changed: () => undefined,
    now: () => 1000,
    later: (act) => void later.push(act),
    hintWishes: () => ({ on: wants.on, never }),
    roots: () => [{ path: '/x', name: '' }],
    findFile: async (name) => (name.endsWith('.py') ? { name, path: `/x/${name}` } : undefined),
  });
  desk.serverIs({ state: 'ready' });
  const settle = async () => {
    for (let at = 0; at < 10; at++) await Promise.resolve();
    for (const act of later.splice(0)) act();
  };
  const shown = () =>
    desk.conversation.items
      .filter((item) => !item.void)
      .map((item) => (item.kind === 'call' ? item.call.label : 'text' in item ? item.text : item.kind));
  const composed = () => posted.flatMap((message) => (message.type === 'compose' ? [message.text] : []));
  /** The next look at the changes is answered when the test says so. */
  const slow = () => {
    let answer: (result: ChangesResult) => void = () => undefined;
    slowness.push({ answered: new Promise((resolve) => (answer = resolve)) });
    return { answer };
  };
  return { desk, turns, posted, drafts, settle, shown, wants, asked, refusals, composed, conflicts, listed, slow };
}

const HUNK = { id: 'h1', oldStart: 2, oldLines: 1, newStart: 2, newLines: 1, lines: ['-a', '+b'], cut: 0 };
const changed = (path: string, turns = ['t1']): FileChanges => ({
  ...{ path, status: 'modified', added: 1, removed: 1, turns, hunks: [HUNK] },
});
const hint = (tool: string): HintInfo => ({ tool, label: tool, description: '', score: 0.8, state: 'deferred' });

test('a message takes chips and picks with it, once', async () => {
  const { desk, turns, settle } = office();
  desk.typed('pay');
  desk.beside.attach({ name: 'a.py', path: '/x/a.py' });
  desk.beside.attach({ name: 'a.py', path: '/x/a.py' });
  desk.beside.pick('mcp__acme__pay');
  desk.send('pay it');
  assert.deepEqual(turns[0]?.params, {
    ...{ sessionId: undefined, message: 'pay it', attachments: [{ name: 'a.py', path: '/x/a.py' }] },
    ...{ pickedTools: ['mcp__acme__pay'], mode: undefined, servers: [] },
  });
  turns[0].answer({});
  await settle();
  desk.send('again');
  assert.deepEqual(
    [turns[1]?.params.sessionId, turns[1]?.params.attachments, turns[1]?.params.pickedTools],
    ['s1', [], []],
  );
});

test('what is said during a turn waits and is sent when it ends', async () => {
  const { desk, turns, settle } = office();
  desk.send('one');
  desk.send('two');
  desk.send('three');
  desk.unqueue(desk.desk.queue[1]!.id, false);
  assert.deepEqual(
    desk.desk.queue.map((one) => one.text),
    ['two'],
  );
  turns[0]!.answer({});
  await settle();
  assert.deepEqual(
    turns.map(({ params }) => params.message),
    ['one', 'two'],
  );
});

test('a server that is named narrows draft and turn to it', () => {
  const { desk, turns, drafts } = office();
  desk.setServers(['acme', 'my.git']);
  desk.typed('@Acme pay, not x@my.git');
  desk.send('@Acme, and @my.git: pay @nobody');
  assert.deepEqual(drafts[0]?.servers, ['acme']);
  assert.deepEqual(turns[0]?.params.servers, ['acme', 'my.git']);
});

test('a mode is told once it was chosen, and only then', async () => {
  const { desk, turns, settle } = office();
  desk.send('one');
  turns[0]!.answer({});
  await settle();
  desk.setMode('plan');
  desk.send('two');
  turns[1]!.answer({ mode: 'plan' });
  await settle();
  desk.send('three');
  assert.deepEqual(
    turns.map(({ params }) => params.mode),
    [undefined, 'plan', undefined],
  );
  assert.equal(desk.desk.mode, 'plan');
});

test('a mode that is chosen during a turn holds for the next one', async () => {
  const { desk, turns, settle } = office();
  desk.send('one');
  desk.setMode('plan');
  turns[0]!.answer({ mode: 'agent' });
  await settle();
  assert.equal(desk.desk.mode, 'plan');
  desk.send('two');
  assert.equal(turns[1]?.params.mode, 'plan');
});

test('the mode that is shown in a new conversation is the one that its first turn has', async () => {
  const { desk, turns, settle } = office();
  desk.setMode('plan');
  desk.send('one');
  turns[0]!.answer({ mode: 'plan' });
  await settle();
  desk.newChat();
  assert.equal(desk.desk.mode, 'plan');
  desk.send('two');
  assert.equal(turns[1]?.params.mode, 'plan');
});

test('a stopped turn gives back what waited and the next message works', async () => {
  const { desk, turns, posted, settle, shown } = office();
  desk.send('one');
  desk.send('two');
  assert.equal(desk.stop(), true);
  await settle();
  assert.ok(turns[0]!.signal.aborted);
  assert.deepEqual(
    posted.filter(({ type }) => type === 'compose'),
    [{ type: 'compose', text: 'two', how: 'append', focus: false }],
  );
  assert.deepEqual(shown(), ['one', 'stopped']);
  desk.send('three');
  assert.equal(turns[1]?.params.message, 'three');
});

test('an error of the server is a sentence in the conversation', async () => {
  const { desk, turns, settle, shown } = office();
  desk.send('one');
  turns[0]!.refuse(new Error('The key was refused.'));
  await settle();
  assert.deepEqual(shown(), ['one', 'The key was refused.']);
  assert.equal(desk.conversation.state, 'idle');
});

test('a page that is loaded in the middle of a turn has what the other one has', async () => {
  const { desk, posted, settle } = office();
  desk.send('one');
  for (const action of turn([text('so '), text('far'), call('c1', 'running')]))
    if (action.do === 'event') desk.event(action.params);
  const started = JSON.parse(JSON.stringify(desk.start())) as Extract<ToPage, { type: 'start' }>;
  const from = posted.length;
  for (const action of turn([call('c1', 'done'), text('end'), done()], 't1', 9))
    if (action.do === 'event') desk.event(action.params);
  await settle();
  const actions = posted.slice(from).flatMap((message) => (message.type === 'actions' ? message.actions : []));
  const page = actions.reduce(apply, started.conversation);
  assert.deepEqual(JSON.parse(JSON.stringify(page)), JSON.parse(JSON.stringify(desk.conversation)));
  const all = posted
    .flatMap((message) => (message.type === 'actions' ? message.actions : []))
    .reduce(apply, newConversation());
  assert.deepEqual(JSON.parse(JSON.stringify(all)), JSON.parse(JSON.stringify(desk.conversation)));
});

test('another conversation stops the turn, and its late words do not come in', async () => {
  const { desk, turns, settle, shown } = office();
  desk.send('one');
  desk.send('two');
  await desk.open('s0');
  await settle();
  assert.ok(turns[0]!.signal.aborted);
  for (const action of turn([text('late')])) if (action.do === 'event') desk.event(action.params);
  assert.deepEqual(shown(), ['Which?']);
  assert.equal(desk.mode, 'plan');
  desk.send('on');
  assert.deepEqual([turns.length, turns[1]?.params.sessionId, turns[1]?.params.mode], [2, 's0', undefined]);
});

test('what waits for the turn is in the input again when its conversation is left', async () => {
  for (const leave of ['new', 'open'] as const) {
    const { desk, composed, settle } = office();
    desk.send('one');
    desk.beside.attach({ name: 'a.py', path: '/x/a.py' });
    desk.send('two');
    if (leave === 'new') desk.newChat();
    else await desk.open('s0');
    await settle();
    assert.deepEqual([composed(), desk.desk.queue, desk.desk.chips.length], [['two'], [], 1]);
  }
});

test('what is said while a conversation opens goes into that one, also when it does not open', async () => {
  const { desk, turns, settle } = office();
  const opening = desk.open('s0');
  desk.send('on');
  assert.deepEqual([turns.length, desk.desk.queue.length], [0, 1]);
  await opening;
  await settle();
  assert.deepEqual(turns.map(({ params }) => [params.sessionId, params.message]), [['s0', 'on']]);

  const other = office();
  const failing = other.desk.open('none');
  other.desk.send('on');
  await assert.rejects(failing, /No such/);
  assert.deepEqual(other.turns.map(({ params }) => [params.sessionId, params.message]), [[undefined, 'on']]);
});

test('the newest wish for a conversation wins', async () => {
  const { desk } = office();
  const opening = desk.open('s0');
  desk.newChat();
  await opening;
  assert.equal(desk.conversation.sessionId, undefined);
});

test('a message that is sent while the turn stops is the next one', async () => {
  const { desk, turns, settle, composed } = office();
  desk.send('one');
  desk.stop();
  desk.send('two');
  await settle();
  assert.deepEqual([turns[1]?.params.message, composed()], ['two', []]);
});

test('going on is neither the edited message nor takes the draft’s files along', async () => {
  const { desk, turns, asked } = office();
  await desk.open('s0');
  await desk.edit('t0', '');
  desk.sendAlone('go on');
  assert.deepEqual([turns[0]?.params.message, turns[0]?.params.attachments, asked], ['go on', [], []]);
  assert.equal(desk.desk.editing?.turnId, 't0');
  assert.equal(desk.desk.chips.length, 1);
});

test('hints belong to the newest draft, and not to what was picked or never wanted', () => {
  const { desk, drafts } = office(['never']);
  desk.typed('pay');
  const late = drafts[0]!.draftId;
  desk.typed('pay back');
  desk.beside.show({ source: 'draft', draftId: late, hints: [hint('a')] });
  assert.deepEqual(desk.desk.hints, []);
  const { draftId } = drafts[1]!;
  desk.beside.show({ source: 'draft', draftId, hints: [hint('a'), hint('never')] });
  assert.deepEqual(
    desk.desk.hints.map(({ tool }) => tool),
    ['a'],
  );
  desk.beside.show({ source: 'turn', turnId: 't', hints: [hint('b')] });
  assert.deepEqual(
    desk.desk.hints.map(({ tool }) => tool),
    ['a'],
  );
  desk.beside.pick('a');
  assert.deepEqual([desk.desk.hints, desk.desk.picks.map(({ tool }) => tool)], [[], ['a']]);
  desk.typed('/plan');
  assert.equal(drafts.length, 2);
});

test('what was typed before the server was there gets its hints when it is', () => {
  const { desk, drafts } = office();
  desk.serverIs({ state: 'starting' });
  desk.typed('pay');
  desk.serverIs({ state: 'ready' });
  desk.searchAgain();
  assert.deepEqual(
    drafts.map(({ text }) => text),
    ['pay', 'pay', 'pay'],
  );
  assert.equal(new Set(drafts.map(({ draftId }) => draftId)).size, 3);
});

test('F07: dismissed hints stay away until the next message, and off asks for none', () => {
  const { desk, drafts, wants } = office();
  desk.typed('pay');
  desk.beside.show({ source: 'draft', draftId: drafts[0]!.draftId, hints: [hint('a')] });
  desk.beside.dismissHints();
  desk.typed('pay back');
  assert.deepEqual([desk.desk.hints, drafts.length], [[], 1]);
  desk.send('pay back');
  desk.typed('and');
  assert.equal(drafts.length, 2);
  wants.on = false;
  desk.typed('and on');
  assert.equal(drafts.length, 2);
});

test('permissions are answered each by its own, once; what is withdrawn is no answer', async () => {
  const { desk } = office();
  const withdraws: (() => void)[] = [];
  const keep = (withdraw: () => void) => void withdraws.push(withdraw);
  const [bash, edit] = [desk.waiting.permission(BASH, keep), desk.waiting.permission(EDIT, keep)];
  assert.equal(desk.desk.asks.length, 2);
  desk.waiting.answer('p2', { choice: 'once' });
  desk.waiting.answer('p2', { choice: 'always' });
  withdraws[0]!();
  assert.deepEqual(await edit, { choice: 'once' });
  await assert.rejects(bash, Withdrawn);
  assert.deepEqual(desk.desk.asks, []);
});

test('what is to be reviewed is what the server says after each turn, and a late answer is none', async () => {
  const { desk, turns, settle, listed, posted, slow } = office();
  listed.push(changed('a.py'));
  desk.send('one');
  turns[0]!.answer({});
  await settle();
  assert.deepEqual(posted.findLast(({ type }) => type === 'changes'), { type: 'changes', files: [changed('a.py')] });
  const late = slow();
  const first = desk.changes.refresh();
  listed.push(changed('b.py'));
  await desk.changes.refresh();
  late.answer({ files: [] });
  await first;
  assert.deepEqual(desk.changes.files.map(({ path }) => path), ['a.py', 'b.py']);
  desk.newChat();
  assert.deepEqual([desk.changes.files, posted.findLast(({ type }) => type === 'changes')], [[], { type: 'changes', files: [] }]);
});

test('long hunks are shown by their beginning', async () => {
  const { desk, turns, settle, listed } = office();
  const lines = Array.from({ length: 400 }, (_, at) => `+${at}`);
  listed.push({ ...changed('a.py'), hunks: [{ ...HUNK, lines, cut: 100 }] });
  desk.send('one');
  turns[0]!.answer({});
  await settle();
  const started = desk.start() as Extract<ToPage, { type: 'start' }>;
  const [hunk] = started.changes[0]!.hunks;
  assert.deepEqual([hunk?.lines.length, hunk?.cut, desk.changes.files[0]!.hunks[0]!.lines.length], [12, 488, 400]);
});

test('files and hunks are kept and taken back; each undo can be undone until the next message', async () => {
  const { desk, turns, settle, listed, asked, shown } = office();
  listed.push(changed('a.py'), changed('b.py'));
  desk.send('one');
  turns[0]!.answer({});
  await settle();
  await desk.changes.keep([{ path: 'a.py', hunks: ['h1'] }]);
  assert.deepEqual(desk.changes.files.map(({ path }) => path), ['b.py']);
  await desk.changes.takeBack([{ path: 'b.py', hunks: ['h1'] }]);
  await desk.changes.takeBackAll();
  assert.equal(desk.desk.canRedo, true);
  await desk.changes.redo();
  await desk.changes.redo();
  await desk.changes.redo();
  assert.deepEqual(asked, ['keep a.py h1', 'undo b.py h1', 'undo b.py', 'undo u2', 'undo u1']);
  assert.deepEqual([desk.desk.canRedo, shown()], [false, ['one', 'Taken back.', 'Taken back.']]);
  await desk.changes.undoTurn('t1');
  assert.equal(desk.desk.canRedo, true);
  desk.send('two');
  await settle();
  assert.equal(desk.desk.canRedo, false);
});

test('a conflict is told, and what is not there any more is looked at anew', async () => {
  const { desk, turns, settle, listed, refusals, conflicts, shown } = office();
  listed.push(changed('a.py'));
  desk.send('one');
  turns[0]!.answer({});
  await settle();
  conflicts.push('a.py');
  await desk.changes.takeBack([{ path: 'a.py' }]);
  assert.deepEqual(shown(), ['one', 'Left as it is: a.py.']);
  refusals['keep a.py h1'] = 'a.py is not as it was when you looked at it; look again.';
  listed.splice(0, 1, changed('b.py'));
  await assert.rejects(desk.changes.keep([{ path: 'a.py', hunks: ['h1'] }]), /look again/);
  assert.deepEqual(desk.changes.files.map(({ path }) => path), ['b.py']);
});

/** Two turns, each with a file and a pick; the second changed files. */
async function talked() {
  const one = office();
  for (const [at, words] of ['first', 'second'].entries()) {
    one.desk.beside.attach({ name: `${words}.txt`, text: words });
    one.desk.beside.pick(words);
    one.desk.send(words);
    if (at) one.listed.push(changed('a.py', ['t2']), changed('b.py', ['t2']));
    one.turns[at]!.answer({ turnId: `t${at + 1}` });
    await one.settle();
  }
  return one;
}

test('a message that is edited brings its words and all that went with it, and is sent in the place of its turn', async () => {
  const { desk, turns, settle, shown, asked, composed } = await talked();
  desk.beside.attach({ name: 'draft.txt', text: 'd' });
  await desk.edit('t1', 'half a thought');
  assert.deepEqual(composed(), ['first']);
  assert.deepEqual(
    [desk.desk.chips.map(({ name }) => name), desk.desk.picks.map(({ tool }) => tool), desk.desk.editing?.files],
    [['first.txt'], ['first'], 2],
  );
  desk.send('first, better');
  await settle();
  assert.deepEqual(asked, ['undo t2', 'rewind t1']);
  assert.deepEqual(shown(), ['Taken back.', 'first, better']);
  assert.deepEqual([turns[2]?.params.message, turns[2]?.params.attachments?.length], ['first, better', 1]);
  assert.equal(desk.desk.editing, undefined);
});

test('files stay as they are when the person says so', async () => {
  const { desk, settle, asked } = await talked();
  await desk.edit('t2', '');
  desk.editing.setTakeBack(false);
  desk.send('second, better');
  await settle();
  assert.deepEqual(asked, ['rewind t2']);
});

test('an edit that is cancelled gives back what stood in the input before, over two of them', async () => {
  const { desk, composed, asked } = await talked();
  desk.beside.attach({ name: 'draft.txt', text: 'd' });
  await desk.edit('t1', 'half a thought');
  await desk.edit('t2', 'first');
  desk.editing.cancel();
  assert.deepEqual(composed(), ['first', 'second', 'half a thought']);
  assert.deepEqual([desk.desk.chips.map(({ name }) => name), desk.desk.picks], [['draft.txt'], []]);
  assert.deepEqual([desk.desk.editing, asked], [undefined, []]);
});

test('words are not lost when the conversation cannot go back', async () => {
  const { desk, turns, settle, shown, refusals, composed } = await talked();
  refusals['rewind t1'] = 'It was summarized since.';
  refusals['undo t2'] = 'It is open elsewhere.';
  await desk.edit('t1', '');
  desk.send('first, better');
  await settle();
  assert.deepEqual(shown().slice(0, 3), ['first', 'second', 'It was summarized since.']);
  assert.match(shown()[3]!, /words are in the input again/);
  assert.deepEqual([composed().at(-1), desk.desk.chips.length, turns.length], ['first, better', 1, 2]);
  assert.equal(desk.conversation.state, 'idle');
});

test('words are not lost when another conversation begins while this one goes back', async () => {
  const { desk, composed, settle, turns } = office();
  await desk.open('s0');
  await desk.edit('t0', '');
  desk.send('Which of them?');
  desk.newChat();
  await settle();
  assert.deepEqual([turns.length, composed().at(-1), desk.conversation.items], [0, 'Which of them?', []]);
});

test('an undo that ends in another conversation is not taken back there', async () => {
  const { desk } = office();
  await desk.open('s0');
  const undoing = desk.changes.takeBack([{ path: 'a.py' }]);
  desk.newChat();
  await undoing;
  assert.equal(desk.desk.canRedo, false);
});

test('what cannot be taken back is told and stops nothing', async () => {
  const { desk, turns, settle, shown, refusals } = await talked();
  refusals['undo t2'] = 'It is open elsewhere.';
  await desk.edit('t1', '');
  desk.send('first, better');
  await settle();
  assert.deepEqual([shown(), turns.length], [['It is open elsewhere.', 'first, better'], 3]);
});

test('while a turn runs no message is edited; right after its last word one is', async () => {
  const { desk, turns, settle } = await talked();
  desk.send('third');
  await desk.edit('t1', '');
  assert.ok(!desk.desk.editing);
  for (const action of turn([done()], 't3')) if (action.do === 'event') desk.event(action.params);
  const edited = desk.edit('t3', '');
  turns[2]!.answer({ turnId: 't3' });
  await settle();
  await edited;
  assert.deepEqual((desk.desk as Desk).editing?.turnId, 't3');
});

test('of a stored message files are found by name, and the rest is named', async () => {
  const { desk } = office();
  await desk.open('s0');
  await desk.edit('t0', '');
  assert.deepEqual(
    [desk.desk.chips.map(({ name }) => name), desk.desk.picks.map(({ label }) => label), desk.desk.editing?.missing],
    [['a.py'], ['pay'], ['a.py:1-3']],
  );
});

test('a server that goes away takes its questions along', async () => {
  const { desk } = office();
  const asked = desk.waiting.permission(BASH, () => undefined);
  desk.serverIs({ state: 'starting', reason: 'It stopped.' });
  await assert.rejects(asked, Withdrawn);
  assert.equal(desk.desk.server.reason, 'It stopped.');
});

test('what deferral saves is asked for once the server is there', async () => {
  const { desk, settle } = office();
  await settle();
  assert.deepEqual(desk.desk.savings, { saved: 41_000, total: 61_000 });
});

test('the page’s policy lets nothing in but its own files', () => {
  const html = pageHtml({
    script: 's',
    style: 'c',
    source: 'https://own',
    nonce: 'abc',
    language: '"><script>',
    words: { x: '</div><script>' },
  });
  const [, policy = ''] = /Content-Security-Policy" content="([^"]+)"/.exec(html) ?? [];
  assert.match(policy, /default-src &#39;none&#39;|default-src 'none'/);
  assert.ok(!policy.includes('unsafe') && !policy.includes('*') && !/script-src [^;]*https:/.test(policy));
  assert.equal(html.match(/<script/g)?.length, 1);
});
