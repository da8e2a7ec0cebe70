import { createHash } from "node:crypto";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { TrustAnchor } from "#probe-agent/port/dns.ts";
import type { Implementation } from "#probe-agent/tools/implement.ts";
import { smtpTest } from "#probe-agent/tools/smtp-test/smtp-test.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { answerFrom } from "#test/servers/dnssec/answer.ts";
import { signTree } from "#test/servers/dnssec/signed-tree.ts";
import { daysFromNow, type Issued } from "#test/servers/pki.ts";
import { parsed } from "#test/servers/signing.ts";
import type { SmtpScript } from "#test/servers/smtp.ts";
import { MAIL_HOST, startMailWorld } from "#test/support/mail.ts";
import { resultOf } from "#test/support/tool.ts";
import { idsOf } from "#test/support/findings.ts";

const world = await startMailWorld();
afterEach(() => world.stop());
afterAll(() => world.close());

const [LEAF, INTERMEDIATE] = world.good;
if (LEAF === undefined || INTERMEDIATE === undefined) throw new Error("the chain has two certificates");

/** The tool with a DNS root that the test signed. */
function trusting(
  trustAnchors: readonly TrustAnchor[],
): Implementation<typeof smtpTest.contract.params.properties, typeof smtpTest.contract.result.properties> {
  return {
    contract: smtpTest.contract,
    run: (net, params, input) => smtpTest.run({ ...net, trustAnchors }, params, input),
  };
}

/** Tests example.test. The TLSA records of its mail host have these data, in a signed zone. */
async function inSignedZone(data: readonly string[], script: SmtpScript = {}) {
  const server = await world.serve(script);
  const { root, zone, anchors } = signTree("example.test", [
    `example.test. 3600 IN MX 10 ${MAIL_HOST}.`,
    `${MAIL_HOST}. 3600 IN A 127.0.0.1`,
    ...data.map((line) => `_${server.port}._tcp.${MAIL_HOST}. 3600 IN TLSA ${line}`),
  ]);
  const dns = await startDnsServer({ answer: (name, type) => answerFrom([root, zone], name, type) });
  try {
    const tool = trusting(anchors);
    const setting = { ...world.setting, dnsServers: [dns.address] };
    return await resultOf(tool, { target: "example.test", port: server.port }, setting);
  } finally {
    await dns.close();
  }
}

function tlsa(usage: number, certificate: Issued): string {
  return `${usage} 1 1 ${createHash("sha256").update(parsed(certificate).spki).digest("hex")}`;
}

describe("signed TLSA records beside the certificate (RFC 7672)", () => {
  it.each([
    ["3, the server's key", tlsa(3, LEAF)],
    ["2, the authority that the server sends", tlsa(2, INTERMEDIATE)],
  ])("of usage %s allow delivery", async (_what, data) => {
    const { dane, findings } = await inSignedZone([data]);
    expect(dane).toMatchObject({ status: "secure", valid: true, records: [{ usable: true, matches: true }] });
    expect(idsOf(findings).join()).not.toContain("tlsa");
  });

  it("for another key prevent delivery, as after a renewal of the certificate with a new key", async () => {
    const { dane, findings, starttls } = await inSignedZone([tlsa(3, INTERMEDIATE)]);
    expect(starttls.tls?.trusted).toBe(true);
    expect(dane).toMatchObject({ status: "secure", valid: false, records: [{ usable: true, matches: false }] });
    expect(findings[0]?.id).toBe("tlsa-mismatch");
  });

  it("are valid if one of several matches, as during a key change", async () => {
    const { dane } = await inSignedZone([tlsa(3, INTERMEDIATE), tlsa(3, LEAF)]);
    expect(dane?.valid).toBe(true);
    expect(dane?.records.map(({ matches }) => matches).toSorted()).toEqual([false, true]);
  });

  it("of usage 3 ignore the name and the expiry of the certificate; those of usage 2 check both", async () => {
    const old = await world.pki.issue({ dns: ["x.test"], notBefore: daysFromNow(-9), notAfter: daysFromNow(-1) });
    const chain = [old, INTERMEDIATE];
    expect((await inSignedZone([tlsa(3, old)], { chain })).dane?.valid).toBe(true);
    expect((await inSignedZone([tlsa(2, INTERMEDIATE)], { chain })).dane?.valid).toBe(false);
  });

  it("of usage 2 accept a certificate for the mail domain instead of the host (section 3.2.2)", async () => {
    const chain = [await world.pki.issue({ dns: ["example.test"] }), INTERMEDIATE];
    expect((await inSignedZone([tlsa(2, INTERMEDIATE)], { chain })).dane?.valid).toBe(true);
  });

  it("of usages that mail does not support decide nothing and cause a finding", async () => {
    const { dane, findings } = await inSignedZone([tlsa(1, LEAF)]);
    expect(dane).toMatchObject({ status: "secure", valid: null, records: [{ usable: false }] });
    expect(idsOf(findings)).toContain("tlsa-unusable");
  });

  it("prevent delivery if the server offers no TLS", async () => {
    const { dane, findings } = await inSignedZone([tlsa(3, LEAF)], { ehlo: "250 mx1.example.test\r\n" });
    expect(dane).toMatchObject({ status: "secure", valid: null, records: [{ matches: null }] });
    expect(idsOf(findings)).toContain("tlsa-without-tls");
  });
});

describe("TLSA records without signatures", () => {
  it("are looked up for the tested port and reported as insecure; a name without records is absent", async () => {
    const server = await world.serve();
    const data = `3 1 1 ${"ab".repeat(32)}`;
    const dns = await startDnsServer({
      zones: {
        "host.example.test": { A: ["127.0.0.1"] },
        [`_${server.port}._tcp.host.example.test`]: { TLSA: [data] },
        "bare.example.test": { A: ["127.0.0.1"] },
      },
    });
    const more = { ...world.setting, dnsServers: [dns.address] };
    try {
      const result = await resultOf(smtpTest, { target: "host.example.test", port: server.port }, more);
      expect(result.dane?.records).toEqual([{ usage: 3, selector: 1, matching_type: 1, usable: true, matches: false }]);
      expect(result.dane?.status).not.toBe("secure");
      expect(result.dane?.valid).toBeNull();
      const bare = await resultOf(smtpTest, { target: "bare.example.test", port: server.port }, more);
      expect(bare.dane).toMatchObject({ status: "absent", records: [] });
      const literal = await resultOf(smtpTest, { target: "127.0.0.1", port: server.port }, more);
      expect(literal.dane).toBeNull();
    } finally {
      await dns.close();
    }
  });
});
