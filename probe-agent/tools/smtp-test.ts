import { isIP } from "node:net";
import { failed, ok, type Failed } from "#shared/outcome.ts";
import { smtpTest as contract } from "#shared/tools/smtp-test.ts";
import { waitAtMost } from "#shared/time-limit.ts";
import type { Conversation } from "#probe-agent/analysis/mail/smtp/conversation.ts";
import { smtpReport } from "#probe-agent/analysis/mail/smtp/report.ts";
import { lookUpReverseName } from "#probe-agent/sources/reverse-name.ts";
import { lookUpTlsa, type TlsaAnswer } from "#probe-agent/tools/dns/tlsa.ts";
import { connectFirst } from "#probe-agent/tools/smtp-test/connect.ts";
import { converse } from "#probe-agent/tools/smtp-test/converse.ts";
import { findExchangers } from "#probe-agent/tools/smtp-test/exchangers.ts";
import { implement, type Implementation } from "#probe-agent/tools/implement.ts";

const RESERVE_MS = 500;
const MAX_QUOTED = 80;
const LATE_DANE: TlsaAnswer = { status: "unknown", records: [], reason: "DANE could not be validated in time" };

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
