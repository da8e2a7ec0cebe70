import type { GeneralName } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { canonicalName, readName } from "#probe-agent/analysis/tls/certificate/names.ts";

/**
 * Whether a name lies in the subtree of a base of the same kind (RFC 5280 section 4.2.1.10). `wide` asks it for an
 * exclusion: then a wildcard counts for every name it could stand for. Kinds that cannot be compared are never within a
 * permitted subtree and always within an excluded one.
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
  // No host name: it is somewhere, but nobody can say where.
  if (name.split(".").includes("")) return wide;
  if (isDomainWithin(name, base)) return true;
  // *.example.com covers foo.example.com, so an exclusion of foo.example.com hits it.
  if (!wide || !name.startsWith("*.")) return false;
  const parent = name.slice(1);
  const label = base.slice(0, -parent.length);
  return base.endsWith(parent) && label.length > 0 && !label.includes(".");
}

/** The base itself or anything below it; with a leading dot only what is below. An empty base holds everything. */
function isDomainWithin(name: string, base: string): boolean {
  if (base === "") return true;
  if (base.startsWith(".")) return name.endsWith(base) && name.length > base.length;
  return name === base || name.endsWith(`.${base}`);
}

/** Base: address octets then mask octets of the same family. */
function isAddressWithin(address: Uint8Array, base: Uint8Array, wide: boolean): boolean {
  const size = base.length / 2;
  if (size !== 4 && size !== 16) return wide;
  if (address.length !== size) return false;
  return address.every((octet, index) => {
    const mask = base[size + index] ?? 0;
    return (octet & mask) === ((base[index] ?? 0) & mask);
  });
}

/** A base is a mailbox, a host, or with a leading dot all hosts of a domain. */
function isMailboxWithin(mailbox: string, base: string, wide: boolean): boolean {
  const at = mailbox.indexOf("@");
  if (at < 0 || mailbox.includes("@", at + 1)) return wide;
  if (base.includes("@")) return mailbox === base;
  const host = mailbox.slice(at + 1);
  return base.startsWith(".") ? isDomainWithin(host, base) : host === base;
}

/** Only URIs with a host name can be judged; a base works as for mailboxes. */
function isUriWithin(uri: string, base: string, wide: boolean): boolean {
  const host = /^[a-z][a-z0-9+.-]*:\/\/(?:[^@/?#]*@)?([^:/?#[\]]+)/.exec(uri)?.[1];
  if (host === undefined || /^[0-9.]+$/.test(host)) return wide;
  return base.startsWith(".") ? isDomainWithin(host, base) : host === base;
}

/** Every relative name of the base begins the name. */
function isDirectoryWithin(name: Uint8Array, base: Uint8Array): boolean {
  const names = canonicalName(readName(name));
  return canonicalName(readName(base)).every((relative, index) => names[index] === relative);
}

/** Letter case does not count in domains; local parts of mailboxes are compared without it too, which is stricter. */
function text({ contents }: GeneralName): string {
  return Buffer.from(contents).toString("latin1").toLowerCase();
}
