import { failed, ok, type Outcome, type Failed } from "#shared/contracts/outcome.ts";
import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import { monitorDns as contract } from "#shared/monitor-checks/monitor-dns.ts";
import type { ParamsOf, ResultOf } from "#shared/tools/define.ts";
import type { dns } from "#shared/tools/dns/contract.ts";
import { followCnames } from "#probe-agent/analysis/dns/cname-chain.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";
import { answerWith } from "#probe-agent/monitor-checks/answer.ts";
import type { DnsAnswer, DnsRecord } from "#probe-agent/port/dns.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { reportLookup } from "#probe-agent/tools/dns/report.ts";
import { determineStatus } from "#probe-agent/tools/dns/status.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { extendedErrorName } from "#probe-agent/analysis/dns/extended-errors.ts";
import { listFirst } from "#shared/text/list.ts";
import { domainToASCII } from "node:url";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { parseRdata, readRdata } from "#probe-agent/dns-codec/rdata/codec.ts";

type Params = ParamsOf<typeof contract>;
type Dnssec = NonNullable<ResultOf<typeof dns>["dnssec"]>;

/** What DNSSEC must say about an answer. */
type DnssecRule = "ignore" | "not_bogus" | "secure";

/** Time of the check that is kept for further questions and the answer, in milliseconds. */
const RESERVE_MS = 100;
const MAX_REASON = 300;

/** Looks up one record type at the agent's resolvers. A resolver that does not answer is a failure. */
export const monitorDns = implement(contract, async (net, params) => {
  const { domain, type, dnssec: rule } = params;
  const startedAt = net.monotonic();
  const observedAt = net.now();
  const answer = await net.dns.query({
    name: domain,
    type,
    dnssecOk: rule !== "ignore",
    checkingDisabled: rule === "ignore",
    timeoutMs: Math.max(0, net.remainingMs() - RESERVE_MS),
  });
  const dnssec = needsValidation(rule, answer) ? await validate(net, params, answer) : null;
  const examined = examineAnswer(params, answer, dnssec);
  if (examined.status !== "ok") return examined;
  const finding = { fault: examined.data, responseMs: answer.rttMs ?? 0, httpStatus: null, phases: null };
  return ok(
    await answerWith(finding, params, () => {
      const answers = [{ type, answer }];
      const report = reportLookup({ domain, answers, dnssec, circle: null, server: null, observedAt });
      return Promise.resolve({ ...report, elapsed_ms: Math.round(net.monotonic() - startedAt) });
    }),
  );
});

/** Validates an answer, and an answer without the resolver's validation if the resolver failed. */
function validate(net: Net, { domain, type }: Params, answer: DnsAnswer): Promise<Dnssec> {
  return determineStatus(net, domain, [{ type, answer }], {});
}

function examineAnswer(params: Params, answer: DnsAnswer, dnssec: Dnssec | null): Outcome<MonitorFault | null> {
  const { domain, type, dnssec: rule } = params;
  // Bogus data makes a validating resolver fail, so this verdict explains the failure.
  if (dnssec?.status === "bogus") return examineDnssec(rule, dnssec);
  const failure = lookupFailure(domain, answer);
  if (failure !== null) return failure;
  const absent = examineName(domain, answer);
  if (absent !== null) return ok(absent);
  const chain = followCnames(domain, type, answer.answers);
  if (chain.loop) {
    return ok({ stage: "dns", reason: "alias_loop", message: `the aliases (CNAME) of ${domain} lead in a circle` });
  }
  const signing = dnssec === null ? ok(null) : examineDnssec(rule, dnssec);
  if (signing.status !== "ok" || signing.data !== null) return signing;
  return ok(examineRecords(params, chain.records));
}

/**
 * Reports whether the answer must be validated to decide about the rule. A resolver that validates sets AD, or fails for
 * bogus data; one that does not validate passes signatures on. An answer without signatures cannot be bogus.
 */
function needsValidation(rule: DnssecRule, answer: DnsAnswer): boolean {
  if (rule === "ignore") return false;
  if (answer.status === "SERVFAIL") return true;
  if (answer.flags.ad) return false;
  return rule === "secure" || [...answer.answers, ...answer.authority].some(({ type }) => type === "RRSIG");
}

/** Returns the fault of a verdict against the rule; null if there is none. Fails if there is no verdict. */
function examineDnssec(rule: DnssecRule, { status, reasons }: Dnssec): Outcome<MonitorFault | null> {
  const why = printable(reasons[0] ?? "no reason is known", MAX_REASON);
  if (status === "bogus") {
    return ok({ stage: "dns", reason: "dnssec_bogus", message: `DNSSEC validation fails: ${why}` });
  }
  if (rule !== "secure" || status === "secure") return ok(null);
  if (status === "indeterminate") {
    return failed("dns", "probe", "dnssec_indeterminate", `the probe could not validate the answer: ${why}`);
  }
  return ok({ stage: "dns", reason: "dnssec_insecure", message: `the answer is not protected by DNSSEC: ${why}` });
}

/** Status of an answer that says that the name does not exist; YXDOMAIN: it is too long after a DNAME. */
const ABSENT: Readonly<Record<string, string>> = {
  NXDOMAIN: "the name does not exist",
  YXDOMAIN: "an alias (DNAME) makes the name too long",
};

/** Returns the fault of a name that does not exist; null for other answers. */
function examineName(domain: string, { status }: DnsAnswer): MonitorFault | null {
  const words = ABSENT[status];
  if (words === undefined) return null;
  return { stage: "dns", reason: status.toLowerCase(), message: `${status} for ${domain}: ${words}` };
}

/** Returns the failure of a look-up without a usable answer; null if there is one. */
function lookupFailure(domain: string, answer: DnsAnswer): Failed | null {
  const { status, server, unreachable, flags } = answer;
  switch (status) {
    case "NOERROR":
      // An answer that was truncated and could not be fetched over TCP is no answer (RFC 2181 section 9).
      if (!flags.tc) return null;
      return ofResolver("timeout", `resolver ${server} truncated its answer and did not answer over TCP`);
    case "NXDOMAIN":
    case "YXDOMAIN":
      return null;
    case "TIMEOUT":
      return ofResolver(
        "timeout",
        unreachable === null || unreachable === undefined
          ? `resolver ${server} did not answer in time`
          : `resolver ${server} cannot be reached (${unreachable})`,
      );
    case "INVALID_NAME":
      return failed("dns", "target", "invalid_name", `${domain} is not a valid DNS name`);
    case "MALFORMED":
      return ofResolver("malformed", `the answer of resolver ${server} is not a DNS message`);
    default:
      return ofResolver(
        status.toLowerCase(),
        `${status} for ${domain} from resolver ${server}${describeErrors(answer)}`,
      );
  }
}

function ofResolver(reason: string, message: string): Failed {
  return failed("dns", "resolver", reason, message);
}

const MAX_TEXT = 120;

/** Describes the first extended error (RFC 8914); empty if the resolver sent none. */
function describeErrors({ ede: [first] }: DnsAnswer): string {
  if (first === undefined) return "";
  const name = extendedErrorName(first.code) ?? `extended error ${first.code}`;
  return `: ${name}${first.text === "" ? "" : ` (${first.text.slice(0, MAX_TEXT)})`}`;
}

/** What the records of a type must be. */
interface RecordCondition {
  readonly domain: string;
  readonly type: string;
  readonly op: "any" | "equals" | "contains" | "not_contains";
  readonly values: readonly string[];
}

const VALUES_SHOWN = 3;
const MAX_VALUE_SHOWN = 80;

/** Compares the records that were found with those that are expected. Returns null if they are as expected. */
function examineRecords(
  { domain, type, op, values }: RecordCondition,
  records: readonly DnsRecord[],
): MonitorFault | null {
  const found = new Set(records.map(comparable));
  const expected = new Set(values.map((value) => expectedData(type, value)));
  const isFound = (value: string) => isAmong(found, type, value);
  const fault = (reason: string, message: string): MonitorFault => ({ stage: "dns", reason, message });
  const name = `${type} of ${domain}`;
  if (found.size === 0 && op !== "not_contains" && (op === "any" || expected.size > 0)) {
    return fault(
      "no_records",
      `there is no ${type} record of ${domain}${op === "any" ? "" : `, expected ${list(expected)}`}`,
    );
  }
  switch (op) {
    case "any":
      return null;
    case "equals":
      if (found.size === expected.size && found.isSupersetOf(expected)) return null;
      return fault("records_differ", `${name} is ${list(found)}, expected ${list(expected)}`);
    case "contains": {
      const missing = [...expected].filter((value) => !isFound(value));
      if (missing.length === 0) return null;
      return fault("record_missing", `${name} is ${list(found)}, without ${list(missing)}`);
    }
    case "not_contains": {
      const present = [...expected].filter(isFound);
      return present.length === 0 ? null : fault("record_present", `${name} contains ${list(present)}`);
    }
  }
}

/** Reports whether a value is one of the records; for TXT, whether it is part of one. */
function isAmong(found: ReadonlySet<string>, type: string, value: string): boolean {
  return found.has(value) || (type === "TXT" && found.values().some((text) => text.includes(value)));
}

function list(values: Iterable<string>): string {
  const all = [...values];
  if (all.length === 0) return "no record";
  const shown = all.slice(0, VALUES_SHOWN).map((value) => printable(value, MAX_VALUE_SHOWN));
  return listFirst(shown, VALUES_SHOWN, all.length);
}

/** Types whose data consists of names and numbers. DNS compares names without case. */
const NAME_TYPES: ReadonlySet<string> = new Set(["CNAME", "NS", "PTR", "MX", "SOA", "SRV"]);

/** Returns the data of a record in a form that is equal for equal data. */
function comparable({ type, data, typed }: Pick<DnsRecord, "type" | "data" | "typed">): string {
  const { text } = typed;
  if (type === "TXT" && typeof text === "string") return text;
  return normalise(type, data);
}

/**
 * Returns the data that a user expects in the same form. It is zone-file text with or without final dots; for TXT, the
 * text itself, or quoted strings. Text that is not data of the type is returned as it is and equals no record.
 */
export function expectedData(type: string, text: string): string {
  const trimmed = text.trim();
  if (type === "TXT" && !trimmed.startsWith('"')) return text;
  try {
    const raw = parseRdata(type, NAME_TYPES.has(type) ? toAsciiNames(trimmed) : trimmed);
    return comparable({ type, ...readRdata(type, raw, 0, raw.length) });
  } catch (error) {
    if (error instanceof DecodeError) return text;
    throw error;
  }
}

function toAsciiNames(text: string): string {
  return text
    .split(/\s+/)
    .map((word) => (/[\u0080-\uffff]/.test(word) ? domainToASCII(word) : word))
    .join(" ");
}

function normalise(type: string, data: string): string {
  if (NAME_TYPES.has(type)) return data.toLowerCase();
  if (type !== "CAA") return data;
  // The tag has no case, unlike the value in quotes after it.
  const quote = data.indexOf('"');
  return quote === -1 ? data.toLowerCase() : data.slice(0, quote).toLowerCase() + data.slice(quote);
}
