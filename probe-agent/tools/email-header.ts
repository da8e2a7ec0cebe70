import { ok } from "#shared/outcome.ts";
import { emailHeader as contract } from "#shared/tools/email-header.ts";
import { MAX_HEADERS_BYTES } from "#shared/tools/email-header/limits.ts";
import { headerFindings, spfNowFindings } from "#probe-agent/analysis/mail/email-headers/findings.ts";
import type { Locate } from "#probe-agent/analysis/mail/email-headers/received/hops.ts";
import { boundFindings } from "#probe-agent/analysis/mail/remarks.ts";
import { leading } from "#probe-agent/analysis/text/json-size.ts";
import type { DataPort } from "#probe-agent/toolkit/data.ts";
import { runAnalysis } from "#probe-agent/sources/run-analysis.ts";
import { evaluateSpfToday } from "#probe-agent/tools/email-header/spf-now.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Maximum number of findings in a result. One finding with its advice has about 600 octets. */
const MAX_FINDINGS = 60;
const MAX_FINDINGS_BYTES = 40_000;

/** Explains raw headers. It only uses the network for DNS lookups of today's SPF result of the delivering host. */
export const emailHeader = implement(contract, async (net, { headers }) => {
  const now = net.now();
  if (Buffer.byteLength(headers) > MAX_HEADERS_BYTES) {
    return { status: "invalid", field: "headers", message: `must have ${MAX_HEADERS_BYTES} octets or fewer` };
  }
  const addresses = await runAnalysis(net, "email-addresses", headers);
  if (addresses.status !== "ok") return addresses;
  const locate = locateBy(net.data);
  const places = new Map(addresses.data.map((ip) => [ip, locate(ip)]));
  const analysed = await runAnalysis(net, "email-header", { headers, now, places });
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
