import { isIP } from "node:net";
import type { TLSSocket } from "node:tls";
import { setTimeout as sleep } from "node:timers/promises";
import {
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerInterceptor,
  type ServerOptions,
  ServerInterceptingCall,
} from "@grpc/grpc-js";
import type { Logger } from "pino";
import { type Registry, Counter, Gauge } from "prom-client";
import type { Clock } from "#shared/time/clock.ts";
import { createMessageSerializer } from "#shared/protocol/message-serializer.ts";
import { HubMessage, ProbeService, type EnrollResponse, type ProbeServer } from "#shared/protocol/probe.ts";
import { MAX_JOB_BYTES, MAX_MESSAGE_BYTES } from "#shared/protocol/wire.ts";
import { acceptConnections, type AgentConnections } from "#control-plane/checks/dispatch/grpc/connections.ts";
import { certificateOf, type AnyCall } from "#control-plane/checks/dispatch/grpc/credentials.ts";
import {
  STRANGER_MESSAGE_BYTES,
  STRANGER_STREAMS,
  type ConnectionLimits,
} from "#control-plane/checks/dispatch/grpc/limits.ts";
import { serveStream } from "#control-plane/checks/dispatch/grpc/stream.ts";
import type { Hub } from "#control-plane/checks/dispatch/hub.ts";
import type { Issuance, Security } from "#control-plane/checks/dispatch/security.ts";
import { createRateLimitedLog, type RateLimitedLog } from "#control-plane/checks/dispatch/rate-limited-log.ts";
import type { Rejection } from "#control-plane/checks/dispatch/hello.ts";
import type { ConnectionEnd } from "#control-plane/checks/dispatch/grpc/connection-table.ts";

/** Ends without a log line here, because the refused call is already logged. */
const SILENT_ENDS: ReadonlySet<ConnectionEnd> = new Set(["refused"]);

/** Registers a counter of refused and closed connections. Returns a function that counts and logs one. */
function countConnectionEnds(registry: Registry, log: RateLimitedLog): (reason: ConnectionEnd, peer: string) => void {
  const ended = new Counter({
    name: "vantage_agent_connections_ended_total",
    help: "Connections to the agents' port that this side refused or closed, by reason",
    labelNames: ["reason"],
    registers: [registry],
  });
  return (reason, peer) => {
    ended.inc({ reason });
    if (!SILENT_ENDS.has(reason)) log.warn({ peer, reason }, "connection to the agents' port closed");
  };
}

/** Registers a gauge of the open connections to the agents' port. */
function registerConnectionGauge(registry: Registry, connections: Pick<AgentConnections, "counts">): void {
  registry.registerMetric(
    new Gauge({
      name: "vantage_agent_connections",
      help: "Open connections to the agents' port: with a valid client certificate (agent) and without (stranger)",
      labelNames: ["client"],
      registers: [],
      collect() {
        const { agents, strangers } = connections.counts();
        this.set({ client: "agent" }, agents);
        this.set({ client: "stranger" }, strangers);
      },
    }),
  );
}

/**
 * Creates an interceptor that ends a call with DEADLINE_EXCEEDED if its first message is not complete `waitMs`
 * milliseconds after its headers, and reports its peer. grpc-js itself only has the deadline that the client chooses.
 */
function awaitFirstMessage(waitMs: number, onSilent: (peer: string) => void): ServerInterceptor {
  return (_method, call) => {
    let timer: NodeJS.Timeout | undefined;
    const settled = (): void => clearTimeout(timer);
    return new ServerInterceptingCall(call, {
      start(next) {
        timer = setTimeout(() => {
          onSilent(call.getPeer());
          call.sendStatus({ code: status.DEADLINE_EXCEEDED, details: `no message within ${waitMs} ms` });
        }, waitMs);
        next({
          onReceiveMessage(message, forward) {
            settled();
            forward(message);
          },
          onReceiveHalfClose(forward) {
            settled();
            forward();
          },
          onCancel: settled,
        });
      },
    });
  };
}

const NO_MESSAGE: Rejection = {
  reason: "protocol",
  message: "the message is not a valid message of the protocol",
  retry: true,
};

// Messages of grpc-js for calls that it ends by itself: a message that is too large or that cannot be decoded.
const BROKEN = /^(?:Received message|Error deserializing|Failed to decompress)/;

/** Counts and logs calls that grpc-js ends by itself, which it only reports in the status that it sends. */
function countBrokenCalls(hub: Hub, rejections: RateLimitedLog): ServerInterceptor {
  return (_method, call) => {
    const send = call.sendStatus.bind(call);
    let isReported = false;
    call.sendStatus = (end) => {
      const detail = end.details ?? "";
      // grpc-js sends the status again for each frame that was in transit.
      if (!isReported && BROKEN.test(detail)) {
        isReported = true;
        hub.refuse(NO_MESSAGE);
        rejections.warn({ peer: call.getPeer(), reason: NO_MESSAGE.reason, detail }, "agent message refused");
      }
      send(end);
    };
    return new ServerInterceptingCall(call);
  };
}

/** Time in milliseconds that streams have to end by themselves. */
const STOP_GRACE_MS = 1_000;
/** Maximum number of log lines per minute about closed connections; the metric counts all of them. */
const CONNECTION_LINES = 10;
const LINES_WINDOW_MS = 60_000;

/** Options for connections with a valid client certificate. */
const AGENT_OPTIONS: ServerOptions = {
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.max_send_message_length": MAX_JOB_BYTES,
  // Beats detect a dead peer; these settings only close connections whose host has disappeared.
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 5_000,
  "grpc.keepalive_permit_without_calls": 1,
  "grpc.http2.min_ping_interval_without_data_ms": 1_000,
  // An agent needs two streams.
  "grpc.max_concurrent_streams": 16,
};

/**
 * Options for all other connections: small messages, and little memory for waiting frames (in MB; grpc-js has no limit
 * itself).
 */
const STRANGER_OPTIONS: ServerOptions = {
  "grpc.max_receive_message_length": STRANGER_MESSAGE_BYTES,
  "grpc.max_send_message_length": STRANGER_MESSAGE_BYTES,
  "grpc.max_concurrent_streams": STRANGER_STREAMS,
  "grpc-node.max_session_memory": 1,
};

/** The open listener for agents. */
export interface GrpcListener {
  /** The port in use; the chosen one if 0 was configured. */
  readonly port: number;
  /** Reports whether an agent is attached from another host. */
  hasRemoteAgents(): boolean;
  stop(): Promise<void>;
}

/** Options of the listener. */
interface GrpcOptions {
  readonly hub: Hub;
  readonly address: { readonly host: string; readonly port: number };
  readonly limits: ConnectionLimits;
  readonly security: Security;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
}

/**
 * Listens for agents: TLS 1.3, and a client certificate of our authority for every call except Enroll. A separate
 * server with lower limits serves connections without one. Rejects if the address cannot be bound.
 */
export async function listenGrpc(options: GrpcOptions): Promise<GrpcListener> {
  const { hub, address, limits, security, clock, log, registry } = options;
  const rejections = createRateLimitedLog(log);
  const closings = createRateLimitedLog(log, CONNECTION_LINES, LINES_WINDOW_MS);
  const interceptors = [
    // First in the list, so that it is next to the call itself and sees the status that grpc-js sends.
    countBrokenCalls(hub, rejections),
    awaitFirstMessage(limits.firstMessageMs, (peer) => connections.refuse(peer, "silent")),
  ];
  const service: ProbeServer = {
    attach: (call) => serveStream({ hub, log, rejections, security, connections }, call),
    enroll: (call, callback) => {
      const { joinToken, certificateRequest } = call.request;
      void answer(call, security.enrolment.enroll(joinToken, certificateRequest, addressOf(call)), callback);
    },
    renew: (call, callback) => {
      const { certificateRequest, follows } = call.request;
      const renewed = security.enrolment.renew(certificateOf(call), certificateRequest, addressOf(call), follows);
      void answer(call, renewed, callback);
    },
  };

  async function answer(call: AnyCall, issuing: Promise<Issuance>, callback: sendUnaryData<EnrollResponse>) {
    const peer = call.getPeer();
    const issuance = await issuing;
    if (!issuance.ok) {
      connections.refuse(peer);
      return callback({ code: STATUS_OF_FAULT[issuance.fault], details: issuance.message });
    }
    const { agentId, timeMs, ...der } = issuance.issued;
    callback(null, {
      certificate: Buffer.from(der.certificate),
      caCertificate: Buffer.from(der.caCertificate),
      leavingCaCertificate: Buffer.from(der.leavingCaCertificate),
      agentId,
      timeMs,
    });
  }

  const agents = openServer(service, AGENT_OPTIONS, interceptors);
  const strangers = openServer(service, STRANGER_OPTIONS, interceptors);
  const connections = await acceptConnections({
    address,
    security,
    limits,
    clock,
    serve: { agent: agents.serve, stranger: strangers.serve },
    onEnd: countConnectionEnds(registry, closings),
  }).catch((error: unknown) => {
    rejections.close();
    closings.close();
    throw error;
  });
  registerConnectionGauge(registry, connections);
  return {
    port: connections.port,
    hasRemoteAgents: () => connections.hasRemoteAgents(),
    async stop() {
      rejections.close();
      closings.close();
      connections.close();
      // Does not wait for connections: node:http2 never releases one that died with a pending write.
      const ended = Promise.all([agents.end(), strangers.end()]);
      await Promise.race([ended, sleep(STOP_GRACE_MS, undefined, { ref: false })]);
      connections.destroy();
    },
  };
}

const SERVICE = {
  ...ProbeService,
  attach: { ...ProbeService.attach, responseSerialize: createMessageSerializer(HubMessage) },
};

/** Creates a server for injected connections. Its own credentials are insecure because TLS is already terminated. */
function openServer(service: ProbeServer, options: ServerOptions, interceptors: ServerInterceptor[]) {
  const server = new Server({ ...options, interceptors });
  server.addService(SERVICE, service);
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  return {
    serve: (socket: TLSSocket) => injector.injectConnection(socket),
    /** Accepts no more calls. Resolves when the last one has ended. */
    end: () => new Promise<void>((resolve) => server.tryShutdown(() => resolve())),
  };
}

/** Returns the client's address without its port. grpc-js puts no brackets around IPv6 addresses. */
function addressOf(call: AnyCall): string {
  const peer = call.getPeer();
  const address = peer.slice(0, Math.max(0, peer.lastIndexOf(":")));
  return isIP(address.split("%", 1)[0] ?? "") === 0 ? peer : address;
}

const STATUS_OF_FAULT = {
  identity: status.UNAUTHENTICATED,
  request: status.INVALID_ARGUMENT,
  limit: status.RESOURCE_EXHAUSTED,
  away: status.UNAVAILABLE,
} as const;
