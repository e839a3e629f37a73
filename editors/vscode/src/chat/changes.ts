/** What have turns of the conversation changed in files, as the server says, and what does the person say to it? No `vscode` here. */
import type { ChangesResult, FileChanges, FileChoice, UndoResult } from '../protocol';
import type { Action, Conversation } from '../../webview/src/store';
import { hasConflict, noticeOf } from './said';

export interface ChangesServer {
  changes(sessionId: string, path?: string): Promise<ChangesResult>;
  keep(sessionId: string, files?: FileChoice[]): Promise<ChangesResult>;
  undo(sessionId: string, what: { turnId?: string; files?: FileChoice[] }): Promise<UndoResult>;
}

interface Around {
  readonly conversation: Conversation;
  act(action: Action): void;
  /** Said by screen readers. */
  say(words: string): void;
  tell(): void;
}

export class Changes {
  files: readonly FileChanges[] = [];
  /** What takes back the undos since the last message, the newest last. */
  private undoIds: string[] = [];
  private asked = 0;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly desk: Around,
    private readonly link: ChangesServer,
  ) {}

  onChange(listen: () => void): void {
    this.listeners.add(listen);
  }

  get canRedo(): boolean {
    return this.undoIds.length > 0;
  }

  /** Those that one of these turns has changed. */
  of(turns: readonly string[]): FileChanges[] {
    return this.files.filter((file) => file.turns.some((turn) => turns.includes(turn)));
  }

  /** Never refuses: a list that cannot be had now stays as it was. */
  async refresh(): Promise<void> {
    const { sessionId } = this.desk.conversation;
    const asked = ++this.asked;
    if (!sessionId) return this.become([]);
    const found = await this.link.changes(sessionId).catch(() => undefined);
    if (found && asked === this.asked) this.become(found.files);
  }

  /** One file with its text without the changes. */
  async look(path: string): Promise<FileChanges | undefined> {
    const found = await this.link.changes(this.sessionId, path);
    return found.files[0];
  }

  /** They are accepted; without `files` all of them. */
  async keep(files?: FileChoice[]): Promise<void> {
    const asked = ++this.asked;
    const left = await this.link.keep(this.sessionId, files).catch(async (error: unknown) => {
      await this.refresh(); // what the person looked at is not there any more
      throw error;
    });
    if (asked === this.asked) this.become(left.files);
  }

  /** Files or hunks of what is listed. What went well is seen in the list; a conflict is told. */
  async takeBack(files: FileChoice[]): Promise<UndoResult> {
    const result = await this.undo({ files });
    if (hasConflict(result) || result.notCovered) this.desk.act(noticeOf(result));
    else this.desk.say(result.message);
    return result;
  }

  async takeBackAll(): Promise<UndoResult | undefined> {
    return this.files.length > 0 ? this.takeBack(this.files.map(({ path }) => ({ path }))) : undefined;
  }

  /** The newest turn whose changes are in force, or this one. */
  async undoTurn(turnId?: string): Promise<UndoResult> {
    const result = await this.undo({ turnId });
    this.desk.act(noticeOf(result));
    return result;
  }

  /** Takes the newest undo back; it is offered until the next message. */
  async redo(): Promise<void> {
    const undoId = this.undoIds.at(-1);
    if (!undoId) return;
    const result = await this.link.undo(this.sessionId, { turnId: undoId });
    this.undoIds = this.undoIds.filter((one) => one !== undoId);
    this.desk.act(noticeOf(result));
    await this.refresh();
  }

  forgetUndos(): void {
    this.undoIds = [];
    this.desk.tell();
  }

  /** Another conversation. */
  clear(): void {
    this.asked += 1;
    this.undoIds = [];
    this.become([]);
  }

  private get sessionId(): string {
    return this.desk.conversation.sessionId ?? '';
  }

  private async undo(what: { turnId?: string; files?: FileChoice[] }): Promise<UndoResult> {
    const { sessionId } = this;
    try {
      const result = await this.link.undo(sessionId, what);
      if (result.undoId && sessionId === this.sessionId) this.undoIds.push(result.undoId);
      return result;
    } finally {
      await this.refresh();
      this.desk.tell();
    }
  }

  private become(files: readonly FileChanges[]): void {
    const before = this.files;
    this.files = files;
    if (before.length + files.length > 0) for (const listen of this.listeners) listen();
  }
}
