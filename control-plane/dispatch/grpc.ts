import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import {
  Metadata,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  status,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerInterceptor,
  type ServerUnaryCall,
} from "@grpc/grpc-js";
import type { Logger } from "pino";
import {
  ProbeService,
  type AgentMessage,
  type EnrollResponse,
  type Hello,
  type HubMessage,
  type ProbeServer,
} from "#shared/protocol/probe.ts";
import { MAX_MESSAGE_BYTES, REPLICA_HEADER } from "#shared/wire.ts";
import type { Rejection } from "#control-plane/dispatch/hello.ts";
import type { AttachedStream, Hub } from "#control-plane/dispatch/hub.ts";
import type { Issuance, ListenerIdentity, Security } from "#control-plane/dispatch/security.ts";
import type { AgentLink } from "#control-plane/dispatch/session.ts";
import { spareLog, type SparingLog } from "#control-plane/dispatch/sparing-log.ts";

/** A stream that says nothing is not an agent. */
const HELLO_TIMEOUT_MS = 5_000;
const HANDSHAKE_TIMEOUT_MS = 5_000;
/** Streams have so long to end by themselves. */
const STOP_GRACE_MS = 1_000;
/** Octets an agent may leave unread before it counts as stuck. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

const NO_MESSAGE: Rejection = { reason: "protocol", message: "this is no message of the protocol", retry: true };
const NO_HELLO: Rejection = { reason: "protocol", message: "a stream begins with a hello", retry: true };

/** The listening wire. */
export interface GrpcListener {
  /** The port in use, also where 0 was asked for. */
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Listens for agents: TLS 1.3, and a client certificate of ours for all but Enroll. Rejects where the address cannot be
 * bound.
 */
export async function listenGrpc(
  hub: Hub,
  address: { host: string; port: number },
  log: Logger,
  security: Security,
): Promise<GrpcListener> {
  const rejections = spareLog(log);
  const server = new Server({
    interceptors: [noticeBroken(hub, rejections)],
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
    // A dead peer is noticed by beats; these only clear connections whose host vanished.
    "grpc.keepalive_time_ms": 10_000,
    "grpc.keepalive_timeout_ms": 5_000,
    "grpc.keepalive_permit_without_calls": 1,
    "grpc.http2.min_ping_interval_without_data_ms": 1_000,
    // An agent needs two; strangers get no more.
    "grpc.max_concurrent_streams": 16,
    "grpc.max_connection_idle_ms": 60_000,
  });
  const service: ProbeServer = {
    attach: (call) => serveStream({ hub, log, rejections, security }, call),
    enroll: (call, callback) => {
      const { joinToken, certificateRequest } = call.request;
      void answer(security.enrolment.enroll(joinToken, certificateRequest, peerOf(call)), callback);
    },
    renew: (call, callback) => {
      const shown = certificateOf(call);
      void answer(security.enrolment.renew(shown, call.request.certificateRequest, peerOf(call)), callback);
    },
  };
  server.addService(ProbeService, service);
  const credentials = new AgentCredentials(security);
  const host = address.host.includes(":") ? `[${address.host}]` : address.host;
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${host}:${address.port}`, credentials, (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return {
    port,
    async stop() {
      rejections.close();
      const ended = new Promise((resolve) => server.tryShutdown(resolve));
      // Connections are not waited for: node:http2 never lets go of one that died with a write on its way.
      await Promise.race([ended, sleep(STOP_GRACE_MS, undefined, { ref: false })]);
      server.forceShutdown();
    },
  };
}

/** Asks every client for a certificate and lets those without one in: who may do what is decided by call. */
class AgentCredentials extends ServerCredentials {
  constructor({ authority, identity }: Security) {
    const context = ({ chain, privateKey }: ListenerIdentity) =>
      ({ ca: authority, cert: chain, key: privateKey, minVersion: "TLSv1.3" }) as const;
    super(
      { requestCert: true, rejectUnauthorized: false, handshakeTimeout: HANDSHAKE_TIMEOUT_MS },
      context(identity.current()),
    );
    identity.onRenew((renewed) => this.updateSecureContextOptions(context(renewed)));
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}

// How grpc-js words what it ends a call for without asking anybody: messages too large, or none at all.
const BROKEN = /^(?:Received message|Error deserializing|Failed to decompress)/;

/** Counts and tells what ends in the wire's own hands; grpc-js says it nowhere but in the status it sends. */
function noticeBroken(hub: Hub, rejections: SparingLog): ServerInterceptor {
  return (_method, call) => {
    const send = call.sendStatus.bind(call);
    let isTold = false;
    call.sendStatus = (end) => {
      const detail = end.details ?? "";
      // Said again for each frame that was on its way.
      if (!isTold && BROKEN.test(detail)) {
        isTold = true;
        hub.refuse(NO_MESSAGE);
        rejections.warn({ peer: call.getPeer(), reason: NO_MESSAGE.reason, detail }, "agent message refused");
      }
      send(end);
    };
    return new ServerInterceptingCall(call);
  };
}

type Call = ServerDuplexStream<AgentMessage, HubMessage>;
type AnyCall = Pick<Call | ServerUnaryCall<unknown, unknown>, "getAuthContext" | "getPeer">;

/** The client's certificate (DER), where the TLS layer found it valid and of our authority. */
function certificateOf(call: AnyCall): Uint8Array | null {
  return call.getAuthContext().sslPeerCertificate?.raw ?? null;
}

/** The client's address without its port; grpc-js puts no brackets around IPv6. */
function peerOf(call: AnyCall): string {
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

async function answer(issuing: Promise<Issuance>, callback: sendUnaryData<EnrollResponse>): Promise<void> {
  const issuance = await issuing;
  if (!issuance.ok) return callback({ code: STATUS_OF_FAULT[issuance.fault], details: issuance.message });
  const { certificate, caCertificate, agentId, timeMs } = issuance.issued;
  const der = { certificate: Buffer.from(certificate), caCertificate: Buffer.from(caCertificate) };
  callback(null, { ...der, agentId, timeMs });
}

/** What serving a stream takes. */
interface Wire {
  readonly hub: Hub;
  readonly log: Logger;
  readonly rejections: SparingLog;
  readonly security: Security;
}

function serveStream({ hub, log, rejections, security }: Wire, call: Call): void {
  let stream: AttachedStream | null = null;
  let isGreeted = false;
  let over = false;
  const link = createLink(call);
  const timer = setTimeout(() => turnAway("", hub.refuse(NO_HELLO)), HELLO_TIMEOUT_MS);
  const close = () => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    stream?.closed();
  };

  /** Decided anew when the hello is there, so that nothing that changed before it is missed. */
  async function greet(hello: Hello): Promise<void> {
    const admission = await security.gatekeeper.admit(certificateOf(call));
    if (over) return;
    const attached = admission.ok ? hub.attach(hello, link, admission.enrolled) : hub.refuse(admission.rejection);
    if ("receive" in attached) {
      stream = attached;
      call.resume();
    } else {
      turnAway(hello.agentId, attached);
      call.resume();
    }
  }

  function turnAway(agentId: string, rejection: Rejection): void {
    rejections.warn({ peer: call.getPeer(), agent: agentId.slice(0, 64), ...rejection }, "agent rejected");
    link.close({ body: { $case: "rejected", value: rejection } });
  }

  // Before the hello, so that an agent that has a stream here already can turn back (shared/wire.ts).
  if (certificateOf(call) !== null) {
    const named = new Metadata();
    named.set(REPLICA_HEADER, hub.replicaId);
    call.sendMetadata(named);
  }
  call.on("data", (message: AgentMessage) => {
    if (over) return;
    if (stream !== null) return stream.receive(message);
    if (isGreeted) return; // what follows the hello of an agent that was turned away
    isGreeted = true;
    clearTimeout(timer);
    if (message.body?.$case !== "hello") return turnAway("", hub.refuse(NO_HELLO));
    // What comes next waits for the answer.
    call.pause();
    greet(message.body.value).catch((error: unknown) => {
      log.error({ err: error }, "agent could not be admitted");
      call.destroy();
    });
  });
  call.on("end", () => {
    close();
    call.end();
  });
  call.on("cancelled", close);
  call.on("close", close);
  call.on("error", (error) => {
    log.debug({ err: error }, "agent stream failed");
    close();
  });
}

function createLink(call: Call): AgentLink {
  let open = true;
  return {
    send(message) {
      if (!open || call.cancelled || call.destroyed) return;
      call.write(message);
      if (call.writableLength > MAX_UNREAD_BYTES) call.destroy(new Error("the agent reads too slowly"));
    },
    close(last) {
      if (!open) return;
      open = false;
      if (last !== undefined && !call.destroyed) call.write(last);
      call.end();
    },
  };
}
