import { table } from "#shared/presentation/build.ts";
import type { Table, Verdict } from "#shared/presentation/presentation.ts";
import { yesNo } from "#shared/presentation/values.ts";
import { listAll } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { emailHeader } from "#shared/tools/email-header.ts";

type EmailHeader = ResultOf<typeof emailHeader>;

/** Results of authentication methods that mean a failure (RFC 8601 section 2.7). */
const FAILURES: ReadonlySet<string> = new Set(["fail", "permerror", "policy"]);
const DOUBTS: ReadonlySet<string> = new Set(["softfail", "neutral", "temperror"]);

/** Returns how a result of a method is marked; null if it says nothing. */
export function toneOfResult(result: string | undefined): Verdict | null {
  const word = result?.toLowerCase() ?? "";
  if (word === "pass") return "good";
  return FAILURES.has(word) ? "bad" : DOUBTS.has(word) ? "warning" : null;
}

/** Names the sender by the address in From, else by its text. */
export function describeSender({ addresses, from }: Pick<EmailHeader, "addresses" | "from">): string {
  return (
    addresses.find(({ field, address }) => field.toLowerCase() === "from" && address !== "")?.address ??
    from ??
    "(none)"
  );
}

/** Lists the methods that passed for the domain in From: "SPF and DKIM". */
export function listPassed({ spf, dkim }: EmailHeader["alignment"]): string {
  const has = (one: { readonly result: string | null; readonly relaxed: boolean | null }): boolean =>
    one.result?.toLowerCase() === "pass" && one.relaxed === true;
  return listAll([...(has(spf) ? ["SPF"] : []), ...(dkim.some(has) ? ["DKIM"] : [])]);
}

/** Lists what the receiving host found out about the sender, and what SPF says today; null if there are no results. */
export function authenticationTable({ auth, alignment, spf_now: today }: EmailHeader): Table | null {
  const rows = [
    ...(auth.spf === null
      ? []
      : [["SPF", auth.spf.result, auth.spf.domain, yesNo(alignment.spf.relaxed), auth.spf.reason] as const]),
    ...(today === null
      ? []
      : [["SPF today", today.result, today.domain, null, today.reason ?? today.mechanism] as const]),
    ...auth.dkim.map(
      (one, index) => ["DKIM", one.result, one.domain, yesNo(alignment.dkim[index]?.relaxed), one.reason] as const,
    ),
    ...(auth.dmarc === null
      ? []
      : [["DMARC", auth.dmarc.result, auth.dmarc.domain, null, auth.dmarc.reason ?? auth.dmarc.disposition] as const]),
    ...(auth.arc === null ? [] : [["ARC", auth.arc.result, null, null, auth.arc.reason] as const]),
    ...auth.others.map((one) => [one.method, one.result, null, null, one.reason] as const),
  ];
  return table(
    "Authentication",
    ["Method", "Result", "Domain", "Same as From", "Reason"],
    rows.map((cells) => ({ cells, tone: toneOfResult(cells[1]) })),
  );
}
