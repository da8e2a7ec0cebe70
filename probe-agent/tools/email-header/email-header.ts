import { ok } from "#shared/contracts/outcome.ts";
import { emailHeader as contract } from "#shared/tools/email-header/contract.ts";
import { MAX_HEADERS_BYTES } from "#shared/tools/email-header/limits.ts";
import { emailHeaderAnalysis, hopAddressesAnalysis } from "#probe-agent/tools/email-header/analyse.ts";
import {
  headerFindings,
  spfNowFindings,
  findDelivery,
  type DeliveryRows,
} from "#probe-agent/tools/email-header/findings.ts";
import type { Locate } from "#probe-agent/tools/email-header/received-hops.ts";
import { boundFindings } from "#probe-agent/analysis/text/findings.ts";
import { leading } from "#probe-agent/analysis/text/json-size.ts";
import type { DataPort } from "#probe-agent/toolkit/data.ts";
import { runAnalysis } from "#probe-agent/sources/run-analysis.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { classifyAddress } from "#shared/internet/egress.ts";
import { isLocalName } from "#shared/egress/names.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { evaluateSpf } from "#probe-agent/tools/email-header/spf.ts";
import type { SpfResolver } from "#probe-agent/analysis/mail/spf/lookup.ts";
import { isSpfRecord } from "#probe-agent/analysis/mail/spf/parse.ts";
import { printable, printableOrNull } from "#probe-agent/analysis/text/printable.ts";
import { createLookUp } from "#probe-agent/sources/dns-look-up.ts";
import { spfResolver } from "#probe-agent/sources/spf-resolver.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** Maximum number of findings in a result. One finding with its advice has about 600 octets. */
const MAX_FINDINGS = 60;
const MAX_FINDINGS_BYTES = 40_000;

/** Result of SPF with today's DNS records; null with a limitation if it could not be evaluated. */
interface SpfToday {
  readonly result: ResultOf<typeof contract>["spf_now"];
  readonly limitations: readonly string[];
}

/** Time limit of an evaluation, in milliseconds. RFC 7208 section 4.6.4 requires 20 seconds or more. */
const MAX_MS = 20_000;
const RESERVE_MS = 700;
const MAX_RECORD = 2_000;

/** Explains raw headers. It only uses the network for DNS lookups of today's SPF result of the delivering host. */
export const emailHeader = implement(contract, async (net, { headers }) => {
  const now = net.now();
  if (Buffer.byteLength(headers) > MAX_HEADERS_BYTES) {
    return { status: "invalid", field: "headers", message: `must have ${MAX_HEADERS_BYTES} octets or fewer` };
  }
  const addresses = await runAnalysis(net, hopAddressesAnalysis, headers);
  if (addresses.status !== "ok") return addresses;
  const locate = locateBy(net.data);
  const places = new Map(addresses.data.map((ip) => [ip, locate(ip)]));
  const analysed = await runAnalysis(net, emailHeaderAnalysis, { headers, now, places });
  if (analysed.status !== "ok") return analysed;
  const { anomalies: _anomalies, ...rows } = analysed.data;
  const spf = await evaluateSpfToday(net, rows);
  const all = boundFindings([...headerFindings(analysed.data), ...spfNowFindings(spf.result)], MAX_FINDINGS);
  const findings = leading(all.findings, MAX_FINDINGS_BYTES);
  const cut = findings.length < all.findings.length ? [`The first ${findings.length} findings are listed.`] : [];
  const isPlaced = analysed.data.hops.some(({ ip_geo: place }) => place !== null);
  const source = ["headers", ...(isPlaced ? ["geo"] : []), ...(spf.result === null ? [] : ["dns"])];
  return ok({
    ...rows,
    dkim_signatures: rows.dkim_signatures.map(({ other_issues: _otherIssues, ...row }) => withoutIssues(row)),
    arc_chain:
      rows.arc_chain === null
        ? null
        : { ...withoutIssues(rows.arc_chain), sets: rows.arc_chain.sets.map(withoutIssues) },
    list_unsubscribe: rows.list_unsubscribe === null ? null : withoutIssues(rows.list_unsubscribe),
    spf_now: spf.result,
    findings,
    source,
    observed_at: now.toISOString(),
    limitations: [...rows.limitations, ...spf.limitations, ...all.limitations, ...cut],
  });
});

function withoutIssues<T extends { issues: string[] }>({ issues: _issues, ...row }: T): Omit<T, "issues"> {
  return row;
}

/** Returns a function that locates addresses with the operator's databases. */
function locateBy(data: DataPort): Locate {
  return (ip) => {
    const place = data.geo(ip)?.place ?? null;
    const owner = data.asn(ip)?.owner ?? null;
    if (place === null && owner === null) return null;
    return {
      country: place?.country?.code ?? null,
      city: place?.city ?? null,
      asn: owner?.asn ?? null,
      as_name: owner?.as_name ?? null,
    };
  };
}

/** Evaluates SPF for the host that delivered the message. Skips addresses and names of local networks. */
async function evaluateSpfToday(net: Net, rows: DeliveryRows): Promise<SpfToday> {
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
