import type { BimiFindingId } from "#probe-agent/analysis/mail/bimi.ts";
import type { MtaStsFindingId } from "#probe-agent/analysis/mail/mta-sts.ts";
import type { TlsRptFindingId } from "#probe-agent/analysis/mail/tls-rpt.ts";
import type { AdviceTable } from "#probe-agent/analysis/text/findings.ts";
import { publishTxt } from "#probe-agent/analysis/mail/tag-list.ts";

/** Facts about a domain that the advice on its policies uses. */
export interface PolicyContext {
  readonly domain: string;
  /** Names of the mail hosts; empty if unknown. */
  readonly hosts: readonly string[];
  /** Current time, which becomes the id of a policy that is published now. */
  readonly now: Date;
}

const STS_RECORD = "https://www.rfc-editor.org/rfc/rfc8461#section-3.1";
const STS_POLICY = "https://www.rfc-editor.org/rfc/rfc8461#section-3.2";
const STS_FETCH = "https://www.rfc-editor.org/rfc/rfc8461#section-3.3";
const TLS_RPT = "https://www.rfc-editor.org/rfc/rfc8460#section-3";
const BIMI = "https://datatracker.ietf.org/doc/draft-brand-indicators-for-message-identification/";
const MAX_HOSTS = 10;

/** Severity and advice for MTA-STS. */
export const MTA_STS_ADVICE: AdviceTable<MtaStsFindingId, PolicyContext> = {
  "mta-sts-record-malformed": { severity: "warning", how: publishStsRecord, reference: STS_RECORD },
  "mta-sts-several-records": {
    severity: "warning",
    how: ({ domain }) => `Keep one TXT record at _mta-sts.${domain} that begins with v=STSv1; and remove the others.`,
    reference: STS_RECORD,
  },
  "mta-sts-policy-unreachable": { severity: "warning", how: serveStsPolicy, reference: STS_FETCH },
  "mta-sts-policy-unreadable": { severity: "warning", how: serveStsPolicy, reference: STS_POLICY },
  "mta-sts-policy-malformed": { severity: "warning", how: serveStsPolicy, reference: STS_POLICY },
  "mta-sts-field-repeated": { severity: "info", how: serveStsPolicy, reference: STS_POLICY },
  "mta-sts-max-age-short": {
    severity: "info",
    how: (context) =>
      `Set "max_age: 2419200" (four weeks) in the policy, then ${lowerFirst(publishStsRecord(context))}`,
    reference: STS_POLICY,
  },
  "mta-sts-content-type": {
    severity: "info",
    how: "Send the policy with the header Content-Type: text/plain",
    reference: STS_FETCH,
  },
  "mta-sts-mx-mismatch": {
    severity: "warning",
    how: (context) =>
      `Name every mail host in the policy (${mxLines(context)}), then ${lowerFirst(publishStsRecord(context))}`,
    reference: "https://www.rfc-editor.org/rfc/rfc8461#section-4.1",
  },
};

/** Severity and advice for TLSRPT. All are info: mail works without reports. */
export const TLS_RPT_ADVICE: AdviceTable<TlsRptFindingId, PolicyContext> = {
  "tls-rpt-record-malformed": { severity: "info", how: publishTlsRpt, reference: TLS_RPT },
  "tls-rpt-several-records": {
    severity: "info",
    how: ({ domain }) =>
      `Keep one TXT record at _smtp._tls.${domain} that begins with v=TLSRPTv1; and remove the others.`,
    reference: TLS_RPT,
  },
  "tls-rpt-address": { severity: "info", how: publishTlsRpt, reference: TLS_RPT },
};

/** Severity and advice for BIMI. All are info: BIMI only affects the display of a logo. */
export const BIMI_ADVICE: AdviceTable<BimiFindingId, PolicyContext> = {
  "bimi-several-records": {
    severity: "info",
    how: ({ domain }) => `Keep one TXT record at default._bimi.${domain} and remove the others.`,
    reference: BIMI,
  },
  "bimi-record-malformed": { severity: "info", how: publishBimi, reference: BIMI },
  "bimi-without-certificate": { severity: "info", how: publishBimi, reference: BIMI },
  "bimi-dmarc-not-enforced": {
    severity: "info",
    how: ({ domain }) =>
      `${publishTxt(`_dmarc.${domain}`, "v=DMARC1; p=quarantine; rua=mailto:<your report address>")} (without sp=none and pct)`,
    reference: BIMI,
  },
};

/** Returns the advice to publish the record that announces an MTA-STS policy published now. */
export function publishStsRecord({ domain, now }: PolicyContext): string {
  const id = now.toISOString().slice(0, 19).replaceAll(/[-:T]/g, "");
  return publishTxt(`_mta-sts.${domain}`, `v=STSv1; id=${id}`);
}

/** Returns the advice to serve an MTA-STS policy file with the domain's mail hosts. */
export function serveStsPolicy(context: PolicyContext): string {
  const lines = ["version: STSv1", "mode: testing", ...mxLines(context).split("; "), "max_age: 604800"];
  return `Serve https://mta-sts.${context.domain}/.well-known/mta-sts.txt with status 200, a valid certificate and these lines: ${lines.join("; ")}. Set the mode to enforce when reports show no failures.`;
}

/** Returns the advice to publish a record that requests TLS reports. */
export function publishTlsRpt({ domain }: PolicyContext): string {
  return publishTxt(`_smtp._tls.${domain}`, `v=TLSRPTv1; rua=mailto:tls-reports@${domain}`);
}

function publishBimi({ domain }: PolicyContext): string {
  const text = `v=BIMI1; l=https://${domain}/logo.svg; a=https://${domain}/logo.pem`;
  return `${publishTxt(`default._bimi.${domain}`, text)}, with the addresses of your logo and of its Verified or Common Mark Certificate.`;
}

function mxLines({ domain, hosts }: PolicyContext): string {
  const names = hosts.length === 0 ? [`mail.${domain}`] : [...new Set(hosts)].slice(0, MAX_HOSTS);
  return names.map((host) => `mx: ${host}`).join("; ");
}

function lowerFirst(text: string): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}
