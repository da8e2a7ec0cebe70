import type { Redact } from "#shared/text/redact.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl/contract.ts";
import type { CrlResult } from "#probe-agent/analysis/tls/certificate/crl.ts";
import { describeName } from "#probe-agent/analysis/tls/certificate/describe.ts";
import type { OcspResult } from "#probe-agent/analysis/tls/certificate/ocsp-evaluate.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import type { ListAnswer, ResponderAnswer } from "#probe-agent/analysis/tls/certificate/status.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";

type Result = ResultOf<typeof ssl>;
type Revocation = Result["revocation"];

/** Answers about a certificate's status, in the order of the requests. */
export interface RevocationFacts {
  /** The stapled response; null if there is none, or the issuer to check it with is unavailable. */
  readonly staple: OcspResult | null;
  /** Null if no responder was asked. */
  readonly responder: ResponderAnswer | null;
  /** Null if no list was used. */
  readonly list: ListAnswer | null;
  readonly authorities: readonly AuthorityStatus[];
  /** Why no responder and no list was asked, as part of a sentence; null if nothing prevented it. */
  readonly notAsked: string | null;
}

/** Revocation status of an authority between the certificate and its root. */
export interface AuthorityStatus {
  readonly certificate: Certificate;
  /** Null if its certificate names no list. */
  readonly list: ListAnswer | null;
}

/** Fields of the result, and values derived from them. */
export interface RevocationReport {
  readonly ocsp: Result["ocsp"];
  readonly revocation: Revocation;
  /** Whether the certificate or an authority above it is revoked. */
  readonly revoked: boolean;
  readonly limitations: readonly string[];
}

const MAX_URL = 200;

/** Reports whether an answer is valid and says good or revoked. */
export function isDecisive(result: OcspResult | CrlResult | null): boolean {
  return result !== null && result.error === null && (result.status === "good" || result.status === "revoked");
}

/** Reports the status by the first source with a decisive answer. */
export function reportRevocation(facts: RevocationFacts, stapled: boolean): RevocationReport {
  const authorities = facts.authorities.map(authorityRow);
  const own = firstDecisive([
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

/** Describes in one line what is revoked, when and why: "certificate was revoked on 2026-01-31 (key compromise)". */
export function describeRevocation(
  { status, reason, revoked_at: at, authorities }: Revocation,
  redact: Redact,
): string {
  const authority = status === "revoked" ? undefined : authorities.find((one) => one.status === "revoked");
  const what = authority === undefined ? "certificate" : `authority ${redact(authority.subject)}`;
  const [on, why] = authority === undefined ? [at, reason] : [authority.revoked_at, authority.reason];
  const day = on === null ? "" : ` on ${on.slice(0, 10)}`;
  return `${what} was revoked${day}${why === null ? "" : ` (${why.replaceAll("_", " ")})`}`;
}

type Own = Pick<Revocation, "status" | "method" | "reason" | "revoked_at">;

function firstDecisive(sources: readonly (readonly ["staple" | "ocsp" | "crl", OcspResult | CrlResult | null])[]): Own {
  for (const [method, result] of sources) {
    if (result === null || result.status === null || !isDecisive(result)) continue;
    const { status, reason, revokedAt } = result;
    return { status, method, reason, revoked_at: isoOrNull(revokedAt) };
  }
  return { status: "unknown", method: null, reason: null, revoked_at: null };
}

function authorityRow({ certificate, list }: AuthorityStatus): Revocation["authorities"][number] {
  const { status, reason, revoked_at } = firstDecisive([["crl", list?.result ?? null]]);
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

/** Describes the stapled response if it is valid, else the responder's answer, else the invalid stapled response. */
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
    ...(responder === null ? [] : [`OCSP responder: ${responder.error ?? responder.result?.error ?? "unknown"}`]),
    ...(list === null ? [] : [`revocation list: ${list.error ?? list.result?.error ?? "unknown"}`]),
  ];
  const why =
    notAsked ?? (faults.length === 0 ? "it names no OCSP responder and no revocation list" : faults.join("; "));
  const unlisted = authorities.filter((_authority, index) => rows[index]?.status === "unknown").length;
  return [
    ...(status === "unknown" ? [`Whether the certificate is revoked could not be determined (${why}).`] : []),
    ...(unlisted > 0
      ? [
          unlisted === 1
            ? "Whether an authority above the certificate is revoked could not be determined."
            : `Whether ${unlisted} authorities above the certificate are revoked could not be determined.`,
        ]
      : []),
  ];
}

function isoOrNull(date: Date | null | undefined): string | null {
  return date?.toISOString() ?? null;
}
