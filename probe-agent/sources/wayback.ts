import { readAvailability, readCaptures, type Capture } from "#probe-agent/analysis/web/wayback.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { fetchJson, type JsonAnswer } from "#probe-agent/sources/json.ts";
import type { ServiceSource } from "#probe-agent/sources/service-source.ts";

/** Answer of one of the archive's services, or a short reason why there is none. */
export type ArchiveAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly source: ServiceSource; readonly reason: string };

/** The part of the index that was read. */
export interface CaptureIndex {
  /** Oldest first. */
  readonly captures: readonly Capture[];
  /** Whether there are more captures than these. The last one of all is `last`. */
  readonly cut: boolean;
  /** Null if there is none, or if it is not available. */
  readonly last: Capture | null;
}

/** Maximum number of captures counted. They take 3 MB of index. */
const MAX_CAPTURES = 100_000;
const INDEX_BYTES = 8 * 1024 * 1024;
/**
 * Time limits for each service, in milliseconds. For a page with many captures, the archive's index takes 40 s and
 * more.
 */
const AVAILABILITY_MS = 15_000;
const INDEX_MS = 50_000;
/** Minimum time left for a second try, and time kept for the answer. */
const AGAIN_MS = 15_000;
const RESERVE_MS = 1500;
const OTHER_FORM = { ok: false, source: "service", reason: "an answer in an unknown form" } as const;

/** Asks the availability service for the snapshot closest to now. */
export async function askAvailability(net: Net, url: string): Promise<ArchiveAnswer<Capture | null>> {
  const answer = await ask(net, net.services.waybackUrl, { url }, AVAILABILITY_MS);
  if (!answer.ok) return answer;
  const closest = readAvailability(answer.value);
  return closest === undefined ? OTHER_FORM : { ok: true, value: closest };
}

/** Reads every capture of a page from the index. */
export async function askIndex(net: Net, url: string): Promise<ArchiveAnswer<CaptureIndex>> {
  const found = await askCaptures(net, url, MAX_CAPTURES + 1);
  if (!found.ok) return found;
  const cut = found.value.length > MAX_CAPTURES;
  if (!cut) return { ok: true, value: { captures: found.value, cut, last: found.value.at(-1) ?? null } };
  // A negative limit counts from the end.
  const end = await askCaptures(net, url, -1);
  const last = end.ok ? (end.value.at(-1) ?? null) : null;
  return { ok: true, value: { captures: found.value.slice(0, MAX_CAPTURES), cut, last } };
}

async function askCaptures(net: Net, url: string, limit: number): Promise<ArchiveAnswer<readonly Capture[]>> {
  const query = { url, output: "json", fl: "timestamp,statuscode", limit: String(limit) };
  const answer = await ask(net, net.services.waybackCdxUrl, query, INDEX_MS);
  if (!answer.ok) return answer;
  const captures = readCaptures(answer.value);
  return captures === null ? OTHER_FORM : { ok: true, value: captures };
}

/**
 * Sends one question, and again if the service was only overloaded (status 502 to 504). Respects a rate limit (429).
 */
async function ask(
  net: Net,
  service: string,
  query: Readonly<Record<string, string>>,
  patienceMs: number,
): Promise<ArchiveAnswer<unknown>> {
  const url = new URL(service);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const once = (): Promise<JsonAnswer> => {
    const timeoutMs = Math.max(1, Math.min(patienceMs, net.remainingMs() - RESERVE_MS));
    return fetchJson(net, { url: url.href, trusted: true, maxBytes: INDEX_BYTES, timeoutMs });
  };
  let answer = await once();
  const overloaded = !answer.ok && answer.status !== null && answer.status >= 502 && answer.status <= 504;
  if (overloaded && net.remainingMs() > AGAIN_MS) answer = await once();
  return answer.ok ? { ok: true, value: answer.value } : { ok: false, source: answer.source, reason: reasonOf(answer) };
}

function reasonOf({ reason, status, body }: Extract<JsonAnswer, { readonly ok: false }>): string {
  if (status === 429) return "the rate limit is reached (status 429)";
  // The archive's reply for sites that asked not to be shown.
  return status === 403 && /blocked/i.test(body ?? "") ? "the site is excluded from the archive" : reason;
}
