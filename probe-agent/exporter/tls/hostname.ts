import { isSameOctets } from "#shared/text/same-octets.ts";
import { readable } from "#probe-agent/analysis/tls/certificate/der.ts";
import { subjectAltNames } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { ipOctets } from "#probe-agent/analysis/tls/certificate/hostname.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";

/**
 * Reports whether a certificate is for a host, as Go's x509.Certificate.VerifyHostname: by the subject's alternative
 * names alone, an address by an iPAddress. Unlike in browsers, a wildcard can represent all names below a top-level domain.
 */
export function isForHost(certificate: Certificate, host: string): boolean {
  const names = readable(() => subjectAltNames(certificate) ?? [], []);
  const address = ipOctets(host);
  if (address !== null) return names.some(({ kind, contents }) => kind === "ip" && isSameOctets(contents, address));
  const labels = host.toLowerCase().replace(/\.$/, "").split(".");
  if (labels.includes("") || host.includes("*")) return false;
  return names.some(({ kind, contents }) => {
    if (kind !== "dns") return false;
    const pattern = Buffer.from(contents).toString("latin1").toLowerCase().split(".");
    return (
      pattern.length === labels.length &&
      pattern.every((label, at) => label === labels[at] || (at === 0 && label === "*" && pattern.length > 1))
    );
  });
}
