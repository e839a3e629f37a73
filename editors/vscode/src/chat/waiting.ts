/** What waits for the person: permissions and questions, the oldest first. Pure. */
import type { PermissionAnswer, PermissionAsk, QuestionAnswer, QuestionAsk } from '../protocol';
import type { Ask } from '../../webview/src/bridge';

export class Withdrawn extends Error {}

interface Entry {
  ask: Ask;
  resolve: (answer: PermissionAnswer | QuestionAnswer) => void;
  reject: (reason: Withdrawn) => void;
}

export class Waiting {
  private entries: Entry[] = [];

  constructor(private readonly changed: () => void) {}

  get asks(): Ask[] {
    return this.entries.map(({ ask }) => ask);
  }

  permission(ask: PermissionAsk, onWithdraw: (withdraw: () => void) => void): Promise<PermissionAnswer> {
    return this.wait({ kind: 'permission', ask }, onWithdraw) as Promise<PermissionAnswer>;
  }

  question(ask: QuestionAsk, onWithdraw: (withdraw: () => void) => void): Promise<QuestionAnswer> {
    return this.wait({ kind: 'question', ask }, onWithdraw) as Promise<QuestionAnswer>;
  }

  /** The second answer to one question, from another page, is nobody's. */
  answer(requestId: string, answer: PermissionAnswer | QuestionAnswer): void {
    this.remove(requestId)?.resolve(answer);
  }

  withdrawAll(): void {
    for (const { ask } of [...this.entries]) this.withdraw(ask.ask.requestId);
  }

  private wait(ask: Ask, onWithdraw: (withdraw: () => void) => void): Promise<PermissionAnswer | QuestionAnswer> {
    return new Promise((resolve, reject) => {
      this.entries.push({ ask, resolve, reject });
      onWithdraw(() => this.withdraw(ask.ask.requestId));
      this.changed();
    });
  }

  private withdraw(requestId: string): void {
    this.remove(requestId)?.reject(new Withdrawn());
  }

  private remove(requestId: string): Entry | undefined {
    const at = this.entries.findIndex(({ ask }) => ask.ask.requestId === requestId);
    const [entry] = at < 0 ? [] : this.entries.splice(at, 1);
    if (entry) this.changed();
    return entry;
  }
}
