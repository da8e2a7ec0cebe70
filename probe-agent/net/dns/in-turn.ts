/** What one try ended in: taken as the result, kept in case nothing better comes, or nothing. */
export type Tried<T> = { readonly final: boolean; readonly value: T } | null;

/** How tries are spread over several candidates. */
export interface InTurn<C, T> {
  readonly candidates: readonly C[];
  /** Tries per candidate at most. */
  readonly rounds: number;
  /** Milliseconds to wait for a try before the next one starts beside it; by round, from 0. */
  patienceMs(round: number): number;
  readonly totalMs: number;
  readonly signal: AbortSignal;
  /** Settles at once when `signal` aborts, with what it has so far. */
  attempt(candidate: C, round: number, signal: AbortSignal): Promise<Tried<T>>;
}

/**
 * Tries candidates one after the other, each next one when its predecessor failed or has kept us waiting; the slow ones
 * go on meanwhile, so an answer that comes late still counts. A candidate that gave nothing final is not tried again.
 * Resolves to the first final value, else the first other one, else null: by `totalMs`, or when `signal` aborts.
 */
export function tryInTurn<C, T>(plan: InTurn<C, T>): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const rounds = Array.from({ length: plan.rounds }, (_, round) => round);
    const turns = rounds.flatMap((round) => plan.candidates.map((candidate, index) => ({ candidate, index, round })));
    const spent = new Set<number>();
    const end = new AbortController();
    let kept: { readonly value: T } | null = null;
    let running = 0;
    let next: NodeJS.Timeout | undefined;

    const stop = (): void => {
      clearTimeout(total);
      clearTimeout(next);
      plan.signal.removeEventListener("abort", giveUp);
      end.abort();
    };
    const giveUp = (): void => {
      stop();
      if (running === 0) resolve(kept?.value ?? null);
    };
    const settle = (index: number, tried: Tried<T>): void => {
      running -= 1;
      spent.add(index);
      kept ??= tried;
      if (tried?.final === true) {
        stop();
        resolve(tried.value);
      } else if (end.signal.aborted) giveUp();
      else startNext();
    };
    const startNext = (): void => {
      clearTimeout(next);
      const turn = turns.shift();
      if (turn === undefined) return running === 0 ? giveUp() : undefined;
      if (spent.has(turn.index)) return startNext();
      running += 1;
      next = setTimeout(startNext, plan.patienceMs(turn.round));
      plan.attempt(turn.candidate, turn.round, end.signal).then(
        (tried) => settle(turn.index, tried),
        (error: unknown) => {
          stop();
          reject(error);
        },
      );
      return undefined;
    };
    const total = setTimeout(giveUp, Math.max(0, plan.totalMs));
    plan.signal.addEventListener("abort", giveUp, { once: true });
    if (plan.signal.aborted) giveUp();
    else startNext();
  });
}
