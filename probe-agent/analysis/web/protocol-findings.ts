import { sortFindings, type Finding } from "#shared/findings.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { protocol } from "#shared/tools/protocol.ts";

/** The part of the result that the findings use. */
export type ProtocolFacts = Pick<ResultOf<typeof protocol>, "url" | "h2" | "h3" | "tls" | "https_rr"> & {
  /** Elements of Alt-Svc that cannot be parsed, one sentence each. */
  readonly altSvcProblems: readonly string[];
};

const RFC = "https://www.rfc-editor.org/rfc";
const VERSIONS = "Offer only TLS 1.2 and TLS 1.3, e.g. in nginx: ssl_protocols TLSv1.2 TLSv1.3;";

/** Returns the findings about the versions of HTTP and TLS that a server offers, worst first. */
export function protocolFindings(facts: ProtocolFacts): Finding[] {
  return sortFindings([...tlsFindings(facts), ...httpFindings(facts)]);
}

function tlsFindings({ tls }: ProtocolFacts): Finding[] {
  if (tls === null) return [];
  const { ssl3, tls1_0, tls1_1, tls1_2, tls1_3 } = tls.versions;
  const old = [
    ["ssl3", "SSL 3", ssl3, "RFC 7568"],
    ["tls1_0", "TLS 1.0", tls1_0, "RFC 8996"],
    ["tls1_1", "TLS 1.1", tls1_1, "RFC 8996"],
  ] as const;
  const found = old.flatMap(([where, label, offered, document]): Finding[] => {
    if (offered !== true) return [];
    const message = `The server offers ${label}, which ${document} forbids.`;
    const severity = where === "ssl3" ? "critical" : "warning";
    return [{ id: "old-protocol", severity, message, how: VERSIONS, reference: `${RFC}/rfc8996`, where }];
  });
  if (!tls.authorized) {
    found.push({
      id: "certificate-not-trusted",
      severity: "critical",
      message: `Browsers refuse the certificate: ${(tls.error ?? "not trusted").replaceAll("_", " ")}.`,
      how: "Call the ssl tool for the cause and the certificate to replace.",
      reference: null,
      where: "tls",
    });
  }
  if (tls1_3 === false) {
    const modern = tls1_2 !== false;
    found.push({
      id: modern ? "no-tls1-3" : "no-modern-protocol",
      severity: modern ? "info" : "critical",
      message: modern
        ? "The server does not offer TLS 1.3."
        : "The server offers neither TLS 1.2 nor TLS 1.3. Current clients cannot connect.",
      how: VERSIONS,
      reference: `${RFC}/rfc8446`,
      where: "tls1_3",
    });
  }
  return found;
}

function httpFindings({ url, h2, h3, https_rr: records, altSvcProblems }: ProtocolFacts): Finding[] {
  const isHttps = url.toLowerCase().startsWith("https:");
  const advertised = h3.advertised_alt_svc || h3.advertised_https_rr;
  const found: Finding[] = [];
  if (isHttps && !h2) {
    found.push({
      id: "no-http2",
      severity: "warning",
      message: "The server does not offer HTTP/2: browsers need several connections for one page.",
      how: "Enable HTTP/2, e.g. in nginx: http2 on;",
      reference: `${RFC}/rfc9113`,
      where: "h2",
    });
  }
  if (advertised && h3.quic_reachable === false) {
    const by = h3.advertised_alt_svc ? "Alt-Svc" : "An HTTPS record";
    found.push({
      id: "http3-unreachable",
      severity: "warning",
      message: `${by} advertises HTTP/3, but no QUIC server responds: clients lose time before they use another version.`,
      how: "Open the UDP port in the firewall, or stop advertising h3.",
      reference: `${RFC}/rfc9114#section-3.1`,
      where: "h3",
    });
  }
  if (isHttps && !advertised) {
    found.push({
      id: "no-http3",
      severity: "info",
      message: "The server does not advertise HTTP/3.",
      how: 'Enable HTTP/3 and send Alt-Svc: h3=":443"; ma=86400',
      reference: `${RFC}/rfc9114#section-3.1`,
      where: "h3",
    });
  }
  const [problem] = altSvcProblems;
  if (problem !== undefined) {
    const more = altSvcProblems.length > 1 ? ` (and ${altSvcProblems.length - 1} more)` : "";
    found.push({
      id: "alt-svc-malformed",
      severity: "warning",
      message: `Clients ignore a part of Alt-Svc that is invalid: ${problem}${more}`,
      how: 'Send the header in the form Alt-Svc: h3=":443"; ma=86400',
      reference: `${RFC}/rfc7838#section-3`,
      where: "Alt-Svc",
    });
  }
  if ((records?.records ?? []).some(({ compatible }) => !compatible)) {
    found.push({
      id: "https-record-unusable",
      severity: "warning",
      message: "Clients ignore an HTTPS record, because a parameter that it declares mandatory is missing or unknown.",
      how: "Remove the parameter from mandatory, or add it to the record.",
      reference: `${RFC}/rfc9460#section-8`,
      where: records?.name ?? null,
    });
  }
  return found;
}
