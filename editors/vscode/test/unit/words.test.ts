import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { HintMemory } from '../../src/hint-memory';
import { pairs, splitCommand } from '../../src/mcp/parse';
import type { HintInfo, ShowHints } from '../../src/protocol';
import { type StatusFacts, statusOf } from '../../src/status-text';
import { cap, noLinks, oneLine, shownWithoutLinks, tokens } from '../../src/text';

const FACTS: StatusFacts = {
  server: 'ready', problem: '', model: 'claude-opus-5-5', mode: 'agent', isBusy: false, pending: 0, troubled: [], isTrusted: true,
};
const fill = (text: string, ...args: (string | number)[]) => text.replace(/\{(\d)\}/g, (_, at: string) => String(args[Number(at)]));
const status = (more: Partial<StatusFacts>) => statusOf({ ...FACTS, ...more }, fill);

test('the status bar says model and mode', () => {
  assert.equal(status({}).text, '$(tools) claude-opus-5-5 · agent');
  assert.equal(status({ mode: 'plan' }).label, 'Caddie, claude-opus-5-5 · plan');
  assert.equal(status({ model: '' }).text, '$(tools) Caddie · agent');
});

test('the status bar counts what waits and names servers in trouble', () => {
  const shown = status({ pending: 2, troubled: ['jira'] });
  assert.equal(shown.text, '$(tools) claude-opus-5-5 · agent $(bell-dot) 2 $(warning) 1');
  assert.equal(shown.background, 'statusBarItem.warningBackground');
  assert.match(shown.label, /2 waiting for you, MCP servers in trouble: jira/);
});

test('a server that does not run is said in the status bar, with the reason', () => {
  const shown = status({ server: 'failed', problem: 'It exited with 1: no pygls' });
  assert.equal(shown.text, '$(error) Caddie');
  assert.equal(shown.tooltip, 'It exited with 1: no pygls');
  assert.equal(status({ server: 'starting' }).text, '$(tools) Caddie starting …');
});

test('a folder that is not trusted shows', () => {
  assert.match(status({ isTrusted: false }).text, /workspace-untrusted/);
});

test('a command line is taken apart without a shell', () => {
  assert.deepEqual(splitCommand(' npx -y "my server" --a=\'b c\' '), ['npx', '-y', 'my server', '--a=b c']);
  assert.deepEqual(splitCommand('run ""'), ['run', '']);
  assert.deepEqual(splitCommand('echo $HOME `id` && rm'), ['echo', '$HOME', '`id`', '&&', 'rm']);
  for (const wrong of ['', '  ', '"open', "it's"]) assert.equal(splitCommand(wrong), undefined);
});

test('names and values come in pairs', () => {
  assert.deepEqual(pairs('A=1 B="two words" C=x=y'), { A: '1', B: 'two words', C: 'x=y' });
  assert.deepEqual(pairs('Authorization="Bearer ${TOKEN}"'), { Authorization: 'Bearer ${TOKEN}' });
  assert.deepEqual(pairs(' '), {});
  for (const wrong of ['A', '=1', 'A=1 B', 'a b=c']) assert.equal(pairs(wrong), undefined);
});

test('counts of tokens stay short', () => {
  assert.deepEqual([0, 912, 1000, 7931, 9960, 18_204].map(tokens), ['0', '912', '1k', '7.9k', '10k', '18k']);
});

test('long words are cut between letters', () => {
  assert.equal(cap('abcdef', 4), 'abc…');
  assert.equal(cap('😀😀😀😀', 3), '😀😀…');
  assert.equal(oneLine(' a\n\tb '), 'a b');
});

test('no words of strangers are a link of the editor', () => {
  assert.equal(noLinks('see [this](command:workbench.action.quit)'), 'see [this]\u200b(command:workbench.action.quit)');
  const asked = { method: 'window/showMessage', params: { type: 2, message: 'Unknown: [x](command:y)' } };
  assert.equal(shownWithoutLinks(asked).params.message, 'Unknown: [x]\u200b(command:y)');
  const other = { method: 'caddie/chat/event', params: { message: '[x](y)' } };
  assert.equal(shownWithoutLinks(other), other);
  const own = /^(noLinks\(|vscode\.l10n\.t\(\s*'[^'{]*',?\s*\)|\w+, \{ modal|\w+, install, name\))/;
  const root = join(process.env.CADDIE_VSCODE as string, 'src');
  for (const file of readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))) {
    const told = readFileSync(join(root, file), 'utf8').matchAll(/show(?:Information|Warning|Error)Message(?:<\w+>)?\(\s*([^]{0,200})/g);
    for (const [, words = ''] of told) assert.match(words, own, file);
  }
});

const hint = (tool: string): HintInfo => ({ tool, label: tool, description: '', score: 0.8, state: 'deferred' });
const hints = (turnId: string, ...tools: string[]): ShowHints => ({ turnId, hints: tools.map(hint), source: 'turn' });
const names = (found: readonly HintInfo[]) => found.map((one) => one.tool);

test('F07: hints are told once per turn, and not again after they were dismissed', () => {
  const memory = new HintMemory();
  const first = memory.fresh(hints('t1', 'a', 'b'));
  assert.deepEqual(names(first), ['a', 'b']);
  assert.deepEqual(memory.fresh(hints('t1', 'c')), []);
  memory.dismiss(first);
  assert.deepEqual(memory.fresh(hints('t2', 'a', 'b')), []);
  assert.deepEqual(names(memory.fresh(hints('t3', 'a', 'c'))), ['c']);
});

test('F07: hints while typing are the panel’s business, never a notification', () => {
  assert.deepEqual(new HintMemory().fresh({ draftId: 'd', hints: [hint('a')], source: 'draft' }), []);
});
