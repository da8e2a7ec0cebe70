import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Server, status, type sendUnaryData } from "@grpc/grpc-js";
import type { Logger } from "pino";
import { ProbeService, type EnrollResponse, type ProbeServer } from "#shared/protocol/probe.ts";
import { MAX_JOB_BYTES, MAX_MESSAGE_BYTES } from "#shared/wire.ts";
import { noticeBroken } from "#control-plane/dispatch/grpc/broken.ts";
import { AgentCredentials, certificateOf, type AnyCall } from "#control-plane/dispatch/grpc/credentials.ts";
import { serveStream } from "#control-plane/dispatch/grpc/stream.ts";
import type { Hub } from "#control-plane/dispatch/hub.ts";
import type { Issuance, Security } from "#control-plane/dispatch/security.ts";
import { spareLog } from "#control-plane/dispatch/sparing-log.ts";

/** Streams have so long to end by themselves. */
const STOP_GRACE_MS = 1_000;

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
    "grpc.max_send_message_length": MAX_JOB_BYTES,
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
