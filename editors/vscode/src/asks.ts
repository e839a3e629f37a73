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
import { cap, oneLine } from './text';

export function registerAsks(client: CaddieClient, chat: ChatPanel): vscode.Disposable {
  const asks = new Asks(chat);
  return vscode.Disposable.from(
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
    if (!shown) return permissionByNotification(params, token);
    this.leadThere(permissionWords(params));
    return shown;
  }

  async question(params: QuestionAsk, token: vscode.CancellationToken): Promise<QuestionAnswer> {
    const shown = this.chat.askQuestion(params, token);
    if (!shown) return { declined: true };
    this.leadThere(vscode.l10n.t('Caddie has a question: {0}', cap(oneLine(params.title), 120)));
    return shown;
  }

  private leadThere(words: string): void {
    if (this.chat.isVisible || this.isTold) return;
    this.isTold = true;
    const show = vscode.l10n.t('Show');
    void vscode.window.showInformationMessage(words, show).then((choice) => {
      this.isTold = false;
      if (choice === show) void this.chat.reveal();
    });
  }
}

function permissionWords(params: PermissionAsk): string {
  const server = params.server ? ` · ${oneLine(params.server)}` : '';
  return vscode.l10n.t('Caddie waits for you: {0}', cap(oneLine(params.label), 60) + server);
}

/** Never takes the focus; closing it is a refusal. */
async function permissionByNotification(
  params: PermissionAsk,
  token: vscode.CancellationToken,
): Promise<PermissionAnswer> {
  const choices = params.choices.map((choice) => ({ title: choice.label, id: choice.id }));
  const args = cap(oneLine(JSON.stringify(params.params)), 300);
  const asked = vscode.window.showWarningMessage(`${permissionWords(params)} ${args}`, ...choices);
  const cancelled = new Promise<never>((_, reject) =>
    token.onCancellationRequested(() => reject(new vscode.CancellationError())),
  );
  const choice = await Promise.race([asked, cancelled]);
  return { choice: choice?.id ?? 'reject' };
}
