import { Compile } from "typebox/compile";
import { describe, expect, it } from "vitest";
import { dns as contract } from "#shared/tools/dns/contract.ts";
import { dns } from "#probe-agent/tools/dns/dns.ts";
import { startDnsServer, type DnsServerOptions } from "#test/servers/dns.ts";
import { dnsPort, jobLimits, netOf } from "#test/support/net.ts";
import { closeAfterEach } from "#test/support/close-after-each.ts";

const schema = Compile(contract.result);
const SIGNATURE = "13 2 300 20300101000000 20250101000000 4711 example.test. AAAA";
const ROOT_NS = { NS: ["a.root-servers.test."], RRSIG: ["NS 8 0 518400 20300101000000 20250101000000 20326 . AAAA"] };
const UNSIGNED = { "example.test": { SOA: ["ns1.example.test. h.example.test. 1 2 3 4 5"], A: ["192.0.2.1"] } };
const SIGNED = {
  "example.test": { ...UNSIGNED["example.test"], RRSIG: [`A ${SIGNATURE}`, `SOA ${SIGNATURE}`] },
};
const root = { ".": ROOT_NS };

const keep = closeAfterEach();

async function run(
  options: DnsServerOptions,
  types: readonly ("A" | "SOA" | "MX")[] = ["A", "SOA"],
  deadlineMs = 9_000,
) {
  const server = keep(await startDnsServer(options));
  const limits = jobLimits(deadlineMs);
  const net = netOf({ dns: dnsPort([server.address], { limits }) }, limits);
  const outcome = await dns.run(net, { domain: "example.test", types, dnssec: true });
  if (outcome.status !== "ok" || outcome.data.dnssec === null) throw new Error("no DNSSEC verdict");
  expect([...schema.Errors(outcome.data)]).toEqual([]);
  return { ...outcome.data.dnssec, data: outcome.data, server };
}

describe("dnssec=1", () => {
  it("is secure if the resolver validated every answer", async () => {
    const verdict = await run({ zones: SIGNED, behaviours: { "*": { authentic: true } } });
    expect(verdict).toMatchObject({ status: "secure", validated_by: "resolver_ad" });
    expect(verdict.data.results.map(({ flags }) => flags.ad)).toEqual([true, true]);
  });

  it("shows the records asked for, not their signatures", async () => {
    const { data, server } = await run({ zones: SIGNED, behaviours: { "*": { authentic: true } } });
    expect(data.records.A).toEqual(["192.0.2.1"]);
    expect(server.queries.length).toBeGreaterThan(2);
    expect(server.queries.every(({ message }) => message.edns?.dnssecOk === true)).toBe(true);
  });

  it("is bogus if SERVFAIL becomes an answer once checking is disabled, with the resolver's reason", async () => {
    const bogus = { status: "SERVFAIL", unlessChecked: true, ede: [{ code: 7, text: "expired" }] };
    const verdict = await run({ zones: SIGNED, behaviours: { "example.test/A": bogus } });
    expect(verdict).toMatchObject({ status: "bogus", validated_by: "resolver_ad" });
    expect(verdict.reasons[0]).toBe("A: SERVFAIL, but NOERROR with checking disabled; Signature Expired (7): expired");
    expect(verdict.data.results[0]).toMatchObject({ type: "A", status: "SERVFAIL", flags: { cd: false } });
  });

  it("is insecure if a validating resolver found that the zone is not signed", async () => {
    const verdict = await run({ zones: { ...UNSIGNED, ...root }, behaviours: { ".": { authentic: true } } });
    expect(verdict).toMatchObject({ status: "insecure", validated_by: "resolver_ad" });
    expect(verdict.reasons[0]).toBe("The resolver validates and found that the zone is not signed");
  });

  it("is insecure if a validating resolver has no chain of trust to a signed zone", async () => {
    const verdict = await run({ zones: { ...SIGNED, ...root }, behaviours: { ".": { authentic: true } } });
    expect(verdict).toMatchObject({ status: "insecure", validated_by: "resolver_ad" });
    expect(verdict.reasons.join()).toContain("no DS record");
  });

  it("is insecure without validation if signatures would be passed on but are missing", async () => {
    const verdict = await run({ zones: { ...UNSIGNED, ...root } });
    expect(verdict).toMatchObject({ status: "insecure", validated_by: null });
    expect(verdict.reasons.join()).toContain("not proven");
  });

  it("is insecure if only part of the answers is validated", async () => {
    const verdict = await run({ zones: SIGNED, behaviours: { "example.test/SOA": { authentic: true } } });
    expect(verdict).toMatchObject({ status: "insecure", validated_by: "resolver_ad" });
    expect(verdict.reasons[0]).toContain("not A:");
  });

  it.each([
    ["gives signatures but does not validate", { zones: { ...SIGNED, ...root } }, "does not validate"],
    [
      "knows nothing of DNSSEC",
      { zones: UNSIGNED, behaviours: { "*": { edns: "ignore" as const } } },
      "does not validate and does not pass signatures on",
    ],
    ["refuses", { behaviours: { "*": { status: "REFUSED" } } }, "A: REFUSED"],
    [
      "fails with and without checking",
      { behaviours: { "*": { status: "SERVFAIL" } } },
      "SERVFAIL with checking disabled",
    ],
  ])("is indeterminate where the resolver %s", async (_what, options, reason) => {
    const verdict = await run(options);
    expect(verdict).toMatchObject({ status: "indeterminate", validated_by: null });
    expect(verdict.reasons.join()).toContain(reason);
  });

  it("is indeterminate if no resolver answers", async () => {
    const verdict = await run({ behaviours: { "*": { drop: true } } }, ["A"], 500);
    expect(verdict).toMatchObject({ status: "indeterminate", validated_by: null, reasons: ["A: TIMEOUT"] });
  });

  it("names the kind of denial in the answer", async () => {
    const nsec = { zones: SIGNED, behaviours: { "*": { authentic: true } } };
    expect((await run(nsec, ["MX"])).denial).toBeNull();
    const denying = (type: string, data: string) => ({ ...nsec, denial: { type, data } });
    expect((await run(denying("NSEC", "a.example.test. A RRSIG NSEC"), ["MX"])).denial).toBe("nsec");
    const nsec3 = "1 0 0 - 2VPTU5TIMAMQTTGL4LUU9KG21E0AOR3S A RRSIG";
    expect((await run(denying("NSEC3", nsec3), ["MX"])).denial).toBe("nsec3");
  });
});
