import { ok } from "#shared/contracts/outcome.ts";
import { dkim as contract } from "#shared/tools/dkim.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import { DKIM_ADVICE, type DkimFindingId } from "#probe-agent/analysis/mail/dkim/advice.ts";
import { adviseOn, boundFindings, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { createLookUp } from "#probe-agent/sources/dns-look-up.ts";
import {
  bestSelector,
  discoveryLimits,
  discoverSelectors,
  inspectSelector,
  selectorFindings,
  selectorRow,
  type Discovery,
  type SelectorFacts,
} from "#probe-agent/tools/dkim/selectors.ts";
import { implement, type Untimed } from "#probe-agent/tools/implement.ts";
import { nameBelow, describeFailedLookups } from "#probe-agent/tools/mx/announcements.ts";

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
