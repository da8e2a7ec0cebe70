import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { dns } from "#shared/tools/dns/contract.ts";

type Dns = ResultOf<typeof dns>;

/** Presents the example with each answer changed; `findings` are those of the changed answers. */
function answering(change: (answer: Dns["results"][number]) => object, findings: Dns["findings"] = []) {
  return presentExample(dns, ({ results }) => ({
    results: results.map((one) => ({ ...one, ...change(one) })),
    dnssec: null,
    findings,
  }));
}

const SERVFAIL = { id: "servfail", severity: "critical", message: "SERVFAIL", how: null, reference: null, where: null };

describe("the presentation of dns", () => {
  it("says what the name resolves to, and shows the records with their times to live", () => {
    const shown = presentExample(dns);
    expect(shown.headline).toBe("shop.test resolves to 127.80.0.1, with 1 MX and 2 TXT records");
    expect(shown.tables[0]?.rows[2]?.cells).toEqual(["TXT", "300", "v=spf1 mx -all"]);
    expect(factOf(shown, "DNSSEC")).toBe("valid");
  });

  it("answers a question for one type with its data", () => {
    const only = (type: string) =>
      presentExample(dns, ({ results }) => ({ results: results.filter((one) => one.type === type) })).headline;
    expect(only("MX")).toBe("shop.test MX: 10 mail.shop.test");
    expect(only("TXT")).toBe("shop.test TXT: v=spf1 mx -all, site-verification=3f9c1d");
  });

  it("is bad where the name does not exist, and says how long that is remembered", () => {
    const soa = { name: "test", ttl: 120, type: "SOA", data: "", mname: "ns.test", rname: "admin.test", serial: 1 };
    const authority_soa = { ...soa, refresh: 1, retry: 1, expire: 1, minimum: 600 };
    const shown = answering(() => ({ status: "NXDOMAIN", records: [], authority_soa }));
    expect(shown).toMatchObject({ verdict: "bad", headline: "shop.test does not exist in the DNS" });
    expect(factOf(shown, "Absence is cached for")).toBe("2 min");
  });

  it("does not judge that a name has no records of the types", () => {
    const shown = answering(() => ({ records: [] }));
    expect(shown).toMatchObject({ verdict: "neutral", headline: "shop.test exists, but has no A, MX and TXT records" });
    expect(shown.tables[0]?.rows[0]?.cells).toEqual(["A", "no records"]);
  });

  it("says that an address is missing, and whose name does not exist behind an alias", () => {
    const bare = answering(({ type }) => (type === "A" ? { records: [] } : {}));
    expect(bare.headline).toBe("shop.test has no A record, but 1 MX and 2 TXT records");
    const alias = answering(() => ({ status: "NXDOMAIN", records: [], cname_chain: ["gone.test"] }));
    expect(alias.headline).toBe("shop.test is an alias of gone.test, which does not exist");
  });

  it("tells failures, refusals and silence apart", () => {
    const all = (status: string, findings: Dns["findings"] = []) =>
      answering(() => ({ status, records: [], rtt_ms: null }), findings);
    expect(all("SERVFAIL", [SERVFAIL] as Dns["findings"])).toMatchObject({
      verdict: "bad",
      headline: "shop.test cannot be looked up: A SERVFAIL, MX SERVFAIL and TXT SERVFAIL",
    });
    expect(all("REFUSED")).toMatchObject({
      verdict: "warning",
      headline: "The resolver refuses to answer for shop.test",
    });
    expect(all("TIMEOUT").headline).toBe("The resolver gives no answer for shop.test");
    expect(factOf(all("TIMEOUT"), "Response time")).toBeNull();
  });

  it("names the types that fail beside those that are answered", () => {
    const shown = answering(({ type }) => (type === "MX" ? { status: "SERVFAIL", records: [] } : {}));
    expect(shown.headline).toBe("shop.test resolves to 127.80.0.1, with 2 TXT records, but MX cannot be looked up");
    expect(shown.facts[0]).toEqual({ label: "Failing", value: "MX (SERVFAIL)", tone: "bad" });
  });
});
