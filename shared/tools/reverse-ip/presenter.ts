import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { reverseNameFact } from "#shared/presentation/reverse-name.ts";
import { counted, date, yesNo } from "#shared/presentation/values.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { reverseIp as contract } from "#shared/tools/reverse-ip/contract.ts";

type ReverseIp = ResultOf<typeof contract>;

const MOST_NAMED = 3;

const SOURCES = {
  ptr: "reverse DNS",
  observation: "checks of this service",
  certificate: "certificate",
  provider: "passive DNS",
} as const;

/** reverse-ip: how many names are known at an address and which of them still lead to it. */
export const reverseIp = definePresenter(contract, (data, now) => {
  const { ptr, fcrdns, certificate, domains, cdn } = data;
  const current = domains.filter(({ still_resolves: resolves }) => resolves === true).length;
  return {
    verdict: "neutral",
    headline: headlineOf(data, current),
    facts: existing(
      fact("Names", data.total),
      fact("Lead here now", current),
      fact("Domains", data.registrable_domains),
      reverseNameFact({ name: listFirst(ptr, MOST_NAMED), exists: null, leadsBack: fcrdns }),
      fact("Shared by customers", yesNo(data.shared_hosting_hint)),
      fact("Content network", cdn),
      fact("Certificate", certificate === null ? null : (certificate.subject ?? counted(certificate.names, "name"))),
      fact("Certificate ends", certificate === null ? null : date(certificate.not_after, now), {
        tone: certificate !== null && certificate.days_left < 0 ? "bad" : null,
      }),
      fact("Sources", data.sources_used.map((source) => SOURCES[source]).join(", ")),
      fact("Complete", "no: no source knows every name of an address"),
    ),
    tables: existing(
      table(
        "Names",
        ["Name", "Leads here", "Source", "First seen", "Last seen"],
        domains.map(({ domain, source, first_seen: first, last_seen: last, still_resolves: resolves }) => [
          domain,
          yesNo(resolves) ?? "not known",
          SOURCES[source],
          first?.slice(0, 10),
          last?.slice(0, 10),
        ]),
        data.total,
      ),
    ),
  };
});

function headlineOf({ ip, total, domains, cdn }: ReverseIp, current: number): string {
  const network = cdn === null ? "" : ` of the content network ${cdn}`;
  if (total === 0) return `No name is known at ${ip}${network}`;
  const isCertain = domains.length === total && domains.every(({ still_resolves: resolves }) => resolves !== null);
  const some = `${isCertain ? "" : "at least "}${current}`;
  return `${ip}${network}: ${counted(total, "name")} known, ${some} of them ${current === 1 ? "leads" : "lead"} here now`;
}
