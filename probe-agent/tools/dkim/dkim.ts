import { ok } from "#shared/contracts/outcome.ts";
import { dkim as contract } from "#shared/tools/dkim/contract.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import { DKIM_ADVICE, type DkimFindingId } from "#probe-agent/tools/dkim/advice.ts";
import { adviseOn, boundFindings, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { createLookUp, textsOf, type LookUp } from "#probe-agent/sources/dns-look-up.ts";
import { implement, type Untimed } from "#probe-agent/tools/implement.ts";
import { nameBelow, describeFailedLookups } from "#probe-agent/tools/mx/announcements.ts";
import { KNOWN_SELECTORS } from "#probe-agent/tools/dkim/selectors.ts";
import { isDkimRecord, parseDkimKey, type DkimKey } from "#probe-agent/tools/dkim/key.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";

type Result = Untimed<ResultOf<typeof contract>>;

/** Checks the DKIM key of a selector. Without a selector, tries the selectors in wide use. */
export const dkim = implement(contract, async (net, { domain, selector }) => {
  const problem = contract.refine?.(selector === undefined ? { domain } : { domain, selector }) ?? null;
  if (problem !== null) return { status: "invalid", field: problem.field, message: problem.message };
  const observedAt = net.now().toISOString();
  const lookUp = createLookUp(net);
  const asked = selector === undefined || selector === "" ? null : selector;
  const discovery = asked === null ? await discoverSelectors(lookUp, domain) : null;
  const facts = asked === null ? bestSelector(discovery?.found ?? []) : await inspectSelector(lookUp, domain, asked);
  const found = discovery?.found ?? (facts?.key === null || facts === null ? [] : [facts]);
  const { findings, limitations } = boundFindings(findingsOf(domain, facts, discovery), MAX_FINDINGS);
  return ok<Result>({
    domain,
    ...keyFields(facts),
    discovered_selectors: discovery === null ? [] : found.map((one) => one.selector),
    selectors: found.map(selectorRow),
    wildcard: discovery?.wildcard ?? null,
    findings,
    source: ["dns"],
    observed_at: observedAt,
    limitations: [
      ...describeFailedLookups(lookUp),
      ...(discovery === null ? [] : [discoveryLimits(discovery)]),
      ...limitations,
    ],
  });
});

const MAX_FINDINGS = 60;

type KeyFields = Omit<
  Result,
  | "domain"
  | "discovered_selectors"
  | "selectors"
  | "wildcard"
  | "findings"
  | "source"
  | "observed_at"
  | "elapsed_ms"
  | "limitations"
>;

function keyFields(facts: SelectorFacts | null): KeyFields {
  const key = facts?.key ?? null;
  return {
    selector: facts?.selector ?? null,
    record: key?.record ?? null,
    records_found: facts?.recordsFound ?? null,
    // A requested selector without a key is invalid. Without a requested selector, validity is unknown.
    valid: key?.valid ?? (facts?.state === "none" ? false : null),
    invalid_reason: invalidReason(facts),
    v: key?.v ?? null,
    k: key?.k ?? null,
    h: key?.h === null || key === null ? null : [...key.h],
    p: key?.p ?? null,
    t: [...(key?.t ?? [])],
    s: [...(key?.s ?? [])],
    n: key?.n ?? null,
    key: key?.key ?? null,
    revoked: key?.revoked ?? false,
    testing: key?.testing ?? false,
    strict_subdomain: key?.strict_subdomain ?? false,
    weak: key?.weak ?? null,
    cname_target: facts?.cnameTarget ?? null,
  };
}

/** Returns the message of the first finding on the selector; null for a valid key and if nothing is known. */
function invalidReason(facts: SelectorFacts | null): string | null {
  if (facts === null || facts.key?.valid === true) return null;
  return facts.issues[0]?.message ?? (facts.state === "none" ? absentFinding(facts.selector).message : null);
}

function findingsOf(domain: string, facts: SelectorFacts | null, discovery: Discovery | null): Finding[] {
  const rows = discovery === null ? (facts === null ? [] : [facts]) : [...discovery.found, ...discovery.dangling];
  const asked = discovery === null && facts?.state === "none" && facts.recordsFound === 0 ? facts.selector : null;
  const context = { name: nameBelow(`${asked ?? "*"}._domainkey`, domain), key: null };
  const absent = asked === null ? [] : [absentFinding(asked), ...selectorNameFindings(asked)];
  const wild: FindingDraft<DkimFindingId>[] =
    discovery?.wildcard === true
      ? [{ id: "wildcard-record", message: "A wildcard record answers for every selector." }]
      : [];
  return [
    ...adviseOn(DKIM_ADVICE, absent, context, asked),
    ...rows.flatMap((row) => selectorFindings(row, domain)),
    ...adviseOn(DKIM_ADVICE, wild, context),
  ];
}

function absentFinding(selector: string): FindingDraft<DkimFindingId> {
  return { id: "record-missing", message: `There is no TXT record under the selector ${selector}.` };
}

/** Recognizes a full DNS name as the selector. DNS control panels display the full name, and users copy it. */
function selectorNameFindings(selector: string): FindingDraft<DkimFindingId>[] {
  const labels = selector.toLowerCase().split(".");
  const message = "The selector contains _domainkey; a selector is only the part before ._domainkey.";
  return labels.includes("_domainkey") ? [{ id: "selector-holds-domainkey", message }] : [];
}

/** Records of one selector. */
interface SelectorFacts {
  readonly selector: string;
  /** Service that usually publishes under the selector; null if unknown. */
  readonly usedBy: string | null;
  /** unknown: the lookup failed. */
  readonly state: "key" | "none" | "unknown";
  /** The key that verifiers use; null unless `state` is key. */
  readonly key: DkimKey | null;
  /** Number of TXT records at the name; null if the lookup failed. */
  readonly recordsFound: number | null;
  /** Target if the name is an alias; null otherwise. */
  readonly cnameTarget: string | null;
  readonly issues: readonly FindingDraft<DkimFindingId>[];
}

/** Selectors found by trying those in wide use. */
interface Discovery {
  readonly found: readonly SelectorFacts[];
  /** Selectors that are aliases of names without a key: DKIM is not yet or no longer enabled at the service. */
  readonly dangling: readonly SelectorFacts[];
  /** Whether a wildcard record answers for every selector; null if the lookup failed. */
  readonly wildcard: boolean | null;
  /** Number of selectors whose lookup failed. */
  readonly unanswered: number;
}

/** One selector in a result. */
type SelectorRow = ResultOf<typeof contract>["selectors"][number];

/** Selector that no domain publishes. A key under it comes from a wildcard record. */
const UNUSED_SELECTOR = "no-such-selector-0f8e2";
const MAX_ISSUES = 15;
const MAX_SHOWN = 260;

/**
 * Looks up and checks one selector. Several key records are invalid, because verifiers can use any of them (RFC 6376
 * section 3.6.2.2).
 */
async function inspectSelector(
  lookUp: LookUp,
  domain: string,
  selector: string,
  usedBy: string | null = null,
): Promise<SelectorFacts> {
  const found = await lookUp(nameBelow(`${selector}._domainkey`, domain), "TXT");
  const alias = found.aliases.at(-1);
  const cnameTarget = alias === undefined ? null : toPrintableAscii(alias, MAX_SHOWN);
  const base = { selector, usedBy, cnameTarget };
  if (found.state === "unknown") return { ...base, state: "unknown", key: null, recordsFound: null, issues: [] };
  const texts = textsOf(found);
  const keys = texts.filter(isDkimRecord);
  const [text] = keys;
  if (text === undefined) {
    return {
      ...base,
      state: "none",
      key: null,
      recordsFound: texts.length,
      issues: missingKeyFindings(cnameTarget, texts),
    };
  }
  const issues: FindingDraft<DkimFindingId>[] = [];
  if (keys.length > 1) {
    const message = `There are ${keys.length} key records at one name; verifiers can use any of them, so none is reliable.`;
    issues.push({ id: "several-key-records", message });
  } else if (texts.length > 1) {
    const message = `The name of the key also has ${texts.length - 1} other TXT ${texts.length === 2 ? "record" : "records"}.`;
    issues.push({ id: "other-records-beside", message });
  }
  const key = parseDkimKey(text);
  const valid = key.valid && keys.length === 1;
  return {
    ...base,
    state: "key",
    key: { ...key, valid },
    recordsFound: texts.length,
    issues: [...issues, ...key.issues],
  };
}

function missingKeyFindings(cnameTarget: string | null, texts: readonly string[]): FindingDraft<DkimFindingId>[] {
  if (texts.length > 0) {
    const [text = ""] = texts;
    return [{ id: "not-a-key-record", message: `The TXT record is not a DKIM key: "${toPrintableAscii(text, 60)}".` }];
  }
  const message = `The name is an alias of ${cnameTarget ?? ""}, which has no TXT record.`;
  return cnameTarget === null ? [] : [{ id: "alias-dangling", message }];
}

/** Tries the selectors in wide use. If there is a wildcard record, only keys that differ from its key count. */
export async function discoverSelectors(lookUp: LookUp, domain: string): Promise<Discovery> {
  const [unused, ...tried] = await Promise.all([
    inspectSelector(lookUp, domain, UNUSED_SELECTOR),
    ...KNOWN_SELECTORS.map(({ selector, used_by: usedBy }) => inspectSelector(lookUp, domain, selector, usedBy)),
  ]);
  const wild = unused.key?.record ?? null;
  const found = tried.filter(({ key }) => key !== null && key.record !== wild);
  const unanswered = tried.filter(({ state }) => state === "unknown").length;
  // If the unused selector is also an alias, the aliases come from a wildcard record.
  const dangling =
    unused.cnameTarget === null
      ? tried.filter(({ state, cnameTarget }) => state === "none" && cnameTarget !== null)
      : [];
  return { found, dangling, wildcard: unused.state === "unknown" ? null : wild !== null, unanswered };
}

/** Returns the limitation of a list of selectors that was found by trying. */
export function discoveryLimits({ found, unanswered }: Discovery): string {
  const tried = "DKIM selectors cannot be listed, so well-known selectors were tried";
  if (found.length > 0) return `${tried}; other selectors may exist.`;
  if (unanswered === KNOWN_SELECTORS.length) return `${tried}; all lookups failed.`;
  const failed = unanswered > 0 ? ` (${unanswered} lookups failed)` : "";
  return `${tried}; none has a key${failed}, but the domain may sign under another selector.`;
}

/** Returns the selector that the domain most probably signs with: valid keys first, then weak, invalid, revoked. */
function bestSelector(found: readonly SelectorFacts[]): SelectorFacts | null {
  const rank = ({ key }: SelectorFacts): number =>
    key?.valid === true ? (key.weak === true ? 2 : 3) : key?.revoked === true ? 0 : 1;
  return found.toSorted((one, other) => rank(other) - rank(one))[0] ?? null;
}

/** Makes the result row of a selector with a key. */
export function selectorRow({ selector, usedBy, key, cnameTarget, issues }: SelectorFacts): SelectorRow {
  const valid = key?.valid ?? false;
  return {
    selector,
    used_by: usedBy,
    valid,
    invalid_reason: valid ? null : (issues[0]?.message ?? null),
    key: key?.key ?? null,
    revoked: key?.revoked ?? false,
    testing: key?.testing ?? false,
    cname_target: cnameTarget,
  };
}

/** Makes the findings on one selector, each with the record to publish. */
export function selectorFindings({ selector, key, issues }: SelectorFacts, domain: string): Finding[] {
  const name = nameBelow(`${selector}._domainkey`, domain);
  return adviseOn(DKIM_ADVICE, issues.slice(0, MAX_ISSUES), { name, key }, selector);
}
