/** The status bar item: model, mode, what waits for the person, and trouble. */
import * as vscode from 'vscode';
import type { ChatPanel } from './chat/api';
import type { CaddieClient } from './client';
import { type StatusFacts, statusOf } from './status-text';
import { needsAttention } from './tools/model';
import type { ToolsView } from './tools/view';

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('caddie.status', vscode.StatusBarAlignment.Right, 100);
  private readonly parts: vscode.Disposable[];

  constructor(
    private readonly client: CaddieClient,
    private readonly chat: ChatPanel,
    private readonly tools: ToolsView,
  ) {
    this.item.name = 'Caddie';
    this.item.command = 'caddie.menu';
    const draw = () => this.draw();
    this.parts = [
      this.item,
      client.onDidChangeState(draw),
      chat.onDidChange(draw),
      tools.onDidUpdate(draw),
      vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration('caddie') && this.draw()),
    ];
    this.draw();
    this.item.show();
  }

  dispose(): void {
    for (const part of this.parts) part.dispose();
  }

  private draw(): void {
    const shown = statusOf(this.facts(), (text, ...args) => vscode.l10n.t(text, ...args));
    this.item.text = shown.text;
    this.item.tooltip = shown.tooltip;
    this.item.accessibilityInformation = { label: shown.label, role: 'button' };
    this.item.backgroundColor = shown.background ? new vscode.ThemeColor(shown.background) : undefined;
    const set = (key: string, value: unknown) => void vscode.commands.executeCommand('setContext', key, value);
    set('caddie.pending', this.chat.pendingCount);
    set('caddie.chat.isBusy', this.chat.state.isBusy);
  }

  private facts(): StatusFacts {
    const settings = vscode.workspace.getConfiguration('caddie');
    const { state, pendingCount } = this.chat;
    return {
      server: this.client.state,
      problem: this.client.problem,
      model: state.model || settings.get('model', '') || settings.get('provider', ''),
      mode: state.mode,
      isBusy: state.isBusy,
      pending: pendingCount,
      troubled: (this.tools.catalogue?.servers ?? []).filter(needsAttention).map((server) => server.name),
      isTrusted: vscode.workspace.isTrusted,
    };
  }
}
