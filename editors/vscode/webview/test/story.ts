// What a server would send, for the tests of the page: one recorded conversation, and pieces to make others.

import type { ChatEvent, FileChanges, HintInfo, PermissionAsk, ToolCallEvent } from '../../src/protocol';
import type { Desk } from '../src/bridge';
import { apply, newConversation, type Action, type Conversation } from '../src/store';

export const DESK: Desk = {
  ...{ server: { state: 'ready' }, mode: 'agent', model: 'claude-opus-5-5', queue: [], asks: [], hints: [], picks: [] },
  ...{
    chips: [],
    canRedo: false,
    can: { undo: true, compact: true },
    prompts: [],
    servers: ['acme', 'git'],
    roots: [{ path: '/home/me/shop', name: '' }],
  },
};

export function start(text: string, more: Partial<Extract<Action, { do: 'start' }>> = {}): Action {
  return { do: 'start', text, picks: [], attachments: [], at: 1000, ...more };
}

/** The events of one turn, numbered. */
export function turn(events: ChatEvent['event'][], turnId = 't1', from = 1): Action[] {
  return events.map((event, at) => ({
    ...{ do: 'event', at: 1000 },
    params: { sessionId: 's1', turnId, seq: from + at, event },
  }));
}

export function text(words: string): ChatEvent['event'] {
  return { kind: 'text', text: words };
}

export function call(
  callId: string,
  status: ToolCallEvent['status'],
  more: Partial<ToolCallEvent> = {},
): ToolCallEvent {
  return {
    ...{ kind: 'toolCall', callId, tool: 'mcp__git__git_log', label: 'git_log', server: 'git', status },
    ...{ params: { max_count: 10 }, isError: false, elapsedMs: 0, ...more },
  };
}

export function done(
  stopReason: 'endTurn' | 'cancelled' | 'error' | 'maxTokens' = 'endTurn',
  words = '',
): ChatEvent['event'] {
  return { kind: 'done', stopReason, text: words };
}

export function notice(
  message: string,
  level: 'info' | 'warning' | 'error' = 'info',
  discardText = false,
): ChatEvent['event'] {
  return { kind: 'notice', level, message, discardText };
}

export function play(...actions: Action[]): Conversation {
  return actions.reduce(apply, newConversation());
}

export function hint(
  label: string,
  score: number,
  description: string,
  state: HintInfo['state'] = 'deferred',
): HintInfo {
  return { tool: `mcp__acme__${label}`, label, description, score, server: 'acme', state };
}

/** A file with two hunks, a new one, and one that others have changed since. */
export const CHANGED: FileChanges[] = [
  {
    ...{ path: 'src/billing/invoices.py', status: 'modified', added: 4, removed: 2, turns: ['t1'] },
    hunks: [
      {
        ...{ id: 'h1', oldStart: 12, oldLines: 2, newStart: 12, newLines: 3, cut: 0 },
        lines: [
          ...['-    return [i for i in invoices', '-            if i.due < today]', '+    return sorted('],
          ...['+        (i for i in invoices if late(i, today)),', '+        key=lambda i: -i.amount)'],
        ],
      },
      { id: 'h2', oldStart: 30, oldLines: 0, newStart: 32, newLines: 1, lines: ['+LIMIT = 30'], cut: 20 },
    ],
  },
  { path: 'late.py', status: 'created', added: 12, removed: 0, turns: ['t1'], hunks: [] },
  {
    ...{ path: 'notes.md', status: 'modified', added: 0, removed: 0, turns: ['t1'], hunks: [] },
    blocked: 'was changed since in the same place (3)',
  },
];

export const CHOICES: PermissionAsk['choices'] = [
  { id: 'once', label: 'allow once', kind: 'allowOnce' },
  { id: 'session', label: 'this session', kind: 'allowSession' },
  { id: 'always', label: 'always', kind: 'allowAlways' },
  { id: 'reject', label: 'reject', kind: 'reject' },
];

export const REMINDER: PermissionAsk = {
  ...{ requestId: 'p1', sessionId: 's1', tool: 'mcp__acme__send_reminder', label: 'send_reminder', server: 'acme' },
  params: {
    invoice: 'INV-1042',
    tone: 'friendly',
    message: `Dear customer, our records show that an invoice is overdue.\n${'Please pay.\n'.repeat(20)}`,
  },
  ...{ choices: CHOICES, reason: 'It is not known to be read-only.' },
};

export const EDIT: PermissionAsk = {
  ...{ requestId: 'p2', sessionId: 's1', tool: 'Edit', label: 'Edit', params: { path: 'invoices.py' }, reason: '' },
  choices: CHOICES,
  preview: {
    ...{ kind: 'diff', path: 'invoices.py', before: 'a\n', after: 'b\n' },
    unified: [
      ...['--- invoices.py', '+++ invoices.py', '@@ -1,4 +1,5 @@', ' def overdue(invoices, today):'],
      ...['-    return [i for i in invoices', '-            if i.due < today]', '+    return sorted('],
      ...['+        (i for i in invoices if late(i, today)),', '+        key=lambda i: -i.amount)'],
    ].join('\n'),
  },
};

export const BASH: PermissionAsk = {
  ...{ requestId: 'p3', sessionId: 's1', tool: 'Bash', label: 'Bash', choices: CHOICES, reason: '' },
  params: { command: 'pytest -q tests/test_invoices.py', timeout: 60 },
  preview: { kind: 'command', command: 'pytest -q tests/test_invoices.py', cwd: '/home/me/shop' },
};

/** Late invoices, as far as the question whether a reminder may be sent. */
export const STORY: Action[] = [
  start('Which invoices are overdue since the last release? Send a reminder to the biggest one.', {
    attachments: ['invoices.py'],
  }),
  ...turn([
    { kind: 'thinking', text: 'The person wants the overdue invoices.\nI need a tool that lists invoices.' },
    call('c0', 'done', {
      ...{ tool: 'ToolSearch', label: 'ToolSearch', server: undefined, params: { query: 'overdue invoices' } },
      ...{ result: 'find_invoices, send_reminder', elapsedMs: 12 },
    }),
    call('c1', 'running', { params: { since: 'v2.4' } }),
    call('c1', 'done', { params: { since: 'v2.4' }, result: 'commit 4f1c\nRelease v2.4', elapsedMs: 412 }),
    call('c2', 'done', {
      ...{ tool: 'mcp__acme__find_invoices', label: 'find_invoices', server: 'acme', params: { status: 'overdue' } },
      ...{ result: 'INV-1042  8400\nINV-1043  120\nINV-1050  90', elapsedMs: 1100 },
    }),
    {
      kind: 'todo',
      items: [
        { content: 'Find overdue invoices', status: 'completed' },
        { content: 'Send the reminder', status: 'in_progress', activeForm: 'Sending the reminder' },
        { content: 'Sort the list by amount', status: 'pending' },
      ],
    },
    text('Since `v2.4` (12 November) three invoices are overdue. The big'),
    text('gest is **INV-1042**, € 8,400. I will send a friendly reminder.\n\n```python\ndef overdue(invoices, today):'),
    text(
      '\n    # late ones only\n    return [i for i in invoices if i.due < today]\n```\n\n| invoice | amount |\n|---|---:|\n| INV-1042 | 8400 |\n',
    ),
    { kind: 'usage', usage: { inputTokens: 18000, cachedTokens: 14760, outputTokens: 200 } },
    call('c3', 'awaitingPermission', {
      ...{ tool: 'mcp__acme__send_reminder', label: 'send_reminder', server: 'acme', params: REMINDER.params },
    }),
  ]),
];
