import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { evaluateCrl } from "#probe-agent/analysis/tls/certificate/crl.ts";
import { readCrl } from "#probe-agent/analysis/tls/certificate/crl-read.ts";
import { encodeOcspRequest } from "#probe-agent/analysis/tls/certificate/ocsp-cert-id.ts";
import { evaluateOcsp } from "#probe-agent/analysis/tls/certificate/ocsp-evaluate.ts";
import { certificateList, issuingDistributionPoint } from "#test/servers/crl.ts";
import { OCSP_SIGNING, ocspResponse, type OcspOptions, type SingleOptions } from "#test/servers/ocsp.ts";
import { HAS_OPENSSL } from "#test/servers/openssl.ts";
import { createPki, daysFromNow, type Issued } from "#test/servers/pki.ts";
import { parsed } from "#test/servers/signing.ts";

if (!HAS_OPENSSL) console.log("skipped: certificate status beside OpenSSL's: no openssl on this machine");

const NOW = new Date();
const folder = mkdtempSync(join(tmpdir(), "status-"));
afterAll(() => rmSync(folder, { recursive: true }));
const pki = await createPki();
const issuer = pki.intermediate;
const serials = { good: "1a01", revoked: "1a02", stranger: "1a03" } as const;
const issueAs = (serial: string): Promise<Issued> => pki.issue({ dns: ["leaf.test"], serial });
const leaves = {
  good: await issueAs(serials.good),
  revoked: await issueAs(serials.revoked),
  stranger: await issueAs(serials.stranger),
};
const delegate = await pki.issue({ subject: "Responder", eku: [OCSP_SIGNING] });
const rsa = await createPki({ name: "Rsa", key: "rsa2048" });
const rsaLeaf = await rsa.issue({ dns: ["leaf.test"] });

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const paths = {
  root: file("root.pem", pki.root.pem),
  issuer: file("issuer.pem", issuer.pem + issuer.keyPem),
  chain: file("chain.pem", pki.root.pem + issuer.pem),
  delegate: file("delegate.pem", delegate.pem + delegate.keyPem),
  leaf: file("leaf.pem", leaves.good.pem),
  index: file("index.txt", indexOf()),
};

/** Index of `openssl ca`: state, expiry, time and reason of revocation, serial number. */
function indexOf(): string {
  return [
    `V\t350101000000Z\t\t${serials.good.toUpperCase()}\tunknown\t/CN=good`,
    `R\t350101000000Z\t260203040506Z,keyCompromise\t${serials.revoked.toUpperCase()}\tunknown\t/CN=revoked`,
    "",
  ].join("\n");
}

describe.skipIf(!HAS_OPENSSL)("OpenSSL's responder and lists (golden)", () => {
  /** Runs `openssl ocsp` as a responder, which reads our request and writes its response. */
  function answered(leaf: Issued, hash: "sha1" | "sha256", signer: string, more: readonly string[] = []): Uint8Array {
    const request = file("request.der", encodeOcspRequest(parsed(leaf), parsed(issuer), hash));
    const out = join(folder, "response.der");
    const who = ["-index", paths.index, "-CA", paths.issuer, "-rsigner", signer, "-ndays", "2", ...more];
    execFileSync("openssl", ["ocsp", ...who, "-reqin", request, "-respout", out], { stdio: "ignore" });
    return readFileSync(out);
  }

  it.each([
    ["good", "sha1", "issuer", []],
    ["good", "sha256", "delegate", []],
    ["good", "sha1", "delegate", ["-resp_key_id"]],
    ["revoked", "sha1", "delegate", []],
    ["stranger", "sha256", "issuer", []],
  ] as const)("the responder reads our request and we its answer: %s, %s, by the %s", (name, hash, signer, more) => {
    const octets = answered(leaves[name], hash, paths[signer], more);
    const verdict = evaluateOcsp(octets, { certificate: parsed(leaves[name]), issuer: parsed(issuer), now: NOW });
    const status = name === "stranger" ? "unknown" : name;
    expect(verdict).toMatchObject({ status, signatureValid: true, error: null });
    if (name !== "revoked") return;
    expect(verdict).toMatchObject({ reason: "key_compromise", revokedAt: new Date("2026-02-03T04:05:06Z") });
  });

  it("its list gives the same status", () => {
    const configuration = file(
      "ca.cnf",
      `[ca]\ndefault_ca=own\n[own]\ndatabase=${paths.index}\ncertificate=${paths.issuer}\nprivate_key=${paths.issuer}\ndefault_md=sha256\ndefault_crl_days=2\n`,
    );
    const out = join(folder, "list.pem");
    execFileSync("openssl", ["ca", "-gencrl", "-config", configuration, "-out", out], { stdio: "ignore" });
    const crl = readCrl(readFileSync(out));
    if (crl === null) throw new Error("OpenSSL makes lists");
    const verdict = (leaf: Issued) => evaluateCrl(crl, { certificate: parsed(leaf), issuer: parsed(issuer), now: NOW });
    expect(verdict(leaves.good)).toMatchObject({ status: "good", error: null });
    expect(verdict(leaves.revoked)).toMatchObject({ status: "revoked", reason: "key_compromise", error: null });
  });
});

describe.skipIf(!HAS_OPENSSL)("our result and OpenSSL's agree (differential)", async () => {
  /** Returns the status that `openssl ocsp` reads from a response, or null if the response is not valid now. */
  function opensslOcsp(octets: Uint8Array, hash = "sha1"): string | null {
    const files = ["-respin", file("response.der", octets), "-issuer", paths.issuer, `-${hash}`, "-cert", paths.leaf];
    const { stdout, stderr } = spawnSync("openssl", ["ocsp", ...files, "-CAfile", paths.chain]);
    const said = `${String(stdout)}${String(stderr)}`;
    if (!/Response verify OK/i.test(said) || /WARNING: Status times invalid/.test(said)) return null;
    return /: (good|revoked|unknown)$/m.exec(said)?.[1] ?? null;
  }

  const own = { certificate: leaves.good, issuer };
  const namesake = await createPki();
  const made = async (options: Parameters<typeof pki.issue>[0]): Promise<Partial<OcspOptions>> => {
    const signer = await pki.issue({ subject: "Delegate", eku: [OCSP_SIGNING], ...options });
    return { signer, certificates: [signer] };
  };
  const delegated = { signer: delegate, certificates: [delegate] };
  const expired = await made({ notBefore: daysFromNow(-9), notAfter: daysFromNow(-1) });
  const cases: readonly [string, Partial<SingleOptions>, Partial<OcspOptions>][] = [
    ["good", {}, {}],
    ["revoked", { status: { at: daysFromNow(-3), reason: 4 } }, {}],
    ["unknown", { status: "unknown" }, {}],
    ["good by SHA-256", { hash: "sha256" }, { byKey: true }],
    ["of a delegate", {}, delegated],
    ["of a delegate without its certificate", {}, { signer: delegate }],
    ["of an expired delegate", {}, expired],
    ["of a delegate without the purpose", {}, await made({ eku: null })],
    ["of a delegate of the root", {}, await made({ issuer: pki.root })],
    ["of a namesake", {}, { signer: namesake.intermediate, responder: issuer }],
    ["that has expired", { thisUpdate: daysFromNow(-9), nextUpdate: daysFromNow(-2) }, {}],
    ["that is not yet valid", { thisUpdate: daysFromNow(1) }, {}],
    ["about another certificate", { certificate: delegate }, {}],
    ["about a certificate of another issuer", { certificate: pki.intermediate, issuer: pki.root }, {}],
  ];
  it.each(cases)("on an OCSP response %s", (_what, single, options) => {
    const octets = ocspResponse({ signer: issuer, singles: [{ ...own, ...single }], ...options });
    const { status, error } = evaluateOcsp(octets, {
      certificate: parsed(leaves.good),
      issuer: parsed(issuer),
      now: NOW,
    });
    expect(error === null ? status : null).toBe(opensslOcsp(octets, single.hash));
  });

  /** Returns the status that `openssl verify -crl_check` reads from a list. */
  function opensslCrl(octets: Uint8Array, authority = pki, leaf = paths.leaf): "good" | "revoked" | null {
    const list = file("list.der", octets);
    const pem = join(folder, "list.pem");
    execFileSync("openssl", ["crl", "-inform", "DER", "-in", list, "-out", pem]);
    const chain = file("authority.pem", authority.root.pem + authority.intermediate.pem);
    const { stdout, stderr } = spawnSync("openssl", ["verify", "-CAfile", chain, "-CRLfile", pem, "-crl_check", leaf]);
    const said = `${String(stdout)}${String(stderr)}`;
    if (/: OK$/m.test(said)) return "good";
    // It continues after a fault of the list; its status of the certificate is then meaningless.
    return /error 23 /.test(said) && !/error (?!23 )\d+ /.test(said) ? "revoked" : null;
  }

  const entry = { serialNumber: parsed(leaves.good).serialNumber };
  const lists: readonly [string, Partial<Parameters<typeof certificateList>[0]>][] = [
    ["without entries", {}],
    ["with the certificate", { entries: [entry] }],
    ["with another", { entries: [{ serialNumber: Uint8Array.of(7) }] }],
    ["of a namesake", { signer: namesake.intermediate }],
    ["of the root", { issuer: pki.root }],
    ["that has expired", { thisUpdate: daysFromNow(-9), nextUpdate: daysFromNow(-1) }],
    ["that is not yet valid", { thisUpdate: daysFromNow(1) }],
    ["for authorities only", { extensions: [issuingDistributionPoint({ onlyAuthorities: true })] }],
    ["for users only", { extensions: [issuingDistributionPoint({ onlyUsers: true })] }],
    ["for some reasons only", { extensions: [issuingDistributionPoint({ someReasons: true })] }],
    ["of several issuers", { extensions: [issuingDistributionPoint({ indirect: true })] }],
  ];
  it.each(lists)("on a revocation list %s", (_what, options) => {
    const octets = certificateList({ issuer, ...options });
    const crl = readCrl(octets);
    const verdict = crl && evaluateCrl(crl, { certificate: parsed(leaves.good), issuer: parsed(issuer), now: NOW });
    expect(verdict?.status ?? null).toBe(opensslCrl(octets));
  });

  it.each([{}, { hash: "sha384" }, { pss: true }, { pss: true, hash: "sha512" }] as const)(
    "on a list signed by RSA: %o",
    (signing) => {
      const octets = certificateList({ issuer: rsa.intermediate, signing });
      const crl = readCrl(octets);
      const subject = { certificate: parsed(rsaLeaf), issuer: parsed(rsa.intermediate), now: NOW };
      expect(crl && evaluateCrl(crl, subject).status).toBe("good");
      expect(opensslCrl(octets, rsa, file("rsa-leaf.pem", rsaLeaf.pem))).toBe("good");
    },
  );
});
