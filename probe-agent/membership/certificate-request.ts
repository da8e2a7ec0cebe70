// oxlint-disable-next-line import/no-unassigned-import -- x509 needs its side effect before it loads
import "reflect-metadata";
import { createPrivateKey, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

x509.cryptoProvider.set(webcrypto as never);

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256" } as const;

/** A new key and the certificate request that it signed. */
export interface CertificateRequest {
  /** PKCS #8, PEM. Never leaves this host. */
  readonly key: string;
  /** PKCS #10 (RFC 2986), DER. The control plane ignores its subject and assigns the agent id. */
  readonly request: Uint8Array;
}

/** Generates a P-256 key and signs a request with it. */
export async function makeCertificateRequest(): Promise<CertificateRequest> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: "CN=vantage agent",
    keys,
    signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
  });
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey));
  const key = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
  return { key: key.export({ format: "pem", type: "pkcs8" }).toString(), request: new Uint8Array(request.rawData) };
}
