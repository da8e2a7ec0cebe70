// oxlint-disable-next-line import/no-unassigned-import -- x509 needs its side effect before it loads
import "reflect-metadata";
import { createHash, createPrivateKey, createPublicKey, webcrypto, X509Certificate } from "node:crypto";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createPki, daysFromNow, issue, type Issued, type Pki } from "#test/servers/pki.ts";

/** The lab's only certificate authority, in a folder that every process of the lab can read. */
export interface Authority extends Pki {
  /** PEM of the root: NODE_EXTRA_CA_CERTS of agents, -CAfile of OpenSSL. */
  readonly rootFile: string;
}

/** Serials of revoked and of good certificates, in hexadecimal. OCSP does not know any other. */
export const SERIALS = {
  good: "1a2b3c01",
  stapled: "1a2b3c02",
  mustStaple: "1a2b3c03",
  /** Good until a test revokes it. */
  doomed: "1a2b3c04",
  revoked: "1a2b3c11",
  revokedByList: "1a2b3c12",
  revokedStaple: "1a2b3c13",
} as const;

/** Reason and time of every revocation in the lab. */
export const REVOCATION = { reason: "keyCompromise", daysAgo: 3 } as const;

/** URLs of status services in certificates, by name of the node that serves them. */
export const STATUS_URLS = {
  ocsp: "http://pki.lab.test/ocsp",
  crl: "http://pki.lab.test/lab.crl",
  issuer: "http://pki.lab.test/intermediate.cer",
} as const;

const REVOKED: ReadonlySet<string> = new Set([SERIALS.revoked, SERIALS.revokedByList, SERIALS.revokedStaple]);

/** Revokes a serial at a time. The responder says so from now on; the list stays as it is. */
export function revoke(folder: string, serial: string, at: Date): void {
  const file = join(folder, "pki-index.txt");
  const lines = readFileSync(file, "utf8").split("\n");
  const revoked = lines.map((line) => {
    const [, end, , own, ...rest] = line.split("\t");
    if (own !== serial.toUpperCase()) return line;
    return ["R", end, `${asn1Time(at)},${REVOCATION.reason}`, own, ...rest].join("\t");
  });
  writeFileSync(file, revoked.join("\n"));
}

/** Creates the authority with its list of serials (openssl-ca's index), a key for its responder, and a signed CRL. */
export async function makeAuthority(folder: string): Promise<Authority> {
  const pki = await createPki({ name: "Lab" });
  const responder = await pki.issue({
    subject: "Lab OCSP Responder",
    // OCSPSigning (RFC 6960 section 4.2.2.2).
    eku: ["1.3.6.1.5.5.7.3.9"],
  });
  for (const [name, certificate] of Object.entries({ root: pki.root, intermediate: pki.intermediate, responder })) {
    keepIssued(folder, name, certificate);
  }
  writeFileSync(join(folder, "pki-intermediate.der"), pki.intermediate.der);
  writeFileSync(join(folder, "pki-index.txt"), indexOf());
  writeFileSync(join(folder, "pki-ca.cnf"), configuration(folder));
  openssl(["ca", "-gencrl", "-config", join(folder, "pki-ca.cnf"), "-out", join(folder, "pki.crl.pem")]);
  openssl(["crl", "-in", join(folder, "pki.crl.pem"), "-outform", "DER", "-out", join(folder, "pki.crl")]);
  return { ...pki, rootFile: join(folder, "pki-root.pem") };
}

/** Reads the same authority in another process. */
export async function readAuthority(folder: string): Promise<Authority> {
  const [root, intermediate] = await Promise.all(["root", "intermediate"].map((name) => readIssued(folder, name)));
  if (root === undefined || intermediate === undefined) throw new Error("the lab's authority is not complete");
  return {
    root,
    intermediate,
    issue: ({ issuer = intermediate, ...rest } = {}) => issue(issuer === null ? rest : { ...rest, issuer }),
    rootFile: join(folder, "pki-root.pem"),
  };
}

/** Stores a certificate with its key under a name, for another process. */
export function keepIssued(folder: string, name: string, issued: Issued): void {
  writeFileSync(join(folder, `pki-${name}.pem`), issued.pem);
  writeFileSync(join(folder, `pki-${name}.key`), issued.keyPem);
}

/** Reads a stored certificate. */
export async function readIssued(folder: string, name: string): Promise<Issued> {
  const [pem, keyPem] = ["pem", "key"].map((kind) => readFileSync(join(folder, `pki-${name}.${kind}`), "utf8"));
  if (pem === undefined || keyPem === undefined) throw new Error(`no certificate ${name}`);
  const certificate = new X509Certificate(pem);
  const algorithm = { name: "ECDSA", namedCurve: "P-256" } as const;
  const privateKey = createPrivateKey(keyPem);
  const spki = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  const keys = {
    privateKey: await webcrypto.subtle.importKey(
      "pkcs8",
      privateKey.export({ type: "pkcs8", format: "der" }),
      algorithm,
      true,
      ["sign"],
    ),
    publicKey: await webcrypto.subtle.importKey("spki", spki, algorithm, true, ["verify"]),
  };
  return {
    name: certificate.subject,
    pem,
    der: certificate.raw,
    keyPem,
    keys,
    keyId: createHash("sha1").update(spki).digest(),
  };
}

/** Returns the SHA-256 of a certificate's public key as in a TLSA record 3 1 1 (RFC 6698 section 2.1.3). */
export function tlsaOf({ pem }: Issued): string {
  const spki = new X509Certificate(pem).publicKey.export({ type: "spki", format: "der" });
  return createHash("sha256").update(spki).digest("hex");
}

/** Returns the responder's current answer for one serial, as DER. */
export function ocspResponse(folder: string, serial: string): Uint8Array {
  const output = join(folder, `staple-${serial}.der`);
  const about = ["-issuer", join(folder, "pki-intermediate.pem"), "-serial", `0x${serial}`, "-no_nonce"];
  openssl([...asResponder(folder), ...about, "-respout", output]);
  return readFileSync(output);
}

/** Answers an OCSP request (DER) as `openssl ocsp` does with the index. */
export function answerOcsp(folder: string, request: Uint8Array): Uint8Array {
  const [input, output] = [join(folder, "ocsp-request.der"), join(folder, "ocsp-response.der")];
  writeFileSync(input, request);
  openssl([...asResponder(folder), "-reqin", input, "-respout", output]);
  return readFileSync(output);
}

function asResponder(folder: string): string[] {
  const [index, issuer, certificate, key] = ["index.txt", "intermediate.pem", "responder.pem", "responder.key"].map(
    (name) => join(folder, `pki-${name}`),
  );
  return `ocsp -index ${index} -CA ${issuer} -rsigner ${certificate} -rkey ${key} -ndays 2`.split(" ");
}

/** Returns the lines of openssl-ca's database: state, end, revocation, serial, file, subject. */
function indexOf(): string {
  const end = asn1Time(daysFromNow(89));
  const revoked = `${asn1Time(daysFromNow(-REVOCATION.daysAgo))},${REVOCATION.reason}`;
  return Object.values(SERIALS)
    .map((serial) => {
      const [state, when] = REVOKED.has(serial) ? ["R", revoked] : ["V", ""];
      return `${state}\t${end}\t${when}\t${serial.toUpperCase()}\tunknown\t/CN=${serial}\n`;
    })
    .join("");
}

function asn1Time(date: Date): string {
  return `${date.toISOString().replaceAll(/[-:T]/g, "").slice(2, 14)}Z`;
}

function configuration(folder: string): string {
  return `
[ca]
default_ca = lab
[lab]
database = ${folder}/pki-index.txt
certificate = ${folder}/pki-intermediate.pem
private_key = ${folder}/pki-intermediate.key
default_md = sha256
default_crl_days = 2
`;
}

function openssl(line: readonly string[]): void {
  execFileSync("openssl", line, { stdio: "pipe" });
}
