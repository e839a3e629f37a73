/** What does the chat do, given what the person and the server say? No `vscode` here: the rim is in `index.ts`. */
import type {
  Attachment,
  ChatEvent,
  CompactResult,
  DraftParams,
  FileChanges,
  Hunk,
  SessionOpenResult,
  TurnParams,
  TurnResult,
  UsageResult,
} from '../protocol';
import type { Desk, Prompt, Queued, Savings, ServerState, ToPage } from '../../webview/src/bridge';
import {
  apply,
  merged,
  newConversation,
  WORDS_ARE_BACK,
  type Action,
  type Conversation,
  type Mode,
} from '../../webview/src/store';
import { mentioned } from '../../webview/src/commands';
import type { Root } from '../../webview/src/roots';
import { Beside, type Goods, type HintWishes, type Load } from './beside';
import { Changes, type ChangesServer } from './changes';
import { Editing, type Instead } from './editing';
import { messageOf, Stopped } from './said';
import { Waiting } from './waiting';

/** The server, as far as the chat needs it. Each refuses with an Error that says what is wrong. */
export interface Server extends ChangesServer {
  turn(params: TurnParams, signal: AbortSignal): Promise<TurnResult>;
  draft(params: DraftParams): void;
  open(sessionId: string): Promise<SessionOpenResult>;
  rewind(sessionId: string, turnId: string): Promise<SessionOpenResult>;
  compact(sessionId: string): Promise<CompactResult>;
  usage(sessionId?: string): Promise<UsageResult>;
}

export interface Rim {
  post(message: ToPage): void;
  /** Something changed that the rest of the extension may show. */
  changed(): void;
  now(): number;
  later(act: () => void, ms: number): void;
  hintWishes(): HintWishes;
  /** The folders that are open, the server's first. */
  roots(): Root[];
  /** The file that an attachment of this name was, if it is there. */
  findFile(name: string): Promise<Attachment | undefined>;
}

type Outgoing = Queued & Load & { instead?: Instead };

const NOTHING: Load = { picks: [], tools: [], attachments: [], parts: [], goods: { picks: [], files: [] } };
const FLUSH_MS = 20;
/** Of one hunk, in the list. */
const SHOWN_LINES = 12;

export class ChatDesk {
  conversation: Conversation = newConversation();
  server: ServerState = { state: 'starting' };
  mode: Mode = 'agent';
  /** Chosen by the person and not told to the server yet; what the settings say needs no telling. */
  private chosenMode: Mode | undefined;
  model = '';
  readonly waiting = new Waiting(() => this.tell());
  readonly changes: Changes;
  readonly beside: Beside;
  readonly editing: Editing;
  private queue: Outgoing[] = [];
  prompts: Prompt[] = [];
  servers: string[] = [];
  private savings: Savings | undefined;
  private running: AbortController | undefined;
  /** The conversation that was asked for last and is not there yet. */
  private opening: Promise<SessionOpenResult> | undefined;
  /** When the newest run is over; what it said last comes a little before. */
  private ended: Promise<boolean> = Promise.resolve(true);
  /** What went with the message that is being answered. */
  private leaving: Goods | undefined;
  private outbox: Action[] = [];
  private isTelling = false;
  private ids = 0;

  constructor(
    private readonly link: Server,
    private readonly rim: Rim,
  ) {
    this.beside = new Beside(
      () => this.tell(),
      () => rim.hintWishes(),
    );
    this.changes = new Changes(this, link);
    this.changes.onChange(() => {
      rim.post({ type: 'changes', files: this.shownChanges });
      this.tell();
    });
    this.editing = new Editing(this, link, rim);
  }

  get desk(): Desk {
    return {
      server: this.server,
      mode: this.mode,
      model: this.model,
      queue: this.queue.map(({ id, text, picks, attachments }) => ({ id, text, picks, attachments })),
      asks: this.waiting.asks,
      hints: this.beside.hints,
      picks: this.beside.picks,
      chips: this.beside.chips,
      editing: this.editing.shown,
      canRedo: this.changes.canRedo,
      savings: this.savings,
      can: { undo: true, compact: true },
      prompts: this.prompts,
      servers: this.servers,
      roots: this.rim.roots(),
    };
  }

  /** The list shows the beginning of each hunk. */
  private get shownChanges(): FileChanges[] {
    return this.changes.files.map((file) => ({ ...file, hunks: file.hunks.map(shortened) }));
  }

  /** Everything a page needs that was just loaded. What is on its way is in it already. */
  start(): ToPage {
    this.flush();
    const { conversation, desk } = this;
    return {
      ...{ type: 'start', conversation, desk, changes: this.shownChanges, draft: this.beside.draft },
      now: this.rim.now(),
    };
  }

  say(text: string): void {
    this.rim.post({ type: 'say', text });
  }

  act(action: Action): void {
    this.conversation = apply(this.conversation, action);
    if (this.outbox.length === 0) this.rim.later(() => this.flush(), FLUSH_MS);
    this.outbox.push(action);
  }

  /** The small things of the panel have changed. */
  tell(): void {
    if (!this.isTelling) {
      this.isTelling = true;
      queueMicrotask(() => {
        this.isTelling = false;
        this.rim.post({ type: 'desk', desk: this.desk });
      });
    }
    this.rim.changed();
  }

  private flush(): void {
    if (this.outbox.length === 0) return;
    const actions = merged(this.outbox);
    this.outbox = [];
    this.rim.post({ type: 'actions', actions });
  }

  // Turns

  send(text: string): void {
    const instead = this.editing.end();
    this.goes({ id: this.newId(), text, ...this.beside.take(), instead });
  }

  /** Not out of the input: what stands there, and what it is meant for, stays. */
  sendAlone(text: string): void {
    this.goes({ id: this.newId(), text, ...NOTHING });
  }

  private goes(outgoing: Outgoing): void {
    if (this.running || this.opening) this.queue.push(outgoing);
    else void this.work(outgoing);
    this.tell();
  }

  /** One turn after another until nothing waits. */
  private async work(first: Outgoing): Promise<void> {
    for (let next: Outgoing | undefined = first; next; next = this.queue.shift()) {
      const mine = (this.running = new AbortController());
      const went = await (this.ended = this.run(next, mine));
      if (this.running !== mine) return; // another conversation has taken over
      this.running = undefined;
      this.tell();
      // When the person stopped it, what waited then is back already, and what came since is the next wish.
      if (!went && !mine.signal.aborted) this.returnQueue();
    }
  }

  /** It was not sent. In another conversation there is nothing to say of it. */
  private giveBack({ text, goods }: Outgoing, isHere: boolean): void {
    if (isHere) this.act({ do: 'notice', level: 'info', text: WORDS_ARE_BACK });
    this.beside.putBack(goods);
    this.rim.post({ type: 'compose', text, how: 'append', focus: false });
    this.tell();
  }

  private async run(outgoing: Outgoing, mine: AbortController): Promise<boolean> {
    const { instead } = outgoing;
    if (instead && (!(await this.editing.goBack(instead, mine.signal)) || mine.signal.aborted)) {
      this.giveBack(outgoing, this.running === mine);
      return false;
    }
    if (this.running !== mine) return false;
    const { text, tools, attachments, parts, goods } = outgoing;
    this.changes.forgetUndos();
    this.act({ do: 'start', text, picks: tools, attachments, at: this.rim.now() });
    this.tell();
    const { sessionId } = this.conversation;
    const mode = this.chosenMode;
    this.leaving = goods;
    try {
      const params = {
        sessionId,
        message: text,
        attachments: parts,
        pickedTools: tools,
        mode,
        servers: mentioned(text, this.servers),
      };
      const result = await this.link.turn(params, mine.signal);
      if (this.running !== mine) return false;
      this.act({ do: 'answered', ...pick(result) });
      this.editing.remember(result.turnId, goods);
      if (this.chosenMode === mode) this.modeIs(result.mode); // else the person chose another one meanwhile
      this.model = result.model || this.model;
      void this.refreshSavings();
      return true;
    } catch (error) {
      if (this.running !== mine) return false;
      const message = error instanceof Stopped ? undefined : messageOf(error);
      this.act({ do: 'failed', message });
      return false;
    } finally {
      if (this.running === mine) void this.changes.refresh();
      this.rim.changed();
    }
  }

  event(params: ChatEvent): void {
    this.act({ do: 'event', params, at: this.rim.now() });
    if (this.leaving && this.conversation.turnId === params.turnId) this.editing.remember(params.turnId, this.leaving);
    const { event } = params;
    if (event.kind === 'notice' && event.mode && event.mode !== this.mode && this.conversation.mode === event.mode) {
      this.mode = event.mode;
      this.tell();
    }
  }

  /** True when there was something to stop. */
  stop(): boolean {
    if (!this.running) return false;
    this.act({ do: 'stopping' });
    this.running.abort();
    this.returnQueue();
    return true;
  }

  /** Messages that were to follow go back into the input: the person decides anew. */
  private returnQueue(): void {
    const texts = this.queue.map(({ text }) => text).filter(Boolean);
    for (const { goods } of this.queue) this.beside.putBack(goods);
    this.queue = [];
    if (texts.length > 0) this.rim.post({ type: 'compose', text: texts.join('\n'), how: 'append', focus: false });
    this.tell();
  }

  unqueue(id: string, edit: boolean): void {
    const found = this.queue.find((one) => one.id === id);
    this.queue = this.queue.filter((one) => one !== found);
    if (found && edit) {
      this.beside.putBack(found.goods);
      this.rim.post({ type: 'compose', text: found.text, how: 'append', focus: true });
    }
    this.tell();
  }

  /** Its words and what went with them are in the input; it is sent in the place of that turn. */
  async edit(turnId: string, draft: string): Promise<void> {
    // What a turn says last comes a little before it is over.
    if (this.conversation.state === 'idle') await this.ended;
    if (!this.running) await this.editing.start(turnId, draft);
  }

  // Conversations

  /** Leaves the conversation; its turn is stopped. */
  newChat(): void {
    this.opening = undefined;
    this.leave();
    this.chosenMode = this.mode; // a new session does not know it
    this.act({ do: 'new' });
    void this.refreshSavings();
    this.tell();
  }

  async open(sessionId: string): Promise<void> {
    const mine = (this.opening = this.link.open(sessionId));
    try {
      const opened = await mine;
      if (this.opening === mine) this.goOver(opened);
    } finally {
      if (this.opening === mine) this.isOpen();
    }
  }

  private goOver(opened: SessionOpenResult): void {
    // What was said to a turn is the old conversation's; without one it was meant for this one.
    const meant = this.running ? [] : this.queue.splice(0);
    this.leave();
    this.queue = meant;
    this.act({ do: 'opened', opened });
    this.modeIs(opened.session.mode);
    void this.refreshSavings();
    void this.changes.refresh();
    this.tell();
  }

  private isOpen(): void {
    this.opening = undefined;
    const next = this.running ? undefined : this.queue.shift();
    if (next) void this.work(next);
  }

  private leave(): void {
    this.editing.leave();
    this.running?.abort();
    this.running = undefined;
    this.returnQueue();
    this.waiting.withdrawAll();
    this.changes.clear();
    this.beside.clearHints();
  }

  /** As the server has it. */
  private modeIs(mode: Mode): void {
    this.mode = mode;
    this.chosenMode = undefined;
  }

  setMode(mode: Mode): void {
    this.mode = this.chosenMode = mode;
    this.tell();
  }

  /** Undefined when there is nothing to shorten. */
  async compact(): Promise<CompactResult | undefined> {
    const { sessionId } = this.conversation;
    if (!sessionId || this.running) return undefined;
    const result = await this.link.compact(sessionId);
    void this.refreshSavings();
    return result;
  }

  setServers(servers: string[]): void {
    this.servers = servers;
    this.tell();
  }

  setPrompts(prompts: Prompt[]): void {
    this.prompts = prompts;
    this.tell();
  }

  /** Words for the input, which the person asked for. */
  compose(text: string): void {
    this.rim.post({ type: 'compose', text, how: 'replace', focus: true });
  }

  async refreshSavings(): Promise<void> {
    if (this.server.state !== 'ready') return;
    const { sessionId } = this.conversation;
    try {
      const { total } = await this.link.usage(sessionId);
      if (sessionId === this.conversation.sessionId) this.savings = { saved: total.saved, total: total.tokens };
    } catch {
      this.savings = undefined; // a number at the rim: without it everything works
    }
    this.tell();
  }

  serverIs(server: ServerState): void {
    const wasReady = this.server.state === 'ready';
    this.server = server;
    if (server.state === 'ready' && !wasReady) {
      void this.refreshSavings();
      void this.changes.refresh();
      this.searchAgain();
    }
    if (server.state !== 'ready') this.waiting.withdrawAll();
    this.tell();
  }

  /** Hints for what was typed before the server, or a tool, was there. */
  searchAgain(): void {
    if (this.beside.draft.trim()) this.typed(this.beside.draft);
  }

  typed(text: string): void {
    const params = this.beside.typed(text);
    if (!params) return;
    this.link.draft({ ...params, sessionId: this.conversation.sessionId, servers: mentioned(text, this.servers) });
  }

  private newId(): string {
    return `${++this.ids}`;
  }
}

function shortened(hunk: Hunk): Hunk {
  const cut = Math.max(hunk.lines.length - SHOWN_LINES, 0);
  return { ...hunk, lines: hunk.lines.slice(0, SHOWN_LINES), cut: hunk.cut + cut };
}

function pick({ sessionId, turnId, usage, mode, model }: TurnResult) {
  return { sessionId, turnId, usage, mode, model };
}

