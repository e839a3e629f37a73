/** What the chat panel offers to the rest of the extension. `registerChat` in `./index` makes one. */
import type * as vscode from 'vscode';
import type { Attachment, PermissionAnswer, PermissionAsk, QuestionAnswer, QuestionAsk, ShowHints } from '../protocol';

export interface ChatState {
  readonly sessionId?: string;
  readonly mode: 'agent' | 'plan';
  /** As the last turn's result told it; empty before. */
  readonly model: string;
  readonly isBusy: boolean;
}

export interface ChatPanel extends vscode.Disposable {
  /** Whether the person can see the conversation: the view or the editor tab is visible. */
  readonly isVisible: boolean;
  readonly state: ChatState;
  /** Permissions and questions that wait for the person. */
  readonly pendingCount: number;
  /** `isVisible`, `state` or `pendingCount` changed. */
  readonly onDidChange: vscode.Event<void>;

  /** Shows the card; never reveals the panel.
   * When the token is cancelled the card goes and the promise is refused with a CancellationError. */
  askPermission(params: PermissionAsk, token: vscode.CancellationToken): Promise<PermissionAnswer>;
  askQuestion(params: QuestionAsk, token: vscode.CancellationToken): Promise<QuestionAnswer>;

  showHints(params: ShowHints): void;
  /** As if the person had picked this hint: a chip in the next message. */
  pickHint(tool: string): void;

  attach(attachment: Attachment): void;
  /** Brings the view (or the tab, if that is what is open) to the front. Takes focus unless told not to. */
  reveal(options?: { preserveFocus?: boolean }): Promise<void>;
}
