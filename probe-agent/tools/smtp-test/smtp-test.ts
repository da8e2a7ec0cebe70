import { isIP } from "node:net";
import { failed, ok, type Failed, type Outcome, refused } from "#shared/contracts/outcome.ts";
import { smtpTest as contract } from "#shared/tools/smtp-test/contract.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import type { Conversation } from "#probe-agent/tools/smtp-test/conversation.ts";
import { smtpReport } from "#probe-agent/tools/smtp-test/report.ts";
import { lookUpReverseName } from "#probe-agent/sources/reverse-name.ts";
import { lookUpTlsa, type TlsaAnswer } from "#probe-agent/tools/dns/tlsa.ts";
import { converse } from "#probe-agent/tools/smtp-test/converse.ts";
import { implement, type Implementation } from "#probe-agent/tools/implement.ts";
import { followCnames } from "#probe-agent/analysis/dns/cname-chain.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { Address } from "#probe-agent/port/address.ts";
import type { SmtpLink } from "#probe-agent/port/smtp.ts";

const RESERVE_MS = 500;
const MAX_QUOTED = 80;
const LATE_DANE: TlsaAnswer = { status: "unknown", records: [], reason: "DANE could not be validated in time" };

/** Mail hosts of a target. */
interface Exchangers {
  /** MX records, lowest preference first; empty if the target itself is the mail host. */
  readonly records: readonly { readonly host: string; readonly priority: number }[];
  /** Limitation if the lookup of the MX records failed; null otherwise. */
  readonly unknown: string | null;
}

const LOOKUP_MS = 5_000;
const MAX_RECORDS = 20;
const NONE: Exchangers = { records: [], unknown: null };

type Attempt = ResultOf<typeof contract>["attempts"][number];

/** Connection to the first host that accepted it. */
interface Connected {
  readonly host: string;
  readonly address: Address;
  readonly link: SmtpLink;
  readonly attempts: readonly Attempt[];
  /** Whether addresses were skipped because the rules on targets forbid them. */
  readonly hasBlocked: boolean;
}

const MAX_HOSTS = 5;
const MAX_ADDRESSES = 3;
/** Time limit of one attempt, in milliseconds. The last attempts get the remaining time. */
const ATTEMPT_MS = 6_000;
/** Time reserved for the conversation, in milliseconds. */
const TALK_MS = 6_000;
/** Failure reasons of outgoing connections that a network blocks. */
const SILENT = new Set(["timeout", "unreachable", "prohibited"]);

/** Makes the smtp-test tool. Connections to `implicitTlsPorts` begin with TLS. */
export function smtpTestOn(
  implicitTlsPorts: readonly number[],
): Implementation<typeof contract.params.properties, typeof contract.result.properties> {
  return implement(contract, async (net, { target, port }) => {
    const now = net.now();
    const startedAt = net.monotonic();
    const exchangers = await findExchangers(net, target);
    if (exchangers.status !== "ok") return exchangers;
    const { records, unknown } = exchangers.data;
    const hosts = records.length === 0 ? [target] : records.map(({ host }) => host);
    const connected = await connectFirst(net, hosts, port);
    if (connected.status !== "ok") return connected;
    const { host, address, link, attempts, hasBlocked } = connected.data;
    const implicit = implicitTlsPorts.includes(port);
    const isName = isIP(host) === 0;
    const reverse = lookUpReverseName(net, address.ip);
    const tlsa = isName ? lookUpTlsa(net, host, port) : Promise.resolve(null);
    const conversation = await converse(net, link, { implicit, servername: isName ? host : null });
    const failure = failureWithoutGreeting(conversation);
    if (failure !== null) return failure;
    const patience = net.remainingMs() - RESERVE_MS;
    const [ptr, published] = await Promise.all([
      waitAtMost(patience, reverse, null),
      waitAtMost(patience, tlsa, LATE_DANE),
    ]);
    const report = smtpReport({
      conversation,
      connectMs: link.connectMs,
      totalMs: net.monotonic() - startedAt,
      port,
      target,
      trust: { host, roots: net.tls.roots(), now },
      tlsa: published,
      ptr,
    });
    return ok({
      target,
      mx_used: records.length === 0 ? null : host,
      mx_records: [...records],
      attempts: [...attempts],
      ip: address.ip,
      ip_version: address.version,
      port,
      ...report,
      source: ["smtp", "dns"],
      observed_at: now.toISOString(),
      limitations: [
        ...(unknown === null ? [] : [unknown]),
        ...(hasBlocked ? ["Addresses that must not be contacted were skipped."] : []),
        ...report.limitations,
      ],
    });
  });
}

/** The smtp-test tool with the standard port of implicit TLS. It stops before any mail. */
export const smtpTest = smtpTestOn([465]);

/** Returns the failure of a server that sent no greeting; null if there is something to report. */
function failureWithoutGreeting({ session, implicit, tls, loss }: Conversation): Failed | null {
  if (session.replies.banner !== undefined) return null;
  if (implicit && tls?.outcome.status === "failed") {
    const { plaintext, outcome } = tls;
    if (plaintext === null) return outcome;
    const quoted = JSON.stringify(plaintext.text.slice(0, MAX_QUOTED));
    return failed("tls", "target", "plain_text", `The server sent clear text on a TLS port: ${quoted}`);
  }
  // The server sent a certificate, which is worth a result.
  if (implicit) return null;
  const { loss: reason, received, bytes } = loss ?? { loss: "closed", received: "", bytes: 0 };
  const quoted = JSON.stringify(received.slice(0, MAX_QUOTED));
  const began = bytes === 0 ? "" : ` after ${bytes} octets, beginning with ${quoted}`;
  switch (reason) {
    case "not_smtp":
      return failed("response", "target", reason, `The server does not speak SMTP: ${quoted}`);
    case "too_long":
      return failed("response", "target", reason, "The greeting has more than 64 KB without an end");
    case "timeout":
      return failed(
        "response",
        "target",
        reason,
        `The server accepted the connection, but sent no complete greeting in time${began}`,
      );
    case "cancelled":
      return failed("response", "probe", reason, "The check was cancelled");
    default:
      return failed("response", "target", reason, `The server closed the connection before its greeting${began}`);
  }
}

/**
 * Looks up the MX records of a name (RFC 5321 section 5.1). A name without MX records is its own mail host. Fails with
 * the reason null_mx if the domain declares that it accepts no mail (RFC 7505).
 */
async function findExchangers(net: Net, target: string): Promise<Outcome<Exchangers>> {
  if (isIP(target) !== 0) return ok(NONE);
  const answer = await net.dns.query({ name: target, type: "MX", timeoutMs: LOOKUP_MS });
  const cut = answer.flags.tc;
  if (cut || (answer.status !== "NOERROR" && answer.status !== "NXDOMAIN")) {
    const why = cut ? "TRUNCATED" : answer.status;
    const unknown = `The MX records could not be looked up (${why}); the host with that name was tested instead.`;
    return ok({ records: [], unknown });
  }
  const { records } = followCnames(target, "MX", answer.answers);
  const usable = records.flatMap(({ typed: { exchange: host, preference: priority } }) =>
    typeof host === "string" && typeof priority === "number" ? [{ host: host.toLowerCase(), priority }] : [],
  );
  const named = usable.filter(({ host }) => host !== "." && host !== "");
  if (usable.length > 0 && named.length === 0) {
    return failed("dns", "target", "null_mx", "The domain declares that it accepts no mail (null MX, RFC 7505)");
  }
  const ordered = named.toSorted((one, other) => one.priority - other.priority);
  return ok({ records: ordered.slice(0, MAX_RECORDS), unknown: null });
}

/** Connects to the first address that accepts, trying hosts and their addresses in order (RFC 5321 section 5.1). */
export async function connectFirst(net: Net, hosts: readonly string[], port: number): Promise<Outcome<Connected>> {
  const attempts: Attempt[] = [];
  let failure: Failed | null = null;
  let hasBlocked = false;
  const isTimeLeft = (): boolean => net.remainingMs() > TALK_MS;
  for (const host of hosts.slice(0, MAX_HOSTS)) {
    if (attempts.length > 0 && !isTimeLeft()) break;
    const resolved = await net.dns.resolve(host);
    if (resolved.status !== "ok") {
      const reason = resolved.status === "failed" ? resolved.reason : "target_not_allowed";
      attempts.push({ host, ip: null, result: reason });
      if (resolved.status === "failed") failure ??= resolved;
      continue;
    }
    hasBlocked ||= resolved.data.blocked.length > 0;
    for (const address of resolved.data.allowed.slice(0, MAX_ADDRESSES)) {
      if (attempts.some(({ ip }) => ip !== null) && !isTimeLeft()) break;
      const timeoutMs = Math.min(ATTEMPT_MS, Math.max(net.remainingMs() - TALK_MS, 1_000));
      const opened = await net.smtp.connect({ ip: address.ip, port, timeoutMs });
      const result =
        opened.status === "ok" ? "connected" : opened.status === "failed" ? opened.reason : "target_not_allowed";
      attempts.push({ host, ip: address.ip, result });
      if (opened.status === "ok") return ok({ host, address, link: opened.data, attempts, hasBlocked });
      // A failed connection is more informative than a name that could not be resolved.
      if (opened.status === "failed" && failure?.stage !== "connect") failure = opened;
    }
  }
  return failure === null ? refused : withHint(failure, attempts, port);
}

/** Adds a hint to failures on port 25: many networks block outgoing mail, and then the server is not at fault. */
function withHint(failure: Failed, attempts: readonly Attempt[], port: number): Failed {
  const tried = attempts.filter(({ ip }) => ip !== null);
  if (port !== 25 || tried.length === 0 || !tried.every(({ result }) => SILENT.has(result))) return failure;
  const hint = "many networks block outgoing port 25, possibly also the network of this probe";
  return failed(failure.stage, failure.source, failure.reason, `${failure.message}; ${hint}`);
}
