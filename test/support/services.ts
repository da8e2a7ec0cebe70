import type { Services } from "#probe-agent/toolkit/net.ts";

/** Nothing listens on the discard port: a source nobody answers at. */
const NOBODY = "http://127.0.0.1:9";

/** Outside sources of which none answers, but for those a test puts in. */
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
