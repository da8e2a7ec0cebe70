import { expandMacros, type MacroPart } from "#probe-agent/analysis/mail/spf/macro.ts";
import { fitName, type DomainSpec } from "#probe-agent/analysis/mail/spf/domain-spec.ts";
import { dottedAddress, type Client, type Sender } from "#probe-agent/analysis/mail/spf/identity.ts";
import type { Spent, SpfResolver } from "#probe-agent/analysis/mail/spf/lookup.ts";
import { validatedName, validateNames, type ValidatedNames } from "#probe-agent/analysis/mail/spf/validated-names.ts";

/** One whole check: what does not change from record to record. */
export interface Check {
  readonly client: Client;
  readonly sender: Sender;
  readonly helo: string;
  readonly now: Date;
  readonly resolver: SpfResolver;
  readonly spent: Spent;
  /** Names of the client, looked up once. */
  names: Promise<ValidatedNames> | null;
}

/** The client's validated names; looked up when first needed. */
export function namesOf(check: Check): Promise<ValidatedNames> {
  check.names ??= validateNames(check.resolver, check.client);
  return check.names;
}

/** Macros expanded for the domain whose record is being read (RFC 7208 section 7.2). */
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
        return validatedName(await namesOf(check), domain);
      case "v":
        return client.ip.version === 4 ? "in-addr" : "ip6";
      case "h":
        return helo;
      case "c":
        return client.text;
      case "t":
        return String(Math.floor(now.getTime() / 1000));
      default:
        // r: who checks. This is no mail host that could name itself.
        return "unknown";
    }
  });
}

/** The name a term asks about: its domain-spec expanded and fitted, or the domain checked. */
export async function targetName(check: Check, domain: string, spec: DomainSpec | null): Promise<string> {
  return spec === null ? domain : fitName(await expand(check, domain, spec.parts));
}
