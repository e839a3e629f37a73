// What travels between the page and the extension? Both sides import this file and nothing else of each other.

import type { FileChanges, FileChoice, HintInfo, PermissionAsk, QuestionAsk } from '../../src/protocol';
import type { Root } from './roots';
import type { Action, Conversation, Level, Mode } from './store';

/** Something beside the message. `id` is the extension's. */
export interface Chip {
  id: string;
  kind: 'file' | 'selection' | 'problems' | 'image' | 'text';
  name: string;
  /** For images that were just pasted: a `data:` URL of the picture itself. */
  preview?: string;
}

export interface Queued {
  id: string;
  text: string;
  picks: string[];
  attachments: string[];
}

export type Ask = { kind: 'permission'; ask: PermissionAsk } | { kind: 'question'; ask: QuestionAsk };

/** A prompt of an MCP server, which the input has as `/server:prompt`. */
export interface Prompt {
  name: string;
  does: string;
}

/** An earlier message is being written anew: the next one takes its place. */
export interface EditedMessage {
  turnId: string;
  /** The id of its item. */
  item: number;
  /** So many files were changed from there on. */
  files: number;
  /** Their changes are taken back too. */
  takeBack: boolean;
  /** What went with it and cannot be put beside the input again. */
  missing: string[];
  /** What stood in the input before. */
  earlier: string;
}

export interface Savings {
  /** Tokens that deferring saves in each request. */
  saved: number;
  total: number;
}

export interface ServerState {
  state: 'starting' | 'ready' | 'failed' | 'stopped';
  /** Why, in a sentence. */
  reason?: string;
}

/** Everything of the panel that is not the conversation. Small, and sent whole when it changes. */
export interface Desk {
  server: ServerState;
  mode: Mode;
  model: string;
  queue: Queued[];
  asks: Ask[];
  hints: HintInfo[];
  picks: HintInfo[];
  chips: Chip[];
  editing?: EditedMessage;
  /** An undo can itself be undone. */
  canRedo: boolean;
  savings?: Savings;
  /** What this server can do beyond the least. */
  can: { undo: boolean; compact: boolean };
  prompts: Prompt[];
  /** The MCP servers that `@` can name. */
  servers: string[];
  /** The folders of the window, the server's first. */
  roots: Root[];
}

/** What a page keeps for itself over a reload. */
export interface Saved {
  draft: string;
  sessionId?: string;
  /** Absent: at the end. Else the first item in sight, and how far it is scrolled out. */
  scroll?: { item: number; offset: number };
  open?: number[];
  editing?: { turnId: string; earlier: string };
  /** Messages that waited for the turn's end. */
  queued?: string[];
}

export interface FileMatch {
  path: string;
  name: string;
  folder: string;
}

export type ToPage =
  | {
      type: 'start';
      conversation: Conversation;
      desk: Desk;
      changes: FileChanges[];
      draft: string;
      now: number;
    }
  | { type: 'actions'; actions: Action[] }
  | { type: 'desk'; desk: Desk }
  /** What is to be reviewed. Apart, because hunks are long and the desk changes with each word. */
  | { type: 'changes'; files: FileChanges[] }
  /** The answer to `files`. */
  | { type: 'files'; id: number; files: FileMatch[] }
  /** Words for the input; `focus` only after the person asked for it. */
  | { type: 'compose'; text: string; how: 'replace' | 'append'; focus: boolean }
  | { type: 'do'; what: 'focus' | 'nextAsk' }
  /** Said once, politely, by screen readers. */
  | { type: 'say'; text: string };

export type ToHost =
  | { type: 'ready'; saved?: Saved }
  | { type: 'draft'; text: string }
  | { type: 'send'; text: string }
  | { type: 'goOn'; text: string }
  | { type: 'stop' }
  | { type: 'edit'; turnId: string; draft: string }
  | { type: 'cancelEdit' }
  | { type: 'takeBack'; on: boolean }
  | { type: 'unqueue'; id: string; edit: boolean }
  | { type: 'permission'; requestId: string; choice: string; feedback?: string }
  | { type: 'question'; requestId: string; answers?: Record<string, string> }
  | { type: 'openDiff'; requestId: string }
  | { type: 'pick'; tool: string }
  | { type: 'unpick'; tool: string }
  | { type: 'dismissHints' }
  | { type: 'neverHint'; tool: string }
  | { type: 'enableAlways'; tool: string }
  | { type: 'command'; name: string; argument: string }
  | { type: 'mode'; mode: Mode }
  | { type: 'pickModel' }
  | { type: 'insert'; code: string; language: string }
  | { type: 'copy'; text: string }
  | { type: 'link'; href: string }
  | { type: 'files'; id: number; query: string }
  | { type: 'attach'; what: 'pick' | 'selection' | 'problems' }
  | { type: 'attachFiles'; uris: string[] }
  | { type: 'attachPicture'; name: string; dataUrl: string }
  | { type: 'detach'; id: string }
  | { type: 'showResult'; callId: string; title: string; how: 'open' | 'copy' }
  | { type: 'showWhole'; title: string; text: string; language?: string }
  /** Without files: all that is listed. */
  | { type: 'keepChanges'; files?: FileChoice[] }
  | { type: 'takeBackChanges'; files?: FileChoice[] }
  | { type: 'redo' }
  | { type: 'openChange'; path: string }
  | { type: 'log' }
  | { type: 'restart' }
  | { type: 'trouble'; message: string };

export type { Action, Conversation, Level, Mode };
