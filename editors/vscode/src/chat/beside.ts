/** What goes with the next message: hints that were picked, files and texts; and which hints fit what is being typed. Pure. */
import type { Chip } from '../../webview/src/bridge';
import type { Attachment, DraftParams, HintInfo, ShowHints } from '../protocol';

/** What the person said of hints in the panel. */
export interface HintWishes {
  on: boolean;
  never: readonly string[];
}

/** What a message takes with it. */
export interface Load {
  picks: string[];
  tools: string[];
  attachments: string[];
  parts: Attachment[];
  /** All of it as it stood beside the input, to be put there again. */
  goods: Goods;
}

type File = Chip & { part: Attachment };

export interface Goods {
  picks: readonly HintInfo[];
  files: readonly File[];
}

export class Beside {
  /** What the page last said that stands in the input. */
  draft = '';
  hints: HintInfo[] = [];
  picks: HintInfo[] = [];
  private files: File[] = [];
  private readonly seen = new Map<string, HintInfo>();
  private isQuiet = false;
  private drafts = 0;
  private ids = 0;

  constructor(
    private readonly changed: () => void,
    private readonly wants: () => HintWishes,
  ) {}

  get chips(): Chip[] {
    return this.files.map(({ part: _, ...chip }) => chip);
  }

  /** The message is leaving, with all of it. */
  take(): Load {
    const goods = this.setAside();
    const load = {
      goods,
      picks: goods.picks.map(({ label }) => label),
      tools: goods.picks.map(({ tool }) => tool),
      attachments: goods.files.map(({ name }) => name),
      parts: goods.files.map(({ part }) => part),
    };
    this.draft = '';
    this.isQuiet = false;
    this.clearHints();
    return load;
  }

  /** Nothing stands beside the input any more; what stood there. */
  setAside(): Goods {
    const goods = { picks: this.picks, files: this.files };
    [this.picks, this.files] = [[], []];
    this.changed();
    return goods;
  }

  putBack({ picks, files }: Goods): void {
    for (const { part, kind, name, preview } of files) this.attach(part, { kind, name, ...(preview ? { preview } : {}) });
    for (const hint of picks) this.seen.set(hint.tool, hint);
    for (const { tool } of picks) this.pick(tool);
  }

  /** What the server is to be told of the text being typed; nothing for a command. */
  typed(text: string): DraftParams | undefined {
    this.draft = text;
    this.drafts += 1;
    if (text.trim() && !text.startsWith('/') && !this.isQuiet && this.wants().on)
      return { draftId: this.draftId, text: text.slice(0, 100_000) };
    this.clearHints();
    return undefined;
  }

  /** Only those for what is being typed: a turn's own hints are the model's business and would come between. */
  show(params: ShowHints): void {
    for (const hint of params.hints) this.seen.set(hint.tool, hint);
    if (params.source !== 'draft' || params.draftId !== this.draftId || !this.draft.trim()) return;
    const left = new Set([...this.wants().never, ...this.picks.map(({ tool }) => tool)]);
    this.hints = params.hints.filter(({ tool }) => !left.has(tool));
    this.changed();
  }

  /** Quiet until the next message. */
  dismissHints(): void {
    this.isQuiet = true;
    this.clearHints();
  }

  clearHints(): void {
    this.drafts += 1;
    if (this.hints.length === 0) return;
    this.hints = [];
    this.changed();
  }

  forgetHint(tool: string): void {
    this.hints = this.hints.filter((hint) => hint.tool !== tool);
    this.changed();
  }

  pick(tool: string): void {
    const unknown: HintInfo = { tool, label: tool, description: '', score: 0, state: 'deferred' };
    if (!this.picks.some((hint) => hint.tool === tool)) this.picks = [...this.picks, this.seen.get(tool) ?? unknown];
    this.clearHints();
    this.changed();
  }

  unpick(tool: string): void {
    this.picks = this.picks.filter((hint) => hint.tool !== tool);
    this.changed();
  }

  attach(part: Attachment, chip: Partial<Chip> = {}): void {
    const same = (one: Attachment) =>
      (['name', 'path', 'text', 'data'] as const).every((key) => one[key] === part[key]);
    if (this.files.some((one) => same(one.part))) return;
    this.files = [...this.files, { id: `${++this.ids}`, kind: kindOf(part), name: part.name, ...chip, part }];
    this.changed();
  }

  detach(id: string): void {
    this.files = this.files.filter((chip) => chip.id !== id);
    this.changed();
  }

  private get draftId(): string {
    return `panel-${this.drafts}`;
  }
}

function kindOf({ path, data }: Attachment): Chip['kind'] {
  if (data || (path && /\.(png|jpe?g|gif|webp)$/i.test(path))) return 'image';
  return path ? 'file' : 'text';
}
