/** Makes the chat panel. */
import * as vscode from 'vscode';
import type { CaddieClient } from '../client';
import type { ChatPanel } from './api';

export type { ChatPanel, ChatState } from './api';

export function registerChat(_context: vscode.ExtensionContext, _client: CaddieClient): ChatPanel {
  const changed = new vscode.EventEmitter<void>();
  return {
    isVisible: false,
    state: { mode: 'agent', model: '', isBusy: false },
    pendingCount: 0,
    onDidChange: changed.event,
    askPermission: () => undefined,
    askQuestion: () => undefined,
    showHints: () => undefined,
    pickHint: () => undefined,
    attach: () => undefined,
    reveal: () => Promise.resolve(),
    dispose: () => changed.dispose(),
  };
}
