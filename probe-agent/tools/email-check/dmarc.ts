import { isDmarcRecord, explainNearDmarc, type DmarcPolicy } from "#probe-agent/analysis/mail/dmarc/record.ts";
import {
  discoverPolicy,
  effectivePolicy,
  walkDomains,
  type DmarcDiscovery,
} from "#probe-agent/analysis/mail/dmarc/tree-walk.ts";
import type { DmarcFindingId } from "#probe-agent/analysis/mail/dmarc/advice.ts";
import { finding, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";
import { textsOf, type LookUp } from "#probe-agent/sources/dns-look-up.ts";
import { textsBelow } from "#probe-agent/tools/mx/announcements.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { emailCheck } from "#shared/tools/email-check.ts";

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
const MAX_SHOWN = 260;

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
      return { destination: toPrintableAscii(destination, MAX_SHOWN), authorised };
    }),
  );
  return rows.filter((row) => row !== null);
}
