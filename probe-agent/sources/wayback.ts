import { readAvailability, readCaptures, type Capture } from "#probe-agent/analysis/web/wayback.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { fetchJson, type JsonAnswer } from "#probe-agent/sources/json.ts";
import type { ServiceSource } from "#probe-agent/sources/service-source.ts";

/** What one of the archive's services said, or in a few words why it said nothing. */
export type Told<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly source: ServiceSource; readonly reason: string };

/** The index, as far as it was read. */
export interface CaptureIndex {
  /** Oldest first. */
  readonly captures: readonly Capture[];
  /** There are more than these; the last of all is `last`. */
  readonly cut: boolean;
  /** Null where there is none, or it could not be had. */
  readonly last: Capture | null;
}

/** Captures counted at most: 3 MB of index. */
const MAX_CAPTURES = 100_000;
const INDEX_BYTES = 8 * 1024 * 1024;
/** Patience with each service; the index of a page with many captures takes the archive 40 s and more. */
const AVAILABILITY_MS = 15_000;
const INDEX_MS = 50_000;
/** A second try needs this much time, and so much is left for the answer. */
const AGAIN_MS = 15_000;
const RESERVE_MS = 1500;
const OTHER_FORM = { ok: false, source: "service", reason: "an answer of another form" } as const;

/** Asks the availability service for the snapshot closest to now. */
export async function askAvailability(net: Net, url: string): Promise<Told<Capture | null>> {
  const answer = await ask(net, net.services.waybackUrl, { url }, AVAILABILITY_MS);
  if (!answer.ok) return answer;
  const closest = readAvailability(answer.value);
  return closest === undefined ? OTHER_FORM : { ok: true, value: closest };
}

/** Asks the index for every capture of a page. */
export async function askIndex(net: Net, url: string): Promise<Told<CaptureIndex>> {
  const told = await askCaptures(net, url, MAX_CAPTURES + 1);
  if (!told.ok) return told;
  const cut = told.value.length > MAX_CAPTURES;
  if (!cut) return { ok: true, value: { captures: told.value, cut, last: told.value.at(-1) ?? null } };
  // A negative limit counts from the end.
  const end = await askCaptures(net, url, -1);
  const last = end.ok ? (end.value.at(-1) ?? null) : null;
  return { ok: true, value: { captures: told.value.slice(0, MAX_CAPTURES), cut, last } };
}

async function askCaptures(net: Net, url: string, limit: number): Promise<Told<readonly Capture[]>> {
  const query = { url, output: "json", fl: "timestamp,statuscode", limit: String(limit) };
  const answer = await ask(net, net.services.waybackCdxUrl, query, INDEX_MS);
  if (!answer.ok) return answer;
  const captures = readCaptures(answer.value);
  return captures === null ? OTHER_FORM : { ok: true, value: captures };
}

/** One question, put again where the service was only out of breath; a limit (429) is respected. */
async function ask(
  net: Net,
  service: string,
  query: Readonly<Record<string, string>>,
  patienceMs: number,
): Promise<Told<unknown>> {
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
  if (status === 429) return "too many questions for now (status 429)";
  // The archive's own words for sites that asked not to be shown.
  return status === 403 && /blocked/i.test(body ?? "") ? "the site is excluded from the archive" : reason;
}
