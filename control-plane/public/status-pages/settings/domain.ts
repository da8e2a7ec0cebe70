import { refuse, type Read } from "#shared/schema/problem.ts";

/** Maximum length of a host name (RFC 1035). */
export const MOST_HOST = 253;
/** Maximum length of a page's domain: the name of the record that verifies it is 9 characters longer. */
const MOST_DOMAIN = 244;

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const DIGITS = /^\d+$/;

/** Returns the host name of a Host field in lower case, without the port and the final dot. */
export function hostOf(field: string): string {
  const [name = ""] = field.split(":", 1);
  return (name.endsWith(".") ? name.slice(0, -1) : name).toLowerCase();
}

/** Reports whether a text is a host name in lower case that has a dot and is no IP address. */
function isHostName(text: string): boolean {
  const labels = text.split(".");
  const isNamed = text.length <= MOST_HOST && labels.length >= 2 && labels.every((label) => LABEL.test(label));
  // The last label of a name is never a number, so that names and IPv4 addresses differ (RFC 1123, section 2.1).
  return isNamed && !DIGITS.test(labels.at(-1) ?? "");
}

/** Reads the domain of a page. */
export function readDomain(given: string): Read<string> {
  const domain = given.toLowerCase();
  if (!isHostName(domain)) {
    const message = "must be a host name such as status.example.com, in ASCII, without a scheme, a port or a path";
    return refuse("domain", "type", message);
  }
  if (domain.length > MOST_DOMAIN) {
    const message = `must have at most ${MOST_DOMAIN} characters, so that its record has a name`;
    return refuse("domain", "range", message);
  }
  return { ok: true, value: domain };
}
