// oxlint-disable-next-line import/no-unassigned-import -- x509 needs its side effect before it loads
import "reflect-metadata";
import { createHash, createPrivateKey, webcrypto, X509Certificate as NodeCertificate } from "node:crypto";
import * as x509 from "@peculiar/x509";
import type { Clock, Random } from "#shared/clock.ts";
import { CONTROL_PLANE_NAME } from "#shared/wire.ts";

x509.cryptoProvider.set(webcrypto as never);

type CryptoKey = webcrypto.CryptoKey;

/** A certificate and the key it speaks for: DER, the key as PKCS #8. */
interface KeptAuthority {
  readonly certificate: Uint8Array;
  readonly privateKey: Uint8Array;
}

/** What the listener for agents shows: PEM, the chain with the authority's own certificate at its end. */
interface ServerIdentity {
  readonly chain: string;
  readonly privateKey: string;
  readonly notAfter: Date;
}

/** The public key of a certificate request whose signature proved it. */
export type RequestedKey = CryptoKey;

/** Who a client certificate of ours was issued to. */
export interface Holder {
  readonly agentId: string;
  /** Lower-case hex. */
  readonly serial: string;
  readonly notAfter: Date;
}

/** The control plane's own certificate authority: RFC 5280, P-256 with SHA-256 throughout. */
export interface Authority {
  /** DER. */
  readonly certificate: Uint8Array;
  /** PEM. */
  readonly pem: string;
  /** SHA-256 of the DER, lower-case hex; join tokens carry it. */
  readonly fingerprint: string;
  /** A fresh key and certificate for the listener. */
  issueServer(): Promise<ServerIdentity>;
  /** The serial number and the end that a client certificate made now would have. */
  plan(): Pick<Holder, "serial" | "notAfter">;
  /** A client certificate, DER. */
  issueClient(holder: Holder, key: RequestedKey): Promise<Uint8Array>;
  /** Reads a certificate as one of ours, by its signature; null where it is none. Its dates are the caller's to judge. */
  identify(certificate: Uint8Array): Holder | null;
}

/** Largest certificate request read, octets; one for P-256 has about 250. */
export const MAX_REQUEST_BYTES = 4_096;

const DAY_MS = 86_400_000;
// Hosts whose clock runs behind must not find a fresh certificate not yet valid.
const BACKDATED_MS = DAY_MS;
const AUTHORITY_DAYS = 3_650;
const SERVER_DAYS = 90;
const CLIENT_DAYS = 30;
const EC = { name: "ECDSA", namedCurve: "P-256" } as const;
const SIGNATURE = { name: "ECDSA", hash: "SHA-256" } as const;
const AUTHORITY_NAME = "CN=Vantage agent authority";

/** A new authority. */
export async function makeAuthority(clock: Clock, random: Random): Promise<KeptAuthority> {
  const keys = await makeKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: makeSerial(random),
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

/** The authority at work. */
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
      const keys = await makeKeys();
      const dates = lifetime(clock, SERVER_DAYS);
      const names = [CONTROL_PLANE_NAME, "localhost"].map((value) => ({ type: "dns", value }) as const);
      const der = await issue(makeSerial(random), CONTROL_PLANE_NAME, dates, keys.publicKey, [
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
    plan: () => ({ serial: makeSerial(random), notAfter: lifetime(clock, CLIENT_DAYS).notAfter }),
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
 * The key a PKCS #10 request asks a certificate for (RFC 2986); null where it is too large, no request, not for P-256 or
 * not signed by that very key. Subject and extensions are not read.
 */
export async function readRequest(der: Uint8Array): Promise<RequestedKey | null> {
  if (der.length === 0 || der.length > MAX_REQUEST_BYTES) return null;
  try {
    const request = new x509.Pkcs10CertificateRequest(Uint8Array.from(der));
    const { name, namedCurve } = request.publicKey.algorithm as { name: string; namedCurve?: string };
    if (name !== EC.name || namedCurve !== EC.namedCurve) return null;
    if (!(await request.verify())) return null;
    return (await request.publicKey.export(EC, ["verify"])) as CryptoKey;
  } catch {
    return null; // the parsers throw on what is no request
  }
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(EC, true, ["sign", "verify"]);
}

interface Dates {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** Certificates know whole seconds. */
function lifetime(clock: Clock, days: number): Dates {
  const now = Math.floor(clock.now().getTime() / 1_000) * 1_000;
  return { notBefore: new Date(now - BACKDATED_MS), notAfter: new Date(now + days * DAY_MS) };
}

/** 128 bits, the first two fixed: positive and of one length in every notation (RFC 5280, 4.1.2.2). */
function makeSerial(random: Random): string {
  const bytes = Buffer.from(random.bytes(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString("hex");
}
