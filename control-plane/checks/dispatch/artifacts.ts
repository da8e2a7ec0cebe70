import { createHash, type Hash } from "node:crypto";
import type { Artifact as Chunk } from "#shared/protocol/probe.ts";
import { ARTIFACT_CHUNK_BYTES, MAX_ARTIFACT_BYTES, MOST_ARTIFACT_CHUNKS } from "#shared/protocol/wire.ts";

/** A file that an agent sent with its result. */
export interface Artifact {
  readonly bytes: Uint8Array;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** Why a file was rejected; its chunks are dropped. */
interface ArtifactFault {
  readonly reason: "artifact_invalid" | "artifact_memory";
  readonly message: string;
}

/** The files of running jobs while their chunks arrive. */
export interface Artifacts {
  /** Adds a chunk of a job's current attempt. Returns a fault if the file is rejected. */
  receive(agentId: string, chunk: Chunk): ArtifactFault | null;
  /** Removes and returns the file of an attempt; null if it sent none. A fault if its last chunk is missing. */
  take(agentId: string, job: { readonly id: string; readonly attempt: number }): Artifact | ArtifactFault | null;
  /** Drops what has arrived for a job. */
  drop(jobId: string): void;
  /** Number of octets held. */
  held(): number;
}

/** Limits of memory, in octets. */
interface ArtifactBounds {
  readonly perAgent: number;
  readonly total: number;
}

/** An agent takes one picture at a time, so that more than a few at once are an attack. */
const BOUNDS: ArtifactBounds = { perAgent: 16 * 1024 * 1024, total: 128 * 1024 * 1024 };

/** A file of which chunks have arrived. */
interface Arriving {
  readonly agentId: string;
  readonly attempt: number;
  readonly chunks: Uint8Array[];
  readonly hash: Hash;
  size: number;
  /** Hex of the verified hash; null before the last chunk. */
  sha256: string | null;
}

const MEMORY: ArtifactFault = {
  reason: "artifact_memory",
  message: "too many files of probes arrive at the same time; the file was dropped",
};

/** Creates an empty store. */
export function createArtifacts(bounds: ArtifactBounds = BOUNDS): Artifacts {
  const arriving = new Map<string, Arriving>();
  const byAgent = new Map<string, number>();
  let total = 0;

  function count(agentId: string, octets: number): void {
    total += octets;
    const held = (byAgent.get(agentId) ?? 0) + octets;
    if (held === 0) byAgent.delete(agentId);
    else byAgent.set(agentId, held);
  }

  function drop(jobId: string): void {
    const file = arriving.get(jobId);
    if (file === undefined) return;
    arriving.delete(jobId);
    count(file.agentId, -file.size);
  }

  /** Returns the file to which a chunk belongs. Chunks of an earlier attempt or agent are dropped. */
  function fileOf(agentId: string, { jobId, attempt }: Chunk): Arriving {
    const known = arriving.get(jobId);
    if (known !== undefined && known.agentId === agentId && known.attempt === attempt) return known;
    drop(jobId);
    const file: Arriving = { agentId, attempt, chunks: [], hash: createHash("sha256"), size: 0, sha256: null };
    arriving.set(jobId, file);
    return file;
  }

  return {
    receive(agentId, chunk) {
      const { jobId, data } = chunk;
      const file = fileOf(agentId, chunk);
      const fault = findChunkFault(file, chunk);
      if (fault !== null) {
        drop(jobId);
        return { reason: "artifact_invalid", message: `the file of the probe was rejected: ${fault}` };
      }
      if (total + data.length > bounds.total || (byAgent.get(agentId) ?? 0) + data.length > bounds.perAgent) {
        drop(jobId);
        return MEMORY;
      }
      // A decoded chunk is a view of a whole message; a copy lets the message go.
      file.chunks.push(Uint8Array.from(data));
      file.hash.update(data);
      file.size += data.length;
      count(agentId, data.length);
      if (!chunk.last) return null;
      const sha256 = file.hash.digest();
      if (sha256.equals(chunk.sha256)) {
        file.sha256 = sha256.toString("hex");
        return null;
      }
      drop(jobId);
      return { reason: "artifact_invalid", message: "the file of the probe was rejected: its hash does not match" };
    },
    take(agentId, { id, attempt }) {
      const file = arriving.get(id);
      drop(id);
      if (file === undefined || file.agentId !== agentId || file.attempt !== attempt) return null;
      if (file.sha256 !== null) return { bytes: Buffer.concat(file.chunks), sha256: file.sha256 };
      return { reason: "artifact_invalid", message: "the file of the probe was rejected: it is not complete" };
    },
    drop,
    held: () => total,
  };
}

function findChunkFault({ chunks, size, sha256 }: Arriving, { index, data, last, sha256: sent }: Chunk): string | null {
  if (sha256 !== null) return "chunks follow its last one";
  if (index !== chunks.length) return `chunk ${chunks.length} is missing`;
  // Each chunk holds some hundred octets beside its data.
  if (index >= MOST_ARTIFACT_CHUNKS) return `it has more than ${MOST_ARTIFACT_CHUNKS} chunks`;
  if (data.length === 0 || data.length > ARTIFACT_CHUNK_BYTES) return `a chunk has ${data.length} bytes`;
  if (size + data.length > MAX_ARTIFACT_BYTES) return `it is larger than ${MAX_ARTIFACT_BYTES} bytes`;
  if (sent.length !== (last ? 32 : 0)) return "its hash is not where it belongs";
  return null;
}
