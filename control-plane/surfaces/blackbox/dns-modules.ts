import { splitHostPort } from "#shared/internet/host-port.ts";
import { checkTargetUrl } from "#shared/internet/egress.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { dns } from "#shared/tools/dns/contract.ts";
import { completeUrl } from "#shared/internet/target-url.ts";
import type { ExtraDestination } from "#control-plane/checks/target.ts";
import { addressSamples, phaseSamples, type Sample } from "#control-plane/surfaces/blackbox/metric-families.ts";
import { targetFailure, type Cause, type Module } from "#control-plane/surfaces/blackbox/module.ts";

type Dns = ResultOf<typeof dns>;

const PHASES = "probe_dns_duration_seconds";
const PHASES_HELP = "Duration of DNS request by phase";

/** Creates a dns_* module: the target is the name server; NOERROR is success, with or without records. */
export function dnsModule(name: string, transport: "udp" | "tcp" | "dot" | "doh"): Module {
  return {
    name,
    contract: dns,
    call(target, { queryName, queryType }) {
      if (queryName === null) {
        return { field: "query_name", reason: "required", message: "is required: the name to query" };
      }
      const server = transport === "doh" ? readUrl(target) : readServer(target);
      if (server === null) return transport === "doh" ? NO_URL : NO_SERVER;
      return {
        params: { domain: queryName, types: queryType ?? "A" },
        input: { ...server.address, transport },
        reaches: server.reaches,
      };
    },
    report(data) {
      const { results, server } = data as Dns;
      const [result] = results;
      const resolve = (server?.resolve_ms ?? 0) / 1000;
      const connect = (result?.connect_ms ?? 0) / 1000;
      const total = (result?.rtt_ms ?? 0) / 1000;
      const success = result?.status === "NOERROR";
      const serial = result?.type === "SOA" ? result.records[0]?.["serial"] : undefined;
      return {
        failure: success ? null : dnsFailure(result),
        seconds: resolve + total,
        samples: [
          ...addressSamples(server?.ip ?? null, resolve),
          ...phaseSamples(PHASES, PHASES_HELP, { resolve, connect, request: total - connect }),
          ...countSamples(result?.counts ?? NOTHING, success),
          ...(typeof serial === "number"
            ? [{ name: "probe_dns_serial", help: "Returns the serial number of the zone", value: serial }]
            : []),
        ],
      };
    },
    failure: [
      ...addressSamples(null, 0),
      ...phaseSamples(PHASES, PHASES_HELP, { resolve: 0, connect: 0, request: 0 }),
      ...countSamples(NOTHING, false),
    ],
  };
}

/** Returns why there is no NOERROR: server not reachable, no response, or the response code in lower case. */
function dnsFailure(result: Dns["results"][number] | undefined): Cause {
  if (result === undefined) return targetFailure("response", "timeout");
  const { status, unreachable } = result;
  if (status !== "TIMEOUT") return targetFailure("response", status.toLowerCase());
  if (unreachable === null) return targetFailure("response", "timeout");
  if (unreachable === "certificate") return targetFailure("tls", "certificate");
  const handshake = /^err_(?:ssl|tls)_(.+)$/.exec(unreachable);
  if (handshake?.[1] !== undefined) return targetFailure("tls", handshake[1]);
  return targetFailure(
    unreachable === "refused" || unreachable === "unreachable" ? "connect" : "response",
    unreachable,
  );
}

const NO_URL: FieldProblem = {
  field: "target",
  reason: "invalid_url",
  message: "must be the https:// URL of a DNS over HTTPS service for this module, without user name or password",
};

const NO_SERVER: FieldProblem = {
  field: "target",
  reason: "type",
  message: "must be host, host:port or [IPv6 address]:port of a name server for this module",
};

/** Address of the name server; the default port is that of the transport, as in the exporter. */
interface Address {
  readonly host: string;
  readonly port?: number;
  readonly path?: string;
}

/** Parses the target into the server for the agent and for the egress rules; null if it is invalid. */
interface Server {
  readonly address: Address;
  readonly reaches: ExtraDestination;
}

function readServer(target: string): Server | null {
  const split = splitHostPort(target);
  if (split === undefined || split.port === 0) return null;
  const { host, port } = split;
  return { address: port === null ? { host } : { host, port }, reaches: { kind: "host", target: host } };
}

/** Parses a DoH URL: scheme, user info and characters are checked here, host and port by `reaches`. */
function readUrl(target: string): Server | null {
  const text = completeUrl(target);
  const checked = text === null ? null : checkTargetUrl(text);
  if (text === null || (checked?.ok === false && checked.code === "invalid_url")) return null;
  const url = URL.parse(text);
  if (url?.protocol !== "https:") return null;
  const split = splitHostPort(url.host);
  if (split === undefined) return null;
  const { host, port } = split;
  const path = `${url.pathname}${url.search}`;
  return { address: { host, path, ...(port === null ? {} : { port }) }, reaches: { kind: "url", target: text } };
}

interface Counts {
  readonly answer: number;
  readonly authority: number;
  readonly additional: number;
}

const NOTHING: Counts = { answer: 0, authority: 0, additional: 0 };

function countSamples({ answer, authority, additional }: Counts, success: boolean): readonly Sample[] {
  const count = (section: string, value: number): Sample => ({
    name: `probe_dns_${section}_rrs`,
    help: `Returns number of entries in the ${section} resource record list`,
    value,
  });
  return [
    count("answer", answer),
    count("authority", authority),
    count("additional", additional),
    {
      name: "probe_dns_query_succeeded",
      help: "Displays whether or not the query was executed successfully",
      value: success ? 1 : 0,
    },
  ];
}
