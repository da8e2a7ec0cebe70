import { adviseOn, finding, type AdviceTable, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { sortFindings, type Finding } from "#shared/contracts/findings.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { protocol } from "#shared/tools/protocol/contract.ts";

/** The part of the result that the findings use. */
export type ProtocolFacts = Pick<ResultOf<typeof protocol>, "url" | "h2" | "h3" | "tls" | "https_rr"> & {
  /** Elements of Alt-Svc that cannot be parsed, one sentence each. */
  readonly altSvcProblems: readonly string[];
};

const RFC = "https://www.rfc-editor.org/rfc";
const VERSIONS = "Offer only TLS 1.2 and TLS 1.3, e.g. in nginx: ssl_protocols TLSv1.2 TLSv1.3;";

/** Severity and advice for each kind of finding. */
const PROTOCOL_ADVICE = {
  "old-protocol": { severity: "warning", how: VERSIONS, reference: `${RFC}/rfc8996` },
  "no-tls1-3": { severity: "info", how: VERSIONS, reference: `${RFC}/rfc8446` },
  "no-modern-protocol": { severity: "critical", how: VERSIONS, reference: `${RFC}/rfc8446` },
  "certificate-not-trusted": {
    severity: "critical",
    how: "Call the ssl tool for the cause and the certificate to replace.",
    reference: null,
  },
  "no-http2": { severity: "warning", how: "Enable HTTP/2, e.g. in nginx: http2 on;", reference: `${RFC}/rfc9113` },
  "http3-unreachable": {
    severity: "warning",
    how: "Open the UDP port in the firewall, or stop advertising h3.",
    reference: `${RFC}/rfc9114#section-3.1`,
  },
  "no-http3": {
    severity: "info",
    how: 'Enable HTTP/3 and send Alt-Svc: h3=":443"; ma=86400',
    reference: `${RFC}/rfc9114#section-3.1`,
  },
  "alt-svc-malformed": {
    severity: "warning",
    how: 'Send the header in the form Alt-Svc: h3=":443"; ma=86400',
    reference: `${RFC}/rfc7838#section-3`,
  },
  "https-record-unusable": {
    severity: "warning",
    how: "Remove the parameter from mandatory, or add it to the record.",
    reference: `${RFC}/rfc9460#section-8`,
  },
} as const satisfies AdviceTable<string>;

type Draft = FindingDraft<keyof typeof PROTOCOL_ADVICE>;

/** Returns the findings about the versions of HTTP and TLS that a server offers, worst first. */
export function protocolFindings(facts: ProtocolFacts): Finding[] {
  return sortFindings(adviseOn(PROTOCOL_ADVICE, [...tlsFindings(facts), ...httpFindings(facts)], null));
}

function tlsFindings({ tls }: ProtocolFacts): Draft[] {
  if (tls === null) return [];
  const { ssl3, tls1_0, tls1_1, tls1_2, tls1_3 } = tls.versions;
  const old = [
    ["ssl3", "SSL 3", ssl3, "RFC 7568"],
    ["tls1_0", "TLS 1.0", tls1_0, "RFC 8996"],
    ["tls1_1", "TLS 1.1", tls1_1, "RFC 8996"],
  ] as const;
  const found = old.flatMap(([where, label, offered, document]): Draft[] => {
    if (offered !== true) return [];
    const message = `The server offers ${label}, which ${document} forbids.`;
    return [finding("old-protocol", where, message, where === "ssl3" ? "critical" : "warning")];
  });
  if (!tls.authorized) {
    found.push(
      finding(
        "certificate-not-trusted",
        "tls",
        `Browsers refuse the certificate: ${(tls.error ?? "not trusted").replaceAll("_", " ")}.`,
      ),
    );
  }
  if (tls1_3 === false) {
    const modern = tls1_2 !== false;
    const none = "The server offers neither TLS 1.2 nor TLS 1.3. Current clients cannot connect.";
    found.push(
      modern
        ? finding("no-tls1-3", "tls1_3", "The server does not offer TLS 1.3.")
        : finding("no-modern-protocol", "tls1_3", none),
    );
  }
  return found;
}

function httpFindings({ url, h2, h3, https_rr: records, altSvcProblems }: ProtocolFacts): Draft[] {
  const isHttps = url.toLowerCase().startsWith("https:");
  const advertised = h3.advertised_alt_svc || h3.advertised_https_rr;
  const found: Draft[] = [];
  if (isHttps && !h2) {
    found.push(
      finding("no-http2", "h2", "The server does not offer HTTP/2: browsers need several connections for one page."),
    );
  }
  if (advertised && h3.quic_reachable === false) {
    const by = h3.advertised_alt_svc ? "Alt-Svc" : "An HTTPS record";
    found.push(
      finding(
        "http3-unreachable",
        "h3",
        `${by} advertises HTTP/3, but no QUIC server responds: clients lose time before they use another version.`,
      ),
    );
  }
  if (isHttps && !advertised) {
    found.push(finding("no-http3", "h3", "The server does not advertise HTTP/3."));
  }
  const [problem] = altSvcProblems;
  if (problem !== undefined) {
    const more = altSvcProblems.length > 1 ? ` (and ${altSvcProblems.length - 1} more)` : "";
    found.push(
      finding("alt-svc-malformed", "Alt-Svc", `Clients ignore a part of Alt-Svc that is invalid: ${problem}${more}`),
    );
  }
  if ((records?.records ?? []).some(({ compatible }) => !compatible)) {
    found.push(
      finding(
        "https-record-unusable",
        records?.name ?? null,
        "Clients ignore an HTTPS record, because a parameter that it declares mandatory is missing or unknown.",
      ),
    );
  }
  return found;
}

/** Names of versions in the IANA QUIC Versions registry (as of 2025), and of one earlier draft number. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["0x00000001", "QUIC version 1 (RFC 9000)"],
  ["0x6b3343cf", "QUIC version 2 (RFC 9369)"],
  ["0x709a50c4", "QUIC version 2, draft number"],
]);

/** Returns the name of a version in the notation of QuicPort. Returns the version unchanged if it has no name. */
export function quicVersionName(version: string): string {
  const named = NAMES.get(version);
  if (named !== undefined) return named;
  const draft = /^0xff0000([0-9a-f]{2})$/.exec(version)?.[1];
  if (draft !== undefined) return `QUIC draft ${Number.parseInt(draft, 16)}`;
  // Versions of Google QUIC are ASCII texts such as "Q046".
  const ascii = Buffer.from(version.slice(2), "hex").toString("latin1");
  if (/^[QT]0\d\d$/.test(ascii)) return `Google QUIC ${ascii}`;
  if (version.startsWith("0xfaceb0")) return "mvfst (Meta)";
  return version;
}
