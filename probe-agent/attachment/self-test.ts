import type { Clock } from "#shared/time/clock.ts";
import { ownNetworkDown, type Failed } from "#shared/contracts/outcome.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";

/** A query that shows whether the agent's own network works. */
type CanaryName = "resolver" | "route" | "control_plane";

/** Results of one self-test; null for a canary without a result. */
export type CanaryResults = Readonly<Record<CanaryName, boolean | null>>;

/** One function for each canary. An answer after CANARY_TIMEOUT_MS counts as false. */
export type Canaries = Readonly<Record<CanaryName, () => Promise<boolean | null>>>;

/** Test of the agent's own network. */
export interface SelfTest {
  /** Asks all canaries now, or joins a test that is running. Resolves in 2 s at most. */
  run(): Promise<CanaryResults>;
  /** Called when a job may fail soon. Runs the test unless the last result is fresh. */
  prepare(): void;
  /**
   * Returns the failure with its true source, which is `probe` if the agent's own network is down. A result older than
   * half a second is refreshed first, within `remainingMs`.
   */
  correctSource(failure: Failed, remainingMs: number): Promise<Failed>;
  /** Returns the seconds since the last test, null before the first. */
  ageSeconds(): number | null;
  stop(): void;
}

/** Options of a self-test. */
interface SelfTestOptions {
  readonly canaries: Canaries;
  readonly clock: Pick<Clock, "monotonic">;
  /** Called after every test. */
  readonly onResults: (results: CanaryResults) => void;
}

/** Maximum time between two tests, in milliseconds. */
const EVERY_MS = 600_000;
/**
 * An older result, in milliseconds, is not used for a failure if there is time for another test: in the seconds after
 * the network fails, it would blame the targets of all jobs.
 */
const FRESH_MS = 500;
/** Maximum wait for a canary, in milliseconds. */
const CANARY_TIMEOUT_MS = 2_000;

/**
 * Reports whether the agent's own network is down: its resolvers do not answer. A route proves nothing, because it
 * remains when the network behind it fails. Neither does an attached control plane: it often is in the same private
 * network, which still works when the way to all targets is lost.
 */
export function isNetworkGone({ resolver }: CanaryResults): boolean {
  return resolver === false;
}

/** Runs the test every ten minutes. The caller runs the first one. */
export function startSelfTest({ canaries, clock, onResults }: SelfTestOptions): SelfTest {
  let last: { readonly atMs: number; readonly results: CanaryResults } | null = null;
  let running: Promise<CanaryResults> | null = null;

  async function askAll(): Promise<CanaryResults> {
    const ask = (name: CanaryName) =>
      waitAtMost(
        CANARY_TIMEOUT_MS,
        canaries[name]().catch(() => false),
        false,
      );
    const [resolver, route, controlPlane] = await Promise.all([ask("resolver"), ask("route"), ask("control_plane")]);
    const results = { resolver, route, control_plane: controlPlane };
    last = { atMs: clock.monotonic(), results };
    onResults(results);
    return results;
  }

  function run(): Promise<CanaryResults> {
    running ??= askAll().finally(() => (running = null));
    return running;
  }

  const isFresh = () => last !== null && clock.monotonic() - last.atMs < FRESH_MS;
  const timer = setInterval(() => void run(), EVERY_MS);
  timer.unref();
  return {
    run,
    prepare() {
      if (!isFresh()) void run();
    },
    async correctSource(failure, remainingMs) {
      if (failure.source === "probe") return failure;
      const known = last?.results ?? null;
      const results = isFresh() ? known : await waitAtMost(Math.min(CANARY_TIMEOUT_MS, remainingMs), run(), known);
      return results === null || !isNetworkGone(results) ? failure : attributeToProbe(failure, results);
    },
    ageSeconds: () => (last === null ? null : (clock.monotonic() - last.atMs) / 1000),
    stop: () => clearInterval(timer),
  };
}

function attributeToProbe(failure: Failed, { route }: CanaryResults): Failed {
  const why = route === false ? "no route, and its resolvers do not answer" : "its resolvers do not answer";
  return ownNetworkDown(failure, why);
}
