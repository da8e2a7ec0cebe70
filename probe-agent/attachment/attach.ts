import { setTimeout as sleep } from "node:timers/promises";
import { credentials, type ClientDuplexStream, type Metadata } from "@grpc/grpc-js";
import type { Clock } from "#shared/time/clock.ts";
import { createMessageSerializer } from "#shared/protocol/message-serializer.ts";
import {
  AgentMessage,
  HubMessage,
  ProbeClient,
  ProbeService,
  type Beat,
  type Hello,
  type Job,
  type Rejected,
  type Replica,
  type Welcome,
} from "#shared/protocol/probe.ts";
import {
  BEAT_MS,
  CONTROL_PLANE_NAME,
  MAX_JOB_BYTES,
  MAX_MESSAGE_BYTES,
  REPLICA_HEADER,
  SILENT_MS,
} from "#shared/protocol/wire.ts";
import type { JobSource } from "#probe-agent/attachment/running-jobs.ts";
import type { Credential } from "#probe-agent/membership/identity.ts";

/** One stream to one replica of the control plane, from dialling to its end. It never dials again. */
export interface Attachment extends JobSource {
  readonly address: string;
  /** Returns the id of the replica; null before the welcome. */
  replicaId(): string | null;
  /** Returns the replica at the address, as the replica reported it; null if not known yet. */
  leadsTo(): string | null;
  /** Closes the stream immediately. `onLost` is called with this reason and detail. */
  close(reason: string, detail: string): void;
  /** Closes the stream after everything already sent. Resolves when the hub has confirmed it, after 1 s at most. */
  stop(): Promise<void>;
}

/** Events of a stream. Nothing is called after `onLost`. */
interface AttachmentEvents {
  onWelcome(stream: Attachment, welcome: Welcome): void;
  onReplicas(stream: Attachment, replicas: readonly Replica[]): void;
  /** Called for the hub's heartbeat. `waiting` is the number of jobs that wait there for a credit. */
  onBeat(stream: Attachment, waiting: number): void;
  onJob(stream: Attachment, job: Job): void;
  onCancel(jobId: string, attempt: number): void;
  /** Called when the operator asks for this agent's log. */
  onLogRequest(stream: Attachment, requestId: number): void;
  /** Called when the operator wants this agent to finish its jobs and end. */
  onDrain(): void;
  onRejected(stream: Attachment, rejected: Rejected): void;
  /**
   * Called once at the end. `reason` is a metric's label. The detail of a `duplicate` is the replica's id, otherwise a
   * message for the log.
   */
  onLost(stream: Attachment, reason: string, detail?: string): void;
}

/** Options of a stream. */
interface AttachOptions {
  /** host:port or dns:///name:port. */
  readonly address: string;
  readonly credential: Credential;
  /** Builds the hello. `named` is true if the replica has sent its name, so that it speaks protocol 1.1 or later. */
  readonly hello: (named: boolean) => Hello;
  readonly beat: (stream: Attachment) => Beat;
  /**
   * Returns the streams that were dialled before this one. This one may be a second stream to one of their replicas.
   */
  readonly older: () => readonly Attachment[];
  readonly clock: Clock;
  readonly events: AttachmentEvents;
}

/** Time for the hub to confirm the end, in milliseconds. A live hub needs one round trip. */
const GOODBYE_MS = 1_000;
/** Time that a possible second stream waits for the replica's name, in milliseconds. A 1.0 replica never sends one. */
const NAME_MS = 1_000;
/** Interval between two decisions while the names of older streams are unknown, in milliseconds. */
const UNSURE_MS = 20;
/** Time for messages that wait in the socket to be read before the stream is given up as silent, milliseconds. */
const READ_MS = 50;

type Stream = ClientDuplexStream<AgentMessage, HubMessage>;

const serialize = createMessageSerializer(AgentMessage);
const deserialize = (octets: Buffer): HubMessage => HubMessage.decode(octets);

/** Dials a replica and sends the hello. */
export function attach(options: AttachOptions): Attachment {
  const { clock, events } = options;
  const client = dial(options);
  const stream: Stream = client.makeBidiStreamRequest(ProbeService.attach.path, serialize, deserialize);
  let replicaId: string | null = null;
  let leadsTo: string | null = null;
  const dialledAt = clock.monotonic();
  let heardAt = dialledAt;
  // The hub gives a silent stream's jobs to other agents after this time; it sends the figure with each job.
  let leaseMs = SILENT_MS;
  let greeted = false;
  let over = false;

  const attachment: Attachment = {
    address: options.address,
    replicaId: () => replicaId,
    leadsTo: () => (greeted ? leadsTo : null),
    say(message) {
      if (!over && !stream.destroyed) stream.write(message);
    },
    sayInTurn: (message) =>
      new Promise((resolve) => {
        if (over || stream.destroyed) return resolve();
        // After an error the callback may never come.
        stream.once("close", resolve);
        stream.write(message, () => {
          stream.off("close", resolve);
          resolve();
        });
      }),
    close: (reason, detail) => lose(reason, detail),
    async stop() {
      if (over) return;
      end();
      const ended = new Promise((resolve) => stream.once("end", resolve).once("error", resolve));
      stream.end();
      await Promise.race([ended, sleep(GOODBYE_MS, undefined, { ref: false })]);
      client.close();
    },
  };

  function greet(named: string | null): void {
    if (over || greeted) return;
    const older = options.older().map((other) => other.leadsTo());
    const decision = decideGreeting(named, older, clock.monotonic() - dialledAt);
    if (decision === "turn_back") return lose("duplicate", named ?? undefined);
    if (decision === "wait") {
      setTimeout(greet, UNSURE_MS, named);
      return;
    }
    greeted = true;
    clearTimeout(nameless);
    attachment.say({ body: { $case: "hello", value: options.hello(named !== null) } });
  }

  function end(): void {
    over = true;
    clearInterval(beat);
    clearTimeout(nameless);
  }

  function lose(reason: string, detail?: string): void {
    if (over) return;
    end();
    stream.cancel();
    client.close();
    events.onLost(attachment, reason, detail);
  }

  const nameless = setTimeout(() => greet(null), NAME_MS);
  function endSilence(): void {
    const silentMs = clock.monotonic() - heardAt;
    if (silentMs > leaseMs) lose("silent", `no message for ${(silentMs / 1000).toFixed(1)} s`);
  }
  const beat = setInterval(() => {
    // A process that was held up runs its timers before it reads its sockets, so messages that wait there are read first.
    if (clock.monotonic() - heardAt > leaseMs) setTimeout(endSilence, READ_MS);
    if (replicaId !== null) attachment.say({ body: { $case: "beat", value: options.beat(attachment) } });
  }, BEAT_MS);

  stream.on("metadata", (metadata: Metadata) => {
    const [named] = metadata.get(REPLICA_HEADER);
    if (typeof named !== "string") return;
    clearTimeout(nameless);
    leadsTo = named;
    greet(named);
  });
  stream.on("data", ({ body }: HubMessage) => {
    if (over) return;
    heardAt = clock.monotonic();
    if (body?.$case === "welcome") leadsTo = replicaId = body.value.replicaId;
    if (body?.$case === "job") leaseMs = Math.max(BEAT_MS, body.value.leaseMs);
    report(attachment, body, events);
    if (body?.$case === "rejected") lose("rejected", body.value.message);
  });
  stream.on("error", (error: Error) => lose("error", error.message));
  stream.on("end", () => lose("closed", "the control plane closed the stream"));
  if (options.older().length === 0) greet(null);
  return attachment;
}

/**
 * Decides whether to send the hello on a stream that was dialled `sinceDialMs` milliseconds ago. A hub replaces an
 * agent's first stream by a second one, so a stream to a replica that already has one must turn back. `named` is the
 * replica's own name, null without one; `older` are the replicas that older streams lead to, null where that is not
 * known yet: a stream dialled just before may be on its way to the same replica.
 */
export function decideGreeting(
  named: string | null,
  older: readonly (string | null)[],
  sinceDialMs: number,
): "greet" | "wait" | "turn_back" {
  if (named === null) return "greet";
  if (older.includes(named)) return "turn_back";
  return older.includes(null) && sinceDialMs < NAME_MS ? "wait" : "greet";
}

/** Passes a message of the hub to its event handler. */
function report(stream: Attachment, body: HubMessage["body"], events: AttachmentEvents): void {
  switch (body?.$case) {
    case "welcome":
      return events.onWelcome(stream, body.value);
    case "job":
      return events.onJob(stream, body.value);
    case "cancel":
      return events.onCancel(body.value.jobId, body.value.attempt);
    case "logRequest":
      return events.onLogRequest(stream, body.value.requestId);
    case "replicas":
      return events.onReplicas(stream, body.value.replicas);
    case "beat":
      return events.onBeat(stream, body.value.waiting);
    case "rejected":
      return events.onRejected(stream, body.value);
    case "drain":
      return events.onDrain();
    case undefined:
  }
}

function dial({ address, credential }: AttachOptions): ProbeClient {
  const { ca, certificate, key } = credential;
  const secure = credentials.createSsl(Buffer.from(ca), Buffer.from(key), Buffer.from(certificate));
  return new ProbeClient(address, secure, {
    "grpc.max_receive_message_length": MAX_JOB_BYTES,
    "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
    // For every dialled address the certificate must contain the control plane's name.
    "grpc.ssl_target_name_override": CONTROL_PLANE_NAME,
    "grpc.default_authority": CONTROL_PLANE_NAME,
    // A separate connection: otherwise a second dial of a balancer's address would share the first one's connection.
    "grpc.use_local_subchannel_pool": 1,
    // Any of several addresses behind a name may lead to a replica without a stream.
    "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ pick_first: { shuffleAddressList: true } }] }),
  });
}
