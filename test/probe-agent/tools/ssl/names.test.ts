import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { TrustAnchor } from "#probe-agent/port/dns.ts";
import type { Implementation } from "#probe-agent/tools/implement.ts";
import { ssl } from "#probe-agent/tools/ssl/ssl.ts";
import { startDnsServer, type DnsServerOptions } from "#test/servers/dns.ts";
import { answerFrom } from "#test/servers/dnssec/answer.ts";
import { signTree } from "#test/servers/dnssec/signed-tree.ts";
import type { Zone } from "#test/servers/dnssec/zone.ts";
import { createPki, type Issued } from "#test/servers/pki.ts";
import { parsed } from "#test/servers/signing.ts";
import { TLS_HOST } from "#test/servers/tls-variants.ts";
import { startTlsServer } from "#test/servers/tls.ts";
import type { SslResult } from "#test/support/ssl-status.ts";
import { resultOf } from "#test/support/tool.ts";
import { closeAfterEach } from "#test/support/close-after-each.ts";

const pki = await createPki();
const leaf = await pki.issue({ dns: [TLS_HOST] });
const keep = closeAfterEach();

/** Runs the tool with a DNS root that the test signed. */
function trusting(
  trustAnchors: readonly TrustAnchor[],
): Implementation<typeof ssl.contract.params.properties, typeof ssl.contract.result.properties> {
  return {
    contract: ssl.contract,
    run: (net, params, input) => ssl.run({ ...net, trustAnchors } satisfies Net, params, input),
  };
}

async function serve(certificate: Issued) {
  return keep(await startTlsServer({ chain: [certificate, pki.intermediate] }));
}

async function check(options: DnsServerOptions, port: number, host: string, anchors: readonly TrustAnchor[]) {
  const dns = keep(await startDnsServer(options));
  const setting = { dnsServers: [dns.address], roots: [pki.root.pem] };
  return await resultOf(trusting(anchors), { host, port }, setting);
}

/** Checks a server whose name is in a zone with these records; `_PORT` represents the port's TLSA owner name. */
async function inZone(
  records: readonly string[],
  {
    signed = true,
    forged = false,
    certificate = leaf,
  }: { signed?: boolean; forged?: boolean; certificate?: Issued } = {},
): Promise<SslResult> {
  const server = await serve(certificate);
  const owner = `_${server.port}._tcp.${TLS_HOST}.`;
  const lines = [`${TLS_HOST}. 3600 IN A 127.0.0.1`, ...records.map((line) => line.replace("_PORT", owner))];
  const { root, zone, anchors } = signTree("example", lines, signed);
  const zones: readonly Zone[] = [root, forged ? { ...zone, records: zone.records.map(forge) } : zone];
  const answer: DnsServerOptions["answer"] = (name, type) => answerFrom(zones, name, type);
  return await check({ answer }, server.port, TLS_HOST, anchors);
}

function forge(record: Zone["records"][number]): Zone["records"][number] {
  if (record.type !== "TLSA") return record;
  const raw = Uint8Array.from(record.raw);
  raw[raw.length - 1] = (raw.at(-1) ?? 0) ^ 1;
  return { ...record, raw };
}

/** Creates a TLSA record for a certificate's key by SHA-256. */
function tlsa(usage: number, certificate: Issued): string {
  const digest = createHash("sha256").update(parsed(certificate).spki).digest("hex");
  return `_PORT 3600 IN TLSA ${usage} 1 1 ${digest}`;
}

describe("DANE (RFC 6698, RFC 7671)", () => {
  it.each([
    [3, "the server's key", leaf],
    [2, "the intermediate sent", pki.intermediate],
    [1, "the server's key, and a trusted chain", leaf],
    [0, "the root of a trusted chain", pki.root],
  ])("holds by a signed record of usage %s: %s", async (usage, _what, certificate) => {
    const { dane, findings: list } = await inZone([tlsa(usage, certificate)]);
    expect(dane).toMatchObject({ valid: true, dnssec: "secure", tlsa_total: 1 });
    expect(dane?.tlsa).toMatchObject([{ usage, selector: 1, matching_type: 1, usable: true, matches: true }]);
    expect(list).toEqual([]);
  });

  it("is valid if one of several records matches, as during a key change", async () => {
    const { dane } = await inZone([tlsa(3, pki.root), tlsa(3, leaf)]);
    expect(dane).toMatchObject({ valid: true, tlsa_total: 2 });
    expect(dane?.tlsa.map(({ matches }) => matches).toSorted()).toEqual([false, true]);
  });

  it.each([
    ["no record matches", tlsa(3, pki.root), "secure"],
    ["the records fail validation", tlsa(3, leaf), "bogus"],
  ])("is invalid if %s", async (_what, record, dnssec) => {
    const result = await inZone([record], { forged: dnssec === "bogus" });
    expect(result.dane).toMatchObject({ valid: false, dnssec });
    if (dnssec === "bogus") expect(result.dane?.reason).toEqual(expect.any(String));
    expect(result.findings.map(({ id }) => id)).toEqual(["dane-mismatch"]);
    expect(result.trusted).toBe(true);
  });

  it("is ignored without signatures, regardless of the records", async () => {
    const result = await inZone([tlsa(3, pki.root)], { signed: false });
    expect(result.dane).toMatchObject({ valid: null, dnssec: "insecure", tlsa: [{ matches: false }] });
    expect(result.findings).toEqual([]);
  });

  it("is ignored if no record is usable", async () => {
    const { dane } = await inZone([`_PORT 3600 IN TLSA 3 1 1 abcd`, `_PORT 3600 IN TLSA 9 1 1 ${"ab".repeat(32)}`]);
    expect(dane).toMatchObject({ valid: null, dnssec: "secure", tlsa: [{ usable: false }, { usable: false }] });
  });

  it("is absent without records and unknown without an answer", async () => {
    const none = { tlsa: [], tlsa_total: 0, valid: null, dnssec: null };
    expect((await inZone([])).dane).toEqual({ ...none, reason: null });
    const server = await serve(leaf);
    const zones = { [TLS_HOST]: { A: ["127.0.0.1"] } };
    const behaviours = { [`_${server.port}._tcp.${TLS_HOST}`]: { status: "SERVFAIL" } };
    const result = await check({ zones, behaviours }, server.port, TLS_HOST, []);
    expect(result.dane).toMatchObject(none);
    expect(result.limitations.join(" ")).toMatch(/DANE could not be checked/);
  });
});

describe("CAA (RFC 8659)", () => {
  it("uses only the nearest records up the tree", async () => {
    const above = ['example. 3600 IN CAA 0 issue "above.test"', 'example. 3600 IN CAA 0 iodef "mailto:a@b.test"'];
    const climbed = await inZone(above);
    expect(climbed.caa).toEqual([
      { name: "example", critical: false, tag: "issue", value: "above.test" },
      { name: "example", critical: false, tag: "iodef", value: "mailto:a@b.test" },
    ]);
    expect(climbed.caa_allows_issuer).toBeNull();
    const nearest = await inZone([...above, `${TLS_HOST}. 3600 IN CAA 128 issue ";"`]);
    expect(nearest.caa).toEqual([{ name: TLS_HOST, critical: true, tag: "issue", value: ";" }]);
    expect(nearest.caa_allows_issuer).toBe(false);
  });

  it("starts at the parent of the wildcard for a wildcard certificate", async () => {
    const server = await serve(await pki.issue({ dns: ["*.zone.test"] }));
    const zones = {
      "www.zone.test": { A: ["127.0.0.1"], CAA: ['0 issue ";"'] },
      "zone.test": { CAA: ['0 issue ";"', '0 issuewild "wild.test"'] },
    };
    const result = await check({ zones }, server.port, "www.zone.test", []);
    expect(result.caa?.map(({ name }) => name)).toEqual(["zone.test", "zone.test"]);
    expect(result.caa_allows_issuer).toBeNull();
  });

  it("is unknown if the look-up of a name up the tree fails", async () => {
    const server = await serve(leaf);
    const zones = { [TLS_HOST]: { A: ["127.0.0.1"] }, example: { CAA: ['0 issue "above.test"'] } };
    const behaviours = { [`${TLS_HOST}/CAA`]: { status: "SERVFAIL" } };
    const result = await check({ zones, behaviours }, server.port, TLS_HOST, []);
    expect(result).toMatchObject({ caa: null, caa_allows_issuer: null });
    expect(result.limitations.join(" ")).toMatch(/CAA records could not be looked up: tls\.example: SERVFAIL/);
  });

  it("does not apply to addresses, and DANE does not either", async () => {
    const server = await serve(await pki.issue({ ip: ["127.0.0.1"] }));
    const result = await check({}, server.port, "127.0.0.1", []);
    expect(result).toMatchObject({ dane: null, caa: null, caa_allows_issuer: null });
  });
});
