import { domainToASCII } from "node:url";
import { monitorDomain } from "#shared/monitor-checks/monitor-domain.ts";
import { registeredDomain } from "#shared/internet/registrable-domain.ts";
import { registrationOf } from "#control-plane/outages/kinds/expiring.ts";
import { DOMAIN_TARGET, PROBE, PROBED, problem, type Kind } from "#control-plane/outages/kinds/kind.ts";

/** The registration of a domain. */
export const domain = {
  ...PROBED,
  label: "Domain",
  watches: "registration of a domain",
  target: DOMAIN_TARGET,
  findConflict: ({ url }) =>
    // People type a final dot after a name.
    registeredDomain(domainToASCII(url.trim().replace(/\.$/, ""))) === null
      ? problem("url", "type", "must be a domain that is registered at a registry, such as example.org")
      : null,
  expires: (url) => registrationOf(url.trim()),
  // Registries are asked gently: their answer is the same from everywhere.
  evidence: { ...PROBED.evidence, isTraced: false, isAskedElsewhere: false },
  probe: { ...PROBE, contract: monitorDomain, params: (url) => ({ domain: url }), judgedBy: "registry" },
} as const satisfies Kind<null>;
