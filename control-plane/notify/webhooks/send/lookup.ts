import { Resolver } from "node:dns/promises";
import { LRUCache } from "lru-cache";
import { hasErrorCode } from "#shared/contracts/error-code.ts";

/** All addresses of a name, or why they are not known. */
type Looked =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly reason: "no_address" | "failed" };

/** Looks up the IPv4 and IPv6 addresses of names. Never rejects. */
export interface Lookup {
  addressesOf(name: string): Promise<Looked>;
}

const TIMEOUT_MS = 2_000;
const TRIES = 2;
/** An answer is used again for its TTL, at most for this long, so that a burst of events is one look-up. */
const LONGEST_MS = 10_000;
const MOST_KEPT = 1_000;
/** RFC 2308: the name does not exist, or has no record of the type. */
const NO_RECORDS = ["ENOTFOUND", "ENODATA"];

interface Records {
  readonly addresses: readonly string[];
  /** Seconds. */
  readonly ttl: number;
}

/** Creates the look-up of one replica. `servers`: address or address:port each; null: those of the system. */
export function createLookup(servers: readonly string[] | null): Lookup {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (servers !== null && servers.length > 0) resolver.setServers(servers);
  const kept = new LRUCache<string, Looked>({ max: MOST_KEPT });
  const running = new Map<string, Promise<Looked>>();

  async function look(name: string): Promise<Looked> {
    const found = await Promise.all([
      records(() => resolver.resolve4(name, { ttl: true })),
      records(() => resolver.resolve6(name, { ttl: true })),
    ]);
    // Addresses that were not seen were not vetted: half an answer is none.
    const both = found.filter((one) => one !== null);
    if (both.length < found.length) return { ok: false, reason: "failed" };
    const addresses = both.flatMap((one) => one.addresses);
    if (addresses.length === 0) return { ok: false, reason: "no_address" };
    const looked: Looked = { ok: true, addresses };
    const ms = Math.min(...both.map(({ ttl }) => ttl * 1_000), LONGEST_MS);
    if (ms > 0) kept.set(name, looked, { ttl: ms });
    return looked;
  }

  return {
    addressesOf(name) {
      const known = kept.get(name);
      if (known !== undefined) return Promise.resolve(known);
      const current = running.get(name) ?? look(name).finally(() => running.delete(name));
      running.set(name, current);
      return current;
    },
  };
}

/** Returns the records of one type, none if there are none; null if the look-up failed. */
async function records(
  resolve: () => Promise<readonly { readonly address: string; readonly ttl: number }[]>,
): Promise<Records | null> {
  try {
    const rows = await resolve();
    return { addresses: rows.map(({ address }) => address), ttl: Math.min(...rows.map(({ ttl }) => ttl)) };
  } catch (error) {
    return NO_RECORDS.some((code) => hasErrorCode(error, code)) ? { addresses: [], ttl: Infinity } : null;
  }
}
