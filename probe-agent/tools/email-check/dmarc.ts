import { isDmarcRecord, nearDmarc, type DmarcPolicy } from "#probe-agent/analysis/mail/dmarc/record.ts";
import {
  discoverPolicy,
  effectivePolicy,
  walkDomains,
  type DmarcDiscovery,
} from "#probe-agent/analysis/mail/dmarc/tree-walk.ts";
import type { DmarcFindingId } from "#probe-agent/analysis/mail/dmarc/findings.ts";
import type { Remark } from "#probe-agent/analysis/mail/remarks.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";
import { textsOf, type LookUp } from "#probe-agent/sources/dns-look-up.ts";
import { textsBelow } from "#probe-agent/tools/mx/announcements.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { emailCheck } from "#shared/tools/email-check.ts";

type Dmarc = ResultOf<typeof emailCheck>["dmarc"];
type Authorisation = Dmarc["external_reporting_authorised"][number];

/** DMARC of a domain, and what the score needs beside the result. */
interface DmarcFinding {
  readonly result: Dmarc;
  /** What is wrong with the record and its place. */
  readonly remarks: readonly Remark<DmarcFindingId>[];
  /** A look-up that may have changed the answer failed. */
  readonly uncertain: boolean;
  /** Policies of the domain and its subdomains, in force order; null where no record applies. */
  readonly policies: { readonly own: DmarcPolicy; readonly sub: DmarcPolicy; readonly absent: DmarcPolicy } | null;
}

const MAX_DESTINATIONS = 8;
const MAX_REMARKS = 30;
const MAX_MESSAGE = 400;
const MAX_SHOWN = 260;

/** Walks the tree, reads the record that applies and asks foreign report receivers for their consent. */
export async function lookAtDmarc(lookUp: LookUp, domain: string): Promise<DmarcFinding> {
  const discovery = await walk(lookUp, domain);
  const { policy, orgDomain, uncertain } = discovery;
  const record = policy?.record ?? null;
  const [exists, misplaced, external] = await Promise.all([
    lookUp(domain, "MX").then(({ state }) => state !== "absent"),
    findMisplaced(lookUp, domain, discovery),
    askDestinations(lookUp, discovery),
  ]);
  const effective = uncertain ? null : effectivePolicy(discovery, domain, exists);
  const refusing = external.filter(({ authorised }) => authorised === false);
  const remarks: Remark<DmarcFindingId>[] = [
    ...misplaced,
    ...(record?.issues ?? []),
    ...(record !== null ? weakerBelow(record) : []),
    ...refusing.map(({ destination }) => refusal(destination)),
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
    remarks: remarks
      .slice(0, MAX_REMARKS)
      .map((remark) => ({ ...remark, message: toPrintableAscii(remark.message, MAX_MESSAGE) })),
  };
}

function refusal(destination: string): Remark<DmarcFindingId> {
  const message = `${destination} does not agree to receive reports: no receiver sends them there.`;
  return { id: "dmarc-report-not-authorised", message, where: destination };
}

async function walk(lookUp: LookUp, domain: string): Promise<DmarcDiscovery> {
  const answers = await Promise.all(
    walkDomains(domain).map(async (at) => ({ domain: at, texts: await textsBelow(lookUp, "_dmarc", at) })),
  );
  return discoverPolicy(answers);
}

function policiesOf(discovery: DmarcDiscovery): DmarcFinding["policies"] {
  const at = discovery.policy?.domain ?? "";
  const own = effectivePolicy(discovery, at, true);
  const sub = effectivePolicy(discovery, `sub.${at}`, true);
  const absent = effectivePolicy(discovery, `sub.${at}`, false);
  return own === null || sub === null || absent === null
    ? null
    : { own: own.policy, sub: sub.policy, absent: absent.policy };
}

/** Records where receivers do not look, or do not read what they find. */
async function findMisplaced(
  lookUp: LookUp,
  domain: string,
  { steps, policy }: DmarcDiscovery,
): Promise<Remark<DmarcFindingId>[]> {
  const [own, at] = await Promise.all([lookUp(domain, "TXT"), textsBelow(lookUp, "_dmarc", domain)]);
  const near = (at ?? []).flatMap((text) => nearDmarc(text) ?? []);
  const make = (id: DmarcFindingId, message: string, where: string): Remark<DmarcFindingId> => ({ id, message, where });
  const several = steps.filter(({ state }) => state === "several");
  const outside = `A DMARC record is published at ${domain} itself; receivers look at _dmarc.${domain} only.`;
  const inherited = `The domain has no DMARC record of its own: that of ${policy?.domain ?? ""} applies.`;
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

function weakerBelow({
  p,
  sp,
  np,
}: NonNullable<NonNullable<DmarcDiscovery["policy"]>["record"]>): Remark<DmarcFindingId>[] {
  const below = [["sp", sp] as const, ["np", np] as const];
  return below.flatMap(([tag, policy]): Remark<DmarcFindingId>[] => {
    const message = `${tag}=${policy ?? ""} is weaker than p=${p ?? "none"}: subdomains are less protected than the domain.`;
    const isWeaker = policy !== null && strength(policy) < strength(p ?? "none");
    return isWeaker ? [{ id: "dmarc-weaker-subdomains", message }] : [];
  });
}

/** Order of policies: none, quarantine, reject. */
function strength(policy: DmarcPolicy): number {
  return ["none", "quarantine", "reject"].indexOf(policy);
}

/** RFC 9990 section 4: whoever is of another organization has to agree, in DNS. */
async function askDestinations(lookUp: LookUp, { policy, orgDomain }: DmarcDiscovery): Promise<Authorisation[]> {
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
