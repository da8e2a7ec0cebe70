import { isRecord } from "#shared/text/is-record.ts";
import { parseYaml, MOST_PROBLEMS, type FileProblem, type Path } from "#shared/json/yaml.ts";
import { RCODES, typeCode } from "#shared/internet/dns-registry.ts";
import {
  choice,
  flag,
  list,
  named,
  parsed,
  section,
  text,
  unsupported,
  whole,
  type Field,
  type Spot,
} from "#shared/blackbox/fields.ts";
import { httpOptions } from "#shared/blackbox/http-options.ts";
import {
  ADDRESS_CHOICE,
  expression,
  parseGoDuration,
  recordConditions,
  sourceAddress,
  tlsConfig,
} from "#shared/blackbox/shared-options.ts";
import type {
  DnsOptions,
  GrpcOptions,
  IcmpOptions,
  Module,
  QueryResponse,
  TcpOptions,
} from "#shared/blackbox/module.ts";

/** A file that an option names. The path begins with "modules" and the module's name. */
export interface OptionFile {
  readonly path: Path;
  readonly file: string;
}

/** The modules of a file by name, and its value with every secret masked; or what is wrong with it. */
export type ReadModules =
  | {
      readonly ok: true;
      readonly modules: ReadonlyMap<string, Module>;
      readonly masked: unknown;
      /** The value as it is written, with its secrets. */
      readonly written: unknown;
      readonly files: readonly OptionFile[];
    }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

const LABEL_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

const queryResponse: Field<QueryResponse> = section(
  {
    expect: { ...expression, absent: null as QueryResponse["expect"] },
    expect_bytes: unsupported("write the octets in expect, as \\x00"),
    labels: list(
      section({ name: text(""), value: text("") }, (read, spot) => {
        if (!LABEL_NAME.test(read.name)) spot.fault("needs a name of letters, digits and underscores");
        return read;
      }),
      30,
    ),
    send: text(""),
    starttls: flag(false),
  },
  (read, spot) => {
    if (read.labels.length > 0 && read.expect === null) spot.fault("has labels, so it needs expect");
    return { expect: read.expect, labels: read.labels, send: read.send, starttls: read.starttls };
  },
);

const tcpOptions: Field<TcpOptions> = section(
  {
    ...ADDRESS_CHOICE,
    source_ip_address: sourceAddress,
    query_response: list(queryResponse, 100),
    tls: flag(false),
    tls_config: tlsConfig,
  },
  (read) => read,
);

/** Numbers of the classes by their names (IANA, DNS CLASSes). */
const CLASSES: Readonly<Record<string, number>> = {
  IN: 1,
  CS: 2,
  CSNET: 2,
  CH: 3,
  CHAOS: 3,
  HS: 4,
  HESIOD: 4,
  NONE: 254,
  ANY: 255,
};

/** Reports whether a text can be a name: "", "." or labels of at most 63 characters, escaped ones included. */
function isName(name: string): boolean {
  if (name === "" || name === ".") return true;
  const labels = (name.endsWith(".") ? name.slice(0, -1) : name).split(".");
  return name.length <= 1024 && labels.every((label) => label !== "" && (label.length <= 63 || label.includes("\\")));
}

const dnsOptions: Field<DnsOptions> = section(
  {
    ...ADDRESS_CHOICE,
    source_ip_address: sourceAddress,
    transport_protocol: choice(["udp", "tcp"], "udp"),
    dns_over_tls: flag(false),
    tls_config: tlsConfig,
    query_name: parsed("a DNS name", (value) => (isName(value) ? value : undefined), ""),
    query_type: parsed("a type such as A", (value) => (typeCode(value) === null ? undefined : value), "ANY"),
    query_class: parsed(`one of ${Object.keys(CLASSES).join(", ")}`, (value) => CLASSES[value], 1),
    recursion_desired: flag(true),
    valid_rcodes: list(parsed("an RCODE such as NXDOMAIN", (value) => RCODES[value], 0)),
    validate_answer_rrs: recordConditions,
    validate_authority_rrs: recordConditions,
    validate_additional_rrs: recordConditions,
  },
  (read, spot, given) => {
    if (given.size > 0 && !given.has("query_name")) spot.fault("needs a query_name");
    if (read.dns_over_tls && read.transport_protocol !== "tcp")
      spot.fault("has dns_over_tls, so it needs transport_protocol: tcp");
    return { ...read, valid_rcodes: read.valid_rcodes.length === 0 ? [0] : read.valid_rcodes };
  },
);

/** Largest payload of an echo in one IPv4 packet: 65,535 octets less the headers of IP and ICMP. */
const MOST_PAYLOAD = 65_507;

const icmpOptions: Field<IcmpOptions> = section(
  {
    ...ADDRESS_CHOICE,
    source_ip_address: sourceAddress,
    dont_fragment: flag(false),
    payload_size: whole(0, MOST_PAYLOAD, 0),
    ttl: whole(0, 255, 64),
  },
  (read) => read,
);

const grpcOptions: Field<GrpcOptions> = section(
  { ...ADDRESS_CHOICE, service: text(""), tls: flag(false), tls_config: tlsConfig },
  (read) => read,
);

const PROBERS = ["http", "tcp", "dns", "icmp", "grpc"] as const;

const moduleOptions: Field<Omit<Module, "name">> = section(
  {
    prober: { ...text(null), absent: null as string | null },
    timeout: parsed("a duration with its unit, such as 5s", parseGoDuration, null),
    http: httpOptions,
    tcp: tcpOptions,
    dns: dnsOptions,
    icmp: icmpOptions,
    grpc: grpcOptions,
    unix: unsupported("remove it; the probers are http, tcp, dns, icmp and grpc"),
    websocket: unsupported("remove it; the probers are http, tcp, dns, icmp and grpc"),
  },
  (read, spot) => {
    const prober = PROBERS.find((known) => known === read.prober);
    if (prober === undefined) {
      const had =
        read.prober === null
          ? "needs a prober"
          : `has the prober ${JSON.stringify(read.prober.slice(0, 40))}, which is not supported`;
      spot.fault(
        `${had}: use one of ${PROBERS.join(", ")}`,
        read.prober === null ? spot.path : [...spot.path, "prober"],
      );
    }
    const timeoutMs = read.timeout === 0 ? null : read.timeout;
    switch (prober) {
      case "tcp":
        return { timeoutMs, prober, options: read.tcp };
      case "dns":
        return { timeoutMs, prober, options: read.dns };
      case "icmp":
        return { timeoutMs, prober, options: read.icmp };
      case "grpc":
        return { timeoutMs, prober, options: read.grpc };
      default:
        return { timeoutMs, prober: "http", options: read.http };
    }
  },
);

/** Maximum number of modules of a file. */
const MOST_MODULES = 100_000;

const file = section({ modules: named(moduleOptions, MOST_MODULES) }, (read) => read.modules);

/**
 * Reads the text of a blackbox.yml. `whyUnreadable` returns why a file that an option names cannot be read, null if it
 * can. Every problem has its place; no message quotes a secret.
 */
export function readModules(source: string, whyUnreadable: Spot["whyUnreadable"]): ReadModules {
  const read = parseYaml(source);
  if (!read.ok) return read;
  const { value, placeOf } = read.parsed;
  const problems: FileProblem[] = [];
  const fault = (message: string, path: Path = []): void => {
    if (problems.length < MOST_PROBLEMS) problems.push({ place: placeOf(path), message: `${nameOf(path)} ${message}` });
  };
  const files: OptionFile[] = [];
  const note: Spot["whyUnreadable"] = (path, where) => {
    files.push({ path: where, file: path });
    return whyUnreadable(path, where);
  };
  const modules = value === null ? {} : file.read(value, { path: [], fault, whyUnreadable: note });
  if (problems.length > 0) return { ok: false, problems };
  const byName = Object.entries(modules).map(([name, options]) => [name, { name, ...options } as Module] as const);
  return { ok: true, modules: new Map(byName), masked: maskSecrets(value), written: value, files };
}

/** Reads the value of one module that may name no file: every secret is text. Returns its first fault otherwise. */
export function readSentModule(name: string, value: unknown): Module | { readonly fault: string } {
  let first: string | null = null;
  const options = moduleOptions.read(value, {
    path: [],
    fault: (message, path = []) => (first ??= `${nameOf([name, ...path])} ${message}`),
    whyUnreadable: () => "its content must be sent in its place",
  });
  return first === null ? ({ name, ...options } as Module) : { fault: first };
}

/** Names a part as people write it: http_2xx.http.headers. */
function nameOf(path: Path): string {
  const [first, ...rest] = path[0] === "modules" && path.length > 1 ? path.slice(1) : path;
  if (first === undefined) return "the file";
  return [String(first), ...rest.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))].join("");
}

const SECRET_OPTIONS = new Set([
  "password",
  "bearer_token",
  "client_secret",
  "credentials",
  "key",
  "proxy_connect_header",
]);
const SECRET_HEADERS = /^(?:authorization|proxy-authorization|cookie|x-api-key|x-auth-token)$/i;

/** Returns the value of a file with `<secret>` in the place of each secret, as the exporter shows it. */
function maskSecrets(value: unknown, name = ""): unknown {
  if (SECRET_OPTIONS.has(name) || SECRET_HEADERS.test(name)) return "<secret>";
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item));
  if (typeof value === "string")
    return value.replace(/^([a-z]{1,10}:\/\/[^:/@]{0,200}):[^@/]{1,200}@/i, "$1:<secret>@");
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskSecrets(inner, key)]));
}
