import { existing, fact } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { describeDane, describeTargets, mailHostNames, mailHostTable, whyNoMail } from "#shared/tools/mx/mail-hosts.ts";
import { counted, yesNo } from "#shared/presentation/values.ts";
import { verdictOf, worst } from "#shared/presentation/verdict.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { mx as contract } from "#shared/tools/mx/contract.ts";

type Mx = ResultOf<typeof contract>;

const MOST_HOSTS = 4;

/** mx: where mail for a domain goes and whether it arrives, then each mail host with its addresses. */
export const mx = definePresenter(contract, (data) => {
  const { null_mx: refuses, mta_sts: sts, tls_rpt: reports, findings } = data;
  const hosts = mailHostNames(data);
  return {
    verdict: worst([verdictOf(findings), isUnknown(data) ? "warning" : refuses === true ? "neutral" : "good"]),
    headline: headlineOf(data, hosts),
    facts: existing(
      fact(
        "Mail hosts",
        hosts.length > 0 ? listFirst(hosts, MOST_HOSTS) : refuses === true ? "none: accepts no mail" : null,
      ),
      fact("Provider", data.provider),
      fact("IPv6", yesNo(hosts.length === 0 ? null : data.ipv6)),
      fact("DANE", describeDane(data)),
      fact("MTA-STS", sts.present === null ? null : sts.present ? "announced" : "not announced"),
      fact("TLS reports to", reports.valid === null ? null : describeTargets(reports.valid ? reports.rua : [])),
      fact("Lookup", data.status === "NOERROR" ? null : data.status, { tone: "bad" }),
    ),
    tables: existing(mailHostTable(data)),
  };
});

/** The lookup of the MX records failed, which says nothing about them. */
function isUnknown({ status, null_mx: refuses }: Mx): boolean {
  return refuses === null && status !== "NXDOMAIN";
}

function headlineOf(data: Mx, hosts: readonly string[]): string {
  const { domain, status, provider, findings } = data;
  const why = whyNoMail(findings);
  if (status === "NXDOMAIN") return `${domain} does not exist, so it receives no mail`;
  if (isUnknown(data)) return `The mail hosts of ${domain} cannot be looked up: ${status}`;
  if (why !== null) return `Mail to ${domain} does not arrive: ${why}`;
  if (data.null_mx === true) return `${domain} accepts no mail, as its DNS declares`;
  const bogus = findings.find(({ id }) => id === "tlsa-bogus");
  if (bogus !== undefined)
    return `Some senders deliver no mail to ${domain}: DANE of ${bogus.where ?? "a mail host"} is invalid`;
  if (data.implicit_mx === true) return `${domain} has no mail hosts of its own: mail goes to its web address`;
  const place = provider === null ? listFirst(hosts, 1) : `${provider} (${counted(hosts.length, "mail host")})`;
  return `Mail to ${domain} goes to ${place}`;
}
