import type { Socket } from "node:net";
import { encodeRequest, HEALTH_PATH, SERVING_STATUS } from "#probe-agent/analysis/network/grpc-health.ts";
import { openConnection } from "#probe-agent/exporter/connect.ts";
import { CODE, readHealth, resetCode, type Health } from "#probe-agent/exporter/grpc-status.ts";
import type { GrpcOptions } from "#shared/blackbox/module.ts";
import type { Probe, Prober, ProberContext } from "#probe-agent/exporter/probe.ts";
import { resolveTarget } from "#probe-agent/exporter/resolve.ts";
import { family, toSeconds } from "#probe-agent/exporter/samples.ts";
import { secureConnection, setHandshakeSamples, type TlsFacts } from "#probe-agent/exporter/tls/client.ts";
import { readTerms } from "#probe-agent/exporter/tls/terms.ts";
import { exchangeOnce } from "#probe-agent/net/stream-http2.ts";
import type { Http2Request } from "#probe-agent/port/stream.ts";

const DURATION = family("probe_grpc_duration_seconds", "Duration of gRPC request by phase");
const IS_TLS = family("probe_grpc_ssl", "Indicates if SSL was used for the connection");
const STATUS_CODE = family("probe_grpc_status_code", "Response gRPC status code");
const RESPONSE = family("probe_grpc_healthcheck_response", "Response HealthCheck response");

/** Maximum number of octets of the answer. One has two octets, and the prefix. */
const MOST_BODY_BYTES = 65_536;

/** Asks the health service of a gRPC server once (grpc.health.v1.Health/Check). */
export const probeGrpc: Prober<GrpcOptions> = async (probe, options, context) => {
  const { samples, log } = probe;
  samples.add(DURATION, 0, { phase: "resolve" });
  samples.set(IS_TLS, 0);
  samples.set(STATUS_CODE, 0);
  setHandshakeSamples(samples, null);
  const target = readTarget(probe.target, options.tls ? 443 : 80);
  if (target === null) {
    log("error", "Could not parse target URL", { err: `parse ${JSON.stringify(probe.target)}: invalid host or port` });
    return "failure";
  }
  // The exporter reads the files first, and without TLS too.
  const terms = await readTerms(options.tls_config, context.roots);
  if ("fault" in terms) {
    log("error", "Error creating TLS configuration", { err: terms.fault });
    return "failure";
  }
  const resolved = await resolveTarget(probe, target.host, options, context);
  if (resolved.status !== "ok") return resolved.status;
  samples.add(DURATION, resolved.seconds, { phase: "resolve" });
  const startedAt = context.clock.monotonic();
  const checked = await check(probe, options, { ...target, ip: resolved.ip }, context);
  samples.add(DURATION, toSeconds(context.clock.monotonic() - startedAt), { phase: "check" });
  for (const status of SERVING_STATUS) samples.set(RESPONSE, 0, { serving_status: status });
  samples.set(STATUS_CODE, checked.code);
  const { serving } = checked;
  if (serving !== null) {
    samples.set(RESPONSE, 1, { serving_status: serving });
    // The exporter knows the connection of an answer alone.
    if (checked.facts !== null) {
      samples.set(IS_TLS, 1);
      setHandshakeSamples(samples, checked.facts);
    }
  }
  if (serving === "SERVING") {
    log("debug", "connect the grpc server successfully");
    return "success";
  }
  log("error", "can't connect grpc server:", {
    err: checked.fault ?? `code ${checked.code}, status ${serving ?? "none"}`,
  });
  return "failure";
};

/** Where a service is. The host has no brackets. */
interface GrpcTarget {
  readonly host: string;
  readonly port: number;
}

/** Reads a target as the exporter does: "host", "host:port", or these after http:// or https://, with anything after. */
function readTarget(text: string, otherwise: number): GrpcTarget | null {
  const [, whole = ""] = /^(?:https?:\/\/)?([^/?#]{0,300})/.exec(text) ?? [];
  const authority = whole.slice(whole.lastIndexOf("@") + 1);
  const match = /^(?:\[([\dA-Fa-f:.]{1,64})\]|([^\s\\^`{|}:[\]\p{Cc}]{0,255}))(?::(\d{0,10}))?$/u.exec(authority);
  if (match === null) return null;
  return { host: match[1] ?? match[2] ?? "", port: Number(match[3] || otherwise) };
}

interface Checked extends Health {
  /** Facts of TLS; null without it. */
  readonly facts: TlsFacts | null;
  /** Why there is no answer; null if there is one. */
  readonly fault: string | null;
}

async function check(
  probe: Probe,
  options: GrpcOptions,
  { ip, host, port }: GrpcTarget & { readonly ip: string },
  context: ProberContext,
): Promise<Checked> {
  const none = (code: number, fault: string): Checked => {
    const isLate = probe.signal.aborted;
    return { code: isLate ? CODE.deadlineExceeded : code, serving: null, facts: null, fault };
  };
  if (port > 65_535) return none(CODE.unavailable, `dial tcp: address ${port}: invalid port`);
  const opened = await openConnection({ ip, port, source: null }, probe, context);
  if ("fault" in opened) return none(CODE.unavailable, opened.fault);
  try {
    let socket: Socket = opened;
    let facts: TlsFacts | null = null;
    let authority = `${host.includes(":") ? `[${host}]` : host}:${port}`;
    if (options.tls) {
      const offer = { options: options.tls_config, serverName: host, alpn: ["h2"] };
      const secured = await secureConnection(opened, offer, probe, context);
      if ("fault" in secured) return none(CODE.unavailable, secured.fault);
      ({ socket, facts } = secured);
      // grpc-go names a server under TLS as its certificate does.
      authority = options.tls_config.server_name === "" ? host : options.tls_config.server_name;
    }
    let code: number = CODE.unavailable;
    const request = requestOf(probe, options.service, authority, context);
    const answer = await exchangeOnce(socket, options.tls ? "https" : "http", request, authority, (reset) => {
      code = resetCode(reset);
    });
    if ("status" in answer) return none(code, answer.message);
    return { ...readHealth(answer), facts, fault: null };
  } finally {
    opened.destroy();
  }
}

function requestOf(probe: Probe, service: string, authority: string, context: ProberContext): Http2Request {
  const leftMs = Math.max(1, Math.floor(probe.deadline - context.clock.monotonic()));
  return {
    authority,
    path: HEALTH_PATH,
    headers: [
      ["content-type", "application/grpc"],
      ["te", "trailers"],
      ["user-agent", context.userAgent],
      ["grpc-timeout", `${leftMs}m`],
    ],
    body: encodeRequest(service),
    maxBodyBytes: MOST_BODY_BYTES,
  };
}
