/** Earlier conversations in VS Code's own list: found by typing, opened, renamed, deleted. */
import * as vscode from 'vscode';
import type { CaddieClient } from '../client';
import { sessionDelete, sessionList, sessionRename, type SessionInfo } from '../protocol';
import { oneLine } from '../text';

interface Row extends vscode.QuickPickItem {
  session?: SessionInfo;
}

export interface SessionActions {
  currentId(): string | undefined;
  open(sessionId: string): Promise<void>;
  renamed(sessionId: string, title: string): void;
  deleted(sessionId: string): void;
  /** Says what goes wrong. */
  guarded(act: () => Promise<void>): Promise<void>;
}

export class SessionPicker {
  constructor(
    private readonly client: CaddieClient,
    private readonly actions: SessionActions,
  ) {}

  async show(): Promise<void> {
    const pick = vscode.window.createQuickPick<Row>();
    pick.title = vscode.l10n.t('Conversations in this folder');
    pick.placeholder = vscode.l10n.t('Type to search; Enter goes on with one');
    pick.matchOnDescription = true;
    pick.busy = true;
    pick.show();
    pick.onDidHide(() => pick.dispose());
    pick.onDidAccept(() => {
      const { session } = pick.selectedItems[0] ?? {};
      pick.hide();
      if (session) void this.actions.open(session.sessionId);
    });
    pick.onDidTriggerItemButton(({ item, button }) => {
      if (!item.session) return;
      const { session } = item;
      pick.hide();
      void this.actions.guarded(async () => {
        await (button === RENAME ? this.rename(session) : this.remove(session));
        await this.show();
      });
    });
    try {
      const { sessions } = await this.client.request(sessionList, {});
      pick.items = sessions.length > 0 ? rows(sessions, this.actions.currentId()) : [NONE()];
      pick.busy = false;
    } catch (error) {
      pick.hide();
      throw error;
    }
  }

  async rename(session: { sessionId: string; title: string }, title?: string): Promise<void> {
    const wanted =
      title ?? (await vscode.window.showInputBox({ prompt: vscode.l10n.t('New title'), value: session.title }));
    if (!wanted?.trim()) return;
    const renamed = await this.client.request(sessionRename, {
      sessionId: session.sessionId,
      title: wanted.trim().slice(0, 200),
    });
    this.actions.renamed(renamed.sessionId, renamed.title);
    const words = vscode.l10n.t('The conversation is called “{0}” now.', oneLine(renamed.title));
    vscode.window.setStatusBarMessage(words.replaceAll('$(', '$\u200b('), 4000);
  }

  private async remove({ sessionId, title }: SessionInfo): Promise<void> {
    const yes = vscode.l10n.t('Delete');
    const words = vscode.l10n.t('Delete “{0}”? It cannot be brought back.', oneLine(title));
    if ((await vscode.window.showWarningMessage(words, { modal: true }, yes)) !== yes) return;
    if (this.actions.currentId() === sessionId) this.actions.deleted(sessionId);
    await this.client.request(sessionDelete, { sessionId });
  }
}

const RENAME: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('edit'), tooltip: vscode.l10n.t('Rename') };
const DELETE: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('trash'), tooltip: vscode.l10n.t('Delete') };

function NONE(): Row {
  return { label: vscode.l10n.t('No earlier conversation in this folder.'), alwaysShow: true };
}

/** Newest first, under the day. */
function rows(sessions: readonly SessionInfo[], current: string | undefined): Row[] {
  const out: Row[] = [];
  let day = '';
  for (const session of sessions) {
    const updated = new Date(session.updated);
    const name = dayName(updated);
    if (name !== day) out.push({ label: name, kind: vscode.QuickPickItemKind.Separator });
    day = name;
    const time = updated.toLocaleTimeString(vscode.env.language, { hour: '2-digit', minute: '2-digit' });
    const turns = session.turns === 1 ? vscode.l10n.t('1 turn') : vscode.l10n.t('{0} turns', session.turns);
    const isCurrent = session.sessionId === current ? '$(check) ' : '';
    // `$(…)` in a title would be drawn as an icon.
    const label = isCurrent + oneLine(session.title).replaceAll('$(', '$\u200b(');
    out.push({ label, description: `${time} · ${turns}`, session, buttons: [RENAME, DELETE] });
  }
  return out;
}

function dayName(date: Date): string {
  const days = Math.round((startOf(new Date()) - startOf(date)) / 86_400_000);
  if (days === 0) return vscode.l10n.t('Today');
  if (days === 1) return vscode.l10n.t('Yesterday');
  return date.toLocaleDateString(vscode.env.language, { dateStyle: 'medium' });
}

function startOf(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}
