import { followCnames } from "#probe-agent/analysis/dns/cname-chain.ts";
import type { Tlsa } from "#probe-agent/analysis/tls/certificate/tlsa.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { DnsAnswer } from "#probe-agent/port/dns.ts";
import { validateOurselves } from "#probe-agent/tools/dns/validate.ts";

/** TLSA records of a port, and the DNSSEC status of their signatures. */
export interface TlsaAnswer {
  readonly status: "secure" | "insecure" | "bogus" | "absent" | "unknown";
  /** Reason for the status. Null if there is none. */
  readonly reason: string | null;
  readonly records: readonly Tlsa[];
}

const QUESTION_MS = 3_000;
const RESERVE_MS = 900;
const MAX_REASON = 300;

/**
 * Looks up the TLSA records at _port._tcp.host and validates them here. Asks with checking disabled, so that data that
 * fails validation is distinguished from a failure of the resolver.
 */
export async function lookUpTlsa(net: Net, host: string, port: number): Promise<TlsaAnswer> {
  const name = `_${port}._tcp.${host}`;
  const answer = await askSigned(net, name, "TLSA");
  if (answer.status === "NXDOMAIN") return none("absent", null);
  if (answer.status !== "NOERROR") return none("unknown", `the TLSA records could not be looked up (${answer.status})`);
  // An answer that was truncated and could not be fetched over TCP is no answer (RFC 2181 section 9).
  if (answer.flags.tc) return none("unknown", "the TLSA records could not be looked up (TRUNCATED)");
  const { records } = followCnames(name, "TLSA", answer.answers);
  if (records.length === 0) return none("absent", null);
  const verdict = await validateAnswer(net, name, "TLSA", answer);
  const status = verdict.status === "indeterminate" ? "unknown" : verdict.status;
  const reason = (verdict.reasons[0] ?? "").slice(0, MAX_REASON);
  return { status, reason: reason === "" ? null : reason, records: records.map(readTlsa) };
}

/** Asks a question with DNSSEC records and with the resolver's checking disabled. */
export function askSigned(net: Net, name: string, type: string): Promise<DnsAnswer> {
  const timeoutMs = Math.max(0, Math.min(QUESTION_MS, net.remainingMs() - RESERVE_MS));
  return net.dns.query({ name, type, dnssecOk: true, checkingDisabled: true, timeoutMs });
}

/** Validates such an answer, using the resolver that gave it. */
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
