import { Compile } from "typebox/compile";
import { describe, expect, it } from "vitest";
import { IANA_ANCHORS } from "#probe-agent/analysis/dns/trust-anchors.ts";
import type { Reply } from "#probe-agent/tools/dns/dnssec/session.ts";
import type { TrustAnchor } from "#probe-agent/port/dns.ts";
import { dns } from "#probe-agent/tools/dns/dns.ts";
import { dns as contract } from "#shared/tools/dns/contract.ts";
import type { ParamsOf } from "#shared/tools/define.ts";
import type { Behaviour } from "#test/servers/dns-reply.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { answerFrom, matching3, withSignatures } from "#test/servers/dnssec/answer.ts";
import { makeBranches } from "#test/servers/dnssec/branches.ts";
import { grow } from "#test/servers/dnssec/grow.ts";
import { only, without } from "#test/servers/dnssec/tamper.ts";
import { anchorsOf, BIND_ZONES, type Tamper } from "#test/servers/dnssec/tree.ts";
import { fixtureZone, type Zone } from "#test/servers/dnssec/zone.ts";
import { dnsPort, jobLimits, netOf } from "#test/support/net.ts";
import { closeAfterEach } from "#test/support/close-after-each.ts";

const schema = Compile(contract.result);
const TYPES = ["A", "MX", "SOA", "TXT", "NS", "AAAA", "CNAME"] as const;
const BIND_ANCHORS = anchorsOf(fixtureZone("root"));
const keep = closeAfterEach();

interface Scene {
  readonly zones?: readonly Zone[];
  readonly anchors?: readonly TrustAnchor[];
  readonly tamper?: Tamper;
  readonly behaviours?: Readonly<Record<string, Behaviour>>;
  readonly deadlineMs?: number;
}

async function run(domain: string, types: Readonly<ParamsOf<typeof contract>["types"]>, scene: Scene = {}) {
  const answer = (name: string, type: string) => {
    const reply: Reply = answerFrom(scene.zones ?? BIND_ZONES, name, type);
    const { status, answers, authority } = scene.tamper?.({ name: name.toLowerCase(), type }, reply) ?? reply;
    const code = (["NXDOMAIN", "YXDOMAIN"] as const).find((one) => one === status) ?? ("NOERROR" as const);
    return { status: code, answers, authority };
  };
  const server = keep(await startDnsServer({ answer, behaviours: scene.behaviours ?? { "*": { authentic: true } } }));
  const limits = jobLimits(scene.deadlineMs ?? 10_000);
  const ports = { dns: dnsPort([server.address], { limits }), trustAnchors: scene.anchors ?? BIND_ANCHORS };
  const outcome = await dns.run(netOf(ports, limits), { domain, types: [...types], dnssec: true });
  if (outcome.status !== "ok" || outcome.data.dnssec === null) throw new Error("no DNSSEC verdict");
  expect([...schema.Errors(outcome.data)]).toEqual([]);
  expect(JSON.stringify(outcome.data).length).toBeLessThan(256_000);
  return { verdict: outcome.data.dnssec, data: outcome.data, server };
}

describe("our own validation", () => {
  it("is secure with the whole chain, sending each question once, with the resolver's checking disabled", async () => {
    const { verdict, server } = await run("rsa.test", TYPES);
    expect(verdict).toMatchObject({
      status: "secure",
      validated_by: "local",
      denial: "nsec",
      resolver_ad: true,
      algorithms: ["RSASHA256", "ECDSAP256SHA256"],
    });
    expect(verdict.chain.map(({ zone, status }) => [zone, status])).toEqual([
      [".", "secure"],
      ["test", "secure"],
      ["rsa.test", "secure"],
    ]);
    expect(verdict.reasons).toEqual([
      "A, MX, SOA, TXT, NS: Signed by rsa.test",
      "AAAA, CNAME: rsa.test proves that rsa.test has no record of this type",
    ]);
    const chain = server.queries.filter(({ type }) => type === "DS" || type === "DNSKEY");
    const asked = chain
      .filter(({ transport }) => transport === "udp")
      .map(({ name, type }) => `${name.toLowerCase()} ${type}`);
    expect(asked.toSorted()).toEqual([...new Set(asked)].toSorted());
    expect(asked.length).toBeLessThan(20);
    expect(chain.every(({ message }) => message.flags.cd && message.edns?.dnssecOk === true)).toBe(true);
  });

  it.each([
    ["nope.ed.test", "secure", "nsec3"],
    ["x.wild.rsa.test", "secure", "nsec"],
    ["out.rsa.test", "insecure", null],
    ["web.unsigned.test", "insecure", null],
    ["www.plain", "insecure", null],
  ])("%s is %s (%s)", async (domain, status, denial) => {
    const { verdict } = await run(domain, ["TXT"], { behaviours: {} });
    expect(verdict).toMatchObject({ status, validated_by: "local", denial });
  });

  it("is secure for every default type at a name below a DNAME, including the alias that the server made", async () => {
    const { verdict, data } = await run("host.old.example", TYPES, makeBranches());
    expect(verdict).toMatchObject({ status: "secure", validated_by: "local", denial: "nsec" });
    expect(verdict.reasons).toEqual([
      "A, MX, SOA, TXT, NS, AAAA, CNAME: Signed by example",
      "MX, SOA, TXT, NS, AAAA: example proves that host.new.example has no record of this type",
    ]);
    expect(data.records["CNAME"]).toEqual(["host.new.example."]);
  });

  it("is secure if a DNAME makes the name too long, and sends no further questions", async () => {
    const deep = `${"d".repeat(60)}.${"d".repeat(60)}.long.example`;
    const { verdict, data, server } = await run(deep, ["A"], makeBranches());
    expect(data.results[0]).toMatchObject({ status: "YXDOMAIN", records: [] });
    expect(verdict).toMatchObject({ status: "secure", validated_by: "local" });
    expect(server.queries.filter(({ name, type }) => name.toLowerCase() === deep && type === "A")).toHaveLength(1);
  });

  it("is insecure for every default type at a name that an unsigned child does not have", async () => {
    const branches = makeBranches({ iterations: 0, salt: "", optOut: true });
    const parent = branches.zones.find(({ apex }) => apex === "example");
    if (parent === undefined) throw new Error("no zone");
    const authority = [...withSignatures(parent, "example", "SOA"), ...matching3(parent, "example")];
    const tamper: Tamper = ({ name, type }, reply) =>
      name.startsWith("none.") && type !== "DS" && type !== "DNSKEY" ? { ...reply, authority } : reply;
    const { verdict } = await run("none.unsigned.example", TYPES, { ...branches, tamper });
    expect(verdict).toMatchObject({ status: "insecure", validated_by: "local" });
  });

  it("explains a resolver's SERVFAIL: an expired signature, with the resolver's own reason", async () => {
    const grown = grow({ expiration: "20260101000000" });
    const behaviours = { "www.example/A": { status: "SERVFAIL", unlessChecked: true, ede: [{ code: 7, text: "" }] } };
    const { verdict, data } = await run("www.example", ["A"], { ...grown, behaviours });
    expect(verdict).toMatchObject({ status: "bogus", validated_by: "local", resolver_ad: null });
    expect(verdict.reasons.join("\n")).toMatch(
      /by example, key \d+ \(ECDSAP256SHA256\), expired at 2026-01-01T00:00:00Z/,
    );
    expect(verdict.reasons).toContain("A: SERVFAIL, but NOERROR with checking disabled; Signature Expired (7)");
    expect(data.results[0]).toMatchObject({ status: "SERVFAIL", ede: [{ code: 7, name: "Signature Expired" }] });
  });

  it("explains a DS record of another key", async () => {
    const grown = grow({ ds: `example. 3600 IN DS 4711 13 2 ${"AB".repeat(32)}` });
    const behaviours = { "www.example/A": { status: "SERVFAIL", unlessChecked: true, ede: [{ code: 9, text: "" }] } };
    const { verdict } = await run("www.example", ["A"], { ...grown, behaviours });
    expect(verdict.status).toBe("bogus");
    expect(verdict.reasons[0]).toContain("The DS records of example do not match the zone's keys: DS key tags 4711");
    expect(verdict.chain.at(-1)).toMatchObject({ zone: "example", status: "bogus", ds: [{ key_tag: 4711 }] });
  });

  it("leaves the verdict to the resolver if DNSSEC records are stripped, and says so", async () => {
    const tamper: Tamper = (_asked, reply) => ({
      ...reply,
      ...without("RRSIG", "DNSKEY", "DS", "NSEC", "NSEC3")(reply),
    });
    const { verdict } = await run("rsa.test", ["A"], { tamper });
    expect(verdict).toMatchObject({ status: "secure", validated_by: "resolver_ad", resolver_ad: true });
    expect(verdict.reasons.join("\n")).toContain("Not validated here: A: The resolver does not pass DNSSEC records on");
    const mute = await run("rsa.test", ["A"], { tamper, behaviours: {} });
    expect(mute.verdict).toMatchObject({ status: "indeterminate", validated_by: null });
  });

  it("is indeterminate with the resolver's reason if no trust anchor matches", async () => {
    const { verdict } = await run("rsa.test", ["A"], {
      anchors: [{ zone: "elsewhere", type: "DS", raw: new Uint8Array(36) }],
    });
    expect(verdict).toMatchObject({ status: "secure", validated_by: "resolver_ad" });
    expect(verdict.reasons.join("\n")).toContain("No trust anchor is at or above rsa.test");
  });

  it.each<[string, string, Scene, string]>([
    [
      "secure where the resolver is silent on it",
      "rsa.test",
      { behaviours: {} },
      "Our validation says secure, but the resolver does not confirm it (no AD)",
    ],
    [
      "bogus where the resolver vouches",
      "rsa.test",
      { anchors: IANA_ANCHORS },
      "Our validation says bogus, but the resolver confirms the answer as secure (AD)",
    ],
    [
      "insecure where the resolver vouches",
      "www.plain",
      {},
      "Our validation says insecure, but the resolver confirms the answer as secure (AD)",
    ],
    [
      "bogus where the resolver does not validate",
      "rsa.test",
      { behaviours: {}, tamper: only("rsa.test", "A", without("RRSIG")) },
      "the resolver returns the answer without validating it",
    ],
    [
      "secure where the resolver fails",
      "rsa.test",
      { behaviours: { "rsa.test/A": { status: "SERVFAIL", unlessChecked: true } } },
      "Our validation says secure, but the resolver fails",
    ],
  ])("says that it disagrees: %s", async (_what, domain, scene, reason) => {
    const { verdict } = await run(domain, ["A"], scene);
    expect(verdict.validated_by).toBe("local");
    expect(verdict.reasons.join("\n")).toContain(reason);
  });

  it("keeps to 60 queries for a name of a hundred labels", async () => {
    const labels = Array.from({ length: 100 }, () => "a").join(".");
    const { verdict, server } = await run(`${labels}.unsigned.test`, ["A"], { behaviours: {} });
    expect(verdict.status).toBe("insecure");
    const deep = await run(`${labels}.rsa.test`, ["A"], {
      behaviours: {},
      tamper: only(`${labels}.rsa.test`, "A", without("RRSIG", "NSEC")),
    });
    expect(deep.verdict.status).toBe("bogus");
    for (const { queries } of [server, deep.server]) {
      expect(queries.filter(({ transport }) => transport === "udp").length).toBeLessThan(70);
    }
  });

  it("keeps to the deadline if the chain is not answered, and says what is missing", async () => {
    const behaviours = { "test/DS": { drop: true as const }, "test/DNSKEY": { drop: true as const } };
    const { verdict } = await run("rsa.test", ["A"], { behaviours, deadlineMs: 1_500 });
    expect(verdict).toMatchObject({ status: "indeterminate", validated_by: null });
    expect(verdict.reasons.join("\n")).toContain("The DS records of test are not available: TIMEOUT");
  });

  it("shows the server's own identifier (NSID)", async () => {
    const named = await run("rsa.test", ["A"], { behaviours: { "*": { nsid: "fra1.resolver" } } });
    expect(named.data.results[0]?.nsid).toEqual({ text: "fra1.resolver", hex: "667261312e7265736f6c766572" });
    const octets = await run("rsa.test", ["A"], { behaviours: { "*": { nsid: "\u0001\u00ff" } } });
    expect(octets.data.results[0]?.nsid).toEqual({ text: null, hex: "01ff" });
    expect((await run("rsa.test", ["A"], { behaviours: {} })).data.results[0]?.nsid).toBeNull();
  });
});
