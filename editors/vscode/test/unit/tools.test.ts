import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerInfo, ToolInfo, ToolsListResult } from '../../src/protocol';
import {
  filterText, type GroupNode, groupTokens, hasOwnState, nextState, NO_FILTER, nodesOf, patternsOf, readFilter, sourceOf,
} from '../../src/tools/model';

function tool(label: string, server: string | undefined, state: ToolInfo['state'], more: Partial<ToolInfo> = {}): ToolInfo {
  const name = server ? `mcp__${server}__${label}` : label;
  const rest = { stateSource: { kind: 'profile' as const }, readOnly: false, destructive: false, tokens: 100 };
  return { name, label, description: `Does ${label}`, server, state, ...rest, ...more };
}

const SERVERS: ServerInfo[] = [
  { name: 'jira', status: 'failed', reason: 'exited with 1 after 0.3 s: JIRA_TOKEN is not set', tools: 0 },
  { name: 'acme', status: 'ready', tools: 2 },
];
const LIST: ToolsListResult = {
  revision: 1,
  profile: 'standard',
  tools: [
    tool('find_invoices', 'acme', 'enabled'),
    tool('delete_customer', 'acme', 'disabled'),
    tool('Bash', undefined, 'enabled'),
    tool('ToolSearch', undefined, 'enabled'),
  ],
  servers: SERVERS,
  totals: { enabled: 3, deferred: 0, disabled: 1, tokensInPrompt: 300, tokensTotal: 400 },
};

function shown(groups: readonly GroupNode[]): Record<string, string[]> {
  const label = (node: GroupNode['children'][number]) =>
    node.kind === 'tool' ? node.tool.label : node.kind === 'trouble' ? node.text : node.name;
  return Object.fromEntries(groups.map((group) => [group.name, group.children.map(label)]));
}

test('built-in tools come first, then the servers by name; a failed one says why', () => {
  const groups = nodesOf(LIST, NO_FILTER);
  assert.deepEqual(Object.keys(shown(groups)), ['', 'acme', 'jira']);
  assert.deepEqual(shown(groups)['acme'], ['find_invoices', 'delete_customer']);
  assert.deepEqual(shown(groups)['jira'], ['exited with 1 after 0.3 s: JIRA_TOKEN is not set']);
  assert.equal(groupTokens(groups[1] as GroupNode), '100 / 200');
});

test('tools of a server that is not listed are shown all the same', () => {
  const groups = nodesOf({ ...LIST, servers: [] }, NO_FILTER);
  assert.deepEqual(shown(groups)['acme'], ['find_invoices', 'delete_customer']);
});

test('a filter takes words and states, and hides groups without a fitting tool', () => {
  assert.deepEqual(shown(nodesOf(LIST, readFilter('invoices'))), { acme: ['find_invoices'] });
  assert.deepEqual(shown(nodesOf(LIST, readFilter('@disabled'))), { acme: ['delete_customer'] });
  assert.deepEqual(shown(nodesOf(LIST, readFilter('acme DOES @enabled'))), { acme: ['find_invoices'] });
  assert.deepEqual(nodesOf(LIST, readFilter('no such thing')), []);
});

test('a filter reads as it was typed', () => {
  assert.equal(filterText(readFilter('invoice  @disabled late')), '@disabled invoice late');
  assert.deepEqual(readFilter('   '), NO_FILTER);
});

test('a whole server is meant by its glob, so that its later tools are meant too', () => {
  const groups = nodesOf(LIST, NO_FILTER);
  assert.deepEqual(patternsOf(groups.slice(1, 2), false), ['mcp__acme__*']);
  assert.deepEqual(patternsOf(groups.slice(2), false), ['mcp__jira__*']);
});

test('of a filtered server only the tools that are shown are meant', () => {
  const groups = nodesOf(LIST, readFilter('invoices'));
  assert.deepEqual(patternsOf(groups, true), ['mcp__acme__find_invoices']);
});

test('the built-in group leaves the bridge alone', () => {
  assert.deepEqual(patternsOf(nodesOf(LIST, NO_FILTER).slice(0, 1), false), ['Bash']);
  assert.ok(!hasOwnState(tool('ExecuteTool', undefined, 'enabled')));
});

test('several tools go where the first of them goes', () => {
  const [builtin, acme] = nodesOf(LIST, NO_FILTER) as [GroupNode, GroupNode];
  assert.equal(nextState(builtin.children), 'disabled');
  assert.equal(nextState([...acme.children].reverse()), 'deferred');
  assert.equal(nextState([]), undefined);
});

test('who decided a state is said in the words of the settings', () => {
  const decided = (source: Partial<ToolInfo['stateSource']>) =>
    sourceOf(tool('delete_customer', 'acme', 'disabled', { stateSource: { kind: 'setting', ...source } }));
  assert.equal(decided({ scope: 'editorWorkspace', pattern: 'mcp__acme__delete_*' }), 'mcp__acme__delete_* · workspace');
  assert.equal(decided({ scope: 'editorUser', pattern: 'mcp__acme__delete_customer' }), 'user');
  assert.equal(sourceOf(tool('Bash', undefined, 'enabled')), '');
});

test('words of strangers stay on their line and in their direction', () => {
  const server: ServerInfo = { name: 'evil', status: 'failed', reason: 'a\nb\u202ec\u0007', tools: 0 };
  const [, , evil] = nodesOf({ ...LIST, servers: [...SERVERS.slice(1), server] }, NO_FILTER);
  const [trouble] = evil?.children ?? [];
  assert.equal(trouble?.kind === 'trouble' && trouble.text, 'a bc');
});
