import { waitAtMost } from "#shared/time/time-limit.ts";
import { evaluateCrl, type CrlResult } from "#probe-agent/analysis/tls/certificate/crl.ts";
import { readCrl, type Crl } from "#probe-agent/analysis/tls/certificate/crl-read.ts";
import { type StatusSubject, evaluateOcsp } from "#probe-agent/analysis/tls/certificate/ocsp-evaluate.ts";
import type { ListAnswer, ResponderAnswer } from "#probe-agent/analysis/tls/certificate/status.ts";
import type { Fetches } from "#probe-agent/sources/fetch-budget.ts";
import { encodeOcspRequest, type RequestHash } from "#probe-agent/analysis/tls/certificate/ocsp-cert-id.ts";
import { MAX_OCSP_BYTES } from "#probe-agent/analysis/tls/certificate/ocsp-response.ts";

/** Maximum size of a list. Lists of public authorities that are split into parts have up to some megabytes each. */
const MAX_BYTES = 10 * 1024 * 1024;
const FETCH_MS = 8000;
/** Maximum number of kept lists, and of their octets together. */
const KEPT_LISTS = 4;
const KEPT_BYTES = 20 * 1024 * 1024;
/** Maximum number of lists fetched at the same time over all jobs. This bounds their memory. */
const UNDER_WAY = 4;

type Loaded = { readonly crl: Crl } | { readonly error: string };

/**
 * Time for which a list is kept. Authorities publish a new list before the announced next update, at the latest when
 * they revoke a certificate.
 */
const KEPT_MS = 3_600_000;

interface Kept {
  readonly crl: Crl;
  /** Time of the fetch. */
  readonly since: Date;
}

/** Lists by URL, the last used one at the end. Only lists signed by the authority are stored. */
const kept = new Map<string, Kept>();
const underWay = new Map<string, Promise<Loaded>>();

/**
 * Looks up a certificate in the revocation list at a URL. A list is kept for an hour, but not past its next update. If
 * several jobs need the same list, it is fetched once.
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

/** Stores a list as the last one, and drops the first ones if there are too many. A bad list is not stored. */
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

/** Time limit for each try at a responder, in milliseconds. */
const TRY_MS = 4000;
/** Errors of a responder that may not know the hash that the request uses for the issuer. */
const HASH_REFUSALS = new Set(["unauthorized", "malformed_request"]);

/**
 * Asks an OCSP responder about a certificate by POST with SHA-1, which all responders know. Repeats by GET if POST
 * failed over HTTP (RFC 6960 appendix A.1), or with SHA-256 if the request was refused. Throws MalformedDer for an
 * issuer without a key.
 */
export async function askResponder(fetches: Fetches, url: string, subject: StatusSubject): Promise<ResponderAnswer> {
  const request = (hash: RequestHash): Uint8Array => encodeOcspRequest(subject.certificate, subject.issuer, hash);
  const first = await post(fetches, url, request("sha1"), subject);
  if (first.result === null && first.error?.startsWith("http_") === true) {
    return better(first, await get(fetches, url, request("sha1"), subject));
  }
  if (HASH_REFUSALS.has(first.result?.error ?? "")) {
    return better(first, await post(fetches, url, request("sha256"), subject));
  }
  return first;
}

function better(first: ResponderAnswer, second: ResponderAnswer): ResponderAnswer {
  return second.result?.error === null ? second : first;
}

function post(fetches: Fetches, url: string, body: Uint8Array, subject: StatusSubject): Promise<ResponderAnswer> {
  const headers = [["Content-Type", "application/ocsp-request"]] as const;
  return ask(fetches, url, { method: "POST", url, body, headers }, subject);
}

function get(fetches: Fetches, url: string, body: Uint8Array, subject: StatusSubject): Promise<ResponderAnswer> {
  const path = encodeURIComponent(Buffer.from(body).toString("base64"));
  return ask(fetches, url, { method: "GET", url: `${url.replace(/\/$/, "")}/${path}`, headers: [] }, subject);
}

async function ask(
  fetches: Fetches,
  url: string,
  request: {
    readonly method: "GET" | "POST";
    readonly url: string;
    readonly body?: Uint8Array;
    readonly headers: readonly (readonly [string, string])[];
  },
  subject: StatusSubject,
): Promise<ResponderAnswer> {
  const headers = [["Accept", "application/ocsp-response"] as const, ...request.headers];
  const fetched = await fetches.fetch({ ...request, headers, maxBodyBytes: MAX_OCSP_BYTES + 1, timeoutMs: TRY_MS });
  if (!fetched.ok) return { url, result: null, error: fetched.error };
  return { url, result: evaluateOcsp(fetched.octets, subject), error: null };
}
