// Which things does a conversation consist of, given what happened? Pure: no page, no editor, no clock.
// The extension and the page fold the same actions, so that a page that is loaded anew gets exactly what it had.

import { clean } from './text';
import { later } from './words';
import type { ChatEvent, SessionOpenResult, Todo, ToolCallEvent, Usage } from '../../src/protocol';

export type Level = 'info' | 'warning' | 'error';
export type Mode = 'agent' | 'plan';

interface Base {
  /** Grows with each item of a conversation and stays the same while the item changes. */
  id: number;
  turnId?: string;
  /** Taken back; not shown. */
  void?: boolean;
}
export interface UserItem extends Base {
  kind: 'user';
  text: string;
  /** Wire names of tools. */
  picks: string[];
  /** Their names. */
  attachments: string[];
}
export interface TextItem extends Base {
  kind: 'text';
  text: string;
}
export interface ThinkingItem extends Base {
  kind: 'thinking';
  text: string;
}
export interface CallItem extends Base {
  kind: 'call';
  call: ToolCallEvent;
  /** When the newest state of the call came, in ms. */
  at: number;
}
export interface TodoItem extends Base {
  kind: 'todo';
  todo: Todo[];
}
export interface NoticeItem extends Base {
  kind: 'notice';
  level: Level;
  text: string;
  code?: string;
}
export type Item = UserItem | TextItem | ThinkingItem | CallItem | TodoItem | NoticeItem;

export interface Conversation {
  items: Item[];
  /** Call id of the running turn -> index. */
  calls: Record<string, number>;
  state: 'idle' | 'running' | 'stopping';
  /** When the running turn began, in ms. */
  began: number;
  seq: number;
  nextId: number;
  /** Turns that are over: what comes late of them is not ours. */
  over: string[];
  todo?: number;
  sessionId?: string;
  turnId?: string;
  title?: string;
  usage?: Usage;
  mode?: Mode;
  model?: string;
}

export type Action =
  | { do: 'start'; text: string; picks: string[]; attachments: string[]; at: number }
  | { do: 'event'; params: ChatEvent; at: number }
  /** The conversation goes back, which takes its time as a turn does. */
  | { do: 'returning'; at: number }
  /** That turn and all after it are not in the conversation any more. */
  | { do: 'rewound'; turnId: string; title: string }
  | { do: 'answered'; sessionId: string; turnId: string; usage: Usage; mode: Mode; model: string }
  | { do: 'stopping' }
  /** The turn is over and no `done` said so. Without a message the person stopped it. */
  | { do: 'failed'; message?: string }
  | { do: 'notice'; level: Level; text: string }
  | { do: 'title'; title: string }
  | { do: 'mode'; mode: Mode }
  | { do: 'new' }
  | { do: 'opened'; opened: SessionOpenResult };

/** The code of the notice that offers to go on; it loses it when something is said. */
export const INTERRUPTED = 'interrupted';
const CUT = later('The turn was interrupted: its window was closed or loaded anew.');

export function newConversation(): Conversation {
  return { items: [], calls: {}, state: 'idle', began: 0, seq: 0, nextId: 1, over: [] };
}

export function isOpen(call: ToolCallEvent): boolean {
  return call.status === 'pending' || call.status === 'running' || call.status === 'awaitingPermission';
}

/** The conversation after the action. Items that changed are other objects than before; the rest is the same. */
export function apply(c: Conversation, action: Action): Conversation {
  switch (action.do) {
    case 'start':
      return start(c, action);
    case 'event':
      return onEvent(c, action.params, action.at);
    case 'returning':
      Object.assign(c, { state: 'running', began: action.at });
      return c;
    case 'rewound':
      return rewind(c, action.turnId, action.title);
    case 'answered':
      c.sessionId = action.sessionId;
      nameTurn(c, action.turnId);
      Object.assign(c, { usage: action.usage, mode: action.mode, model: action.model || c.model });
      return c.state === 'idle' ? c : end(c);
    case 'stopping':
      if (c.state === 'running') c.state = 'stopping';
      return c;
    case 'failed':
      if (c.state === 'idle') return c;
      settleCalls(c);
      if (!(action.message && isTold(c, action.message))) {
        notice(c, action.message ? 'error' : 'info', action.message ?? 'stopped');
      }
      return end(c);
    case 'notice':
      notice(c, action.level, action.text);
      return c;
    case 'title':
      c.title = action.title;
      return c;
    case 'mode':
      c.mode = action.mode;
      return c;
    case 'new':
      return successor(c);
    case 'opened':
      return fromTranscript(c, action.opened);
  }
}

type New = Item extends infer One ? (One extends Item ? Omit<One, 'id'> : never) : never;

function add(c: Conversation, item: New): number {
  c.items.push({ ...item, id: c.nextId++ } as Item);
  return c.items.length - 1;
}

function notice(c: Conversation, level: Level, text: string, code?: string): void {
  add(c, { kind: 'notice', level, text, turnId: c.turnId, ...(code ? { code } : {}) });
}

/** Late events of the turns before belong to nothing in it. */
function successor(c: Conversation): Conversation {
  const over = c.turnId ? [...c.over.slice(-9), c.turnId] : c.over;
  return { ...newConversation(), nextId: c.nextId, mode: c.mode, model: c.model, over };
}

function start(c: Conversation, action: Extract<Action, { do: 'start' }>): Conversation {
  if (c.turnId) c.over = [...c.over.slice(-9), c.turnId];
  Object.assign(c, { state: 'running', turnId: undefined, seq: 0, calls: {}, todo: undefined, began: action.at });
  c.title ??= action.text.split('\n', 1)[0]!.slice(0, 80);
  settleInterrupted(c);
  add(c, { kind: 'user', text: action.text, picks: action.picks, attachments: action.attachments });
  return c;
}

function settleInterrupted(c: Conversation): void {
  const at = c.items.length - 1;
  const last = c.items[at];
  if (last?.kind !== 'notice' || last.code !== INTERRUPTED) return;
  c.items[at] = { ...last, code: 'goneOn' };
}

/** What the person said is known by its turn once the server has named that. */
function nameTurn(c: Conversation, turnId: string): void {
  const at = c.items.findLastIndex(({ kind }) => kind === 'user');
  const said = c.items[at];
  if (said && said.turnId === undefined) c.items[at] = { ...said, turnId };
}

export function saidIn(c: Conversation, turnId: string): UserItem | undefined {
  return c.items.find((item): item is UserItem => item.kind === 'user' && item.turnId === turnId);
}

function rewind(c: Conversation, turnId: string, title: string): Conversation {
  const said = saidIn(c, turnId);
  if (said) c.items.splice(c.items.indexOf(said));
  const over = c.turnId ? [...c.over.slice(-9), c.turnId] : c.over;
  Object.assign(c, { calls: {}, title, over, turnId: undefined });
  return end(c);
}

function end(c: Conversation): Conversation {
  Object.assign(c, { state: 'idle', todo: undefined });
  return c;
}

function isOurs(c: Conversation, { sessionId, turnId, seq }: ChatEvent): boolean {
  if (c.sessionId && sessionId !== c.sessionId) return false;
  const known = c.turnId === turnId || (c.turnId === undefined && c.state !== 'idle' && !c.over.includes(turnId));
  return known && seq > c.seq;
}

function onEvent(c: Conversation, params: ChatEvent, at: number): Conversation {
  if (!isOurs(c, params)) return c;
  if (c.turnId === undefined) nameTurn(c, params.turnId);
  Object.assign(c, { turnId: params.turnId, sessionId: params.sessionId, seq: params.seq });
  const event = params.event;
  switch (event.kind) {
    case 'text':
    case 'thinking':
      grow(c, event.kind, event.text);
      return c;
    case 'toolCall':
      onCall(c, event, at);
      return c;
    case 'todo':
      c.todo ??= add(c, { kind: 'todo', todo: [], turnId: c.turnId });
      c.items[c.todo] = { ...(c.items[c.todo] as TodoItem), todo: event.items };
      return c;
    case 'notice':
      if (event.discardText) discardText(c);
      if (event.mode) c.mode = event.mode;
      if (event.message) notice(c, event.level, event.message, event.code);
      return c;
    case 'usage':
      c.usage = event.usage;
      return c;
    case 'done':
      return onDone(c, event.stopReason, event.text);
    default:
      return c; // a newer server's kind
  }
}

function lastVisible(c: Conversation): number {
  let at = c.items.length - 1;
  while (at >= 0 && c.items[at]!.void) at--;
  return at;
}

function grow(c: Conversation, kind: 'text' | 'thinking', text: string): void {
  let at = lastVisible(c);
  const last = c.items[at];
  if (!last || last.kind !== kind || last.turnId !== c.turnId) at = add(c, { kind, text: '', turnId: c.turnId });
  const item = c.items[at] as TextItem | ThinkingItem;
  c.items[at] = { ...item, text: item.text + clean(text) };
}

function onCall(c: Conversation, call: ToolCallEvent, at: number): void {
  const known = Object.hasOwn(c.calls, call.callId) ? c.calls[call.callId] : undefined; // ids are the provider's
  const index = known ?? add(c, { kind: 'call', call, at, turnId: c.turnId });
  c.calls[call.callId] = index;
  if (known !== undefined) c.items[index] = { ...(c.items[index] as CallItem), call, at };
}

function sinceLastCall(c: Conversation): number[] {
  const found: number[] = [];
  for (let at = c.items.length - 1; at >= 0; at--) {
    const { kind, void: isVoid } = c.items[at]!;
    if (kind === 'call' || kind === 'user') break;
    if (!isVoid) found.push(at);
  }
  return found;
}

function discardText(c: Conversation): void {
  for (const at of sinceLastCall(c)) {
    const item = c.items[at]!;
    if (item.kind === 'text') c.items[at] = { ...item, void: true };
  }
}

function isTold(c: Conversation, message: string): boolean {
  return sinceLastCall(c).some((at) => (c.items[at] as NoticeItem).text === message);
}

function settleCalls(c: Conversation): void {
  for (const at of Object.values(c.calls)) {
    const item = c.items[at] as CallItem;
    if (isOpen(item.call)) c.items[at] = { ...item, call: { ...item.call, status: 'cancelled' } };
  }
}

const ENDS: Record<string, [Level, string]> = {
  cancelled: ['info', later('stopped')],
  error: [
    'error',
    later('The turn ended with an error. Send the message again, or open the log with “Caddie: Show Log”.'),
  ],
  maxTokens: ['warning', later("The answer reached the model's limit. Send “go on” to continue.")],
  refusal: ['warning', later('The model declined to answer. Say it differently, or choose another model.')],
  emptyAnswer: ['warning', later('The model answered with nothing. Send the message again.')],
  turnLimit: ['warning', later('The turn reached its limit of steps. Send “go on” to continue.')],
};

/** Said by the extension's side, which has no words of its own. */
export const WORDS_ARE_BACK = later('Your words are in the input again. Sending them now adds them at the end.');

function onDone(c: Conversation, stopReason: string, text: string): Conversation {
  settleCalls(c);
  const said = sinceLastCall(c).map((at) => c.items[at]!);
  if (text && stopReason === 'endTurn' && !said.some((item) => item.kind === 'text')) {
    add(c, { kind: 'text', text, turnId: c.turnId });
  }
  const wayOut = ENDS[stopReason];
  const explained = stopReason === 'error' && said.some((item) => item.kind === 'notice' && item.level === 'error');
  if (wayOut && !explained) notice(c, ...wayOut);
  return end(c);
}

function fromTranscript(before: Conversation, opened: SessionOpenResult): Conversation {
  const { sessionId, title, mode } = opened.session;
  const c: Conversation = { ...successor(before), sessionId, title, mode };
  for (const message of opened.notices) notice(c, 'warning', message);
  for (const { kind, turnId, text = '', call, picks = [], attachments = [] } of opened.transcript) {
    if (kind === 'user') add(c, { kind, text, turnId, picks, attachments });
    else if (kind === 'toolCall' && call) add(c, { kind: 'call', call, at: 0, turnId });
    else if (kind === 'notice') add(c, { kind, level: 'info', text, turnId });
    else if (kind === 'assistant' && text) add(c, { kind: 'text', text, turnId });
    else if (kind === 'thinking' && text) add(c, { kind, text, turnId });
  }
  if (opened.todo.length > 0) add(c, { kind: 'todo', todo: opened.todo });
  if (opened.interrupted) notice(c, 'info', CUT, INTERRUPTED);
  return c;
}

/** The same actions with neighbouring pieces of one text put together: a replay need not tell each syllable. */
export function merged(actions: Action[]): Action[] {
  const out: Action[] = [];
  for (const action of actions) {
    const last = out.at(-1);
    if (last && continues(last, action)) out[out.length - 1] = joined(last, action);
    else out.push(action);
  }
  return out;
}

type Spoken = Extract<Action, { do: 'event' }> & { params: { event: { kind: 'text' | 'thinking'; text: string } } };

function isSpoken(action: Action): action is Spoken {
  return action.do === 'event' && (action.params.event.kind === 'text' || action.params.event.kind === 'thinking');
}

function continues(a: Action, b: Action): boolean {
  if (!isSpoken(a) || !isSpoken(b) || a.params.event.kind !== b.params.event.kind) return false;
  return (
    a.params.turnId === b.params.turnId && a.params.sessionId === b.params.sessionId && a.params.seq < b.params.seq
  );
}

function joined(a: Action, b: Action): Action {
  const [x, y] = [a as Spoken, b as Spoken];
  const event = { ...y.params.event, text: x.params.event.text + y.params.event.text };
  return { ...y, params: { ...y.params, event } };
}
