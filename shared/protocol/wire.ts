import type { ProtocolVersion } from "#shared/protocol/probe.ts";

/** The protocol version of this code. Another major version is rejected. The previous minor version is accepted. */
export const PROTOCOL: ProtocolVersion = { major: 1, minor: 2 };

/** Interval of an agent's heartbeats in milliseconds. The hub answers each of them. */
export const BEAT_MS = 1_000;

/**
 * Silence after which the other side counts as lost, in milliseconds. Jobs of a silent stream are re-dispatched within
 * 5 s.
 */
export const SILENT_MS = 4_000;

/** The name in every control-plane certificate, independent of the dialled address. */
export const CONTROL_PLANE_NAME = "control-plane.vantage.internal";

/**
 * Response metadata with a replica's name, sent before the hello (since 1.1). An agent that already has a stream to
 * this replica closes the new one instead of replacing the old one.
 */
export const REPLICA_HEADER = "vantage-replica";

/** Maximum size of an outcome, in octets of JSON. */
export const MAX_RESULT_BYTES = 256 * 1024;

/** Maximum size of a progress event, in octets of JSON. */
export const MAX_PROGRESS_BYTES = 16 * 1024;

/** Maximum size of one chunk of a file that belongs to a result, in octets (since 1.2). */
export const ARTIFACT_CHUNK_BYTES = 64 * 1024;

/** Maximum number of its chunks. A file in chunks of full size has 64. */
export const MOST_ARTIFACT_CHUNKS = 1_024;

/** Maximum size of a file that belongs to a result, in octets. */
export const MAX_ARTIFACT_BYTES = 4 * 1024 * 1024;

/** Maximum progress of one job over all its attempts. The rest is dropped. */
export const MOST_PROGRESS = { events: 1_000, characters: 1_000_000 } as const;

/** Maximum of an agent's log that it keeps and sends. One message has about `partCharacters`. */
export const LOG_LIMITS = { lines: 1_000, lineCharacters: 2_000, characters: 524_288, partCharacters: 32_768 } as const;

/** Maximum size of a gRPC message from an agent: a result and its envelope. */
export const MAX_MESSAGE_BYTES = MAX_RESULT_BYTES + 64 * 1024;

/**
 * Maximum size of a gRPC message to an agent: a job. The longest parameter, 256 KB of text, is six times as long in
 * JSON if every character is escaped.
 */
export const MAX_JOB_BYTES = 2 * 1024 * 1024;

/**
 * Time after a check's deadline that the hub waits for the agent's result, in milliseconds, so that a response is sent
 * by deadline + 250 ms.
 */
export const DEADLINE_GRACE_MS = 200;
