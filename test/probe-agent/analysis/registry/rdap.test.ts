import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readIpNetwork } from "#probe-agent/analysis/registry/rdap.ts";

const answer = JSON.parse(
  readFileSync(new URL("../../../fixtures/rdap/ip-network.json", import.meta.url), "utf8"),
) as Record<string, unknown>;

function withFields(fields: Record<string, unknown>): Record<string, unknown> {
  return { ...answer, ...fields };
}

function registrant(handle: string, ...properties: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return {
    objectClassName: "entity",
    handle,
    roles: ["registrant"],
    vcardArray: ["vcard", properties.map(([name, value]) => [name, {}, "text", value])],
  };
}

function organization(...entities: readonly unknown[]): string | null | undefined {
  return readIpNetwork(withFields({ entities }), "8.8.8.8")?.network.organization;
}

describe("a registry's answer about an address", () => {
  it("is read with its dates in UTC, its organization and its abuse address", () => {
    expect(readIpNetwork(answer, "8.8.8.8")).toEqual({
      cidr: "8.8.8.0/24",
      network: {
        handle: "NET-8-8-8-0-2",
        name: "EXAMPLE-DNS",
        type: "DIRECT ALLOCATION",
        start_address: "8.8.8.0",
        end_address: "8.8.8.255",
        cidrs: ["8.8.8.0/24"],
        parent_handle: "NET-8-0-0-0-0",
        country: "US",
        organization: "Example Networks LLC",
        status: ["active"],
        registered_at: "1990-12-31T23:59:59.000Z",
        changed_at: "2020-02-29T10:00:00.000Z",
        abuse_email: "abuse@example.net",
        port43: "whois.arin.net",
      },
    });
  });

  it("computes the blocks if the registry does not state them, and names the one that contains the address", () => {
    const fields = { cidr0_cidrs: undefined, startAddress: "8.8.0.0", endAddress: "8.8.130.255" };
    const finding = readIpNetwork(withFields(fields), "8.8.129.1");
    expect(finding?.network.cidrs).toEqual(["8.8.0.0/17", "8.8.128.0/23", "8.8.130.0/24"]);
    expect(finding?.cidr).toBe("8.8.128.0/23");
  });

  it("does not trust a stated block that does not contain the address", () => {
    const cidr0 = [{ v4prefix: "9.9.9.0", length: 24 }, { v4prefix: "x", length: {} }, null];
    expect(readIpNetwork(withFields({ cidr0_cidrs: cidr0 }), "8.8.8.8")?.cidr).toBe("8.8.8.0/24");
  });

  it("reads IPv6", () => {
    const fields = {
      startAddress: "2001:DB8::",
      endAddress: "2001:db8:0:ffff:ffff:ffff:ffff:ffff",
      cidr0_cidrs: [{ v6prefix: "2001:db8::", length: 48 }],
    };
    expect(readIpNetwork(withFields(fields), "2001:db8::1")?.cidr).toBe("2001:db8::/48");
  });

  it.each([
    ["an error", { errorCode: 404, title: "Not found", objectClassName: undefined }],
    ["another object", { objectClassName: "domain" }],
    ["a block the address is not in", { startAddress: "8.8.9.0", endAddress: "8.8.9.255" }],
    ["a range backwards", { startAddress: "8.8.8.255", endAddress: "8.8.8.0" }],
    ["the whole address space", { startAddress: "0.0.0.0", endAddress: "255.255.255.255" }],
    ["an address of the other version", { startAddress: "::", endAddress: "::ffff" }],
    ["no addresses", { startAddress: 8, endAddress: null }],
  ])("is null for %s", (_, fields) => {
    expect(readIpNetwork(withFields(fields), "8.8.8.8")).toBeNull();
  });

  it.each([[null], [[]], ["text"], [7], [undefined]])("is null for %j", (value) => {
    expect(readIpNetwork(value, "8.8.8.8")).toBeNull();
  });

  it("is null in every field that the registry fills with a value of the wrong type", () => {
    const odd = {
      handle: {},
      name: [],
      type: 7,
      country: "USA",
      status: "active",
      events: "x",
      entities: 1,
      port43: "",
    };
    expect(readIpNetwork(withFields(odd), "8.8.8.8")?.network).toMatchObject({
      handle: null,
      name: null,
      type: null,
      country: null,
      status: [],
      registered_at: null,
      organization: null,
      abuse_email: null,
      port43: null,
    });
  });

  it("limits and cleans its texts", () => {
    const name = `A\u0000\r\nB ${"x".repeat(100_000)}`;
    const read = readIpNetwork(withFields({ name }), "8.8.8.8")?.network.name;
    expect(read?.startsWith("A B x")).toBe(true);
    expect(read?.length).toBeLessThanOrEqual(300);
  });
});

describe("the organization", () => {
  it("is the ORG of a card rather than its name, and its first part if it has units", () => {
    expect(organization(registrant("A", ["fn", "Role"], ["org", "Example Inc."]))).toBe("Example Inc.");
    expect(organization(registrant("A", ["fn", "Role"], ["org", ["Example Inc.", "Unit"]]))).toBe("Example Inc.");
  });

  it("is a registrant that is an organization rather than one that is not", () => {
    const person = registrant("P", ["fn", "Jane Doe"], ["kind", "individual"]);
    expect(organization(person, registrant("O", ["fn", "Example Inc."], ["kind", "org"]))).toBe("Example Inc.");
    expect(organization(person)).toBe("Jane Doe");
  });

  it("is never a maintainer object or another role's entity, and is null without a registrant", () => {
    expect(organization(registrant("EXAMPLE-MNT", ["fn", "EXAMPLE-MNT"], ["kind", "org"]))).toBeNull();
    expect(organization(registrant("MNT-EXAMPLE", ["fn", "MNT-EXAMPLE"]))).toBeNull();
    expect(organization({ ...registrant("T", ["fn", "Tech"]), roles: ["technical"] })).toBeNull();
    expect(organization()).toBeNull();
  });

  it("is read from cards of any shape and from endlessly nested entities without an error", () => {
    const shapes = [null, "card", [], ["vcard"], ["vcard", "x"], ["vcard", [null, [], ["fn"], ["fn", {}, "text", {}]]]];
    expect(organization(...shapes.map((vcardArray) => ({ roles: ["registrant"], vcardArray })), null, 7)).toBeNull();
    const under = (inner: unknown) => ({ roles: [], entities: [inner] });
    const reachable = under(under(under(registrant("NEAR", ["fn", "Deep enough"]))));
    expect([organization(reachable), organization(under(reachable))]).toEqual(["Deep enough", null]);
    let nested: Record<string, unknown> = registrant("DEEP", ["fn", "Too deep"]);
    for (let depth = 0; depth < 5000; depth += 1) nested = { roles: [], entities: [nested, nested] };
    expect(organization(nested)).toBeNull();
  });
});
