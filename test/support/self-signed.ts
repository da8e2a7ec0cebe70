// oxlint-disable-next-line import/no-unassigned-import -- @peculiar/x509 needs this polyfill loaded before it
import "reflect-metadata";
import * as x509 from "@peculiar/x509";

/** A PEM certificate with its key, for a test server. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/**
 * A throwaway self-signed P-256 certificate for the names and addresses, valid from a day ago for `days` days
 * (negative: it has expired).
 */
export async function selfSigned(names: readonly string[], days = 30): Promise<Identity> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const start = Date.now() - 86_400_000 * (days < 0 ? 1 - days * 2 : 1);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString("hex"),
    name: "CN=Test server",
    notBefore: new Date(start),
    notAfter: new Date(Date.now() + days * 86_400_000),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: /^[\d.]+$|:/.test(value) ? ("ip" as const) : ("dns" as const), value })),
      ),
      new x509.BasicConstraintsExtension(true, undefined, true),
    ],
  });
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
  const lines = pkcs8.match(/.{1,64}/g) ?? [];
  const key = `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`;
  return { cert: certificate.toString("pem"), key };
}
