/** Which hints are news? At most one notice per turn, and none for what was dismissed. Pure. */
import type { HintInfo, ShowHints } from './protocol';

export class HintMemory {
  private readonly dismissed = new Set<string>();
  private lastTurn = '';

  /** What to show of these; nothing for a turn that was shown already. */
  fresh(params: ShowHints): readonly HintInfo[] {
    if (params.source !== 'turn' || (params.turnId && params.turnId === this.lastTurn)) return [];
    const hints = params.hints.filter((hint) => !this.dismissed.has(hint.tool));
    if (hints.length) this.lastTurn = params.turnId ?? '';
    return hints;
  }

  dismiss(hints: readonly HintInfo[]): void {
    for (const hint of hints) this.dismissed.add(hint.tool);
  }
}
