import { listFirst } from "#shared/text/list.ts";
import { policyNames, type MtaStsDraft } from "#probe-agent/analysis/mail/domain/mta-sts.ts";
import { joinedHeader } from "#probe-agent/analysis/http/header-list.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { runAnalysis } from "#probe-agent/sources/run-analysis.ts";
import { lookUpMtaStsRecord } from "#probe-agent/tools/mx/announcements.ts";
import type { LookUp } from "#probe-agent/sources/dns-look-up.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { emailCheck } from "#shared/tools/email-check.ts";

/** MTA-STS in a result. */
type MtaSts = ResultOf<typeof emailCheck>["mta_sts"];
type PolicyFile = NonNullable<MtaSts["policy"]>;

/** MTA-STS of a domain, with findings. */
interface MtaStsCheck {
  readonly result: MtaSts;
  readonly drafts: readonly MtaStsDraft[];
}

/** Maximum size of a policy file in octets. RFC 8461 section 3.3 allows senders to stop at 64 KB. */
const MAX_BYTES = 64 * 1024;
const FETCH_MS = 10_000;
const RESERVE_MS = 1_200;
const MAX_SHOWN = 4_000;
/** Maximum number of mail hosts named in one message. */
const MAX_NAMED = 10;

/** Reads the DNS record and, if there is one, the policy file. `hosts` resolves to the mail hosts; null if unknown. */
export async function inspectMtaSts(
  net: Net,
  lookUp: LookUp,
  domain: string,
  port: number,
  hosts: Promise<readonly string[] | null>,
): Promise<MtaStsCheck> {
  const { result: dns, drafts } = await lookUpMtaStsRecord(lookUp, domain);
  const nothing: MtaSts = { dns, policy: null, mode: null, max_age_s: null, mx_match: null };
  if (dns.present !== true) return { result: nothing, drafts };
  const url = `https://mta-sts.${domain}${port === 443 ? "" : `:${port}`}/.well-known/mta-sts.txt`;
  const fetched = await fetchPolicy(net, url);
  const without = (id: MtaStsDraft["id"], text: string | null, message: string, error: string): MtaStsCheck => {
    const policy: PolicyFile = { url, text, version: null, mx: [], valid: false, error };
    return { result: { ...nothing, policy }, drafts: [...drafts, { id, message: `${message}: ${error}.` }] };
  };
  if (!fetched.ok) {
    return without("mta-sts-policy-unreachable", null, "The MTA-STS policy could not be fetched", fetched.error);
  }
  const { text } = fetched;
  const read = await runAnalysis(net, "mta-sts", text);
  if (read.status !== "ok") {
    const error = read.status === "failed" ? read.message : "reading it is not allowed";
    return without("mta-sts-policy-unreadable", toPrintablePolicy(text), "The MTA-STS policy could not be read", error);
  }
  const policy = read.data;
  const known = await hosts;
  const unnamed = policy.valid && known !== null ? known.filter((host) => !policyNames(policy.mx, host)) : [];
  const matched = policy.valid && known !== null && policy.mode !== "none" ? unnamed.length === 0 : null;
  return {
    result: {
      dns,
      policy: {
        url,
        text: toPrintablePolicy(text),
        version: policy.version,
        mx: [...policy.mx],
        valid: policy.valid,
        error: null,
      },
      mode: policy.valid ? policy.mode : null,
      max_age_s: policy.valid ? policy.maxAgeS : null,
      mx_match: matched,
    },
    drafts: [
      ...drafts,
      ...policy.issues,
      ...fetched.drafts,
      ...(matched === false ? [unnamedHostsFinding(unnamed, policy.mode)] : []),
    ],
  };
}

/** Findings on mail hosts that the policy does not name. Senders that enforce the policy deliver no mail to them. */
function unnamedHostsFinding(hosts: readonly string[], mode: string | null): MtaStsDraft {
  const named = hosts.slice(0, MAX_NAMED).map((host) => toPrintableAscii(host, 260));
  const isEnforced = mode === "enforce";
  const effect = isEnforced
    ? "senders that follow it deliver no mail to them"
    : "delivery to them fails when it is enforced";
  return {
    id: "mta-sts-mx-mismatch",
    severity: isEnforced ? "critical" : "warning",
    message: `The MTA-STS policy does not name these mail hosts: ${listFirst(named, MAX_NAMED, hosts.length)}; ${effect}.`,
  };
}

type Fetched =
  | { readonly ok: true; readonly text: string; readonly drafts: readonly MtaStsDraft[] }
  | { readonly ok: false; readonly error: string };

/** Fetches a policy over HTTPS. Requires a valid certificate and status 200, and follows no redirect (section 3.3). */
async function fetchPolicy(net: Net, url: string): Promise<Fetched> {
  const timeoutMs = Math.max(1, Math.min(FETCH_MS, net.remainingMs() - RESERVE_MS));
  const fetched = await net.http.fetch({ url, method: "GET", follow: false, maxBodyBytes: MAX_BYTES, timeoutMs });
  if (fetched.status === "failed") return fetchFailed(`${fetched.message} (${fetched.stage}, ${fetched.reason})`);
  if (fetched.status !== "ok") return fetchFailed("contacting its host is not allowed");
  const { final, body } = fetched.data;
  if (final.tls?.authorized !== true)
    return fetchFailed(`the certificate is not valid (${final.tls?.error ?? "no TLS"})`);
  if (final.code >= 300 && final.code < 400)
    return fetchFailed(`status ${final.code}: senders do not follow redirects`);
  if (final.code !== 200) return fetchFailed(`status ${final.code}`);
  if (body.truncated) return fetchFailed("it is larger than 64 KB");
  if (body.error !== null) return fetchFailed(`it could not be read completely: ${body.error}`);
  const type = joinedHeader(final.headers, "content-type");
  const plain = /^text\/plain[ \t]*(?:;|$)/i.test(type ?? "");
  const message = `The policy's Content-Type is ${toPrintableAscii(type ?? "absent", 60)}; it should be text/plain.`;
  const drafts: MtaStsDraft[] = plain ? [] : [{ id: "mta-sts-content-type", message }];
  return { ok: true, text: new TextDecoder().decode(body.bytes), drafts };
}

function fetchFailed(error: string): Fetched {
  return { ok: false, error: toPrintableAscii(error, 300) };
}

function toPrintablePolicy(text: string): string {
  const lines = text.split("\n", 200).map((line) => toPrintableAscii(line.replace(/\r$/, ""), 300));
  return lines.join("\n").slice(0, MAX_SHOWN);
}
