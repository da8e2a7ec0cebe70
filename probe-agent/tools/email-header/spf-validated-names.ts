import { readIp } from "#probe-agent/analysis/network/ip-numbers.ts";
import { isName } from "#probe-agent/analysis/mail/spf/domain-spec.ts";
import { reverseNameOf, type Client } from "#probe-agent/tools/email-header/spf-identity.ts";
import { LIMITS, type SpfResolver } from "#probe-agent/analysis/mail/spf/lookup.ts";

/**
 * PTR names of the client whose addresses include the client's address, in the order of the answer. `found` is false if
 * the address has no PTR record.
 */
export interface ValidatedNames {
  readonly names: readonly string[];
  readonly found: boolean;
}

/**
 * Looks up and validates the first ten PTR names (RFC 7208 section 5.5). A name whose lookup fails is ignored; if the
 * PTR lookup fails, all names are. The client's operator chose these names, so a lookup without records is not a void
 * lookup of the domain.
 */
export async function validateNames(resolver: SpfResolver, client: Client): Promise<ValidatedNames> {
  const pointers = await resolver.query(reverseNameOf(client), "PTR");
  if (pointers.status === "NXDOMAIN") return { names: [], found: false };
  // A failed lookup does not mean that the address has no PTR record.
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

/** Reports whether a name is the domain or a name below it. */
export function isWithin(name: string, domain: string): boolean {
  const [inner, outer] = [name.toLowerCase(), domain.toLowerCase()];
  return inner === outer || inner.endsWith(`.${outer}`);
}

/**
 * Returns the value of the p macro (section 7.3): the domain itself, otherwise a name below it, otherwise any validated
 * name, otherwise "unknown".
 */
export function validatedName({ names }: ValidatedNames, domain: string): string {
  const same = names.find((name) => name.toLowerCase() === domain.toLowerCase());
  return same ?? names.find((name) => isWithin(name, domain)) ?? names[0] ?? "unknown";
}
