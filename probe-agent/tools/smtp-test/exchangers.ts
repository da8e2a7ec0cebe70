import { isIP } from "node:net";
import { failed, ok, type Outcome } from "#shared/outcome.ts";
import { followCnames } from "#probe-agent/analysis/dns/cname-chain.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** Where mail for a target goes. */
interface Exchangers {
  /** MX records, best first; empty where the target stands for itself. */
  readonly records: readonly { readonly host: string; readonly priority: number }[];
  /** Set where the MX records could not be looked up. */
  readonly unknown: string | null;
}

const LOOKUP_MS = 5_000;
const MAX_RECORDS = 20;
const NONE: Exchangers = { records: [], unknown: null };

/**
 * MX records of a name (RFC 5321 section 5.1). Without any it stands for itself, which its own look-up will tell more of.
 * failed: null_mx, where the domain says that it takes no mail (RFC 7505).
 */
export async function findExchangers(net: Net, target: string): Promise<Outcome<Exchangers>> {
  if (isIP(target) !== 0) return ok(NONE);
  const answer = await net.dns.query({ name: target, type: "MX", timeoutMs: LOOKUP_MS });
  const cut = answer.flags.tc;
  if (cut || (answer.status !== "NOERROR" && answer.status !== "NXDOMAIN")) {
    const why = cut ? "TRUNCATED" : answer.status;
    const unknown = `The MX records could not be looked up (${why}); the host of that name was tested.`;
    return ok({ records: [], unknown });
  }
  const { records } = followCnames(target, "MX", answer.answers);
  const usable = records.flatMap(({ typed: { exchange: host, preference: priority } }) =>
    typeof host === "string" && typeof priority === "number" ? [{ host: host.toLowerCase(), priority }] : [],
  );
  const named = usable.filter(({ host }) => host !== "." && host !== "");
  if (usable.length > 0 && named.length === 0) {
    return failed("dns", "target", "null_mx", "The domain says that it takes no mail (a null MX, RFC 7505)");
  }
  const ordered = named.toSorted((one, other) => one.priority - other.priority);
  return ok({ records: ordered.slice(0, MAX_RECORDS), unknown: null });
}
