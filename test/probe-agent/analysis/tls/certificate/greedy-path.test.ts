import { connect, createServer } from "node:tls";
import type { AddressInfo } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import { verifyChain } from "#probe-agent/analysis/tls/certificate.ts";
import { parseCertificate, type Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { findGreedyPath, type GreedyClient } from "#probe-agent/analysis/tls/certificate/greedy-path.ts";
import { pathFindings } from "#probe-agent/analysis/tls/ssl/findings.ts";
import { daysFromNow, issue, type Issued, type IssueOptions } from "#test/servers/pki.ts";

const HOST = "cross.example";
const LONG = { ca: true, notBefore: daysFromNow(-365), notAfter: daysFromNow(3650) } as const;

function authority(subject: string, issuer: Issued | null, more: Partial<IssueOptions> = {}): Promise<Issued> {
  return issue({ ...LONG, subject, ...(issuer === null ? {} : { issuer }), ...more });
}

/** Two trusted roots, two untrusted ones (one expired), and authorities with certificates from several of them. */
async function makeMesh() {
  const trusted = await authority("Trusted Root", null);
  const known = await authority("Known Root", null);
  const stranger = await authority("Stranger Root", null);
  const gone = await authority("Expired Root", null, { notAfter: daysFromNow(-5) });
  const good = await authority("Issuing CA", trusted);
  const same = { key: good.keys };
  const middle = await authority("Middle Root", null);
  const third = await authority("Third CA", middle);
  const second = await authority("Second CA", known);
  return {
    roots: [trusted, known],
    stranger,
    gone,
    good,
    byStranger: await authority("Issuing CA", stranger, same),
    byGone: await authority("Issuing CA", gone, same),
    expired: await authority("Issuing CA", trusted, { ...same, notAfter: daysFromNow(-3) }),
    expiredByStranger: await authority("Issuing CA", stranger, { ...same, notAfter: daysFromNow(-3) }),
    otherKey: await authority("Issuing CA", stranger),
    otherKeyNoId: await authority("Issuing CA", stranger, { noKeyIds: true }),
    sha1: await authority("Issuing CA", trusted, { ...same, hash: "SHA-1" }),
    second,
    knownByStranger: await authority("Known Root", stranger, { key: known.keys }),
    knownByGone: await authority("Known Root", gone, { key: known.keys }),
    third,
    middle,
    middleByStranger: await authority("Middle Root", stranger, { key: middle.keys }),
    middleByTrusted: await authority("Middle Root", trusted, { key: middle.keys }),
    leaf: await issue({ dns: [HOST], issuer: good }),
    leafNoId: await issue({ dns: [HOST], issuer: good, noKeyIds: true }),
    leafOfSecond: await issue({ dns: [HOST], issuer: second }),
    leafOfThird: await issue({ dns: [HOST], issuer: third }),
  };
}
type Mesh = Awaited<ReturnType<typeof makeMesh>>;
type Name = Exclude<keyof Mesh, "roots">;

/** Chains, and the clients that refuse them, as measured with the programs that greedy-path.ts names. */
const CHAINS: readonly (readonly [what: string, sent: readonly Name[], refusing: readonly GreedyClient[]])[] = [
  ["an ordinary chain", ["leaf", "good"], []],
  ["an unknown root's cross-sign first", ["leaf", "byStranger", "good"], ["openssl", "gnutls"]],
  ["an unknown root's cross-sign last", ["leaf", "good", "byStranger"], []],
  [
    "an unknown root's cross-sign and the root first",
    ["leaf", "byStranger", "stranger", "good"],
    ["openssl", "gnutls"],
  ],
  ["an unknown root's cross-sign and the root last", ["leaf", "good", "byStranger", "stranger"], []],
  ["the cross-sign of an expired root first", ["leaf", "byGone", "gone", "good"], ["openssl", "gnutls"]],
  ["an expired authority first", ["leaf", "expired", "good"], ["gnutls"]],
  ["an expired authority last", ["leaf", "good", "expired"], []],
  ["an expired cross-sign first", ["leaf", "expiredByStranger", "good"], ["gnutls"]],
  ["a cross-sign of a known root", ["leafOfSecond", "second", "knownByStranger", "stranger"], []],
  ["an expired root's cross-sign of a known root", ["leafOfSecond", "second", "knownByGone", "gone"], []],
  [
    "an unknown root's cross-sign first, one step further",
    ["leafOfThird", "third", "middleByStranger", "middleByTrusted"],
    ["openssl", "gnutls"],
  ],
  ["the same, last", ["leafOfThird", "third", "middleByTrusted", "middleByStranger"], []],
  ["an unknown root before its cross-sign", ["leafOfThird", "third", "middle", "middleByTrusted"], ["openssl"]],
  ["an unknown root after its cross-sign", ["leafOfThird", "third", "middleByTrusted", "middle"], []],
  ["another authority of that name first", ["leaf", "otherKey", "good"], []],
  ["the same, without key identifiers", ["leafNoId", "otherKeyNoId", "good"], ["openssl", "gnutls"]],
  ["a SHA-1 certificate of the authority first", ["leaf", "sha1", "good"], ["openssl", "gnutls"]],
];

let mesh: Mesh;
beforeAll(async () => {
  mesh = await makeMesh();
});

function parsed(name: Name): Certificate {
  const certificate = parseCertificate(mesh[name].der);
  if (certificate === null) throw new Error(name);
  return certificate;
}

/** Reports whether Node's client, which is OpenSSL, accepts the chain. */
async function nodeAccepts(sent: readonly Name[]): Promise<boolean> {
  const cert = sent.map((name) => mesh[name].pem).join("");
  const server = createServer({ cert, key: mesh[sent[0] ?? "leaf"].keyPem }, (socket) => socket.on("error", () => {}));
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const accepted = await new Promise<boolean>((resolve) => {
    const ca = mesh.roots.map(({ pem }) => pem);
    const socket = connect({ host: "127.0.0.1", port, servername: HOST, ca }, () => {
      resolve(true);
      socket.destroy();
    });
    socket.on("error", () => resolve(false));
  });
  server.close();
  return accepted;
}

describe("a chain with a trusted and an untrusted path", () => {
  it.each(CHAINS)("(%s) is trusted, and refused by clients that try one path", async (_what, sent, refusing) => {
    const [leaf = "leaf", ...others] = sent;
    const roots = mesh.roots.map(({ der }) => der);
    const now = new Date();
    const intermediates = others.map((name) => mesh[name].der);
    const verification = verifyChain({ leaf: mesh[leaf].der, intermediates, roots, host: HOST, now });
    expect(verification.errors).toEqual([]);

    const request = { leaf: parsed(leaf), sent: others.map(parsed), roots, now };
    const found = (["openssl", "gnutls"] as const).filter((client) => !findGreedyPath(client, request).trusted);
    expect(found).toEqual(refusing);
    expect(await nodeAccepts(sent)).toBe(!refusing.includes("openssl"));

    const facts = {
      ...request,
      sent: sent.map(parsed),
      path: verification.path,
      chainTrusted: true,
      issuerUnknown: false,
    };
    const [warning, ...more] = pathFindings(facts);
    expect(more).toEqual([]);
    expect(warning?.id).toBe(refusing.length === 0 ? undefined : "path-building");
    expect(warning?.message.includes("OpenSSL (curl") ?? false).toBe(refusing.includes("openssl"));
    expect(warning?.message.includes("GnuTLS (wget") ?? false).toBe(refusing.includes("gnutls"));
  });

  it("is reported with the position of the certificate outside the trusted path", () => {
    const sent = (["leafOfThird", "third", "middleByStranger", "middleByTrusted"] as const).map(parsed);
    const path = (["leafOfThird", "third", "middleByTrusted"] as const).map(parsed);
    const facts = {
      chainTrusted: true,
      issuerUnknown: false,
      roots: mesh.roots.map(({ der }) => der),
      now: new Date(),
    };
    const [leaf] = sent;
    if (leaf === undefined) throw new Error("a chain has a leaf");
    expect(pathFindings({ ...facts, leaf, sent, path })[0]?.message).toContain(
      "They select the certificate sent at position 2:",
    );
  });
});
