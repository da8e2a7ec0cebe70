import type { ProtocolVersion } from "#shared/protocol/probe.ts";

/** The protocol this code speaks. Another major is refused; the previous minor keeps working. */
export const PROTOCOL: ProtocolVersion = { major: 1, minor: 1 };

/** An agent says it is alive this often, milliseconds; the hub answers each beat. */
export const BEAT_MS = 1_000;

/** Without a word for so long the other side counts as gone: a silent stream re-dispatches within 5 s. */
export const SILENT_MS = 4_000;

/** The name every control-plane certificate carries, whatever address an agent dials. */
export const CONTROL_PLANE_NAME = "control-plane.vantage.internal";

/**
 * Response metadata in which a replica names itself before the hello (since 1.1), so that an agent led to one it has a
 * stream to already can turn back instead of taking that stream's place.
 */
export const REPLICA_HEADER = "vantage-replica";

/** Largest outcome, octets of JSON. */
export const MAX_RESULT_BYTES = 256 * 1024;

/** Largest progress event, octets of JSON. */
export const MAX_PROGRESS_BYTES = 16 * 1024;

/** Progress of one job that counts, over all its attempts; what comes beyond is dropped. */
export const MOST_PROGRESS = { events: 1_000, characters: 1_000_000 } as const;

/** Largest gRPC message an agent may send: a result and its envelope. */
export const MAX_MESSAGE_BYTES = MAX_RESULT_BYTES + 64 * 1024;

/**
 * Largest gRPC message an agent takes: a job. The longest parameter there is, 256 KB of text, is six times as long as
 * JSON where every character is escaped.
 */
export const MAX_JOB_BYTES = 2 * 1024 * 1024;

/** How long past a check's own deadline the hub waits for the agent's word: an answer comes by deadline + 250 ms. */
export const DEADLINE_GRACE_MS = 200;
