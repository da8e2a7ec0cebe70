import { waitAtMost } from "#shared/time-limit.ts";
import { evaluateCrl, type CrlResult } from "#probe-agent/analysis/tls/certificate/crl/evaluate.ts";
import { readCrl, type Crl } from "#probe-agent/analysis/tls/certificate/crl/read.ts";
import type { StatusSubject } from "#probe-agent/analysis/tls/certificate/ocsp/evaluate.ts";
import type { ListAnswer } from "#probe-agent/analysis/tls/certificate/status.ts";
import type { Fetches } from "#probe-agent/sources/fetch-budget.ts";

/** Lists of public authorities that are cut into parts have up to some megabytes each. */
const MAX_BYTES = 10 * 1024 * 1024;
const FETCH_MS = 8000;
/** Lists kept, and their octets together. */
const KEPT_LISTS = 4;
const KEPT_BYTES = 20 * 1024 * 1024;
/** Lists on their way at once over all jobs, which bounds the memory they take. */
const UNDER_WAY = 4;

type Loaded = { readonly crl: Crl } | { readonly error: string };

/** Authorities publish anew before the next update they promise, at the latest when something is revoked. */
const KEPT_MS = 3_600_000;

interface Kept {
  readonly crl: Crl;
  /** When it was fetched. */
  readonly since: Date;
}

/** By URL, the one used last at the end. Only what the authority signed comes in. */
const kept = new Map<string, Kept>();
const underWay = new Map<string, Promise<Loaded>>();

/**
 * Looks a certificate up in the list at a URL, which is kept for an hour, though not past its next update, and is fetched
 * once for all who wait.
 */
export async function lookUpInList(fetches: Fetches, url: string, subject: StatusSubject): Promise<ListAnswer> {
  const known = kept.get(url);
  if (known !== undefined && isFresh(known, subject.now)) {
    const result = evaluateCrl(known.crl, subject);
    keep(url, known, result);
    if (result.error !== "stale") return { url, result, error: null };
  }
  const loaded = await load(fetches, url);
  if ("error" in loaded) return { url, result: null, error: loaded.error };
  const result = evaluateCrl(loaded.crl, subject);
  keep(url, { crl: loaded.crl, since: subject.now }, result);
  return { url, result, error: null };
}

async function load(fetches: Fetches, url: string): Promise<Loaded> {
  const running = underWay.get(url);
  if (running !== undefined) return waitAtMost(fetches.patienceMs(FETCH_MS), running, { error: "timeout" });
  if (underWay.size >= UNDER_WAY) return { error: "busy" };
  const loading = fetchList(fetches, url);
  underWay.set(url, loading);
  try {
    return await loading;
  } finally {
    underWay.delete(url);
  }
}

async function fetchList(fetches: Fetches, url: string): Promise<Loaded> {
  const fetched = await fetches.fetch({ url, method: "GET", maxBodyBytes: MAX_BYTES, timeoutMs: FETCH_MS });
  if (!fetched.ok) return { error: fetched.error };
  const crl = readCrl(fetched.octets);
  return crl === null ? { error: "malformed" } : { crl };
}

function isFresh({ since }: Kept, now: Date): boolean {
  const age = now.getTime() - since.getTime();
  return age >= 0 && age < KEPT_MS;
}

/** Puts a list at the end of the row and lets go of the first ones where they are too many; a bad one is let go of. */
function keep(url: string, list: Kept, { authentic, error }: CrlResult): void {
  kept.delete(url);
  if (!authentic || error === "stale" || error === "not_yet_valid") return;
  kept.set(url, list);
  let octets = kept.values().reduce((sum, { crl }) => sum + crl.size, 0);
  for (const [first, { crl }] of kept) {
    if (kept.size <= KEPT_LISTS && octets <= KEPT_BYTES) break;
    kept.delete(first);
    octets -= crl.size;
  }
}
