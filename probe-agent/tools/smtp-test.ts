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

/** The test with other ports that begin with TLS. */
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
    const nothing = nothingHeard(conversation);
    if (nothing !== null) return nothing;
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
        ...(hasBlocked ? ["Addresses that must not be contacted were left out."] : []),
        ...report.limitations,
      ],
    });
  });
}

/** What a mail server offers, up to the point where mail would begin. */
export const smtpTest = smtpTestOn([465]);

/** The failure of a server that never greeted; null where there is something to tell. */
function nothingHeard({ session, implicit, tls, loss }: Conversation): Failed | null {
  if (session.replies.banner !== undefined) return null;
  if (implicit && tls?.outcome.status === "failed") {
    const { plaintext, outcome } = tls;
    if (plaintext === null) return outcome;
    const words = JSON.stringify(plaintext.text.slice(0, MAX_QUOTED));
    return failed("tls", "target", "plain_text", `The server speaks in the clear on a port for TLS: ${words}`);
  }
  // A certificate was received: that is worth an answer.
  if (implicit) return null;
  const { loss: reason, received, bytes } = loss ?? { loss: "closed", received: "", bytes: 0 };
  const began = bytes === 0 ? "" : ` after ${bytes} octets, beginning ${JSON.stringify(received.slice(0, MAX_QUOTED))}`;
  switch (reason) {
    case "not_smtp":
      return failed(
        "response",
        "target",
        reason,
        `What the server said is not SMTP: ${JSON.stringify(received.slice(0, MAX_QUOTED))}`,
      );
    case "too_long":
      return failed("response", "target", reason, "The greeting has more than 64 KB and no end");
    case "timeout":
      return failed(
        "response",
        "target",
        reason,
        `The connection stands, but no complete greeting came in time${began}`,
      );
    case "cancelled":
      return failed("response", "probe", reason, "The check was cancelled");
    default:
      return failed("response", "target", reason, `The server ended the connection before its greeting${began}`);
  }
}
