// What does the page know, and who is told when it changes? No drawing here, and no component decides anything.

import type { Desk, FileMatch, Saved, ToHost, ToPage } from './bridge';
import type { FileChanges } from '../../src/protocol';
import { apply, newConversation, type Conversation } from './store';
import { t } from './words';

/** The part of VS Code's webview API that the page uses. */
export interface Host {
  postMessage(message: ToHost): void;
  getState(): Saved | undefined;
  setState(state: Saved): void;
}

export interface Composer {
  focus(): void;
  set(text: string, how: 'replace' | 'append'): void;
}

const NO_DESK: Desk = {
  ...{ server: { state: 'starting' }, mode: 'agent', model: '', queue: [], asks: [], hints: [], picks: [], chips: [] },
  ...{ canRedo: false, can: { undo: false, compact: false }, prompts: [], servers: [], roots: [] },
};

export class Page {
  conversation: Conversation = newConversation();
  desk: Desk = NO_DESK;
  changes: FileChanges[] = [];
  started = false;
  draft = '';
  /** The host's clock less ours. */
  skew = 0;
  /** Unfolded items. */
  readonly open: Set<number>;
  said = '';
  composer: Composer | undefined;
  scroll: Saved['scroll'];
  /** Grows when the newest should be in sight, wherever the person was. */
  ends = 0;
  /** The turn whose message is to be edited once no turn runs. */
  editNext: string | undefined;

  /** What waited when the page was saved. */
  private readonly queued: string[];
  private readonly drawers = new Set<() => void>();
  private frame = 0;
  private saving = 0;
  private fileQueries = new Map<number, (files: FileMatch[]) => void>();
  private nextQuery = 1;

  constructor(
    private readonly host: Host,
    private readonly schedule: (draw: () => void) => number = (draw) => requestAnimationFrame(draw),
  ) {
    const saved = host.getState();
    this.draft = saved?.draft ?? '';
    this.scroll = saved?.scroll;
    this.open = new Set(saved?.open);
    this.queued = saved?.queued ?? [];
    this.post({ type: 'ready', saved });
  }

  post(message: ToHost): void {
    this.host.postMessage(message);
  }

  onDraw(draw: () => void): () => void {
    this.drawers.add(draw);
    return () => this.drawers.delete(draw);
  }

  /** Drawn once in the next frame, however often something changed. */
  changed(): void {
    this.frame ||= this.schedule(() => {
      this.frame = 0;
      for (const draw of this.drawers) draw();
    });
  }

  now(): number {
    return Date.now() + this.skew;
  }

  receive(message: ToPage): void {
    switch (message.type) {
      case 'start':
        this.skew = message.now - Date.now();
        this.conversation = message.conversation;
        this.desk = message.desk;
        this.changes = message.changes;
        if (!this.started) this.draft = this.draftAfter(message) || message.draft;
        this.started = true;
        break;
      case 'actions':
        for (const action of message.actions) {
          this.conversation = apply(this.conversation, action);
          if (action.do === 'new' || action.do === 'opened') this.forget();
          if (action.do === 'rewound') this.ends++;
          if (action.do === 'start') this.said = '';
          if (action.do === 'event' && action.params.event.kind === 'done') this.said = t('Caddie has answered.');
        }
        break;
      case 'desk':
        this.desk = message.desk;
        this.save();
        break;
      case 'changes':
        this.changes = message.files;
        break;
      case 'files':
        this.fileQueries.get(message.id)?.(message.files);
        this.fileQueries.delete(message.id);
        break;
      case 'compose':
        this.composer?.set(message.text, message.how);
        if (message.focus) this.composer?.focus();
        break;
      case 'do':
        this.obey(message.what);
        break;
      case 'say':
        this.say(message.text);
        break;
    }
    if (this.editNext && this.conversation.state === 'idle') this.edit(this.editNext);
    this.changed();
  }

  /** Messages that waited when the window went away have nothing to wait for any more: the person decides anew. */
  private draftAfter({ conversation, desk }: Extract<ToPage, { type: 'start' }>): string {
    const isFresh = conversation.items.length === 0 && desk.queue.length === 0;
    return [...(isFresh ? this.queued : []), this.draft].filter(Boolean).join('\n');
  }

  /** As soon as no turn runs; undefined thinks better of it. */
  edit(turnId: string | undefined): void {
    const mustWait = turnId !== undefined && this.conversation.state !== 'idle';
    this.editNext = mustWait ? turnId : undefined;
    if (mustWait) this.say(t('A message can be changed once the turn is over'));
    else if (turnId !== undefined) {
      this.post({ type: 'edit', turnId, draft: this.draft });
      this.say(t('Sending replaces this message and what follows. Esc cancels.'));
    }
    this.changed();
  }

  private obey(what: Extract<ToPage, { type: 'do' }>['what']): void {
    if (what === 'focus') this.composer?.focus();
    if (what === 'nextAsk') document.querySelector<HTMLElement>('.ask')?.focus();
  }

  private forget(): void {
    this.open.clear();
    this.scroll = undefined;
    this.save();
  }

  /** Polite: read out once the screen reader has time. */
  say(words: string): void {
    this.said = words;
    this.changed();
  }

  copy(text: string): void {
    this.post({ type: 'copy', text });
    this.say(t('Copied.'));
  }

  toggle(id: number): void {
    if (!this.open.delete(id)) this.open.add(id);
    this.save();
    this.changed();
  }

  setDraft(text: string): void {
    this.draft = text;
    this.save();
  }

  setScroll(scroll: Saved['scroll']): void {
    this.scroll = scroll;
    this.save();
  }

  findFiles(query: string): Promise<FileMatch[]> {
    const id = this.nextQuery++;
    this.post({ type: 'files', id, query });
    return new Promise((resolve) => this.fileQueries.set(id, resolve));
  }

  /** At most every 200 ms: each call goes through the workbench. */
  private save(): void {
    this.saving ||= window.setTimeout(() => {
      this.saving = 0;
      this.saveNow();
    }, 200);
  }

  saveNow(): void {
    const { sessionId } = this.conversation;
    const { editing, queue } = this.desk;
    this.host.setState({
      ...{ draft: this.draft, sessionId, scroll: this.scroll, open: [...this.open].slice(-500) },
      ...(queue.length > 0 ? { queued: queue.map(({ text }) => text) } : {}),
      ...(editing ? { editing: { turnId: editing.turnId, earlier: editing.earlier } } : {}),
    });
  }
}
