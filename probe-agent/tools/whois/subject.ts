import { domainToUnicode } from "node:url";
import { parse } from "tldts";

/** The registration that a name belongs to. */
export interface DomainSubject {
  readonly kind: "domain";
  /** Name to query at registries, as A-labels. */
  readonly name: string;
  /** The name in Unicode. Null if it is the same. */
  readonly unicode: string | null;
  /** Public suffix of the name. Null if the name itself is a public suffix. */
  readonly suffix: string | null;
  /**
   * Suffix in the private section of the Public Suffix List that the name is below, e.g. github.io. Null if there is
   * none.
   */
  readonly privateSuffix: string | null;
  /** WHOIS server of a private suffix that is run like a registry. Null for all others. */
  readonly server: string | null;
}

/**
 * Third-level registries of CentralNic. They are in the private section of the Public Suffix List, but names below them
 * are registered as at any registry, at whois.centralnic.com.
 */
const CENTRALNIC: ReadonlySet<string> = new Set(
  `ae.org br.com cn.com com.de com.se de.com eu.com gb.net gr.com hu.net in.net jp.net jpn.com mex.com ru.com sa.com
   se.net uk.com uk.net us.com us.org za.com`.split(/\s+/),
);

const OPTIONS = { validateHostname: false, detectIp: false } as const;

/** Finds the registered domain that a name equals or is below. A public suffix is returned itself. */
export function domainSubject(name: string): DomainSubject {
  const icann = parse(name, { ...OPTIONS, allowPrivateDomains: false });
  const both = parse(name, { ...OPTIONS, allowPrivateDomains: true });
  const privateSuffix = both.isPrivate === true && both.publicSuffix !== null ? both.publicSuffix : null;
  const isRegistry = privateSuffix !== null && CENTRALNIC.has(privateSuffix) && both.domain !== null;
  const registered = (isRegistry ? both.domain : icann.domain) ?? name;
  const unicode = domainToUnicode(registered);
  return {
    kind: "domain",
    name: registered,
    unicode: unicode === registered || unicode === "" ? null : unicode,
    suffix: registered === icann.publicSuffix ? null : isRegistry ? privateSuffix : icann.publicSuffix,
    privateSuffix: isRegistry ? null : privateSuffix,
    server: isRegistry ? "whois.centralnic.com" : null,
  };
}
