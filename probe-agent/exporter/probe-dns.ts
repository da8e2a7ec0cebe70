import { isIPv4 } from "node:net";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { decodeMessage, type Message } from "#probe-agent/dns-codec/message.ts";
import { textToName, type NameOctets } from "#probe-agent/dns-codec/names.ts";
import { buildQuery, matchReply } from "#probe-agent/dns-codec/question.ts";
import { rcodeName, typeCode } from "#shared/internet/dns-registry.ts";
import { openConnection, splitTarget } from "#probe-agent/exporter/connect.ts";
import { recordTexts, validateRecords } from "#probe-agent/exporter/dns/records.ts";
import { resolveTarget } from "#probe-agent/exporter/resolve.ts";
import { family } from "#probe-agent/exporter/samples.ts";
import { secureConnection } from "#probe-agent/exporter/tls/client.ts";
import { exchangeStream, exchangeUdp } from "#probe-agent/net/dns/ask.ts";
import type { Exchange, ExchangeRequest } from "#probe-agent/net/dns/exchange.ts";
import type { DnsOptions } from "#shared/blackbox/module.ts";
import type { Probe, Prober, ProberContext } from "#probe-agent/exporter/probe.ts";

const DURATION = family("probe_dns_duration_seconds", "Duration of DNS request by phase");
const ANSWERS = family("probe_dns_answer_rrs", "Returns number of entries in the answer resource record list");
const AUTHORITY = family("probe_dns_authority_rrs", "Returns number of entries in the authority resource record list");
const ADDITIONAL = family(
  "probe_dns_additional_rrs",
  "Returns number of entries in the additional resource record list",
);
const SUCCEEDED = family("probe_dns_query_succeeded", "Displays whether or not the query was executed successfully");
const SERIAL = family("probe_dns_serial", "Returns the serial number of the zone");

const RESOLVE = { phase: "resolve" };
const CONNECT = { phase: "connect" };
const REQUEST = { phase: "request" };

/**
 * Sends one query, without EDNS, to the target and validates the answer. A truncated answer over UDP is taken as it is,
 * as the exporter does.
 */
export const probeDns: Prober<DnsOptions> = async (probe, options, context) => {
  const { samples, log } = probe;
  for (const phase of [RESOLVE, CONNECT, REQUEST]) samples.set(DURATION, 0, phase);
  for (const each of [ANSWERS, AUTHORITY, ADDITIONAL, SUCCEEDED]) samples.set(each, 0);
  const type = typeCode(options.query_type);
  if (type === null) {
    log("error", "Invalid query type", { "Type seen": options.query_type });
    return "failure";
  }
  const { host, port } = serverOf(probe.target, options);
  const resolved = await resolveTarget(probe, host, options, context);
  if (resolved.status !== "ok") return resolved.status;
  samples.set(DURATION, resolved.seconds, RESOLVE);
  if (options.dns_over_tls && options.transport_protocol !== "tcp") {
    log("error", "Configuration error: Expected transport protocol tcp for DoT", {
      protocol: options.transport_protocol,
    });
    return "failure";
  }
  const message = await query(probe, options, { ip: resolved.ip, host, port, type }, context);
  if ("fault" in message) {
    log("error", "Error while sending a DNS query", { err: message.fault });
    return "failure";
  }
  return judge(probe, options, message, type) ? "success" : "failure";
};

/** A server; its port is null if the target's is no port. */
interface Server {
  readonly host: string;
  readonly port: number | null;
}

/** Returns the server of a target. A target that is not "host:port" is a host, so "::1" is one and "[::1]" is none. */
function serverOf(target: string, { dns_over_tls: isTls }: DnsOptions): Server {
  const split = splitTarget(target);
  if (split !== null) return split;
  const odd = /^(?:\[([^[\]]{0,255})\]|([^:[\]]{0,255})):([^:[\]]*)$/.exec(target);
  if (odd === null) return { host: target, port: isTls ? 853 : 53 };
  return { host: odd[1] ?? odd[2] ?? "", port: null };
}

type Fault = { readonly fault: string };

/** Sends the query and returns the answer. Sets the phases connect and request, also if there is none. */
async function query(
  probe: Probe,
  options: DnsOptions,
  server: Server & { readonly ip: string; readonly type: number },
  context: ProberContext,
): Promise<Message | Fault> {
  const { clock, random } = context;
  const { samples, log } = probe;
  const { ip, host, port, type } = server;
  const { transport_protocol: transport, source_ip_address: source, dns_over_tls: isTls } = options;
  const where = `${isIPv4(ip) ? ip : `[${ip}]`}:${port ?? "?"}`;
  const dialProtocol = `${transport}${isIPv4(ip) ? "4" : "6"}${isTls ? "-tls" : ""}`;
  if (source !== null) log("info", "Using local address", { srcIP: source });
  log("info", "Making DNS query", {
    target: where,
    dial_protocol: dialProtocol,
    query: options.query_name,
    type,
    class: options.query_class,
  });
  const name = nameOf(options.query_name);
  if (name === null) return { fault: "dns: bad rdata" };
  if (port === null) return { fault: `dial ${dialProtocol}: address ${probe.target}: invalid port` };

  const startedAt = clock.monotonic();
  let connectedAt: number | null = null;
  const sent = buildQuery(
    { name, type, class: options.query_class },
    { recursionDesired: options.recursion_desired, checkingDisabled: false, dnssecOk: false },
    { transport: isTls ? "dot" : transport, edns: false, mixedCase: false },
    random,
  );
  const connected = (): void => void (connectedAt = clock.monotonic());
  const request: ExchangeRequest = {
    query: sent.bytes,
    accept: (bytes) => matchReply(sent, bytes) !== "foreign",
    timeoutMs: Math.max(0, probe.deadline - startedAt),
    signal: probe.signal,
    clock,
    connected,
    ...(source === null ? {} : { source }),
  };
  const endpoint = { ip, port, source };
  const outcome =
    transport === "udp"
      ? await exchangeUdp(endpoint, request)
      : await overConnection(probe, { endpoint, host, options }, request, context);
  const endedAt = clock.monotonic();
  samples.set(DURATION, ((connectedAt ?? endedAt) - startedAt) / 1000, CONNECT);
  samples.set(DURATION, (endedAt - (connectedAt ?? endedAt)) / 1000, REQUEST);
  if ("fault" in outcome) return outcome;
  if (outcome.kind === "reply") return decode(outcome.bytes);
  const why = outcome.kind === "silence" ? "i/o timeout" : outcome.reason;
  return { fault: `${connectedAt === null ? "dial" : "read"} ${dialProtocol} ${where}: ${why}` };
}

/** Returns the octets of a name; characters that are not printable ASCII are taken as their UTF-8. */
function nameOf(text: string): NameOctets | null {
  const escaped = text.replaceAll(/[^!-~]/gu, (character) =>
    Array.from(Buffer.from(character), (octet) => `\\${String(octet).padStart(3, "0")}`).join(""),
  );
  return escaped === "" ? textToName(".") : textToName(escaped);
}

/** What a query over a connection needs. */
interface Way {
  readonly endpoint: { readonly ip: string; readonly port: number; readonly source: string | null };
  readonly host: string;
  readonly options: DnsOptions;
}

/** Sends a query over a new TCP connection, with TLS if the options say so. */
async function overConnection(
  probe: Probe,
  { endpoint, host, options }: Way,
  request: ExchangeRequest,
  context: ProberContext,
): Promise<Exchange | Fault> {
  const socket = await openConnection(endpoint, probe, context);
  if ("fault" in socket) return socket;
  if (!options.dns_over_tls) {
    request.connected?.();
    return exchangeStream(socket, request);
  }
  const offer = { options: options.tls_config, serverName: host, alpn: [] };
  const secured = await secureConnection(socket, offer, probe, context);
  if ("fault" in secured) {
    socket.destroy();
    return secured;
  }
  request.connected?.();
  return exchangeStream(secured.socket, request);
}

/** Decodes an answer as the exporter's DNS library, which takes counts that are too large. */
function decode(bytes: Uint8Array): Message | Fault {
  try {
    return decodeMessage(bytes, { trustsCounts: false });
  } catch (error) {
    if (error instanceof DecodeError) return { fault: `dns: ${error.message}` };
    throw error;
  }
}

/** Sets the metrics of an answer and reports whether it meets the conditions. */
function judge({ samples, log }: Probe, options: DnsOptions, message: Message, type: number): boolean {
  const texts = recordTexts(message);
  if (texts === null) {
    log("error", "Error while sending a DNS query", { err: "dns: bad rdata" });
    return false;
  }
  const { rcode } = message;
  samples.set(SUCCEEDED, 1);
  samples.set(ANSWERS, texts.answers.length);
  samples.set(AUTHORITY, texts.authority.length);
  samples.set(ADDITIONAL, texts.additional.length);
  log("info", "Got response", {
    status: rcodeName(rcode),
    answer: texts.answers.length,
    authority: texts.authority.length,
    additional: texts.additional.length,
  });
  if (type === typeCode("SOA")) {
    const serials = message.answers.filter((record) => record.type === "SOA").map(({ typed }) => typed["serial"]);
    samples.set(SERIAL, Number(serials.at(-1) ?? 0));
  }
  if (!options.valid_rcodes.includes(rcode)) {
    log("error", "Rcode is not one of the valid rcodes", {
      rcode,
      string_rcode: rcodeName(rcode),
      valid_rcodes: options.valid_rcodes.map(rcodeName).join(" "),
    });
    return false;
  }
  log("info", "Rcode is valid", { rcode, string_rcode: rcodeName(rcode) });
  return (
    validateRecords("Answer", texts.answers, options.validate_answer_rrs, log) &&
    validateRecords("Authority", texts.authority, options.validate_authority_rrs, log) &&
    validateRecords("Additional", texts.additional, options.validate_additional_rrs, log)
  );
}
