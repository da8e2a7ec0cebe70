import { Metadata, type ServerDuplexStream } from "@grpc/grpc-js";
import type { AgentMessage, Hello, HubMessage } from "#shared/protocol/probe.ts";
import { REPLICA_HEADER } from "#shared/protocol/wire.ts";
import type { AgentConnections } from "#control-plane/checks/dispatch/grpc/connections.ts";
import { certificateOf } from "#control-plane/checks/dispatch/grpc/credentials.ts";
import type { Rejection } from "#control-plane/checks/dispatch/hello.ts";
import type { AttachedStream } from "#control-plane/checks/dispatch/attach-agent.ts";
import type { Hub } from "#control-plane/checks/dispatch/hub.ts";
import type { Security } from "#control-plane/checks/dispatch/security.ts";
import type { AgentLink } from "#control-plane/checks/dispatch/session.ts";
import type { RateLimitedLog } from "#control-plane/checks/dispatch/rate-limited-log.ts";
import type { App } from "#control-plane/core/app.ts";

/** Time in milliseconds in which a new stream must send its hello. */
const HELLO_TIMEOUT_MS = 5_000;
/** Maximum number of octets that an agent has not read yet. Above it the agent counts as stuck. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

const NO_HELLO: Rejection = { reason: "protocol", message: "the first message of a stream must be hello", retry: true };

type Call = ServerDuplexStream<AgentMessage, HubMessage>;

/**
 * Serves one Attach call: checks admission at its hello, then passes every message to the hub until either side ends
 * it.
 */
export function serveStream(
  {
    hub,
    log,
    rejections,
    security,
    connections,
  }: Pick<App, "log"> & {
    readonly hub: Hub;
    readonly rejections: RateLimitedLog;
    readonly security: Security;
    readonly connections: Pick<AgentConnections, "attach" | "refuse">;
  },
  call: Call,
): void {
  // Read now, because it is no longer available after the connection has ended.
  const peer = call.getPeer();
  let stream: AttachedStream | null = null;
  let detach = (): void => {};
  let hasHello = false;
  let hasEnded = false;
  // Also detaches when this side ends the stream, because the client can then leave it half open without limit.
  const link = createLink(call, security, () => detach());
  const timer = setTimeout(() => reject("", hub.refuse(NO_HELLO)), HELLO_TIMEOUT_MS);
  const close = () => {
    if (hasEnded) return;
    hasEnded = true;
    clearTimeout(timer);
    detach();
    stream?.closed();
  };

  /** Checks admission when the hello has arrived, so that no change before it is missed, and attaches the agent. */
  async function admitAgent(hello: Hello): Promise<void> {
    const admission = await security.gatekeeper.admit(certificateOf(call));
    if (hasEnded) return;
    // Before the hub gets the link, because the hub can close it immediately.
    if (admission.ok) detach = connections.attach(peer);
    const attached = admission.ok ? hub.attach(hello, link, admission.enrolled) : hub.refuse(admission.rejection);
    if ("receive" in attached) {
      stream = attached;
      call.resume();
    } else {
      reject(hello.agentId, attached);
      call.resume();
    }
  }

  function reject(agentId: string, rejection: Rejection): void {
    rejections.warn({ peer, agent: agentId.slice(0, 64), ...rejection }, "agent rejected");
    link.close({ body: { $case: "rejected", value: rejection } });
    connections.refuse(peer);
  }

  // Sent before the hello, so that an agent that already has a stream to this replica can disconnect (shared/protocol/wire.ts).
  if (certificateOf(call) !== null) {
    const named = new Metadata();
    named.set(REPLICA_HEADER, hub.replicaId);
    call.sendMetadata(named);
  }
  call.on("data", (message: AgentMessage) => {
    if (hasEnded) return;
    if (stream !== null) return stream.receive(message);
    if (hasHello) return; // a message after the hello of a rejected agent
    hasHello = true;
    clearTimeout(timer);
    if (message.body?.$case !== "hello") return reject("", hub.refuse(NO_HELLO));
    // Later messages wait for the result.
    call.pause();
    admitAgent(message.body.value).catch((error: unknown) => {
      log.error({ err: error }, "admission of an agent failed");
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

function createLink(call: Call, security: Pick<Security, "authorities">, onClose: () => void): AgentLink {
  let open = true;
  return {
    send(message) {
      if (!open || call.cancelled || call.destroyed) return;
      // The hub knows nothing of certificates.
      if (message.body?.$case === "welcome") {
        const value = { ...message.body.value, authorities: security.authorities().map((one) => Buffer.from(one)) };
        call.write({ body: { $case: "welcome", value } });
      } else call.write(message);
      if (call.writableLength > MAX_UNREAD_BYTES) call.destroy(new Error("the agent reads too slowly"));
    },
    close(last) {
      if (!open) return;
      open = false;
      if (last !== undefined && !call.destroyed) call.write(last);
      call.end();
      onClose();
    },
  };
}
