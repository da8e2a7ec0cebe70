import {
  isDmarcRecord,
  parseDmarc,
  type DmarcPolicy,
  type DmarcRecord,
} from "#probe-agent/analysis/mail/dmarc/record.ts";

/** What the DNS says at _dmarc below one domain. */
interface DmarcAnswer {
  readonly domain: string;
  /** TXT texts, one character per octet; null where nobody could tell. */
  readonly texts: readonly string[] | null;
}

/** One step of a walk. */
interface DmarcStep {
  readonly domain: string;
  /** several: more than one, all are discarded; unknown: nobody could tell. */
  readonly state: "record" | "none" | "several" | "unknown";
  readonly record: DmarcRecord | null;
}

/** Where a domain's policy comes from. */
export interface DmarcDiscovery {
  /** Steps up to where the walk stops. */
  readonly steps: readonly DmarcStep[];
  /** The step whose record applies; null for none. */
  readonly policy: DmarcStep | null;
  readonly orgDomain: string;
  /** A step could not be looked up that might have changed the answer. */
  readonly uncertain: boolean;
}

/** RFC 9989 section 4.10: at most eight queries. */
const MAX_QUERIES = 8;

/** Domains a walk from `domain` asks at, in order: itself, then from seven labels up to one (section 4.10). */
export function walkDomains(domain: string): string[] {
  const labels = domain.split(".");
  const above = labels.slice(Math.max(1, labels.length - (MAX_QUERIES - 1)));
  return [domain, ...above.map((_, index) => above.slice(index).join("."))];
}

/** Follows the answers of a walk, given in its order, to where it stops, and picks policy and organizational domain. */
export function discoverPolicy(answers: readonly DmarcAnswer[]): DmarcDiscovery {
  const steps: DmarcStep[] = [];
  for (const answer of answers) {
    const step = readStep(answer);
    steps.push(step);
    if (step.record !== null && step.record.psd !== "u") break;
  }
  const [start] = steps;
  if (start === undefined) throw new Error("a walk has at least one step");
  const orgDomain = organizationalDomain(steps, start);
  const candidates = [start, ...steps.filter(({ domain }) => domain === orgDomain), ...steps.filter(isSuffix)];
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
  // Section 4.10, steps 2 and 6: of several none counts.
  if (records.length > 1) return { domain, state: "several", record: null };
  return { domain, state: "record", record: parseDmarc(text) };
}

function isSuffix({ record }: DmarcStep): boolean {
  return record?.psd === "y";
}

/** Section 4.10.2. */
function organizationalDomain(steps: readonly DmarcStep[], start: DmarcStep): string {
  const found = steps.filter(({ record }) => record !== null);
  const own = found.find(({ record }) => record?.psd === "n");
  if (own !== undefined) return own.domain;
  const suffix = found.find((step) => step !== start && isSuffix(step));
  if (suffix !== undefined) return oneLabelBelow(start.domain, suffix.domain);
  return found.at(-1)?.domain ?? start.domain;
}

function oneLabelBelow(domain: string, above: string): string {
  const labels = domain.split(".");
  return labels.slice(Math.max(0, labels.length - above.split(".").length - 1)).join(".");
}

/** The policy receivers are asked to apply to mail of `domain`, and the tag it comes from. */
interface EffectivePolicy {
  readonly policy: DmarcPolicy;
  readonly from: "p" | "sp" | "np" | "default";
}

/** Section 4.10.1, with t=y (section 4.7) one step lower; null where no record applies. `exists`: the domain does. */
export function effectivePolicy({ policy }: DmarcDiscovery, domain: string, exists: boolean): EffectivePolicy | null {
  const record = policy?.record ?? null;
  if (policy === null || record?.applies !== true) return null;
  const written: EffectivePolicy = record.malformed
    ? { policy: "none", from: "default" }
    : pick(record, policy.domain === domain, exists);
  return record.t === "y" ? { ...written, policy: lower(written.policy) } : written;
}

function pick({ p, sp, np }: DmarcRecord, own: boolean, exists: boolean): EffectivePolicy {
  if (!own && !exists && np !== null) return { policy: np, from: "np" };
  if (!own && sp !== null) return { policy: sp, from: "sp" };
  return { policy: p ?? "none", from: p === null ? "default" : "p" };
}

function lower(policy: DmarcPolicy): DmarcPolicy {
  return policy === "reject" ? "quarantine" : "none";
}
