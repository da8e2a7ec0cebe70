import { describe, expect, it } from "vitest";
import { createEchoAnswers } from "#probe-agent/net/icmp/echo.ts";
import { matchesCookie } from "#probe-agent/net/icmp/cookie.ts";
import type { IncomingEcho } from "#probe-agent/net/icmp/packet.ts";

const TARGET = "198.18.0.1";
const cookie = Buffer.from("cookie!!");
const payload = Buffer.concat([cookie, Buffer.from([8, 9, 10, 11])]);
const echo = (fields: Partial<IncomingEcho> = {}): IncomingEcho => ({
  kind: "echo",
  id: 7,
  seq: 1,
  ttl: 57,
  payload,
  checksumOk: true,
  ...fields,
});

describe("the answers of one run of echoes", () => {
  it("ignore a sequence number that was not sent", () => {
    const answers = createEchoAnswers(TARGET, cookie, payload);
    expect(answers.readReply(echo(), { from: TARGET, at: 5 })).toBeNull();
    expect(answers.answered()).toBe(0);
  });

  it("count a duplicate once and report no timeout for it", () => {
    const answers = createEchoAnswers(TARGET, cookie, payload);
    answers.sent(1, 0);
    answers.sent(2, 1);
    expect(answers.readReply(echo(), { from: TARGET, at: 5 })).toMatchObject({ status: "ok", rttMs: 5 });
    expect(answers.readReply(echo(), { from: TARGET, at: 9 })).toMatchObject({ status: "duplicate", rttMs: 9 });
    expect(answers.answered()).toBe(1);
    expect(answers.timeouts(2)).toEqual([{ seq: 2, rttMs: null, ttl: null, status: "timeout" }]);
  });

  it("accept a damaged payload from the target only", () => {
    const answers = createEchoAnswers(TARGET, cookie, payload);
    answers.sent(1, 0);
    const damaged = echo({ payload: Buffer.alloc(payload.length), checksumOk: false });
    expect(answers.readReply(damaged, { from: "198.18.0.2", at: 5 })).toBeNull();
    expect(answers.readReply(damaged, { from: TARGET, at: 5 })).toMatchObject({ status: "corrupt" });
  });
});

it("compares only the octets of the cookie that an error quotes", () => {
  expect([payload, cookie.subarray(0, 3), Buffer.alloc(0)].map((quoted) => matchesCookie(quoted, cookie))).toEqual([
    true,
    true,
    true,
  ]);
  expect(matchesCookie(Buffer.from("coxxie!!"), cookie)).toBe(false);
});
