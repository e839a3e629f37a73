/** Which files have turns of a conversation changed, and what stood in them before? Pure. */
import type { ChangedFile } from '../../webview/src/bridge';
import { isInside, shownPath, type Root } from '../../webview/src/roots';
import type { DiffPreview } from '../protocol';

interface Known {
  path: string;
  turns: string[];
  added: number;
  removed: number;
  /** As the first question about this file showed it. */
  before?: string;
}

export class Changes {
  private files = new Map<string, Known>();
  /** As it was before the newest undo. */
  private beforeUndo = this.files;
  private readonly previews = new Map<string, { before: string; added: number; removed: number }>();

  constructor(private readonly roots: () => readonly Root[] = () => []) {}

  /** The server asked before it changed this file. */
  previewed({ path, before, unified }: DiffPreview): void {
    const known = this.previews.get(path);
    const [added, removed] = counted(unified);
    this.previews.set(path, {
      before: known?.before ?? before,
      added: (known?.added ?? 0) + added,
      removed: (known?.removed ?? 0) + removed,
    });
  }

  turnChanged(turnId: string, paths: readonly string[]): void {
    for (const path of paths) {
      const known = this.files.get(path) ?? { path, turns: [], added: 0, removed: 0 };
      const preview = this.preview(path);
      const before = known.before ?? preview?.before;
      this.files.set(path, {
        ...{ path, turns: [...known.turns, turnId] },
        added: known.added + (preview?.added ?? 0),
        removed: known.removed + (preview?.removed ?? 0),
        ...(before === undefined ? {} : { before }),
      });
    }
    this.previews.clear();
  }

  undone(turnId: string): void {
    this.beforeUndo = new Map(this.files);
    for (const [path, known] of this.files) {
      const turns = known.turns.filter((turn) => turn !== turnId);
      if (turns.length > 0) this.files.set(path, { ...known, turns });
      else this.files.delete(path);
    }
  }

  redone(): void {
    this.files = this.beforeUndo;
  }

  /** The person has seen them and is content. */
  keep(): void {
    this.files.clear();
  }

  before(path: string): string | undefined {
    return this.files.get(path)?.before;
  }

  /** Those that one of these turns has changed. */
  of(turns: readonly string[]): readonly Known[] {
    return [...this.files.values()].filter((file) => file.turns.some((turn) => turns.includes(turn)));
  }

  list(): ChangedFile[] {
    return [...this.files.values()].map(({ path, turns, added, removed, before }) => ({
      ...{ path, shown: shownPath(path, this.roots()), added, removed, turnId: turns.at(-1) },
      canDiff: before !== undefined,
    }));
  }

  /** A question names the whole path, a result the one from the first folder on. */
  private preview(path: string): { before: string; added: number; removed: number } | undefined {
    const end = `/${path.replaceAll('\\', '/')}`;
    const others = this.roots().slice(1);
    const ends = [...this.previews.keys()].filter(
      (one) => one.replaceAll('\\', '/').endsWith(end) && !others.some((root) => isInside(one, root)),
    );
    const [shortest = ''] = ends.sort((a, b) => a.length - b.length);
    return this.previews.get(path) ?? this.previews.get(shortest);
  }
}

function counted(unified: string): [added: number, removed: number] {
  const lines = unified.split('\n').filter((line) => !line.startsWith('+++ ') && !line.startsWith('--- '));
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return [count('+'), count('-')];
}
