import { setTimeout as sleep } from "node:timers/promises";
import { credentials, type ClientDuplexStream, type Metadata } from "@grpc/grpc-js";
import type { Clock } from "#shared/clock.ts";
import {
  ProbeClient,
  type AgentMessage,
  type Beat,
  type Hello,
  type HubMessage,
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
} from "#shared/wire.ts";
import type { JobSource } from "#probe-agent/attachment/job-pool.ts";
import type { Credential } from "#probe-agent/membership/identity.ts";

/** One stream to one control-plane replica, from dialling to its end; never dialled twice. */
export interface Attachment extends JobSource {
  readonly address: string;
  /** null: not welcomed yet. */
  replicaId(): string | null;
  /** The replica it leads to, by the replica's first word; null: not known yet. */
  leadsTo(): string | null;
  /** Ends it now; `onLost` is called with this reason. */
  close(reason: string): void;
  /** Says goodbye after everything already sent; resolves when the hub has heard it, in 1 s at most. */
  stop(): Promise<void>;
}

/** What a stream tells of itself; nothing is called after `onLost`. */
export interface AttachmentEvents {
  onWelcome(stream: Attachment, welcome: Welcome): void;
  onReplicas(stream: Attachment, replicas: readonly Replica[]): void;
  /** The hub's beat: how many jobs wait there for a credit. */
  onBeat(stream: Attachment, waiting: number): void;
  onJob(stream: Attachment, job: Job): void;
  onCancel(jobId: string, attempt: number): void;
  /** The operator wants this agent to finish and go. */
  onDrain(): void;
  onRejected(stream: Attachment, rejected: Rejected): void;
  onLost(stream: Attachment, reason: string, detail?: string): void;
}

/** What a stream needs. */
export interface AttachOptions {
  /** host:port or dns:///name:port. */
  readonly address: string;
  readonly credential: Credential;
  /** `spoken`: the replica has named itself, so it speaks 1.1 or later. */
  readonly hello: (spoken: boolean) => Hello;
  readonly beat: (stream: Attachment) => Beat;
  /** Streams dialled before this one, so that it could be a second one to its replica. */
  readonly older: () => readonly Attachment[];
  readonly clock: Clock;
  readonly events: AttachmentEvents;
}

/** A hub that answers ends the stream within a round trip; one that does not is not worth waiting for. */
const GOODBYE_MS = 1_000;
/** So long a stream that could be a second one waits to hear whose it is; a 1.0 replica never says. */
const NAME_MS = 1_000;
const UNSURE_MS = 20;

type Stream = ClientDuplexStream<AgentMessage, HubMessage>;

/** Dials and says hello. */
export function attach(options: AttachOptions): Attachment {
  const { clock, events } = options;
  const client = dial(options);
  const stream: Stream = client.attach();
  let replicaId: string | null = null;
  let leadsTo: string | null = null;
  const dialledAt = clock.monotonic();
  let heardAt = dialledAt;
  // The hub's word on when a silent stream's jobs are another agent's; ours until the first job has come.
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
    close: (reason) => lost(reason),
    async stop() {
      if (over) return;
      over = true;
      clearInterval(beat);
      clearTimeout(nameless);
      const ended = new Promise((resolve) => stream.once("end", resolve).once("error", resolve));
      stream.end();
      await Promise.race([ended, sleep(GOODBYE_MS, undefined, { ref: false })]);
      client.close();
    },
  };

  /** The hub takes a second stream for a new one in place of the first: hello is said only where it is none. */
  function greet(named: string | null): void {
    if (over || greeted) return;
    const older = options.older();
    if (named !== null && older.some((other) => other.leadsTo() === named)) return lost("duplicate", named);
    // One dialled just before may be on its way to the same replica.
    const unsure = named !== null && older.some((other) => other.leadsTo() === null);
    if (unsure && clock.monotonic() - dialledAt < NAME_MS) {
      setTimeout(greet, UNSURE_MS, named);
      return;
    }
    greeted = true;
    clearTimeout(nameless);
    attachment.say({ body: { $case: "hello", value: options.hello(named !== null) } });
  }

  function lost(reason: string, detail?: string): void {
    if (over) return;
    over = true;
    clearInterval(beat);
    clearTimeout(nameless);
    stream.cancel();
    client.close();
    events.onLost(attachment, reason, detail);
  }

  const nameless = setTimeout(() => greet(null), NAME_MS);
  const beat = setInterval(() => {
    if (clock.monotonic() - heardAt > leaseMs) return lost("silent");
    if (replicaId !== null) attachment.say({ body: { $case: "beat", value: options.beat(attachment) } });
  }, BEAT_MS);

  stream.on("metadata", (metadata: Metadata) => {
    const [named] = metadata.get(REPLICA_HEADER);
    if (typeof named !== "string") return;
    clearTimeout(nameless);
    leadsTo = named;
    greet(named);
  });
  stream.on("data", (message: HubMessage) => {
    if (over) return;
    heardAt = clock.monotonic();
    const { body } = message;
    switch (body?.$case) {
      case "welcome":
        replicaId = body.value.replicaId;
        leadsTo = replicaId;
        return events.onWelcome(attachment, body.value);
      case "job":
        leaseMs = Math.max(BEAT_MS, body.value.leaseMs);
        return events.onJob(attachment, body.value);
      case "cancel":
        return events.onCancel(body.value.jobId, body.value.attempt);
      case "replicas":
        return events.onReplicas(attachment, body.value.replicas);
      case "beat":
        return events.onBeat(attachment, body.value.waiting);
      case "rejected":
        events.onRejected(attachment, body.value);
        return lost("rejected", body.value.message);
      case "drain":
        return events.onDrain();
      case undefined:
    }
  });
  stream.on("error", (error: Error) => lost("error", error.message));
  stream.on("end", () => lost("closed"));
  if (options.older().length === 0) greet(null);
  return attachment;
}

function dial({ address, credential }: AttachOptions): ProbeClient {
  const { ca, certificate, key } = credential;
  const secure = credentials.createSsl(Buffer.from(ca), Buffer.from(key), Buffer.from(certificate));
  return new ProbeClient(address, secure, {
    "grpc.max_receive_message_length": MAX_JOB_BYTES,
    "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
    // Whatever is dialled, the certificate must be the control plane's own.
    "grpc.ssl_target_name_override": CONTROL_PLANE_NAME,
    "grpc.default_authority": CONTROL_PLANE_NAME,
    // A connection of its own, else a second dial of a balancer's address would share the first one's replica.
    "grpc.use_local_subchannel_pool": 1,
    // Of several addresses behind a name any may be the one that was not tried yet.
    "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ pick_first: { shuffleAddressList: true } }] }),
  });
}
