/** The form for a new MCP server: a name, then a command or an address. */
import * as vscode from 'vscode';
import { pairs, splitCommand } from './parse';

export interface ServerSetting {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Servers = Record<string, ServerSetting>;

export interface Entry {
  readonly name: string;
  readonly server: ServerSetting;
}

/** Undefined when the person leaves it. */
export async function askServer(known: ReadonlySet<string>, scope: string): Promise<Entry | undefined> {
  const title = vscode.l10n.t('Add MCP Server ({0})', scope);
  const kinds = [
    { label: vscode.l10n.t('Command'), description: vscode.l10n.t('a program on this machine (stdio)'), isUrl: false },
    { label: vscode.l10n.t('Address'), description: vscode.l10n.t('a server reached over HTTP'), isUrl: true },
  ];
  const kind = await vscode.window.showQuickPick(kinds, { title, ignoreFocusOut: true });
  if (!kind) return undefined;
  const server = kind.isUrl ? await askAddress(title) : await askCommand(title);
  if (!server) return undefined;
  const name = await vscode.window.showInputBox({
    title,
    prompt: vscode.l10n.t('A short name; its tools begin with it.'),
    value: suggestName(server),
    ignoreFocusOut: true,
    validateInput: (text) => wrongName(text.trim(), known),
  });
  return name ? { name: name.trim(), server } : undefined;
}

async function askCommand(title: string): Promise<ServerSetting | undefined> {
  const line = await vscode.window.showInputBox({
    title,
    prompt: vscode.l10n.t('Command with its arguments; quote what has spaces.'),
    placeHolder: 'npx -y @modelcontextprotocol/server-memory',
    ignoreFocusOut: true,
    validateInput: (text) => (splitCommand(text) ? undefined : vscode.l10n.t('A command is needed; close every quote.')),
  });
  const parts = line === undefined ? undefined : splitCommand(line);
  if (!parts) return undefined;
  const env = await askPairs(title, vscode.l10n.t('Environment, if it needs any: NAME=value NAME2="a b"'));
  if (!env) return undefined;
  const [command = '', ...args] = parts;
  return { command, ...(args.length ? { args } : {}), ...(Object.keys(env).length ? { env } : {}) };
}

async function askAddress(title: string): Promise<ServerSetting | undefined> {
  const url = await vscode.window.showInputBox({
    title,
    prompt: vscode.l10n.t('Address of the server'),
    placeHolder: 'https://example.com/mcp',
    ignoreFocusOut: true,
    validateInput: (text) => (isAddress(text.trim()) ? undefined : vscode.l10n.t('An address begins with https:// or http://.')),
  });
  if (!url) return undefined;
  const headers = await askPairs(title, vscode.l10n.t('Headers, if it needs any: NAME=value NAME2="a b"'));
  if (!headers) return undefined;
  return { url: url.trim(), ...(Object.keys(headers).length ? { headers } : {}) };
}

async function askPairs(title: string, prompt: string): Promise<Record<string, string> | undefined> {
  const text = await vscode.window.showInputBox({
    title,
    prompt,
    ignoreFocusOut: true,
    validateInput: (value) => (pairs(value) ? undefined : vscode.l10n.t('Expected NAME=value, several with a space between.')),
  });
  return text === undefined ? undefined : (pairs(text) ?? undefined);
}

function wrongName(name: string, known: ReadonlySet<string>): string | undefined {
  if (!/^[\w.-]{1,40}$/.test(name)) return vscode.l10n.t('One to forty letters, digits, dots, dashes or underscores.');
  return known.has(name) ? vscode.l10n.t('There is a server of this name already.') : undefined;
}

function isAddress(text: string): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}

function suggestName(server: ServerSetting): string {
  const from = server.url ? new URL(server.url).hostname.split('.').at(-2) : lastWord([server.command ?? '', ...(server.args ?? [])]);
  return (from ?? '').replace(/[^\w.-]+/g, '-').slice(0, 40);
}

/** `server-memory` of `npx -y @modelcontextprotocol/server-memory` */
function lastWord(parts: readonly string[]): string {
  const word = parts.filter((part) => !part.startsWith('-')).at(parts.length > 1 ? 1 : 0) ?? parts[0] ?? '';
  return (word.split(/[/\\]/).at(-1) ?? '').replace(/\.(js|py|exe)$/, '').replace(/^(mcp-)?server-|^mcp-/, '');
}
