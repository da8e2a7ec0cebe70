// oxlint-disable-next-line import/no-unassigned-import -- x509 needs its side effect before it loads
import "reflect-metadata";
import { createHash, createPrivateKey, webcrypto, X509Certificate as NodeCertificate } from "node:crypto";
import * as x509 from "@peculiar/x509";
import type { Clock, Random } from "#shared/time/clock.ts";
import { CONTROL_PLANE_NAME } from "#shared/protocol/wire.ts";

x509.cryptoProvider.set(webcrypto as never);

type CryptoKey = webcrypto.CryptoKey;

/** The authority's certificate (DER) and private key (PKCS #8, DER). */
interface KeptAuthority {
  readonly certificate: Uint8Array;
  readonly privateKey: Uint8Array;
}

/** Identity of the listener for agents, in PEM. The chain ends with the authority's own certificate. */
interface ServerIdentity {
  readonly chain: string;
  readonly privateKey: string;
  readonly notAfter: Date;
}

/** The public key of a certificate request, proved by its signature. */
export type RequestedKey = CryptoKey;

/** Holder of a client certificate that this authority issued. */
export interface Holder {
  readonly agentId: string;
  /** Lower-case hex. */
  readonly serial: string;
  readonly notAfter: Date;
}

/** The control plane's own certificate authority: RFC 5280, always P-256 with SHA-256. */
export interface Authority {
  /** DER. */
  readonly certificate: Uint8Array;
  /** PEM. */
  readonly pem: string;
  /** SHA-256 of the DER, lower-case hex; join tokens carry it. */
  readonly fingerprint: string;
  /** Creates a key and a certificate for the listener. */
  issueServer(): Promise<ServerIdentity>;
  /** Returns the serial number and the expiry for a client certificate that is issued now. */
  plan(): Pick<Holder, "serial" | "notAfter">;
  /** Issues a client certificate. Returns its DER. */
  issueClient(holder: Holder, key: RequestedKey): Promise<Uint8Array>;
  /** Returns the holder of a client certificate; null if this authority did not sign it. Does not check its dates. */
  identify(certificate: Uint8Array): Holder | null;
}

/** Maximum size of a certificate request in octets; one for P-256 has about 250. */
export const MAX_REQUEST_BYTES = 4_096;

const DAY_MS = 86_400_000;
// For a host whose clock is behind, a new certificate must not seem "not yet valid".
const BACKDATED_MS = DAY_MS;
const AUTHORITY_DAYS = 3_650;
const SERVER_DAYS = 90;
const CLIENT_DAYS = 30;
const EC = { name: "ECDSA", namedCurve: "P-256" } as const;
const SIGNATURE = { name: "ECDSA", hash: "SHA-256" } as const;
const AUTHORITY_NAME = "CN=Vantage agent authority";

/** Creates a new authority. */
export async function createAuthority(clock: Clock, random: Random): Promise<KeptAuthority> {
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: generateSerial(random),
    name: AUTHORITY_NAME,
    ...lifetime(clock, AUTHORITY_DAYS),
    signingAlgorithm: SIGNATURE,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const privateKey = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
  return { certificate: new Uint8Array(certificate.rawData), privateKey: new Uint8Array(privateKey) };
}

/** Opens an authority, so that it can issue certificates. */
export async function openAuthority(kept: KeptAuthority, clock: Clock, random: Random): Promise<Authority> {
  const own = new NodeCertificate(kept.certificate);
  const signingKey = await webcrypto.subtle.importKey("pkcs8", kept.privateKey, EC, false, ["sign"]);
  const keyIdentifier = await x509.AuthorityKeyIdentifierExtension.create(new x509.X509Certificate(own.raw));

  async function issue(serial: string, commonName: string, dates: Dates, key: CryptoKey, usage: x509.Extension[]) {
    const extensions = [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      keyIdentifier,
      await x509.SubjectKeyIdentifierExtension.create(key),
      ...usage,
    ];
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: serial,
      subject: `CN=${commonName}`,
      issuer: AUTHORITY_NAME,
      ...dates,
      publicKey: key,
      signingKey,
      signingAlgorithm: SIGNATURE,
      extensions,
    });
    return new Uint8Array(certificate.rawData);
  }

  return {
    certificate: kept.certificate,
    pem: own.toString(),
    fingerprint: createHash("sha256").update(kept.certificate).digest("hex"),
    async issueServer() {
      const keys = await generateKeys();
      const dates = lifetime(clock, SERVER_DAYS);
      const names = [CONTROL_PLANE_NAME, "localhost"].map((value) => ({ type: "dns", value }) as const);
      const der = await issue(generateSerial(random), CONTROL_PLANE_NAME, dates, keys.publicKey, [
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(names),
      ]);
      const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey));
      return {
        chain: `${new NodeCertificate(der).toString()}${own.toString()}`,
        privateKey: createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" })
          .export({ format: "pem", type: "pkcs8" })
          .toString(),
        notAfter: dates.notAfter,
      };
    },
    plan: () => ({ serial: generateSerial(random), notAfter: lifetime(clock, CLIENT_DAYS).notAfter }),
    issueClient({ agentId, serial, notAfter }, key) {
      const dates = { notBefore: lifetime(clock, CLIENT_DAYS).notBefore, notAfter };
      return issue(serial, agentId, dates, key, [
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
      ]);
    },
    identify(certificate) {
      let read: NodeCertificate;
      try {
        read = new NodeCertificate(certificate);
        if (!read.verify(own.publicKey)) return null;
      } catch {
        return null;
      }
      const agentId = /^CN=([A-Za-z0-9-]+)$/.exec(read.subject)?.[1];
      if (agentId === undefined) return null;
      return { agentId, serial: read.serialNumber.toLowerCase(), notAfter: read.validToDate };
    },
  };
}

/**
 * Parses a PKCS #10 certificate request (RFC 2986) and returns its key. Returns null if it is too large, not a request,
 * not for P-256 or not signed by that key. Ignores subject and extensions.
 */
export async function parseCertificateRequest(der: Uint8Array): Promise<RequestedKey | null> {
  if (der.length === 0 || der.length > MAX_REQUEST_BYTES) return null;
  try {
    const request = new x509.Pkcs10CertificateRequest(Uint8Array.from(der));
    const { name, namedCurve } = request.publicKey.algorithm as { name: string; namedCurve?: string };
    if (name !== EC.name || namedCurve !== EC.namedCurve) return null;
    if (!(await request.verify())) return null;
    return (await request.publicKey.export(EC, ["verify"])) as CryptoKey;
  } catch {
    return null; // the parsers throw if it is not a request
  }
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(EC, true, ["sign", "verify"]);
}

interface Dates {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** Returns the dates of a certificate, in whole seconds as certificates have them. */
function lifetime(clock: Clock, days: number): Dates {
  const now = Math.floor(clock.now().getTime() / 1_000) * 1_000;
  return { notBefore: new Date(now - BACKDATED_MS), notAfter: new Date(now + days * DAY_MS) };
}

/**
 * Returns a serial number of 128 bits. The first two are fixed, so that it is positive and has one length (RFC 5280,
 * 4.1.2.2).
 */
function generateSerial(random: Random): string {
  const bytes = Buffer.from(random.bytes(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString("hex");
}
