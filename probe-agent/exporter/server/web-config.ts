import { readFileSync } from "node:fs";
import { getCiphers, type SecureVersion, type TlsOptions as ServerTls } from "node:tls";
import { describeError } from "#shared/contracts/error-code.ts";
import { parseYaml, type Path } from "#shared/json/yaml.ts";
import { whyUnreadable } from "#shared/process/module-files.ts";
import { choice, flag, list, named, optional, section, text, type Field, type Spot } from "#shared/blackbox/fields.ts";

/** TLS and users of the listeners (the web configuration of Prometheus' exporters). */
export interface WebConfig {
  /** null: no TLS. */
  readonly tls: ServerTls | null;
  /** Whether HTTP/2 is offered under TLS. */
  readonly http2: boolean;
  /** Fields of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** bcrypt hashes by user; empty: no password. */
  readonly users: ReadonlyMap<string, string>;
}

/** A configuration, or the lines that say what is wrong with the file. */
type ReadWebConfig =
  | { readonly ok: true; readonly config: WebConfig }
  | { readonly ok: false; readonly lines: readonly string[] };

/** No TLS and no users. */
export const NO_WEB_CONFIG: WebConfig = { tls: null, http2: false, headers: {}, users: new Map() };

/** Reads a web configuration file. Each fault is a line that begins with file, line and column, without secrets. */
export function loadWebConfig(file: string): ReadWebConfig {
  let source: string;
  try {
    source = readFileSync(file, "utf8");
  } catch (error) {
    return { ok: false, lines: [`${file}: cannot be read: ${whyUnreadable(file) ?? describeError(error)}`] };
  }
  const read = parseYaml(source);
  if (!read.ok)
    return { ok: false, lines: read.problems.map(({ place, message }) => `${at(file, place)}: ${message}`) };
  const { value, placeOf } = read.parsed;
  const lines: string[] = [];
  const fault = (message: string, path: Path = []): void => {
    lines.push(`${at(file, placeOf(path))}: ${path.length === 0 ? "the file" : path.join(".")} ${message}`);
  };
  const config = value === null ? NO_WEB_CONFIG : webConfig.read(value, { path: [], fault, whyUnreadable });
  return lines.length > 0 ? { ok: false, lines } : { ok: true, config };
}

function at(file: string, place: { readonly line: number; readonly column: number } | null): string {
  return place === null ? file : `${file}:${place.line}:${place.column}`;
}

/** A PEM file, read now. */
const pem: Field<string | null> = {
  absent: null,
  read(value, spot) {
    const path = text("").read(value, spot);
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      spot.fault(`must be the path of a PEM file that can be read: ${whyUnreadable(path) ?? describeError(error)}`);
      return null;
    }
  },
};

const VERSIONS: Readonly<Record<string, SecureVersion>> = {
  TLS10: "TLSv1",
  TLS11: "TLSv1.1",
  TLS12: "TLSv1.2",
  TLS13: "TLSv1.3",
};
const version = choice(["TLS10", "TLS11", "TLS12", "TLS13"], null);

/** Returns OpenSSL's name of a suite that has the name of IANA, as Go's have; null if OpenSSL does not know it. */
function suiteName(name: string): string | null {
  const short = name
    .replace(/^TLS_(?:RSA_WITH_)?/, "")
    .replace("_WITH_", "_")
    .replace(/AES_(\d+)/, "AES$1")
    .replace("_CBC_", "_")
    .replace(/(CHACHA20_POLY1305)_SHA256$/, "$1")
    .replaceAll("_", "-");
  const known = getCiphers();
  return [name, short].find((spelling) => known.includes(spelling.toLowerCase())) ?? null;
}

const CURVES: Readonly<Record<string, string>> = {
  CurveP256: "P-256",
  CurveP384: "P-384",
  CurveP521: "P-521",
  X25519: "X25519",
};

const CLIENT_AUTH = [
  "NoClientCert",
  "RequestClientCert",
  "RequireAnyClientCert",
  "VerifyClientCertIfGiven",
  "RequireAndVerifyClientCert",
] as const;

const tlsServer: Field<ServerTls | null> = optional(
  section(
    {
      cert_file: pem,
      key_file: pem,
      client_auth_type: choice(CLIENT_AUTH, "NoClientCert"),
      client_ca_file: pem,
      min_version: version,
      max_version: version,
      cipher_suites: list(text(""), 100),
      curve_preferences: list(text(""), 20),
      prefer_server_cipher_suites: flag(true),
    },
    (read, spot) => {
      if (read.cert_file === null || read.key_file === null) spot.fault("needs cert_file and key_file");
      const { client_auth_type: auth } = read;
      if (auth === "RequireAnyClientCert" || auth === "VerifyClientCertIfGiven") {
        spot.fault(`has client_auth_type ${auth}, which is not supported: use RequireAndVerifyClientCert`);
      }
      if (auth === "RequireAndVerifyClientCert" && read.client_ca_file === null) spot.fault("needs client_ca_file");
      const suites = read.cipher_suites.map((name) => ({ name, openssl: suiteName(name) }));
      for (const { name, openssl } of suites)
        if (openssl === null) spot.fault(`has the unknown cipher suite ${name.slice(0, 60)}`);
      const curves = read.curve_preferences.map((name) => ({ name, openssl: CURVES[name] }));
      for (const { name, openssl } of curves)
        if (openssl === undefined) spot.fault(`has the unknown curve ${name.slice(0, 60)}`);
      const ciphers = suites.map(({ openssl }) => openssl).join(":");
      return {
        ...(read.cert_file === null ? {} : { cert: read.cert_file }),
        ...(read.key_file === null ? {} : { key: read.key_file }),
        ...(read.client_ca_file === null ? {} : { ca: read.client_ca_file }),
        requestCert: auth !== "NoClientCert",
        rejectUnauthorized: auth === "RequireAndVerifyClientCert",
        minVersion: VERSIONS[read.min_version ?? "TLS12"] ?? "TLSv1.2",
        ...(read.max_version === null ? {} : { maxVersion: VERSIONS[read.max_version] ?? "TLSv1.3" }),
        ...(suites.length === 0 ? {} : { ciphers }),
        ...(curves.length === 0 ? {} : { ecdhCurve: curves.map(({ openssl }) => openssl).join(":") }),
        honorCipherOrder: read.prefer_server_cipher_suites,
      };
    },
  ),
);

/** A hash of bcrypt with a cost that one check can bear. */
const HASH = /^\$2[aby]\$(\d{2})\$[./A-Za-z0-9]{53}$/;
const MOST_COST = 15;

const users: Field<ReadonlyMap<string, string>> = {
  absent: new Map(),
  read(value, spot) {
    const read = named(text(""), 1000).read(value, spot);
    for (const [user, hash] of Object.entries(read)) {
      const cost = Number(HASH.exec(hash)?.[1] ?? Number.NaN);
      if (!(cost >= 4 && cost <= MOST_COST)) {
        spot.fault(
          `must be a bcrypt hash with a cost of at most ${MOST_COST}: make one with htpasswd -nBC 10 "" `.trim(),
          [...spot.path, user],
        );
      }
    }
    return new Map(Object.entries(read));
  },
};

const HEADERS: Readonly<Record<string, Field<string | null>>> = Object.fromEntries(
  [
    "Content-Security-Policy",
    "X-Frame-Options",
    "X-Content-Type-Options",
    "X-XSS-Protection",
    "Strict-Transport-Security",
  ].map((name) => [name, text(null)]),
);

const httpServer = section({ http2: flag(true), headers: section(HEADERS, (read) => read) }, ({ http2, headers }) => ({
  http2,
  headers,
}));

const webConfig: Field<WebConfig> = section(
  { tls_server_config: tlsServer, http_server_config: httpServer, basic_auth_users: users },
  (read, _spot: Spot) => {
    const fields = Object.entries(read.http_server_config.headers);
    return {
      tls: read.tls_server_config,
      http2: read.http_server_config.http2,
      headers: Object.fromEntries(fields.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))),
      users: read.basic_auth_users,
    };
  },
);
