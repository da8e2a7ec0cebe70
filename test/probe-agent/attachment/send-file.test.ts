import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import type { AgentMessage } from "#shared/protocol/probe.ts";
import { ARTIFACT_CHUNK_BYTES } from "#shared/protocol/wire.ts";
import { sendFile } from "#probe-agent/attachment/job-pool.ts";

const FILE = Buffer.from(Array.from({ length: 2 * ARTIFACT_CHUNK_BYTES + 5 }, (_, n) => n % 251));
const JOB = { jobId: "one", attempt: 2 };

it("a file is sent in chunks of 64 KB, each after the one before was taken over, so that other messages come between", async () => {
  const sent: AgentMessage[] = [];
  const other: AgentMessage = { body: { $case: "draining", value: {} } };
  const source = {
    say: (message: AgentMessage) => void sent.push(message),
    sayInTurn: (message: AgentMessage) =>
      new Promise<void>((resolve) => {
        sent.push(message);
        // Another part of the agent sends a message while the chunk is on its way.
        setImmediate(() => {
          source.say(other);
          resolve();
        });
      }),
  };
  await sendFile(FILE, JOB, source, () => true);
  expect(sent.map(({ body }) => body?.$case)).toEqual([
    "artifact",
    "draining",
    "artifact",
    "draining",
    "artifact",
    "draining",
  ]);
  const chunks = sent.flatMap(({ body }) => (body?.$case === "artifact" ? [body.value] : []));
  expect(chunks.map(({ index, last, data }) => [index, last, data.length])).toEqual([
    [0, false, ARTIFACT_CHUNK_BYTES],
    [1, false, ARTIFACT_CHUNK_BYTES],
    [2, true, 5],
  ]);
  expect(Buffer.concat(chunks.map(({ data }) => data)).equals(FILE)).toBe(true);
  expect(chunks.map(({ sha256 }) => Buffer.from(sha256).toString("hex"))).toEqual([
    "",
    "",
    createHash("sha256").update(FILE).digest("hex"),
  ]);
});

it("a file of a job that was cancelled is not sent to its end", async () => {
  let sent = 0;
  const source = {
    say: (_message: AgentMessage) => {},
    sayInTurn: (_message: AgentMessage) => {
      sent += 1;
      return Promise.resolve();
    },
  };
  await sendFile(FILE, JOB, source, () => sent < 2);
  expect(sent).toBe(2);
});
