/** A parsed security.txt file (RFC 9116). */
interface SecurityTxt {
  /** Whether both required fields are present and well-formed, there are no errors, and the file has not expired. */
  readonly valid: boolean;
  readonly expired: boolean;
  readonly expires: Date | null;
  readonly contact: readonly string[];
  readonly canonical: readonly string[];
  readonly encryption: readonly string[];
  readonly acknowledgments: readonly string[];
  readonly policy: readonly string[];
  readonly hiring: readonly string[];
  readonly preferredLanguages: readonly string[];
  /** Whether the text is in an OpenPGP cleartext signature, which is not verified. */
  readonly signed: boolean;
  /** Violations of the RFC, one sentence each. */
  readonly errors: readonly string[];
  /** Possible improvements, one sentence each. */
  readonly warnings: readonly string[];
}

/** Maximum length of the text, in characters, and maximum number of values of one field and of messages. */
const MAX_CHARACTERS = 64 * 1024;
const MAX_VALUES = 100;
const FIELDS = [
  "contact",
  "expires",
  "canonical",
  "encryption",
  "acknowledgments",
  "policy",
  "hiring",
  "preferred-languages",
  "csaf",
] as const;
/** RFC 3339 section 5.6 with the "T" and "Z" in either case. */
const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;
const YEAR_MS = 366 * 86_400_000;

/** Parses and validates a file. `url` is its address, compared with Canonical. `now` decides whether it has expired. */
export function parseSecurityTxt(text: string, url: string, now: Date): SecurityTxt {
  const errors: string[] = [];
  const warnings: string[] = [];
  const { body, signed } = unwrapSignature(text.slice(0, MAX_CHARACTERS).replace(/^\uFEFF/, ""));
  const fields = readFields(body, errors, warnings);
  const values = (name: string): string[] => fields.get(name) ?? [];
  const expires = readExpires(values("expires"), errors, warnings, now);
  checkContacts(values("contact"), errors);
  for (const name of ["canonical", "encryption", "acknowledgments", "policy", "hiring", "csaf"]) {
    for (const value of values(name)) {
      if (!URL.canParse(value)) errors.push(`${name}: not a URI: ${shorten(value)}`);
      else if (value.toLowerCase().startsWith("http:")) errors.push(`${name}: web addresses must use https`);
    }
  }
  if (values("preferred-languages").length > 1) errors.push("preferred-languages: allowed only once");
  if (values("canonical").length > 0 && !values("canonical").includes(url)) {
    warnings.push("canonical: does not contain the URL of the file");
  }
  const expired = expires !== null && expires.getTime() <= now.getTime();
  return {
    valid: errors.length === 0 && expires !== null && !expired,
    expired,
    expires,
    contact: values("contact"),
    canonical: values("canonical"),
    encryption: values("encryption"),
    acknowledgments: values("acknowledgments"),
    policy: values("policy"),
    hiring: values("hiring"),
    preferredLanguages: (values("preferred-languages")[0] ?? "")
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean),
    signed,
    errors: errors.slice(0, MAX_VALUES),
    warnings: warnings.slice(0, MAX_VALUES),
  };
}

/** Extracts the text of an OpenPGP cleartext signature (RFC 9580 section 7), without its dash-escapes. */
function unwrapSignature(text: string): { body: string; signed: boolean } {
  const match = /^-----BEGIN PGP SIGNED MESSAGE-----\r?\n(?:[^\r\n]+\r?\n)*\r?\n/.exec(text);
  if (match === null) return { body: text, signed: false };
  const end = text.indexOf("-----BEGIN PGP SIGNATURE-----", match[0].length);
  const body = text.slice(match[0].length, end === -1 ? undefined : end);
  return { body: body.replaceAll(/^- /gm, ""), signed: end !== -1 };
}

function readFields(body: string, errors: string[], warnings: string[]): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  for (const line of body.split(/\r\n|\n|\r/)) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    if (!/^[!-9;-~]+$/.test(name)) {
      errors.push(`not a field: ${shorten(line)}`);
      continue;
    }
    if (!FIELDS.some((known) => known === name)) warnings.push(`unknown field: ${shorten(name)}`);
    if (line[colon + 1] !== " ") warnings.push(`${shorten(name)}: no space after the colon`);
    const values = fields.get(name) ?? [];
    if (values.length < MAX_VALUES) fields.set(name, [...values, line.slice(colon + 1).trim()]);
  }
  return fields;
}

function readExpires(values: readonly string[], errors: string[], warnings: string[], now: Date): Date | null {
  if (values.length > 1) errors.push("expires: allowed only once");
  const [value] = values;
  if (value === undefined) {
    errors.push("expires: missing");
    return null;
  }
  const date = readDateTime(value);
  if (date === null) errors.push(`expires: not an RFC 3339 date and time: ${shorten(value)}`);
  else if (date.getTime() - now.getTime() > YEAR_MS) warnings.push("expires: more than a year away");
  return date;
}

function readDateTime(value: string): Date | null {
  const match = DATE_TIME.exec(value);
  if (match === null) return null;
  const [, , month, day, hour, minute, second] = match.map(Number);
  if ((hour ?? 0) > 23 || (minute ?? 0) > 59 || (second ?? 0) > 60) return null;
  // A leap second is read as the second before it. A day that does not exist in its month makes the date roll over.
  const date = new Date(value.toUpperCase().replace(/:60(?=[.Z+-])/, ":59"));
  const calendar = new Date(Date.UTC(Number(match[1]), (month ?? 0) - 1, day));
  return Number.isNaN(date.getTime()) || calendar.getUTCDate() !== day ? null : date;
}

function checkContacts(values: readonly string[], errors: string[]): void {
  if (values.length === 0) errors.push("contact: missing");
  for (const value of values) {
    if (!/^[a-z][a-z0-9+.-]*:./i.test(value))
      errors.push(`contact: not a URI (mailto:, tel: or https:): ${shorten(value)}`);
    else if (value.toLowerCase().startsWith("http:")) errors.push("contact: web addresses must use https");
  }
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}
