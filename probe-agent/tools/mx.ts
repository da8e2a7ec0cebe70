import { ok } from "#shared/outcome.ts";
import { mx as contract } from "#shared/tools/mx.ts";
import { createLookUp } from "#probe-agent/sources/look-up.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { lookAtMtaStsRecord, lookAtTlsRpt, silences } from "#probe-agent/tools/mx/announcements.ts";
import { lookAtRouting } from "#probe-agent/tools/mx/routing.ts";

/** Mail exchangers: all questions at once; a resolver that fails makes parts unknown, never absent. */
export const mx = implement(contract, async (net, { domain }) => {
  const observedAt = net.now().toISOString();
  const lookUp = createLookUp(net);
  const [{ routing: found, limitations }, mtaSts, tlsRpt] = await Promise.all([
    lookAtRouting(net, lookUp, domain),
    lookAtMtaStsRecord(lookUp, domain),
    lookAtTlsRpt(lookUp, domain),
  ]);
  const { issues, ...routing } = found;
  const cymru = routing.records.some(({ addresses }) => addresses.some(({ asn }) => asn !== null));
  return ok({
    domain,
    ...routing,
    mta_sts: mtaSts,
    tls_rpt: tlsRpt,
    issues: [...issues, ...mtaSts.issues, ...tlsRpt.issues],
    source: cymru ? ["dns", "cymru"] : ["dns"],
    observed_at: observedAt,
    limitations: [
      ...silences(lookUp),
      ...limitations,
      "Whether the hosts answer and offer STARTTLS was not tried; smtp-test does.",
    ],
  });
});
