import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf, GrowingBlocks } from '../src/blocks';
import { completionAt, parseCommand } from '../src/commands';
import { linkOf } from '../src/links';
import { amount, clean, elapsed, fold, reveal, summary } from '../src/text';
import { t, useWords } from '../src/words';

test('strangers’ words carry no colours, controls or marks that turn direction', () => {
  assert.equal(clean('a\u001b[31mred\u001b[0m\u0007\u202egnp.exe\u2066'), 'aredgnp.exe');
  assert.equal(clean('a\u061cb'), 'ab');
  assert.equal(clean('one\r\ntwo\rthree\u2028four'), 'one\ntwo\nthree\nfour');
  assert.equal(clean('\u001b]8;;http://evil\u0007click\u001b]8;;\u0007'), 'click');
});

test('what is about to be allowed hides nothing', () => {
  assert.equal(reveal('rm \u202efdp.txt\u001b[2K\u200b'), 'rm ⟨U+202E⟩fdp.txt␛[2K⟨U+200B⟩');
  assert.equal(reveal('a\u061cb\u00adc\u115fd\u{e0041}'), 'a⟨U+061C⟩b⟨U+00AD⟩c⟨U+115F⟩d⟨U+E0041⟩');
  assert.equal(reveal('日本語 👩‍💻 ❤️ می‌خواهم\tx\n'), '日本語 👩‍💻 ❤️ می‌خواهم\tx\n');
});

test('words of strangers are no names of what the language has itself', () => {
  useWords({ Stop: '停' });
  for (const words of ['constructor', 'toString', '__proto__']) assert.equal(t(words), words);
  assert.equal(t('Stop'), '停');
  useWords(undefined);
});

test('a call is told apart on one line', () => {
  assert.equal(summary({ since: 'v2.4' }), 'v2.4');
  assert.equal(summary({ status: 'overdue', limit: 10 }), 'limit=10, status=overdue');
  assert.equal(summary({ command: 'make\ntest', timeout: 3 }), 'make test');
  assert.equal(summary({}), '');
  assert.equal(summary({ questions: [{ question: 'Which?', options: [] }, { question: 'Why?' }] }), 'Which?, Why?');
  assert.equal(summary({ ids: [1, 2] }), '[1,2]');
  const shop = [{ path: '/x/shop', name: '' }];
  assert.equal(summary({ path: '/x/shop/a.py', old: 'b' }, shop), 'a.py');
  assert.equal(summary({ path: '/x/shopping/a.py' }, shop), '/x/shopping/a.py');
});

test('numbers are short', () => {
  assert.deepEqual([950, 1200, 18200, 61000, 1400000].map(amount), ['950', '1.2k', '18.2k', '61k', '1.4M']);
  assert.deepEqual([10, 412, 12000, 125000].map(elapsed), ['', '0.4 s', '12 s', '2 min 5 s']);
});

test('a long result is folded and says how much is left', () => {
  assert.deepEqual(fold('a\nb\nc\nd\n', 2), { shown: 'a\nb', more: 2 });
  assert.deepEqual(fold('a\nb\n', 2), { shown: 'a\nb', more: 0 });
  assert.equal(fold('x'.repeat(1_000_000), 30).shown.length, 20_000);
});

test('only addresses that show something are links', () => {
  assert.deepEqual(linkOf('https://example.org/a?b#c'), { kind: 'web', href: 'https://example.org/a?b#c' });
  assert.deepEqual(linkOf('src/a.ts:12'), { kind: 'file', path: 'src/a.ts', line: 12 });
  assert.deepEqual(linkOf('src/a.ts#L12-L14'), { kind: 'file', path: 'src/a.ts', line: 12 });
  assert.deepEqual(linkOf('a%20b.md'), { kind: 'file', path: 'a b.md' });
  assert.deepEqual(linkOf('file:///etc/hosts'), { kind: 'file', path: '/etc/hosts' });
  assert.deepEqual(linkOf('C:\\work\\a.ts'), { kind: 'file', path: 'C:\\work\\a.ts' });
});

for (const href of [
  ...[
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'java\tscript:alert(1)',
    '\u0001javascript:alert(1)',
  ],
  ...['data:text/html,<script>', 'vbscript:x', 'command:workbench.action.quit', 'vscode://x', 'blob:x', 'about:blank'],
  ...['//evil.example/x', '\\\\evil\\share', 'file://evil/share', 'https://user:pass@evil.example', 'ftp://x/y', ''],
  ...['jav\u200bascript:alert(1)', 'https://a.example/\u202egnp', 'mailto:x@y', '#here'],
  ...['%2F%2Fevil/share', '%5C%5Cevil%5Cshare', '/%5Cevil/share', 'file:////evil/share', 'a%E2%80%AEgnp.exe', 'a%00b', 'a%1Bb'],
]) {
  test(`${JSON.stringify(href)} is no link`, () => assert.equal(linkOf(href), undefined));
}

test('a growing text has the blocks that the whole one has', () => {
  const whole =
    '# One\n\ntwo *three*\n\n- a\n- b\n\n```js\nlet x = 1;\n\nlet y;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nend';
  const growing = new GrowingBlocks();
  for (let at = 1; at < whole.length; at += 3) growing.update(whole.slice(0, at));
  const told = (blocks: { tokens: { type: string; content: string }[] }[]) =>
    blocks.map(({ tokens }) => tokens.map(({ type, content }) => `${type} ${content}`));
  assert.deepEqual(told(growing.update(whole)), told(blocksOf(whole)));
});

test('of a growing text only the end is parsed again', () => {
  const growing = new GrowingBlocks();
  let whole = 'first\n\n';
  let before = growing.update(whole);
  for (let at = 0; at < 200; at++) {
    whole += `more *words* ${at}\n\n`;
    const blocks = growing.update(whole);
    assert.equal(blocks.length, at + 2);
    for (const [i, block] of before.slice(0, -1).entries()) assert.equal(blocks[i], block);
    before = blocks;
  }
});

test('a command stands alone at the start; a path is a message', () => {
  assert.deepEqual(parseCommand('/rename  late invoices'), { name: 'rename', argument: 'late invoices' });
  assert.equal(parseCommand('/etc/hosts'), undefined);
  assert.equal(parseCommand('/nothing'), undefined);
  assert.equal(parseCommand('say /new'), undefined);
});

test('commands and files are completed where they begin', () => {
  assert.deepEqual(completionAt('/re', 3), { kind: 'command', from: 0, to: 3, query: 're' });
  assert.deepEqual(completionAt('see #inv', 8), { kind: 'file', from: 4, to: 8, query: 'inv' });
  assert.deepEqual(completionAt('ask @ac', 7), { kind: 'server', from: 4, to: 7, query: 'ac' });
  assert.equal(completionAt('me@ac', 5), undefined);
  assert.equal(completionAt('## Title', 2), undefined);
  assert.equal(completionAt('issue#5', 7), undefined);
});
