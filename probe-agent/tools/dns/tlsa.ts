import { followCnames } from "#probe-agent/analysis/dns/cname-chain.ts";
import type { Tlsa } from "#probe-agent/analysis/tls/certificate/tlsa.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { DnsAnswer } from "#probe-agent/port/dns.ts";
import { validateOurselves } from "#probe-agent/tools/dns/validate.ts";

/** TLSA records of a port, and what their signatures are worth. */
export interface TlsaAnswer {
  readonly status: "secure" | "insecure" | "bogus" | "absent" | "unknown";
  /** What led to the status; null where there is nothing to say. */
  readonly reason: string | null;
  readonly records: readonly Tlsa[];
}

const QUESTION_MS = 3_000;
const RESERVE_MS = 900;
const MAX_REASON = 300;

/**
 * TLSA records at _port._tcp.host, validated here. They are asked for without the resolver's checking, so that data that
 * fail validation are seen as such and not as a resolver's failure.
 */
export async function lookUpTlsa(net: Net, host: string, port: number): Promise<TlsaAnswer> {
  const name = `_${port}._tcp.${host}`;
  const answer = await askSigned(net, name, "TLSA");
  if (answer.status === "NXDOMAIN") return none("absent", null);
  if (answer.status !== "NOERROR") return none("unknown", `the TLSA records could not be looked up (${answer.status})`);
  // What was cut and could not be had over TCP is no answer (RFC 2181 section 9).
  if (answer.flags.tc) return none("unknown", "the TLSA records could not be looked up (TRUNCATED)");
  const { records } = followCnames(name, "TLSA", answer.answers);
  if (records.length === 0) return none("absent", null);
  const verdict = await validateAnswer(net, name, "TLSA", answer);
  const status = verdict.status === "indeterminate" ? "unknown" : verdict.status;
  const reason = (verdict.reasons[0] ?? "").slice(0, MAX_REASON);
  return { status, reason: reason === "" ? null : reason, records: records.map(readTlsa) };
}

/** A question with DNSSEC records, which the resolver is not to check. */
export function askSigned(net: Net, name: string, type: string): Promise<DnsAnswer> {
  const timeoutMs = Math.max(0, Math.min(QUESTION_MS, net.remainingMs() - RESERVE_MS));
  return net.dns.query({ name, type, dnssecOk: true, checkingDisabled: true, timeoutMs });
}

/** Validates such an answer by the resolver that gave it. */
export function validateAnswer(net: Net, name: string, type: string, answer: DnsAnswer) {
  return validateOurselves(net, { server: answer.server }, name, [{ name, type, reply: answer }]);
}

function readTlsa({ typed }: DnsAnswer["answers"][number]): Tlsa {
  const number = (field: string): number => (typeof typed[field] === "number" ? typed[field] : -1);
  const data = typed["certificate_association_data"];
  return {
    usage: number("certificate_usage"),
    selector: number("selector"),
    matchingType: number("matching_type"),
    data: typeof data === "string" ? data.toLowerCase() : "",
  };
}

function none(status: TlsaAnswer["status"], reason: string | null): TlsaAnswer {
  return { status, reason, records: [] };
}
