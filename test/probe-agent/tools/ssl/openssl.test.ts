import { spawnSync } from "node:child_process";
import { createDiffieHellmanGroup } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl as contract } from "#shared/tools/ssl/contract.ts";
import { ssl } from "#probe-agent/tools/ssl/ssl.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { clientAgrees, HAS_OPENSSL, startOpensslServer } from "#test/servers/openssl.ts";
import { createPki } from "#test/servers/pki.ts";
import { TLS_HOST } from "#test/servers/tls-variants.ts";
import { resultOf } from "#test/support/tool.ts";
import { closeAfterEach } from "#test/support/close-after-each.ts";

type Result = ResultOf<typeof contract>;

const VERSIONS = { TLSv1: "-tls1", "TLSv1.1": "-tls1_1", "TLSv1.2": "-tls1_2", "TLSv1.3": "-tls1_3" } as const;
/** The second Oakley group (RFC 2409 section 6.2): 1024 bits, generator 2. */
const OAKLEY_2 = (() => {
  const prime = createDiffieHellmanGroup("modp2").getPrime();
  const der = Buffer.concat([Buffer.from("30818702818100", "hex"), prime, Buffer.from("020102", "hex")]);
  return `-----BEGIN DH PARAMETERS-----\n${der.toString("base64")}\n-----END DH PARAMETERS-----\n`;
})();
const pki = await createPki();
const rsa = await pki.issue({ dns: [TLS_HOST], key: "rsa2048" });
const ecdsa = await pki.issue({ dns: [TLS_HOST] });
const dns = await startDnsServer({ zones: { [TLS_HOST]: { A: ["127.0.0.1"] } } });
const keep = closeAfterEach();
afterAll(() => dns.close());

async function serve(certificates: Parameters<typeof startOpensslServer>[0], options: readonly string[]) {
  return keep(await startOpensslServer(certificates, options));
}

async function look(port: number): Promise<Result> {
  return await resultOf(ssl, { host: TLS_HOST, port }, { dnsServers: [dns.address], roots: [pki.root.pem] });
}

function suitesOf({ ciphers }: Result, protocol: string): string[] {
  return (ciphers ?? []).flatMap((row) => (row.protocol === protocol ? (row.openssl_name ?? row.iana_name) : []));
}

/** Returns the suites that OpenSSL's client negotiates, tried one by one with a few in parallel. */
async function agreed(port: number, protocol: keyof typeof VERSIONS): Promise<string[]> {
  const flag = VERSIONS[protocol];
  const list = spawnSync("openssl", ["ciphers", "-s", flag, "ALL:COMPLEMENTOFALL:-PSK:-SRP:@SECLEVEL=0"]).stdout;
  const candidates = list
    .toString()
    .trim()
    .split(":")
    .filter((name) => name.startsWith("TLS_") === (protocol === "TLSv1.3"));
  const found: string[] = [];
  for (let at = 0; at < candidates.length; at += 8) {
    const some = candidates.slice(at, at + 8);
    const answers = await Promise.all(some.map((name) => clientAgrees(port, flag, name)));
    found.push(...some.filter((_name, index) => answers[index]));
  }
  return found;
}

describe.skipIf(!HAS_OPENSSL)("against openssl s_server (skipped if there is no openssl)", () => {
  it("the list has the suites that openssl s_client negotiates one by one", async () => {
    const { port } = await serve([rsa, ecdsa], ["-cipher", "ALL:COMPLEMENTOFALL:@SECLEVEL=0"]);
    const result = await look(port);
    for (const protocol of ["TLSv1", "TLSv1.2", "TLSv1.3"] as const) {
      const own = suitesOf(result, protocol);
      expect(own.toSorted(), protocol).toEqual((await agreed(port, protocol)).toSorted());
      expect(own.length, protocol).toBeGreaterThan(2);
    }
    expect(suitesOf(result, "TLSv1.1").toSorted()).toEqual(suitesOf(result, "TLSv1").toSorted());
    expect(result).toMatchObject({
      protocols: { ssl3: false, tls1_0: true, tls1_1: true, tls1_2: true, tls1_3: true },
      cipher_order: "client",
      grade: "T",
    });
    expect(result.grade_caps.map(({ grade }) => grade)).toEqual(["T", "F", "F", "B", "B", "B"]);
    expect(result.limitations.join(" ")).not.toMatch(/not all listed|is offered could not be determined/);
  });

  it("the suites are in the server's order, up to the last one", async () => {
    const order = ["AES128-SHA", "ECDHE-RSA-AES256-GCM-SHA384", "DHE-RSA-AES128-SHA", "ECDHE-RSA-CHACHA20-POLY1305"];
    const { port } = await serve([rsa], ["-serverpref", "-no_tls1_3", "-cipher", `${order.join(":")}:@SECLEVEL=0`]);
    const result = await look(port);
    expect(suitesOf(result, "TLSv1.2")).toEqual(order);
    expect(result).toMatchObject({ cipher_order: "server", dh_bits: 2048, other_certificates: [] });
  });

  it.each([
    ["-tls1", "tls1_0"],
    ["-tls1_1", "tls1_1"],
    ["-tls1_2", "tls1_2"],
  ] as const)("%s alone is distinguished from the rest", async (flag, protocol) => {
    const { port } = await serve([rsa], [flag, "-cipher", "ALL:@SECLEVEL=0"]);
    const { protocols, fallback_scsv, secure_renegotiation } = await look(port);
    expect(Object.entries(protocols).flatMap(([key, offered]) => (offered === true ? key : []))).toEqual([protocol]);
    expect({ fallback_scsv, secure_renegotiation }).toEqual({ fallback_scsv: null, secure_renegotiation: true });
  });

  it("both certificates are found, and the groups of each key exchange", async () => {
    const { port } = await serve([rsa, ecdsa], ["-groups", "P-384:X25519:ffdhe3072"]);
    const result = await look(port);
    expect(result.other_certificates).toMatchObject([
      { key: { type: "RSA" }, trusted: false, trust_error: "untrusted_root" },
    ]);
    expect(result.certificate.key.type).toBe("EC");
    expect(result.groups?.map(({ name, protocols }) => [name, protocols])).toEqual(
      expect.arrayContaining([
        ["X25519", ["TLSv1.3", "TLSv1.2"]],
        ["P-384", ["TLSv1.3", "TLSv1.2"]],
        ["ffdhe3072", ["TLSv1.3"]],
      ]),
    );
    expect(result.groups).toHaveLength(3);
  });

  it("a weak prime is measured", async () => {
    const folder = mkdtempSync(join(tmpdir(), "primes-"));
    keep({ close: async () => await rm(folder, { recursive: true }) });
    const primes = join(folder, "dh.pem");
    writeFileSync(primes, OAKLEY_2);
    const cipher = ["-cipher", "DHE-RSA-AES128-SHA:@SECLEVEL=0", "-no_tls1_3"];
    const { port } = await serve([rsa], [...cipher, "-dhparam", primes]);
    const result = await look(port);
    expect(result).toMatchObject({ dh_bits: 1024, scores: { key_exchange: 80 } });
    expect(result.findings).toContainEqual(expect.objectContaining({ id: "weak-dh", severity: "warning" }));
  });
});
