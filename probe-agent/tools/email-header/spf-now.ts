import { classifyAddress } from "#shared/egress.ts";
import { isLocalName } from "#shared/egress/names.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { emailHeader } from "#shared/tools/email-header.ts";
import { waitAtMost } from "#shared/time-limit.ts";
import { evaluateSpf } from "#probe-agent/analysis/spf.ts";
import { findDelivery, type DeliveryRows } from "#probe-agent/analysis/mail/email-headers/delivery.ts";
import type { SpfResolver } from "#probe-agent/analysis/mail/spf/lookup.ts";
import { isSpfRecord } from "#probe-agent/analysis/mail/spf/parse.ts";
import { printable, printableOrNull } from "#probe-agent/analysis/text/printable.ts";
import { createLookUp } from "#probe-agent/sources/dns-look-up.ts";
import { spfResolver } from "#probe-agent/sources/spf-resolver.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** Result of SPF with today's DNS records; null with a limitation if it could not be evaluated. */
interface SpfToday {
  readonly result: ResultOf<typeof emailHeader>["spf_now"];
  readonly limitations: readonly string[];
}

/** Time limit of an evaluation, in milliseconds. RFC 7208 section 4.6.4 requires 20 seconds or more. */
const MAX_MS = 20_000;
const RESERVE_MS = 700;
const MAX_RECORD = 2_000;

/** Evaluates SPF for the host that delivered the message. Skips addresses and names of local networks. */
export async function evaluateSpfToday(net: Net, rows: DeliveryRows): Promise<SpfToday> {
  const delivery = findDelivery(rows);
  if ("unknown" in delivery) return notEvaluated(delivery.unknown);
  const { ip, hop, mailFrom, helo } = delivery;
  if (classifyAddress(ip) !== "public") return notEvaluated("the delivering address is not a public address");
  const resolver = withoutLocalNames(spfResolver(createLookUp(net)));
  const patience = Math.min(MAX_MS, net.remainingMs() - RESERVE_MS);
  const evaluating = evaluateSpf({ ip, mailFrom, helo: helo ?? "", resolver, now: net.now() });
  const evaluation = await waitAtMost(patience, evaluating, null);
  if (evaluation === null) return notEvaluated("the DNS lookups did not end in time");
  const checked = (mailFrom === "" ? (helo ?? "") : mailFrom.slice(mailFrom.lastIndexOf("@") + 1)).toLowerCase();
  const record = await waitAtMost(patience, findRecord(resolver, checked), null);
  const claimed = rows.auth.spf?.result ?? null;
  const { result, mechanism, explanation, reason, lookups, void_lookups: voids } = evaluation;
  return {
    result: {
      result,
      ip,
      hop,
      mail_from: mailFrom === "" ? null : printable(mailFrom),
      helo: printableOrNull(helo),
      identity: mailFrom === "" ? "helo" : "mailfrom",
      domain: printable(checked),
      record: printableOrNull(record, MAX_RECORD),
      mechanism: printableOrNull(mechanism),
      explanation: printableOrNull(explanation ?? null),
      reason: printableOrNull(reason),
      lookups,
      void_lookups: voids,
      claimed,
      agrees: claimed === null || result === "temperror" ? null : claimed.toLowerCase() === result,
    },
    limitations: result === "temperror" ? [`SPF could not be evaluated completely: ${printable(reason ?? "")}.`] : [],
  };
}

function notEvaluated(why: string): SpfToday {
  return { result: null, limitations: [`The current SPF result is unknown: ${why}.`] };
}

/** Wraps a resolver so that names of local networks are not looked up. They do not exist on the internet. */
function withoutLocalNames(resolver: SpfResolver): SpfResolver {
  return {
    query: async (name, type) =>
      isLocalName(name.toLowerCase().replace(/\.$/, ""))
        ? { status: "NXDOMAIN", records: [] }
        : resolver.query(name, type),
  };
}

/** Returns the SPF record of a domain; null if there is none. The lookup is cached from the evaluation. */
async function findRecord(resolver: SpfResolver, domain: string): Promise<string | null> {
  if (!domain.includes(".")) return null;
  const { records } = await resolver.query(domain, "TXT");
  return records.find(isSpfRecord) ?? null;
}
