import type { GeneralName } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { canonicalName, readName } from "#probe-agent/analysis/tls/certificate/names.ts";

/**
 * Reports whether a name is within the subtree of a base of the same type (RFC 5280 section 4.2.1.10). `wide` is true
 * for an excluded subtree: then a wildcard is within it if any name that it matches is. A name that cannot be compared
 * is never within a permitted subtree and always within an excluded one.
 */
export function isWithin(name: GeneralName, base: GeneralName, wide: boolean): boolean {
  switch (base.kind) {
    case "dns":
      return isDnsWithin(text(name), text(base), wide);
    case "ip":
      return isAddressWithin(name.contents, base.contents, wide);
    case "email":
      return isMailboxWithin(text(name), text(base), wide);
    case "uri":
      return isUriWithin(text(name), text(base), wide);
    case "directory":
      return isDirectoryWithin(name.contents, base.contents);
    default:
      return wide;
  }
}

function isDnsWithin(name: string, base: string, wide: boolean): boolean {
  // A name with an empty label is not a host name, so it cannot be compared.
  if (name.split(".").includes("")) return wide;
  if (isDomainWithin(name, base)) return true;
  // *.example.com matches foo.example.com, so an exclusion of foo.example.com applies to it.
  if (!wide || !name.startsWith("*.")) return false;
  const parent = name.slice(1);
  const label = base.slice(0, -parent.length);
  return base.endsWith(parent) && label.length > 0 && !label.includes(".");
}

/**
 * Reports whether a name is the base or below it. With a leading dot, the base itself is not included. An empty base
 * includes every name.
 */
function isDomainWithin(name: string, base: string): boolean {
  if (base === "") return true;
  if (base.startsWith(".")) return name.endsWith(base) && name.length > base.length;
  return name === base || name.endsWith(`.${base}`);
}

/** Reports whether an address is in a range. `base` is an address followed by a mask of the same family. */
function isAddressWithin(address: Uint8Array, base: Uint8Array, wide: boolean): boolean {
  const size = base.length / 2;
  if (size !== 4 && size !== 16) return wide;
  if (address.length !== size) return false;
  return address.every((octet, index) => {
    const mask = base[size + index] ?? 0;
    return (octet & mask) === ((base[index] ?? 0) & mask);
  });
}

/** Reports whether a mailbox is within a base: a mailbox, a host, or with a leading dot all hosts of a domain. */
function isMailboxWithin(mailbox: string, base: string, wide: boolean): boolean {
  const at = mailbox.indexOf("@");
  if (at < 0 || mailbox.includes("@", at + 1)) return wide;
  if (base.includes("@")) return mailbox === base;
  const host = mailbox.slice(at + 1);
  return base.startsWith(".") ? isDomainWithin(host, base) : host === base;
}

/** Reports whether the host of a URI is within a base: a host, or with a leading dot all hosts of a domain. */
function isUriWithin(uri: string, base: string, wide: boolean): boolean {
  const host = /^[a-z][a-z0-9+.-]*:\/\/(?:[^@/?#]*@)?([^:/?#[\]]+)/.exec(uri)?.[1];
  if (host === undefined || /^[0-9.]+$/.test(host)) return wide;
  return base.startsWith(".") ? isDomainWithin(host, base) : host === base;
}

/** Reports whether a name begins with all relative distinguished names of the base. */
function isDirectoryWithin(name: Uint8Array, base: Uint8Array): boolean {
  const names = canonicalName(readName(name));
  return canonicalName(readName(base)).every((relative, index) => names[index] === relative);
}

/**
 * Returns a name's text in lower case. Domains are case-insensitive. Local parts of mailboxes are compared without case
 * too, which is stricter.
 */
function text({ contents }: GeneralName): string {
  return Buffer.from(contents).toString("latin1").toLowerCase();
}
