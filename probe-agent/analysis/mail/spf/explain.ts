import { expand, expandTarget, type Check } from "#probe-agent/analysis/mail/spf/check.ts";
import { isName, type DomainSpec } from "#probe-agent/analysis/mail/spf/domain-spec.ts";
import { parseMacros } from "#probe-agent/analysis/mail/spf/macro.ts";

/** Maximum number of characters of an explanation. SMTP replies are shorter (RFC 5321 section 4.5.3.1.5). */
const MAX_CHARACTERS = 4096;

/**
 * Returns the domain's explanation of a fail (RFC 7208 section 6.2). Returns null if there is not exactly one text, if
 * the lookup fails, or if the text breaks the grammar. These lookups do not count against the limits.
 */
export async function explain(check: Check, domain: string, exp: DomainSpec): Promise<string | null> {
  const name = await expandTarget(check, domain, exp);
  if (!isName(name)) return null;
  const { status, records } = await check.resolver.query(name, "TXT");
  const [text] = records;
  if (status !== "NOERROR" || text === undefined || records.length !== 1) return null;
  const parts = text.length > MAX_CHARACTERS ? null : parseMacros(text, "explanation");
  return parts === null ? null : (await expand(check, domain, parts)).slice(0, MAX_CHARACTERS);
}
