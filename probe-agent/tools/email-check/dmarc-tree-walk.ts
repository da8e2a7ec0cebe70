import {
  isDmarcRecord,
  parseDmarc,
  type DmarcPolicy,
  type DmarcRecord,
} from "#probe-agent/tools/email-check/dmarc-record.ts";

/** TXT records at _dmarc below one domain. */
interface DmarcAnswer {
  readonly domain: string;
  /** TXT texts, one character for each octet; null if the lookup failed. */
  readonly texts: readonly string[] | null;
}

/** One step of a tree walk. */
interface DmarcStep {
  readonly domain: string;
  /** several: more than one record, all are ignored; unknown: the lookup failed. */
  readonly state: "record" | "none" | "several" | "unknown";
  readonly record: DmarcRecord | null;
}

/** Source of a domain's policy. */
export interface DmarcDiscovery {
  /** Steps of the walk until it stops. */
  readonly steps: readonly DmarcStep[];
  /** The step whose record applies; null if no record applies. */
  readonly policy: DmarcStep | null;
  readonly orgDomain: string;
  /** Whether a lookup failed whose answer might change the policy. */
  readonly uncertain: boolean;
}

/** Maximum number of queries of a tree walk (RFC 9989 section 4.10). */
const MAX_QUERIES = 8;

/**
 * Lists the domains that a walk from `domain` queries, in order: itself, then its ancestors from seven labels to one
 * label (section 4.10).
 */
export function walkDomains(domain: string): string[] {
  const labels = domain.split(".");
  const above = labels.slice(Math.max(1, labels.length - (MAX_QUERIES - 1)));
  return [domain, ...above.map((_, index) => above.slice(index).join("."))];
}

/** Finds the policy and the organizational domain from the answers of a walk, given in the order of `walkDomains`. */
export function discoverPolicy(answers: readonly DmarcAnswer[]): DmarcDiscovery {
  const steps: DmarcStep[] = [];
  for (const answer of answers) {
    const step = readStep(answer);
    steps.push(step);
    if (step.record !== null && step.record.psd !== "u") break;
  }
  const [start] = steps;
  if (start === undefined) throw new Error("a walk has at least one step");
  const orgDomain = findOrganizationalDomain(steps, start);
  const candidates = [start, ...steps.filter(({ domain }) => domain === orgDomain), ...steps.filter(isPublicSuffix)];
  const policy = candidates.find(({ record }) => record !== null) ?? null;
  const decided = policy === start ? 0 : steps.length;
  const uncertain = steps.slice(0, Math.max(1, decided)).some(({ state }) => state === "unknown");
  return { steps, policy, orgDomain, uncertain };
}

function readStep({ domain, texts }: DmarcAnswer): DmarcStep {
  if (texts === null) return { domain, state: "unknown", record: null };
  const records = texts.filter(isDmarcRecord);
  const [text] = records;
  if (text === undefined) return { domain, state: "none", record: null };
  // Section 4.10, steps 2 and 6: receivers ignore all of several records.
  if (records.length > 1) return { domain, state: "several", record: null };
  return { domain, state: "record", record: parseDmarc(text) };
}

function isPublicSuffix({ record }: DmarcStep): boolean {
  return record?.psd === "y";
}

/** Finds the organizational domain (section 4.10.2). */
function findOrganizationalDomain(steps: readonly DmarcStep[], start: DmarcStep): string {
  const found = steps.filter(({ record }) => record !== null);
  const own = found.find(({ record }) => record?.psd === "n");
  if (own !== undefined) return own.domain;
  const suffix = found.find((step) => step !== start && isPublicSuffix(step));
  if (suffix !== undefined) return takeOneLabelBelow(start.domain, suffix.domain);
  return found.at(-1)?.domain ?? start.domain;
}

/** Returns the ancestor of `domain`, or `domain` itself, that is one label below `above`. */
function takeOneLabelBelow(domain: string, above: string): string {
  const labels = domain.split(".");
  return labels.slice(Math.max(0, labels.length - above.split(".").length - 1)).join(".");
}

/** Policy that the domain requests from receivers, and the tag that sets it. */
interface EffectivePolicy {
  readonly policy: DmarcPolicy;
  readonly from: "p" | "sp" | "np" | "default";
}

/**
 * Returns the policy for mail of `domain` (section 4.10.1). `exists` says whether the domain exists in DNS. With t=y
 * the policy is one step weaker (section 4.7). Returns null if no record applies.
 */
export function effectivePolicy({ policy }: DmarcDiscovery, domain: string, exists: boolean): EffectivePolicy | null {
  const record = policy?.record ?? null;
  if (policy === null || record?.applies !== true) return null;
  const written: EffectivePolicy = record.malformed
    ? { policy: "none", from: "default" }
    : selectPolicy(record, policy.domain === domain, exists);
  return record.t === "y" ? { ...written, policy: weakerPolicy(written.policy) } : written;
}

/** Selects p, sp or np. `own` says whether the record is the domain's own. */
function selectPolicy({ p, sp, np }: DmarcRecord, own: boolean, exists: boolean): EffectivePolicy {
  if (!own && !exists && np !== null) return { policy: np, from: "np" };
  if (!own && sp !== null) return { policy: sp, from: "sp" };
  return { policy: p ?? "none", from: p === null ? "default" : "p" };
}

function weakerPolicy(policy: DmarcPolicy): DmarcPolicy {
  return policy === "reject" ? "quarantine" : "none";
}
