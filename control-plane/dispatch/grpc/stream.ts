import { Metadata, type ServerDuplexStream } from "@grpc/grpc-js";
import type { Logger } from "pino";
import type { AgentMessage, Hello, HubMessage } from "#shared/protocol/probe.ts";
import { REPLICA_HEADER } from "#shared/wire.ts";
import type { AgentConnections } from "#control-plane/dispatch/grpc/connections.ts";
import { certificateOf } from "#control-plane/dispatch/grpc/credentials.ts";
import type { Rejection } from "#control-plane/dispatch/hello.ts";
import type { AttachedStream } from "#control-plane/dispatch/attach-agent.ts";
import type { Hub } from "#control-plane/dispatch/hub.ts";
import type { Security } from "#control-plane/dispatch/security.ts";
import type { AgentLink } from "#control-plane/dispatch/session.ts";
import type { SparingLog } from "#control-plane/dispatch/sparing-log.ts";

/** A stream that says nothing is not an agent. */
const HELLO_TIMEOUT_MS = 5_000;
/** Octets an agent may leave unread before it counts as stuck. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

const NO_HELLO: Rejection = { reason: "protocol", message: "the first message of a stream must be hello", retry: true };

type Call = ServerDuplexStream<AgentMessage, HubMessage>;

/** What serving a stream takes. */
interface Wire {
  readonly hub: Hub;
  readonly log: Logger;
  readonly rejections: SparingLog;
  readonly security: Security;
  readonly connections: Pick<AgentConnections, "attach" | "refuse">;
}

/** Serves one Attach: admission at its hello, then every message to the hub, until either side ends it. */
export function serveStream({ hub, log, rejections, security, connections }: Wire, call: Call): void {
  // Asked for now: once the connection is gone there is no answer.
  const peer = call.getPeer();
  let stream: AttachedStream | null = null;
  let detach = (): void => {};
  let isGreeted = false;
  let over = false;
  // The other side may leave a stream that was ended here half open for as long as it likes.
  const link = createLink(call, () => detach());
  const timer = setTimeout(() => turnAway("", hub.refuse(NO_HELLO)), HELLO_TIMEOUT_MS);
  const close = () => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    detach();
    stream?.closed();
  };

  /** Decided anew when the hello is there, so that nothing that changed before it is missed. */
  async function greet(hello: Hello): Promise<void> {
    const admission = await security.gatekeeper.admit(certificateOf(call));
    if (over) return;
    // Before the hub has the link, which it may close at once.
    if (admission.ok) detach = connections.attach(peer);
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
    rejections.warn({ peer, agent: agentId.slice(0, 64), ...rejection }, "agent rejected");
    link.close({ body: { $case: "rejected", value: rejection } });
    connections.refuse(peer);
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

function createLink(call: Call, onClose: () => void): AgentLink {
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
      onClose();
    },
  };
}
