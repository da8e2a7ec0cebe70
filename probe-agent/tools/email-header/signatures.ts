import type { HeaderRows } from "#probe-agent/tools/email-header/rows.ts";
import { CLOCK_AHEAD_MS, type Arrival } from "#probe-agent/tools/email-header/arrival.ts";
import type { MethodResult } from "#probe-agent/tools/email-header/authentication-results.ts";
import type { Field } from "#probe-agent/tools/email-header/fields.ts";
import { isoOrNull } from "#probe-agent/tools/email-header/received-hops.ts";
import { readSignature, type Signature, type SignatureIssue } from "#probe-agent/tools/email-header/signature.ts";
import { printable, printableOrNull } from "#probe-agent/analysis/text/printable.ts";

type DkimSignature = HeaderRows["dkim_signatures"][number];

/** Issues whose anomaly has the same cause: dkim_expired, dkim_partial_body. */
const COVERED_BY_ANOMALIES: ReadonlySet<SignatureIssue["id"]> = new Set(["expired", "partial-body"]);

/** Maximum number of signatures that are read. Verifiers read far fewer. */
const MAX_SIGNATURES = 100;
/** Maximum number of characters of a signature in a result. An RSA key of 4096 bits makes 684. */
const MAX_SIGNATURE = 1024;
const MAX_NAMES = 100;
/** Fields that should be signed: those that a reader sees or that control replies (RFC 6376 section 5.4.1). */
const WORTH_SIGNING = ["from", "subject", "date", "to", "cc", "reply-to", "sender", "message-id", "content-type"];

/**
 * Describes every DKIM-Signature of a message with the result of the receiver. The times of a signature are compared
 * with the time of arrival.
 */
export function describeSignatures(
  fields: readonly Field[],
  verdicts: readonly MethodResult[],
  arrival: Arrival,
): DkimSignature[] {
  const present = Map.groupBy(fields, ({ key }) => key);
  const signatures = (present.get("dkim-signature") ?? [])
    .slice(0, MAX_SIGNATURES)
    .map(({ value }) => readSignature(value, "dkim"));
  return signatures.map((signature) => {
    const issues = [...signature.issues, ...timesAgainst(signature, arrival)];
    const counts = Map.groupBy(signature.h, (name) => name);
    const signed = [...counts].map(([name, { length }]) => ({
      name,
      extra: length > (present.get(name)?.length ?? 0),
    }));
    return {
      d: printableOrNull(signature.d),
      s: printableOrNull(signature.s),
      a: printableOrNull(signature.a),
      c: printable(signature.c),
      t: isoOrNull(signature.t),
      x: isoOrNull(signature.x),
      h: signature.h.slice(0, MAX_NAMES).map((name) => printable(name)),
      bh: printableOrNull(signature.bh),
      b: printableOrNull(signature.b, MAX_SIGNATURE),
      i: printableOrNull(signature.i),
      l: signature.l,
      expired: hasExpired(signature, arrival),
      result: findResult(signature, signatures, verdicts),
      oversigned: signed.flatMap(({ name, extra }) => (extra ? [printable(name)] : [])).slice(0, MAX_NAMES),
      unsigned: WORTH_SIGNING.filter((name) => present.has(name) && !counts.has(name)),
      issues: issues.map(({ message }) => printable(message)),
      other_issues: issues.flatMap(({ id, message }) => (COVERED_BY_ANOMALIES.has(id) ? [] : [printable(message)])),
    };
  });
}

/** Reports whether the time in x= had passed when the message arrived (RFC 6376 section 3.5). Null without x=. */
function hasExpired({ x }: Pick<Signature, "x">, { time }: Arrival): boolean | null {
  return x === null ? null : x < time;
}

/** Finds faults of a signature's times relative to the time of arrival. */
export function timesAgainst(signature: Pick<Signature, "t" | "x">, arrival: Arrival): SignatureIssue[] {
  const isFuture = signature.t !== null && signature.t > arrival.time + CLOCK_AHEAD_MS;
  const isArrival = arrival.source !== "now";
  const expired = isArrival ? "It had expired when the message arrived (x=)." : "It has expired (x=).";
  const future = isArrival ? "It was made after the message arrived (t=)." : "It was made in the future (t=).";
  return [
    ...(hasExpired(signature, arrival) === true ? [{ id: "expired", message: expired } as const] : []),
    ...(isFuture ? [{ id: "signed-after-arrival", message: future } as const] : []),
  ];
}

/**
 * Finds the receiver's result for a signature: by its first characters (header.b, RFC 6008), otherwise by domain and
 * selector if no other signature has the same. Null if no result can be assigned.
 */
function findResult(one: Signature, all: readonly Signature[], verdicts: readonly MethodResult[]): string | null {
  const dkim = verdicts.filter(({ method }) => method === "dkim");
  const byStart = dkim.find((verdict) => {
    const start = property(verdict, "b");
    return start !== null && start.length >= 8 && one.b?.startsWith(start) === true;
  });
  if (byStart !== undefined) return printable(byStart.result);
  const matching = dkim.filter((verdict) => {
    const domain = property(verdict, "d") ?? property(verdict, "i")?.split("@").at(-1) ?? null;
    const selector = property(verdict, "s");
    return domain?.toLowerCase() === one.d && (selector === null || selector === one.s);
  });
  const rivals = all.filter(
    ({ d, s }) => d === one.d && (s === one.s || matching.some((verdict) => property(verdict, "s") === null)),
  );
  const [only] = matching;
  return only !== undefined && matching.length === 1 && rivals.length === 1 ? printable(only.result) : null;
}

function property({ properties }: MethodResult, name: string): string | null {
  return properties.find((one) => one.type === "header" && one.property === name)?.value ?? null;
}
