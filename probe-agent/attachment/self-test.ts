import type { Clock } from "#shared/clock.ts";
import type { Failed } from "#shared/outcome.ts";
import { waitAtMost } from "#shared/time-limit.ts";

/** Things of the agent's own network that answer when it is well. */
export type CanaryName = "resolver" | "route" | "control_plane";

/** One look: true and false as found, null where it cannot tell. */
export type CanaryResults = Readonly<Record<CanaryName, boolean | null>>;

/** Asks each canary; may take as long as it likes, its answer counts for LOOK_MS. */
export type Canaries = Readonly<Record<CanaryName, () => Promise<boolean | null>>>;

/** What the agent knows of its own network. */
export interface SelfTest {
  /** Asks all canaries now; joins a look under way. Resolves in 2 s at most. */
  look(): Promise<CanaryResults>;
  /** A job may fail soon: looks, unless the last look is fresh. */
  prepare(): void;
  /**
   * A failure with its source put right: where the agent's own network is gone it is the probe's, whatever it looked
   * like. `remainingMs`: a stale look is repeated first, for as long as that.
   */
  judge(failure: Failed, remainingMs: number): Promise<Failed>;
  /** Seconds since the last look, null before the first. */
  ageSeconds(): number | null;
  stop(): void;
}

/** What a self-test needs. */
export interface SelfTestOptions {
  readonly canaries: Canaries;
  readonly clock: Pick<Clock, "monotonic">;
  /** Told of every look. */
  readonly onLook: (results: CanaryResults) => void;
}

/** Looks at least so often (decisions 7). */
const EVERY_MS = 600_000;
/** A look older than this does not decide on a failure while there is time for another. */
const FRESH_MS = 30_000;
/** A canary that has not answered by then does not answer. */
const LOOK_MS = 2_000;

/**
 * Whether the agent's own network is gone: its resolvers are silent and nobody else of the outside is heard. A route
 * alone is no answer: it outlives the network behind it.
 */
export function isNetworkGone({ resolver, control_plane }: CanaryResults): boolean {
  return resolver === false && control_plane !== true;
}

/** Looks every ten minutes; the first look is the caller's to ask for. */
export function startSelfTest({ canaries, clock, onLook }: SelfTestOptions): SelfTest {
  let last: { readonly atMs: number; readonly results: CanaryResults } | null = null;
  let looking: Promise<CanaryResults> | null = null;

  async function askAll(): Promise<CanaryResults> {
    const ask = (name: CanaryName) =>
      waitAtMost(
        LOOK_MS,
        canaries[name]().catch(() => false),
        false,
      );
    const [resolver, route, controlPlane] = await Promise.all([ask("resolver"), ask("route"), ask("control_plane")]);
    const results = { resolver, route, control_plane: controlPlane };
    last = { atMs: clock.monotonic(), results };
    onLook(results);
    return results;
  }

  function look(): Promise<CanaryResults> {
    looking ??= askAll().finally(() => (looking = null));
    return looking;
  }

  const isFresh = () => last !== null && clock.monotonic() - last.atMs < FRESH_MS;
  const timer = setInterval(() => void look(), EVERY_MS);
  timer.unref();
  return {
    look,
    prepare() {
      if (!isFresh()) void look();
    },
    async judge(failure, remainingMs) {
      if (failure.source === "probe") return failure;
      const known = last?.results ?? null;
      const results = isFresh() ? known : await waitAtMost(Math.min(LOOK_MS, remainingMs), look(), known);
      return results === null || !isNetworkGone(results) ? failure : ofProbe(failure, results);
    },
    ageSeconds: () => (last === null ? null : (clock.monotonic() - last.atMs) / 1000),
    stop: () => clearInterval(timer),
  };
}

function ofProbe(failure: Failed, { route }: CanaryResults): Failed {
  const why = route === false ? "it has no route, and its resolvers do not answer" : "its resolvers do not answer";
  const message = `The probe's own network is down (${why}), so this says nothing of the target: ${failure.message}`;
  return { ...failure, source: "probe", message };
}
