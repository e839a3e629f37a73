/** How does a node of the Tools view look? Shape, words and colour; never colour alone. */
import * as vscode from 'vscode';
import type { ServerInfo, ToolInfo } from '../protocol';
import { cap, oneLine } from '../text';
import { type GroupNode, groupTokens, hasOwnState, type Node, sourceOf, toolTokens, type TroubleNode } from './model';

const STATES: Record<ToolInfo['state'], [icon: string, colour: string]> = {
  enabled: ['check', 'testing.iconPassed'],
  deferred: ['color-mode', 'charts.yellow'],
  disabled: ['close', 'testing.iconFailed'],
};

const SERVERS: Record<ServerInfo['status'], [icon: string, colour?: string]> = {
  ready: ['plug'],
  connecting: ['sync'],
  stopped: ['debug-disconnect', 'disabledForeground'],
  failed: ['error', 'list.errorForeground'],
  needsAuth: ['key', 'list.warningForeground'],
};

export function stateWord(state: ToolInfo['state']): string {
  const words = {
    enabled: vscode.l10n.t('enabled'),
    deferred: vscode.l10n.t('deferred'),
    disabled: vscode.l10n.t('disabled'),
  };
  return words[state];
}

function statusWord(server: ServerInfo): string {
  const words = {
    ready: vscode.l10n.t('ready'),
    connecting: vscode.l10n.t('connecting'),
    stopped: vscode.l10n.t('not started'),
    failed: vscode.l10n.t('failed'),
    needsAuth: vscode.l10n.t('needs a sign-in'),
  };
  return words[server.status];
}

export function itemOf(node: Node): vscode.TreeItem {
  if (node.kind === 'group') return groupItem(node);
  return node.kind === 'tool' ? toolItem(node.id, node.tool, node) : troubleItem(node);
}

export function groupTitle(group: GroupNode): string {
  return group.server || group.name ? cap(oneLine(group.name), 60) : vscode.l10n.t('Built-in');
}

function groupItem(group: GroupNode): vscode.TreeItem {
  // Open from the start, also while nothing is in it: the editor remembers how a group first was.
  const item = new vscode.TreeItem(groupTitle(group), vscode.TreeItemCollapsibleState.Expanded);
  const { server } = group;
  item.id = group.id;
  const status = server ? statusWord(server) : '';
  const count = server && !server.reason ? vscode.l10n.t('{0} tools', server.tools) : '';
  item.description = [status, count, groupTokens(group)].filter(Boolean).join(' · ');
  item.contextValue = server ? `server.${server.status}` : 'group';
  const [icon, colour] = server ? SERVERS[server.status] : ['tools', undefined];
  item.iconPath = new vscode.ThemeIcon(icon, colour ? new vscode.ThemeColor(colour) : undefined);
  item.tooltip = plain([
    groupTitle(group),
    [status, server?.version ? oneLine(server.version) : ''].filter(Boolean).join(' · '),
    oneLine(server?.reason ?? ''),
    server?.origin ? vscode.l10n.t('Configured in {0}', oneLine(server.origin)) : '',
    vscode.l10n.t('{0} tokens in the prompt of those possible', groupTokens(group) || '0'),
  ]);
  item.accessibilityInformation = { label: [item.label as string, item.description].filter(Boolean).join(', ') };
  return item;
}

function toolItem(id: string, tool: ToolInfo, node: Node): vscode.TreeItem {
  const label = cap(oneLine(tool.label), 80);
  const item = new vscode.TreeItem(label);
  const [icon, colour] = STATES[tool.state];
  item.id = id;
  item.iconPath = new vscode.ThemeIcon(icon, new vscode.ThemeColor(colour));
  item.description = [toolTokens(tool), sourceOf(tool)].filter(Boolean).join(' · ');
  item.contextValue = hasOwnState(tool) ? `tool.${tool.state}` : 'bridge';
  if (hasOwnState(tool)) {
    item.command = { command: 'caddie.tools.cycle', title: vscode.l10n.t('Next State'), arguments: [node] };
  }
  item.tooltip = plain([
    oneLine(tool.name),
    cap(oneLine(tool.description), 400),
    [stateWord(tool.state), sourceOf(tool) || vscode.l10n.t('by default')].join(' · '),
    vscode.l10n.t('{0} tokens in the prompt of those possible', toolTokens(tool)),
    tool.destructive ? vscode.l10n.t('says that it may destroy something') : '',
    tool.readOnly ? vscode.l10n.t('says that it only reads') : '',
  ]);
  item.accessibilityInformation = {
    label: [label, stateWord(tool.state), sourceOf(tool), vscode.l10n.t('{0} tokens', toolTokens(tool))]
      .filter(Boolean)
      .join(', '),
  };
  return item;
}

function troubleItem(node: TroubleNode): vscode.TreeItem {
  const wantsSignIn = node.server.status === 'needsAuth';
  const way = wantsSignIn ? vscode.l10n.t('Sign in') : vscode.l10n.t('Restart');
  const why = cap(node.text, 300);
  // A narrow view cuts the end: of a failure the reason counts, of a wish the way.
  const item = new vscode.TreeItem(wantsSignIn ? way : why);
  item.description = wantsSignIn ? why : way;
  item.id = node.id;
  item.iconPath = new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground'));
  item.contextValue = `trouble.${node.server.status}`;
  item.command = {
    command: wantsSignIn ? 'caddie.mcp.authorize' : 'caddie.mcp.restart',
    title: way,
    arguments: [node],
  };
  item.tooltip = plain([node.text]);
  item.accessibilityInformation = { label: `${node.text}, ${way}` };
  return item;
}

/** Words of strangers stay words: no Markdown, no links, no icons. */
function plain(lines: readonly string[]): string {
  return lines.filter(Boolean).join('\n');
}
