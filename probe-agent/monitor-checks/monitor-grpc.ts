import { ok, type Outcome } from "#shared/contracts/outcome.ts";
import { createRedact } from "#shared/text/redact.ts";
import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import { monitorGrpc as contract } from "#shared/monitor-checks/monitor-grpc.ts";
import type { ParamsOf } from "#shared/tools/define.ts";
import { examineHealth } from "#probe-agent/monitor-checks/grpc/answer.ts";
import { encodeRequest } from "#probe-agent/monitor-checks/grpc/health.ts";
import { secureStream, type ServerTrust } from "#probe-agent/monitor-checks/server-trust.ts";
import { answerOverStream } from "#probe-agent/monitor-checks/stream-answer.ts";
import type { Http2Request, Stream } from "#probe-agent/port/stream.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { implement } from "#probe-agent/tools/implement.ts";

type Params = ParamsOf<typeof contract>;

/** Maximum number of octets of the answer. One has two octets, and the prefix. */
const MOST_BODY_BYTES = 65_536;

/**
 * Asks the health service of a gRPC server once (grpc.health.v1.Health/Check). Nothing is sent to a server whose
 * certificate is not trusted, because metadata can be secret. Failures are those of Stream.
 */
export const monitorGrpc = implement(contract, async (net, params) => {
  const startedAt = net.monotonic();
  const { host, port, tls, metadata } = params;
  const redact = createRedact(metadata.map(([, value]) => value));
  const opened = await net.stream.open({ at: { host, port }, maxBytes: MOST_BODY_BYTES, redact });
  if (opened.status !== "ok") return opened;
  const stream = opened.data;
  try {
    const secured = tls ? await secureStream(net, stream, ["h2"]) : null;
    const trust = secured?.status === "ok" ? secured.data : null;
    const ended =
      secured !== null && secured.status !== "ok" ? explainTls(secured) : await askHealth(net, stream, params, trust);
    if (ended.status !== "ok") return ended;
    const responseMs = net.monotonic() - startedAt;
    const { code: httpStatus, examined: fault } = ended.data;
    return ok(await answerOverStream(stream, { fault, httpStatus, responseMs, trust }, params));
  } finally {
    stream.close();
  }
});

/** The HTTP status, null if there is no answer, and what is wrong with it. */
interface Asked {
  readonly code: number | null;
  readonly examined: MonitorFault | null;
}

async function askHealth(net: Net, stream: Stream, params: Params, trust: ServerTrust | null): Promise<Outcome<Asked>> {
  const fault = trust === null ? null : (trust.fault ?? (trust.alpn === "h2" ? null : NO_HTTP2));
  if (fault !== null) return ok({ code: null, examined: fault });
  const answer = await stream.exchangeHttp2(requestOf(net, stream, params));
  if ("status" in answer) return answer;
  return ok({ code: answer.code, examined: examineHealth(answer, params.service, stream.redact) });
}

/** gRPC needs HTTP/2, which a server agrees to by ALPN. */
const NO_HTTP2: MonitorFault = {
  stage: "tls",
  reason: "no_http2",
  message: "the server does not offer HTTP/2 (ALPN h2), which gRPC needs",
};

/** A server that refuses the only protocol on offer has answered. */
function explainTls(outcome: Exclude<Outcome<never>, { status: "ok" }>): Outcome<Asked> {
  const isRefusal = outcome.status === "failed" && outcome.reason === "no_application_protocol";
  return isRefusal ? ok({ code: null, examined: NO_HTTP2 }) : outcome;
}

function requestOf(net: Net, { host, port }: Stream, { service, metadata }: Params): Http2Request {
  return {
    authority: `${host.includes(":") ? `[${host}]` : host}:${port}`,
    path: "/grpc.health.v1.Health/Check",
    headers: [
      ["content-type", "application/grpc"],
      ["te", "trailers"],
      ["user-agent", net.stream.userAgent],
      ["grpc-timeout", `${Math.max(1, Math.floor(net.remainingMs()))}m`],
      ...metadata,
    ],
    body: encodeRequest(service),
    maxBodyBytes: MOST_BODY_BYTES,
  };
}
