/** Outcome of one try: the final result, a fallback, or nothing. */
export type Tried<T> = { readonly final: boolean; readonly value: T } | null;

/** Order and timing of tries over several candidates. */
interface InTurn<C, T> {
  readonly candidates: readonly C[];
  /** Maximum number of tries per candidate. */
  readonly rounds: number;
  /** Milliseconds to wait for a try before the next one starts in parallel. Rounds count from 0. */
  patienceMs(round: number): number;
  readonly totalMs: number;
  readonly signal: AbortSignal;
  /** Settles immediately when `signal` aborts, with the best outcome so far. */
  attempt(candidate: C, round: number, signal: AbortSignal): Promise<Tried<T>>;
}

/**
 * Tries candidates one after the other. The next one starts when the last one failed or is slow. Slow tries continue,
 * so a late answer still counts. A candidate whose try has ended is not tried again. Resolves to the first final value,
 * otherwise the first fallback, otherwise null, after at most `totalMs` or when `signal` aborts.
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
