/** What stands in the Tools view, given the catalogue? Pure; `view.ts` gives it icons. */
import type { ServerInfo, ToolInfo, ToolsListResult } from '../protocol';
import { oneLine, tokens } from '../text';

export type State = ToolInfo['state'];
export const BUILT_IN = '';
export const BRIDGE: readonly string[] = ['ToolSearch', 'ExecuteTool'];

export interface GroupNode {
  readonly kind: 'group';
  readonly id: string;
  /** Empty: the built-in tools. */
  readonly name: string;
  readonly server?: ServerInfo;
  readonly children: readonly Node[];
  /** Of all its tools, whatever the filter hides. */
  readonly tokensNow: number;
  readonly tokensPossible: number;
}

export interface ToolNode {
  readonly kind: 'tool';
  readonly id: string;
  readonly tool: ToolInfo;
}

/** Why a server has no tools to show, and what helps. */
export interface TroubleNode {
  readonly kind: 'trouble';
  readonly id: string;
  readonly server: ServerInfo;
  readonly text: string;
}

export type Node = GroupNode | ToolNode | TroubleNode;

export interface Filter {
  readonly words: string;
  readonly states: readonly State[];
}

export const NO_FILTER: Filter = { words: '', states: [] };

export function isFiltering(filter: Filter): boolean {
  return filter.words.trim() !== '' || filter.states.length > 0;
}

function fits(tool: ToolInfo, filter: Filter): boolean {
  if (filter.states.length && !filter.states.includes(tool.state)) return false;
  const text = `${tool.name} ${tool.label} ${tool.description} ${tool.server ?? ''}`.toLowerCase();
  return filter.words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Built-in first, then the servers by name; groups without a fitting tool only when nothing is filtered. */
export function nodesOf(list: ToolsListResult, filter: Filter): readonly GroupNode[] {
  const byServer = new Map<string, ToolInfo[]>([[BUILT_IN, []]]);
  const servers = new Map(list.servers.map((server) => [server.name, server]));
  for (const name of [...servers.keys()].sort((a, b) => a.localeCompare(b))) byServer.set(name, []);
  for (const tool of list.tools) {
    const name = tool.server ?? BUILT_IN;
    const group = byServer.get(name);
    if (group) group.push(tool);
    else byServer.set(name, [tool]);
  }
  const groups = [...byServer].map(([name, tools]) => groupOf(name, servers.get(name), tools, filter));
  return isFiltering(filter) ? groups.filter((group) => group.children.length > 0) : groups;
}

function groupOf(name: string, server: ServerInfo | undefined, tools: readonly ToolInfo[], filter: Filter): GroupNode {
  const shown = tools.filter((tool) => fits(tool, filter));
  const trouble = server && !isFiltering(filter) ? troubleOf(server) : [];
  const nodes = shown.map((tool): ToolNode => ({ kind: 'tool', id: `tool:${tool.name}`, tool }));
  return {
    kind: 'group',
    id: `group:${name}`,
    name,
    server,
    children: [...trouble, ...nodes],
    tokensNow: sum(tools.filter((tool) => tool.state === 'enabled')),
    tokensPossible: sum(tools),
  };
}

function troubleOf(server: ServerInfo): readonly TroubleNode[] {
  if (!needsAttention(server)) return [];
  const text = oneLine(server.reason ?? '') || server.status;
  return [{ kind: 'trouble', id: `trouble:${server.name}`, server, text }];
}

export function needsAttention(server: ServerInfo): boolean {
  return server.status === 'failed' || server.status === 'needsAuth';
}

function sum(tools: readonly ToolInfo[]): number {
  return tools.reduce((total, tool) => total + tool.tokens, 0);
}

export function groupTokens(group: GroupNode): string {
  if (!group.tokensPossible) return '';
  if (group.tokensNow === group.tokensPossible) return tokens(group.tokensNow);
  return `${tokens(group.tokensNow)} / ${tokens(group.tokensPossible)}`;
}

export function toolTokens(tool: ToolInfo): string {
  return tool.state === 'enabled' ? tokens(tool.tokens) : `0 / ${tokens(tool.tokens)}`;
}

/** `mcp__acme__delete_* · workspace`; nothing when nobody decided it. */
export function sourceOf(tool: ToolInfo): string {
  const source = tool.stateSource;
  if (source.kind !== 'setting') return '';
  const pattern = source.pattern && source.pattern.toLowerCase() !== tool.name.toLowerCase() ? source.pattern : '';
  return [oneLine(pattern), scopeName(source.scope ?? '')].filter(Boolean).join(' · ');
}

/** The editor's two scopes and the files' two are one thing to the person. */
export function scopeName(scope: string): string {
  return { editorUser: 'user', editorWorkspace: 'workspace' }[scope] ?? scope;
}

/** Whether a state can be set: the bridge follows from the others. */
export function hasOwnState(tool: ToolInfo): boolean {
  return !BRIDGE.includes(tool.name);
}

/** What to write so that these nodes get a state: a whole server by its glob, so that later tools of it are meant too. */
export function patternsOf(nodes: readonly Node[], isFiltered: boolean): readonly string[] {
  const names = nodes.flatMap((node): string[] => {
    if (node.kind === 'tool') return [node.tool.name];
    if (node.kind === 'trouble') return [];
    if (node.server && !isFiltered) return [`${prefixOf(node)}*`];
    return node.children.flatMap((child) => (child.kind === 'tool' && hasOwnState(child.tool) ? [child.tool.name] : []));
  });
  return [...new Set(names)];
}

function prefixOf(group: GroupNode): string {
  const first = group.children.find((child) => child.kind === 'tool');
  const known = first && /^mcp__.+?__/.exec(first.tool.name)?.[0];
  return known ?? `mcp__${group.name}__`;
}

const NEXT: Record<State, State> = { enabled: 'disabled', disabled: 'deferred', deferred: 'enabled' };

/** Several at once go where the first one goes. */
export function nextState(nodes: readonly Node[]): State | undefined {
  const first = nodes.find((node) => node.kind === 'tool');
  return first && NEXT[first.tool.state];
}

const STATES: readonly State[] = ['enabled', 'deferred', 'disabled'];

/** `@disabled invoice` */
export function readFilter(text: string): Filter {
  const states = STATES.filter((state) => text.toLowerCase().includes(`@${state}`));
  return { words: text.replace(/@(enabled|deferred|disabled)\b/gi, ' ').replace(/\s+/g, ' ').trim(), states };
}

export function filterText(filter: Filter): string {
  return [...filter.states.map((state) => `@${state}`), filter.words].filter(Boolean).join(' ');
}
