import type { Services } from "#probe-agent/toolkit/net.ts";

/** The discard port has no listener, so this source never answers. */
const NOBODY = "http://127.0.0.1:9";

/** Returns outside sources of which none answers, except those that a test sets. */
export function testServices(given: Partial<Services> = {}): Services {
  return {
    rdapBootstrapUrl: NOBODY,
    whoisServer: { host: "127.0.0.1", port: 9 },
    cymruZones: { origin: "origin.test", origin6: "origin6.test", asn: "asn.test" },
    waybackUrl: NOBODY,
    waybackCdxUrl: NOBODY,
    psiUrl: NOBODY,
    psiKey: null,
    greencheckUrl: NOBODY,
    pdnsUrl: null,
    ...given,
  };
}
