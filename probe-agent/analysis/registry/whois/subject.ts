import { domainToUnicode } from "node:url";
import { parse } from "tldts";

/** The registration that a name belongs to. */
export interface DomainSubject {
  readonly kind: "domain";
  /** What registries are asked about, A-labels. */
  readonly name: string;
  /** The same as people read it; null where it is the same. */
  readonly unicode: string | null;
  /** Null for a name that is a public suffix itself. */
  readonly suffix: string | null;
  /** A suffix of the list's private section that the name is below, e.g. github.io; null for none. */
  readonly privateSuffix: string | null;
  /** The WHOIS server of a private suffix that is run like a registry; null for all others. */
  readonly server: string | null;
}

/**
 * Third-level registries of CentralNic: in the list's private section, yet names below them are registered like those of
 * any registry, at whois.centralnic.com.
 */
const CENTRALNIC: ReadonlySet<string> = new Set(
  `ae.org br.com cn.com com.de com.se de.com eu.com gb.net gr.com hu.net in.net jp.net jpn.com mex.com ru.com sa.com
   se.net uk.com uk.net us.com us.org za.com`.split(/\s+/),
);

const OPTIONS = { validateHostname: false, detectIp: false } as const;

/** The registered domain a name is or lies below; a public suffix stands for itself. */
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
