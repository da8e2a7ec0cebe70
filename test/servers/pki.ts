// oxlint-disable-next-line import/no-unassigned-import -- x509 needs its side effect before it loads
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";
import { certificateExtensions, type ExtensionOptions } from "#test/servers/pki-extensions.ts";

x509.cryptoProvider.set(webcrypto as never);

/** A webcrypto key pair. */
export type KeyPair = webcrypto.CryptoKeyPair;

/** Key kinds the builders offer; RSA ones take up to a second to make. */
export type KeyKind = "rsa1024" | "rsa2048" | "p256" | "p384" | "p521" | "ed25519";

/** A certificate with its private key, ready for a Node server (PEM) or for parsing (DER). */
export interface Issued {
  readonly name: string;
  readonly pem: string;
  readonly der: Uint8Array;
  readonly keyPem: string;
  readonly keys: KeyPair;
  /** Subject key identifier octets; null where the extension was left out. */
  readonly keyId: Uint8Array | null;
}

/** What can be chosen of a certificate; the defaults make a good leaf for the names given. */
export interface IssueOptions extends ExtensionOptions {
  /** Subject in x509's text form ("CN=leaf, O=Test") or just a common name; default the first SAN or "leaf". */
  readonly subject?: string;
  /** Absent: self-signed. */
  readonly issuer?: Issued;
  /** Key kind, or the keys of another certificate (cross-signs). Default p256. */
  readonly key?: KeyKind | KeyPair;
  /** Default SHA-256. */
  readonly hash?: "SHA-1" | "SHA-256" | "SHA-384" | "SHA-512";
  /** Default one day ago. */
  readonly notBefore?: Date;
  /** Default in 89 days. */
  readonly notAfter?: Date;
  /** Hexadecimal; default random. */
  readonly serial?: string;
}

/** A root, an intermediate under it and a function that issues more. */
export interface Pki {
  readonly root: Issued;
  readonly intermediate: Issued;
  /** Issues from the intermediate unless `issuer` says otherwise (`issuer: null` = self-signed). */
  issue(options?: Omit<IssueOptions, "issuer"> & { readonly issuer?: Issued | null }): Promise<Issued>;
}

/** Milliseconds of a day, for dates relative to now. */
export const DAY_MS = 86_400_000;

/** A date `days` from now (negative: ago). */
export function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * DAY_MS);
}

/** A fresh root and intermediate (P-256 unless a key kind is given), both ten-year CAs. */
export async function createPki(options: { readonly name?: string; readonly key?: KeyKind } = {}): Promise<Pki> {
  const { name = "Test", key = "p256" } = options;
  const authority = { ca: true, key, notBefore: daysFromNow(-365), notAfter: daysFromNow(3650) } as const;
  const root = await issue({ ...authority, subject: `${name} Root` });
  const intermediate = await issue({ ...authority, subject: `${name} Intermediate`, issuer: root, pathLength: 0 });
  return {
    root,
    intermediate,
    issue({ issuer = intermediate, ...rest } = {}) {
      return issue(issuer === null ? rest : { ...rest, issuer });
    },
  };
}

/** Makes one certificate; self-signed without `issuer`. */
export async function issue(options: IssueOptions): Promise<Issued> {
  const { key = "p256", hash = "SHA-256", issuer } = options;
  const keys = typeof key === "string" ? await generateKeys(key, hash) : key;
  const fallback = options.dns?.[0] ?? options.ip?.[0] ?? "leaf";
  const name = distinguished(options.subject ?? fallback);
  const signingKeys = issuer?.keys ?? keys;
  const { extensions, keyId } = await certificateExtensions(options, keys.publicKey, issuer?.keyId);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: name,
    issuer: issuer?.name ?? name,
    notBefore: options.notBefore ?? daysFromNow(-1),
    notAfter: options.notAfter ?? daysFromNow(89),
    publicKey: keys.publicKey,
    signingKey: await rehashed(signingKeys.privateKey, hash),
    signingAlgorithm: { ...signingKeys.privateKey.algorithm, hash },
    extensions: [...extensions],
    ...(options.serial === undefined ? {} : { serialNumber: options.serial }),
  });
  const der = new Uint8Array(certificate.rawData);
  return { name, pem: `${certificate.toString("pem")}\n`, der, keyPem: await privatePem(keys), keys, keyId };
}

function distinguished(subject: string): string {
  return subject === "" || subject.includes("=") ? subject : `CN=${subject}`;
}

async function generateKeys(kind: KeyKind, hash: string): Promise<KeyPair> {
  return webcrypto.subtle.generateKey(keyAlgorithm(kind, hash), true, ["sign", "verify"]);
}

function keyAlgorithm(kind: KeyKind, hash: string): webcrypto.EcKeyGenParams | webcrypto.RsaHashedKeyGenParams {
  const curves = { p256: "P-256", p384: "P-384", p521: "P-521" } as const;
  if (kind === "ed25519") return { name: "Ed25519" } as webcrypto.EcKeyGenParams;
  if (kind !== "rsa1024" && kind !== "rsa2048") return { name: "ECDSA", namedCurve: curves[kind] };
  const modulusLength = kind === "rsa1024" ? 1024 : 2048;
  return { name: "RSASSA-PKCS1-v1_5", hash, modulusLength, publicExponent: new Uint8Array([1, 0, 1]) };
}

/** Webcrypto binds an RSA key to one hash; the same key under another hash needs a re-import. */
async function rehashed(key: webcrypto.CryptoKey, hash: string): Promise<webcrypto.CryptoKey> {
  if (key.algorithm.name !== "RSASSA-PKCS1-v1_5") return key;
  const pkcs8 = await webcrypto.subtle.exportKey("pkcs8", key);
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash };
  return webcrypto.subtle.importKey("pkcs8", pkcs8, algorithm, true, ["sign"]);
}

async function privatePem(keys: KeyPair): Promise<string> {
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
  return `-----BEGIN PRIVATE KEY-----\n${pkcs8.replace(/.{64}(?=.)/g, "$&\n")}\n-----END PRIVATE KEY-----\n`;
}
