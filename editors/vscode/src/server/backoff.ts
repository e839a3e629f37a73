/** When is a server that died started again? Soon at first, then later, then no more. */
const WAITS = [250, 1000, 4000, 15000];
const HEALTHY_AFTER = 60_000;

export class Backoff {
  private startedAt = 0;
  private deaths = 0;

  constructor(private readonly now: () => number = Date.now) {}

  get tries(): number {
    return Math.min(this.deaths, WAITS.length);
  }

  started(): void {
    this.startedAt = this.now();
  }

  reset(): void {
    this.deaths = 0;
  }

  /** Milliseconds to wait after a death; undefined: give up. */
  next(): number | undefined {
    if (this.startedAt && this.now() - this.startedAt > HEALTHY_AFTER) this.deaths = 0;
    this.deaths += 1;
    return WAITS[this.deaths - 1];
  }
}
