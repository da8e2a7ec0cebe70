import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ok } from "#shared/contracts/outcome.ts";
import type { Artifact } from "#shared/protocol/probe.ts";
import { ARTIFACT_CHUNK_BYTES, MAX_ARTIFACT_BYTES, MOST_ARTIFACT_CHUNKS } from "#shared/protocol/wire.ts";
import { createArtifacts } from "#control-plane/checks/dispatch/artifacts.ts";
import { startLocalHub, type LocalHub } from "#test/control-plane/checks/dispatch/local-hub.ts";
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

/** Chunks of a file without its last one. */
function endless(size: number, count: number): Artifact[] {
  const chunk = { jobId: "?", attempt: 1, data: Buffer.alloc(size), last: false, sha256: NONE };
  return Array.from({ length: count }, (_, index) => ({ ...chunk, index }));
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
    ["with fewer bytes than were hashed", [first, second, { ...third, data: third.data.subarray(1) }]],
    [
      "with more bytes than were hashed",
      [first, second, { ...third, data: Buffer.concat([third.data, FILE.subarray(0, 1)]) }],
    ],
    ["that end a chunk too early", [first, { ...second, last: true, sha256: third.sha256 }]],
    ["whose chunks have other contents", [first, { ...second, data: first.data.toReversed() }, third]],
    ["that begin in the middle", [second]],
    ["in another order", [first, third, second]],
    [
      "with chunks whose numbers are exchanged",
      [
        first,
        { ...third, index: 1, last: false, sha256: NONE },
        { ...second, index: 2, last: true, sha256: third.sha256 },
      ],
    ],
    ["with a chunk twice", [first, first]],
    ["with the last chunk twice", [first, second, third, third]],
    ["that begin again", [first, second, first]],
    ["with an empty chunk", [{ ...first, data: NONE }]],
    ["with a chunk that is too large", [{ ...first, data: Buffer.alloc(ARTIFACT_CHUNK_BYTES + 1) }]],
    ["with chunks after its end", [first, second, third, { ...first, index: 3 }]],
    ["that are larger than 4 MiB", chunksOf(Buffer.alloc(MAX_ARTIFACT_BYTES + 1), "?")],
    ["that never end, in large chunks", endless(ARTIFACT_CHUNK_BYTES, MAX_ARTIFACT_BYTES / ARTIFACT_CHUNK_BYTES + 1)],
    ["that never end, in small chunks", endless(1, MOST_ARTIFACT_CHUNKS + 1)],
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

  it("of a job that does not exist, or is another agent's, are dropped, and disturb no file", async () => {
    const { agent, answer, job, send } = begin();
    const forger = attachAgent(local.hub, helloOf("us", { agentId: "agent-of-a-forger" }));
    const [one, ...rest] = chunksOf(FILE, job.jobId) as [Artifact, ...Artifact[]];
    send({ ...one, jobId: "no-such-job" });
    send(one);
    const forged: Artifact = { ...one, data: Buffer.from("forged") };
    forger.send({ body: { $case: "artifact", value: forged } });
    forger.send({ body: { $case: "artifact", value: { ...forged, index: 1, last: true, sha256: sha256(NONE) } } });
    send({ ...forged, attempt: 2 });
    for (const chunk of rest) send(chunk);
    agent.answer(job, ok({ done: true }));
    expect(await answer).toMatchObject({
      outcome: ok({ done: true }),
      artifact: { sha256: sha256(FILE).toString("hex") },
    });
    send(one);
    const dropped = await local.figures("vantage_agent_messages_dropped_total");
    expect(dropped).toMatchObject({ unknown: 2, foreign: 2, stale: 1 });
  });

  it("that stop arriving are dropped at the deadline of their jobs, so that the agent's next file has room", async () => {
    const agent = attachAgent(local.hub, helloOf("eu", { agentId: "agent-that-stops" }));
    // Five of these are more than the hub keeps of one agent.
    const most = endless(ARTIFACT_CHUNK_BYTES, MAX_ARTIFACT_BYTES / ARTIFACT_CHUNK_BYTES - 1);
    for (let stopped = 0; stopped < 5; stopped += 1) {
      const answer = local.run([agent.id], { wantsArtifact: true, deadlineMs: 50 });
      const jobId = agent.jobs.at(-1)?.jobId ?? "";
      for (const chunk of most) agent.send({ body: { $case: "artifact", value: { ...chunk, jobId } } });
      expect(await answer).toMatchObject({ outcome: { status: "failed", source: "probe", reason: "timeout" } });
    }
    const answer = local.run([agent.id], { wantsArtifact: true });
    const job = agent.jobs.at(-1);
    for (const chunk of chunksOf(FILE, job?.jobId ?? "")) agent.send({ body: { $case: "artifact", value: chunk } });
    agent.answer(job, ok({ done: true }));
    expect(await answer).toMatchObject({ artifact: { sha256: sha256(FILE).toString("hex") } });
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

it("the whole file of an earlier attempt is not that of the next one, at the same agent too", () => {
  const artifacts = createArtifacts({ perAgent: 2 * FILE.length, total: 2 * FILE.length });
  for (const chunk of chunksOf(FILE, "1", 1)) expect(artifacts.receive("a", chunk)).toBeNull();
  expect(artifacts.take("a", { id: "1", attempt: 2 })).toBeNull();
  for (const chunk of chunksOf(FILE, "2", 1)) expect(artifacts.receive("a", chunk)).toBeNull();
  expect(artifacts.take("a", { id: "2", attempt: 1 })).toMatchObject({ sha256: sha256(FILE).toString("hex") });
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
