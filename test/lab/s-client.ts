import { X509Certificate } from "node:crypto";
import type { Network } from "#test/lab/driver.ts";

/** Result of `openssl s_client`. */
export interface SClient {
  /** X509_V_ERR number of its verification, 0 if it succeeded; null without a certificate. */
  readonly verifyCode: number | null;
  /** E.g. TLSv1.3; null if the handshake failed. */
  readonly protocol: string | null;
  /** OpenSSL's name of the suite. */
  readonly cipher: string | null;
  readonly alpn: string | null;
  readonly asksForCertificate: boolean;
  /** SHA-256 of the certificates in the order sent, in lower-case hexadecimal. */
  readonly sent: readonly string[];
  readonly text: string;
}

/** Server to connect to, and what to expect from it. */
export interface SClientTarget {
  readonly ip: string;
  readonly name: string;
  readonly rootFile: string;
  /** Default: 443. */
  readonly port?: number;
}

/**
 * Makes a handshake with OpenSSL and a strict verification of chain, dates, name, signatures and keys (security level
 * 2).
 */
export async function sClient(
  network: Network,
  node: string,
  { ip, name, rootFile, port = 443 }: SClientTarget,
  options: readonly string[] = [],
): Promise<SClient> {
  const where = ["-connect", ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`, "-servername", name];
  const trust = ["-CAfile", rootFile, "-no-CApath", "-no-CAstore", "-auth_level", "2"];
  const strict = ["-verify_hostname", name, "-verify_return_error"];
  const more = ["-showcerts", "-alpn", "h2,http/1.1", ...options];
  const line = ["openssl", "s_client", ...where, ...trust, ...strict, ...more];
  // It reads what to send from its standard input, which must end.
  const { stdout, stderr } = await network.run(node, ["sh", "-c", 'exec "$@" </dev/null', "sh", ...line], 5_000);
  return read(stdout + stderr);
}

function read(text: string): SClient {
  const [, version, cipher] = /New, (\S+), Cipher is (\S+)/.exec(text) ?? [];
  const stands = cipher !== undefined && cipher !== "(NONE)";
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const sent = certificates.map((pem) => new X509Certificate(pem).fingerprint256.replaceAll(":", "").toLowerCase());
  const code = /Verify return code: (\d+)/.exec(text)?.[1];
  return {
    verifyCode: sent.length === 0 || code === undefined ? null : Number(code),
    protocol: stands && version !== undefined ? version.replace("TLSv1.0", "TLSv1") : null,
    cipher: stands ? cipher : null,
    alpn: /ALPN protocol: (\S+)/.exec(text)?.[1] ?? null,
    asksForCertificate: text.includes("Requested Signature Algorithms"),
    sent,
    text,
  };
}
