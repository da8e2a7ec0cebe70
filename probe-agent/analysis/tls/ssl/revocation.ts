import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl.ts";
import type { CrlResult } from "#probe-agent/analysis/tls/certificate/crl/evaluate.ts";
import { describeName } from "#probe-agent/analysis/tls/certificate/describe.ts";
import type { OcspResult } from "#probe-agent/analysis/tls/certificate/ocsp/evaluate.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import type { ListAnswer, ResponderAnswer } from "#probe-agent/analysis/tls/certificate/status.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";

type Result = ResultOf<typeof ssl>;
type Revocation = Result["revocation"];

/** Everything that was asked about a certificate's status, in this order. */
export interface RevocationFacts {
  /** What the server stapled; null for nothing, or where there is no issuer to judge it by. */
  readonly staple: OcspResult | null;
  readonly responder: ResponderAnswer | null;
  readonly list: ListAnswer | null;
  readonly authorities: readonly AuthorityStatus[];
  /** Why nobody was asked; null where that was open. */
  readonly notAsked: string | null;
}

/** An authority between the certificate and its root; `list` is null where it names none. */
export interface AuthorityStatus {
  readonly certificate: Certificate;
  readonly list: ListAnswer | null;
}

/** Fields of the result, and what follows from them. */
export interface RevocationReport {
  readonly ocsp: Result["ocsp"];
  readonly revocation: Revocation;
  /** The certificate or an authority above it is revoked. */
  readonly revoked: boolean;
  readonly limitations: readonly string[];
}

const MAX_URL = 200;

/** Whether an answer can be relied upon and settles the question. */
export function isDecisive(result: OcspResult | CrlResult | null): boolean {
  return result !== null && result.error === null && (result.status === "good" || result.status === "revoked");
}

/** Tells the status by the first source that settles it. */
export function reportRevocation(facts: RevocationFacts, stapled: boolean): RevocationReport {
  const authorities = facts.authorities.map(authorityRow);
  const own = settle([
    ["staple", facts.staple],
    ["ocsp", facts.responder?.result ?? null],
    ["crl", facts.list?.result ?? null],
  ]);
  const revocation = { ...own, crl: listRow(facts.list), authorities };
  return {
    ocsp: ocspRow(facts, stapled),
    revocation,
    revoked: [own, ...authorities].some(({ status }) => status === "revoked"),
    limitations: limitationsOf(facts, own.status, authorities),
  };
}

type Own = Pick<Revocation, "status" | "method" | "reason" | "revoked_at">;

function settle(sources: readonly (readonly ["staple" | "ocsp" | "crl", OcspResult | CrlResult | null])[]): Own {
  for (const [method, result] of sources) {
    if (result === null || result.status === null || !isDecisive(result)) continue;
    const { status, reason, revokedAt } = result;
    return { status, method, reason, revoked_at: isoOrNull(revokedAt) };
  }
  return { status: "unknown", method: null, reason: null, revoked_at: null };
}

function authorityRow({ certificate, list }: AuthorityStatus): Revocation["authorities"][number] {
  const { status, reason, revoked_at } = settle([["crl", list?.result ?? null]]);
  return { subject: describeName(certificate.subject), status, reason, revoked_at };
}

function listRow(list: ListAnswer | null): Revocation["crl"] {
  if (list === null) return null;
  const { url, result, error } = list;
  return {
    url: printable(url, MAX_URL),
    this_update: isoOrNull(result?.thisUpdate),
    next_update: isoOrNull(result?.nextUpdate),
    error: result === null ? error : result.error,
  };
}

/** The staple where it can be relied upon, else the responder's answer, else whatever there is. */
function ocspRow({ staple, responder }: RevocationFacts, stapled: boolean): Result["ocsp"] {
  const answered = responder?.result ?? null;
  const isStaple = staple !== null && (staple.error === null || answered === null);
  const shown = isStaple ? staple : answered;
  return {
    stapled,
    source: shown === null ? null : isStaple ? "staple" : "responder",
    status: shown?.status ?? null,
    this_update: isoOrNull(shown?.thisUpdate),
    next_update: isoOrNull(shown?.nextUpdate),
    produced_at: isoOrNull(shown?.producedAt),
    responder_url: responder === null ? null : printable(responder.url, MAX_URL),
    signature_valid: shown?.signatureValid ?? null,
    error: shown === null ? (responder?.error ?? null) : shown.error,
  };
}

function limitationsOf(
  { responder, list, authorities, notAsked }: RevocationFacts,
  status: Own["status"],
  rows: Revocation["authorities"],
): string[] {
  const faults = [
    ...(responder === null ? [] : [`its OCSP responder: ${responder.error ?? responder.result?.error ?? "unknown"}`]),
    ...(list === null ? [] : [`its revocation list: ${list.error ?? list.result?.error ?? "unknown"}`]),
  ];
  const why =
    notAsked ?? (faults.length === 0 ? "it names no OCSP responder and no revocation list" : faults.join("; "));
  const unlisted = authorities.filter((_authority, index) => rows[index]?.status === "unknown").length;
  return [
    ...(status === "unknown" ? [`Whether the certificate is revoked could not be told: ${why}.`] : []),
    ...(unlisted > 0
      ? [
          `Whether ${unlisted === 1 ? "an authority" : `${unlisted} authorities`} above it is revoked could not be told.`,
        ]
      : []),
  ];
}

function isoOrNull(date: Date | null | undefined): string | null {
  return date?.toISOString() ?? null;
}
