import { encodeOcspRequest, type RequestHash } from "#probe-agent/analysis/tls/certificate/ocsp/cert-id.ts";
import { evaluateOcsp, type StatusSubject } from "#probe-agent/analysis/tls/certificate/ocsp/evaluate.ts";
import { MAX_OCSP_BYTES } from "#probe-agent/analysis/tls/certificate/ocsp/response.ts";
import type { ResponderAnswer } from "#probe-agent/analysis/tls/certificate/status.ts";
import type { Fetches } from "#probe-agent/sources/fetch-budget.ts";

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
