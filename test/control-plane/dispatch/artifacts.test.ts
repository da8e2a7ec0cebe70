import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ok } from "#shared/outcome.ts";
import type { Artifact } from "#shared/protocol/probe.ts";
import { ARTIFACT_CHUNK_BYTES, MAX_ARTIFACT_BYTES } from "#shared/wire.ts";
import { createArtifacts } from "#control-plane/dispatch/artifacts.ts";
import { startLocalHub, type LocalHub } from "#test/control-plane/dispatch/local-hub.ts";
import { attachAgent } from "#test/support/attached-agent.ts";
import { helloOf } from "#test/support/scripted-agent.ts";

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();
const NONE = Buffer.alloc(0);

/** Splits a file as an agent does. */
function chunksOf(file: Buffer, jobId: string, attempt = 1): Artifact[] {
  const count = Math.ceil(file.length / ARTIFACT_CHUNK_BYTES);
  return Array.from({ length: count }, (_, index) => {
    const last = index === count - 1;
    const data = file.subarray(index * ARTIFACT_CHUNK_BYTES, (index + 1) * ARTIFACT_CHUNK_BYTES);
    return { jobId, attempt, index, data, last, sha256: last ? sha256(file) : NONE };
  });
}

const FILE = Buffer.alloc(3 * ARTIFACT_CHUNK_BYTES - 7, "picture");

describe("files of results", () => {
  let local: LocalHub;
  beforeEach(() => {
    local = startLocalHub();
  });
  afterEach(() => local.hub.stop());

  function begin(region = "eu", wantsArtifact = true) {
    const agent = attachAgent(local.hub, helloOf(region, { agentId: `agent-in-${region}` }));
    const answer = local.run([agent.id], { wantsArtifact });
    const [job] = agent.jobs;
    if (job === undefined) throw new Error("it got no job");
    const send = (chunk: Artifact) => agent.send({ body: { $case: "artifact", value: chunk } });
    return { agent, answer, job, send };
  }

  it("arrive in chunks before the result and come with its answer", async () => {
    const { agent, answer, job, send } = begin();
    for (const chunk of chunksOf(FILE, job.jobId)) send(chunk);
    agent.answer(job, ok({ done: true }));
    const answered = await answer;
    expect(answered).toMatchObject({
      kind: "outcome",
      outcome: ok({ done: true }),
      artifact: { sha256: sha256(FILE).toString("hex") },
    });
    expect(answered.kind === "outcome" && Buffer.from(answered.artifact?.bytes ?? []).equals(FILE)).toBe(true);
  });

  const [first, second, third] = chunksOf(FILE, "?") as [Artifact, Artifact, Artifact];
  it.each<[string, Artifact[]]>([
    ["with another hash", [first, second, { ...third, sha256: sha256(NONE) }]],
    ["without a hash", [first, second, { ...third, sha256: NONE }]],
    ["with a hash in the middle", [{ ...first, sha256: third.sha256 }]],
    ["in another order", [second]],
    ["with a chunk twice", [first, first]],
    ["with an empty chunk", [{ ...first, data: NONE }]],
    ["with a chunk that is too large", [{ ...first, data: Buffer.alloc(ARTIFACT_CHUNK_BYTES + 1) }]],
    ["with chunks after its end", [first, second, third, { ...first, index: 3 }]],
    ["that is larger than 4 MiB", chunksOf(Buffer.alloc(MAX_ARTIFACT_BYTES + 1), "?")],
  ])(
    "%s are rejected: the job ends as a failure of the probe at once, and the agent stops it",
    async (_what, chunks) => {
      const { agent, answer, job, send } = begin();
      for (const chunk of chunks) send({ ...chunk, jobId: job.jobId });
      expect(await answer).toMatchObject({
        outcome: { status: "failed", source: "probe", reason: "artifact_invalid" },
      });
      expect(agent.messages.at(-1)?.body).toMatchObject({ $case: "cancel", value: { jobId: job.jobId } });
      expect(await local.figures("vantage_agent_messages_dropped_total")).toMatchObject({ artifact: 1 });
    },
  );

  it("that are not complete when the result arrives are rejected", async () => {
    const { agent, answer, job, send } = begin();
    send({ ...first, jobId: job.jobId });
    agent.answer(job, ok({ done: true }));
    expect(await answer).toMatchObject({ outcome: { status: "failed", reason: "artifact_invalid" } });
  });

  it("that nobody requested are dropped, and the result counts", async () => {
    const { agent, answer, job, send } = begin("eu", false);
    for (const chunk of chunksOf(FILE, job.jobId)) send(chunk);
    agent.answer(job, ok({ done: true }));
    const answered = await answer;
    expect(answered).toMatchObject({ outcome: ok({ done: true }) });
    expect(answered).not.toHaveProperty("artifact");
    expect(await local.figures("vantage_agent_messages_dropped_total")).toMatchObject({ unexpected: 3 });
  });

  it("of an attempt whose agent was lost are dropped; the next attempt begins again", async () => {
    const one = attachAgent(local.hub, helloOf("one", { agentId: "agent-one-1" }));
    const two = attachAgent(local.hub, helloOf("two", { agentId: "agent-two-2" }));
    const answer = local.run([one.id, two.id], { wantsArtifact: true });
    const [lost] = one.jobs;
    if (lost === undefined) throw new Error("it got no job");
    one.send({ body: { $case: "artifact", value: { ...first, jobId: lost.jobId } } });
    one.cut();
    const [job] = two.jobs;
    if (job === undefined) throw new Error("the second got no job");
    for (const chunk of chunksOf(FILE, job.jobId, job.attempt)) two.send({ body: { $case: "artifact", value: chunk } });
    two.answer(job, ok({ done: true }));
    expect(await answer).toMatchObject({ attempt: 2, artifact: { sha256: sha256(FILE).toString("hex") } });
  });
});

describe("the memory of arriving files", () => {
  it("is bounded for an agent and in total, and free again when files are taken or dropped", () => {
    const size = ARTIFACT_CHUNK_BYTES;
    const artifacts = createArtifacts({ perAgent: 2 * size, total: 3 * size });
    const part = (jobId: string): Artifact => ({
      jobId,
      attempt: 1,
      index: 0,
      data: Buffer.alloc(size),
      last: false,
      sha256: NONE,
    });
    expect(artifacts.receive("a", part("1"))).toBeNull();
    expect(artifacts.receive("a", part("2"))).toBeNull();
    expect(artifacts.receive("a", part("3"))).toMatchObject({ reason: "artifact_memory" });
    expect(artifacts.receive("b", part("4"))).toBeNull();
    expect(artifacts.receive("b", part("5"))).toMatchObject({ reason: "artifact_memory" });
    expect(artifacts.held()).toBe(3 * size);
    expect(artifacts.take("a", { id: "1", attempt: 1 })).toMatchObject({ reason: "artifact_invalid" });
    artifacts.drop("2");
    artifacts.drop("4");
    expect(artifacts.held()).toBe(0);
    expect(artifacts.take("a", { id: "1", attempt: 1 })).toBeNull();
  });
});
