import { Server, ServerCredentials, status, type ServerDuplexStream } from "@grpc/grpc-js";
import type { Logger } from "pino";
import { ProbeService, type AgentMessage, type HubMessage, type ProbeServer } from "#shared/protocol/probe.ts";
import { MAX_MESSAGE_BYTES } from "#shared/wire.ts";
import type { AttachedStream, Hub } from "#control-plane/dispatch/hub.ts";
import type { AgentLink } from "#control-plane/dispatch/session.ts";

/** A stream that says nothing is not an agent. */
const HELLO_TIMEOUT_MS = 5_000;
/** Octets an agent may leave unread before it counts as stuck. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** The listening wire. */
export interface GrpcListener {
  /** The port in use, also where 0 was asked for. */
  readonly port: number;
  stop(): Promise<void>;
}

/** Listens for agents. Rejects where the address cannot be bound. Loopback only until enrolment exists (config). */
export async function listenGrpc(
  hub: Hub,
  address: { host: string; port: number },
  log: Logger,
): Promise<GrpcListener> {
  const server = new Server({
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
    // A dead peer is noticed by beats; these only clear connections whose host vanished.
    "grpc.keepalive_time_ms": 10_000,
    "grpc.keepalive_timeout_ms": 5_000,
    "grpc.keepalive_permit_without_calls": 1,
    "grpc.http2.min_ping_interval_without_data_ms": 1_000,
  });
  const service: ProbeServer = {
    attach: (call) => serveStream(hub, call, log),
    enroll: (_call, callback) => {
      callback({ code: status.UNIMPLEMENTED, details: "this control plane takes agents on its own host only" });
    },
    renew: (_call, callback) => {
      callback({ code: status.UNIMPLEMENTED, details: "this control plane takes agents on its own host only" });
    },
  };
  server.addService(ProbeService, service);
  const host = address.host.includes(":") ? `[${address.host}]` : address.host;
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${host}:${address.port}`, ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return {
    port,
    stop: () =>
      new Promise((resolve) => {
        server.tryShutdown(() => resolve());
        setTimeout(() => server.forceShutdown(), 1_000).unref();
      }),
  };
}

type Call = ServerDuplexStream<AgentMessage, HubMessage>;

function serveStream(hub: Hub, call: Call, log: Logger): void {
  let stream: AttachedStream | null = null;
  let over = false;
  const link = createLink(call);
  const timer = setTimeout(() => link.close(), HELLO_TIMEOUT_MS);
  const close = () => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    stream?.closed();
  };
  call.on("data", (message: AgentMessage) => {
    if (over) return;
    if (stream !== null) return stream.receive(message);
    if (message.body?.$case !== "hello") return link.close();
    clearTimeout(timer);
    const hello = message.body.value;
    const region = hello.location?.region ?? "";
    const attached = hub.attach(hello, link, { agentId: hello.agentId, region, accountId: null, enabled: true });
    if ("receive" in attached) stream = attached;
    else {
      log.warn({ peer: call.getPeer(), ...attached }, "agent rejected");
      link.close({ body: { $case: "rejected", value: attached } });
    }
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
