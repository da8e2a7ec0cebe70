import { ok, type Outcome } from "#shared/contracts/outcome.ts";
import { whois as contract } from "#shared/tools/whois/contract.ts";
import { readResource } from "#probe-agent/analysis/network/number-resource.ts";
import { domainSubject, type DomainSubject } from "#probe-agent/tools/whois/subject.ts";
import { implement, type Untimed } from "#probe-agent/tools/implement.ts";
import { rawOf, type Found, type Result } from "#probe-agent/tools/whois/answer.ts";
import { lookUpDomain } from "#probe-agent/tools/whois/domain.ts";
import { daysLeft, NO_REGISTRATION, privacyOf } from "#probe-agent/tools/whois/registration.ts";
import { lookUpNumber } from "#probe-agent/tools/whois/number.ts";
import { registrationFindings } from "#probe-agent/tools/whois/findings.ts";

/**
 * Looks up a registration with WHOIS and RDAP. Fails if no registry answers, because then there is nothing to report.
 */
export const whois = implement(contract, async (net, { host }): Promise<Outcome<Untimed<Result>>> => {
  const observedAt = net.now();
  const resource = readResource(host);
  if (resource === null) {
    return {
      status: "invalid",
      field: "host",
      message: "must be a registered domain name, IP address or AS number",
    };
  }
  const subject = resource.kind === "domain" ? domainSubject(resource.name) : resource;
  const lookup = subject.kind === "domain" ? await lookUpDomain(net, subject) : await lookUpNumber(net, subject);
  if (!lookup.ok) return lookup.failure;
  return ok({
    host,
    kind: resource.kind,
    ...describe(lookup.found, subject.kind === "domain" ? subject : null, observedAt),
    observed_at: observedAt.toISOString(),
  });
});

function describe(
  found: Found,
  subject: DomainSubject | null,
  now: Date,
): Omit<Result, "host" | "kind" | "observed_at" | "elapsed_ms"> {
  const facts = found.facts ?? NO_REGISTRATION;
  const left = daysLeft(facts.expires, now);
  const privateSuffix = subject?.privateSuffix ?? null;
  return {
    domain: subject?.name ?? null,
    unicode: subject?.unicode ?? null,
    public_suffix: subject?.suffix ?? null,
    private_suffix: privateSuffix,
    registered: found.registered,
    state: found.state,
    rdap_server: found.rdapServer ?? null,
    whois_server: found.whoisServer ?? null,
    ...facts,
    days_left: left,
    findings:
      subject === null || found.registered !== true
        ? []
        : registrationFindings({ name: subject.name, ...facts, days_left: left }),
    privacy: privacyOf(facts),
    network: found.network ?? null,
    autnum: found.autnum ?? null,
    ...rawOf(found.raw),
    servers: found.servers,
    source: found.source,
    limitations: [
      ...found.limitations,
      ...(privateSuffix === null
        ? []
        : [
            `The owner of ${privateSuffix} gives out the names below it, so the registration shown is that of ${subject?.name}.`,
          ]),
    ],
  };
}
