import { KNOWN_SELECTORS } from "#probe-agent/analysis/mail/dkim/selectors.ts";
import { DKIM_GUIDE, type DkimFindingId } from "#probe-agent/analysis/mail/dkim/findings.ts";
import { isDkimRecord, parseDkimKey, type DkimKey } from "#probe-agent/analysis/mail/dkim-key.ts";
import { adviseOn, type Remark } from "#probe-agent/analysis/mail/remarks.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";
import { textsOf, type LookUp } from "#probe-agent/sources/dns-look-up.ts";
import { below } from "#probe-agent/tools/mx/announcements.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { dkim } from "#shared/tools/dkim.ts";
import type { Finding } from "#shared/findings.ts";

/** What stands under one selector. */
export interface SelectorFacts {
  readonly selector: string;
  readonly usedBy: string | null;
  /** unknown: nobody could tell. */
  readonly state: "key" | "none" | "unknown";
  /** The key that counts; null unless `state` is key. */
  readonly key: DkimKey | null;
  /** TXT records there; null where nobody could tell. */
  readonly recordsFound: number | null;
  readonly cnameTarget: string | null;
  readonly issues: readonly Remark<DkimFindingId>[];
}

/** Selectors found by trying those in wide use. */
export interface Discovery {
  readonly found: readonly SelectorFacts[];
  /** Selectors that are aliases of names without a key: published, but not switched on, or no more. */
  readonly dangling: readonly SelectorFacts[];
  /** Whether a name nobody would publish has a key too; null where nobody could tell. */
  readonly wildcard: boolean | null;
  /** Selectors tried that nobody answered for. */
  readonly unanswered: number;
}

/** One selector as results list it. */
type SelectorRow = ResultOf<typeof dkim>["selectors"][number];

const NOBODYS_SELECTOR = "no-such-selector-0f8e2";
const MAX_ISSUES = 15;
const MAX_SHOWN = 260;

/** Looks under one selector. Of several records verifiers may take any, so none is good (RFC 6376 section 3.6.2.2). */
export async function lookAtSelector(
  lookUp: LookUp,
  domain: string,
  selector: string,
  usedBy: string | null = null,
): Promise<SelectorFacts> {
  const found = await lookUp(below(`${selector}._domainkey`, domain), "TXT");
  const alias = found.aliases.at(-1);
  const cnameTarget = alias === undefined ? null : toPrintableAscii(alias, MAX_SHOWN);
  const base = { selector, usedBy, cnameTarget };
  if (found.state === "unknown") return { ...base, state: "unknown", key: null, recordsFound: null, issues: [] };
  const texts = textsOf(found);
  const keys = texts.filter(isDkimRecord);
  const [text] = keys;
  if (text === undefined) {
    return { ...base, state: "none", key: null, recordsFound: texts.length, issues: withoutKey(cnameTarget, texts) };
  }
  const issues: Remark<DkimFindingId>[] = [];
  if (keys.length > 1) {
    const message = `There are ${keys.length} key records at one name; a verifier takes any of them, so none can be relied on.`;
    issues.push({ id: "several-key-records", message });
  } else if (texts.length > 1) {
    const message = `${texts.length - 1} other TXT ${texts.length === 2 ? "record is" : "records are"} at the name of the key.`;
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

function withoutKey(cnameTarget: string | null, texts: readonly string[]): Remark<DkimFindingId>[] {
  if (texts.length > 0) {
    const [text = ""] = texts;
    return [{ id: "not-a-key-record", message: `The TXT record is not a DKIM key: "${toPrintableAscii(text, 60)}".` }];
  }
  const message = `The name is an alias of ${cnameTarget ?? ""}, which has no TXT record.`;
  return cnameTarget === null ? [] : [{ id: "alias-dangling", message }];
}

/** Tries the selectors in wide use; where a wildcard answers for all of them, only keys that differ from its own count. */
export async function discoverSelectors(lookUp: LookUp, domain: string): Promise<Discovery> {
  const [nobody, ...tried] = await Promise.all([
    lookAtSelector(lookUp, domain, NOBODYS_SELECTOR),
    ...KNOWN_SELECTORS.map(({ selector, used_by: usedBy }) => lookAtSelector(lookUp, domain, selector, usedBy)),
  ]);
  const wild = nobody.key?.record ?? null;
  const found = tried.filter(({ key }) => key !== null && key.record !== wild);
  const unanswered = tried.filter(({ state }) => state === "unknown").length;
  // Where a name nobody would publish is an alias too, a wildcard is.
  const dangling =
    nobody.cnameTarget === null
      ? tried.filter(({ state, cnameTarget }) => state === "none" && cnameTarget !== null)
      : [];
  return { found, dangling, wildcard: nobody.state === "unknown" ? null : wild !== null, unanswered };
}

/** What a list of selectors found by trying does not say. */
export function discoveryLimits({ found, unanswered }: Discovery): string {
  const tried = "DKIM selectors cannot be listed; well-known ones were tried";
  if (found.length > 0) return `${tried}, others may exist.`;
  if (unanswered === KNOWN_SELECTORS.length) return `${tried}, and nobody answered for any.`;
  const which = unanswered > 0 ? "none of those that were answered" : "none of them";
  return `${tried}, ${which} has a key; the domain may sign under another.`;
}

/** The key a domain most probably signs with: a good one before a weak one, that before a bad one. */
export function bestSelector(found: readonly SelectorFacts[]): SelectorFacts | null {
  const worth = ({ key }: SelectorFacts): number =>
    key?.valid === true ? (key.weak === true ? 2 : 3) : key?.revoked === true ? 0 : 1;
  return found.toSorted((one, other) => worth(other) - worth(one))[0] ?? null;
}

/** A selector with a key as results list it. */
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

/** What is wrong under one selector, with the record to publish. */
export function selectorFindings({ selector, key, issues }: SelectorFacts, domain: string): Finding[] {
  const name = below(`${selector}._domainkey`, domain);
  return adviseOn(DKIM_GUIDE, issues.slice(0, MAX_ISSUES), { name, key }, selector);
}
