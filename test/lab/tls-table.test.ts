import { getCiphers } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ResultOf } from "#shared/tools/define.ts";
import type { check as checkContract } from "#shared/tools/check/contract.ts";
import { ssl as sslContract } from "#shared/tools/ssl/contract.ts";
import { addressOf } from "#test/lab/addresses.ts";
import { startServiceLab, type Lab, type Service } from "#test/lab/lab.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { sClient, type SClient } from "#test/lab/s-client.ts";
import { opensslStatus } from "#test/lab/openssl-status.ts";
import { REVOCATION, STATUS_URLS } from "#test/lab/services/authority.ts";
import { PLACES } from "#test/lab/services/product.ts";
import { GOOD, ROWS, STATUS_ROWS, USUAL } from "#test/lab/tls-rows.ts";
import { LAB } from "#test/lab/topology.ts";
import { daysFromNow } from "#test/servers/pki.ts";
import { endsBy } from "#test/support/deadlines.ts";

const why = whyNoLab("openssl");
if (why !== null) console.warn(why);

type Ssl = ResultOf<typeof sslContract>;
type Check = ResultOf<typeof checkContract>;

const VERSIONS = [
  ["tls1_0", "-tls1"],
  ["tls1_1", "-tls1_1"],
  ["tls1_2", "-tls1_2"],
  ["tls1_3", "-tls1_3"],
] as const;

/** Makes OpenSSL accept suites that it refuses by default. */
const ANY_CIPHER = ["-cipher", "ALL:@SECLEVEL=0"];

describe.skipIf(why !== null)("the ssl and check tools on the table of TLS servers", () => {
  let lab: Lab & { readonly service: Service };
  let key = "";
  beforeAll(async () => {
    lab = await startServiceLab({ regions: ["eu"] });
    key = await lab.service.plane.createKey();
  });
  afterAll(() => lab?.close());

  interface Answered<T> {
    readonly status: string;
    readonly data: T;
    readonly error: {
      readonly stage: string;
      readonly source: string;
      readonly reason: string;
      readonly message: string;
    };
  }

  async function ask<T>(path: string): Promise<Answered<T>> {
    const { text, status, body } = await lab.service.plane.call(`/api/v4/${path}&locations=${PLACES.eu.region}`, {
      key,
    });
    expect(status, text).toBe(200);
    const [row] = (body.data as { readonly locations: readonly Answered<T>[] }).locations;
    if (row === undefined) throw new Error(text);
    return row;
  }

  function openssl(variant: string, options: readonly string[] = []): Promise<SClient> {
    const target = { ip: addressOf(LAB, variant), name: `${variant}.tls.test`, rootFile: lab.web.rootFile };
    return sClient(lab.network, "probe-eu", target, options);
  }

  it.each(ROWS)("ssl: $variant", async ({ variant, code, ssl, warnings = [], ...row }) => {
    const { status, data } = await ask<Ssl>(`ssl?host=${variant}.tls.test`);
    expect(status).toBe("ok");
    expect(data).toMatchObject({ ...GOOD, ...ssl });
    // None of these pages sends HSTS.
    const reasons = ssl.trust_error == null ? [] : [ssl.trust_error.replaceAll("_", "-")];
    expect(data.findings.map(({ id }) => id).filter((id) => id !== "no-hsts")).toEqual([...reasons, ...warnings]);
    const { protocol = "TLSv1.3", cipher = "TLS_AES_256_GCM_SHA384", alpn = null } = row;
    expect({ protocol: data.protocol, cipher: data.cipher, alpn: data.alpn }).toEqual({ protocol, cipher, alpn });
    const offered = VERSIONS.map(([version]) => version).filter((version) => data.protocols[version] === true);
    expect(offered).toEqual(row.versions ?? ["tls1_2", "tls1_3"]);
    // differential-tls.test.ts compares the order of suites with other programs.
    const suites = Map.groupBy(data.ciphers ?? [], (suite) => suite.protocol);
    const names = [...suites].map(([version, all]) => [
      version,
      all.map((suite) => suite.openssl_name ?? "").toSorted(),
    ]);
    const expected = Object.entries(row.suites ?? USUAL.suites).map(([version, all]) => [version, all.toSorted()]);
    expect(names).toEqual(expected);
    expect((data.groups ?? []).map(({ name }) => name).toSorted()).toEqual((row.groups ?? USUAL.groups).toSorted());
    expect(data.grade).toBe(row.grade ?? "A");

    // Security level 0 applies only to the handshake; the verification keeps its own level.
    const theirs = await openssl(variant, protocol === "TLSv1" ? ["-tls1", ...ANY_CIPHER] : []);
    expect(theirs.verifyCode, theirs.text).toBe(code);
    expect(data.trusted).toBe(code === 0 || row.trustedAllTheSame === true);
    expect(data.chain.filter(({ sent }) => sent).map((sent) => sent.fingerprint_sha256)).toEqual(theirs.sent);
    expect(theirs).toMatchObject({ protocol, alpn, asksForCertificate: false });
    expect(ianaName(theirs.cipher)).toBe(cipher);
  });

  it.each(["good", "tls13-only", "tls10-only", "cbc-only"])(
    "ssl and OpenSSL offer %s each version in the same way",
    async (variant) => {
      const { data } = await ask<Ssl>(`ssl?host=${variant}.tls.test`);
      const theirs = await Promise.all(
        VERSIONS.map(async ([version, option]) => {
          const { protocol } = await openssl(variant, [option, ...ANY_CIPHER]);
          return [version, protocol !== null] as const;
        }),
      );
      expect(data.protocols).toEqual({ ssl3: false, ...Object.fromEntries(theirs) });
    },
  );

  it("ssl: an unreachable responder leaves the status unknown, and the certificate trusted", async () => {
    await lab.network.cut("probe-eu", "svc");
    const { data } = await ask<Ssl>("ssl?host=revoked.tls.test").finally(() => lab.network.heal("probe-eu", "svc"));
    expect(data).toMatchObject({ ...GOOD, revocation: { status: "unknown", method: null }, grade: "A" });
    expect(data.limitations.join(" ")).toContain("Whether the certificate is revoked could not be determined");
  });

  it.each(STATUS_ROWS)("ssl and OpenSSL: $variant is $status by $method", async ({ variant, method, status }) => {
    const { data } = await ask<Ssl>(`ssl?host=${variant}.tls.test`);
    const isRevoked = status === "revoked";
    const { daysAgo } = REVOCATION;
    expect(data).toMatchObject({
      trusted: !isRevoked,
      chain_trusted: !isRevoked,
      trust_error: isRevoked ? "revoked" : null,
      grade: isRevoked ? "T" : "A",
      ocsp: {
        stapled: method === "staple",
        source: { staple: "staple", ocsp: "responder", crl: null }[method],
        status: method === "crl" ? null : status,
        signature_valid: method === "crl" ? null : true,
        responder_url: method === "ocsp" ? STATUS_URLS.ocsp : null,
      },
      revocation: { status, method, reason: isRevoked ? "key_compromise" : null },
    });
    const { revoked_at: at, crl } = data.revocation ?? {};
    if (isRevoked) {
      expect(Date.parse(at ?? "")).toBeLessThanOrEqual(daysFromNow(-daysAgo).getTime());
      expect(Date.parse(at ?? "")).toBeGreaterThan(daysFromNow(-daysAgo - 1).getTime());
    }
    expect(crl?.url ?? null).toBe(method === "crl" ? STATUS_URLS.crl : null);
    const session = await openssl(variant, ["-status"]);
    // OpenSSL reads no list by itself, and returns a staple unread.
    expect(session.verifyCode).toBe(0);
    expect(await opensslStatus(lab.network, "probe-eu", session, method)).toBe(status);
  });

  it("ssl: the certificate of a server that requires the client's, and why its handshake failed", async () => {
    const { status, data } = await ask<Ssl>("ssl?host=client-certificate.tls.test");
    expect(status).toBe("ok");
    expect(data).toMatchObject({
      ...GOOD,
      client_certificate_requested: true,
      handshake_error: { reason: "certificate_required" },
    });
    expect(data.certificate.san).toEqual(["client-certificate.tls.test"]);
    expect(data.findings.map(({ id }) => id)).toEqual(["client-certificate"]);
    const theirs = await openssl("client-certificate");
    expect(theirs).toMatchObject({ verifyCode: 0, asksForCertificate: true });
    expect(data.chain.filter(({ sent }) => sent).map((sent) => sent.fingerprint_sha256)).toEqual(theirs.sent);
  });

  it.each(ROWS)("check: $variant", async ({ variant, ssl, protocol = "TLSv1.3", alpn = null }) => {
    const { status, data } = await ask<Check>(`check?url=https://${variant}.tls.test/`);
    expect(status).toBe("ok");
    expect(data.code).toBe(200);
    expect(data.tls).toMatchObject({
      authorized: ssl.trusted ?? true,
      error: ssl.trust_error ?? null,
      protocol,
      alpn,
    });
  });

  it("ssl and check: addresses instead of names, in both families, and HTTP/2", async () => {
    for (const family of [4, 6] as const) {
      const ip = addressOf(LAB, "web", family);
      const { data } = await ask<Ssl>(`ssl?host=${encodeURIComponent(ip)}`);
      expect(data).toMatchObject({ ...GOOD, ip, servername: null, alpn: "h2" });
      const host = family === 4 ? ip : `[${ip}]`;
      const page = await ask<Check>(`check?url=${encodeURIComponent(`https://${host}/`)}`);
      expect(page.data).toMatchObject({ ip, code: 200, http_version: "2", tls: { authorized: true, alpn: "h2" } });
    }
  });

  it.concurrent.each([
    { variant: "plain-text", stage: "tls", reason: "plain_text", checkReason: "not_tls" },
    { variant: "reset", stage: "tls", reason: "reset", checkReason: "reset" },
    { variant: "hanging", stage: "tls", reason: "timeout", checkReason: "timeout" },
    { variant: "filtered", stage: "connect", reason: "timeout", checkReason: "timeout" },
  ])("ssl and check: $variant fails in $stage, and in time", async ({ variant, stage, reason, checkReason }) => {
    const [shown, checked, theirs] = await Promise.all([
      endsBy(sslContract.deadlineMs({ host: variant, port: 443 }), () => ask<Ssl>(`ssl?host=${variant}.tls.test`)),
      endsBy(4_000, () => ask<Check>(`check?url=https://${variant}.tls.test/&timeout=4`)),
      openssl(variant),
    ]);
    expect(shown).toMatchObject({ status: "failed", error: { stage, source: "target", reason } });
    expect(checked.error).toMatchObject({ stage, source: "target", reason: checkReason });
    expect(theirs.protocol).toBeNull();
  });

  it("check: a server that requires a client certificate", async () => {
    const { error } = await ask<Check>("check?url=https://client-certificate.tls.test/");
    expect(error).toMatchObject({ stage: "tls", source: "target", reason: "certificate_required" });
  });
});

/** Returns IANA's name of a suite from OpenSSL's, for those in the table. */
function ianaName(openssl: string | null): string | null {
  if (openssl === null || openssl.startsWith("TLS_")) return openssl;
  expect(getCiphers()).toContain(openssl.toLowerCase());
  return `TLS_${openssl
    .replaceAll("-", "_")
    .replace("ECDSA_AES", "ECDSA_WITH_AES_")
    .replace(/_(SHA\d*)$/, "_CBC_$1")}`;
}
