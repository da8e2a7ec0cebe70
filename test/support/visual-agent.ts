import { ok } from "#shared/contracts/outcome.ts";
import type { Job } from "#shared/protocol/probe.ts";
import { ARTIFACT_CHUNK_BYTES } from "#shared/protocol/wire.ts";
import type { AgentListener } from "#test/support/agent-listener.ts";
import { sha256Of } from "#test/support/pictures.ts";
import { attachScripted, helloOf, type ScriptedAgent } from "#test/support/scripted-agent.ts";

/** A peer that answers checks of visual monitors with the pictures of a test. */
export interface VisualAgent {
  readonly agent: ScriptedAgent;
  /** Answers each check with this picture from now on; a function answers by itself. */
  show(picture: Buffer | ((job: Job) => void)): void;
  /** Sends a picture and the result of a job. `forge` changes the hash. */
  send(job: Job, picture: Buffer, forge?: boolean): void;
  stop(): void;
}

/** The result of a check that has taken a picture. */
export const TAKEN = ok({
  verdict: "up",
  response_ms: 12,
  http_status: 200,
  fault: null,
  whole: null,
  phases: null,
  elapsed_ms: 20,
});

/** Attaches an agent with a browser. */
export async function attachVisual(server: AgentListener, region: string): Promise<VisualAgent> {
  const agent = await attachScripted(server, helloOf(region, { capabilities: ["browser"] }));
  const beat = setInterval(() => {
    agent.send({ body: { $case: "beat", value: { running: 0, credits: 10, loopLagMs: 0, waiting: 0 } } });
  }, 500);
  let shown: Buffer | ((job: Job) => void) | null = null;
  let isStopped = false;

  function send({ jobId, attempt }: Job, picture: Buffer, forge = false): void {
    for (let at = 0, index = 0; at < picture.length; at += ARTIFACT_CHUNK_BYTES, index += 1) {
      const last = at + ARTIFACT_CHUNK_BYTES >= picture.length;
      const sha256 = last ? sha256Of(forge ? Buffer.from("another") : picture) : Buffer.alloc(0);
      const data = picture.subarray(at, at + ARTIFACT_CHUNK_BYTES);
      agent.send({ body: { $case: "artifact", value: { jobId, attempt, index, data, last, sha256 } } });
    }
  }

  const work = async (): Promise<void> => {
    for (;;) {
      const job = await agent.nextJob();
      if (isStopped) return;
      if (typeof shown === "function") shown(job);
      else if (shown !== null) {
        send(job, shown);
        agent.answer(job, TAKEN);
      }
    }
  };
  void work();
  return {
    agent,
    show(picture) {
      shown = picture;
    },
    send,
    stop() {
      isStopped = true;
      clearInterval(beat);
      agent.cut();
    },
  };
}
