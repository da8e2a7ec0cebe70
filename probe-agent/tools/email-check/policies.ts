import { listFirst } from "#shared/text/list.ts";
import { mtaStsAnalysis, policyNames, type MtaStsDraft } from "#probe-agent/analysis/mail/mta-sts.ts";
import { joinedHeader } from "#probe-agent/analysis/http/header-list.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { runAnalysis } from "#probe-agent/sources/run-analysis.ts";
import { lookUpMtaStsRecord, textsBelow } from "#probe-agent/tools/mx/announcements.ts";
import { type LookUp, textsOf } from "#probe-agent/sources/dns-look-up.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { emailCheck } from "#shared/tools/email-check/contract.ts";
import { isDmarcRecord, explainNearDmarc, type DmarcPolicy } from "#probe-agent/tools/email-check/dmarc-record.ts";
import {
  discoverPolicy,
  effectivePolicy,
  walkDomains,
  type DmarcDiscovery,
} from "#probe-agent/tools/email-check/dmarc-tree-walk.ts";
import type { DmarcFindingId } from "#probe-agent/tools/email-check/dmarc-advice.ts";
import { finding, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";

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
  const read = await runAnalysis(net, mtaStsAnalysis, text);
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

type Dmarc = ResultOf<typeof emailCheck>["dmarc"];
type Authorisation = Dmarc["external_reporting_authorised"][number];

/** DMARC of a domain, with findings and the facts that the score uses. */
interface DmarcCheck {
  readonly result: Dmarc;
  /** Findings on the record and its location. */
  readonly drafts: readonly FindingDraft<DmarcFindingId>[];
  /** Whether a lookup failed whose answer might change the result. */
  readonly uncertain: boolean;
  /** Policies of the record's domain, its subdomains and absent subdomains; null if no record applies. */
  readonly policies: { readonly own: DmarcPolicy; readonly sub: DmarcPolicy; readonly absent: DmarcPolicy } | null;
}

const MAX_DESTINATIONS = 8;
const MAX_DRAFTS = 30;
const MAX_MESSAGE = 400;
const MAX_DESTINATION = 260;

/** Walks the tree, parses the record that applies and checks whether other report receivers agree (RFC 9990). */
export async function inspectDmarc(lookUp: LookUp, domain: string): Promise<DmarcCheck> {
  const discovery = await walk(lookUp, domain);
  const { policy, orgDomain, uncertain } = discovery;
  const record = policy?.record ?? null;
  const [exists, misplaced, external] = await Promise.all([
    lookUp(domain, "MX").then(({ state }) => state !== "absent"),
    findMisplaced(lookUp, domain, discovery),
    checkDestinations(lookUp, discovery),
  ]);
  const effective = uncertain ? null : effectivePolicy(discovery, domain, exists);
  const refusing = external.filter(({ authorised }) => authorised === false);
  const drafts: FindingDraft<DmarcFindingId>[] = [
    ...misplaced,
    ...(record?.issues ?? []),
    ...(record !== null ? subdomainsFindings(record) : []),
    ...refusing.map(({ destination }) => refusalFinding(destination)),
  ];
  return {
    uncertain,
    policies: record === null || uncertain ? null : policiesOf(discovery),
    result: {
      record: record?.text ?? null,
      found_at: policy?.domain ?? null,
      org_domain: uncertain ? null : orgDomain,
      p: record?.p ?? null,
      sp: record?.sp ?? null,
      np: record?.np ?? null,
      adkim: record?.adkim ?? null,
      aspf: record?.aspf ?? null,
      rua: (record?.rua ?? []).map(({ uri }) => uri),
      ruf: (record?.ruf ?? []).map(({ uri }) => uri),
      fo: record?.fo ?? null,
      t: record?.t ?? null,
      psd: record?.psd ?? null,
      pct: record?.pct ?? null,
      policy_effective: effective?.policy ?? null,
      external_reporting_authorised: external,
    },
    drafts: drafts
      .slice(0, MAX_DRAFTS)
      .map((draft) => ({ ...draft, message: toPrintableAscii(draft.message, MAX_MESSAGE) })),
  };
}

function refusalFinding(destination: string): FindingDraft<DmarcFindingId> {
  const message = `${destination} publishes no record that accepts these reports, so receivers do not send them there.`;
  return finding("dmarc-report-not-authorised", destination, message);
}

async function walk(lookUp: LookUp, domain: string): Promise<DmarcDiscovery> {
  const answers = await Promise.all(
    walkDomains(domain).map(async (at) => ({ domain: at, texts: await textsBelow(lookUp, "_dmarc", at) })),
  );
  return discoverPolicy(answers);
}

function policiesOf(discovery: DmarcDiscovery): DmarcCheck["policies"] {
  const at = discovery.policy?.domain ?? "";
  const own = effectivePolicy(discovery, at, true);
  const sub = effectivePolicy(discovery, `sub.${at}`, true);
  const absent = effectivePolicy(discovery, `sub.${at}`, false);
  return own === null || sub === null || absent === null
    ? null
    : { own: own.policy, sub: sub.policy, absent: absent.policy };
}

/** Finds DMARC records that receivers ignore because of their location or form. */
async function findMisplaced(
  lookUp: LookUp,
  domain: string,
  { steps, policy }: DmarcDiscovery,
): Promise<FindingDraft<DmarcFindingId>[]> {
  const [own, at] = await Promise.all([lookUp(domain, "TXT"), textsBelow(lookUp, "_dmarc", domain)]);
  const near = (at ?? []).flatMap((text) => explainNearDmarc(text) ?? []);
  const make = (id: DmarcFindingId, message: string, where: string): FindingDraft<DmarcFindingId> =>
    finding(id, where, message);
  const several = steps.filter(({ state }) => state === "several");
  const outside = `A DMARC record is published at ${domain} itself; receivers look only at _dmarc.${domain}.`;
  const inherited = `The domain has no DMARC record; the record of ${policy?.domain ?? ""} applies.`;
  return [
    ...several.map(({ domain: above }) =>
      make(
        "dmarc-several-records",
        `There are several DMARC records at _dmarc.${above}; receivers ignore them all.`,
        above,
      ),
    ),
    ...(textsOf(own).some(isDmarcRecord) ? [make("dmarc-misplaced", outside, domain)] : []),
    ...near.slice(0, 5).map((message) => make("dmarc-near-record", message, domain)),
    ...(policy !== null && policy.domain !== domain && near.length === 0
      ? [make("dmarc-inherited", inherited, policy.domain)]
      : []),
  ];
}

/** Finds policies for subdomains that are weaker than the policy of the domain. */
function subdomainsFindings({
  p,
  sp,
  np,
}: NonNullable<NonNullable<DmarcDiscovery["policy"]>["record"]>): FindingDraft<DmarcFindingId>[] {
  const below = [["sp", sp] as const, ["np", np] as const];
  return below.flatMap(([tag, policy]): FindingDraft<DmarcFindingId>[] => {
    const message = `${tag}=${policy ?? ""} is weaker than p=${p ?? "none"}: subdomains are less protected than the domain.`;
    const isWeaker = policy !== null && strength(policy) < strength(p ?? "none");
    return isWeaker ? [{ id: "dmarc-weaker-subdomains", message }] : [];
  });
}

/** Returns the rank of a policy: none 0, quarantine 1, reject 2. */
function strength(policy: DmarcPolicy): number {
  return ["none", "quarantine", "reject"].indexOf(policy);
}

/**
 * Checks whether report receivers of other organizations accept reports. They must publish a DNS record for that (RFC
 * 9990 section 4).
 */
async function checkDestinations(lookUp: LookUp, { policy, orgDomain }: DmarcDiscovery): Promise<Authorisation[]> {
  const record = policy?.record ?? null;
  if (policy === null || record === null) return [];
  const domains = new Set([...record.rua, ...record.ruf].flatMap(({ domain }) => domain ?? []));
  const asked = [...domains].filter((domain) => domain !== policy.domain).slice(0, MAX_DESTINATIONS);
  const rows = await Promise.all(
    asked.map(async (destination): Promise<Authorisation | null> => {
      const theirs = await walk(lookUp, destination);
      if (theirs.orgDomain === orgDomain) return null;
      const texts = await textsBelow(lookUp, `${policy.domain}._report._dmarc`, destination);
      const authorised = texts === null ? null : texts.some(isDmarcRecord);
      return { destination: toPrintableAscii(destination, MAX_DESTINATION), authorised };
    }),
  );
  return rows.filter((row) => row !== null);
}
