import { withoutTrailing } from "#shared/text/strip-trailing.ts";
import { isIP } from "node:net";
import { parseHostPort } from "#shared/settings/address.ts";
import type { Kind } from "#shared/settings/kind.ts";

/** An absolute URL of given schemes ("http:"), without fragment. Returned as written, without trailing slashes. */
export function url(allowed: string, schemes: readonly string[]): Kind<string> {
  return {
    allowed,
    parse(value) {
      if (value.length > 2_048 || /[\s\\#\p{Cc}]/u.test(value)) return undefined;
      const parsed = URL.parse(value);
      if (!parsed || !schemes.includes(parsed.protocol)) return undefined;
      const hasHost = parsed.hostname !== "" || parsed.protocol === "mailto:";
      return hasHost ? withoutTrailing(value, (character) => character === "/") : undefined;
    },
  };
}

/** A PostgreSQL connection URL; several hosts, separated by commas, are allowed. */
export const databaseUrl: Kind<string> = {
  allowed: "a postgres:// URL",
  parse(value) {
    if (value.length > 2_048 || !/^postgres(?:ql)?:\/\/\S+$/.test(value)) return undefined;
    return URL.canParse(value.replace(/,[^/?]*/, "")) ? value : undefined;
  },
};

/** An http or https URL without credentials. */
export const httpUrl: Kind<string> = {
  allowed: "an http or https URL",
  parse(value) {
    const parsed = url("", ["http:", "https:"]).parse(value);
    return parsed !== undefined && URL.parse(parsed)?.username === "" ? parsed : undefined;
  },
};

/** Segments of a path that proxies, cookies and headers take as they are. */
const PLAIN_PATH = /^(?:\/(?!\.{0,2}(?:\/|$))[A-Za-z0-9._~-]{1,100}){0,10}$/;

/** The public address of the service: scheme, host, port and an optional path, whose characters need no escape. */
export const baseUrl: Kind<string> = {
  allowed: "an http or https URL without query, whose path has only letters, digits and -._~",
  parse(value) {
    const parsed = value.includes("?") ? undefined : httpUrl.parse(value);
    const path = parsed?.replace(/^[a-z]+:\/\/[^/]*/i, "") ?? "";
    return PLAIN_PATH.test(path) ? parsed : undefined;
  },
};

/** An address range; host bits are allowed. A bare address is a range of one address. */
export const cidr: Kind<string> = {
  allowed: "an address range such as 10.0.0.0/8",
  parse(value) {
    const [address = "", prefix, ...rest] = value.toLowerCase().split("/");
    const family = isIP(address);
    if (family === 0 || address.includes("%") || rest.length > 0) return undefined;
    const bits = family === 4 ? 32 : 128;
    if (prefix === undefined) return `${address}/${bits}`;
    return /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits ? `${address}/${Number(prefix)}` : undefined;
  },
};

/** A DNS name in lower case, without leading and trailing dots; one label is enough. Unicode must be A-labels. */
export const dnsName: Kind<string> = {
  allowed: "a DNS name",
  parse(value) {
    const name = value.toLowerCase().replace(/^\./, "").replace(/\.$/, "");
    const labels = name.split(".");
    const good = labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
    return good && name.length <= 253 ? name : undefined;
  },
};

/** The sender of mail: an address, or a name with the address in angle brackets. */
export const mailbox: Kind<string> = {
  allowed: "a mail address such as Vantage <alerts@example.com>",
  parse(value) {
    const address = /^[^<>\p{Cc}]{0,200}<([^<>]{3,320})>$/u.exec(value)?.[1] ?? value;
    return /^[^\s@<>,\p{Cc}]{1,64}@[^\s@<>,\p{Cc}]{1,253}$/u.test(address) ? value : undefined;
  },
};

/** A server as host or host:port. */
export function server(allowed: string, defaultPort: number): Kind<{ host: string; port: number }> {
  return {
    allowed,
    parse(value) {
      const given = parseHostPort(value);
      return given === undefined || given.port === 0
        ? undefined
        : { host: given.host, port: given.port ?? defaultPort };
    },
  };
}
