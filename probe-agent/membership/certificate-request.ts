import { generateKeyPairSync, sign } from "node:crypto";

/** A new key and the certificate request that it signed. */
export interface CertificateRequest {
  /** PKCS #8, PEM. Never leaves this host. */
  readonly key: string;
  /** PKCS #10 (RFC 2986), DER. The control plane ignores its subject and assigns the agent id. */
  readonly request: Uint8Array;
}

const SEQUENCE = 0x30;
const VERSION_1 = Buffer.from("020100", "hex");
const NO_ATTRIBUTES = Buffer.from("a000", "hex");
const COMMON_NAME = Buffer.from("0603550403", "hex");
const NAME = der(SEQUENCE, der(0x31, der(SEQUENCE, COMMON_NAME, der(0x0c, Buffer.from("vantage agent")))));
/** ecdsa-with-SHA256 (RFC 5758). */
const ALGORITHM = Buffer.from("300a06082a8648ce3d040302", "hex");

/**
 * Generates a P-256 key and signs a request with it. The request is encoded here, because a library for certificates
 * would take 10 MB of an agent's memory for this one.
 */
export function makeCertificateRequest(): CertificateRequest {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const subjectKey = publicKey.export({ format: "der", type: "spki" });
  const info = der(SEQUENCE, VERSION_1, NAME, subjectKey, NO_ATTRIBUTES);
  const signature = der(0x03, Buffer.of(0), sign("sha256", info, privateKey));
  return {
    key: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
    request: der(SEQUENCE, info, ALGORITHM, signature),
  };
}

/** Encodes a value of less than 256 octets (X.690 section 8.1). */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const value = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(value.length < 128 ? [tag, value.length] : [tag, 0x81, value.length]), value]);
}
