import type { Clock } from "#shared/time/clock.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { planEarlyLooks, type Report } from "#control-plane/watching/expiry/reports-store.ts";

/** Fingerprints of certificates that checks have seen. */
interface Reports {
  /** Notes the fingerprint of a check. One that the monitor has seen before costs nothing. */
  note(monitorId: number, fingerprint: string): void;
  /** Plans early looks for what was noted. */
  flush(): Promise<void>;
}

/** A look after another change, or at a known certificate, is at the earliest this long after the last one, milliseconds. */
const PAUSES = { newMs: 10 * 60_000, knownMs: 6 * 3_600_000 };
/** Time after which the same fingerprint of a monitor is reported again, in milliseconds. */
const AGAIN_MS = 3_600_000;
/** Maximum number of fingerprints kept for a monitor, and of monitors. One takes about 300 octets. */
const MOST_OF_ONE = 4;
const MOST_KEPT = 200_000;
/** Maximum number of reports in one statement. Others wait. */
const MOST_AT_ONCE = 1_000;

interface Seen {
  readonly fingerprint: string;
  /** Monotonic milliseconds of the report. */
  readonly at: number;
}

/**
 * Creates the reports of one replica. The first fingerprint that it sees of a monitor is reported too, and each once more
 * if checks still see it some minutes later.
 */
export function createReports(sql: Sql, clock: Clock): Reports {
  const seen = new Map<number, { last: string; reported: readonly Seen[]; repeatAt: number | null }>();
  const waiting = new Map<string, Report>();
  return {
    note(monitorId, fingerprint) {
      const known = seen.get(monitorId);
      const now = clock.monotonic();
      if (known?.last === fingerprint) {
        // The look at once can have met a server that still had the certificate before.
        if (known.repeatAt === null || now < known.repeatAt) return;
        known.repeatAt = null;
        waiting.set(`${monitorId} ${fingerprint}`, { monitorId, fingerprint });
        return;
      }
      const before = known?.reported.find((one) => one.fingerprint === fingerprint);
      if (known !== undefined && before !== undefined && now - before.at < AGAIN_MS) {
        known.last = fingerprint;
        return;
      }
      if (seen.size >= MOST_KEPT) seen.clear();
      const others = (known?.reported ?? []).filter((one) => one.fingerprint !== fingerprint);
      const reported = [{ fingerprint, at: now }, ...others].slice(0, MOST_OF_ONE);
      seen.set(monitorId, { last: fingerprint, reported, repeatAt: now + PAUSES.newMs });
      waiting.set(`${monitorId} ${fingerprint}`, { monitorId, fingerprint });
    },
    async flush() {
      while (waiting.size > 0) {
        const batch = [...waiting].slice(0, MOST_AT_ONCE);
        await planEarlyLooks(
          sql,
          batch.map(([, report]) => report),
          clock.now(),
          PAUSES,
        );
        for (const [key] of batch) waiting.delete(key);
      }
    },
  };
}
