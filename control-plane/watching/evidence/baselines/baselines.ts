import { parseLocations } from "#shared/internet/locations.ts";
import { registrableDomain } from "#shared/internet/registrable-domain.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import type { App } from "#control-plane/core/app.ts";
import {
  updateNameServers,
  upsertBaselines,
  type NewBaseline,
} from "#control-plane/watching/evidence/baselines/store.ts";
import { createNameServers } from "#control-plane/watching/evidence/baselines/name-servers.ts";
import { nameServersCall, toToolAnswer } from "#control-plane/watching/evidence/ask.ts";
import { hostOf } from "#control-plane/watching/evidence/cause-key.ts";
import { readDnsRecords, readComparedValues } from "#control-plane/watching/evidence/compared-values.ts";

/** The schedule entry of a check. */
interface ScheduleEntry {
  readonly monitorId: number;
  readonly location: string;
}

/** A good check that was reported in full. */
interface GoodCheck extends ScheduleEntry {
  /** Unix milliseconds of its beginning. */
  readonly at: number;
  readonly target: string;
  readonly accountId: number;
  readonly checkType: string;
  /** Result of the matching tool. */
  readonly whole: unknown;
}

/** The last good checks, of one replica. */
export interface Baselines {
  /**
   * Reports whether the next check of a schedule entry is to be reported in full: about once an hour. `now` is Unix
   * milliseconds.
   */
  wants(entry: ScheduleEntry, now: number): boolean;
  /** Stores the facts of a good check soon. */
  add(check: GoodCheck): void;
  /** Stores what waits, and stops. */
  stop(): Promise<void>;
}

const HOUR_MS = 3_600_000;
/** Time in which facts gather for one statement, milliseconds. */
const FLUSH_MS = 1_000;
/** Time after which facts are stored, milliseconds. */
const STORED_MS = 2 * FLUSH_MS;
/** Maximum number of facts in one statement. */
const MOST_AT_ONCE = 500;
/** Maximum number of facts that wait while the database is away; the newest are kept out. */
const MOST_WAITING = 5_000;
/** Maximum number of schedule entries whose hours are remembered. One takes about 100 octets. */
const MOST_REMEMBERED = 200_000;
/** Multiplier of the phase, so that the schedule entries of one monitor ask at different times. */
const SPREAD = 7_919;

/** Opens the baselines. */
export function openBaselines({
  sql,
  log,
  clock,
  checks,
}: Pick<App, "sql" | "clock" | "log"> & { readonly checks: CheckContext }): Baselines {
  const nameServers = createNameServers({
    clock,
    ask: async ({ accountId, zone, location }) => {
      const call = nameServersCall(zone);
      const parsed = parseLocations([location]);
      if (call === null || !parsed.ok) return null;
      const asked = { ...call, accountId, locations: parsed.items, maxLocations: 1, pace: "paced" } as const;
      const answer = toToolAnswer(await runCheck(checks, asked));
      return answer.status === "ok" ? readDnsRecords(answer.data, "NS") : null;
    },
  });
  const hours = new Map<string, number>();
  let waiting = new Map<string, NewBaseline>();
  let flushing: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    while (waiting.size > 0) {
      const batch = [...waiting].slice(0, MOST_AT_ONCE);
      try {
        await upsertBaselines(
          sql,
          batch.map(([, one]) => one),
        );
      } catch (error) {
        // A monitor can be deleted at the same time. What is lost comes again within an hour.
        log.debug({ err: error }, "evidence: facts of good checks could not be stored");
      }
      const stored = new Map(batch);
      waiting = new Map([...waiting].filter(([key, one]) => stored.get(key) !== one));
    }
  }

  let isFlushing = false;
  const timer = setInterval(() => {
    if (isFlushing || waiting.size === 0) return;
    isFlushing = true;
    flushing = flush().finally(() => {
      isFlushing = false;
    });
  }, FLUSH_MS);
  timer.unref();

  return {
    wants({ monitorId, location }, now) {
      const key = keyOf(monitorId, location);
      const hour = Math.floor((now + phaseOf(monitorId, location)) / HOUR_MS);
      const known = hours.get(key);
      if (known === hour) return false;
      if (hours.size >= MOST_REMEMBERED) hours.clear();
      hours.set(key, hour);
      // A replica that starts asks in the next hour of each schedule entry, not for all schedule entries at once.
      return known !== undefined;
    },
    add({ monitorId, location, accountId, at, target, checkType, whole }) {
      const zone = registrableDomain(hostOf({ url: target, checkType }));
      const known =
        zone === null
          ? null
          : nameServers.read({ accountId, zone, location }, (found) => {
              // The facts of this check can still wait: they are stored within a second.
              const store = () => updateNameServers(sql, monitorId, found).catch(() => {});
              setTimeout(() => void store(), STORED_MS).unref();
            });
      const facts = {
        ...readComparedValues(whole),
        nameServers: known?.names ?? null,
        nameServersAt: known?.at ?? null,
      };
      const key = keyOf(monitorId, location);
      if (waiting.size >= MOST_WAITING && !waiting.has(key)) return;
      const { address } = facts;
      waiting.set(key, { monitorId, location, goodAt: new Date(at), target, address, facts: JSON.stringify(facts) });
    },
    async stop() {
      clearInterval(timer);
      nameServers.stop();
      await flushing;
      await flush();
    },
  };
}

function keyOf(monitorId: number, location: string): string {
  return `${monitorId} ${location}`;
}

/** Returns a time within an hour that spreads the schedule entries, milliseconds. */
function phaseOf(monitorId: number, location: string): number {
  let sum = monitorId * SPREAD;
  for (let index = 0; index < location.length; index += 1) sum = (sum * 31 + location.charCodeAt(index)) % HOUR_MS;
  return sum % HOUR_MS;
}
