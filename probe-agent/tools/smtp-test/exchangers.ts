import { isIP } from "node:net";
import { failed, ok, type Outcome } from "#shared/outcome.ts";
import { followCnames } from "#probe-agent/analysis/dns/cname-chain.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** Mail hosts of a target. */
interface Exchangers {
  /** MX records, lowest preference first; empty if the target itself is the mail host. */
  readonly records: readonly { readonly host: string; readonly priority: number }[];
  /** Limitation if the lookup of the MX records failed; null otherwise. */
  readonly unknown: string | null;
}

const LOOKUP_MS = 5_000;
const MAX_RECORDS = 20;
const NONE: Exchangers = { records: [], unknown: null };

/**
 * Looks up the MX records of a name (RFC 5321 section 5.1). A name without MX records is its own mail host. Fails with
 * the reason null_mx if the domain declares that it accepts no mail (RFC 7505).
 */
export async function findExchangers(net: Net, target: string): Promise<Outcome<Exchangers>> {
  if (isIP(target) !== 0) return ok(NONE);
  const answer = await net.dns.query({ name: target, type: "MX", timeoutMs: LOOKUP_MS });
  const cut = answer.flags.tc;
  if (cut || (answer.status !== "NOERROR" && answer.status !== "NXDOMAIN")) {
    const why = cut ? "TRUNCATED" : answer.status;
    const unknown = `The MX records could not be looked up (${why}); the host with that name was tested instead.`;
    return ok({ records: [], unknown });
  }
  const { records } = followCnames(target, "MX", answer.answers);
  const usable = records.flatMap(({ typed: { exchange: host, preference: priority } }) =>
    typeof host === "string" && typeof priority === "number" ? [{ host: host.toLowerCase(), priority }] : [],
  );
  const named = usable.filter(({ host }) => host !== "." && host !== "");
  if (usable.length > 0 && named.length === 0) {
    return failed("dns", "target", "null_mx", "The domain declares that it accepts no mail (null MX, RFC 7505)");
  }
  const ordered = named.toSorted((one, other) => one.priority - other.priority);
  return ok({ records: ordered.slice(0, MAX_RECORDS), unknown: null });
}
