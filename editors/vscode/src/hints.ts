/** Hints: drawn by the chat panel; as a notification when the person wants that and does not see the panel. */
import * as vscode from 'vscode';
import type { ChatPanel } from './chat/api';
import { type CaddieClient, messageOf } from './client';
import { type HintInfo, hintsShow, type ShowHints, toolsSetState } from './protocol';
import { HintMemory } from './hint-memory';
import { neverHint, neverHinted } from './hint-settings';
import { cap, noLinks, oneLine } from './text';

export function registerHints(client: CaddieClient, chat: ChatPanel): vscode.Disposable {
  const notifier = new HintNotifier(client, chat);
  return vscode.Disposable.from(
    client.onEvent(hintsShow, (params) => {
      const { enabled, display } = hintSettings();
      if (!enabled) return;
      if (display !== 'notification' || chat.isVisible) chat.showHints(params);
      if (display !== 'panel') void notifier.show(params);
    }),
    vscode.commands.registerCommand('caddie.hints.toggle', toggle),
  );
}

function hintSettings(): { enabled: boolean; display: string } {
  const settings = vscode.workspace.getConfiguration('caddie.hints');
  return { enabled: settings.get('enabled', true), display: settings.get('display', 'panel') };
}

async function toggle(): Promise<void> {
  const settings = vscode.workspace.getConfiguration('caddie.hints');
  const enabled = !settings.get('enabled', true);
  await settings.update('enabled', enabled, vscode.ConfigurationTarget.Global);
  const words = enabled ? vscode.l10n.t('Caddie’s hints are on.') : vscode.l10n.t('Caddie’s hints are off.');
  vscode.window.setStatusBarMessage(words, 4000);
}

interface Button extends vscode.MessageItem {
  readonly hint?: HintInfo;
}

class HintNotifier {
  private readonly memory = new HintMemory();

  constructor(
    private readonly client: CaddieClient,
    private readonly chat: ChatPanel,
  ) {}

  async show(params: ShowHints): Promise<void> {
    if (this.chat.isVisible) return;
    const never = neverHinted();
    const hints = this.memory.fresh(params).filter((hint) => !never.includes(hint.tool));
    if (!hints.length) return;
    const buttons: Button[] = hints.map((hint) => ({ title: cap(oneLine(hint.label), 30), hint }));
    const more: Button = { title: vscode.l10n.t('More …') };
    const words = vscode.l10n.t('Tools that fit: {0}', hints.map(describe).join(' · '));
    // One that nobody clicked stays open among the notifications: the next turn's is not held up by it.
    const choice = await vscode.window.showInformationMessage<Button>(noLinks(words), ...buttons, more);
    if (!choice) this.memory.dismiss(hints);
    else if (choice.hint) await this.pick(choice.hint);
    else await this.more(hints);
  }

  private async pick(hint: HintInfo): Promise<void> {
    this.chat.pickHint(hint.tool);
    await this.chat.reveal();
  }

  private async more(hints: readonly HintInfo[]): Promise<void> {
    const items = [
      ...hints.map((hint) => ({
        label: vscode.l10n.t('Enable {0} always', oneLine(hint.label)),
        act: () => this.enable(hint),
      })),
      ...hints.map((hint) => ({
        label: vscode.l10n.t('Don’t hint {0}', oneLine(hint.label)),
        act: () => neverHint(hint.tool),
      })),
      { label: vscode.l10n.t('Turn hints off'), act: toggle },
    ];
    await (await vscode.window.showQuickPick(items, { placeHolder: vscode.l10n.t('Hints') }))?.act();
  }

  private async enable(hint: HintInfo): Promise<void> {
    try {
      await this.client.request(toolsSetState, { changes: [{ tool: hint.tool, state: 'enabled' }], scope: 'user' });
    } catch (error) {
      void vscode.window.showErrorMessage(noLinks(messageOf(error)));
    }
  }
}

function describe(hint: HintInfo): string {
  const server = hint.server ? ` (${oneLine(hint.server)})` : '';
  return `${cap(oneLine(hint.label), 40)}${server}`;
}
