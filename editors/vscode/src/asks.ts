/** Permissions and questions of the server: the chat panel shows them; a notification leads there when it is hidden. */
import * as vscode from 'vscode';
import type { ChatPanel } from './chat/api';
import type { CaddieClient } from './client';
import {
  type PermissionAnswer,
  type PermissionAsk,
  permissionAsk,
  type QuestionAnswer,
  type QuestionAsk,
  questionAsk,
} from './protocol';
import { cap, noLinks, oneLine } from './text';

export function registerAsks(client: CaddieClient, chat: ChatPanel): vscode.Disposable {
  const asks = new Asks(chat);
  return vscode.Disposable.from(
    chat.onDidChange(() => asks.look()),
    client.onRequest(permissionAsk, (params, token) => asks.permission(params, token)),
    client.onRequest(questionAsk, (params, token) => asks.question(params, token)),
  );
}

class Asks {
  /** One notification at a time: twenty prompts are one thing to look at. */
  private isTold = false;

  constructor(private readonly chat: ChatPanel) {}

  async permission(params: PermissionAsk, token: vscode.CancellationToken): Promise<PermissionAnswer> {
    const shown = this.chat.askPermission(params, token);
    this.leadThere(permissionWords(params));
    return shown;
  }

  async question(params: QuestionAsk, token: vscode.CancellationToken): Promise<QuestionAnswer> {
    const shown = this.chat.askQuestion(params, token);
    this.leadThere(vscode.l10n.t('Caddie has a question: {0}', cap(oneLine(params.title), 120)));
    return shown;
  }

  /** One that nobody clicked stays among the notifications for ever; what is asked later is news again. */
  look(): void {
    if (this.chat.isVisible || this.chat.pendingCount === 0) this.isTold = false;
  }

  private leadThere(words: string): void {
    if (this.chat.isVisible || this.isTold) return;
    this.isTold = true;
    const show = vscode.l10n.t('Show');
    void vscode.window.showInformationMessage(noLinks(words), show).then((choice) => {
      this.isTold = false;
      if (choice === show) void this.chat.reveal();
    });
  }
}

function permissionWords(params: PermissionAsk): string {
  const server = params.server ? ` · ${oneLine(params.server)}` : '';
  return vscode.l10n.t('Caddie waits for you: {0}', cap(oneLine(params.label), 60) + server);
}
