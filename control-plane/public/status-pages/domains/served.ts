import type { App } from "#control-plane/core/app.ts";
import { logFailure, startUpkeep } from "#control-plane/core/database/upkeep.ts";
import { readServed } from "#control-plane/public/status-pages/domains/store.ts";
import { hostOf } from "#control-plane/public/status-pages/settings/domain.ts";

/**
 * The verified domains of all pages, in memory: every request asks whether its host is one, those for the health of a
 * process whose database is away too.
 */
interface ServedDomains {
  /** Returns the slug of the page whose verified domain is in a Host field; null if there is none. */
  slugOf(field: string): string | null;
  /** Reads the domains. Rejects if the database is away. */
  read(): Promise<void>;
  /** Reads the domains again soon, and until that succeeds. */
  changed(): void;
  /** Reads nothing more. */
  close(): void;
}

/** Time after which a failed reading is repeated, in milliseconds. */
const REPEAT_MS = 1_000;

/**
 * Creates the domains; they are empty until they are read. `ownHost` is the host of the service itself, which is no
 * page's domain.
 */
export function createServedDomains({
  sql,
  log,
  timers,
  ownHost,
}: Pick<App, "sql" | "log" | "timers"> & { readonly ownHost: string }): ServedDomains {
  let served: ReadonlyMap<string, string> = new Map();
  let isOutdated = false;
  let reading: Promise<void> | null = null;

  /** Reads until nothing has changed since the last reading began. */
  async function readAll(): Promise<void> {
    do {
      isOutdated = false;
      try {
        served = await readServed(sql);
      } catch (error) {
        isOutdated = true;
        throw error;
      }
    } while (isOutdated);
  }

  function read(): Promise<void> {
    isOutdated = true;
    reading ??= readAll().finally(() => {
      reading = null;
    });
    return reading;
  }

  const name = "status pages: reading of domains";
  const repeats = startUpkeep({
    everyMs: REPEAT_MS,
    round: async () => void (isOutdated && (await read())),
    name,
    log,
    timers,
  });
  return {
    slugOf(field) {
      if (served.size === 0) return null;
      const host = hostOf(field);
      return host === ownHost ? null : (served.get(host) ?? null);
    },
    read,
    changed: () => void read().catch((error: unknown) => logFailure(log, name, error)),
    close: () => repeats.stop(),
  };
}
