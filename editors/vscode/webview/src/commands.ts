// Which words after a slash are commands, and what completes while one is being typed? Pure.

import type { Desk, Prompt } from './bridge';
import { later } from './words';

export interface Command {
  name: string;
  argument: string;
  does: string;
  /** Only if the server can. */
  needs?: 'undo' | 'compact';
}

export const COMMANDS: readonly Command[] = [
  { name: 'new', argument: '', does: later('Begin a new conversation') },
  { name: 'sessions', argument: '', does: later('Earlier conversations in this folder') },
  { name: 'rename', argument: 'TITLE', does: later('Give this conversation a title') },
  { name: 'plan', argument: '', does: later('Read and plan only; nothing is changed') },
  { name: 'agent', argument: '', does: later('Back to doing things') },
  { name: 'model', argument: '', does: later('Choose the provider and the model') },
  { name: 'undo', argument: '', does: later('Take back the file changes of the last turn'), needs: 'undo' },
  {
    name: 'compact',
    argument: '',
    does: later('Shorten what the model is told of this conversation'),
    needs: 'compact',
  },
  { name: 'tools', argument: '', does: later('Every tool: enabled, deferred or disabled') },
  { name: 'problems', argument: '', does: later('Attach the problems of the open file') },
  { name: 'selection', argument: '', does: later('Attach the selected text') },
];

/** `/rename late invoices` -> name and argument; nothing for a message. A path such as `/etc/hosts` is one. */
export function parseCommand(
  text: string,
  known: readonly Command[] = COMMANDS,
): { name: string; argument: string } | undefined {
  const found = /^\/([^\s/]+)(?: +(.*))?$/.exec(text.trim());
  const name = known.find((command) => command.name.toLowerCase() === found?.[1]?.toLowerCase())?.name;
  if (!found || !name) return undefined;
  return { name, argument: (found[2] ?? '').trim() };
}

export type Completion =
  | { kind: 'command'; from: number; to: number; query: string }
  | { kind: 'file'; from: number; to: number; query: string }
  | { kind: 'server'; from: number; to: number; query: string };

/** What stands before the cursor and may be completed: a command at the very start, `#file`, `@server`. */
export function completionAt(text: string, cursor: number): Completion | undefined {
  const before = text.slice(0, cursor);
  const command = /^\/([^\s/]*)$/.exec(before);
  if (command) return { kind: 'command', from: 0, to: cursor, query: command[1]!.toLowerCase() };
  const server = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (server)
    return {
      kind: 'server',
      from: cursor - (server[1] ?? '').length - 1,
      to: cursor,
      query: (server[1] ?? '').toLowerCase(),
    };
  const file = /(?:^|\s)#(\S*)$/.exec(before);
  // A Markdown heading is no file: `# ` has nothing behind its sign.
  if (file && !(file[1] ?? '').startsWith('#'))
    return { kind: 'file', from: cursor - file[1]!.length - 1, to: cursor, query: file[1]! };
  return undefined;
}

export function fitting(query: string, can: Desk['can'], prompts: readonly Prompt[] = []): Command[] {
  const own = COMMANDS.filter((command) => !command.needs || can[command.needs]);
  // What a server calls its prompts is text of a stranger: found in the middle too, never in place of our commands.
  const theirs = promptCommands(prompts).filter(({ name }) => name.toLowerCase().includes(query));
  return [...own.filter((command) => command.name.startsWith(query)), ...theirs];
}

/** The servers that a message names with `@`, as they are written in the settings. */
export function mentioned(text: string, servers: readonly string[]): string[] {
  const words = new Set(Array.from(text.matchAll(/(?:^|\s)@([^\s@]+)/g), ([, word = '']) => word.toLowerCase()));
  const isNamed = (name: string) =>
    words.has(name) || [...words].some((word) => word.replace(/[.,;:!?)]+$/, '') === name);
  return servers.filter((name) => isNamed(name.toLowerCase()));
}

export function promptCommands(prompts: readonly Prompt[]): Command[] {
  return prompts.map(({ name, does }) => ({ name, argument: '', does }));
}
