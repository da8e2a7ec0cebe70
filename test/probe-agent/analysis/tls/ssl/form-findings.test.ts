import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { verifyChain } from "#probe-agent/analysis/tls/certificate.ts";
import { adviseOn } from "#probe-agent/analysis/text/findings.ts";
import { SSL_ADVICE } from "#probe-agent/analysis/tls/ssl/advice.ts";
import { formFindings } from "#probe-agent/analysis/tls/ssl/form-findings.ts";
import { buildChain, CHAIN_HOST, type ChainChange } from "#test/servers/chains/build.ts";
import { aki, basicConstraints, keyUsage, nameConstraints, OID, USAGE } from "#test/servers/chains/extensions.ts";
import { ecdsaSigner, keysOf } from "#test/servers/chains/writer.ts";
import { sequence } from "#test/servers/der.ts";
import { issue } from "#test/servers/pki.ts";

const NOW = new Date();
const STRICT = "Python 3.13 and later (by default) and OpenSSL with -x509_strict refuse this chain: ";

function warningsOf(change: ChainChange, options: { readonly unknownRoot?: boolean } = {}): string[] {
  const chain = buildChain(change, NOW);
  const roots = options.unknownRoot === true ? [] : [chain.root];
  return formFindings(verifyChain({ ...chain, roots, host: CHAIN_HOST, now: NOW })).map(({ message }) => message);
}

describe("warnings on the form of certificates", () => {
  it("are absent for a good chain", () => {
    expect(warningsOf({})).toEqual([]);
    expect(warningsOf({}, { unknownRoot: true })).toEqual([]);
  });

  it("leave SHA-1 to the warning on weak signatures", () => {
    expect(warningsOf({ leaf: { signed: (issuer) => ecdsaSigner(issuer, "sha1") } })).toEqual([]);
    expect(warningsOf({ leaf: { signed: (issuer) => ecdsaSigner(issuer, "sha224") } })).toEqual([
      "Browsers refuse the server's certificate: it is signed by an algorithm that browsers do not verify.",
    ]);
  });

  it("name strict clients, every rule and every certificate", () => {
    const change: ChainChange = {
      root: { set: [basicConstraints(true, undefined, false)] },
      intermediate: { drop: [OID.ski, OID.aki] },
      leaf: { drop: [OID.aki] },
    };
    expect(warningsOf(change)).toEqual([
      `${STRICT}the root has basicConstraints that are not critical; the server's certificate has no authority key ` +
        "identifier (AKI); an intermediate has no authority key identifier (AKI); an intermediate has no subject key " +
        "identifier (SKI).",
    ]);
  });

  it("are present if the root is unknown: strict clients that know it refuse the chain too", () => {
    const leaf = { drop: [OID.aki] };
    expect(warningsOf({ leaf }, { unknownRoot: true })).toEqual([
      `${STRICT}the server's certificate has no authority key identifier (AKI).`,
    ]);
  });

  it("say that Firefox refuses an empty issuer name too", () => {
    expect(warningsOf({ root: { subject: sequence() }, intermediate: null })).toEqual([
      expect.stringMatching(
        /the server's certificate has an empty issuer name, which Firefox refuses too.*the root has an/,
      ),
    ]);
  });

  it.each([
    [
      { leaf: { subject: sequence() } },
      "Chrome refuses the server's certificate: its subject is empty and its alternative names are not critical.",
    ],
    [
      { leaf: { set: [keyUsage(USAGE.digitalSignature | USAGE.keyCertSign)] } },
      "The server's certificate violates RFC 5280: it is allowed to sign certificates but is not a CA certificate.",
    ],
    [
      { intermediate: { set: [aki(Buffer.alloc(20), true)] } },
      "Browsers refuse an intermediate: its authority key identifier is marked critical, but not all of them support it.",
    ],
    [
      { root: { set: [nameConstraints([])] } },
      "Clients refuse the root: a part of it cannot be read (empty list of name constraints).",
    ],
    [
      {
        leaf: { keys: keysOf(generateKeyPairSync("ec", { namedCurve: "prime256v1", paramEncoding: "explicit" })) },
      },
      "Browsers refuse the server's certificate: its key has explicit curve parameters instead of a named curve.",
    ],
  ] as const)("name the rule and the clients of a certificate that is not trusted for it (%#)", (change, message) => {
    expect(warningsOf(change)).toEqual([message]);
  });

  it("say that browsers do not support Ed25519 keys, although the chain is trusted", () => {
    const chain = buildChain({ leaf: { keys: keysOf(generateKeyPairSync("ed25519")) } }, NOW);
    const verification = verifyChain({ ...chain, roots: [chain.root], host: CHAIN_HOST, now: NOW });
    expect(verification.errors).toEqual([]);
    const findings = adviseOn(SSL_ADVICE, formFindings(verification), null);
    expect(findings).toMatchObject([{ id: "edwards-key", severity: "critical" }]);
  });

  it("say that Firefox refuses a root that a server uses as its own certificate", async () => {
    const own = await issue({ dns: [CHAIN_HOST], ca: true, keyUsage: null });
    const verification = verifyChain({
      leaf: own.der,
      intermediates: [],
      roots: [own.der],
      host: CHAIN_HOST,
      now: NOW,
    });
    expect(verification.errors).toEqual([]);
    expect(formFindings(verification).map(({ message }) => message)).toEqual([
      "Firefox refuses the server's certificate: it is a CA certificate (cA is TRUE).",
    ]);
  });
});
