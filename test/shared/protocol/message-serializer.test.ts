import { expect, it } from "vitest";
import { createMessageSerializer } from "#shared/protocol/message-serializer.ts";
import { AgentMessage, Job } from "#shared/protocol/probe.ts";

const result = (outcome: string): AgentMessage => ({
  body: { $case: "result", value: { jobId: "job", attempt: 1, outcome, durationMs: 5 } },
});

it.each([0, 1, 100, 1_000, 20_000, 100_000])(
  "encodes a result of %i characters as the generated encoder does",
  (size) => {
    const serialize = createMessageSerializer(AgentMessage);
    const message = result("ä".repeat(size));
    for (let round = 0; round < 3; round += 1) {
      expect(serialize(message)).toEqual(Buffer.from(AgentMessage.encode(message).finish()));
    }
  },
);

it("does not change the octets of earlier messages", () => {
  const serialize = createMessageSerializer(AgentMessage);
  const first = serialize(result("first"));
  serialize(result("other"));
  expect(AgentMessage.decode(first)).toEqual(result("first"));
});

it("encodes the message after one that cannot be encoded", () => {
  const serialize = createMessageSerializer(AgentMessage);
  const broken = result("half");
  if (broken.body?.$case === "result") broken.body.value.attempt = -1;
  expect(() => serialize(broken)).toThrow("invalid uint32");
  expect(AgentMessage.decode(serialize(result("whole")))).toEqual(result("whole"));
});

it("encodes other types", () => {
  const job = Job.fromPartial({ jobId: "job", attempt: 2, tool: "ping" });
  expect(Job.decode(createMessageSerializer(Job)(job))).toEqual(job);
});
