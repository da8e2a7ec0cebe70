import type { Clock } from "#shared/clock.ts";
import type { Failed } from "#shared/outcome.ts";
import { waitAtMost } from "#shared/time-limit.ts";

/** What the self-test asks to learn whether the agent's own network works. */
type CanaryName = "resolver" | "route" | "control_plane";

/** The result of one self-test: null if a canary has no result. */
export type CanaryResults = Readonly<Record<CanaryName, boolean | null>>;

/** One function for each canary; an answer after LOOK_MS counts as false. */
export type Canaries = Readonly<Record<CanaryName, () => Promise<boolean | null>>>;

/** The state of the agent's own network. */
export interface SelfTest {
  /** Asks all canaries now; joins a look under way. Resolves in 2 s at most. */
  look(): Promise<CanaryResults>;
  /** A job may fail soon: looks, unless the last look is fresh. */
  prepare(): void;
  /**
   * The failure with its true source: `probe` where the agent's own network is down. A look older than 30 s is repeated
   * first, for at most `remainingMs`.
   */
  judge(failure: Failed, remainingMs: number): Promise<Failed>;
  /** Seconds since the last look, null before the first. */
  ageSeconds(): number | null;
  stop(): void;
}

/** Options of a self-test. */
interface SelfTestOptions {
  readonly canaries: Canaries;
  readonly clock: Pick<Clock, "monotonic">;
  /** Called after every look. */
  readonly onLook: (results: CanaryResults) => void;
}

/** The longest time between two looks. */
const EVERY_MS = 600_000;
/** An older result is not used for a failure if there is time for another self-test. */
const FRESH_MS = 30_000;
/** The longest wait for a canary. */
const LOOK_MS = 2_000;

/**
 * Reports whether the agent's own network is down: its resolvers do not answer, and no control plane outside this host is
 * attached. A route alone proves nothing: it outlives the network behind it.
 */
export function isNetworkGone({ resolver, control_plane }: CanaryResults): boolean {
  return resolver === false && control_plane !== true;
}

/** Looks every ten minutes; the caller asks for the first look. */
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
  const why = route === false ? "no route, and its resolvers do not answer" : "its resolvers do not answer";
  const message = `The probe's own network is down (${why}), so this result does not describe the target: ${failure.message}`;
  return { ...failure, source: "probe", message };
}
