/** Which earlier message is being written anew, and how does the conversation go back to before it? Pure. */
import type { Attachment, SessionOpenResult, UndoResult } from '../protocol';
import type { EditedMessage, ToPage } from '../../webview/src/bridge';
import { type Action, type Conversation, saidIn, type UserItem } from '../../webview/src/store';
import { bareName } from '../../webview/src/text';
import type { Beside, Goods } from './beside';
import type { Changes } from './changes';
import { messageOf, noticeOf, Stopped } from './said';

/** Sent in the place of a turn and of all that followed it. */
export interface Instead {
  turnId: string;
  /** Their changes to files are taken back too. */
  takeBack: boolean;
}

interface Draft extends Goods {
  text: string;
}

interface Edited extends Instead {
  item: number;
  earlier: Draft;
  missing: string[];
}

interface Around {
  readonly conversation: Conversation;
  readonly beside: Beside;
  readonly changes: Changes;
  act(action: Action): void;
  tell(): void;
}

interface Server {
  rewind(sessionId: string, turnId: string): Promise<SessionOpenResult>;
  undo(sessionId: string, what: { turnId: string }): Promise<UndoResult>;
}

interface Rim {
  post(message: ToPage): void;
  now(): number;
  findFile(name: string): Promise<Attachment | undefined>;
}

const UNKNOWN = { description: '', score: 0, state: 'deferred' as const };
/** Pictures are large, and an old message is rarely written anew. */
const MOST_KEPT = 30;

export class Editing {
  private now: Edited | undefined;
  private readonly sent = new Map<string, Goods>();

  constructor(
    private readonly desk: Around,
    private readonly link: Server,
    private readonly rim: Rim,
  ) {}

  get shown(): EditedMessage | undefined {
    if (!this.now) return undefined;
    const { turnId, item, takeBack, missing, earlier } = this.now;
    const files = this.desk.changes.of(this.leftOut(turnId)).length;
    return { turnId, item, takeBack, missing, files, earlier: earlier.text };
  }

  /** What went with the message of this turn. */
  remember(turnId: string, goods: Goods): void {
    if (this.sent.has(turnId) || goods.files.length + goods.picks.length === 0) return;
    this.sent.set(turnId, goods);
    const [oldest] = this.sent.keys();
    if (this.sent.size > MOST_KEPT && oldest !== undefined) this.sent.delete(oldest);
  }

  async start(turnId: string, draft: string): Promise<void> {
    const said = saidIn(this.desk.conversation, turnId);
    if (!said) return;
    const { goods, missing } = await this.goodsOf(said);
    const { beside, conversation } = this.desk;
    if (conversation.state !== 'idle' || saidIn(conversation, turnId) !== said) return;
    const before = { text: draft, ...beside.setAside() };
    // Another message was being written anew: what stood before that one is what comes back.
    this.now = { turnId, item: said.id, takeBack: true, earlier: this.now?.earlier ?? before, missing };
    this.compose(said.text, goods);
  }

  /** After the window was loaded anew: what is in the input was meant for the place of an earlier message. */
  goOn(turnId: string, text: string): void {
    const said = saidIn(this.desk.conversation, turnId);
    if (!said || this.now || this.desk.conversation.state !== 'idle') return;
    const earlier = { text, picks: [], files: [] };
    this.now = { turnId, item: said.id, takeBack: true, earlier, missing: said.attachments };
    this.desk.tell();
  }

  setTakeBack(on: boolean): void {
    if (this.now) this.now.takeBack = on;
    this.desk.tell();
  }

  /** What stood in the input before is there again. */
  cancel(): void {
    const edited = this.end();
    if (!edited) return;
    this.desk.beside.setAside();
    this.compose(edited.earlier.text, edited.earlier);
  }

  /** For another conversation: what was written stays in the input, and what stood there before joins it. */
  leave(): void {
    const edited = this.end();
    if (!edited) return;
    const { text } = edited.earlier;
    this.desk.beside.putBack(edited.earlier);
    if (text.trim()) this.rim.post({ type: 'compose', text, how: 'append', focus: false });
  }

  /** The new message leaves. */
  end(): Edited | undefined {
    const { now } = this;
    this.now = undefined;
    return now;
  }

  /** False when the turns are still there, which has been told. */
  async goBack({ turnId, takeBack }: Instead, signal: AbortSignal): Promise<boolean> {
    const { desk } = this;
    const { sessionId = '' } = desk.conversation;
    desk.act({ do: 'returning', at: this.rim.now() });
    try {
      const told = takeBack ? await this.undoAll(sessionId, this.leftOut(turnId), signal) : [];
      if (signal.aborted) throw new Stopped();
      const { session } = await this.link.rewind(sessionId, turnId);
      if (desk.conversation.sessionId !== sessionId) return false;
      desk.act({ do: 'rewound', turnId, title: session.title });
      void desk.changes.refresh();
      for (const notice of told) desk.act(notice);
      return true;
    } catch (error) {
      const message = error instanceof Stopped ? undefined : messageOf(error);
      if (desk.conversation.sessionId === sessionId) desk.act({ do: 'failed', message });
      return false;
    }
  }

  /** The newest first. What cannot be taken back stays, and is told. */
  private async undoAll(sessionId: string, turns: string[], signal: AbortSignal): Promise<Action[]> {
    const told: Action[] = [];
    const changed = new Set(this.desk.changes.of(turns).flatMap((file) => file.turns));
    for (const turnId of turns.filter((turn) => changed.has(turn)).reverse()) {
      if (signal.aborted) break;
      try {
        told.push(noticeOf(await this.link.undo(sessionId, { turnId })));
      } catch (error) {
        told.push({ do: 'notice', level: 'warning', text: messageOf(error) });
      }
    }
    return told;
  }

  /** The turns that the new message leaves out, in order. */
  private leftOut(turnId: string): string[] {
    const { items } = this.desk.conversation;
    const turns = items.flatMap((item) => (item.kind === 'user' && item.turnId ? [item.turnId] : []));
    return turns.includes(turnId) ? turns.slice(turns.indexOf(turnId)) : [];
  }

  /** Of a stored message only names are known: files are found by them, a piece of text or a picture is not. */
  private async goodsOf(said: UserItem): Promise<{ goods: Goods; missing: string[] }> {
    const kept = said.turnId && this.sent.get(said.turnId);
    if (kept) return { goods: kept, missing: [] };
    const found = await Promise.all(said.attachments.map((name) => this.rim.findFile(name)));
    const files = found.flatMap((part) => (part ? [{ id: '', kind: 'file' as const, name: part.name, part }] : []));
    const picks = said.picks.map((tool) => ({ tool, label: bareName(tool), ...UNKNOWN }));
    return { goods: { picks, files }, missing: said.attachments.filter((_, at) => !found[at]) };
  }

  private compose(text: string, goods: Goods): void {
    this.desk.beside.putBack(goods);
    this.rim.post({ type: 'compose', text, how: 'replace', focus: true });
    this.desk.tell();
  }
}
