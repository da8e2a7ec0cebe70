import { isIP } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl as contract } from "#shared/tools/ssl/contract.ts";
import { addressOf } from "#test/lab/addresses.ts";
import { startLab, type Lab } from "#test/lab/lab.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { sClient, type SClient } from "#test/lab/s-client.ts";
import { sslScan } from "#test/lab/sslscan.ts";
import { testSsl } from "#test/lab/testssl.ts";
import { openToolbox, type Toolbox } from "#test/lab/toolbox.ts";
import { LAB, TLS_VARIANTS } from "#test/lab/topology.ts";

const why = whyNoLab("sslscan", "testssl", "openssl");
if (why !== null) console.warn(why);

type Ssl = ResultOf<typeof contract>;

/** A node close to the servers, so that hundreds of connections take no time. */
const NEAR = "edge-web";
const SILENT: ReadonlySet<string> = new Set(["plain-text", "hanging", "reset", "filtered"]);
const SERVERS = [
  ...TLS_VARIANTS.filter((variant) => !SILENT.has(variant)).map((node) => ({ node, name: `${node}.tls.test` })),
  { node: "web", name: "web.lab.test" },
];
const VERSIONS = [
  ["tls1_3", "TLSv1.3", "-tls1_3"],
  ["tls1_2", "TLSv1.2", "-tls1_2"],
  ["tls1_1", "TLSv1.1", "-tls1_1"],
  ["tls1_0", "TLSv1", "-tls1"],
] as const;

/** Groups that sslscan 2.0 does not know (draft-kwiatkowski-tls-ecdhe-mlkem). */
const TOO_NEW: ReadonlySet<string> = new Set(["0x11eb", "0x11ec", "0x11ed"]);
const P256 = "0x0017";

describe.skipIf(why !== null)("the ssl tool compared with sslscan, testssl.sh and OpenSSL", () => {
  let lab: Lab;
  let toolbox: Toolbox;
  beforeAll(async () => {
    lab = await startLab();
    toolbox = await openToolbox(lab);
  });
  afterAll(() => lab?.close());

  const results = new Map<string, Promise<Ssl>>();
  /** Checks each server only once. */
  function getResult(host: string): Promise<Ssl> {
    const result = results.get(host) ?? toolbox.getResult<Ssl>("ssl", { host });
    results.set(host, result);
    return result;
  }

  it.each(SERVERS)("sslscan of $name: versions, suites, their order, groups, certificate", async ({ node, name }) => {
    const [ours, theirs] = await Promise.all([getResult(name), sslScan(lab.network, NEAR, addressOf(LAB, node), name)]);
    expect(versionsOf(ours)).toEqual(theirs.protocols);
    for (const version of theirs.protocols) {
      if (!isShut(ours, version)) {
        expect(ordered(ours, version, suitesOf(ours, version))).toEqual(
          ordered(ours, version, theirs.ciphers[version] ?? []),
        );
        expect(groupsOf(ours, version), version).toEqual(askedTogether(ours, version, theirs.groups[version] ?? []));
      }
    }
    const { certificate } = ours;
    expect({
      signature: certificate.signature_algorithm.toLowerCase(),
      keyType: certificate.key.type,
      names: certificate.san.filter((entry) => isIP(entry) === 0).map((entry) => `DNS:${entry}`),
      notBefore: seconds(certificate.not_before),
      notAfter: seconds(certificate.not_after),
      expired: certificate.days_left < 0,
      selfSigned: certificate.self_signed,
    }).toEqual({
      signature: theirs.certificate.signature?.toLowerCase(),
      keyType: theirs.certificate.keyType,
      names: theirs.certificate.names?.split(", ").filter((entry) => entry.startsWith("DNS:")),
      notBefore: theirs.certificate.notBefore,
      notAfter: theirs.certificate.notAfter,
      expired: theirs.certificate.expired,
      selfSigned: theirs.certificate.selfSigned,
    });
    if (certificate.key.type === "RSA") expect(certificate.key.bits).toBe(theirs.certificate.keyBits);
    else expect(theirs.certificate.curve).toBe("prime256v1");
  });

  it.each(SERVERS)("OpenSSL and $name: renegotiation, compression, fallback", async ({ node, name }) => {
    const ours = await getResult(name);
    const spoken = VERSIONS.filter(([key]) => ours.protocols[key] === true);
    const older = spoken.find(([, version]) => version !== "TLSv1.3");
    const lower = spoken[1];
    const target = { ip: addressOf(LAB, node), name, rootFile: lab.web.rootFile };
    const speak = (...options: readonly string[]): Promise<SClient> =>
      sClient(lab.network, NEAR, target, [...options, "-cipher", "ALL:@SECLEVEL=0"]);
    const plain = older === undefined ? null : await speak(older[2]);
    expect(ours.secure_renegotiation).toBe(plain && plain.text.includes("Secure Renegotiation IS supported"));
    expect(ours.compression).toBe(plain === null ? false : !plain.text.includes("Compression: NONE"));
    const fallen = lower === undefined ? null : await speak(lower[2], "-fallback_scsv");
    expect(ours.fallback_scsv).toBe(fallen && fallen.text.includes("alert inappropriate fallback"));
  });

  it.concurrent.each([
    { variant: "rsa1024", checks: ["-p", "-P"] },
    // Its own preference test gives up on a server that has only TLS 1.0.
    { variant: "tls10-only", checks: ["-p", "-E"] },
  ])("testssl.sh of $variant: versions, suites and their order", async ({ variant, checks }) => {
    const server = { ip: addressOf(LAB, variant), name: `${variant}.tls.test` };
    const [ours, theirs] = await Promise.all([getResult(server.name), testSsl(lab.network, NEAR, server, checks)]);
    const offered = TESTSSL_VERSIONS.map(([id, key]) => [key, theirs.get(id)?.startsWith("offered") ?? null]);
    expect(ours.protocols).toEqual(Object.fromEntries(offered));
    expect(theirs.get("SSLv2")).toBe("not offered");
    for (const version of versionsOf(ours)) {
      const id = version === "TLSv1" ? "TLSv1" : version.replace(".", "_");
      const order = theirs.get(`cipherorder_${id}`)?.trim().split(/\s+/);
      const each = Array.from(theirs).flatMap(([key, finding]) =>
        key.startsWith(`cipher-${id.replace("v", "").toLowerCase()}_x`) ? [finding.split(/\s+/)[3] ?? ""] : [],
      );
      const names = (ours.ciphers ?? [])
        .filter(({ protocol }) => protocol === version)
        .map((row) => row.openssl_name ?? "");
      if (order === undefined) expect(names.toSorted()).toEqual(each.toSorted());
      else expect(ordered(ours, version, names)).toEqual(ordered(ours, version, order));
    }
  });
});

const TESTSSL_VERSIONS = [
  ["SSLv3", "ssl3"],
  ["TLS1", "tls1_0"],
  ["TLS1_1", "tls1_1"],
  ["TLS1_2", "tls1_2"],
  ["TLS1_3", "tls1_3"],
] as const;

/**
 * Reports whether sslscan cannot getResult the suites of a version. It counts a suite if a handshake succeeds. Before
 * TLS 1.3, no handshake succeeds with a server that requires a client certificate; our tool only needs the server's
 * first messages.
 */
function isShut({ handshake_error: error }: Ssl, version: string): boolean {
  return error?.reason === "certificate_required" && version !== "TLSv1.3";
}

/** Returns suites in order, or as a set if our tool had no time to determine an order, which it reports. */
function ordered({ limitations }: Ssl, version: string, suites: readonly string[]): readonly string[] {
  const label = version === "TLSv1" ? "TLS 1.0" : version.replace("TLSv", "TLS ");
  return limitations.includes(`The server's order of preference for cipher suites of ${label} could not be determined.`)
    ? suites.toSorted()
    : suites;
}

function versionsOf({ protocols }: Ssl): string[] {
  return VERSIONS.flatMap(([key, version]) => (protocols[key] === true ? [version] : []));
}

function suitesOf({ ciphers }: Ssl, version: string): string[] {
  return (ciphers ?? []).filter(({ protocol }) => protocol === version).map(({ code }) => code);
}

function groupsOf({ groups }: Ssl, version: string): string[] {
  return (groups ?? [])
    .filter(({ protocols, code }) => protocols.includes(version) && !TOO_NEW.has(code))
    .map(({ code }) => code)
    .toSorted();
}

/**
 * What sslscan would have found by our way to ask. Ours are asked for all at once, so that each answer shows the
 * server's choice; sslscan offers one group alone. An ECDSA server before TLS 1.3 must find its certificate's curve
 * among the client's groups (RFC 8422 section 5.1.1): alone, no group but P-256 is accepted, and with it X25519 is as
 * well.
 */
function askedTogether({ certificate }: Ssl, version: string, theirs: readonly string[]): string[] {
  const isBound = certificate.key.type === "EC" && version !== "TLSv1.3" && theirs.includes(P256);
  return [...theirs, ...(isBound ? ["0x001d"] : [])].toSorted();
}

function seconds(date: string): number {
  return Date.parse(date) / 1_000;
}
