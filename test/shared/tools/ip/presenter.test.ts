import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { ip } from "#shared/tools/ip/contract.ts";

/** What is known about an address that no source knows. */
const NOTHING = {
  limitations: [],
  hostname: null,
  fcrdns: null,
  country: null,
  country_source: null,
  asn: null,
  asns: [],
  as_name: null,
  isp: null,
  organization: null,
  network: null,
  announced_prefix: null,
  registry: null,
  rdap: null,
  location: null,
  timezone: null,
  data: null,
  all_addresses: [],
};

describe("the presentation of ip", () => {
  it("says who holds the address and where it is, and judges nothing", () => {
    const shown = presentExample(ip);
    expect(shown.verdict).toBe("neutral");
    expect(shown.headline).toBe("dns.google (8.8.8.8) belongs to Google LLC, AS15169 GOOGLE, United States");
    expect(factOf(shown, "Reverse name")).toBe("dns.google (confirmed)");
    expect(factOf(shown, "Location (estimate)")).toBe("United States");
    expect(shown.tables[0]?.rows.map(({ cells }) => cells[1])).toEqual(["shown here", ""]);
  });

  it("does not call the country of a registration a location", () => {
    const shown = presentExample(ip, () => ({ country_source: "rir_registration", location: null, data: null }));
    expect(shown.headline).toContain(", registered in United States");
    expect(factOf(shown, "Registered in")).toBe("United States");
    expect(factOf(shown, "Location (estimate)")).toBeNull();
  });

  it("says what an address is for that is not on the internet", () => {
    const shown = presentExample(ip, () => ({ ...NOTHING, host: "10.0.0.1", ip: "10.0.0.1", type: "private" }));
    expect(shown.headline).toBe("10.0.0.1 is a private address: it exists only inside a network");
    expect(shown.facts).toEqual([{ label: "Address", value: "10.0.0.1" }]);
  });

  it("says that nothing is known, and marks a reverse name that does not lead back", () => {
    const unknown = presentExample(ip, () => ({ ...NOTHING, host: "192.0.2.1", ip: "192.0.2.1" }));
    expect(unknown.headline).toBe("192.0.2.1: nothing is known about this address");
    const mismatch = presentExample(ip, () => ({ fcrdns: false }));
    expect(mismatch.facts.find(({ label }) => label === "Reverse name")).toEqual({
      label: "Reverse name",
      value: "dns.google (does not lead back to the address)",
      tone: "warning",
    });
  });
});
