import type { PropagationResult } from "#shared/tools/propagation/contract.ts";
import { extendedErrorName } from "#probe-agent/analysis/dns/extended-errors.ts";

type Row = PropagationResult["resolvers"][number];
type Failure = PropagationResult["failures"][number];
type Cause = Failure["cause"];

/** Reports whether a status is an answer about the name: it has data, or it does not exist. */
export function isAnswer(status: string): boolean {
  return status === "NOERROR" || status === "NXDOMAIN";
}

/** Reports whether a resolver answered with an error code: SERVFAIL, REFUSED or any other. */
export function isFailure(status: string): boolean {
  return !isAnswer(status) && status !== "TIMEOUT";
}

/** Codes of Extended DNS Errors about signatures and keys (RFC 8914 section 4, RFC 9276 section 3.2). */
const DNSSEC_ERRORS: ReadonlySet<number> = new Set([1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 25, 27]);
/** Codes of No Reachable Authority and Network Error (RFC 8914 sections 4.23 and 4.24). */
const NETWORK_ERRORS: ReadonlySet<number> = new Set([22, 23]);

/**
 * Returns why a resolver failed, or null if it did not. The cause is DNSSEC if the resolver says so in an Extended DNS
 * Error, or if it fails twice and answers when validation is disabled (CD, RFC 4035 section 3.2.2).
 */
export function failureCause({ status, ede, recheck }: Pick<Row, "status" | "ede" | "recheck">): Cause | null {
  if (!isFailure(status)) return null;
  if (ede.some(({ code }) => DNSSEC_ERRORS.has(code))) return "dnssec";
  if (status === "REFUSED") return "refused";
  if (recheck !== null && isAnswer(recheck.status)) return "intermittent";
  if (recheck !== null && isFailure(recheck.status) && isAnswer(recheck.unchecked_status)) return "dnssec";
  return ede.some(({ code }) => NETWORK_ERRORS.has(code)) ? "servers_unreachable" : "unknown";
}

const DETAILS: Readonly<Record<Cause, string>> = {
  dnssec: "DNSSEC validation fails: validating resolvers reject the answer, other resolvers return it",
  refused: "The resolver refuses the query",
  servers_unreachable: "The resolver cannot reach the domain's name servers",
  intermittent: "The resolver failed once and answered the second query",
  unknown: "The resolver failed and does not report a reason",
};

/** Groups the failures of all resolvers by cause, the most common first. */
export function listFailures(rows: readonly Row[]): readonly Failure[] {
  const causes = new Set(rows.flatMap(({ cause }) => cause ?? []));
  const failures = [...causes].map((cause): Failure => {
    const failing = rows.filter((row) => row.cause === cause);
    const codes = new Set(failing.flatMap(({ ede }) => ede.map(({ code }) => code)));
    const named = [...codes].map((code) => `${extendedErrorName(code) ?? "unknown error"} (EDE ${code})`);
    return {
      cause,
      detail: `${DETAILS[cause]}${named.length === 0 ? "" : `: ${named.join(", ")}`}.`,
      resolvers: failing.map(({ id }) => id),
    };
  });
  return failures.toSorted((one, other) => other.resolvers.length - one.resolvers.length);
}
