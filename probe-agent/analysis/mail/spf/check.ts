import { expandMacros, type MacroPart } from "#probe-agent/analysis/mail/spf/macro.ts";
import { truncateName, type DomainSpec } from "#probe-agent/analysis/mail/spf/domain-spec.ts";
import { dottedAddress, type Client, type Sender } from "#probe-agent/analysis/mail/spf/identity.ts";
import type { Spent, SpfResolver } from "#probe-agent/analysis/mail/spf/lookup.ts";
import { validatedName, validateNames, type ValidatedNames } from "#probe-agent/analysis/mail/spf/validated-names.ts";

/** State of one SPF check, shared by all records that it reads. */
export interface Check {
  readonly client: Client;
  readonly sender: Sender;
  readonly helo: string;
  readonly now: Date;
  readonly resolver: SpfResolver;
  readonly spent: Spent;
  /** Validated names of the client, looked up once; null before the first use. */
  names: Promise<ValidatedNames> | null;
}

/** Returns the client's validated names. Looks them up on the first call. */
export function getValidatedNames(check: Check): Promise<ValidatedNames> {
  check.names ??= validateNames(check.resolver, check.client);
  return check.names;
}

/** Expands macros for `domain`, the domain whose record is being read (RFC 7208 section 7.2). */
export function expand(check: Check, domain: string, parts: readonly MacroPart[]): Promise<string> {
  const { client, sender, helo, now } = check;
  return expandMacros(parts, async (letter) => {
    switch (letter) {
      case "s":
        return `${sender.local}@${sender.domain}`;
      case "l":
        return sender.local;
      case "o":
        return sender.domain;
      case "d":
        return domain;
      case "i":
        return dottedAddress(client);
      case "p":
        return validatedName(await getValidatedNames(check), domain);
      case "v":
        return client.ip.version === 4 ? "in-addr" : "ip6";
      case "h":
        return helo;
      case "c":
        return client.text;
      case "t":
        return String(Math.floor(now.getTime() / 1000));
      default:
        // The macro r is the name of the checking mail host. This program is not a mail host and has no such name.
        return "unknown";
    }
  });
}

/** Returns the name that a term looks up: its expanded domain-spec, or `domain` if it has none. */
export async function expandTarget(check: Check, domain: string, spec: DomainSpec | null): Promise<string> {
  return spec === null ? domain : truncateName(await expand(check, domain, spec.parts));
}
