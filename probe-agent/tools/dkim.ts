import { ok } from "#shared/outcome.ts";
import { dkim as contract } from "#shared/tools/dkim.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { createLookUp } from "#probe-agent/sources/look-up.ts";
import {
  bestSelector,
  discoveryLimits,
  discoverSelectors,
  lookAtSelector,
  selectorRow,
  type Discovery,
  type SelectorFacts,
} from "#probe-agent/tools/dkim/selectors.ts";
import { implement, type Untimed } from "#probe-agent/tools/implement.ts";
import { silences } from "#probe-agent/tools/mx/announcements.ts";

type Result = Untimed<ResultOf<typeof contract>>;

/** A DKIM key by selector; without one the selectors in wide use are tried. */
export const dkim = implement(contract, async (net, { domain, selector }) => {
  const problem = contract.refine?.(selector === undefined ? { domain } : { domain, selector }) ?? null;
  if (problem !== null) return { status: "invalid", field: problem.field, message: problem.message };
  const observedAt = net.now().toISOString();
  const lookUp = createLookUp(net);
  const asked = selector === undefined || selector === "" ? null : selector;
  const discovery = asked === null ? await discoverSelectors(lookUp, domain) : null;
  const facts = asked === null ? bestSelector(discovery?.found ?? []) : await lookAtSelector(lookUp, domain, asked);
  const found = discovery?.found ?? (facts?.key === null || facts === null ? [] : [facts]);
  return ok<Result>({
    domain,
    ...keyFields(facts),
    discovered_selectors: discovery === null ? [] : found.map((one) => one.selector),
    selectors: found.map(selectorRow),
    wildcard: discovery?.wildcard ?? null,
    issues: issuesOf(facts, discovery),
    source: ["dns"],
    observed_at: observedAt,
    limitations: [...silences(lookUp), ...(discovery === null ? [] : [discoveryLimits(discovery)])],
  });
});

const MAX_DANGLING = 10;

type KeyFields = Omit<
  Result,
  | "domain"
  | "discovered_selectors"
  | "selectors"
  | "wildcard"
  | "issues"
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
    // Asked for and not there is no valid key; not known which to ask for is no answer.
    valid: key?.valid ?? (facts?.state === "none" ? false : null),
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

function issuesOf(facts: SelectorFacts | null, discovery: Discovery | null): string[] {
  const absent =
    facts?.state === "none" && facts.recordsFound === 0
      ? ["there is no TXT record under this selector", ...misplaced(facts.selector)]
      : [];
  const wild = discovery?.wildcard === true ? ["a wildcard answers for every selector"] : [];
  const dangling = (discovery?.dangling ?? [])
    .slice(0, MAX_DANGLING)
    .flatMap(({ selector, issues }) => issues.map((issue) => `${selector}: ${issue}`));
  return [...absent, ...(facts?.issues ?? []), ...dangling, ...wild].slice(0, 30);
}

/** DNS panels show the whole name, and people copy it. */
function misplaced(selector: string): string[] {
  const labels = selector.toLowerCase().split(".");
  return labels.includes("_domainkey") ? ["a selector is only what stands before ._domainkey"] : [];
}
