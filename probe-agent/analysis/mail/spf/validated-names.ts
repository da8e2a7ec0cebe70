import { readIp } from "#probe-agent/analysis/network/ip-numbers.ts";
import { isName } from "#probe-agent/analysis/mail/spf/domain-spec.ts";
import { reverseNameOf, type Client } from "#probe-agent/analysis/mail/spf/identity.ts";
import { LIMITS, type SpfResolver } from "#probe-agent/analysis/mail/spf/lookup.ts";

/** PTR names of the client that lead back to it, in the order given; `found` is false where there is no PTR at all. */
export interface ValidatedNames {
  readonly names: readonly string[];
  readonly found: boolean;
}

/**
 * Looks up and validates PTR names (RFC 7208 section 5.5): the first ten; a failure makes the name, or the whole list,
 * count for nothing. These look-ups are the client's doing, so what they miss is not the domain's void look-up.
 */
export async function validateNames(resolver: SpfResolver, client: Client): Promise<ValidatedNames> {
  const pointers = await resolver.query(reverseNameOf(client), "PTR");
  if (pointers.status === "NXDOMAIN") return { names: [], found: false };
  // An answer that could not be had is no answer without records.
  if (pointers.status !== "NOERROR") return { names: [], found: true };
  const names: string[] = [];
  for (const pointer of pointers.records.slice(0, LIMITS.names)) {
    const name = pointer.replace(/\.$/, "");
    if (isName(name) && (await leadsBack(resolver, name, client))) names.push(name);
  }
  return { names, found: pointers.records.length > 0 };
}

async function leadsBack(resolver: SpfResolver, name: string, { ip }: Client): Promise<boolean> {
  const { status, records } = await resolver.query(name, ip.version === 4 ? "A" : "AAAA");
  return status === "NOERROR" && records.some((record) => readIp(record)?.value === ip.value);
}

/** Whether a name is the domain or below it. */
export function isWithin(name: string, domain: string): boolean {
  const [inner, outer] = [name.toLowerCase(), domain.toLowerCase()];
  return inner === outer || inner.endsWith(`.${outer}`);
}

/** The p macro (section 7.3): the domain itself, else a name below it, else any; "unknown" without one. */
export function validatedName({ names }: ValidatedNames, domain: string): string {
  const same = names.find((name) => name.toLowerCase() === domain.toLowerCase());
  return same ?? names.find((name) => isWithin(name, domain)) ?? names[0] ?? "unknown";
}
