import type { HeaderRows } from "#probe-agent/analysis/mail/email-headers/rows.ts";
import { leading } from "#probe-agent/analysis/text/json-size.ts";

type Result = Omit<HeaderRows, "source" | "observed_at" | "elapsed_ms" | "limitations">;

/** Maximum number of octets of JSON for each list. With the other fields they fit into the 256 KB of a result. */
const SHARES = {
  hops: 40_000,
  headers: 32_000,
  authentication_results: 20_000,
  dkim_signatures: 16_000,
  addresses: 14_000,
  spam_headers: 8_000,
  anomalies: 10_000,
  received_spf: 6_000,
} as const satisfies Partial<Record<keyof Result, number>>;

/** Maximum number of octets of lists inside other parts, and of the ARC chain. */
const SMALL_SHARE = 5_000;
const ARC_SHARE = 12_000;

/** Cuts lists to their maximum size. `cut` has a limitation for each list that was cut. */
export function fitLists(result: Result): { readonly result: Result; readonly cut: readonly string[] } {
  const cut: string[] = [];
  const fit = <T>(name: string, items: readonly T[], share: number): T[] => {
    const kept = leading(items, share);
    if (kept.length < items.length)
      cut.push(`Of ${items.length} entries of ${name} the first ${kept.length} are shown.`);
    return kept;
  };
  const { auth, arc_chain: arc, alignment, content_type: type, list_unsubscribe: list } = result;
  const fitSignatures = (): Result["dkim_signatures"] => {
    // other_issues repeats issues and is in no result, so it does not count.
    const rows = result.dkim_signatures.map(({ other_issues: _otherIssues, ...row }) => row);
    return result.dkim_signatures.slice(0, fit("dkim_signatures", rows, SHARES.dkim_signatures).length);
  };
  const fitted: Result = {
    ...result,
    hops: fit("hops", result.hops, SHARES.hops),
    headers: fit("headers", result.headers, SHARES.headers),
    authentication_results: fit("authentication_results", result.authentication_results, SHARES.authentication_results),
    dkim_signatures: fitSignatures(),
    addresses: fit("addresses", result.addresses, SHARES.addresses),
    spam_headers: fit("spam_headers", result.spam_headers, SHARES.spam_headers),
    anomalies: fit("anomalies", result.anomalies, SHARES.anomalies),
    received_spf: fit("received_spf", result.received_spf, SHARES.received_spf),
    auth: {
      ...auth,
      dkim: fit("auth.dkim", auth.dkim, SMALL_SHARE),
      others: fit("auth.others", auth.others, SMALL_SHARE),
    },
    alignment: { ...alignment, dkim: fit("alignment.dkim", alignment.dkim, SMALL_SHARE) },
    content_type: type === null ? null : { ...type, parameters: fit("parameters", type.parameters, SMALL_SHARE) },
    list_unsubscribe:
      list === null
        ? null
        : {
            ...list,
            https: fit("https", list.https, SMALL_SHARE),
            http: fit("http", list.http, SMALL_SHARE),
            mailto: fit("mailto", list.mailto, SMALL_SHARE),
          },
    arc_chain: arc === null ? null : { ...arc, sets: fit("arc_chain.sets", arc.sets, ARC_SHARE) },
  };
  return { result: fitted, cut };
}
