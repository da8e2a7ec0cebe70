import type { Logger } from "pino";
import { waitAtMost } from "#shared/time/time-limit.ts";
import type { Timers } from "#control-plane/core/timers.ts";
import { createPump } from "#control-plane/core/database/pump.ts";
import { logFailure } from "#control-plane/core/database/upkeep.ts";

/**
 * Work that replicas share: rows of the database say what is due, each piece is claimed by one replica under a lease, and
 * a replica claims as much as it has room for. What a killed replica leaves is claimed again when its lease has ended.
 */
export interface ClaimedWork<T> {
  /** Looks for due pieces soon. */
  wake(): void;
  /** The pieces that run in this process. */
  running(): Iterable<T>;
  /** Runs a piece that the caller has claimed. Resolves when it has ended; never rejects. */
  run(piece: T): Promise<void>;
  /** Does everything that is due. Resolves when nothing is left for this replica. Rejects if the database is away. */
  drain(): Promise<void>;
  /**
   * Claims nothing more, waits up to `graceMs` for the pieces that run, and aborts the others. Those have a moment to
   * give their claims back; what they leave is another replica's when the lease ends.
   */
  stop(graceMs: number): Promise<void>;
}

/** What a claim has brought. */
interface Claim<T> {
  readonly pieces: readonly T[];
  /** Whether a further claim can find more at once. */
  readonly isMore: boolean;
}

/** How work is claimed and done. */
interface ClaimedWorkOptions<T> {
  /** What it is, for the log, such as "evidence: a round". */
  readonly name: string;
  readonly log: Pick<Logger, "debug" | "error">;
  readonly timers: Timers;
  /** Maximum number of pieces that run at the same time in this process. */
  readonly most: number;
  /** Milliseconds between two looks without a wake: for what becomes due by time, and for what others have lost. */
  readonly lookMs: number;
  /** Asked before such a look, which is skipped if it returns false. */
  readonly isLookDue?: () => boolean;
  /**
   * Claims up to `room` pieces that are due; `room` can be 0. `isAsked`: a wake or a look came since the last claim, and not
   * only the end of a piece, which makes room for others. Can reject while the database is away: the next look does the
   * same.
   */
  readonly claim: (room: number, isAsked: boolean) => Promise<Claim<T>>;
  /** Does one piece and stores its result or gives it back. The signal is aborted when the process stops. */
  readonly work: (piece: T, signal: AbortSignal) => Promise<void>;
  /** Receives what `work` threw. The piece is repeated when its lease ends. */
  readonly onError: (error: unknown, piece: T) => void;
  /** Extends the leases of the pieces that run, so often. */
  readonly renewal?: { readonly everyMs: number; readonly renew: () => void };
  /**
   * While so many pieces run, the next claim waits until so many have ended, or for `ms` milliseconds: a claim has a fixed
   * cost. Without it each end makes room at once.
   */
  readonly together?: { readonly pieces: number; readonly ms: number };
}

/** Time that aborted pieces have to return, in milliseconds. */
const ABORT_MS = 2_000;

/** Starts to claim. The first look comes with the first wake, or after `lookMs`. */
export function startClaimedWork<T>(options: ClaimedWorkOptions<T>): ClaimedWork<T> {
  const { name, log, timers, most, claim, work, onError, renewal, together } = options;
  const running = new Map<T, Promise<void>>();
  const aborts = new Set<AbortController>();
  let isStopped = false;
  let isAborted = false;
  /** The newest look; those before it have ended when it begins. */
  let look: Promise<boolean> = Promise.resolve(false);
  let isAsked = false;
  /** Pieces that have ended since the last claim, and the timer that claims although they are few. */
  let ended = 0;
  let claimLater: NodeJS.Timeout | null = null;
  /** Number of drains that are under way. */
  let drains = 0;

  const pump = createPump(claimSoon);

  async function claimSoon(): Promise<void> {
    try {
      if (await claimOnce()) pump.wake();
    } catch (error) {
      logFailure(log, name, error);
    }
  }

  /** Claims once; never twice at the same time. Returns whether there can be more. */
  async function claimOnce(): Promise<boolean> {
    const begun = look.catch(() => false).then(() => (isStopped ? false : claimAndBegin()));
    look = begun;
    return begun;
  }

  async function claimAndBegin(): Promise<boolean> {
    const wasAsked = isAsked;
    isAsked = false;
    ended = 0;
    const { pieces, isMore } = await claim(Math.max(0, most - running.size), wasAsked);
    for (const piece of pieces) void begin(piece);
    return isMore && running.size < most;
  }

  function begin(piece: T): Promise<void> {
    const abort = new AbortController();
    aborts.add(abort);
    if (isAborted) abort.abort();
    const run = work(piece, abort.signal)
      .catch((error: unknown) => onError(error, piece))
      .finally(() => {
        aborts.delete(abort);
        running.delete(piece);
        makeRoom();
      });
    running.set(piece, run);
    return run;
  }

  /** Claims the next pieces now or soon, because one has ended. */
  function makeRoom(): void {
    ended += 1;
    // A drain claims after each end itself: nothing begins when it has ended.
    if (isStopped || drains > 0) return;
    if (together === undefined || running.size < together.pieces || ended >= together.pieces) return pump.wake();
    claimLater ??= setTimeout(() => {
      claimLater = null;
      pump.wake();
    }, together.ms);
  }

  function wake(): void {
    isAsked = true;
    pump.wake();
  }

  let isLooking = false;
  const looks = timers.repeat(options.lookMs, async () => {
    if (isLooking || options.isLookDue?.() === false) return;
    isLooking = true;
    isAsked = true;
    await claimSoon();
    isLooking = false;
  });
  const renewals = renewal && timers.repeat(renewal.everyMs, renewal.renew);
  return {
    wake,
    running: () => running.keys(),
    run: begin,
    async drain() {
      isAsked = true;
      drains += 1;
      try {
        for (;;) {
          // What ended during a claim can have made a further piece due after that claim looked.
          if ((await claimOnce()) || (ended > 0 && !isStopped)) continue;
          if (running.size === 0) return;
          await Promise.race(running.values());
        }
      } finally {
        drains -= 1;
      }
    },
    async stop(graceMs) {
      isStopped = true;
      looks.stop();
      if (claimLater !== null) clearTimeout(claimLater);
      // A look that runs can still claim pieces: they have begun too.
      await waitAtMost<unknown>(
        ABORT_MS,
        look.catch(() => false),
        null,
      );
      const all = () => Promise.all(running.values());
      await waitAtMost<unknown>(graceMs, all(), null);
      isAborted = true;
      for (const abort of aborts) abort.abort();
      await waitAtMost<unknown>(ABORT_MS, all(), null);
      renewals?.stop();
    },
  };
}
