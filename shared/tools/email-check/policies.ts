import type { Verdict } from "#shared/presentation/presentation.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { emailCheck } from "#shared/tools/email-check/contract.ts";

type EmailCheck = ResultOf<typeof emailCheck>;

/** What a policy says in a few words, and how it is marked. */
type Described = readonly [text: string, tone: Verdict | null];

/** RFC 7208 section 4.6.4. */
const MOST_LOOKUPS = 10;

/** What the final `all` of an SPF record says of senders that no other term names. */
const ENDS = {
  fail: ["others are refused (-all)", "good"],
  softfail: ["others are suspect (~all)", "good"],
  neutral: ["says nothing of others (?all)", "warning"],
  pass: ["everyone passes (+all)", "bad"],
} as const;

const POLICIES = {
  none: ["none: forged mail is delivered", "bad"],
  quarantine: ["quarantine: forged mail goes to spam", "good"],
  reject: ["reject: forged mail is refused", "good"],
} as const;

/** Describes SPF by what becomes of other senders. */
export function describeSpf({
  record,
  valid,
  all_qualifier: end,
  passes_all: all,
  lookups,
}: EmailCheck["spf"]): Described {
  if (record === null) return ["none", "bad"];
  if (lookups !== null && lookups > MOST_LOOKUPS)
    return [`invalid: ${lookups} lookups, ${MOST_LOOKUPS} are allowed`, "bad"];
  if (valid === false) return ["invalid", "bad"];
  if (all) return ["everyone passes", "bad"];
  return end === null ? ["says nothing of others (no all)", "warning"] : ENDS[end];
}

/** Describes DMARC by what becomes of forged mail, with the domain of the record if it is another one. */
export function describeDmarc(
  { policy_effective: policy, found_at: at, t: test, pct }: EmailCheck["dmarc"],
  domain: string,
): Described {
  if (policy === null) return ["none", "bad"];
  const [text, tone] = POLICIES[policy];
  const notes = [
    test === "y" ? "test mode" : null,
    pct === null || pct === 100 ? null : `for ${pct} % of it at some receivers`,
    at === null || at === domain ? null : `record of ${at}`,
  ].filter((note) => note !== null);
  return [[text, ...notes].join(", "), tone];
}

/** Describes MTA-STS by whether senders must encrypt; null if its lookup failed. */
export function describeMtaSts({ dns, policy, mode, mx_match: matches }: EmailCheck["mta_sts"]): Described | null {
  if (dns.present === null) return null;
  if (!dns.present) return ["none", null];
  if (policy?.valid !== true || mode === null) return ["announced, but its policy cannot be used", "warning"];
  if (mode !== "enforce") return [mode === "testing" ? "test mode: nothing is enforced" : "switched off", null];
  return matches === false
    ? ["enforced, but not for all mail hosts", "bad"]
    : ["enforced: senders must encrypt", "good"];
}
