import { policyNames, type MtaStsRemark } from "#probe-agent/analysis/mail/domain/mta-sts.ts";
import { joinedHeader } from "#probe-agent/analysis/http/header-list.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { runAnalysis } from "#probe-agent/sources/run-analysis.ts";
import { lookUpMtaStsRecord } from "#probe-agent/tools/mx/announcements.ts";
import type { LookUp } from "#probe-agent/sources/dns-look-up.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { emailCheck } from "#shared/tools/email-check.ts";

/** MTA-STS as results show it. */
type MtaSts = ResultOf<typeof emailCheck>["mta_sts"];
type PolicyFile = NonNullable<MtaSts["policy"]>;

/** MTA-STS and what is wrong with it. */
interface MtaStsFinding {
  readonly result: MtaSts;
  readonly remarks: readonly MtaStsRemark[];
}

/** RFC 8461 section 3.3 lets senders stop at 64 KB. */
const MAX_BYTES = 64 * 1024;
const FETCH_MS = 10_000;
const RESERVE_MS = 1_200;
const MAX_SHOWN = 4_000;

/** The DNS record and, where there is one, the policy file. `hosts` are the mail hosts, once they are known. */
export async function lookAtMtaSts(
  net: Net,
  lookUp: LookUp,
  domain: string,
  port: number,
  hosts: Promise<readonly string[] | null>,
): Promise<MtaStsFinding> {
  const { result: dns, remarks } = await lookUpMtaStsRecord(lookUp, domain);
  const nothing: MtaSts = { dns, policy: null, mode: null, max_age_s: null, mx_match: null };
  if (dns.present !== true) return { result: nothing, remarks };
  const url = `https://mta-sts.${domain}${port === 443 ? "" : `:${port}`}/.well-known/mta-sts.txt`;
  const fetched = await fetchPolicy(net, url);
  const without = (id: MtaStsRemark["id"], text: string | null, message: string, error: string): MtaStsFinding => {
    const policy: PolicyFile = { url, text, version: null, mx: [], valid: false, error };
    return { result: { ...nothing, policy }, remarks: [...remarks, { id, message: `${message}: ${error}.` }] };
  };
  if (!fetched.ok) {
    return without("mta-sts-policy-unreachable", null, "The MTA-STS policy could not be fetched", fetched.error);
  }
  const { text } = fetched;
  const read = await runAnalysis(net, "mta-sts", text);
  if (read.status !== "ok") {
    const error = read.status === "failed" ? read.message : "it may not be read";
    return without("mta-sts-policy-unreadable", shownPolicy(text), "The MTA-STS policy could not be read", error);
  }
  const policy = read.data;
  const known = await hosts;
  const strangers = policy.valid && known !== null ? known.filter((host) => !policyNames(policy.mx, host)) : [];
  const matched = policy.valid && known !== null && policy.mode !== "none" ? strangers.length === 0 : null;
  return {
    result: {
      dns,
      policy: {
        url,
        text: shownPolicy(text),
        version: policy.version,
        mx: [...policy.mx],
        valid: policy.valid,
        error: null,
      },
      mode: policy.valid ? policy.mode : null,
      max_age_s: policy.valid ? policy.maxAgeS : null,
      mx_match: matched,
    },
    remarks: [
      ...remarks,
      ...policy.issues,
      ...fetched.remarks,
      ...(matched === false ? [remarkOnStrangers(strangers, policy.mode)] : []),
    ],
  };
}

/** Senders that enforce the policy deliver nothing to a host that it does not name. */
function remarkOnStrangers(strangers: readonly string[], mode: string | null): MtaStsRemark {
  const named = strangers.slice(0, 10).map((host) => toPrintableAscii(host, 260));
  const more = strangers.length > named.length ? ` and ${strangers.length - named.length} more` : "";
  const isEnforced = mode === "enforce";
  const effect = isEnforced ? "senders that follow it deliver nothing to them" : "they fail once it is enforced";
  return {
    id: "mta-sts-mx-mismatch",
    severity: isEnforced ? "critical" : "warning",
    message: `The MTA-STS policy does not name these mail hosts: ${named.join(", ")}${more}; ${effect}.`,
  };
}

type Fetched =
  | { readonly ok: true; readonly text: string; readonly remarks: readonly MtaStsRemark[] }
  | { readonly ok: false; readonly error: string };

/** Section 3.3: over https with a certificate that verifies, status 200, redirects not followed. */
async function fetchPolicy(net: Net, url: string): Promise<Fetched> {
  const timeoutMs = Math.max(1, Math.min(FETCH_MS, net.remainingMs() - RESERVE_MS));
  const fetched = await net.http.fetch({ url, method: "GET", follow: false, maxBodyBytes: MAX_BYTES, timeoutMs });
  if (fetched.status === "failed") return no(`${fetched.message} (${fetched.stage}, ${fetched.reason})`);
  if (fetched.status !== "ok") return no("its host may not be contacted");
  const { final, body } = fetched.data;
  if (final.tls?.authorized !== true) return no(`the certificate does not verify (${final.tls?.error ?? "no TLS"})`);
  if (final.code >= 300 && final.code < 400) return no(`status ${final.code}: senders follow no redirect`);
  if (final.code !== 200) return no(`status ${final.code}`);
  if (body.truncated) return no("it is larger than 64 KB");
  if (body.error !== null) return no(`it could not be read to its end: ${body.error}`);
  const type = joinedHeader(final.headers, "content-type");
  const plain = /^text\/plain[ \t]*(?:;|$)/i.test(type ?? "");
  const message = `The policy's Content-Type is ${toPrintableAscii(type ?? "absent", 60)}; it should be text/plain.`;
  const remarks: MtaStsRemark[] = plain ? [] : [{ id: "mta-sts-content-type", message }];
  return { ok: true, text: new TextDecoder().decode(body.bytes), remarks };
}

function no(error: string): Fetched {
  return { ok: false, error: toPrintableAscii(error, 300) };
}

function shownPolicy(text: string): string {
  const lines = text.split("\n", 200).map((line) => toPrintableAscii(line.replace(/\r$/, ""), 300));
  return lines.join("\n").slice(0, MAX_SHOWN);
}
