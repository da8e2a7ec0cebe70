import { createReader } from "#probe-agent/net/tls/reader.ts";

/** Handshake message types (IANA, TLS HandshakeType). */
export const MESSAGE = {
  serverHello: 2,
  certificate: 11,
  serverKeyExchange: 12,
  certificateRequest: 13,
  serverHelloDone: 14,
  finished: 20,
  certificateStatus: 22,
} as const;

/** The parameters that a ServerHello selects. */
export interface ServerHello {
  /** Number of the version, 0x0300 to 0x0304. */
  readonly version: number;
  /** IANA number of the cipher suite. */
  readonly suite: number;
  /** True for a HelloRetryRequest, which has the form of a ServerHello; the real one follows. */
  readonly retry: boolean;
  readonly compression: number;
  /** Extensions by number in the order sent; of repeated ones, the first. */
  readonly extensions: ReadonlyMap<number, Uint8Array>;
}

/** Certificates of one Certificate message in the order sent, with the stapled data of the first one. */
interface CertificateList {
  readonly certificates: readonly Uint8Array[];
  readonly ocspStaple: Uint8Array | null;
  /** List of signed certificate timestamps (RFC 6962 section 3.3.1). Only TLS 1.3 sends it with the certificate. */
  readonly timestamps: Uint8Array | null;
}

/** Maximum number of certificates read from one list; no chain needs more. */
const MAX_CERTIFICATES = 100;

/** SHA-256 of "HelloRetryRequest", the random of such a message (RFC 8446 section 4.1.3). */
const RETRY_RANDOM = "cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c";
const EXTENSION = { statusRequest: 5, timestamps: 18, supportedVersions: 43 } as const;

/** Reads a ServerHello (RFC 8446 section 4.1.3, RFC 5246 section 7.4.1.3); null if it is malformed. */
export function readServerHello(body: Uint8Array): ServerHello | null {
  const reader = createReader(body);
  const legacyVersion = reader.number(2);
  const random = reader.take(32);
  reader.vector(1);
  const suite = reader.number(2);
  const compression = reader.number(1) ?? 0;
  if (legacyVersion === undefined || random === undefined || suite === undefined) return null;
  const extensions = readExtensions(reader.vector(2));
  const selected = extensions.get(EXTENSION.supportedVersions);
  const version = selected === undefined ? legacyVersion : (createReader(selected).number(2) ?? legacyVersion);
  const retry = Buffer.from(random).toString("hex") === RETRY_RANDOM;
  return { version, suite, retry, compression, extensions };
}

/** Reads a Certificate message: RFC 5246 section 7.4.2, or RFC 8446 section 4.4.2 with per-certificate extensions. */
export function readCertificates(body: Uint8Array, tls13: boolean): CertificateList {
  const outer = createReader(body);
  if (tls13) outer.vector(1);
  const list = createReader(outer.vector(3) ?? new Uint8Array());
  const certificates: Uint8Array[] = [];
  let ocspStaple: Uint8Array | null = null;
  let timestamps: Uint8Array | null = null;
  while (list.left() > 0 && certificates.length < MAX_CERTIFICATES) {
    const certificate = list.vector(3);
    if (certificate === undefined) break;
    const extensions = tls13 ? list.vector(2) : undefined;
    if (certificates.length === 0) {
      const beside = readExtensions(extensions);
      const status = beside.get(EXTENSION.statusRequest);
      if (status) ocspStaple = readCertificateStatus(status);
      timestamps = beside.get(EXTENSION.timestamps) ?? null;
    }
    if (certificate.length > 0) certificates.push(certificate);
  }
  return { certificates, ocspStaple, timestamps };
}

/** Returns the list of signed certificate timestamps in a ServerHello up to TLS 1.2, or null if there is none. */
export function timestampsOf({ extensions }: ServerHello): Uint8Array | null {
  return extensions.get(EXTENSION.timestamps) ?? null;
}

/** Returns the OCSP response of a CertificateStatus (RFC 6066 section 8). Returns null for other types or if empty. */
export function readCertificateStatus(body: Uint8Array): Uint8Array | null {
  const reader = createReader(body);
  const kind = reader.number(1);
  const response = reader.vector(3);
  return kind === 1 && response !== undefined && response.length > 0 ? response : null;
}

/** Parses a list of extensions (RFC 8446 section 4.2) up to the first malformed one. */
function readExtensions(block: Uint8Array | undefined): ReadonlyMap<number, Uint8Array> {
  const found = new Map<number, Uint8Array>();
  const reader = createReader(block ?? new Uint8Array());
  while (reader.left() > 0) {
    const type = reader.number(2);
    const value = reader.vector(2);
    if (type === undefined || value === undefined) break;
    if (!found.has(type)) found.set(type, value);
  }
  return found;
}
