import type { ResultOf } from "#shared/tools/define.ts";
import type { reverseIp as contract } from "#shared/tools/reverse-ip.ts";
import { describeCertificate } from "#probe-agent/analysis/tls/certificate/describe.ts";
import { subjectAltNames } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { MalformedDer } from "#probe-agent/analysis/tls/certificate/der.ts";
import { parseCertificate, type Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** Certificate that the address's default site sent. */
export interface DefaultCertificate {
  readonly shown: ResultOf<typeof contract>["certificate"];
  /** DNS names of the certificate. */
  readonly names: readonly string[];
  readonly limitation: string | null;
}

const HANDSHAKE_MS = 6_000;

/** Connects to port 443 without a server name and returns the certificate of the site that answers without one. */
export async function defaultCertificate(net: Net, ip: string): Promise<DefaultCertificate> {
  const seen = await net.tls.inspect({ ip, port: 443, servername: null, timeoutMs: HANDSHAKE_MS });
  if (seen.status !== "ok") {
    const why = seen.status === "failed" ? seen.reason : "not allowed";
    return { shown: null, names: [], limitation: `Port 443 sent no certificate (${why}).` };
  }
  const [leaf] = seen.data.sent;
  const certificate = leaf === undefined ? null : parseCertificate(leaf);
  if (certificate === null)
    return { shown: null, names: [], limitation: "The certificate on port 443 cannot be read." };
  const names = dnsNames(certificate);
  const { common_name: subject, not_after, days_left } = describeCertificate(certificate, net.now());
  return { shown: { subject, names: names.length, not_after, days_left }, names, limitation: null };
}

function dnsNames(certificate: Certificate): string[] {
  try {
    const names = subjectAltNames(certificate) ?? [];
    return names.flatMap(({ kind, contents }) => (kind === "dns" ? [Buffer.from(contents).toString("latin1")] : []));
  } catch (error) {
    if (error instanceof MalformedDer) return [];
    throw error;
  }
}
