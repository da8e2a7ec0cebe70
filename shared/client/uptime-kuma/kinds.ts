import { mapJsonQuery } from "#shared/client/uptime-kuma/json-query.ts";
import { mapRequest } from "#shared/client/uptime-kuma/request.ts";
import { parseJson } from "#shared/client/uptime-kuma/read-backup.ts";
import type { Context, Mapped, Fields } from "#shared/client/uptime-kuma/context.ts";
import { flagOf, numberOf, quoteName, textOf, type Source, listOf } from "#shared/client/uptime-kuma/source.ts";
import { shownUrl, splitCredentials, vetHost, vetServer, vetUrl } from "#shared/client/uptime-kuma/targets.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { SUBPROTOCOL } from "#shared/monitor-checks/monitor-websocket.ts";
import { isIPv4, isIPv6 } from "node:net";
import { isUsableName } from "#shared/egress/names.ts";
import { DNS_TYPES } from "#shared/monitor-checks/monitor-dns.ts";

/** The resolver and port that Uptime Kuma asks by default (src/pages/EditMonitor.vue). */
const USUAL_RESOLVER = "1.1.1.1";
const USUAL_PORT = 53;

/** Maps a look-up (louislam/uptime-kuma, server/monitor-types/dns.js): it is up if there is a record of the type. */
function mapDns(monitor: Source, context: Context): Mapped {
  const type = textOf(monitor, "dns_resolve_type") || "A";
  if (!(DNS_TYPES as readonly string[]).includes(type))
    return { ok: false, why: `no records ${quoteName(type)} are looked up` };
  const hostname = textOf(monitor, "hostname").trim();
  // Its PTR takes an address.
  const name =
    type === "PTR" && isIPv4(hostname) ? `${hostname.split(".").toReversed().join(".")}.in-addr.arpa` : hostname;
  const domain = vetHost(name, context.options, { connects: false });
  if (!domain.ok) return domain;
  const resolver = textOf(monitor, "dns_resolve_server").trim();
  const port = numberOf(monitor, "port") ?? USUAL_PORT;
  if ((resolver !== "" && resolver !== USUAL_RESOLVER) || port !== USUAL_PORT) {
    context.leaveOut("dns_resolve_server", "each probe asks its own resolvers");
  }
  return { ok: true, fields: { url: domain.value, dns: { type, ...mapConditions(monitor, type, context) } } };
}

/** Whether a text can be data of a record, for the types that a condition compares as a whole. */
const DATA: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["A", isIPv4],
  ["AAAA", (text) => isIPv6(text) && !text.includes("%")],
  ["CNAME", isName],
  ["NS", isName],
  ["PTR", isName],
]);

/** No top-level domain is a number, so the name would be an address. */
function isName(text: string): boolean {
  const name = (text.endsWith(".") ? text.slice(0, -1) : text).toLowerCase();
  return isUsableName(name) && !/^\d+$/.test(name.split(".").at(-1) ?? "");
}

/** Maximum length of a compared value, in characters. */
const LONGEST_VALUE = 4_096;

/**
 * Maps the conditions of release 2 (louislam/uptime-kuma, server/monitor-conditions/expression.js). One record has to meet
 * them: of one condition that is the same here, of several it is not.
 */
function mapConditions(monitor: Source, type: string, { leaveOut }: Context): Fields {
  const conditions = listOf(monitor, "conditions");
  if (conditions.length === 0) return {};
  const [condition] = conditions;
  const { operator = "", value = "" } = isRecord(condition) && conditions.length === 1 ? condition : {};
  const text = typeof value === "string" ? value.trim() : "";
  const isPlain = text !== "" && text.length <= LONGEST_VALUE && text.isWellFormed() && !/\p{Cc}/u.test(text);
  const isSame = operator === "equals" ? DATA.get(type)?.(text) === true : operator === "contains" && type === "TXT";
  if (isPlain && isSame) return { op: "contains", values: [text] };
  leaveOut("conditions", `they are not one of those that Vantage has: any ${type} record is up`);
  return {};
}

/** How a type of Uptime Kuma is taken over. */
interface Kind {
  /** The check_type of the new monitor. */
  readonly checkType: string;
  /** Whether probes check it: it can be checked again before it is down. */
  readonly isProbed: boolean;
  /** Returns the fields that the kind has beside those of all monitors. */
  map(monitor: Source, context: Context): Mapped;
}

/** Maximum length of a text to find, in characters. */
const LONGEST_KEYWORD = 1_000;

function mapKeyword(monitor: Source, context: Context): Mapped {
  const keyword = textOf(monitor, "keyword");
  const isPlain = keyword !== "" && keyword.length <= LONGEST_KEYWORD && !/\p{Cc}/u.test(keyword);
  if (!isPlain) return { ok: false, why: `the keyword must be one line of 1 to ${LONGEST_KEYWORD} characters` };
  const request = mapRequest(monitor, context);
  if (!request.ok) return request;
  const isAbsent = flagOf(monitor, "invertKeyword");
  return {
    ok: true,
    fields: { ...withBody(request.fields, context), keyword, ...(isAbsent ? { keyword_mode: "absent" } : {}) },
  };
}

function mapJson(monitor: Source, context: Context): Mapped {
  const request = mapRequest(monitor, context);
  if (!request.ok) return request;
  return { ok: true, fields: { ...withBody(request.fields, context), ...mapJsonQuery(monitor, context) } };
}

/** A response to HEAD has no body in which anything could be found. */
function withBody(fields: Extract<Mapped, { ok: true }>["fields"], { change }: Context): typeof fields {
  const { method, ...rest } = fields;
  if (method !== "HEAD") return fields;
  change("method", "HEAD is GET, whose response has a body");
  return rest;
}

function mapPort(monitor: Source, context: Context): Mapped {
  const port = readPort(monitor);
  const host = vetHost(textOf(monitor, "hostname"), context.options);
  if (!host.ok) return host;
  if (port === null) return { ok: false, why: "port is none of 1 to 65535" };
  if (flagOf(monitor, "expiryNotification")) {
    context.leaveOut("expiryNotification", "a monitor with check_type ssl watches the certificate of a port");
  }
  return { ok: true, fields: { url: host.value, port } };
}

function readPort(monitor: Source): number | null {
  const port = numberOf(monitor, "port");
  return port !== null && Number.isInteger(port) && port >= 1 && port <= 65_535 ? port : null;
}

const USUAL_PACKET = 56;

function mapPing(monitor: Source, context: Context): Mapped {
  const host = vetHost(textOf(monitor, "hostname"), context.options);
  if (!host.ok) return host;
  if ((numberOf(monitor, "packetSize") ?? USUAL_PACKET) !== USUAL_PACKET) {
    context.leaveOut("packetSize", "packets have one size");
  }
  return { ok: true, fields: { url: host.value } };
}

const SHORTEST_PERIOD = 30;
/** 366 days, in seconds. */
const LONGEST_PERIOD = 31_622_400;

/** A push is up until the interval is over, and then for as many retry intervals as there are retries. */
function mapPush(monitor: Source, { change, remark }: Context): Mapped {
  const given = numberOf(monitor, "interval") ?? 0;
  const within = (seconds: number) => Math.min(Math.max(Math.ceil(seconds), SHORTEST_PERIOD), LONGEST_PERIOD);
  const period = within(given);
  if (period !== given) change("interval", `${given} s is ${period} s`);
  const retries = numberOf(monitor, "maxretries") ?? 0;
  const grace = retries * (numberOf(monitor, "retryInterval") || given);
  remark("its job has to ping the new address, heartbeat_url of the new monitor");
  return {
    ok: true,
    fields: { heartbeat: { period_seconds: period, ...(grace > 0 ? { grace_seconds: within(grace) } : {}) } },
  };
}

const LONGEST_SERVICE = 256;

/**
 * Maps a gRPC call (louislam/uptime-kuma, server/monitor-types/grpc.js). Vantage calls grpc.health.v1 alone: a monitor that
 * calls another method becomes one of the health service, and is paused, since the server need not have that.
 */
function mapGrpc(monitor: Source, { options, leaveOut, remark }: Context): Mapped {
  const server = vetServer(textOf(monitor, "grpcUrl"), options);
  if (!server.ok) return server;
  const [service, method] = [textOf(monitor, "grpcServiceName"), textOf(monitor, "grpcMethod")];
  const isHealth =
    /\bgrpc\.health\.v1\b/.test(`${textOf(monitor, "grpcProtobuf")} ${service}`) &&
    /(?:^|\.)Health$/.test(service) &&
    method.toLowerCase() === "check";
  const asked = isHealth ? readService(textOf(monitor, "grpcBody")) : null;
  const { length } = textOf(monitor, "grpcMetadata").trim();
  if (length > 0) leaveOut("grpcMetadata", "Uptime Kuma does not send it");
  if (!isHealth) {
    leaveOut("keyword", "Vantage asks the health service grpc.health.v1");
    remark(`it is paused: it called ${quoteName(`${service}/${method}`)}; resume it if the server has grpc.health.v1`);
  }
  return {
    ok: true,
    fields: {
      url: server.value,
      grpc: { tls: flagOf(monitor, "grpcEnableTls"), ...(asked === null ? {} : { service: asked }) },
      ...(isHealth ? {} : { is_active: false }),
    },
  };
}

/** Returns the service that the body of a health check names; null: the server as a whole. */
function readService(body: string): string | null {
  const parsed = parseJson(body);
  const service = parsed.ok && isRecord(parsed.value) ? textOf(parsed.value, "service") : "";
  return service === "" || service.length > LONGEST_SERVICE || /\p{Cc}/u.test(service) ? null : service;
}

const LONGEST_SUBPROTOCOL = 100;

function mapWebsocket(monitor: Source, { options, leaveOut }: Context): Mapped {
  const { url: text, credentials } = splitCredentials(textOf(monitor, "url").trim());
  if (!/^wss?:\/\//i.test(text)) return { ok: false, why: `url ${shownUrl(text)} is no ws:// or wss:// URL` };
  if (credentials !== null) leaveOut("url", "a WebSocket is opened without user name and password");
  const vetted = vetUrl(text.replace(/^ws/i, "http"), options);
  if (!vetted.ok) return vetted;
  const subprotocol = textOf(monitor, "wsSubprotocol").trim();
  const isOne = SUBPROTOCOL.test(subprotocol) && subprotocol.length <= LONGEST_SUBPROTOCOL;
  if (subprotocol !== "" && !isOne) leaveOut("wsSubprotocol", "a monitor asks for one subprotocol");
  return { ok: true, fields: { url: text, ...(isOne ? { websocket: { subprotocol } } : {}) } };
}

/** TLS of a mail server (louislam/uptime-kuma, server/monitor-types/smtp.js). */
const SMTP_TLS: ReadonlyMap<string, string> = new Map([
  ["secure", "implicit"],
  ["starttls", "starttls"],
]);
const SMTP_PORT = 25;

function mapSmtp(monitor: Source, { options }: Context): Mapped {
  const host = vetHost(textOf(monitor, "hostname"), options);
  if (!host.ok) return host;
  const name = host.value.includes(":") ? `[${host.value}]` : host.value;
  const tls = SMTP_TLS.get(textOf(monitor, "smtpSecurity")) ?? "none";
  return { ok: true, fields: { url: `${name}:${readPort(monitor) ?? SMTP_PORT}`, tcp: { preset: "smtp", tls } } };
}

/** The types of src/pages/EditMonitor.vue that Vantage has, but for groups, which become tags. */
export const KINDS: ReadonlyMap<string, Kind> = new Map([
  ["http", { checkType: "http", isProbed: true, map: mapRequest }],
  ["keyword", { checkType: "keyword", isProbed: true, map: mapKeyword }],
  ["json-query", { checkType: "http", isProbed: true, map: mapJson }],
  ["port", { checkType: "port", isProbed: true, map: mapPort }],
  ["ping", { checkType: "ping", isProbed: true, map: mapPing }],
  ["dns", { checkType: "dns", isProbed: true, map: mapDns }],
  ["push", { checkType: "heartbeat", isProbed: false, map: mapPush }],
  ["grpc-keyword", { checkType: "grpc", isProbed: true, map: mapGrpc }],
  ["websocket-upgrade", { checkType: "websocket", isProbed: true, map: mapWebsocket }],
  ["smtp", { checkType: "tcp", isProbed: true, map: mapSmtp }],
]);

const SERVERS = "a monitor with check_type port can watch whether its port is open";
const LOCAL = "a heartbeat can wait for pings of a job beside it";

/** What is near to a type that Vantage does not have. */
const NEAR: ReadonlyMap<string, string> = new Map([
  ...[
    "mqtt",
    "mysql",
    "postgres",
    "sqlserver",
    "mongodb",
    "redis",
    "oracledb",
    "rabbitmq",
    "kafka-producer",
    "sip-options",
  ].map((type) => [type, SERVERS] as const),
  ...["docker", "system-service", "tailscale-ping", "snmp", "radius", "steam", "gamedig"].map(
    (type) => [type, LOCAL] as const,
  ),
  ["real-browser", "a monitor with check_type visual compares pictures of a page"],
]);

/** Returns why a type is not taken over, and what is near to it. */
export function explainType(type: string): string {
  const near = NEAR.get(type);
  return `there is no check of the type ${quoteName(type)}${near === undefined ? "" : `; ${near}`}`;
}
