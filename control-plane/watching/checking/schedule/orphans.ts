import type { Logger } from "pino";
import type { App } from "#control-plane/core/app.ts";
import { startUpkeep } from "#control-plane/core/database/upkeep.ts";
import { findGoneClaimants, releaseClaimsOf } from "#control-plane/watching/checking/schedule/orphans-store.ts";

/** The claims of replicas that have ended without giving them back. */
interface Orphans {
  /** Looks for such claims, and ends those whose replica has been gone for some time. */
  release(): Promise<void>;
  /** Looks no more. */
  stop(): void;
}

/** Time between two looks, in milliseconds. */
const EVERY_MS = 1_000;
/**
 * Time for which a replica must be missing from the live ones, milliseconds. Those drop out 5 s after their last sign of
 * life, and one that only could not write it for a while is back within two seconds: its checks must not run twice.
 */
const PATIENCE_MS = 5_000;
/** Looks that are further apart than this, in milliseconds, say nothing about the time between them. */
const LONGEST_GAP_MS = 3_000;

/**
 * Starts the search of one replica. What a replica that is taken for gone still records loses its claim, so that no
 * check is recorded twice. The claims of `replicaId`, this replica, are never ended.
 */
export function startOrphans({
  sql,
  clock,
  log,
  timers,
  replicaId,
}: Pick<App, "sql" | "clock" | "timers"> & {
  readonly log: Pick<Logger, "debug" | "error" | "warn">;
  readonly replicaId: string;
}): Orphans {
  /** Since when replicas are missing, monotonic milliseconds. */
  let missing: ReadonlyMap<string, number> = new Map();
  let lookedAt = -Infinity;

  async function release(): Promise<void> {
    const gone = (await findGoneClaimants(sql, clock.now())).filter((id) => id !== replicaId);
    const at = clock.monotonic();
    const known = at - lookedAt <= LONGEST_GAP_MS ? missing : new Map<string, number>();
    lookedAt = at;
    missing = new Map(gone.map((id) => [id, known.get(id) ?? at]));
    const ended = gone.filter((id) => at - (missing.get(id) ?? at) >= PATIENCE_MS);
    if (ended.length === 0) return;
    const checks = await releaseClaimsOf(sql, ended, clock.now());
    if (checks === 0) return;
    log.warn(
      { replicas: ended, checks },
      "monitors: a replica ended during its checks without giving them back; they are repeated now",
    );
  }

  const upkeep = startUpkeep({
    everyMs: EVERY_MS,
    round: release,
    name: "monitors: claims of replicas that are gone",
    log,
    timers,
  });
  return { release, stop: () => upkeep.stop() };
}
