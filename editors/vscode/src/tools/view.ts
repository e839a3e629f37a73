/** The Tools view: shows the catalogue and keeps in step with it. */
import * as vscode from 'vscode';
import { type CaddieClient, messageOf } from '../client';
import { mcpList, mcpStatus, toolsChanged, toolsList, type ToolsListResult } from '../protocol';
import { oneLine, tokens } from '../text';
import { itemOf } from './items';
import { type Filter, type GroupNode, isFiltering, type Node, NO_FILTER, nodesOf } from './model';

export type WriteScope = 'user' | 'workspace';

const SCOPE_KEY = 'caddie.tools.scope';
/** A server that connects says so many times in a row. */
const SETTLE_MS = 60;

export class ToolsView implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private list?: ToolsListResult;
  private notices: readonly string[] = [];
  private groups: readonly GroupNode[] = [];
  private nodes = new Map<string, Node>();
  private parents = new Map<string, GroupNode>();
  private waiting?: NodeJS.Timeout;
  private asked = 0;
  private filtered: Filter = NO_FILTER;
  private chosenScope: WriteScope;
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly updated = new vscode.EventEmitter<void>();
  private readonly parts: vscode.Disposable[] = [];
  readonly onDidChangeTreeData = this.changed.event;
  /** The catalogue was fetched anew. */
  readonly onDidUpdate = this.updated.event;
  readonly tree: vscode.TreeView<Node>;

  constructor(
    private readonly memory: vscode.Memento,
    private readonly client: CaddieClient,
  ) {
    this.chosenScope = hasFolder() ? (memory.get<WriteScope>(SCOPE_KEY) ?? 'workspace') : 'user';
    this.tree = vscode.window.createTreeView<Node>('caddie.tools', {
      treeDataProvider: this,
      canSelectMany: true,
      showCollapseAll: true,
    });
    this.parts.push(
      this.tree,
      client.onEvent(toolsChanged, () => this.refreshSoon()),
      client.onEvent(mcpStatus, () => this.refreshSoon()),
      client.onDidChangeState((state) => (state === 'ready' ? void this.refresh() : this.forget())),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.draw()),
    );
    this.publishContext();
  }

  get catalogue(): ToolsListResult | undefined {
    return this.list;
  }

  get scope(): WriteScope {
    return this.chosenScope;
  }

  set scope(scope: WriteScope) {
    this.chosenScope = scope;
    void this.memory.update(SCOPE_KEY, scope);
    this.draw();
  }

  get filter(): Filter {
    return this.filtered;
  }

  set filter(filter: Filter) {
    this.filtered = filter;
    this.draw();
  }

  /** What a command is about: what the menu gave it, else the selection. */
  targets(node?: Node, selected?: readonly Node[]): readonly Node[] {
    if (selected?.length) return selected;
    if (node && !this.tree.selection.some((one) => one.id === node.id)) return [node];
    return this.tree.selection.length ? this.tree.selection : node ? [node] : [];
  }

  async refresh(): Promise<void> {
    const asked = ++this.asked;
    try {
      const [list, servers] = await Promise.all([this.client.request(toolsList, {}), this.client.request(mcpList, {})]);
      if (asked !== this.asked) return;
      this.list = list;
      this.notices = servers.notices;
      this.draw();
      this.updated.fire();
    } catch (error) {
      if (asked === this.asked) this.tree.message = messageOf(error);
    }
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return itemOf(node);
  }

  getChildren(node?: Node): Node[] {
    if (!node) return [...this.groups];
    return node.kind === 'group' ? [...node.children] : [];
  }

  getParent(node: Node): Node | undefined {
    return this.parents.get(node.id);
  }

  find(id: string): Node | undefined {
    return this.nodes.get(id);
  }

  dispose(): void {
    clearTimeout(this.waiting);
    for (const part of this.parts) part.dispose();
    this.changed.dispose();
    this.updated.dispose();
  }

  private refreshSoon(): void {
    this.waiting ??= setTimeout(() => {
      this.waiting = undefined;
      if (this.client.state === 'ready') void this.refresh();
    }, SETTLE_MS);
  }

  private forget(): void {
    this.list = undefined;
    this.draw();
  }

  private draw(): void {
    this.groups = this.list ? nodesOf(this.list, this.filtered) : [];
    const children = this.groups.flatMap((group) => group.children.map((child) => [child, group] as const));
    this.nodes = new Map([...this.groups, ...children.map(([child]) => child)].map((node) => [node.id, node]));
    this.parents = new Map(children.map(([child, group]) => [child.id, group]));
    this.tree.message = this.message();
    this.tree.description = scopeWord(this.chosenScope);
    this.publishContext();
    this.changed.fire(undefined);
  }

  private message(): string | undefined {
    if (!this.list) return undefined;
    const { enabled, deferred, disabled, tokensInPrompt, tokensTotal } = this.list.totals;
    const sum = vscode.l10n.t('{0} of {1} tokens', tokens(tokensInPrompt), tokens(tokensTotal));
    const filter = [...(this.filtered.words.trim() ? [`“${this.filtered.words.trim()}”`] : []), ...this.filtered.states];
    const parts = [
      `${enabled} ✓ · ${deferred} ◐ · ${disabled} ✗ · ${sum}`,
      vscode.l10n.t('Changes go to the {0} settings.', scopeWord(this.chosenScope)),
      ...(filter.length ? [vscode.l10n.t('Filter: {0}', filter.join(', '))] : []),
      ...(vscode.workspace.isTrusted ? [] : [untrusted()]),
      ...this.notices.map(oneLine),
    ];
    return parts.join('\n');
  }

  private publishContext(): void {
    const set = (key: string, value: unknown) => void vscode.commands.executeCommand('setContext', key, value);
    set('caddie.tools.filtered', isFiltering(this.filtered));
    set('caddie.tools.scope', this.chosenScope);
  }
}

export function untrusted(): string {
  return vscode.l10n.t(
    'This folder is not trusted: its MCP servers do not run, and its settings that run, allow or send something are ignored.',
  );
}

export function scopeWord(scope: WriteScope): string {
  return scope === 'user' ? vscode.l10n.t('user') : vscode.l10n.t('workspace');
}

export function hasFolder(): boolean {
  return vscode.workspace.workspaceFile !== undefined || (vscode.workspace.workspaceFolders?.length ?? 0) > 0;
}
