import { X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Network } from "#test/lab/driver.ts";
import type { SClient } from "#test/lab/s-client.ts";
import { STATUS_URLS } from "#test/lab/services/authority.ts";

/** Source of a certificate's status. */
export type StatusMethod = "staple" | "ocsp" | "crl";

/**
 * Returns the status of the first certificate of a session according to OpenSSL's own programs: good, revoked, or
 * something else. The session must have requested a staple (-status).
 */
export async function opensslStatus(
  network: Network,
  node: string,
  session: SClient,
  method: StatusMethod,
): Promise<string | undefined> {
  if (method === "staple") return /Cert Status: (\w+)/.exec(session.text)?.[1];
  const { folder } = network;
  const leaf = join(folder, "asked.pem");
  const [pem = ""] = session.text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/) ?? [];
  writeFileSync(leaf, new X509Certificate(pem).toString());
  const [root, issuer] = [join(folder, "pki-root.pem"), join(folder, "pki-intermediate.pem")];
  if (method === "ocsp") {
    const trust = `-CAfile ${root} -verify_other ${issuer}`;
    const { stdout } = await network.run(node, [
      "sh",
      "-c",
      `openssl ocsp -issuer ${issuer} -cert ${leaf} -url ${STATUS_URLS.ocsp} ${trust}`,
    ]);
    return new RegExp(`^${leaf}: (\\w+)`, "m").exec(stdout)?.[1];
  }
  const list = join(folder, "asked.crl");
  const fetched = `curl -sS ${STATUS_URLS.crl} | openssl crl -inform DER -out ${list}`;
  const verified = `openssl verify -crl_check -CAfile ${root} -untrusted ${issuer} -CRLfile ${list} ${leaf}`;
  const { code, stderr } = await network.run(node, ["sh", "-c", `${fetched} && ${verified}`]);
  return code === 0 ? "good" : stderr.includes("certificate revoked") ? "revoked" : stderr;
}
