/** What the person can do in the Tools view. Every change goes through the server, which stores it in the settings. */
import * as vscode from 'vscode';
import { type CaddieClient, messageOf } from '../client';
import {
  type ExplainResult,
  type SetStateResult,
  type StateChange,
  type StateSource,
  toolsCycleState,
  toolsExplain,
  toolsSetState,
} from '../protocol';
import { noLinks, oneLine } from '../text';
import { stateWord } from './items';
import { filterText, isFiltering, nextState, type Node, NO_FILTER, patternsOf, readFilter, scopeName } from './model';
import { openSetting } from './setting';
import { hasFolder, scopeWord, type ToolsView, type WriteScope } from './view';

type Wanted = StateChange['state'];

export function registerToolCommands(view: ToolsView, client: CaddieClient): vscode.Disposable {
  const commands = new ToolCommands(view, client);
  const set = (state: Wanted) => (node?: Node, selected?: Node[]) => commands.set(state, node, selected);
  const table: Record<string, (...args: never[]) => unknown> = {
    enable: set('enabled'),
    defer: set('deferred'),
    disable: set('disabled'),
    reset: set('default'),
    cycle: (node?: Node, selected?: Node[]) => commands.cycle(node, selected),
    explain: (node?: Node | string) => commands.explain(node),
    openSetting: (node?: Node) => commands.openSetting(node),
    enableAll: () => commands.setAll('enabled'),
    deferAll: () => commands.setAll('deferred'),
    disableAll: () => commands.setAll('disabled'),
    resetAll: () => commands.setAll('default'),
    filter: () => commands.filter(),
    clearFilter: () => (view.filter = NO_FILTER),
    find: () => commands.find(),
    scopeUser: () => commands.switchScope('user'),
    scopeWorkspace: () => commands.switchScope('workspace'),
    refresh: () => view.refresh(),
  };
  const registered = Object.entries(table).map(([name, act]) =>
    vscode.commands.registerCommand(`caddie.tools.${name}`, act),
  );
  return vscode.Disposable.from(...registered);
}

class ToolCommands {
  constructor(
    private readonly view: ToolsView,
    private readonly client: CaddieClient,
  ) {}

  async set(state: Wanted, node?: Node, selected?: readonly Node[]): Promise<void> {
    const patterns = patternsOf(this.view.targets(node, selected), isFiltering(this.view.filter));
    if (!patterns.length) return;
    await this.change(patterns.map((tool) => ({ tool, state })));
  }

  /** All of the catalogue, whatever the filter shows: the words on the command say so. */
  async setAll(state: Wanted): Promise<void> {
    await this.change([{ tool: '*', state }]);
  }

  async cycle(node?: Node, selected?: readonly Node[]): Promise<void> {
    const tools = this.view.targets(node, selected).filter((one) => one.kind === 'tool');
    if (tools.length > 1) {
      const state = nextState(tools);
      return state && this.change(tools.map((one) => ({ tool: one.tool.name, state })));
    }
    const [tool] = tools;
    if (tool) {
      await this.attempt(() =>
        this.client.request(toolsCycleState, { tool: tool.tool.name, scope: this.view.scope }),
      );
    }
  }

  async explain(about?: Node | string): Promise<void> {
    const [node] = typeof about === 'string' ? [] : this.view.targets(about);
    const name = typeof about === 'string' ? about : node?.kind === 'tool' ? node.tool.name : await this.askTool();
    if (!name) return;
    try {
      await this.show(await this.client.request(toolsExplain, { tool: name }));
    } catch (error) {
      void vscode.window.showErrorMessage(noLinks(messageOf(error)));
    }
  }

  async openSetting(node?: Node): Promise<void> {
    const [target] = this.view.targets(node);
    if (target?.kind === 'tool') await openSetting(target.tool.stateSource, this.view.scope);
  }

  async filter(): Promise<void> {
    const before = this.view.filter;
    const box = vscode.window.createInputBox();
    box.title = vscode.l10n.t('Filter Tools');
    box.placeholder = vscode.l10n.t('words, @enabled, @deferred, @disabled');
    box.prompt = vscode.l10n.t('Enter keeps the filter, Escape takes it back.');
    box.value = filterText(before);
    const kept = await new Promise<boolean>((resolve) => {
      box.onDidChangeValue((text) => (this.view.filter = readFilter(text)));
      box.onDidAccept(() => resolve(true));
      box.onDidHide(() => resolve(false));
      box.show();
    });
    if (!kept) this.view.filter = before;
    box.dispose();
  }

  async find(): Promise<void> {
    await vscode.commands.executeCommand('caddie.tools.focus');
    await vscode.commands.executeCommand('list.find');
  }

  switchScope(scope: WriteScope): void {
    if (scope === 'workspace' && !hasFolder()) {
      void vscode.window.showInformationMessage(
        vscode.l10n.t('No folder is open, so there are no workspace settings.'),
      );
      return;
    }
    this.view.scope = scope;
  }

  private change(changes: StateChange[]): Promise<void> {
    return this.attempt(() => this.client.request(toolsSetState, { changes, scope: this.view.scope }));
  }

  private async attempt(act: () => Promise<SetStateResult>): Promise<void> {
    try {
      const { warnings } = await act();
      await this.view.refresh();
      if (warnings.length) void vscode.window.showWarningMessage(noLinks(warnings.map(oneLine).join(' ')));
    } catch (error) {
      void vscode.window.showErrorMessage(noLinks(messageOf(error)));
    }
  }

  private async askTool(): Promise<string | undefined> {
    const items = (this.view.catalogue?.tools ?? []).map((tool) => ({
      label: oneLine(tool.label),
      description: oneLine(tool.server ?? ''),
      detail: oneLine(tool.description),
      name: tool.name,
    }));
    const placeHolder = vscode.l10n.t('Which tool?');
    return (await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true }))?.name;
  }

  private async show(explained: ExplainResult): Promise<void> {
    const title = explained.state
      ? vscode.l10n.t('{0} is {1}', oneLine(explained.tool), stateWord(explained.state))
      : oneLine(explained.tool);
    const lines = explained.sentences.map(oneLine);
    if (explained.suggestions.length) {
      lines.push(vscode.l10n.t('Nearest names: {0}', explained.suggestions.map(oneLine).join(', ')));
    }
    const choices = this.wayOuts(explained);
    const detail = lines.join('\n\n');
    const choice = await vscode.window.showInformationMessage(title, { modal: true, detail }, ...choices);
    await choice?.act();
  }

  private wayOuts(explained: ExplainResult): (vscode.MessageItem & { act: () => Promise<void> })[] {
    const { source, state, tool } = explained;
    if (!explained.found || !state) return [];
    const change = (wanted: Wanted) => () => this.change([{ tool, state: wanted }]);
    const scope = scopeWord(this.view.scope);
    const out = state === 'enabled' ? [] : [{ title: vscode.l10n.t('Enable ({0})', scope), act: change('enabled') }];
    if (source?.kind === 'setting') {
      out.push({ title: vscode.l10n.t('Reset ({0})', scope), act: change('default') });
      out.push({ title: vscode.l10n.t('Open Setting'), act: () => this.open(source) });
    }
    return out;
  }

  private async open(source: StateSource): Promise<void> {
    await openSetting(source, scopeName(source.scope ?? '') === 'workspace' ? 'workspace' : 'user');
  }
}
