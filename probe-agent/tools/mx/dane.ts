import type { DnsAnswer } from "#probe-agent/net/port/dns.ts";
import { followCnames } from "#probe-agent/analysis/cname-chain.ts";
import type { Net } from "#probe-agent/net/port.ts";
import { validateOurselves } from "#probe-agent/tools/dns/validate.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { mx } from "#shared/tools/mx.ts";

/** DANE of one mail host. */
export type HostDane = ResultOf<typeof mx>["records"][number]["dane"];

const QUESTION_MS = 3_000;
const RESERVE_MS = 900;
const MAX_RECORDS = 10;
const MAX_REASON = 300;
const SMTP_PORT = 25;

/**
 * TLSA records of a mail host's port, validated here. They are asked for without the resolver's checking, so that data that
 * fail validation are seen as such and not as a resolver's failure.
 */
export async function lookAtDane(net: Net, host: string, port = SMTP_PORT): Promise<HostDane> {
  const name = `_${port}._tcp.${host}`;
  const answer = await askSigned(net, name, "TLSA");
  if (answer.status === "NXDOMAIN") return none("absent", null);
  if (answer.status !== "NOERROR") return none("unknown", `the TLSA records could not be looked up (${answer.status})`);
  const { records } = followCnames(name, "TLSA", answer.answers);
  if (records.length === 0) return none("absent", null);
  const verdict = await validateAnswer(net, name, "TLSA", answer);
  const status = verdict.status === "indeterminate" ? "unknown" : verdict.status;
  const reason = (verdict.reasons[0] ?? "").slice(0, MAX_REASON);
  return { status, reason: reason === "" ? null : reason, records: records.slice(0, MAX_RECORDS).map(readTlsa) };
}

/** Whether the MX records validate; null where that could not be told. */
export async function areExchangersSecure(net: Net, domain: string): Promise<boolean | null> {
  const answer = await askSigned(net, domain, "MX");
  if (answer.status !== "NOERROR") return null;
  const { status } = await validateAnswer(net, domain, "MX", answer);
  return status === "indeterminate" ? null : status === "secure";
}

function askSigned(net: Net, name: string, type: string): Promise<DnsAnswer> {
  const timeoutMs = Math.max(0, Math.min(QUESTION_MS, net.remainingMs() - RESERVE_MS));
  return net.dns.query({ name, type, dnssecOk: true, checkingDisabled: true, timeoutMs });
}

function validateAnswer(net: Net, name: string, type: string, answer: DnsAnswer) {
  return validateOurselves(net, { server: answer.server }, name, [{ name, type, reply: answer }]);
}

function readTlsa({ typed }: DnsAnswer["answers"][number]): HostDane["records"][number] {
  const number = (field: string): number => (typeof typed[field] === "number" ? typed[field] : -1);
  const [usage, selector, matching] = [number("certificate_usage"), number("selector"), number("matching_type")];
  // RFC 7672 section 3.1: only DANE-TA and DANE-EE are of use without public CAs; RFC 6698 knows no other values.
  const usable = (usage === 2 || usage === 3) && [0, 1].includes(selector) && [0, 1, 2].includes(matching);
  return { usage, selector, matching_type: matching, usable };
}

function none(status: HostDane["status"], reason: string | null): HostDane {
  return { status, reason, records: [] };
}
