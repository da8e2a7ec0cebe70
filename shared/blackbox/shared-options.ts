import { isIP } from "node:net";
import { compileExpression, type Expression } from "#shared/blackbox/expression.ts";
import { choice, flag, list, parsed, section, text, type Field, type Spot } from "#shared/blackbox/fields.ts";
import type { RecordConditions, Secret, TlsOptions } from "#shared/blackbox/module.ts";

/** Options that every prober has. */
export const ADDRESS_CHOICE = {
  preferred_ip_protocol: choice(["ip6", "ip4"], "ip6"),
  ip_protocol_fallback: flag(true),
};

/** An expression that matches everywhere: what an invalid one is read as, until its fault ends the reading. */
const ANYTHING: Expression = { source: "", matches: () => true, find: () => (template) => template };

/** A regular expression. */
export const expression: Field<Expression> = {
  absent: ANYTHING,
  read(value, spot) {
    const compiled = compileExpression(text("").read(value, spot));
    if (!("fault" in compiled)) return compiled;
    spot.fault(
      `is no regular expression of RE2, whose syntax is at https://github.com/google/re2/wiki/Syntax: ${compiled.fault}`,
    );
    return ANYTHING;
  },
};

/** Expressions, empty if there are none. */
export const expressions = list(expression);

/** The address of our end. */
export const sourceAddress = parsed(
  "an IPv4 or IPv6 address of this host",
  (value) => (isIP(value) === 0 ? undefined : value),
  null,
);

/** The path of a file that can be read. */
export const readableFile: Field<string | null> = {
  absent: null,
  read(value, spot) {
    const path = text("").read(value, spot);
    const why = path === "" ? "it is empty" : spot.whyUnreadable(path, spot.path);
    if (why !== null) spot.fault(`must be the path of a file that can be read: ${why}`);
    return path;
  },
};

/** Returns the one of a text and a file that is given; null for none. Both are a fault. */
export function secretOf(given: string | null, file: string | null, names: string, spot: Spot): Secret | null {
  if (given !== null && file !== null) spot.fault(`has both ${names}: keep one of them`);
  if (file !== null) return { file };
  return given === null ? null : { text: given };
}

const VERSIONS = ["TLS10", "TLS11", "TLS12", "TLS13"] as const;

/** How TLS is spoken. */
export const tlsConfig: Field<TlsOptions> = section(
  {
    insecure_skip_verify: flag(false),
    ca: text(null),
    ca_file: readableFile,
    cert: text(null),
    cert_file: readableFile,
    key: text(null),
    key_file: readableFile,
    server_name: text(""),
    min_version: choice(VERSIONS, null),
    max_version: choice(VERSIONS, null),
  },
  (read, spot) => {
    const cert = secretOf(read.cert, read.cert_file, "cert and cert_file", spot);
    const key = secretOf(read.key, read.key_file, "key and key_file", spot);
    if ((cert === null) !== (key === null)) spot.fault("needs both of cert_file and key_file, or none");
    const { min_version: least, max_version: most } = read;
    if (least !== null && most !== null && least > most) spot.fault("has a min_version above its max_version");
    return {
      insecure_skip_verify: read.insecure_skip_verify,
      ca: secretOf(read.ca, read.ca_file, "ca and ca_file", spot),
      cert,
      key,
      server_name: read.server_name,
      min_version: least,
      max_version: most,
    };
  },
);

/** Conditions on the records of a section. */
export const recordConditions: Field<RecordConditions> = section(
  {
    fail_if_matches_regexp: expressions,
    fail_if_all_match_regexp: expressions,
    fail_if_not_matches_regexp: expressions,
    fail_if_none_matches_regexp: expressions,
  },
  (read) => read,
);

const UNITS: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1e3, m: 60e3, h: 3600e3 };

/** Parses a duration of Go such as 5s or 1m30s, in milliseconds; undefined for anything else. */
export function parseGoDuration(value: string): number | undefined {
  if (!/^(?:\d{1,9}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h)){1,6}$/.test(value)) return undefined;
  const parts = value.matchAll(/(\d{1,9}(?:\.\d{1,9})?)([a-zµ]{1,2})/g);
  return Array.from(parts, ([, number, unit]) => Number(number) * (UNITS[unit ?? ""] ?? 0)).reduce(
    (sum, ms) => sum + ms,
    0,
  );
}

/** Parses a size such as 10MB in octets, where K is 1024 in every spelling; undefined for anything else. */
export function parseSize(value: string): number | undefined {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(?:([KMGTP]?)i?B)?$/.exec(value);
  if (match === null) return undefined;
  const power = match[2] === undefined || match[2] === "" ? 0 : "KMGTP".indexOf(match[2]) + 1;
  return Math.floor(Number(match[1]) * 1024 ** power);
}
